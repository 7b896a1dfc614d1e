"""What a wire format is to the model that speaks it: functions from calls to bodies, and from bodies to answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from onion.spec.base import JsonValue, value
from onion.spec.result import RequestInfo
from onion.spec.usage import CallWarning

if TYPE_CHECKING:
    from onion.providers._sse import ServerSentEvent
    from onion.spec.call import CallOptions
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult


@value
class WireRequest:
    """A request, ready but for address and credentials.

    Attributes:
        path: Where it goes, below the base URL: ``/chat/completions``.
        warnings: What of the call is left out, or went in another form.
        headers: Headers that this call needs; the caller's own win.
    """

    path: str
    body: Mapping[str, JsonValue]
    warnings: tuple[CallWarning, ...] = ()
    headers: Mapping[str, str] | None = None


@value
class Exchange:
    """What is known of a call when its answer is read.

    Attributes:
        warnings: Of the request.
        headers: Of the answer.
    """

    request: RequestInfo | None = None
    warnings: tuple[CallWarning, ...] = ()
    headers: Mapping[str, str] | None = None


UNKNOWN = Exchange()
"""Nothing is."""


class StreamDecoder(Protocol):
    """Turns the events of one streamed answer into parts that keep the stream grammar."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be read: the terminal marker or a failure has come."""
        ...

    def feed_events(self, events: Iterable[ServerSentEvent], *, is_rest: bool = False) -> list[StreamPart]:
        """The parts that *events* bring; raises nothing.

        Args:
            events: In the order of the stream.
            is_rest: They are what the body ended in, so that JSON that stops short only says that it was cut.
        """
        ...

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """The last parts, up to the finish; called once.

        Args:
            failure: Why the stream could not be read further, if it could not.

        Raises:
            Exception: The failure, if no content was handed out: then the call as a whole has failed.
        """
        ...


class Wire(Protocol):
    """One wire format. Its methods do no I/O, and are given what the caller asked for."""

    def request(self, model_id: str, params: CallOptions, *, is_stream: bool) -> WireRequest:
        """The request for one call.

        Raises:
            OnionError: When the call cannot be expressed; nothing is sent then.
        """
        ...

    def result(self, body: JsonValue, params: CallOptions, exchange: Exchange) -> GenerateResult:
        """The answer that *body* holds.

        Raises:
            TypeValidationError: When it is no answer.
            StreamProviderError: When it reports a failure.
        """
        ...

    def decoder(self, params: CallOptions, *, hide: Callable[[str], str]) -> StreamDecoder:
        """What reads one streamed answer; *hide* takes secrets out of what a server says of a failure."""
        ...
