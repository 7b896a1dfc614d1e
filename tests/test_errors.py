"""The tree of errors: drawn, picklable, catchable as the built-ins that they also are, and silent about secrets."""

import copy
import inspect
import pickle
import re

import pytest

from onion import errors
from onion.errors import (
    AbortedError,
    APICallError,
    DownloadError,
    InvalidArgumentError,
    InvalidToolApprovalError,
    InvalidToolApprovalSignatureError,
    InvalidToolInputError,
    JSONParseError,
    LoadAPIKeyError,
    MissingExtraError,
    MissingToolResultsError,
    NoObjectGeneratedError,
    NoSuchModelError,
    NoSuchToolError,
    OnionError,
    RetryError,
    RunTimeoutError,
    StreamInterruptedError,
    StreamMisuseError,
    StreamProviderError,
    ToolCallNotFoundForApprovalError,
    ToolCallRepairError,
    ToolChoiceViolationError,
    TypeValidationError,
    UnsupportedFunctionalityError,
    is_retryable_status,
    mask_headers,
    mask_url,
)

EXAMPLES: list[OnionError] = [
    APICallError("busy", url="https://x", status_code=503, response_headers={"retry-after": "1"}, data={"a": 1}),
    RetryError("gave up", reason="max-retries-exceeded", errors=[APICallError("busy"), ValueError("odd")]),
    StreamProviderError("lost", type="server_error", code=7, status_code=500, is_retryable=True),
    StreamInterruptedError("cut"),
    InvalidArgumentError("bad", parameter="seed", value=-1),
    NoSuchToolError("no", tool_name="t", available_tools=["a"]),
    InvalidToolApprovalError("used", approval_id="a"),
    InvalidToolApprovalSignatureError("forged", approval_id="a", tool_call_id="c"),
    ToolCallNotFoundForApprovalError("gone", approval_id="a", tool_call_id="c"),
    MissingToolResultsError("open", tool_call_ids=["c"]),
    NoObjectGeneratedError("none", text="{", finish_reason="length"),
    AbortedError("user left"),
    RunTimeoutError("late", limit="total"),
    MissingExtraError("rich", extra="cli"),
    NoSuchModelError("no model", model_id="m"),
    LoadAPIKeyError("no key"),
    InvalidToolInputError("bad", tool_name="t", tool_input="{"),
    ToolCallRepairError("no", original_error=ValueError("bad")),
    ToolChoiceViolationError("no call", tool_choice="required", finish_reason="stop"),
    DownloadError("lost", url="https://x", status_code=404),
    TypeValidationError("odd", value=3),
    JSONParseError("no JSON", text="{"),
]


def test_the_drawing_at_the_top_shows_every_class_under_its_parent() -> None:
    drawn: dict[str, str] = {}
    path = ["OnionError"]
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"(?P<bars>[│ ]*)[├└]── (?P<name>\w+)", line):
            depth = len(match["bars"]) // 4 + 1
            path = [*path[:depth], match["name"]]
            drawn[match["name"]] = path[depth - 1]

    classes = {name: kind for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, OnionError)}
    parents = {
        name: next(base.__name__ for base in kind.__bases__ if issubclass(base, OnionError))
        for name, kind in classes.items()
        if kind is not OnionError
    }

    assert drawn == parents


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_pickling_and_copying(error: OnionError) -> None:
    error.steps = ()

    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301 - our own
        assert type(again) is type(error)
        assert str(again) == str(error) == error.message
        assert [str(getattr(again, field)) for field in error.fields] == [
            str(getattr(error, field)) for field in error.fields
        ]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidArgumentError("bad", parameter="seed"), ValueError),
        (StreamMisuseError("twice"), RuntimeError),
        (RunTimeoutError("late", limit="total"), TimeoutError),
        (MissingExtraError("rich", extra="cli"), ImportError),
    ],
    ids=["ValueError", "RuntimeError", "TimeoutError", "ImportError"],
)
def test_misuse_is_also_the_built_in_error(error: OnionError, kind: type[Exception]) -> None:
    assert isinstance(error, kind)
    assert isinstance(error, OnionError)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(None, True), (408, True), (409, True), (429, True), (500, True), (529, True), (400, False), (401, False)],
)
def test_whether_a_call_may_be_repeated_is_decided_by_its_status(status: int | None, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_retryable_status(status) is expected
    assert APICallError("failed", status_code=status).is_retryable is expected
    assert APICallError("failed", status_code=status, is_retryable=not expected).is_retryable is not expected


def test_headers_that_carry_credentials_are_masked() -> None:
    headers = {
        "Authorization": "Bearer sk-1",
        "X-API-Key": "k",
        "Set-Cookie": "c",
        "X-Acme-Token": "t",
        "retry-after": "3",
    }

    error = APICallError("failed", response_headers=headers)

    assert mask_headers(headers) == {
        "Authorization": "***",
        "X-API-Key": "***",
        "Set-Cookie": "***",
        "X-Acme-Token": "***",
        "retry-after": "3",
    }
    assert error.response_headers == mask_headers(headers)
    assert APICallError("failed").response_headers is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("https://me:pw@host.test:8/v1/chat?key=secret#x", "https://host.test:8/v1/chat", id="whole"),
        pytest.param("https://[::1", "(unreadable URL)", id="broken"),
        pytest.param("mailto:a", "mailto:a", id="without a host"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_url_is_shown_without_credentials_and_query(url: str, shown: str) -> None:
    assert mask_url(url) == shown
    assert APICallError("failed", url=url).url == shown
    assert DownloadError("failed", url=url).url == shown


def test_messages_of_the_built_ones_say_what_to_do() -> None:
    assert str(MissingExtraError("rich", extra="cli")) == "rich is not installed: run `pip install 'onion-ai[cli]'`"
    assert str(AbortedError()) == "the run was aborted"
    assert str(AbortedError("user left")) == "the run was aborted: user left"
    assert str(UnsupportedFunctionalityError.of("video", provider="acme.chat")) == (
        "acme.chat does not support video: remove it or use another model"
    )


def test_the_last_error_of_a_retry_is_at_hand() -> None:
    last = APICallError("second")

    error = RetryError("gave up", reason="error-not-retryable", errors=[APICallError("first"), last])

    assert error.last_error is last
    assert (error.steps, error.usage) == ((), None)
