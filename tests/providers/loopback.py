"""A server on loopback that plays what a test wants a provider to answer, byte by byte; real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    from onion.spec.base import JsonValue


HOST = "127.0.0.1"


@dataclass
class Received:
    """A request as it came over the wire; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> JsonValue:
        """The parsed body."""
        found: JsonValue = json.loads(self.body)
        return found


class Connection(asyncio.Protocol):
    """The server's end of one TCP connection; its requests are answered one after the other."""

    def __init__(self, server: Server, script: Script) -> None:
        self.gone = asyncio.Event()
        """Set when the client has closed its end, or the connection broke."""
        self.request = Received("", {}, b"")
        self._server = server
        self._script = script
        self._buffer = b""
        self._writable = asyncio.Event()
        self._writable.set()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport

    async def head(self, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> None:
        """Send status and headers."""
        lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {found}" for name, found in headers), "", ""]
        await self.send("\r\n".join(lines).encode())

    async def chunk(self, data: bytes) -> None:
        """Send one piece of a chunked body; an empty one ends it."""
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._transport.write(data)
        await self._writable.wait()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self._task is None or self._task.done()

    def reset(self) -> None:
        """Break the connection off without a goodbye."""
        self._transport.abort()

    def close(self) -> None:
        """Close the connection after what was sent."""
        self._transport.close()

    async def stop(self) -> None:
        """Break off what is being answered."""
        self._transport.abort()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections.append(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._answer_next()

    def eof_received(self) -> None:
        self.gone.set()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.gone.set()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _answer_next(self) -> None:
        head, mark, rest = self._buffer.partition(b"\r\n\r\n")
        if not mark or (self._task is not None and not self._task.done()):
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): found.strip() for name, _, found in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(rest) >= length:
            self.request = Received(first.split(" ")[1], headers, rest[:length])
            self._buffer = rest[length:]
            self._server.received.append(self.request)
            self._server.asked.set()
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        await self._script(self)


Script = Callable[[Connection], Awaitable[None]]
SSE_HEADERS = (("content-type", "text/event-stream"), ("transfer-encoding", "chunked"))


@dataclass
class Server:
    """What was asked, and where."""

    url: str = ""
    received: list[Received] = field(default_factory=list[Received])
    connections: list[Connection] = field(default_factory=list[Connection])
    """Every TCP connection so far."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first request is there."""


def answer(
    body: bytes | JsonValue,
    *,
    status: int = 200,
    headers: Sequence[tuple[str, str]] = (),
    kind: str = "application/json",
) -> Script:
    """Answer every request with one body."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def script(connection: Connection) -> None:
        await connection.head(status, [("content-type", kind), ("content-length", str(len(content))), *headers])
        await connection.send(content)

    return script


def stream(*pieces: bytes, headers: Sequence[tuple[str, str]] = ()) -> Script:
    """Answer every request with a stream of events, sent in *pieces*."""

    async def script(connection: Connection) -> None:
        await connection.head(headers=[*SSE_HEADERS, *headers])
        for piece in pieces:
            await connection.chunk(piece)
        await connection.chunk(b"")

    return script


@asynccontextmanager
async def serve(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Server]:
    """A server whose every request is answered by *script*; connections are kept alive."""
    server = Server()
    listener = await asyncio.get_running_loop().create_server(
        lambda: Connection(server, script), HOST, 0, backlog=1024, ssl=tls
    )
    server.url = f"http{'s' if tls else ''}://{HOST}:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()
        for connection in server.connections:
            await connection.stop()
