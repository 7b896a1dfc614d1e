"""JSON both ways, for every class of the contract, and strictness with the place of the fault."""

import dataclasses
import inspect
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from onion import spec
from onion.errors import APICallError, TypeValidationError
from onion.spec import (
    CallOptions,
    ErrorPart,
    FileData,
    FilePart,
    FinishReason,
    FunctionTool,
    JsonFormat,
    JsonOutput,
    Message,
    Prompt,
    RawPart,
    RequestInfo,
    ResponseMetadata,
    RunInfo,
    StreamPart,
    StreamStart,
    SystemMessage,
    TextDelta,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResultPart,
    UnsupportedWarning,
    UserMessage,
    from_json,
    full_stream,
    step,
    to_json,
    tools,
)
from onion.testing.strategies import answers, params, streams, values, values_of


def classes() -> list[type[object]]:
    """Every value class that has a JSON form."""
    found: set[type[object]] = {
        member
        for module in (spec, full_stream, step, tools)
        for _, member in inspect.getmembers(module, inspect.isclass)
        if dataclasses.is_dataclass(member) and member is not RunInfo
    }
    return sorted(found, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
@settings(max_examples=8)
@given(data=st.data())
def test_every_class_comes_back_from_its_json(kind: type[object], data: st.DataObject) -> None:
    value = data.draw(values(kind))

    written = to_json(value)
    text = json.dumps(written)
    read = from_json(kind, json.loads(text))

    assert type(read) is kind
    assert json.dumps(to_json(read)) == text


@settings(max_examples=30)
@given(params())
def test_params_come_back_equal(made: CallOptions) -> None:
    read = from_json(CallOptions, json.loads(json.dumps(to_json(made))))

    assert to_json(read) == to_json(made)
    assert hash(type(read)) == hash(CallOptions)


@settings(max_examples=30)
@given(answers())
def test_a_versioned_answer_comes_back(made: spec.GenerateResult) -> None:
    written = to_json(made, version=True)

    assert isinstance(written, dict)
    assert written["version"] == spec.FORMAT_VERSION
    assert to_json(from_json(spec.GenerateResult, written)) == to_json(made)


@settings(max_examples=30)
@given(streams())
def test_the_parts_of_a_stream_come_back(parts: tuple[StreamPart, ...]) -> None:
    written = json.loads(json.dumps(to_json(parts)))

    read = [from_json(StreamPart, member) for member in written]

    assert [type(part) for part in read] == [type(part) for part in parts]
    assert to_json(tuple(read)) == written


@pytest.mark.parametrize(
    "kind",
    [full_stream.FullStreamPart, step.StepContent, Message, spec.Content],
    ids=["full stream", "step", "message", "content"],
)
@settings(max_examples=20)
@given(data=st.data())
def test_every_member_of_a_union_is_told_by_its_tag(kind: object, data: st.DataObject) -> None:
    value = data.draw(values_of(kind))

    read = from_json(kind, json.loads(json.dumps(to_json(value))))

    assert type(read) is type(value)


def test_the_words_are_those_of_the_ai_sdk() -> None:
    call = CallOptions(
        prompt=(
            SystemMessage(content="be brief"),
            UserMessage(content=(TextPart(text="hi"), FilePart(media_type="image/png", data=FileData(data=b"\x01")))),
            spec.ToolMessage(
                content=(ToolResultPart(tool_call_id="c1", tool_name="t", output=JsonOutput(value={"snake_case": 1})),)
            ),
        ),
        max_output_tokens=5,
        tool_choice=ToolChoice(type="tool", tool_name="t"),
        tools=(FunctionTool(name="t", input_schema={"type": "object"}, validate=print),),
        response_format=JsonFormat(schema={"additionalProperties": False}),
        provider_options={"acme": {"some_key": None}},
        run=RunInfo(run_id="r"),
    )

    assert to_json(call) == {
        "prompt": [
            {"role": "system", "content": "be brief"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": "AQ=="}},
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c1",
                        "toolName": "t",
                        "output": {"type": "json", "value": {"snake_case": 1}},
                    }
                ],
            },
        ],
        "maxOutputTokens": 5,
        "toolChoice": {"type": "tool", "toolName": "t"},
        "tools": [{"type": "function", "name": "t", "inputSchema": {"type": "object"}}],
        "responseFormat": {"type": "json", "schema": {"additionalProperties": False}},
        "providerOptions": {"acme": {"some_key": None}},
    }


def test_a_required_null_is_written_and_an_absent_member_is_not() -> None:
    assert to_json(JsonOutput(value=None)) == {"type": "json", "value": None}
    assert to_json(RawPart(raw_value=None)) == {"type": "raw", "rawValue": None}
    assert from_json(JsonOutput, {"type": "json", "value": None}) == JsonOutput(value=None)


def test_snake_case_keys_are_read_as_well() -> None:
    read = from_json(ToolCall, {"tool_call_id": "c", "tool_name": "t", "input": "{}", "provider_executed": True})

    assert read == ToolCall(tool_call_id="c", tool_name="t", input="{}", provider_executed=True)


def test_objects_of_the_contract_inside_of_data_are_kept() -> None:
    message = UserMessage(content=(TextPart(text="hi"),))

    assert from_json(Prompt, [message, {"role": "system", "content": "x"}]) == (message, SystemMessage(content="x"))
    assert from_json(UserMessage, {"content": [TextPart(text="hi")]}) == message
    assert from_json(UserMessage, message) is message


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:00:00.000Z"),
        (datetime(2026, 1, 2), "2026-01-02T00:00:00.000Z"),  # noqa: DTZ001 - a time without a zone is UTC
    ],
    ids=["UTC", "another zone", "no zone"],
)
def test_times_are_written_in_utc_with_milliseconds(moment: datetime, written: str) -> None:
    assert to_json(ResponseMetadata(timestamp=moment)) == {"type": "response-metadata", "timestamp": written}


def test_times_are_read_with_any_zone() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)

    for text in ("2026-01-02T00:00:00.000Z", "2026-01-02T02:00:00+02:00", "2026-01-02"):
        assert from_json(ResponseMetadata, {"timestamp": text}).timestamp == moment
    assert from_json(ResponseMetadata, {"timestamp": moment}).timestamp is moment


def test_what_users_own_may_be_a_model_of_theirs() -> None:
    class Place(BaseModel):
        city: str

    assert to_json(RequestInfo(body=Place(city="Bern"))) == {"body": {"city": "Bern"}}


def test_an_error_in_a_part_comes_back_as_its_class() -> None:
    part = ErrorPart(error=APICallError("overloaded", url="https://x", status_code=529))

    read = from_json(ErrorPart, json.loads(json.dumps(to_json(part))))

    assert isinstance(read.error, APICallError)
    assert (str(read.error), read.error.status_code, read.error.is_retryable) == ("overloaded", 529, True)


class Opaque:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Opaque(), "value holds a Opaque, which has no JSON form"),
        ([Opaque()], r"value\[0\] holds a Opaque"),
        (RequestInfo(body={"a": [1, Opaque()]}), r"value\.body\.a\[1\] holds a Opaque"),
    ],
    ids=["alone", "in a list", "deep inside"],
)
def test_what_has_no_json_form_is_named_with_its_place(value: object, words: str) -> None:
    with pytest.raises(TypeValidationError, match=words):
        to_json(value)


def test_only_an_object_can_carry_a_version() -> None:
    with pytest.raises(TypeValidationError, match="only an object can carry a version, not tuple"):
        to_json((1, 2), version=True)


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(TypeValidationError, match="format version 99, but this release reads version 1"):
        from_json(FinishReason, {"version": 99, "unified": "stop"})


MESSAGE = {"role": "user", "content": [{"type": "text", "text": "hi"}]}


REFUSED: list[tuple[object, object, str]] = [
    (FinishReason, "stop", "FinishReason must be an object, not 'stop'"),
    (FinishReason, {"unified": "end"}, "FinishReason.unified must be one of 'stop', .*, not 'end'"),
    (FinishReason, {"unified": 7}, "FinishReason.unified must be one of"),
    (FinishReason, {"unified": "stop", "why": 1}, "FinishReason has no member 'why': known are raw, unified"),
    (FinishReason, {}, "FinishReason lacks 'unified'"),
    (FinishReason, {"unified": "stop", "raw": 3}, "FinishReason.raw must be a text, not 3"),
    (ToolCall, {"toolName": "a"}, "ToolCall lacks 'input', 'toolCallId'"),
    (CallOptions, {"prompt": MESSAGE}, "CallOptions.prompt must be a list, not an object"),
    (CallOptions, {"prompt": "hi"}, "CallOptions.prompt must be a list, not 'hi'"),
    (CallOptions, {"prompt": [], "seed": True}, "CallOptions.seed must be a whole number, not True"),
    (CallOptions, {"prompt": [], "seed": 1.5}, "CallOptions.seed must be a whole number, not 1.5"),
    (CallOptions, {"prompt": [], "temperature": "hot"}, "CallOptions.temperature must be a number, not 'hot'"),
    (CallOptions, {"prompt": [], "headers": []}, "CallOptions.headers must be an object, not a list"),
    (CallOptions, {"prompt": [], "includeRawChunks": 1}, "includeRawChunks must be true or false, not 1"),
    (Prompt, [{"role": "boss", "content": ""}], r"value\[0\].role must be one of 'system', .*, not 'boss'"),
    (Prompt, ["hi"], r"value\[0\] must be an object, not 'hi'"),
    (
        Prompt,
        [{"role": "user", "content": [{"type": "image"}]}],
        r"content\[0\].type must be one of 'text', 'file'",
    ),
    (Prompt, [MESSAGE, {"role": "system", "content": []}], r"value\[1\].content must be a text, not a list"),
    (StreamPart, {"type": "text"}, "value.type must be one of 'stream-start'"),
    (StreamStart, {"warnings": [{"type": "unsupported"}]}, r"warnings\[0\] lacks 'feature'"),
    (ResponseMetadata, {"timestamp": "soon"}, "timestamp must be an ISO 8601 time, not 'soon'"),
    (ResponseMetadata, {"timestamp": 3}, "timestamp must be an ISO 8601 time, not 3"),
    (FileData, {"data": 3}, "FileData.data must be a text, not 3"),
    (tools.TypedToolCall, {"toolCallId": "c", "toolName": "t", "input": 1, "error": 1}, "error must be an error"),
    (TextDelta, {"id": "1", "delta": None}, "TextDelta.delta must be a text, not None"),
    (ToolChoice, {"type": "tool", "toolName": []}, "ToolChoice.toolName must be a text, not a list"),
]


@pytest.mark.parametrize(("kind", "data", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_data_of_another_shape_is_refused_with_its_place(kind: object, data: object, words: str) -> None:
    with pytest.raises(TypeValidationError, match=words):
        from_json(kind, data)


def test_warnings_are_told_by_their_type() -> None:
    read = from_json(StreamStart, {"type": "stream-start", "warnings": [{"type": "unsupported", "feature": "seed"}]})

    assert read == StreamStart(warnings=(UnsupportedWarning(feature="seed"),))


def test_bytes_are_kept_where_they_are_bytes() -> None:
    assert from_json(FileData, {"data": b"\x01"}) == FileData(data=b"\x01")


def test_null_is_as_good_as_absent_where_a_member_may_be_absent() -> None:
    assert from_json(FinishReason, {"unified": "stop", "raw": None}) == FinishReason(unified="stop")
    assert from_json(FinishReason | None, None) is None


@pytest.mark.parametrize("tag", [["text"], {"is": "text"}, 5, None], ids=["list", "object", "number", "nothing"])
def test_a_tag_that_is_no_text_is_refused_with_its_place(tag: object) -> None:
    with pytest.raises(TypeValidationError, match=r"value\.type must be one of"):
        from_json(StreamPart, {"type": tag, "id": "1"})


def nested(depth: int) -> list[object]:
    """Lists in lists."""
    outermost: list[object] = []
    innermost = outermost
    for _ in range(depth):
        inner: list[object] = []
        innermost.append(inner)
        innermost = inner
    return outermost


def test_what_is_nested_too_deeply_or_holds_itself_has_no_json_form() -> None:
    ring: list[object] = []
    ring.append(ring)

    for endless in (nested(10_000), ring):
        with pytest.raises(TypeValidationError, match="the list holds something that is nested too deeply"):
            to_json(endless)


def test_a_time_before_the_first_day_of_utc_has_no_json_form() -> None:
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))

    with pytest.raises(TypeValidationError, match=r"value\.timestamp holds 0001-01-01"):
        to_json(ResponseMetadata(timestamp=early))
