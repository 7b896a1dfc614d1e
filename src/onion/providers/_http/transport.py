"""Posting JSON and reading the answer, whole or as it comes; every failure as one of Onion's errors."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import (
    APICallError,
    JSONParseError,
    StreamInterruptedError,
    is_retryable_status,
    mask_headers,
    mask_url,
)
from onion.providers._http.client import LoopClients, opener_of, sender_of, transport_errors
from onion.providers._http.failures import MAX_MESSAGE_CHARACTERS, Failure, read_failure
from onion.providers._http.headers import secrets_in, without_secrets
from onion.providers._http.limits import DEFAULT_LIMITS, HTTPLimits
from onion.providers._json import parse_json
from onion.spec.base import JsonValue, value

if TYPE_CHECKING:
    from onion.providers._http.client import HTTPClient
    from onion.providers._http.sending import Reply, Sender

_REFUSED_BY_US = frozenset(
    {"InvalidURL", "InvalidUrlClientError", "LocalProtocolError", "NonHttpUrlClientError", "UnsupportedProtocol"}
)
"""Failures of the clients that come again with every try: the request itself is at fault."""
_URL = re.compile(r"\w+://[^\s'\"]+")


@value
class HTTPRequest:
    """A POST that is ready to be sent.

    Attributes:
        body: What `content` holds, for errors.
        sender: Who asks, for messages: ``openai.chat``.
    """

    url: str
    content: bytes
    headers: Mapping[str, str]
    body: JsonValue
    sender: str

    def error(self, message: str, answer: HTTPAnswer | None = None, **more: bool) -> APICallError:
        """The error for this request: *message* after the sender, and what came back."""
        secrets = secrets_in(self.headers)
        return APICallError(
            without_secrets(f"{self.sender}: {message}", secrets),
            url=self.url,
            status_code=answer.status_code if answer else None,
            response_headers=(
                {name: without_secrets(found, secrets) for name, found in answer.headers.items()} if answer else None
            ),
            request_body=self.body,
            is_retryable=more.get("is_retryable"),
        )


class HTTPAnswer:
    """A response whose head has arrived; whoever gets it closes it."""

    __slots__ = ("_is_closed", "_is_read", "_limits", "_reply", "headers", "request", "status_code")

    def __init__(self, reply: Reply, request: HTTPRequest, limits: HTTPLimits = DEFAULT_LIMITS) -> None:
        self.status_code: int = reply.status_code
        self.headers: dict[str, str] = mask_headers(reply.headers)
        self.request: HTTPRequest = request
        self._reply = reply
        self._limits = limits
        self._is_read = False
        self._is_closed = False

    async def next_bytes(self) -> bytes | None:
        """The next piece of the body, as it arrives; None at its end.

        Raises:
            StreamInterruptedError: When the connection breaks off.
        """
        try:
            data = await self._reply.read_some()
        except transport_errors() as error:
            msg = f"{self.request.sender}: the stream broke off: {_reason(error)}"
            raise StreamInterruptedError(msg) from error
        if data:
            return data
        self._is_read = True
        return None

    async def read(self) -> bytes:
        """The whole body.

        Raises:
            APICallError: When the connection breaks off, or the body is too large.
        """
        body = bytearray()
        read_some = self._reply.read_some
        try:
            while data := await read_some():
                body += data
                if len(body) > self._limits.body_bytes:
                    raise self.request.error(f"the answer is larger than {self._limits.body_bytes} bytes", self)
        except transport_errors() as error:
            msg = f"the answer broke off after {len(body)} bytes: {_reason(error)}"
            raise self.request.error(msg, self, is_retryable=True) from error
        self._is_read = True
        return bytes(body)

    async def read_failure_body(self) -> bytes:
        """As much of the body as a message needs, and as comes in time: what is read of a failure never fails."""
        body = bytearray()
        with contextlib.suppress(TimeoutError, *transport_errors()):
            async with asyncio.timeout(self._limits.failure_seconds):
                while data := await self._reply.read_some():
                    body += data
                    if len(body) > self._limits.failure_bytes:
                        break
                else:
                    self._is_read = True
        return bytes(body[: self._limits.failure_bytes])

    async def drain(self) -> None:
        """Read what little follows the terminal marker, so that the connection can be used again."""
        if self._is_read:
            return
        with contextlib.suppress(TimeoutError, *transport_errors()):
            async with asyncio.timeout(self._limits.drain_seconds):
                while await self._reply.read_some():
                    pass
                self._is_read = True

    async def aclose(self) -> None:
        """Release the connection, however often the task is cancelled meanwhile; does nothing the second time."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._is_read:
            await self._reply.aclose()
            return
        closing = asyncio.ensure_future(self._abandon())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await asyncio.wait((closing,))
            raise

    def failed(self, body: bytes, reason: str = "") -> APICallError:
        """The error for this answer if it reports a failure, by its status or in its body, or cannot be read.

        Args:
            body: What was read of it.
            reason: Why it cannot be read; holds where the body reports nothing.
        """
        text = without_secrets(
            body[: self._limits.failure_bytes].decode("utf-8", "replace"), secrets_in(self.request.headers)
        )
        data = _parsed(text)
        failure = read_failure(data)
        error = self.request.error(
            f"the server answered HTTP {self.status_code}: {failure or reason or _excerpt(text)}{_advice(self)}",
            self,
            is_retryable=_is_retryable(self, failure),
        )
        error.response_body = text
        error.data = data
        return error

    def hide_secrets(self, text: str) -> str:
        """*text* without the credentials of the request."""
        return without_secrets(text, secrets_in(self.request.headers))

    async def _abandon(self) -> None:
        # A connection that is given up may fail to say goodbye: there is nobody left whom that concerns.
        with contextlib.suppress(TimeoutError, *transport_errors()):
            async with asyncio.timeout(self._limits.close_seconds):
                await self._reply.aclose()


class HTTPTransport:
    """Posts the requests of one provider.

    Args:
        client: The caller's own client, which is never closed here, or the name of the package to make clients with,
            one per event loop; None stands for ``auto``, which takes aiohttp if it is installed, else httpx.
        limits: How much is read, and how long is waited.

    Raises:
        InvalidArgumentError: When *client* is no client, or no name of one.
        MissingExtraError: When the package that it names is not installed.
    """

    def __init__(self, client: HTTPClient | None = None, *, limits: HTTPLimits = DEFAULT_LIMITS) -> None:
        self._given: Sender | None = None
        name = "auto"
        if isinstance(client, str):
            name = client
        elif client is not None:
            self._given = sender_of(client)
        self._own = LoopClients(functools.partial(opener_of(name), limits))
        self._limits = limits

    async def open(self, request: HTTPRequest) -> HTTPAnswer:
        """Send *request*; gives an answer with a status of success, whose body is still to be read.

        Raises:
            APICallError: When no answer comes, or one with another status.
        """
        sender = self._given or await self._own.get()
        try:
            reply = await sender.post(request.url, request.content, request.headers)
        except transport_errors() as error:
            is_retryable = type(error).__name__ not in _REFUSED_BY_US
            msg = f"no answer from {mask_url(request.url)}: {_reason(error)}"
            raise request.error(msg, is_retryable=is_retryable) from error
        answer = HTTPAnswer(reply, request, self._limits)
        if 200 <= answer.status_code < 300:  # noqa: PLR2004 - the class of success, RFC 9110, section 15.3
            return answer
        try:
            body = await answer.read_failure_body()
        finally:
            await answer.aclose()
        raise answer.failed(body)

    async def aclose(self) -> None:
        """Close the client that was opened for the running event loop; a client that was given stays open."""
        await self._own.aclose()


def _is_retryable(answer: HTTPAnswer, failure: Failure | None) -> bool:
    said = answer.headers.get("x-should-retry")
    if said in ("true", "false"):  # OpenAI's servers know better than the status
        return said == "true"
    if failure is None:
        return is_retryable_status(answer.status_code)
    # Some gateways report an upstream's failure with a status of success.
    status = failure.status_code if answer.status_code < 300 else answer.status_code  # noqa: PLR2004
    return status is not None and is_retryable_status(status) and failure.is_curable


def _advice(answer: HTTPAnswer) -> str:
    if answer.status_code in (401, 403):
        return " - check the API key"
    if 300 <= answer.status_code < 400:  # noqa: PLR2004 - redirects, RFC 9110, section 15.4
        return f" - a redirect to {mask_url(answer.headers.get('location', 'nowhere'))}: check base_url"
    return ""


def _excerpt(text: str) -> str:
    shown = " ".join(text[: 4 * MAX_MESSAGE_CHARACTERS].split())[:MAX_MESSAGE_CHARACTERS]
    return shown or "an empty body"


def _parsed(text: str) -> JsonValue:
    with contextlib.suppress(JSONParseError):
        return parse_json(text)
    return None


def _reason(error: Exception) -> str:
    text = _URL.sub(lambda found: mask_url(found[0]), str(error))  # what follows the ``?`` may be a key
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
