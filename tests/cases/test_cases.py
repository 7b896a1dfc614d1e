"""Every case whose kind is built; and that the runner finds what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cases.case import INPUTS, MORE, Case, WaitingError, load_case, load_cases
from tests.cases.convert import holds, look_up
from tests.cases.expectations import differences
from tests.cases.models import MODELS
from tests.cases.run import faults_of, main, report

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonObject, JsonValue

FILES = sorted([*INPUTS.glob("*.json"), *MORE.glob("*.json")])


def sse(text: str = "hi", finish: str = "stop") -> str:
    """A stream of one text."""
    delta: JsonObject = {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}
    return f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n"


def case(kind: str, **data: JsonValue) -> Case:
    """A case for the chat format."""
    return Case("X1", kind, ("openai-chat",), data)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
async def test_a_case_has_the_right_result(path: Path) -> None:
    try:
        faults = await faults_of(load_case(path))
    except WaitingError as error:
        pytest.skip(f"waits for {error}")

    assert faults == []


@pytest.mark.parametrize(
    ("expect", "fault"),
    [
        ({"text": "ho"}, "text: 'hi' instead of 'ho'"),
        ({"finish": "length"}, "finish: 'stop' instead of 'length'"),
        ({"errors": 1}, "errors: 0 instead of 1"),
        ({"tool_calls": [{"id": "a"}]}, "0 tool calls instead of 1"),
        ({"text_contains": ["x"]}, "text_contains: 'hi'"),
        ({"text_not": "hi"}, "text_not: 'hi'"),
        ({"finish_any_of": ["length", "error"]}, "finish_any_of: 'stop'"),
        ({"any_of": [{"text": "a"}, {"text": "b"}]}, "none of 2 alternatives holds"),
        ({"nonsense": 1}, "nothing observed for 'nonsense'"),
        ({"steps": 2}, "steps: 1 instead of 2"),
    ],
)
async def test_a_wrong_result_of_a_stream_is_found(expect: JsonObject, fault: str) -> None:
    faults = await faults_of(case("sse_stream", sse=sse(), expect=expect))

    assert faults
    assert fault in faults[0]


async def test_a_right_result_is_right_however_it_is_asked_for() -> None:
    expect: JsonObject = {
        "text": "hi",
        "text_contains": "h",
        "text_not": "ho",
        "finish_any_of": ["stop", "length"],
        "any_of": [{"text": "ho"}, {"finish": "stop"}],
        "raised": "",
    }

    assert await faults_of(case("sse_stream", sse=sse(), deliver="every 3 bytes", expect=expect)) == []


async def test_a_transport_that_breaks_off_is_played() -> None:
    expect: JsonObject = {"text": "hi", "errors": 1, "finish": "error", "error_contains": ["ReadError"]}

    assert await faults_of(case("sse_stream", sse=sse().partition("data: [")[0], then="ReadError", expect=expect)) == []


async def test_a_wrong_whole_answer_is_found() -> None:
    body: JsonObject = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}

    assert await faults_of(case("json_response", body=body, expect={"text": "hi"})) == []
    assert await faults_of(case("json_response", body=body, expect={"text": "ho"})) != []
    assert await faults_of(case("json_response", raw="<p>", expect={"raised": "APICallError"})) == []


def test_calls_are_compared_with_ids_that_may_be_anything_but_alike() -> None:
    made = "<non-empty, unique>"
    wanted: JsonObject = {"tool_calls": [{"id": made, "input": {"n": 1}}, {"id": made, "input": {"n": 2}}]}
    calls: list[JsonValue] = [{"id": "a", "input": {"n": 1}}, {"id": "b", "input": {"n": 2}}]
    alike: list[JsonValue] = [{"id": "a", "input": {"n": 1}}, {"id": "a", "input": {"n": 3}}]

    assert differences(wanted, {"tool_calls": calls}) == []
    assert len(differences(wanted, {"tool_calls": alike})) == 2


async def test_http_tables_and_sequences_find_what_is_wrong() -> None:
    row: JsonObject = {"status": 400, "body": {"error": {"message": "no"}}}

    table = await faults_of(case("http_table", calls=[row], expect={"requests_each": 2, "status": [401]}))
    message = await faults_of(case("http_table", mode="do_stream", calls=[row], expect={"message_contains": ["x"]}))
    sequence = await faults_of(case("http_sequence", calls=[row], expect={"requests": 2}))
    retries = await faults_of(
        case("http_sequence", calls=[{"raw": "{}"}], expect={"for_max_retries": {"0": {"requests": 2}}})
    )

    assert [fault.partition(":")[0] for fault in table] == ["requests_each", "status"] * 2
    assert len(message) == 1
    assert [fault.partition(":")[0] for fault in sequence] == ["requests"] * 2
    assert [fault.partition(":")[0] for fault in retries] == ["requests"] * 2


async def test_a_conversion_is_checked_at_its_places() -> None:
    prompt: JsonObject = {"prompt": [{"role": "user", "content": [{"type": "text", "text": "u1"}]}]}
    checks: list[JsonValue] = [["messages[0].content", "eq", "u1"], ["messages[0].role", "eq", "system"]]

    faults = await faults_of(case("convert", body=prompt, expect={"openai-chat": checks}))

    assert len(faults) == 1
    assert "messages[0].role" in faults[0]


@pytest.mark.parametrize(
    ("path", "operator", "wanted", "is_right"),
    [
        ("a[1].b", "eq", 2, True),
        ("a[9].b", "eq", None, True),
        ("a[?b=2].c", "eq", "x", True),
        ("a[?b=7].c", "eq", None, True),
        ("a[0]", "is", "object", True),
        ("a[1].c", "is", "object", False),
        ("d", "json_is", "object", True),
        ("a", "json_is", "object", False),
        ("e", "json_is", "object", False),
        ("e", "contains", "S2", True),
        ("e", "contains_in_order", ["S1", "S2"], True),
        ("e", "contains_in_order", ["S2", "S1"], False),
        ("e", "contains_in_order", "S9", False),
    ],
)
def test_checks_read_a_body(path: str, operator: str, wanted: JsonValue, is_right: bool) -> None:  # noqa: FBT001 - from the table
    body: JsonObject = {"a": [{"b": 1}, {"b": 2, "c": "x"}], "d": "{}", "e": "S1 S2"}

    found = {**body, "a": [{"b": "1"}, {"b": "2", "c": "x"}]} if "?" in path else body

    assert holds(found, path, operator, wanted) is is_right


def test_a_place_or_an_operator_that_nobody_knows_waits() -> None:
    with pytest.raises(WaitingError, match="a way to read"):
        look_up({}, "the moon")
    with pytest.raises(WaitingError, match="the operator"):
        holds({}, "a", "resembles", 1)


async def test_kinds_and_formats_that_are_not_built_wait() -> None:
    with pytest.raises(WaitingError, match=r"^moon$"):
        await faults_of(case("moon"))
    with pytest.raises(WaitingError, match=r"^smoke$"):
        await faults_of(Case("X1", "sse_stream", ("smoke",), {"sse": ""}))
    with pytest.raises(WaitingError, match=r"^smoke, fire$"):
        await faults_of(Case("X1", "convert", ("smoke", "fire"), {}))


async def test_a_crash_is_a_fault() -> None:
    faults = await faults_of(case("http_sequence", abort_after_s="soon", calls=[{}], expect={}))

    assert "crashed with" in faults[0]


async def test_a_wait_that_is_wrong_is_found() -> None:
    faults = await faults_of(
        case("retry_after_table", calls=[{"headers": {"retry-after": "2"}}], expect={"delays_s": [3]})
    )

    said = "waited [2.0] instead of 3 for {'headers': {'retry-after': '2'}}"
    assert faults == [f"{said} ({provider})" for provider in MODELS]


def test_the_report_counts_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def write(name: str, **data: JsonValue) -> None:
        tmp_path.joinpath(f"{name}.json").write_text(json.dumps({"id": name, **data}), encoding="utf-8")

    write("A1", kind="sse_stream", provider="openai-chat", sse=sse(), expect={"text": "hi"})
    write("A2", kind="moon", provider=None)

    assert [found.id for found in load_cases(tmp_path)] == ["A1", "A2"]
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "passed: A1\nwaiting for moon: A2\npassed 1, failed 0, waiting 1\n"

    write("A3", kind="sse_stream", provider=["openai-chat"], sse=sse(), expect={"text": "ho"})
    assert main([str(tmp_path)]) == 1
    assert "FAILED A3\n  text: 'hi' instead of 'ho'" in capsys.readouterr().out


def test_a_folder_without_cases_is_no_success(tmp_path: Path) -> None:
    assert report([]) == 1
    assert main([str(tmp_path / "nothing")]) == 2
