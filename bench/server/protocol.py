"""HTTP, as little of it as the clients here need."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from bench.server.answers import whole, writes
from bench.server.options import parse

if TYPE_CHECKING:
    from bench.server.options import Options

CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
STREAM = re.compile(rb'"stream": ?true')
LINGER_SECONDS = 0.3
"""How long all streams stay open together."""
TURN = 8
"""After so many writes without a gap the others get their turn."""


class Meeting:
    """Lets streams wait until so many are there, then all go on."""

    def __init__(self) -> None:
        self._waiting: dict[Options, list[asyncio.Future[None]]] = {}

    async def wait(self, options: Options) -> None:
        """Return when as many streams of these options are here as they want."""
        others = self._waiting.setdefault(options, [])
        others.append(asyncio.get_running_loop().create_future())
        if len(others) < options.together:
            await others[-1]
            return
        del self._waiting[options]
        await asyncio.sleep(LINGER_SECONDS)
        for other in others:
            if not other.done():
                other.set_result(None)


MEETING = Meeting()


class Connection(asyncio.Protocol):
    """One connection, kept alive."""

    def __init__(self) -> None:
        self._buffer: bytes = b""
        self._needed = 0
        self._answering: asyncio.Task[None] | None = None
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the answer that nobody waits for."""
        if self._answering is not None:
            self._answering.cancel()

    def data_received(self, data: bytes) -> None:
        """Answer the requests that are whole, one after the other."""
        self._buffer += data
        while self._answering is None and self._buffer and len(self._buffer) >= self._needed:
            head, blank, rest = self._buffer.partition(b"\r\n\r\n")
            if not blank:
                return
            found = CONTENT_LENGTH.search(head)
            length = int(found[1]) if found else 0
            self._needed = len(head) + len(blank) + length
            if len(rest) < length:
                return
            self._needed = 0
            self._buffer = rest[length:]
            self._answer(head, rest[:length])

    def _answer(self, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1].decode("ascii")
        options = parse(path.split("/")[1])
        step = body.count(b'"tool_calls"') if options.tool_steps else 0
        if not STREAM.search(body):
            self._write(whole(options, step))
            return
        pieces = writes(options, step)
        if len(pieces) == 1:
            self._write(pieces[0])
        else:
            self._answering = asyncio.ensure_future(self._stream(pieces, options))

    async def _stream(self, pieces: tuple[bytes, ...], options: Options) -> None:
        try:
            for number, piece in enumerate(pieces):
                if number == 1 and options.together:
                    await MEETING.wait(options)
                elif number and options.gap_ms:
                    await asyncio.sleep(options.gap_ms / 1000)
                elif number % TURN == TURN - 1:
                    await asyncio.sleep(0)
                self._write(piece)
        finally:
            self._answering = None
            self._needed = 0
            if self._transport is not None and not self._transport.is_closing():
                self.data_received(b"")

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)
