"""Server-sent events, decoded as the bytes arrive; no I/O.

The grammar is that of the HTML standard, "Parsing an event stream" (html.spec.whatwg.org, section 9.2.6, read
2026-11-30), with three differences. Data stays UTF-8 bytes, which a JSON parser wants anyway. An event whose data is
empty is not handed out. An event at the end of the body that lacks its blank line is, for it may hold the answer.
"""

from __future__ import annotations

from typing import NamedTuple

from onion.errors import StreamInterruptedError

MAX_EVENT_BYTES = 64 * 2**20
"""Room for an image in base64; a server that sends more without a blank line is not sending events."""

_BOM = b"\xef\xbb\xbf"
_PLAIN = b"data: "


class ServerSentEvent(NamedTuple):
    """One event.

    Attributes:
        data: The data lines, joined with LF; UTF-8 if the server keeps the rules.
        event: Its name; ``message`` where the server gives none.
        id: The last id that the stream gave, or an empty string.
    """

    data: bytes
    event: str = "message"
    id: str = ""


class SSEDecoder:
    """Takes the bytes of one response body, cut anywhere, and gives its events.

    Args:
        max_event_bytes: A longer event is an error instead of a full memory.
    """

    __slots__ = ("_buffer", "_head", "_id", "_is_after_cr", "_is_started", "_limit")

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._buffer = bytearray()
        self._head = b""
        self._id = ""
        self._is_after_cr = False
        self._is_started = False
        self._limit = max_event_bytes

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that *data* completes.

        Raises:
            StreamInterruptedError: When an event grows past the limit.
        """
        if not self._is_started:
            data = self._without_bom(data)
        if self._is_after_cr or b"\r" in data:
            data = self._with_plain_ends(data)
        buffer = self._buffer
        if buffer:
            seen = len(buffer) - 1
            buffer += data
            cut = buffer.rfind(b"\n\n", seen)
            if cut < 0:
                self._check_size(len(buffer))
                return []
            data = bytes(buffer[:cut])
            del buffer[: cut + 2]
        else:
            cut = data.rfind(b"\n\n")
            if cut < 0:
                buffer += data
                self._check_size(len(buffer))
                return []
            if cut + 2 < len(data):
                buffer += data[cut + 2 :]
            data = data[:cut]
        return self._events(data)

    def end(self) -> list[ServerSentEvent]:
        """The event that the body ended in, if any."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return self._events(rest)

    def _events(self, data: bytes) -> list[ServerSentEvent]:
        events: list[ServerSentEvent] = []
        last_id = self._id
        if len(data) > self._limit:
            self._check_size(max(map(len, data.split(b"\n\n"))))
        for segment in data.split(b"\n\n"):
            if segment.startswith(_PLAIN) and b"\n" not in segment:  # nearly all: cheap
                payload = segment[6:]
                if payload:
                    events.append(ServerSentEvent(payload, "message", last_id))
            else:
                event = self._event(segment)
                last_id = self._id
                if event is not None:
                    events.append(event)
        return events

    def _event(self, segment: bytes) -> ServerSentEvent | None:
        lines: list[bytes] = []
        name = "message"
        for line in segment.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                lines.append(value)
            elif field == b"event":
                name = value.decode("utf-8", "replace") or "message"
            elif field == b"id" and b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            elif field == b"error":  # no field of the standard; older llama.cpp servers report failures so
                lines.append(value)
                name = "error"
        data = b"\n".join(lines)
        return ServerSentEvent(data, name, self._id) if data else None

    def _without_bom(self, data: bytes) -> bytes:
        head = self._head + data
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._head = head
            return b""
        self._is_started = True
        return head.removeprefix(_BOM)

    def _with_plain_ends(self, data: bytes) -> bytes:
        """CR and CRLF as LF. A CR counts at once; the LF that completes it may come with the next bytes."""
        if not data:
            return data
        if self._is_after_cr:
            data = data.removeprefix(b"\n")
        self._is_after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            msg = (
                f"an event of the stream is longer than {self._limit} bytes: "
                "the server does not send server-sent events, or far too large ones"
            )
            raise StreamInterruptedError(msg, is_retryable=False)
