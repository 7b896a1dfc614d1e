from __future__ import annotations

import datetime as dt
import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from onion.errors import InvalidArgumentError, TypeValidationError
from onion.loop.messages import denied_part, error_output, error_text, model_output, options_from, response_messages
from onion.loop.tools import Tool, tool
from onion.spec import (
    AssistantMessage,
    ContentOutput,
    Custom,
    CustomPart,
    DocumentSource,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
    JsonOutput,
    Reasoning,
    ReasoningFilePart,
    ReasoningPart,
    Text,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    URLSource,
)
from onion.spec.tools import (
    FileOutput,
    GeneratedFile,
    ReasoningFileOutput,
    ToolApprovalRequestOutput,
    ToolApprovalResponseOutput,
    TypedToolCall,
    TypedToolError,
    TypedToolResult,
)

if TYPE_CHECKING:
    from onion.spec import AssistantPart, ToolMessagePart, ToolResultOutput
    from onion.spec.step import StepContent

SIGNED = {"acme": {"signature": "s"}}
FILE = GeneratedFile(media_type="text/csv", base64="YQ==")
CALL = TypedToolCall(tool_call_id="c1", tool_name="look", input={"k": 1})


def result(output: object, *, provider_executed: bool | None = None) -> TypedToolResult:
    return TypedToolResult(
        tool_call_id="c1", tool_name="look", input={"k": 1}, output=output, provider_executed=provider_executed
    )


def failure(error: object, *, provider_executed: bool | None = None) -> TypedToolError:
    return TypedToolError(
        tool_call_id="c1", tool_name="look", input={"k": 1}, error=error, provider_executed=provider_executed
    )


def outcome(output: ToolResultOutput) -> ToolResultPart:
    return ToolResultPart(tool_call_id="c1", tool_name="look", output=output)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(Text(text="a", provider_metadata=SIGNED), TextPart(text="a", provider_options=SIGNED), id="text"),
        pytest.param(
            Text(text="", provider_metadata=SIGNED), TextPart(text="", provider_options=SIGNED), id="empty text, signed"
        ),
        pytest.param(
            Reasoning(text="", provider_metadata=SIGNED),
            ReasoningPart(text="", provider_options=SIGNED),
            id="reasoning that is a signature only",
        ),
        pytest.param(FileOutput(file=FILE), FilePart(media_type="text/csv", data=FileData(data="YQ==")), id="file"),
        pytest.param(
            ReasoningFileOutput(file=FILE),
            ReasoningFilePart(media_type="text/csv", data=FileData(data="YQ==")),
            id="file of the reasoning",
        ),
        pytest.param(Custom(kind="acme.x"), CustomPart(kind="acme.x"), id="custom"),
        pytest.param(CALL, ToolCallPart(tool_call_id="c1", tool_name="look", input={"k": 1}), id="call"),
        pytest.param(
            TypedToolCall(tool_call_id="c1", tool_name="look", input="{k", invalid=True),
            ToolCallPart(tool_call_id="c1", tool_name="look", input={}),
            id="call with an input that is not JSON",
        ),
        pytest.param(
            TypedToolCall(tool_call_id="c1", tool_name="look", input={"k": "?"}, invalid=True),
            ToolCallPart(tool_call_id="c1", tool_name="look", input={"k": "?"}),
            id="call with an input that does not fit",
        ),
        pytest.param(
            ToolApprovalRequestOutput(
                approval_id="a1", tool_call=CALL, is_automatic=True, reason="why", signature="sig"
            ),
            ToolApprovalRequestPart(
                approval_id="a1", tool_call_id="c1", is_automatic=True, reason="why", signature="sig"
            ),
            id="approval request",
        ),
        pytest.param(
            result({"hits": 2}, provider_executed=True), outcome(JsonOutput(value={"hits": 2})), id="provider's result"
        ),
        pytest.param(
            failure({"code": 1}, provider_executed=True),
            outcome(ErrorJsonOutput(value={"code": 1})),
            id="provider's error",
        ),
    ],
)
async def test_what_the_model_said_becomes_a_part_of_its_message(content: StepContent, said: AssistantPart) -> None:
    assert await response_messages([content], {}) == (AssistantMessage(content=(said,)),)


@pytest.mark.parametrize(
    ("content", "given"),
    [
        pytest.param(result("found"), (outcome(TextOutput(value="found")),), id="result"),
        pytest.param(failure(KeyError("k")), (outcome(ErrorTextOutput(value="KeyError: 'k'")),), id="error"),
        pytest.param(
            ToolApprovalResponseOutput(approval_id="a1", tool_call=CALL, approved=True, reason="fine"),
            (ToolApprovalResponsePart(approval_id="a1", approved=True, reason="fine"),),
            id="approval",
        ),
        pytest.param(
            ToolApprovalResponseOutput(approval_id="a1", tool_call=CALL, approved=False, reason="no"),
            (
                ToolApprovalResponsePart(approval_id="a1", approved=False, reason="no"),
                outcome(ExecutionDenied(reason="no")),
            ),
            id="denial",
        ),
        pytest.param(
            ToolApprovalResponseOutput(approval_id="a1", tool_call=CALL, approved=False, provider_executed=True),
            (ToolApprovalResponsePart(approval_id="a1", approved=False, provider_executed=True),),
            id="denial of what the provider executes",
        ),
    ],
)
async def test_what_the_tools_gave_becomes_a_tool_message(
    content: StepContent, given: tuple[ToolMessagePart, ...]
) -> None:
    assert await response_messages([content], {}) == (ToolMessage(content=given),)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param([], id="nothing"),
        pytest.param([Text(text="")], id="an empty text"),
        pytest.param(
            [Text(text="", provider_metadata={"onion": {"cache": 1}})], id="an empty text with our own metadata"
        ),
        pytest.param([URLSource(id="1", url="https://example.test")], id="a web source"),
        pytest.param([DocumentSource(id="1", media_type="text/plain", title="t")], id="a document source"),
    ],
)
async def test_what_says_nothing_adds_no_message(content: list[StepContent]) -> None:
    assert await response_messages(content, {}) == ()


async def test_one_step_gives_one_message_of_the_model_and_one_of_the_tools_in_order() -> None:
    content: list[StepContent] = [
        Reasoning(text="think"),
        CALL,
        Text(text="and"),
        TypedToolCall(tool_call_id="c2", tool_name="read", input={}),
        result("1"),
        TypedToolResult(tool_call_id="c2", tool_name="read", input={}, output="2"),
    ]

    said, given = await response_messages(content, {})

    assert [part.type for part in said.content] == ["reasoning", "tool-call", "text", "tool-call"]
    assert [part.tool_call_id for part in given.content if isinstance(part, ToolResultPart)] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("metadata", "options"),
    [
        pytest.param(None, None, id="none"),
        pytest.param({"acme": {"id": 1}}, {"acme": {"id": 1}}, id="a provider's"),
        pytest.param({"acme": {"id": 1}, "onion": {"cache": 1}}, {"acme": {"id": 1}}, id="a provider's and ours"),
        pytest.param({"onion": {"cache": 1}}, None, id="ours"),
    ],
)
def test_metadata_goes_back_without_what_is_ours(
    metadata: dict[str, dict[str, str | int]] | None, options: dict[str, dict[str, str | int]] | None
) -> None:
    assert options_from(metadata) == options


class Report(BaseModel):
    day: dt.date


@dataclass
class Point:
    x: float


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        pytest.param("text", TextOutput(value="text"), id="text"),
        pytest.param("", TextOutput(value=""), id="empty text"),
        pytest.param(None, JsonOutput(value=None), id="None"),
        pytest.param([], JsonOutput(value=[]), id="empty list"),
        pytest.param({}, JsonOutput(value={}), id="empty mapping"),
        pytest.param(True, JsonOutput(value=True), id="bool"),
        pytest.param(Level.HIGH, JsonOutput(value=3), id="enumeration"),
        pytest.param((1, {"a"}), JsonOutput(value=[1, ["a"]]), id="tuple and set"),
        pytest.param(Report(day=dt.date(2026, 1, 31)), JsonOutput(value={"day": "2026-01-31"}), id="pydantic model"),
        pytest.param(Point(1.5), JsonOutput(value={"x": 1.5}), id="dataclass"),
        pytest.param([float("nan"), float("inf")], JsonOutput(value=["NaN", "Infinity"]), id="numbers that JSON lacks"),
        pytest.param(b"\xff", JsonOutput(value="_w=="), id="bytes"),
        pytest.param(ErrorTextOutput(value="no"), ErrorTextOutput(value="no"), id="an output of the contract"),
        pytest.param(
            ContentOutput(value=(FilePart(media_type="image/*", data=FileData(data=b"GIF89a")),)),
            ContentOutput(value=(FilePart(media_type="image/gif", data=FileData(data=b"GIF89a")),)),
            id="content",
        ),
    ],
)
async def test_an_output_is_shown_as_text_or_json(output: object, shown: ToolResultOutput) -> None:
    shown_output = await model_output(None, result(output))

    assert shown_output == shown
    assert type(shown_output) is type(shown)


async def test_an_output_without_a_json_form_says_which_tool_gave_it() -> None:
    with pytest.raises(TypeValidationError, match="the output of tool 'look' has no JSON form"):
        await model_output(None, result(object()))


def counted(output: object) -> dict[str, object]:
    return {"type": "json", "value": {"count": len(str(output))}}


async def told(output: object, outcome: TypedToolResult) -> TextOutput:
    return TextOutput(value=f"{output} for {outcome.tool_call_id}")


def pictured(_output: object) -> dict[str, object]:
    return {"type": "content", "value": [{"type": "image", "image": b"GIF89a"}]}


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        pytest.param(
            tool(name="look", input_schema={}, to_model_output=counted), JsonOutput(value={"count": 3}), id="plain"
        ),
        pytest.param(
            tool(name="look", input_schema={}, to_model_output=told), TextOutput(value="abc for c1"), id="async"
        ),
        pytest.param(
            tool(name="look", input_schema={}, to_model_output=pictured),
            ContentOutput(value=(FilePart(media_type="image/gif", data=FileData(data=b"GIF89a")),)),
            id="content with shorthands",
        ),
    ],
)
async def test_a_tool_decides_how_its_output_is_shown(made: Tool, shown: ToolResultOutput) -> None:
    assert await response_messages([result("abc")], {"look": made}) == (ToolMessage(content=(outcome(shown),)),)


async def test_a_tool_that_shows_nothing_usable_is_told_so() -> None:
    made = tool(name="look", input_schema={}, to_model_output=str)

    with pytest.raises(InvalidArgumentError, match="to_model_output of tool 'look' must give a tool result output"):
        await model_output(made, result("abc"))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ValueError("not found"), "ValueError: not found", id="exception"),
        pytest.param(TimeoutError(), "TimeoutError", id="exception without a message"),
        pytest.param(ValueError(" "), "ValueError", id="exception with a blank message"),
        pytest.param("plain words", "plain words", id="text"),
        pytest.param({"code": 42, "why": ["x"]}, '{"code":42,"why":["x"]}', id="JSON"),
    ],
)
def test_an_error_is_shown_as_name_and_message(error: object, text: str) -> None:
    assert error_text(error) == text
    assert error_output(error, provider_executed=False) == ErrorTextOutput(value=text)


def test_a_providers_error_is_shown_as_json_and_an_exception_never() -> None:
    assert error_output("quota", provider_executed=True) == ErrorJsonOutput(value="quota")
    assert error_output(ValueError("x"), provider_executed=True) == ErrorTextOutput(value="ValueError: x")


def test_a_denied_call_is_answered() -> None:
    assert denied_part(CALL, None) == outcome(ExecutionDenied())
