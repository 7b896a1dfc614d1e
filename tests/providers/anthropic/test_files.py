"""Files as images and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.errors import UnsupportedFunctionalityError
from onion.providers.anthropic.files import file_block
from onion.spec.prompt import FileData, FilePart, FileReference, FileText, FileURL

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, ProviderOptions
    from onion.spec.prompt import FileContent

PNG = bytes.fromhex("89504e470d0a1a0a")
IMAGE: JsonObject = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
TEXT: JsonObject = {"type": "text", "media_type": "text/plain", "data": "grün\n"}


@pytest.mark.parametrize(
    ("media_type", "content", "kind", "source"),
    [
        ("image/*", FileData(data=PNG), "image", IMAGE),
        ("image/png", FileData(data="iVBORw0KGgo="), "image", IMAGE),
        ("image/png", FileURL(url="https://h/i"), "image", {"type": "url", "url": "https://h/i"}),
        ("image/png", FileReference(reference={"anthropic": "file_1"}), "image", {"type": "file", "file_id": "file_1"}),
        (
            "application/pdf",
            FileData(data=b"%PDF"),
            "document",
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
        ),
        ("application/pdf", FileURL(url="https://h/d"), "document", {"type": "url", "url": "https://h/d"}),
        ("application/pdf", FileReference(reference="file_1"), "document", {"type": "file", "file_id": "file_1"}),
        ("text/plain", FileData(data="Z3LDvG4K"), "document", TEXT),
        ("text/markdown", FileText(text="grün\n"), "document", TEXT),
        ("image/svg+xml", FileText(text="grün\n"), "document", TEXT),
    ],
)
def test_a_file_is_an_image_or_a_document(media_type: str, content: FileContent, kind: str, source: JsonObject) -> None:
    assert file_block(FilePart(media_type=media_type, data=content)) == {"type": kind, "source": source}


def test_a_document_has_a_title_and_what_its_options_say() -> None:
    options: ProviderOptions = {"anthropic": {"citations": {"enabled": True}, "context": "c", "title": "t"}}
    part = FilePart(media_type="text/plain", data=FileText(text="grün\n"), filename="f.txt")

    named = file_block(part)
    told = file_block(FilePart(media_type="text/plain", data=FileText(text="grün\n"), provider_options=options))

    assert named == {"type": "document", "source": TEXT, "title": "f.txt"}
    assert told == {"type": "document", "source": TEXT, "title": "t", "context": "c", "citations": {"enabled": True}}


def test_a_file_may_go_into_the_container() -> None:
    options = {"anthropic": {"containerUpload": True}}
    part = FilePart(media_type="text/csv", data=FileReference(reference="file_1"), provider_options=options)

    assert file_block(part) == {"type": "container_upload", "file_id": "file_1"}


@pytest.mark.parametrize(
    ("media_type", "content", "words"),
    [
        ("audio/wav", FileData(data=b"x"), "audio/wav"),
        ("text/plain", FileURL(url="https://h/t"), "text/plain by URL"),
        ("application/pdf", FileReference(reference={"openai": "file-1"}), "another provider"),
    ],
)
def test_a_file_without_a_form_is_refused(media_type: str, content: FileContent, words: str) -> None:
    with pytest.raises(UnsupportedFunctionalityError, match=words):
        file_block(FilePart(media_type=media_type, data=content))
