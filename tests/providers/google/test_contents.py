"""Prompts as contents: roles, results, files, signatures, and what another provider left in a history."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from onion.errors import UnsupportedFunctionalityError
from onion.providers._json import objects_in
from onion.providers.google.traits import traits_of
from onion.spec.call import CallOptions
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    CustomPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
    FileReference,
    FileText,
    FileURL,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from tests.providers.google.bodies import contents_of, request

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import AssistantPart, Message, ToolResultOutput

GO = UserMessage(content=(TextPart(text="go"),))
PNG = bytes.fromhex("89504E470D0A1A0A")
PNG_PART: JsonObject = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PNG).decode()}}
OLD, GEMMA = traits_of("gemini-2.5-flash"), traits_of("gemma-3-27b-it")


def said(*parts: AssistantPart) -> list[JsonValue]:
    """The parts that what the assistant said becomes."""
    contents = contents_of(GO, AssistantMessage(content=parts))
    return [*objects_in(contents[1], "parts")]


def warned(*prompt: Message) -> list[str]:
    """What a prompt is warned of."""
    return [str(warning) for warning in request(CallOptions(prompt=prompt)).warnings]


def called(*ids: str, **options: JsonValue) -> AssistantMessage:
    """Calls of one tool."""
    own = {"google": options} if options else None
    calls = [ToolCallPart(tool_call_id=each, tool_name="t", input={}, provider_options=own) for each in ids]
    return AssistantMessage(content=tuple(calls))


def gave(call_id: str, output: ToolResultOutput | None = None) -> ToolResultPart:
    """What the tool gave back."""
    return ToolResultPart(tool_call_id=call_id, tool_name="t", output=output or TextOutput(value=call_id))


def responses(content: JsonObject) -> list[JsonValue]:
    """The function responses of a content."""
    parts = content["parts"]
    assert isinstance(parts, list)
    return [part["functionResponse"] for part in parts if isinstance(part, dict) and "functionResponse" in part]


def test_instructions_are_apart_and_a_later_one_stays_in_its_place_marked() -> None:
    prompt = (
        SystemMessage(content="S1"),
        SystemMessage(content=" "),
        SystemMessage(content="S2"),
        GO,
        AssistantMessage(content=(TextPart(text="a"),)),
        SystemMessage(content="S3"),
        SystemMessage(content="S4"),
        GO,
    )

    made = request(CallOptions(prompt=prompt))

    assert made.body["systemInstruction"] == {"parts": [{"text": "S1"}, {"text": "S2"}]}
    last = contents_of(*prompt)[2]
    marked = [{"text": f"<system>\n{text}\n</system>"} for text in ("S3", "S4")]
    assert last == {"role": "user", "parts": [*marked, {"text": "go"}]}
    assert len(made.warnings) == 1


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        ((SystemMessage(content="S1"), SystemMessage(content="S2"), GO), [{"text": "S1\n\nS2"}, {"text": "go"}]),
        ((SystemMessage(content="S1"),), [{"text": "S1"}]),
        ((SystemMessage(content="S1"), AssistantMessage(content=(TextPart(text="a"),))), [{"text": "S1"}]),
    ],
)
def test_a_model_without_instructions_reads_them_first(prompt: tuple[Message, ...], parts: JsonValue) -> None:
    contents = contents_of(*prompt, traits=GEMMA)

    assert contents[0] == {"role": "user", "parts": parts}
    assert "systemInstruction" not in request(CallOptions(prompt=prompt), traits=GEMMA).body


def test_neighbours_of_one_role_are_one_content_and_blanks_are_left_out() -> None:
    blank = UserMessage(content=(TextPart(text=" \n"),))
    empty = AssistantMessage(content=(TextPart(text=""),))

    contents = contents_of(blank, GO, empty, GO, AssistantMessage(content=()))

    assert contents == [{"role": "user", "parts": [{"text": "go"}, {"text": "go"}]}]


def test_results_stand_behind_their_calls_in_the_order_of_the_calls_and_first() -> None:
    contents = contents_of(
        GO,
        called("p", "q", "r"),
        ToolMessage(content=(gave("r"), ToolApprovalResponsePart(approval_id="a", approved=True))),
        ToolMessage(content=(gave("p"), gave("q"))),
        GO,
        called("s"),
        GO,
        ToolMessage(content=(gave("s"),)),
    )

    assert [content["role"] for content in contents] == ["user", "model", "user", "model", "user"]
    ids = [str(response["response"]) for response in responses(contents[2]) if isinstance(response, dict)]
    assert ids == ["{'output': 'p'}", "{'output': 'q'}", "{'output': 'r'}"]
    assert str(contents[4]["parts"]).startswith("[{'functionResponse'")


@pytest.mark.parametrize("before", [(), (GO,), (AssistantMessage(content=(TextPart(text="a"),)),)])
def test_a_result_of_a_call_that_is_gone_is_sent_all_the_same(before: tuple[Message, ...]) -> None:
    contents = contents_of(*before, ToolMessage(content=(gave("x"),)))

    assert responses(contents[-1]) == [{"id": "x", "name": "t", "response": {"output": "x"}}]


def test_ids_go_back_where_the_api_gave_them_and_else_not() -> None:
    results = ToolMessage(content=(gave("a"),))

    given = contents_of(GO, called("a", functionCall={"id": "g"}), results)
    withheld = contents_of(GO, called("a", functionCall={}), results)
    foreign = contents_of(GO, called("a"), results)

    assert [str(found[1]["parts"]).count("'id'") for found in (given, withheld, foreign)] == [1, 0, 1]
    assert responses(given[2]) == [{"id": "g", "name": "t", "response": {"output": "a"}}]
    assert responses(withheld[2]) == [{"name": "t", "response": {"output": "a"}}]
    assert responses(foreign[2]) == [{"id": "a", "name": "t", "response": {"output": "a"}}]


@pytest.mark.parametrize(
    ("output", "response"),
    [
        (TextOutput(value=""), {"output": ""}),
        (JsonOutput(value=None), {"output": None}),
        (JsonOutput(value=[]), {"output": []}),
        (JsonOutput(value={"error": 1}), {"output": {"error": 1}}),
        (ErrorTextOutput(value="TimeoutError"), {"error": "TimeoutError"}),
        (ErrorJsonOutput(value={"code": 1}), {"error": {"code": 1}}),
        (ExecutionDenied(reason="no"), {"error": "no"}),
        (ContentOutput(value=(TextPart(text="a"), TextPart(text="b"))), {"output": "a\nb"}),
    ],
)
def test_every_result_is_an_object_that_says_what_it_is(output: ToolResultOutput, response: JsonObject) -> None:
    contents = contents_of(GO, called("a"), ToolMessage(content=(gave("a", output),)))

    assert responses(contents[2]) == [{"id": "a", "name": "t", "response": response}]


def test_files_in_results_are_inside_of_them_or_behind_them_all() -> None:
    file = FilePart(media_type="image/*", data=FileData(data=PNG))
    results = ToolMessage(content=(gave("a", ContentOutput(value=(TextPart(text="look"), file))), gave("b")))

    new = contents_of(GO, called("a", "b"), results)
    old = contents_of(GO, called("a", "b"), results, traits=OLD)

    inside: JsonObject = {"id": "a", "name": "t", "response": {"output": "look"}, "parts": [PNG_PART]}
    assert responses(new[2])[0] == inside
    assert isinstance(old[2]["parts"], list)
    assert old[2]["parts"][2:] == [{"text": "Files that t gave back:"}, PNG_PART]


def test_what_a_result_cannot_hold_is_refused() -> None:
    output = ContentOutput(value=(CustomPart(kind="acme.x"),))

    with pytest.raises(UnsupportedFunctionalityError, match=r"acme\.x"):
        contents_of(GO, called("a"), ToolMessage(content=(gave("a", output),)))


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (FilePart(media_type="image/*", data=FileData(data=PNG)), PNG_PART),
        (FilePart(media_type="image/png", data=FileData(data="iVBORw0KGgo=")), PNG_PART),
        (
            FilePart(media_type="text/csv", data=FileText(text="grün")),
            {"inlineData": {"mimeType": "text/plain", "data": base64.b64encode("grün".encode()).decode()}},
        ),
        (
            FilePart(media_type="video/mp4", data=FileURL(url="https://youtu.be/x")),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "https://youtu.be/x"}},
        ),
        (FilePart(media_type="*/*", data=FileURL(url="gs://b/f")), {"fileData": {"fileUri": "gs://b/f"}}),
        (
            FilePart(media_type="audio/mpeg", data=FileReference(reference={"google": "https://g/files/1"})),
            {"fileData": {"mimeType": "audio/mpeg", "fileUri": "https://g/files/1"}},
        ),
    ],
)
def test_a_file_is_inline_or_at_an_address(part: FilePart, sent: JsonObject) -> None:
    assert contents_of(UserMessage(content=(part,))) == [{"role": "user", "parts": [sent]}]


def test_what_stands_beside_a_file_or_text_can_be_said() -> None:
    clip = {"google": {"video_metadata": {"fps": 1}}}
    part = FilePart(media_type="video/mp4", data=FileURL(url="u"), provider_options=clip)

    contents = contents_of(UserMessage(content=(part, TextPart(text="t", provider_options=clip))))

    assert str(contents).count("'videoMetadata': {'fps': 1}") == 2


def test_a_file_of_another_provider_is_refused() -> None:
    part = FilePart(media_type="image/png", data=FileReference(reference={"openai": "file-1"}))

    with pytest.raises(UnsupportedFunctionalityError):
        contents_of(UserMessage(content=(part,)))


def test_what_another_provider_thought_and_ran_is_left_out_with_a_warning() -> None:
    foreign = {"anthropic": {"signature": "s"}}
    parts: list[AssistantPart] = [
        ReasoningPart(text="Hm.", provider_options=foreign),
        ReasoningPart(text="Hm again.", provider_options=foreign),
        ReasoningPart(text="", provider_options=foreign),
        ReasoningPart(text=""),
        ReasoningFilePart(media_type="image/png", data=FileData(data="AA==")),
        ToolCallPart(tool_call_id="s", tool_name="web", input={}, provider_executed=True),
        ToolResultPart(tool_call_id="s", tool_name="web", output=TextOutput(value="x")),
        CustomPart(kind="openai.x"),
        FilePart(media_type="image/png", data=FileReference(reference={"openai": "file-1"})),
        ToolApprovalRequestPart(approval_id="a", tool_call_id="s"),
        TextPart(text="Yes."),
    ]

    assert said(*parts) == [{"text": "Yes."}]
    assert len(warned(GO, AssistantMessage(content=tuple(parts)))) == 6


def test_calls_of_another_model_are_sent_as_unsigned_where_signatures_are_wanted() -> None:
    signed = called("a", functionCall={}, thoughtSignature="S")

    new, old = contents_of(GO, called("a", "b")), contents_of(GO, called("a", "b"), traits=OLD)

    assert str(new).count("'thoughtSignature': 'skip_thought_signature_validator'") == 1
    assert "thoughtSignature" not in str(old)
    assert "skip_" not in str(contents_of(GO, signed))
    assert "unsigned" in warned(GO, called("a"))[0]


def test_a_broken_input_goes_back_as_an_object() -> None:
    broken = ToolCallPart(tool_call_id="a", tool_name="t", input='{"q": ,', provider_options={"google": {}})

    assert "'args': {'INVALID_JSON': '{\"q\": ,'}" in str(said(broken))
