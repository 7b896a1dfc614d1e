"""Which call a fragment belongs to, and when a call is final."""

import json

import pytest

from onion.providers._chat import ChunkReader, to_result
from onion.providers._model import AnswerDecoder
from onion.providers._sse import ServerSentEvent
from onion.spec.base import JsonObject
from onion.spec.content import ToolCall
from onion.spec.parts import ToolInputDelta, ToolInputEnd, ToolInputStart
from onion.spec.result import GenerateResult
from tests.providers.chat.decoding import NAME, called, chunk, counting, decode, fragment, parts_of


def calls_of(result: GenerateResult) -> list[tuple[str, str, str]]:
    """Id, name and input of each call."""
    return [(call.tool_call_id, call.tool_name, call.input) for call in result.content if isinstance(call, ToolCall)]


def test_a_new_id_begins_a_new_call_whatever_the_index_says() -> None:
    found = decode(
        called(fragment("{", "read", index=0, id="a")),
        called(fragment("}", index=0)),
        called(fragment('{"x":1}', "read", index=0, id="b")),
    )

    assert calls_of(found) == [("a", "read", "{}"), ("b", "read", '{"x":1}')]


def test_interleaved_fragments_go_to_the_call_of_their_index() -> None:
    parts = parts_of(
        called(fragment("", "f", index=0, id="a"), fragment("", "g", index=1, id="b")),
        called(fragment('{"y"', index=1)),
        called(fragment('{"x"', index=0)),
        called(fragment(":2}", index=1), fragment(":1}", index=0)),
    )

    assert [(part.id, part.delta) for part in parts if isinstance(part, ToolInputDelta)] == [
        ("b", '{"y"'),
        ("a", '{"x"'),
        ("b", ":2}"),
        ("a", ":1}"),
    ]
    assert [(call.tool_call_id, call.input) for call in parts if isinstance(call, ToolCall)] == [
        ("a", '{"x":1}'),
        ("b", '{"y":2}'),
    ]


def test_a_call_is_final_at_the_end_of_the_stream_and_not_when_its_prefix_parses() -> None:
    decoder = AnswerDecoder(ChunkReader(NAME))

    early = [*decoder.feed(called(fragment('{"q": "test"}', "search", index=0, id="a"))), *decoder.feed(chunk({}))]
    late = decoder.feed(called(fragment(', "limit": 10}', index=0)))
    decoder.feed_events([ServerSentEvent(b"[DONE]")])
    end = decoder.end()

    assert not any(isinstance(part, ToolInputEnd | ToolCall) for part in [*early, *late])
    assert [type(part) for part in end[:2]] == [ToolInputEnd, ToolCall]
    assert isinstance(end[1], ToolCall)
    assert end[1].input == '{"q": "test"}, "limit": 10}'


def test_no_arguments_are_an_empty_object_at_the_end_and_nothing_before() -> None:
    parts = parts_of(called(fragment(None, "f", index=0, id="a")), called(fragment("", index=0)))

    assert not any(isinstance(part, ToolInputDelta) for part in parts)
    assert [call.input for call in parts if isinstance(call, ToolCall)] == ["{}"]


@pytest.mark.parametrize("later", [{"id": ""}, {"id": None}, {}], ids=["empty", "null", "missing"])
def test_later_fragments_without_an_id_continue_their_call(later: JsonObject) -> None:
    found = decode(
        called(fragment("", "f", index=0, id="a")),
        called({"index": 0, "function": {"name": "", "arguments": '{"x":'}, **later}),
        called({"index": 0, "function": {"name": None, "arguments": "1}"}, **later}),
    )

    assert calls_of(found) == [("a", "f", '{"x":1}')]


def test_an_id_that_is_repeated_continues_its_call() -> None:
    found = decode(
        called(fragment("{", "f", index=0, id="a")),
        called(fragment("}", "f", index=0, id="a")),
        called(fragment("", "f", id="a")),
    )

    assert calls_of(found) == [("a", "f", "{}")]


def test_one_id_for_all_calls_is_told_apart_by_the_index() -> None:
    found = decode(called(fragment("{}", "f", index=0, id="x")), called(fragment('{"a":1}', "g", index=1, id="x")))

    assert calls_of(found) == [("x", "f", "{}"), ("made-1", "g", '{"a":1}')]


def test_calls_without_ids_get_ids_of_their_own() -> None:
    found = decode(called(fragment('{"n":1}', "f", index=0, id=""), fragment('{"n":2}', "f", index=1, id="")))

    assert calls_of(found) == [("made-1", "f", '{"n":1}'), ("made-2", "f", '{"n":2}')]


def test_whole_calls_without_id_at_one_index_are_calls_of_their_own() -> None:
    found = decode(
        called(fragment('{"n":1}', "f", index=0, id="")),
        called(fragment('{"n":2}', "f", index=0, id="")),
        called(fragment("{}", "g", index=0, id="")),
    )

    assert calls_of(found) == [("made-1", "f", '{"n":1}'), ("made-2", "f", '{"n":2}'), ("made-3", "g", "{}")]


def test_a_name_that_is_repeated_with_every_fragment_begins_no_call() -> None:
    found = decode(
        called(fragment("", "f", index=0)),
        called(fragment('{"a":', "f", index=0)),
        called(fragment("{}}", "f", index=0)),
    )

    assert calls_of(found) == [("made-1", "f", '{"a":{}}')]


def test_calls_without_an_index_are_told_apart_by_ids() -> None:
    found = decode(called(fragment("{}", "f", id="a"), fragment("{}", "g", id="b")))

    assert calls_of(found) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_a_fragment_without_id_and_index_continues_the_latest_call() -> None:
    found = decode(called(fragment("{}", "f", id="a")), called(fragment("", "g", id="b")), called(fragment('{"x":1}')))

    assert calls_of(found) == [("a", "f", "{}"), ("b", "g", '{"x":1}')]


def test_an_index_may_begin_anywhere() -> None:
    found = decode(called(fragment("", "f", index=1, id="a")), called(fragment("{}", index=1)))

    assert calls_of(found) == [("a", "f", "{}")]


def test_a_name_that_comes_late_opens_the_input_with_what_is_there() -> None:
    parts = parts_of(called(fragment('{"x"', index=0, id="a")), called(fragment(":1}", "f", index=0)))

    assert isinstance(parts[1], ToolInputStart)
    assert parts[1].tool_name == "f"
    assert [part.delta for part in parts if isinstance(part, ToolInputDelta)] == ['{"x"', ":1}"]


def test_an_id_that_comes_late_names_the_call_for_later_fragments() -> None:
    found = decode(
        called(fragment("{", "f", index=0)),
        called(fragment('"x":', index=0, id="a")),
        called(fragment("1}", id="a")),
    )

    assert calls_of(found) == [("made-1", "f", '{"x":1}')]


def test_a_call_that_never_says_its_name_is_not_lost() -> None:
    assert calls_of(decode(called(fragment('{"x":1}', index=0, id="a")))) == [("a", "", '{"x":1}')]


def test_a_fragment_that_comes_first_without_anything_is_a_call() -> None:
    assert calls_of(decode(called({}))) == [("made-1", "", "{}")]


def test_arguments_that_come_parsed_are_written_as_text() -> None:
    found = decode(called({"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}))

    assert calls_of(found) == [("a", "f", '{"x":1}')]


def test_a_free_text_call_keeps_its_text() -> None:
    assert calls_of(decode(called({"id": "a", "custom": {"name": "f", "input": "go"}}))) == [("a", "f", "go")]


def test_a_function_call_of_the_old_form_is_a_tool_call() -> None:
    parts = parts_of(
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk({"function_call": {"name": "", "arguments": ""}}),
        chunk({}, "function_call"),
    )

    assert [call.input for call in parts if isinstance(call, ToolCall)] == ["{}"]


def test_a_signature_beside_a_call_travels_with_it() -> None:
    extra: JsonObject = {"google": {"thought_signature": "S"}}

    found = decode(called(fragment("{}", "f", index=0, id="a", extra_content=extra)))

    assert found.content[0].provider_metadata == {NAME: {"extra_content": extra}}


def test_a_signature_beside_the_calls_travels_with_the_first() -> None:
    extra: JsonObject = {"google": {"thought_signature": "S"}}

    found = decode(
        called(fragment("{}", "f", index=0, id="a"), fragment("{}", "f", index=1, id="b")),
        chunk({"extra_content": extra}),
    )

    assert [part.provider_metadata for part in found.content] == [{NAME: {"message": {"extra_content": extra}}}, None]


def test_half_characters_in_arguments_are_joined() -> None:
    found = decode(
        called(fragment('{"x":"\ud83d', "f", index=0, id="a")),
        called(fragment('\ude00"}', index=0)),
        called(fragment("\ud83d", index=0)),
    )

    assert calls_of(found) == [("a", "f", '{"x":"😀"}\ufffd')]


def test_in_a_whole_answer_every_entry_is_a_call() -> None:
    entries = [fragment("{}", "f", index=0, id=""), fragment("{}", "f", index=0, id=""), fragment("", "f", id="")]

    found = to_result(
        {"choices": [{"message": {"content": None, "tool_calls": entries}, "finish_reason": "tool_calls"}]},
        name=NAME,
        generate_id=counting(),
    )

    assert calls_of(found) == [("made-1", "f", "{}"), ("made-2", "f", "{}"), ("made-3", "f", "{}")]


def test_ids_that_are_made_up_are_not_alike() -> None:
    body: JsonObject = {"choices": [{"message": {"tool_calls": [fragment("{}", "f"), fragment("{}", "f")]}}]}

    ids = [call_id for call_id, _, _ in calls_of(to_result(json.loads(json.dumps(body)), name=NAME))]

    assert len(set(ids)) == 2
    assert all(ids)
