"""The decoder of server-sent events: every way to cut and frame a body gives the same events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onion.errors import StreamInterruptedError
from onion.providers._sse import ServerSentEvent, SSEDecoder


def decode(*pieces: bytes) -> list[ServerSentEvent]:
    """All events of a body that arrives in *pieces*."""
    decoder = SSEDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.end()


def data_of(*pieces: bytes) -> list[bytes]:
    """The data of all events."""
    return [event.data for event in decode(*pieces)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", [b"a", b"b"], id="two plain events"),
        pytest.param(b"data:a\n\n", [b"a"], id="no space after the colon"),
        pytest.param(b"data:  a\n\n", [b" a"], id="only one space is taken"),
        pytest.param(b"data: a\ndata: b\n\n", [b"a\nb"], id="several data lines"),
        pytest.param(b": ping\n\n:\n\ndata: a\n\n", [b"a"], id="comments"),
        pytest.param(b"data: a\n: ping\n\n", [b"a"], id="a comment inside an event"),
        pytest.param(b"data:\n\ndata\n\ndata: \n\n", [], id="empty data"),
        pytest.param(b"event: ping\n\nid: 1\n\nretry: 5\n\ndata: a\n\n", [b"a"], id="events without data"),
        pytest.param(b"nonsense\ndata: a\nfoo: bar\n\n", [b"a"], id="unknown fields"),
        pytest.param(b"\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n", [b"a", b"b"], id="many blank lines"),
        pytest.param(b"data: a\n", [b"a"], id="no blank line at the end"),
        pytest.param(b"data: a", [b"a"], id="no line end at the end"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [b"a"], id="byte order mark"),
        pytest.param(b"\xef\xbb", [], id="half a byte order mark and no more"),
        pytest.param(
            "data: a\u2028b\u2029c\x85d\x0be\n\n".encode(), ["a\u2028b\u2029c\x85d\x0be".encode()], id="U+2028"
        ),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_the_events_of_a_body_are_those_of_the_standard_however_it_is_cut(body: bytes, expected: list[bytes]) -> None:
    for ends in (b"\n", b"\r\n", b"\r"):
        framed = body.replace(b"\n", ends)
        every_cut = [(framed[:cut], framed[cut:]) for cut in range(len(framed) + 1)]

        assert data_of(framed) == expected
        assert data_of(*(bytes([byte]) for byte in framed)) == expected
        assert all(data_of(*pieces) == expected for pieces in every_cut)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1)), st.data())
def test_any_text_survives_any_cut(texts: list[str], data: st.DataObject) -> None:
    body = b"".join(b"data: " + text.encode() + b"\n\n" for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)))))

    found = data_of(*(body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)))

    assert found == [text.encode() for text in texts]


@given(st.lists(st.binary(max_size=30)))
def test_no_bytes_make_the_decoder_fail(pieces: list[bytes]) -> None:
    assert data_of(*pieces) == data_of(b"".join(pieces))


def test_events_have_a_name_and_the_last_id() -> None:
    body = b"id: 7\ndata: a\n\nevent: error\ndata: b\n\nevent:\nid: 8\0\ndata: c\n\nid\ndata: d\n\n"

    found = decode(body)

    assert found == [
        ServerSentEvent(b"a", "message", "7"),
        ServerSentEvent(b"b", "error", "7"),
        ServerSentEvent(b"c", "message", "7"),
        ServerSentEvent(b"d", "message", ""),
    ]


def test_a_line_that_reports_an_error_outside_of_data_is_an_error_event() -> None:
    assert decode(b'error: {"message":"no"}\n\n') == [ServerSentEvent(b'{"message":"no"}', "error")]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"data: 0123456789"], id="at once, unfinished"),
        pytest.param([b"data: 01234", b"56789", b"01"], id="in pieces"),
        pytest.param([b"data: a\n\ndata: 0123456789\n\n"], id="at once, finished"),
    ],
)
def test_an_event_past_the_limit_is_an_error_that_no_retry_cures(pieces: list[bytes]) -> None:
    decoder = SSEDecoder(max_event_bytes=12)

    with pytest.raises(StreamInterruptedError, match="longer than 12 bytes") as caught:
        list(map(decoder.feed, pieces))

    assert not caught.value.is_retryable


def test_many_small_events_in_one_piece_do_not_count_together() -> None:
    decoder = SSEDecoder(max_event_bytes=12)

    assert len(decoder.feed(b"data: abc\n\n" * 100)) == 100
