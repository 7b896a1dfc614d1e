"""A streamed run, read by a program that is not async."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from onion.sync.worker import Worker, stop

if TYPE_CHECKING:
    from types import TracebackType

    from onion.loop.results import GenerateTextResult
    from onion.loop.stream_result import StreamTextResult as AsyncResult
    from onion.loop.sub_agents import AgentRun
    from onion.loop.views import View as AsyncView
    from onion.spec.base import ProviderMetadata
    from onion.spec.content import Reasoning, Source
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.result import RequestInfo, ResponseInfo
    from onion.spec.step import LanguageModelUsage, ResponseMessage, StepContent, StepResult
    from onion.spec.tools import GeneratedFile, ReasoningFileOutput, TypedToolCall, TypedToolResult
    from onion.spec.usage import CallWarning, UnifiedFinishReason

T = TypeVar("T")
OutputT_co = TypeVar("OutputT_co", covariant=True)


class View(Iterator[T]):
    """One way of reading a run, blocking; see `onion.loop.views.View`."""

    def __init__(self, result: StreamTextResult[OutputT_co], view: AsyncView[T]) -> None:
        self._result = result
        self._view = view

    def __next__(self) -> T:
        """The next item; waits for it."""
        try:
            return self._result.wait_for(self._view.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """Stop reading; if this was the last view, the run ends."""
        self._result.wait_for(self._view.aclose)


class StreamTextResult(Generic[OutputT_co]):
    """A run that advances as it is read, blocking; see `onion.StreamTextResult`.

    Asking for one of its values drives the run to its end, and raises what ended it if that was a failure.
    """

    def __init__(self, result: AsyncResult[OutputT_co]) -> None:
        self._async = result
        self._worker = Worker()
        self._close = weakref.finalize(self, stop, self._worker.loop, self._worker.requests, result.aclose)

    def wait_for(self, call: Callable[[], Awaitable[T]]) -> T:
        """What *call* gives, made where the run is read."""
        return self._worker.do(call, interrupt=lambda: self._async.abort("the reader was interrupted"))

    @property
    def full_stream(self) -> View[FullStreamPart]:
        """Every part of the run, failures included."""
        return View(self, self._async.full_stream)

    @property
    def text_stream(self) -> View[str]:
        """The pieces of text of all steps."""
        return View(self, self._async.text_stream)

    @property
    def partial_output_stream(self) -> View[object]:
        """The output as far as it has come, each time that it grows."""
        return View(self, self._async.partial_output_stream)

    @property
    def element_stream(self) -> View[object]:
        """The elements of an array output."""
        return View(self, self._async.element_stream)

    @property
    def result(self) -> GenerateTextResult[OutputT_co]:
        """All that the run gave, as `generate_text` would give it.

        Raises:
            Exception: What ended the run.
        """
        return self.wait_for(self._async.consume)

    @property
    def output(self) -> OutputT_co:
        """The output that `output=` asks for; without it, the text."""
        return self.result.output

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """The steps."""
        return self.result.steps

    @property
    def final_step(self) -> StepResult:
        """The last step."""
        return self.result.final_step

    @property
    def text(self) -> str:
        """The text of the last step."""
        return self.result.text

    @property
    def content(self) -> tuple[StepContent, ...]:
        """The content of the last step."""
        return self.result.content

    @property
    def reasoning(self) -> tuple[Reasoning | ReasoningFileOutput, ...]:
        """The reasoning parts of the last step."""
        return self.result.reasoning

    @property
    def reasoning_text(self) -> str | None:
        """The reasoning of the last step, joined; None if there is none."""
        return self.result.reasoning_text

    @property
    def files(self) -> tuple[GeneratedFile, ...]:
        """The files that the model made, in all steps."""
        return self.result.files

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the answers of all steps rest on."""
        return self.result.sources

    @property
    def tool_calls(self) -> tuple[TypedToolCall, ...]:
        """The tool calls of all steps, valid or not."""
        return self.result.tool_calls

    @property
    def tool_results(self) -> tuple[TypedToolResult, ...]:
        """The results of all steps' tools that did not fail."""
        return self.result.tool_results

    @property
    def finish_reason(self) -> UnifiedFinishReason:
        """Why the model stopped in the last step."""
        return self.result.finish_reason

    @property
    def raw_finish_reason(self) -> str | None:
        """The same in the provider's own word."""
        return self.result.raw_finish_reason

    @property
    def usage(self) -> LanguageModelUsage:
        """The sum over all steps."""
        return self.result.usage

    @property
    def usage_with_agents(self) -> LanguageModelUsage:
        """The usage of this run and of the runs of sub-agents inside of it."""
        return self.result.usage_with_agents

    @property
    def agent_runs(self) -> tuple[AgentRun, ...]:
        """The runs of sub-agents inside of tool calls."""
        return self.result.agent_runs

    @property
    def warnings(self) -> tuple[CallWarning, ...]:
        """What the provider warned of, in all steps."""
        return self.result.warnings

    @property
    def response_messages(self) -> tuple[ResponseMessage, ...]:
        """All new messages, for the next call's history."""
        return self.result.response_messages

    @property
    def request(self) -> RequestInfo:
        """What was sent in the last step."""
        return self.result.request

    @property
    def response(self) -> ResponseInfo:
        """What the provider said beside its answer in the last step."""
        return self.result.response

    @property
    def provider_metadata(self) -> ProviderMetadata | None:
        """What only the provider says of its answer in the last step."""
        return self.result.provider_metadata

    @property
    def callback_errors(self) -> tuple[Exception, ...]:
        """What callbacks and lifecycle hooks raised; they do not end a run."""
        return self.result.callback_errors

    def abort(self, reason: object = None) -> None:
        """End the run; from any thread."""
        self._async.abort(reason)

    def close(self) -> None:
        """End the run and release what it holds."""
        self.wait_for(self._async.aclose)
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.wait_for(lambda: self._async.__aexit__(kind, error, traceback))
        finally:
            self._close()
