"""As much of a Redis server as the store asks of one, in this process, for machines that have none installed."""

from __future__ import annotations

import socketserver
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Store:
    """Values with the moments at which they lapse."""

    def __init__(self) -> None:
        self._values: dict[bytes, tuple[bytes, float]] = {}
        self._lock = threading.Lock()

    def answer(self, command: list[bytes]) -> bytes:
        """The reply to *command*, as RESP (https://redis.io/docs/latest/develop/reference/protocol-spec/)."""
        name, *arguments = command
        with self._lock:
            match name.upper():
                case b"GET":
                    return bulk(self._get(arguments[0]))
                case b"SET":
                    return self._set(arguments)
                case b"DEL":
                    return self._delete(arguments[0])
                case b"EVAL":  # the one script of the store: delete the key if it holds the token
                    return self._delete(arguments[2]) if self._get(arguments[2]) == arguments[3] else b":0\r\n"
                case b"SCAN":
                    return self._scan(arguments)
                case b"HELLO":
                    return b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n"
                case b"CLIENT":
                    return b"+OK\r\n"
                case _:
                    return b"-ERR unknown command\r\n"

    def _get(self, key: bytes) -> bytes | None:
        value, lapses = self._values.get(key, (None, 0.0))
        return value if lapses > time.monotonic() else None

    def _set(self, arguments: list[bytes]) -> bytes:
        key, value, *options = arguments
        words = [option.upper() for option in options]
        if b"NX" in words and self._get(key) is not None:
            return bulk(None)
        seconds = int(options[words.index(b"PX") + 1]) / 1000 if b"PX" in words else float("inf")
        self._values[key] = (value, time.monotonic() + seconds)
        return b"+OK\r\n"

    def _scan(self, arguments: list[bytes]) -> bytes:
        """All keys at once, of those that begin with the pattern's beginning; 0 says that there are no more."""
        start = arguments[2].removesuffix(b"*").replace(b"\\", b"")
        found = [key for key in self._values if key.startswith(start) and self._get(key) is not None]
        return b"*2\r\n" + bulk(b"0") + b"*%d\r\n" % len(found) + b"".join(map(bulk, found))

    def _delete(self, key: bytes) -> bytes:
        return b":0\r\n" if self._values.pop(key, None) is None else b":1\r\n"


def bulk(value: bytes | None) -> bytes:
    """A text, or nothing, as RESP in its third version."""
    return b"_\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, RespServer)
        for command in self._commands():
            self.wfile.write(self.server.store.answer(command))

    def _commands(self) -> Iterator[list[bytes]]:
        while header := self.rfile.readline():
            command: list[bytes] = []
            for _ in range(int(header[1:])):
                length = int(self.rfile.readline()[1:])
                command.append(self.rfile.read(length + 2)[:-2])
            yield command


class RespServer(socketserver.ThreadingTCPServer):
    """The server, on a free port of loopback."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self.store = Store()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """End, and free the port."""
        self.shutdown()
        self.server_close()
        self._thread.join()
