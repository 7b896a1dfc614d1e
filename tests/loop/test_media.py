from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.loop.media import DataURL, full_media_type, read_data_url

PNG = b"\x89PNG\r\n\x1a\n\x00\x00"


@pytest.mark.parametrize(
    ("declared", "content", "expected"),
    [
        pytest.param("image/jpeg", PNG, "image/png", id="an image that is another"),
        pytest.param("image/*", b"\xff\xd8\xff\xe0", "image/jpeg", id="JPEG"),
        pytest.param("image", b"GIF89a", "image/gif", id="GIF, declared in short"),
        pytest.param("image/*", b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", id="WebP"),
        pytest.param("image/*", b"\x00\x00\x00\x1cftypavif", "image/avif", id="AVIF"),
        pytest.param("image/svg+xml", b"<svg/>", "image/svg+xml", id="an image of which bytes say nothing"),
        pytest.param("image/*", b"words", "image/*", id="no image at all"),
        pytest.param("*/*", b"%PDF-1.7", "application/pdf", id="PDF, declared as anything"),
        pytest.param("audio/*", b"RIFF\x00\x00\x00\x00WAVE", "audio/wav", id="WAV"),
        pytest.param("audio/*", b"%PDF-1.7", "audio/*", id="of another kind than declared"),
        pytest.param("video/*", b"\x00\x00\x00\x18ftypmp42", "video/mp4", id="MP4"),
        pytest.param("application/octet-stream", PNG, "application/octet-stream", id="declared as plain bytes"),
        pytest.param("text/plain", PNG, "text/plain", id="declared as text"),
    ],
)
def test_the_media_type_is_what_the_bytes_say_where_they_are_asked(
    declared: str, content: bytes, expected: str
) -> None:
    assert full_media_type(declared, content) == expected
    assert full_media_type(declared, base64.b64encode(content).decode()) == expected
    assert full_media_type(declared, base64.urlsafe_b64encode(content).decode().rstrip("=")) == expected


@given(st.text("aB+/=-_ \n!é", max_size=60))
def test_no_text_is_too_odd_to_be_looked_at(text: str) -> None:
    assert full_media_type("image/*", text) == "image/*"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("data:image/png;base64,AAEC", DataURL(media_type="image/png", content="AAEC"), id="base64"),
        pytest.param(
            "DATA:text/plain;charset=utf-8;BASE64,YQ==", DataURL(media_type="text/plain", content="YQ=="), id="capitals"
        ),
        pytest.param("data:text/csv,a%2Cb\nc", DataURL(media_type="text/csv", content=b"a,b\nc"), id="plain text"),
        pytest.param("data:,hi", DataURL(media_type="text/plain", content=b"hi"), id="nothing said"),
        pytest.param("data:nothing", None, id="no content"),
        pytest.param("https://example.test/data:,x", None, id="another URL"),
    ],
)
def test_a_data_url_is_taken_apart(url: str, expected: DataURL | None) -> None:
    assert read_data_url(url) == expected
