"""What happens in one run of a scenario, noted in the words of a record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onion.spec import JsonValue
from tests.conformance.encoding import encode
from tests.conformance.failures import name_of

if TYPE_CHECKING:
    from onion.loop.lifecycle import Callbacks
    from onion.loop.settings import StepPreparation
    from onion.spec import CallOptions
    from onion.spec.events import (
        AbortEvent,
        EndEvent,
        ErrorEvent,
        LanguageModelCallEndEvent,
        LanguageModelCallStartEvent,
        StartEvent,
        StepEndEvent,
        StepErrorEvent,
        StepStartEvent,
        ToolExecutionEndEvent,
        ToolExecutionStartEvent,
    )
    from tests.conformance.data import Record

SHORTEST_RECORDED_WAIT_MS = 1000


def _nothing_to_abort() -> None:
    message = "the scenario aborts a run that cannot be aborted"
    raise AssertionError(message)


@dataclass
class Recorder:
    """Notes of one run.

    Attributes:
        abort: What triggers the abort of the scenario; set once the run can be aborted.
        unused: How many answers of the models were left, by model.
    """

    abort: Callable[[], object] = _nothing_to_abort
    model_calls: list[JsonValue] = field(default_factory=list[JsonValue])
    tool_executions: list[JsonValue] = field(default_factory=list[JsonValue])
    tool_input_events: list[JsonValue] = field(default_factory=list[JsonValue])
    prepare_step_calls: list[JsonValue] = field(default_factory=list[JsonValue])
    repair_calls: list[JsonValue] = field(default_factory=list[JsonValue])
    trace: list[JsonValue] = field(default_factory=list[JsonValue])
    events: list[JsonValue] = field(default_factory=list[JsonValue])
    retry_delays_ms: list[JsonValue] = field(default_factory=list[JsonValue])

    def note_call(self, kind: str, model: str, params: CallOptions) -> None:
        """A model is called; the options are taken down as they are now."""
        options = encode(params)
        if isinstance(options, dict):
            headers = {name: value for name, value in (params.headers or {}).items() if name.lower() != "user-agent"}
            options["headers"] = encode(headers or None)
            options["includeRawChunks"] = params.include_raw_chunks or None
        self.model_calls.append({"call": kind, "model": model, "options": options})

    def note_preparation(self, told: StepPreparation) -> None:
        """`prepare_step` is asked."""
        self.prepare_step_calls.append(
            {
                "stepNumber": told.step_number,
                "stepsCount": len(told.steps),
                "instructions": encode(told.instructions),
                "initialInstructions": encode(told.initial_instructions),
                "messagesCount": len(told.messages),
                "initialMessagesCount": len(told.initial_messages),
                "responseMessagesCount": len(told.response_messages),
            }
        )

    async def sleep(self, seconds: float) -> None:
        """What a retry waits with: only the wish is noted."""
        milliseconds = round(seconds * 1000)
        if milliseconds >= SHORTEST_RECORDED_WAIT_MS:
            self.retry_delays_ms.append(milliseconds)

    def record(self) -> Record:
        """The keys of the record that are noted here; those with nothing to say are absent."""
        return {
            "modelCalls": self.model_calls,
            "toolExecutions": self.tool_executions or None,
            "toolInputEvents": self.tool_input_events or None,
            "prepareStepCalls": self.prepare_step_calls or None,
            "repairCalls": self.repair_calls or None,
            "trace": self.trace or None,
            "events": self.events or None,
            "retryDelaysMs": self.retry_delays_ms or None,
        }

    def callbacks(self) -> Callbacks:
        """The lifecycle callbacks that note the events."""
        return {
            "on_start": self._on_start,
            "on_step_start": self._on_step_start,
            "on_language_model_call_start": self._on_call_start,
            "on_language_model_call_end": self._on_call_end,
            "on_tool_execution_start": self._on_tool_start,
            "on_tool_execution_end": self._on_tool_end,
            "on_step_end": self._on_step_end,
            "on_step_error": self._on_step_error,
            "on_end": self._on_end,
            "on_error": self._on_error,
            "on_abort": self._on_abort,
        }

    def _on_start(self, _event: StartEvent) -> None:
        self.events.append("onStart")

    def _on_step_start(self, event: StepStartEvent) -> None:
        self.events.append(f"onStepStart:{event.step_number}")

    def _on_call_start(self, _event: LanguageModelCallStartEvent) -> None:
        self.events.append("onLanguageModelCallStart")

    def _on_call_end(self, event: LanguageModelCallEndEvent) -> None:
        self.events.append(f"onLanguageModelCallEnd:{event.finish_reason}")

    def _on_tool_start(self, event: ToolExecutionStartEvent) -> None:
        self.events.append(f"onToolExecutionStart:{event.tool_call.tool_call_id}")

    def _on_tool_end(self, event: ToolExecutionEndEvent) -> None:
        self.events.append(f"onToolExecutionEnd:{event.tool_call.tool_call_id}:{event.output.type}")

    def _on_step_end(self, event: StepEndEvent) -> None:
        self.events.append(f"onStepEnd:{event.step.step_number}")

    def _on_step_error(self, event: StepErrorEvent) -> None:
        self.events.append(f"onStepError:{event.step_number}:{name_of(event.error)}")

    def _on_end(self, _event: EndEvent) -> None:
        self.events.append("onEnd")

    def _on_error(self, event: ErrorEvent) -> None:
        self.events.append(f"onError:{name_of(event.error)}")

    def _on_abort(self, event: AbortEvent) -> None:
        self.events.append(f"onAbort:steps={len(event.steps)}")
