"""Files on their way out: what type they are, and their content."""

from __future__ import annotations

import base64

import pytest

from onion.errors import InvalidPromptError, UnsupportedFunctionalityError
from onion.providers._media import base64_of, data_url, image_at, is_text, media_type_of, reference_id, sniff, text_of
from onion.spec.prompt import FileData, FilePart, FileReference, FileURL

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("given", "data", "found"),
    [
        ("image/png", b"?", "image/png"),
        ("Text/Plain; charset=utf-8", b"?", "text/plain"),
        ("image/*", PNG, "image/png"),
        ("image", PNG, "image/png"),
        ("image/*", base64.b64encode(PNG).decode(), "image/png"),
        ("*/*", b"%PDF-1.7", "application/pdf"),
        ("image/*", b"%PDF-1.7", "image/jpeg"),
        ("image/*", b"?", "image/jpeg"),
        ("application/*", b"?", "application/*"),
    ],
)
def test_a_wildcard_is_resolved_from_the_content_or_guessed(given: str, data: bytes | str, found: str) -> None:
    assert media_type_of(FilePart(media_type=given, data=FileData(data=data))) == found


def test_what_lies_behind_a_url_is_guessed() -> None:
    assert media_type_of(FilePart(media_type="image/*", data=FileURL(url="https://a"))) == "image/jpeg"


def test_the_first_bytes_show_the_type() -> None:
    assert (sniff(b"RIFF\0\0\0\0WEBP"), sniff(b"hello")) == ("image/webp", None)


def test_some_types_are_text_by_another_name() -> None:
    assert [kind for kind in ("text/csv", "application/json", "image/png") if is_text(kind)] == [
        "text/csv",
        "application/json",
    ]


def test_content_is_base64_a_data_url_or_text() -> None:
    assert base64_of(FileData(data=b"hi")) == base64_of(FileData(data="aGk=")) == "aGk="
    assert data_url(FileData(data=b"hi"), "text/plain") == "data:text/plain;base64,aGk="
    assert text_of(FileData(data="77u/aGk="), "text/plain") == "hi"


@pytest.mark.parametrize("data", [b"\xff", "A"], ids=["no UTF-8", "no base64"])
def test_content_that_is_no_text_is_refused(data: bytes | str) -> None:
    with pytest.raises(InvalidPromptError):
        text_of(FileData(data=data), "text/plain")


def test_a_reference_is_the_providers_own() -> None:
    assert reference_id(FileReference(reference={"a": "f1"}), "a") == reference_id(FileReference(reference="f1"), "b")
    for foreign in ({"a": "f1"}, None, {"b": ""}):
        with pytest.raises(UnsupportedFunctionalityError, match="uploaded to another provider"):
            reference_id(FileReference(reference=foreign), "b")


def test_an_image_is_taken_out_of_its_data_url() -> None:
    inline, bare, behind = (image_at(url) for url in ("data:image/webp;base64,AA", "data:,AA", "https://a/i"))

    assert (inline.media_type, inline.data) == ("image/webp", FileData(data="AA"))
    assert bare.media_type == "image/png"
    assert behind.data == FileURL(url="https://a/i")
