"""GenerateTextResult: what a run gave, from its steps."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Generic, TypeVar

from onion.errors import NoOutputGeneratedError
from onion.loop.sub_agents import agent_runs, total_usage

if TYPE_CHECKING:
    from onion.loop.output_reader import OutputReader
    from onion.loop.state import Run
    from onion.loop.sub_agents import AgentRun
    from onion.spec.base import ProviderMetadata
    from onion.spec.content import Reasoning, Source
    from onion.spec.result import RequestInfo, ResponseInfo
    from onion.spec.step import LanguageModelUsage, ResponseMessage, StepContent, StepResult
    from onion.spec.tools import GeneratedFile, ReasoningFileOutput, TypedToolCall, TypedToolResult
    from onion.spec.usage import CallWarning, UnifiedFinishReason

OutputT_co = TypeVar("OutputT_co", covariant=True)
_SHOWN_TEXT = 60


class GenerateTextResult(Generic[OutputT_co]):
    """What a run gave.

    What belongs to one answer (text, content, reasoning, finish reason, request, response, provider metadata) is that
    of the last step; tool calls and results, files, sources and warnings are those of all steps.

    Attributes:
        steps: The steps, at least one.
        usage: The sum over all steps.
        agent_runs: The runs of sub-agents inside of tool calls.
        response_messages: All new messages, for the next call's history.
        callback_errors: What callbacks and lifecycle hooks raised; they do not end a run.
    """

    __slots__ = ("_reader", "_structured_text", "agent_runs", "callback_errors", "response_messages", "steps", "usage")

    steps: tuple[StepResult, ...]
    usage: LanguageModelUsage
    agent_runs: tuple[AgentRun, ...]
    response_messages: tuple[ResponseMessage, ...]
    callback_errors: tuple[Exception, ...]

    def __init__(self, run: Run, reader: OutputReader[OutputT_co]) -> None:
        self.steps = tuple(run.steps)
        self.usage = run.usage
        self.agent_runs = tuple(agent_runs(run.info))
        self.response_messages = tuple(run.response_messages)
        self.callback_errors = tuple(run.told.errors)
        self._reader = reader
        self._structured_text = run.structured_text

    @property
    def output(self) -> OutputT_co:
        """The output that `output=` asks for; without it, the text.

        Raises:
            NoOutputGeneratedError: When the run ended without an answer to read it from.
            NoObjectGeneratedError: When the answer does not hold it.
        """
        return self._reader.finish(
            text=self.text if self._structured_text is None else self._structured_text,
            finish_reason=self.finish_reason,
            usage=self.usage,
            response=self.response,
            steps=self.steps,
        )

    def check_output(self) -> None:
        """Read the output, so that an answer which does not hold it is an error now.

        Raises:
            NoObjectGeneratedError: When the answer does not hold the output.
        """
        with contextlib.suppress(NoOutputGeneratedError):
            _ = self.output

    @property
    def usage_with_agents(self) -> LanguageModelUsage:
        """The usage of this run and of the runs of sub-agents inside of it."""
        return total_usage(self.usage, self.agent_runs)

    @property
    def final_step(self) -> StepResult:
        """The last step."""
        return self.steps[-1]

    @property
    def text(self) -> str:
        """The text of the last step."""
        return self.final_step.text

    @property
    def content(self) -> tuple[StepContent, ...]:
        """The content of the last step."""
        return self.final_step.content

    @property
    def reasoning(self) -> tuple[Reasoning | ReasoningFileOutput, ...]:
        """The reasoning parts of the last step."""
        return self.final_step.reasoning

    @property
    def reasoning_text(self) -> str | None:
        """The reasoning of the last step, joined; None if there is none."""
        return self.final_step.reasoning_text

    @property
    def files(self) -> tuple[GeneratedFile, ...]:
        """The files that the model made, in all steps."""
        return tuple(file for step in self.steps for file in step.files)

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the answers of all steps rest on."""
        return tuple(source for step in self.steps for source in step.sources)

    @property
    def tool_calls(self) -> tuple[TypedToolCall, ...]:
        """The tool calls of all steps, valid or not."""
        return tuple(call for step in self.steps for call in step.tool_calls)

    @property
    def tool_results(self) -> tuple[TypedToolResult, ...]:
        """The results of all steps' tools that did not fail."""
        return tuple(result for step in self.steps for result in step.tool_results)

    @property
    def finish_reason(self) -> UnifiedFinishReason:
        """Why the model stopped in the last step."""
        return self.final_step.finish_reason

    @property
    def raw_finish_reason(self) -> str | None:
        """The same in the provider's own word."""
        return self.final_step.raw_finish_reason

    @property
    def warnings(self) -> tuple[CallWarning, ...]:
        """What the provider warned of, in all steps."""
        return tuple(warning for step in self.steps for warning in step.warnings)

    @property
    def request(self) -> RequestInfo:
        """What was sent in the last step."""
        return self.final_step.request

    @property
    def response(self) -> ResponseInfo:
        """What the provider said beside its answer in the last step."""
        return self.final_step.response

    @property
    def provider_metadata(self) -> ProviderMetadata | None:
        """What only the provider says of its answer in the last step."""
        return self.final_step.provider_metadata

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN_TEXT else f"{self.text[:_SHOWN_TEXT]}…"
        return f"GenerateTextResult({text!r}, finish_reason={self.finish_reason!r}, steps={len(self.steps)})"
