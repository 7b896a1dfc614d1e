"""Files in a prompt: each kind in its own carrier, the payload whole, and an error before anything is sent."""

import base64

import pytest

from onion.errors import InvalidPromptError, UnsupportedFunctionalityError
from onion.providers._chat import ChatDialect, sniff
from onion.providers._chat.files import file_part
from onion.spec.base import JsonValue
from onion.spec.prompt import FileContent, FileData, FilePart, FileReference, FileText, FileURL

COMMON = ChatDialect(name="vendor")
NARROW = ChatDialect(name="narrow", takes_video=False, takes_file_urls=False)
PNG = b"\x89PNG\r\n\x1a\n"
WAV = b"RIFF\0\0\0\0WAVEfmt "
URL = FileURL(url="https://a.example/x")


def converted(
    media_type: str, data: FileContent, *, filename: str | None = None, dialect: ChatDialect = COMMON
) -> JsonValue:
    """The content part for a file."""
    return file_part(FilePart(media_type=media_type, data=data, filename=filename), dialect, number=1)


def b64(data: bytes) -> str:
    """Base64 text."""
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("image/png", FileData(data=PNG)),
        ("image/png", FileData(data=b64(PNG))),
        ("IMAGE/PNG; x=y", FileData(data=PNG)),
        ("image/*", FileData(data=PNG)),
        ("image/*", FileData(data=b64(PNG))),
        ("image", FileData(data=PNG)),
        ("*/*", FileData(data=PNG)),
    ],
)
def test_an_image_is_a_data_url_whether_bytes_or_base64_and_its_type_is_seen(media_type: str, data: FileData) -> None:
    assert converted(media_type, data) == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{b64(PNG)}"},
    }


def test_an_image_by_url_goes_as_it_is() -> None:
    assert converted("image/*", URL) == {"type": "image_url", "image_url": {"url": "https://a.example/x"}}


def test_a_type_that_nothing_shows_is_the_usual_one_of_its_kind() -> None:
    assert converted("image/*", FileData(data=b"?")) == {
        "type": "image_url",
        "image_url": {"url": "data:image/jpeg;base64,Pw=="},
    }
    assert converted("audio/*", FileData(data=PNG)) == {
        "type": "input_audio",
        "input_audio": {"data": b64(PNG), "format": "wav"},
    }


@pytest.mark.parametrize("data", ["grün\n".encode(), b64("grün\n".encode()), b"\xef\xbb\xbf" + "grün\n".encode()])
def test_a_text_file_reaches_the_model_as_text(data: bytes | str) -> None:
    for media_type in ("text/plain", "text/*", "application/json"):
        assert converted(media_type, FileData(data=data)) == {"type": "text", "text": "grün\n"}


def test_a_file_given_as_text_is_text_whatever_its_type() -> None:
    assert converted("application/x-odd", FileText(text="a")) == {"type": "text", "text": "a"}


def test_a_text_file_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(InvalidPromptError, match="not UTF-8"):
        converted("text/plain", FileData(data=b"\xff\xfe"))


@pytest.mark.parametrize("media_type", ["text/plain", "image/*"])
def test_base64_that_is_none_is_refused_where_it_is_read(media_type: str) -> None:
    with pytest.raises(InvalidPromptError, match="not base64"):
        converted(media_type, FileData(data="a"))


def test_audio_is_sent_with_its_format() -> None:
    assert converted("audio/*", FileData(data=WAV)) == {
        "type": "input_audio",
        "input_audio": {"data": b64(WAV), "format": "wav"},
    }
    assert converted("audio/mpeg", FileData(data="AAAA")) == {
        "type": "input_audio",
        "input_audio": {"data": "AAAA", "format": "mp3"},
    }


def test_a_pdf_has_a_name() -> None:
    url = f"data:application/pdf;base64,{b64(b'%PDF-1')}"

    assert converted("application/pdf", FileData(data=b"%PDF-1"), filename="q.pdf") == {
        "type": "file",
        "file": {"filename": "q.pdf", "file_data": url},
    }
    assert converted("*/*", FileData(data=b"%PDF-1")) == {
        "type": "file",
        "file": {"filename": "file-1.pdf", "file_data": url},
    }
    assert converted("application/pdf", URL) == {
        "type": "file",
        "file": {"filename": "file-1.pdf", "file_data": "https://a.example/x"},
    }


def test_a_video_goes_where_the_server_knows_videos() -> None:
    assert converted("video/mp4", FileData(data=b"x")) == {
        "type": "video_url",
        "video_url": {"url": "data:video/mp4;base64,eA=="},
    }


@pytest.mark.parametrize("reference", [{"vendor": "file-1", "other": "x"}, "file-1"])
def test_an_uploaded_file_goes_by_its_id(reference: JsonValue) -> None:
    assert converted("application/pdf", FileReference(reference=reference)) == {
        "type": "file",
        "file": {"file_id": "file-1"},
    }


@pytest.mark.parametrize(
    ("media_type", "data", "said"),
    [
        ("video/mp4", FileData(data=b"x"), "files of type video/mp4:"),
        ("application/pdf", URL, "files of type application/pdf by URL"),
        ("application/zip", FileData(data=b"x"), "files of type application/zip"),
        ("text/plain", URL, "files of type text/plain by URL"),
        ("audio/wav", URL, "audio by URL"),
        ("audio/midi", FileData(data=b"x"), "audio of type audio/midi"),
        ("application/pdf", FileReference(reference={"other": "x"}), "another provider"),
        ("application/pdf", FileReference(reference=None), "another provider"),
    ],
)
def test_a_file_that_cannot_be_expressed_is_an_error(media_type: str, data: FileContent, said: str) -> None:
    with pytest.raises(UnsupportedFunctionalityError, match=said):
        converted(media_type, data, dialect=NARROW)


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (b"OggS", "audio/ogg"),
        (b"nothing", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_type(head: bytes, media_type: str | None) -> None:
    assert sniff(head) == media_type
