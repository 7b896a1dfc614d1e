"""The rules of the contract. Each is one line of code under the sentence that states it.

`docs/protocol.md` is made of those sentences (`python -m onion.testing.protocol`), and `Lint` runs the lines.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onion.errors import OnionError, TypeValidationError
from onion.spec.call import CallOptions
from onion.spec.content import ToolCall
from onion.spec.json import to_json
from onion.spec.parts import (
    ErrorPart,
    FinishPart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)
from onion.spec.result import GenerateResult
from onion.spec.stream import StreamResult
from onion.streaming import BEFORE_CONTENT
from onion.testing.fitting import misfit

if TYPE_CHECKING:
    from datetime import datetime

    from onion.spec.model import LanguageModel
    from onion.spec.usage import Usage

_URLS = Mapping[str, Sequence[re.Pattern[str]]]


class LintError(AssertionError):
    """A model or a layer broke a rule of the contract: a fault in a program, so no `OnionError`.

    Attributes:
        rule: The name of the rule, as `docs/protocol.md` lists it.
    """

    def __init__(self, rule: str, place: str, found: object) -> None:
        shown = found if isinstance(found, str) else repr(found)
        super().__init__(f"{place} broke the rule {rule!r}: {shown[:300]}")
        self.rule = rule


class Rules:
    """Where rules are checked: for one model and one call of it."""

    def __init__(self, place: str, *, strict: bool) -> None:
        self.place = place
        self.is_strict = strict

    def require(self, rule: str, holds: object, found: object) -> None:
        """Raise a LintError that names *rule* and shows *found* unless *holds*."""
        if not holds:
            raise LintError(rule, self.place, found)

    def require_strictly(self, rule: str, holds: object, found: object) -> None:
        """As `require`, for what Onion's own models promise and foreign ones need not."""
        self.require(rule, holds or not self.is_strict, found)


class CallRules(Rules):
    """The call: a model and the params that it is given."""

    def before(self, model: LanguageModel, params: CallOptions) -> None:
        """Check what the outer neighbour asks for."""
        #: `provider` and `model_id` are texts that are not empty.
        self.require("model-names", _is_name(model.provider) and _is_name(model.model_id), model)
        #: `supported_urls` maps media types to sequences of compiled patterns.
        self.require("model-urls", not (wrong := misfit(model.supported_urls, _URLS, "supported_urls")), wrong)
        #: `params` is a `CallOptions` whose members have their declared types, down to the parts of the messages.
        self.require("params-types", not (wrong := misfit(params, CallOptions, "params")), wrong)
        #: No two tools of a call have the same name.
        self.require("tool-names", len(set(names := _tool_names(params))) == len(names), names)
        self._snapshot = _json(params)
        #: Params have a JSON form, so that they can be compared, stored and logged.
        self.require("params-json", self._snapshot is not None, params)

    def after(self, params: CallOptions) -> None:
        """Check what the inner neighbour left of the params."""
        #: Whoever is given params leaves them as they are, at every depth: `params.replace` makes a changed copy.
        self.require("params-unchanged", _json(params) == self._snapshot, params)

    def failed(self, error: BaseException) -> None:
        """Check how the inner neighbour failed."""
        #: A call fails with an exception from the tree under `OnionError`. (Onion's own models.)
        self.require_strictly("error-class", isinstance(error, OnionError) or not isinstance(error, Exception), error)

    def answered(self, cancellations: int) -> None:
        """Check that a call which was asked to stop *cancellations* times while it ran did not answer."""
        #: Cancellation passes through: a call that was cancelled while it waited raises `CancelledError`.
        self.require("cancellation-passes", cancellations == 0, "it was cancelled and answered nevertheless")


class AnswerRules(Rules):
    """The whole answer: what `do_generate` gives back."""

    def check(self, result: GenerateResult) -> None:
        """Check what the inner neighbour answered."""
        #: `do_generate` returns a `GenerateResult` whose members have their declared types.
        self.require("result-types", not (wrong := misfit(result, GenerateResult, "the result")), wrong)
        #: The ids of tool calls are unique within one answer.
        self.require("call-ids", len(set(ids := _call_ids(result))) == len(ids), ids)
        #: Token counts are not negative; what the provider does not say is None.
        self.require("usage-counts", _is_possible(result.usage), result.usage)
        moment = None if result.response is None else result.response.timestamp
        #: The time of a response knows its zone.
        self.require("response-time", _is_aware(moment), moment)


class StreamRules(Rules):
    """The stream: what `do_stream` gives back, part by part."""

    def __init__(self, place: str, *, strict: bool) -> None:
        super().__init__(place, strict=strict)
        self._count = 0
        self._has_content = False
        self._finish: FinishPart | None = None
        self._error: ErrorPart | None = None
        self._open: set[tuple[str, str]] = set()
        self._started: set[tuple[str, str]] = set()
        self._calls: set[str] = set()
        self._last: StreamPart | None = None
        self._snapshot: object = None

    def opened(self, result: object) -> None:
        """Check what was returned."""
        #: `do_stream` returns a `StreamResult`, which nobody has read, closed or handed on.
        self.require("stream-class", isinstance(result, StreamResult), result)

    def feed(self, part: StreamPart) -> None:
        """Check the next part against those before it."""
        self.unchanged()
        #: Every part is of one of the classes in `StreamPart`, and its members have their declared types.
        self.require("part-types", not (wrong := misfit(part, StreamPart, f"part {self._count}")), wrong)
        #: `stream-start` comes at most once, and before everything else.
        self.require("stream-start-first", not isinstance(part, StreamStart) or self._count == 0, part)
        #: `finish` comes at most once, and nothing comes after it.
        self.require("finish-last", self._finish is None, part)
        #: After an `error` part comes `finish` and nothing else. (Onion's own models.)
        self.require_strictly("error-then-finish", self._error is None or isinstance(part, FinishPart), part)
        self._count += 1
        self._last, self._snapshot = part, _json(part)
        #: Every part has a JSON form.
        self.require("part-json", self._snapshot is not None, part)
        self._feed_block(part)
        self._feed_other(part)
        self._has_content = self._has_content or not isinstance(part, BEFORE_CONTENT)

    def _feed_block(self, part: StreamPart) -> None:
        kind = part.type.rpartition("-")[0]
        match part:
            case TextStart() | ReasoningStart() | ToolInputStart():
                #: The ids of blocks are unique per kind (text, reasoning, tool input) within one call.
                self.require("block-ids", (kind, part.id) not in self._started, part)
                self._started.add((kind, part.id))
                self._open.add((kind, part.id))
            case TextDelta() | ReasoningDelta() | ToolInputDelta():
                #: A delta belongs to a block of its kind and id that was started and has not ended.
                self.require("delta-in-block", (kind, part.id) in self._open, part)
            case TextEnd() | ReasoningEnd() | ToolInputEnd():
                #: An end belongs to a block of its kind and id that was started and has not ended.
                self.require("end-of-block", (kind, part.id) in self._open, part)
                self._open.remove((kind, part.id))
            case _:
                pass

    def _feed_other(self, part: StreamPart) -> None:
        match part:
            case ToolCall():
                ended = ("tool-input", part.tool_call_id) not in self._open
                #: The tool call of a client tool comes after the end of its input, where the input was streamed.
                self.require("call-after-input", ended or part.provider_executed, part)
                #: The ids of tool calls are unique within one call of the model.
                self.require("stream-call-ids", part.tool_call_id not in self._calls, part)
                self._calls.add(part.tool_call_id)
            case ErrorPart():
                #: A failure before the first content is raised by `do_stream`, not streamed. (Onion's own models.)
                self.require_strictly("early-failure-raises", self._has_content, part)
                #: An `error` part carries an exception. (Onion's own models.)
                self.require_strictly("error-is-exception", isinstance(part.error, Exception), part)
                #: Open blocks end before an `error` part. (Onion's own models.)
                self.require_strictly("blocks-end-before-error", not self._open, sorted(self._open))
                self._error = part
            case FinishPart():
                #: Every block that was started has ended before `finish`.
                self.require("blocks-end", not self._open, sorted(self._open))
                #: Token counts in `finish` are not negative.
                self.require("finish-usage", _is_possible(part.usage), part.usage)
                is_error = part.finish_reason.unified == "error"
                #: A stream with an `error` part finishes with the reason `error`. (Onion's own models.)
                self.require_strictly("error-reason", is_error or self._error is None, part)
                self._finish = part
            case ResponseMetadata():
                #: The time in `response-metadata` knows its zone.
                self.require("metadata-time", _is_aware(part.timestamp), part)
            case _:
                pass

    def unchanged(self) -> None:
        """Check what the outer neighbour left of the part that it was handed last."""
        #: Whoever is handed a part leaves it as it is: `dataclasses.replace` makes another.
        self.require("part-unchanged", self._last is None or _json(self._last) == self._snapshot, self._last)

    def failed(self, error: Exception) -> None:
        """Check how reading failed."""
        #: Iterating does not raise: a failure after the first content is an `error` part. (Onion's own models.)
        self.require_strictly("late-failure-streams", holds=False, found=error)

    def ended(self) -> None:
        """Check what came, when the stream ended by itself."""
        #: A stream that is read to its end has a `finish`.
        self.require("finish-comes", self._finish is not None, f"it ended after {self._count} parts without finish")


class OwnerRules(Rules):
    """The owner of a stream: who was given it."""

    def all_closed(self, open_streams: int) -> None:
        """Check that nothing is left open."""
        #: Whoever is given a stream reads it to its end, closes it, or hands it on inside the one that it returns.
        self.require("streams-closed", open_streams == 0, f"{open_streams} streams are open")


def _is_name(text: object) -> bool:
    return isinstance(text, str) and text != ""


def _tool_names(params: CallOptions) -> list[str]:
    return [tool.name for tool in params.tools or ()]


def _call_ids(result: GenerateResult) -> list[str]:
    return [part.tool_call_id for part in result.content if isinstance(part, ToolCall)]


def _is_possible(usage: Usage) -> bool:
    counts = (*dataclasses.astuple(usage.input_tokens), *dataclasses.astuple(usage.output_tokens))
    return all(count is None or count >= 0 for count in counts)


def _is_aware(moment: datetime | None) -> bool:
    return moment is None or moment.tzinfo is not None


def _json(value: object) -> object:
    try:
        return to_json(value)
    except TypeValidationError:
        return None
