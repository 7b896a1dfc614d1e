"""StreamTextResult: a run that advances as it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Self, TypeVar

from onion.errors import AbortedError, UnsupportedFunctionalityError
from onion.loop.feeds import Buffer, FullFeed, OutputFeed, TextFeed
from onion.loop.results import GenerateTextResult
from onion.loop.views import Pump, View, late

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from onion.loop.feeds import Feed
    from onion.loop.output import Output
    from onion.loop.output_reader import OutputReader
    from onion.loop.state import Run
    from onion.loop.sub_agents import AgentRun
    from onion.spec.base import ProviderMetadata
    from onion.spec.content import Reasoning, Source
    from onion.spec.full_stream import FullStreamPart
    from onion.spec.result import RequestInfo, ResponseInfo
    from onion.spec.step import LanguageModelUsage, ResponseMessage, StepContent, StepResult
    from onion.spec.tools import GeneratedFile, ReasoningFileOutput, TypedToolCall, TypedToolResult
    from onion.spec.usage import CallWarning, UnifiedFinishReason

OutputT_co = TypeVar("OutputT_co", covariant=True)
T = TypeVar("T")


class Later(Generic[T]):
    """A value that is known once the run has ended. Awaiting it drives the run there."""

    __slots__ = ("_get",)

    def __init__(self, get: Callable[[], Generator[object, None, T]]) -> None:
        self._get = get

    def __await__(self) -> Generator[object, None, T]:
        return self._get()


class StreamTextResult(Generic[OutputT_co]):
    """A run that advances in the task of whoever reads it; nothing is sent before the first read.

    Make all views before the first read; each sees everything from the start. Or await one of the values, which
    drives the run to its end. ``async with`` closes the run on the way out.

    A failure is a part of the full stream; the other views raise it at its position, and the awaitables raise it.
    """

    def __init__(self, run: Run, output: Output[OutputT_co], reader: OutputReader[OutputT_co]) -> None:
        self._pump = Pump(run)
        self._run = run
        self._output = output
        self._reader = reader
        self._outputs: OutputFeed | None = None
        self._result: GenerateTextResult[OutputT_co] | None = None

    @property
    def full_stream(self) -> View[FullStreamPart]:
        """Every part of the run, failures included."""
        feed = FullFeed()
        return self._view(feed, feed.buffer)

    @property
    def text_stream(self) -> View[str]:
        """The pieces of text of all steps."""
        feed = TextFeed(is_held=self._run.options.get("stream_retries", 0) > 0)
        return self._view(feed, feed.buffer)

    @property
    def partial_output_stream(self) -> View[object]:
        """The output as far as it has come, each time that it grows; not validated. Read-only."""
        buffer = Buffer[object]()
        return self._output_view(self._output_feed().partials, buffer)

    @property
    def element_stream(self) -> View[object]:
        """The elements of an array output, each once it is whole and valid.

        Raises:
            UnsupportedFunctionalityError: When the output is no array.
        """
        if not self._output.has_elements:
            msg = "element_stream needs output=Output.array(...)"
            raise UnsupportedFunctionalityError(msg, functionality="element_stream")
        buffer = Buffer[object]()
        return self._output_view(self._output_feed().elements, buffer)

    def _output_feed(self) -> OutputFeed:
        if self._outputs is None:
            self._check_early()
            self._outputs = OutputFeed(self._reader)
            self._pump.feeds.append(self._outputs)
        return self._outputs

    def _view(self, feed: Feed, buffer: Buffer[T]) -> View[T]:
        self._check_early()
        feeds = self._pump.feeds
        feeds.append(feed)
        return View(self._pump, buffer, lambda: feeds.remove(feed))

    def _output_view(self, buffers: list[Buffer[object]], buffer: Buffer[object]) -> View[object]:
        self._check_early()
        buffers.append(buffer)
        return View(self._pump, buffer, lambda: buffers.remove(buffer))

    def _check_early(self) -> None:
        if self._pump.is_started or self._pump.is_finished:
            raise late()

    def abort(self, reason: object = None) -> None:
        """End the run: the full stream ends with an ``abort`` part, all else raises AbortedError(reason).

        May be called from any task or thread, also by a tool. Does nothing once the run has ended.
        """
        self._run.control.interrupt(AbortedError(reason))

    async def aclose(self) -> None:
        """End the run without an ``abort`` part, and release what it holds. Does nothing once it has ended."""
        await self._pump.aclose("it was closed")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the run; raise its failure if nobody was told of it yet and nothing else is raised."""
        had_ended = self._pump.is_finished
        await self.aclose()
        if error is None and had_ended and self._run.failure is not None and not self._pump.was_raised:
            self._pump.was_raised = True
            raise self._run.failure

    async def consume(self) -> GenerateTextResult[OutputT_co]:
        """Drive the run to its end and give its result.

        Raises:
            Exception: What ended the run.
        """
        await self._pump.drain()
        if self._run.failure is not None:
            self._pump.was_raised = True
            raise self._run.failure
        if self._result is None:
            self._result = GenerateTextResult(self._run, self._reader)
        return self._result

    def _later(self, pick: Callable[[GenerateTextResult[OutputT_co]], T]) -> Later[T]:
        async def get() -> T:
            return pick(await self.consume())

        return Later(lambda: get().__await__())

    @property
    def output(self) -> Later[OutputT_co]:
        """The output that `output=` asks for; without it, the text."""
        return self._later(lambda result: result.output)

    @property
    def steps(self) -> Later[tuple[StepResult, ...]]:
        """The steps."""
        return self._later(lambda result: result.steps)

    @property
    def final_step(self) -> Later[StepResult]:
        """The last step."""
        return self._later(lambda result: result.final_step)

    @property
    def text(self) -> Later[str]:
        """The text of the last step."""
        return self._later(lambda result: result.text)

    @property
    def content(self) -> Later[tuple[StepContent, ...]]:
        """The content of the last step."""
        return self._later(lambda result: result.content)

    @property
    def reasoning(self) -> Later[tuple[Reasoning | ReasoningFileOutput, ...]]:
        """The reasoning parts of the last step."""
        return self._later(lambda result: result.reasoning)

    @property
    def reasoning_text(self) -> Later[str | None]:
        """The reasoning of the last step, joined; None if there is none."""
        return self._later(lambda result: result.reasoning_text)

    @property
    def files(self) -> Later[tuple[GeneratedFile, ...]]:
        """The files that the model made, in all steps."""
        return self._later(lambda result: result.files)

    @property
    def sources(self) -> Later[tuple[Source, ...]]:
        """What the answers of all steps rest on."""
        return self._later(lambda result: result.sources)

    @property
    def tool_calls(self) -> Later[tuple[TypedToolCall, ...]]:
        """The tool calls of all steps, valid or not."""
        return self._later(lambda result: result.tool_calls)

    @property
    def tool_results(self) -> Later[tuple[TypedToolResult, ...]]:
        """The results of all steps' tools that did not fail."""
        return self._later(lambda result: result.tool_results)

    @property
    def finish_reason(self) -> Later[UnifiedFinishReason]:
        """Why the model stopped in the last step."""
        return self._later(lambda result: result.finish_reason)

    @property
    def raw_finish_reason(self) -> Later[str | None]:
        """The same in the provider's own word."""
        return self._later(lambda result: result.raw_finish_reason)

    @property
    def usage(self) -> Later[LanguageModelUsage]:
        """The sum over all steps."""
        return self._later(lambda result: result.usage)

    @property
    def agent_runs(self) -> Later[tuple[AgentRun, ...]]:
        """The runs of sub-agents inside of tool calls."""
        return self._later(lambda result: result.agent_runs)

    @property
    def usage_with_agents(self) -> Later[LanguageModelUsage]:
        """The usage of this run and of the runs of sub-agents inside of it."""
        return self._later(lambda result: result.usage_with_agents)

    @property
    def warnings(self) -> Later[tuple[CallWarning, ...]]:
        """What the provider warned of, in all steps."""
        return self._later(lambda result: result.warnings)

    @property
    def response_messages(self) -> Later[tuple[ResponseMessage, ...]]:
        """All new messages, for the next call's history."""
        return self._later(lambda result: result.response_messages)

    @property
    def request(self) -> Later[RequestInfo]:
        """What was sent in the last step."""
        return self._later(lambda result: result.request)

    @property
    def response(self) -> Later[ResponseInfo]:
        """What the provider said beside its answer in the last step."""
        return self._later(lambda result: result.response)

    @property
    def provider_metadata(self) -> Later[ProviderMetadata | None]:
        """What only the provider says of its answer in the last step."""
        return self._later(lambda result: result.provider_metadata)

    @property
    def callback_errors(self) -> Later[tuple[Exception, ...]]:
        """What callbacks and lifecycle hooks raised; they do not end a run."""
        return self._later(lambda result: result.callback_errors)

    def __repr__(self) -> str:
        state = "ended" if self._pump.is_finished else "being read" if self._pump.is_started else "unread"
        return f"StreamTextResult({state})"
