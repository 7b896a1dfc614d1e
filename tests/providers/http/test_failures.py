"""What is read of error bodies: every known form, and nothing where there is no failure."""

import pytest

from onion.providers._http import Failure, read_failure
from onion.spec.base import JsonValue


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded", "param": None}},
            Failure(message="slow down", type="requests", code="rate_limit_exceeded", status_code=429),
            id="OpenAI",
        ),
        pytest.param(
            {"error": {"code": 429, "message": "upstream", "metadata": {"raw": "try later"}}},
            Failure(message="upstream: try later", code=429, status_code=429),
            id="OpenRouter, with a number for a code and details",
        ),
        pytest.param(
            {
                "error": {
                    "message": "bad call",
                    "type": "invalid_request_error",
                    "code": "tool_use_failed",
                    "status_code": 400,
                }
            },
            Failure(message="bad call", type="invalid_request_error", code="tool_use_failed", status_code=400),
            id="Groq",
        ),
        pytest.param(
            [{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}],
            Failure(message="overloaded", type="UNAVAILABLE", code=503, status_code=503),
            id="Gemini, in a list",
        ),
        pytest.param(
            {"object": "error", "message": "no such model", "type": "NotFoundError", "code": 404},
            Failure(message="no such model", type="NotFoundError", code=404, status_code=404),
            id="vLLM",
        ),
        pytest.param(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            Failure(message="Overloaded", type="overloaded_error", status_code=529),
            id="Anthropic",
        ),
        pytest.param({"error": "model not loaded"}, Failure(message="model not loaded"), id="a text"),
        pytest.param({"detail": "Not Found"}, Failure(message="Not Found"), id="FastAPI"),
        pytest.param(
            {"detail": [{"msg": "field required"}]},
            Failure(message="[{'msg': 'field required'}]"),
            id="FastAPI, a list",
        ),
        pytest.param(
            {"message": "no", "code": "401"}, Failure(message="no", code="401", status_code=401), id="a gateway"
        ),
        pytest.param({"error": {"code": None}}, Failure(message="no message"), id="an error that says nothing"),
        pytest.param({"object": "error"}, Failure(message="no message"), id="an error object that says nothing"),
        pytest.param({"error": {"message": "x", "code": ""}}, Failure(message="x"), id="an empty code"),
    ],
)
def test_a_failure_is_read_from_every_known_form(data: JsonValue, expected: Failure) -> None:
    assert read_failure(data) == expected


@pytest.mark.parametrize(
    "data", [None, "text", 5, [], [1], {}, {"error": None}, {"error": ""}, {"choices": [], "message": "hello"}]
)
def test_what_reports_no_failure_is_none(data: JsonValue) -> None:
    assert read_failure(data) is None


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure(message="x", status_code=429), True),
        (Failure(message="x", status_code=503), True),
        (Failure(message="x", status_code=400), False),
        (Failure(message="x"), False),
        (Failure(message="x", code="insufficient_quota", status_code=429), False),
        (Failure(message="x", type="insufficient_quota", status_code=429), False),
    ],
    ids=str,
)
def test_a_failure_is_retryable_by_its_status_unless_its_code_leaves_no_hope(failure: Failure, expected: bool) -> None:  # noqa: FBT001 - from the table
    assert failure.is_retryable is expected


def test_a_failure_is_shown_short_and_with_its_code_once() -> None:
    assert str(Failure(message="a" * 500, code="c1")) == "a" * 200 + " (c1)"
    assert str(Failure(message="status 429", code=429)) == "status 429"
    assert str(Failure(message="bad")) == "bad"
