"""What a run looks like as text."""

from collections.abc import Iterable

import pytest

from onion.cli.render import MAX_VALUE_LENGTH, Kind, Piece, Transcript, error_text, shown, usage_figures, warning_text
from onion.errors import InvalidToolInputError
from onion.spec.content import DocumentSource, URLSource
from onion.spec.full_stream import (
    Abort,
    Finish,
    FinishStep,
    FullStreamPart,
    ReasoningDeltaOutput,
    Start,
    StartStep,
    StepRestart,
    TextDeltaOutput,
)
from onion.spec.parts import ErrorPart, TextEnd, TextStart
from onion.spec.step import LanguageModelUsage, StepPerformance
from onion.spec.tools import (
    FileOutput,
    GeneratedFile,
    ToolApprovalRequestOutput,
    ToolOutputDenied,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)
from onion.spec.usage import CompatibilityWarning, DeprecatedWarning, OtherWarning, UnsupportedWarning

CALL = TypedToolCall(tool_call_id="1", tool_name="add", input={"a": 1, "b": 2})
USED = LanguageModelUsage(input_tokens=12, output_tokens=3)


def pieces(parts: Iterable[FullStreamPart]) -> list[Piece]:
    """All pieces of a run's parts."""
    transcript = Transcript()
    return [piece for part in parts for piece in transcript.feed(part)]


def text(*parts: FullStreamPart) -> str:
    """All pieces as they stand on a terminal."""
    return "".join(piece.text for piece in pieces(parts))


def test_deltas_become_pieces_as_they_come() -> None:
    parts: list[FullStreamPart] = [
        TextStart(id="1"),
        TextDeltaOutput(id="1", text="Hel"),
        TextDeltaOutput(id="1", text="lo"),
        TextEnd(id="1"),
    ]

    assert pieces(parts) == [Piece(Kind.ANSWER, "Hel"), Piece(Kind.ANSWER, "lo")]


def test_an_empty_delta_adds_nothing() -> None:
    assert pieces([TextDeltaOutput(id="1", text="")]) == []


def test_reasoning_and_answer_stand_on_lines_of_their_own() -> None:
    thought = ReasoningDeltaOutput(id="1", text="hm")
    said = TextDeltaOutput(id="1", text="yes")

    assert pieces([thought, thought, said]) == [
        Piece(Kind.REASONING, "hm"),
        Piece(Kind.REASONING, "hm"),
        Piece(Kind.REASONING, "\n"),
        Piece(Kind.ANSWER, "yes"),
    ]


def test_a_line_that_the_model_ended_itself_is_not_ended_again() -> None:
    said = TextDeltaOutput(id="1", text="yes\n")

    assert text(said, CALL) == 'yes\n→ add({"a": 1, "b": 2})\n'


def test_the_open_line_of_a_broken_run_can_be_ended_once() -> None:
    transcript = Transcript()
    transcript.feed(TextDeltaOutput(id="1", text="half an ans"))

    assert transcript.end_line() == (Piece(Kind.ANSWER, "\n"),)
    assert transcript.end_line() == ()


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (Start(), ""),
        (StartStep(), ""),
        (StartStep(warnings=(OtherWarning(message="slow today"),)), "! slow today\n"),
        (CALL, '→ add({"a": 1, "b": 2})\n'),
        (TypedToolResult(tool_call_id="1", tool_name="add", input={}, output=3), "← add: 3\n"),
        (TypedToolResult(tool_call_id="1", tool_name="add", input={}, output=1, preliminary=True), "… add: 1\n"),
        (
            TypedToolError(tool_call_id="1", tool_name="add", input={}, error=ValueError("no\nnumber")),
            "✗ add: ValueError: no number\n",
        ),
        (TypedToolError(tool_call_id="1", tool_name="add", input={}, error={"code": 7}), '✗ add: {"code": 7}\n'),
        (ToolOutputDenied(tool_call_id="1", tool_name="add"), "! add was denied and did not run\n"),
        (ToolApprovalRequestOutput(approval_id="1", tool_call=CALL), "! add waits for an approval\n"),
        (ToolApprovalRequestOutput(approval_id="1", tool_call=CALL, is_automatic=True), ""),
        (
            FileOutput(file=GeneratedFile(media_type="image/png", base64="AAAA")),
            "! a file of type image/png, 3 bytes\n",
        ),
        (URLSource(id="1", url="https://example.com/a"), "! source: https://example.com/a\n"),
        (DocumentSource(id="1", media_type="text/plain", title="Notes"), "! source: Notes\n"),
        (
            StepRestart(attempt=2, error=ConnectionError("gone")),
            "! the step begins again (attempt 2): ConnectionError: gone\n",
        ),
        (ErrorPart(error=ValueError("told by whoever runs")), ""),
        (Finish(finish_reason="stop"), ""),
        (Abort(), "! aborted\n"),
        (Abort(reason="enough"), "! aborted: enough\n"),
        (FinishStep(finish_reason="stop", usage=USED), "── step 1: stop · 12 tokens in, 3 out\n"),
    ],
)
def test_a_part_is_shown_as_a_line(part: FullStreamPart, shown: str) -> None:
    assert text(part) == shown


def test_the_figures_of_a_step_tell_its_times() -> None:
    performance = StepPerformance(step_time_ms=1234.0, time_to_first_output_ms=250.0, output_tokens_per_second=31.4)

    line = text(FinishStep(finish_reason="tool-calls", usage=USED, performance=performance))

    assert line == ("── step 1: tool-calls · 12 tokens in, 3 out · 1.23 s · first output after 0.25 s · 31 tokens/s\n")


def test_times_that_nobody_measured_are_left_out() -> None:
    line = text(FinishStep(finish_reason="stop", usage=USED, performance=StepPerformance(step_time_ms=10.0)))

    assert line == "── step 1: stop · 12 tokens in, 3 out · 0.01 s\n"


def test_a_run_of_several_steps_ends_with_its_total() -> None:
    step = FinishStep(finish_reason="stop", usage=USED)

    shown = text(step, step, Finish(finish_reason="stop", total_usage=USED + USED))

    assert shown.splitlines()[1:] == ["── step 2: stop · 12 tokens in, 3 out", "── 2 steps: 24 tokens in, 6 out"]


def test_unknown_usage_is_not_shown_as_zero() -> None:
    assert usage_figures(LanguageModelUsage()) == "? tokens in, ? out"


@pytest.mark.parametrize(
    ("warning", "expected"),
    [
        (OtherWarning(message="note"), "note"),
        (DeprecatedWarning(setting="seed", message="use none"), "seed is deprecated: use none"),
        (UnsupportedWarning(feature="topK"), "topK (unsupported)"),
        (CompatibilityWarning(feature="topK", details="as topP"), "topK (compatibility): as topP"),
    ],
    ids=["other", "deprecated", "unsupported", "compatibility"],
)
def test_every_warning_has_its_line(
    warning: OtherWarning | DeprecatedWarning | UnsupportedWarning | CompatibilityWarning, expected: str
) -> None:
    assert warning_text(warning) == expected


def test_an_error_is_one_line_with_its_class() -> None:
    error = InvalidToolInputError("first line\n  second line", tool_name="add", tool_input="{")

    assert error_text(error) == "InvalidToolInputError: first line second line"
    assert error_text(TimeoutError()) == "TimeoutError"
    assert error_text("no such\ntool") == "no such tool"


def test_a_long_value_is_shortened() -> None:
    assert shown("x" * 10_000) == '"' + "x" * (MAX_VALUE_LENGTH - 1) + "…"


def test_a_value_without_json_form_is_shown_by_its_repr() -> None:
    assert shown(object).startswith("<class")
