"""Errors as JSON and back, and what foreign providers report as one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion import errors
from onion.errors import (
    APICallError,
    InvalidToolInputError,
    JSONParseError,
    NoObjectGeneratedError,
    OnionError,
    RetryError,
    StreamProviderError,
    ToolCallRepairError,
    ToolChoiceViolationError,
)
from onion.spec import ErrorPart, ToolChoice, from_json, to_json
from onion.spec.failures import reported_error
from onion.spec.step import LanguageModelUsage
from onion.testing.strategies import values_of


def through_json(error: BaseException) -> object:
    """What an error part with *error* carries after a trip through text."""
    return from_json(ErrorPart, json.loads(json.dumps(to_json(ErrorPart(error=error))))).error


def tree() -> list[type[OnionError]]:
    found = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, OnionError)]
    return sorted(found, key=lambda kind: kind.__name__)


@settings(max_examples=20)
@given(values_of(Exception))
def test_errors_of_calls_come_back_with_their_fields(error: Exception) -> None:
    read = through_json(error)

    assert type(read) is type(error)
    assert str(read) == str(error)
    assert to_json(read) == to_json(error)


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_every_class_of_the_tree_comes_back_as_itself(kind: type[OnionError]) -> None:
    error = kind.__new__(kind, "broken")
    error.args, error.message = ("broken",), "broken"
    for field in kind.fields:
        setattr(error, field, "x")

    read = through_json(error)

    assert type(read) is kind
    assert str(read) == "broken"
    assert [getattr(read, field) for field in kind.fields] == ["x"] * len(kind.fields)


def test_errors_inside_of_errors_come_back() -> None:
    first, last = APICallError("busy", status_code=503), StreamProviderError("lost")
    retry = RetryError("gave up", reason="max-retries-exceeded", errors=[first, last])
    repair = ToolCallRepairError("no", original_error=InvalidToolInputError("bad", tool_name="t", tool_input="{"))

    read_retry, read_repair = through_json(retry), through_json(repair)

    assert isinstance(read_retry, RetryError)
    assert [str(error) for error in read_retry.errors] == ["busy", "lost"]
    assert str(read_retry.last_error) == "lost"
    assert isinstance(read_repair, ToolCallRepairError)
    assert isinstance(read_repair.original_error, InvalidToolInputError)
    assert read_repair.original_error.tool_input == "{"


def test_the_cause_is_named() -> None:
    error = OnionError("broken")
    error.__cause__ = KeyError("secret")

    assert to_json(error) == {"$error": {"name": "OnionError", "message": "broken", "cause": {"name": "KeyError"}}}


def test_the_cause_comes_back_by_its_name() -> None:
    error = OnionError("broken")
    error.__cause__ = JSONParseError("no JSON", text="{")

    read = through_json(error)

    assert isinstance(read, OnionError)
    assert isinstance(read.__cause__, JSONParseError)
    assert to_json(read) == to_json(error)


def test_usage_in_an_error_comes_back_as_usage() -> None:
    usage = LanguageModelUsage(input_tokens=3)

    read = through_json(NoObjectGeneratedError("no object", text="a", usage=usage))

    assert isinstance(read, NoObjectGeneratedError)
    assert read.usage == usage


def test_foreign_errors_keep_their_name_and_message() -> None:
    plain, named = through_json(Exception("oops")), through_json(ZeroDivisionError("by zero"))

    assert (type(plain), str(plain)) == (Exception, "oops")
    assert (type(named).__name__, str(named)) == ("ZeroDivisionError", "by zero")
    assert isinstance(named, Exception)


def test_values_of_the_contract_in_an_error_are_written() -> None:
    error = ToolChoiceViolationError("no call", tool_choice=ToolChoice(type="required"), finish_reason="stop")

    assert to_json(error) == {
        "$error": {
            "name": "ToolChoiceViolationError",
            "message": "no call",
            "toolChoice": {"type": "required"},
            "finishReason": "stop",
        }
    }


@pytest.mark.parametrize(
    ("reported", "message", "is_retryable"),
    [
        ("overloaded", "the provider reported a failure inside the stream: 'overloaded'", False),
        ({"message": "slow down", "type": "rate_limit_error", "code": "r1"}, "slow down", True),
        ({"error": {"message": "no", "type": "invalid_request_error"}}, "no", False),
        ({"error": "text"}, "the provider reported a failure inside the stream: {'error': 'text'}", False),
        ({"message": "odd", "type": 7, "code": []}, "odd", False),
    ],
    ids=["text", "object", "nested", "nested text", "odd fields"],
)
def test_what_a_foreign_provider_reports_becomes_an_error(reported: object, message: str, is_retryable: bool) -> None:  # noqa: FBT001 - a column of the table
    error = reported_error(reported)

    assert (str(error), error.is_retryable) == (message, is_retryable)


@given(st.text(min_size=400))
def test_long_reports_are_cut(reported: str) -> None:
    assert len(str(reported_error(reported))) <= 300


@pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=["NUL", "half a surrogate pair"])
def test_a_name_that_no_class_can_have_becomes_a_plain_exception(name: str) -> None:
    read = from_json(ErrorPart, {"type": "error", "error": {"$error": {"name": name, "message": "broken"}}}).error

    assert type(read) is Exception
    assert str(read) == "broken"


def test_an_error_without_an_object_has_all_its_attributes_when_it_comes_back() -> None:
    read = through_json(NoObjectGeneratedError("no object", text="a"))

    assert isinstance(read, NoObjectGeneratedError)
    assert (read.text, read.response, read.steps, read.usage) == ("a", None, (), None)
