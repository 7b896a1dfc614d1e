"""Errors: from the data of a scenario to exceptions, and from exceptions to what a record says of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import APICallError, InvalidArgumentError, NoSuchToolError
from onion.spec.naming import camel

if TYPE_CHECKING:
    from onion.spec import JsonValue
    from tests.conformance.data import ErrorData

FIELDS = {
    "APICallError": ("status_code", "is_retryable"),
    "AbortedError": ("reason",),
    "InvalidArgumentError": ("parameter", "value"),
    "InvalidToolApprovalError": ("approval_id",),
    "InvalidToolApprovalSignatureError": ("approval_id", "tool_call_id"),
    "InvalidToolInputError": ("tool_name", "tool_input"),
    "MissingToolResultsError": ("tool_call_ids",),
    "NoObjectGeneratedError": ("text", "finish_reason", "usage"),
    "NoSuchToolError": ("tool_name", "available_tools"),
    "RetryError": ("reason", "errors"),
    "StreamProviderError": ("type", "code", "status_code", "is_retryable"),
    "ToolCallNotFoundForApprovalError": ("tool_call_id", "approval_id"),
    "ToolCallRepairError": ("original_error",),
    "ToolChoiceViolationError": ("tool_choice", "finish_reason"),
}
"""The fields that a record holds, by name of the error (FORMAT.md, section 8, rule 4)."""

WITH_CAUSE = frozenset({"InvalidToolInputError", "NoObjectGeneratedError", "ToolCallRepairError"})
"""Errors whose cause is recorded: the others were recorded from a reference that sets none."""


class Error(Exception):
    """The ordinary error of a scenario, named as the reference names its own plain class."""


class ThrownValue(Exception):  # noqa: N818 - stands for something that is no error
    """Wraps a value that a scenario throws: Python raises exceptions only."""

    def __init__(self, value: JsonValue) -> None:
        super().__init__(str(value))
        self.value = value


def to_exception(data: ErrorData) -> BaseException:
    """The exception that *data* describes."""
    if isinstance(data, str):
        return Error(data)
    if "value" in data:
        return ThrownValue(data["value"])
    message = str(data.get("message", ""))
    kind = data.get("type")
    if kind == "AbortError":
        return asyncio.CancelledError(message)
    if kind == "APICallError":
        return _api_call_error(message, data)
    name = data.get("name")
    return type(name, (Exception,), {})(message) if isinstance(name, str) else Error(message)


def _api_call_error(message: str, data: Mapping[str, JsonValue]) -> APICallError:
    status, is_retryable, headers = (data.get(key) for key in ("statusCode", "isRetryable", "responseHeaders"))
    return APICallError(
        message,
        url="https://provider.example/v1",
        status_code=status if isinstance(status, int) else None,
        is_retryable=is_retryable if isinstance(is_retryable, bool) else None,
        response_headers={key: str(value) for key, value in headers.items()} if isinstance(headers, Mapping) else None,
    )


def name_of(error: BaseException) -> str:
    """The name of an error in a record."""
    if isinstance(error, asyncio.CancelledError):
        return "AbortError"
    return "Error" if type(error) is Exception else type(error).__name__


def fields_of(error: BaseException) -> dict[str, object]:
    """Name, message, recorded fields and cause of *error*; values are not yet JSON."""
    names = FIELDS.get(type(error).__name__, ())
    recorded: dict[str, object] = {"name": name_of(error), "message": str(error)}
    recorded |= {camel(name): getattr(error, name) for name in names}
    if isinstance(error, NoSuchToolError):
        recorded["availableTools"] = error.available_tools or None
    if isinstance(error, InvalidArgumentError):
        recorded["parameter"] = camel(error.parameter)
    if error.__cause__ is not None and name_of(error) in WITH_CAUSE:
        recorded["cause"] = {"name": name_of(error.__cause__)}
    return recorded
