"""A client that plays the HTTP answers of a case, in place of the network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx

from onion.providers._json import count_in, object_in, text_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from onion.spec.base import JsonObject

HUGE = "2 MB"
"""Marks a page that is written short in the case and is long on the wire."""
_HUGE_CHARACTERS = 2_000_000


class Playback(httpx.AsyncBaseTransport):
    """Answers each request with the next of *answers*, the last one for ever.

    Attributes:
        requests: What was asked.
        open_bodies: Bodies that were neither read to their end nor closed.
    """

    def __init__(self, answers: Sequence[JsonObject], *, pieces: Sequence[bytes] | None = None) -> None:
        self.requests: list[httpx.Request] = []
        self.open_bodies = 0
        self._answers = answers
        self._pieces = pieces

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The next answer."""
        await request.aread()
        answer = self._answers[min(len(self.requests), len(self._answers) - 1)]
        self.requests.append(request)
        kind = "text/event-stream" if "sse" in answer else "application/json"
        headers = {"content-type": kind, **{key: str(value) for key, value in object_in(answer, "headers").items()}}
        status = count_in(answer, "status") or 200
        then = text_in(answer, "then")
        body = _Body(self, self._pieces or [body_of(answer)], then if then.isidentifier() else "")
        return httpx.Response(status, headers=headers, stream=body, request=request)

    def client(self) -> httpx.AsyncClient:
        """A client over this."""
        return httpx.AsyncClient(transport=self)


class _Body(httpx.AsyncByteStream):
    def __init__(self, playback: Playback, pieces: Sequence[bytes], then: str) -> None:
        self._playback = playback
        self._pieces = pieces
        self._then = then
        playback.open_bodies += 1

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if self._then:
            failure: type[httpx.TransportError] = getattr(httpx, self._then)
            raise failure(f"played {self._then}")

    async def aclose(self) -> None:
        self._playback.open_bodies -= 1


def body_of(answer: JsonObject) -> bytes:
    """The bytes of an answer's body, however the case writes it."""
    if "sse" in answer:
        return text_in(answer, "sse").encode()
    if "raw_hex" in answer:
        return bytes.fromhex(text_in(answer, "raw_hex"))
    if "raw" in answer:
        raw = text_in(answer, "raw")
        return (raw + "x" * (_HUGE_CHARACTERS if HUGE in raw else 0)).encode()
    return json.dumps(answer.get("body")).encode()
