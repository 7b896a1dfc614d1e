"""Every exception that Onion raises on purpose, in one tree.

OnionError
├── APICallError                      a request to a model failed
├── AbortedError                      `result.abort(reason)` ended the run
├── CacheMissError                    only a cached answer was wanted, and there is none
├── DownloadError                     a file that a prompt names could not be fetched
├── InvalidArgumentError              also a ValueError
├── InvalidPromptError
├── InvalidStreamPartError            a model broke the stream grammar
├── InvalidToolApprovalError
│   └── InvalidToolApprovalSignatureError
├── InvalidToolInputError
├── JSONParseError
├── LoadAPIKeyError
├── LocalModelError                   weights or engine of the local model
├── MissingExtraError                 also an ImportError
├── MissingToolResultsError
├── NoObjectGeneratedError
├── NoOutputGeneratedError
├── NoSuchModelError
├── NoSuchToolError
├── RetryError                        several tries failed
├── RunTimeoutError                   also a TimeoutError
├── StreamInterruptedError            a stream ended before its terminal marker
├── StreamMisuseError                 also a RuntimeError
├── StreamProviderError               the provider reported a failure inside a stream
├── ToolCallNotFoundForApprovalError
├── ToolCallRepairError
├── ToolChoiceViolationError
├── TypeValidationError
└── UnsupportedFunctionalityError
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onion.spec.result import ResponseInfo
    from onion.spec.step import LanguageModelUsage, StepResult

RETRYABLE_STATUS_CODES = frozenset({408, 409, 429})
_SERVER_ERROR = 500
_SECRET_HEADERS = ("auth", "authorization", "cookie", "credential", "key", "password", "secret", "token")
"""What the name of a header that carries a credential ends with."""
MASK = "***"


def is_retryable_status(status_code: int | None) -> bool:
    """Whether a call that ended with *status_code* may be repeated; None means that no response came."""
    return status_code is None or status_code in RETRYABLE_STATUS_CODES or status_code >= _SERVER_ERROR


def mask_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """A copy of *headers* in which the values that carry credentials are replaced by ``***``."""
    return {name: MASK if name.lower().endswith(_SECRET_HEADERS) else value for name, value in headers.items()}


def mask_url(url: str) -> str:
    """*url* without user, password, query and fragment, each of which may carry a credential."""
    from urllib.parse import urlsplit, urlunsplit

    try:
        scheme, netloc, path, _, _ = urlsplit(url)
    except ValueError:
        return "(unreadable URL)"
    return urlunsplit((scheme, netloc.rpartition("@")[2], path, "", ""))


class OnionError(Exception):
    """Root of the tree.

    Attributes:
        steps: The steps that a run had finished when this error ended it.
        usage: What those steps used, or None outside of a run.
    """

    fields: ClassVar[tuple[str, ...]] = ()
    """Attributes that belong to the JSON form of the error."""
    steps: tuple[StepResult, ...] = ()
    usage: LanguageModelUsage | None = None

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        """The message alone, also where a built-in base class would add its own words."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[OnionError], args: tuple[object, ...], state: dict[str, object]) -> OnionError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class APICallError(OnionError):
    """A request to a model failed: no response, a status of 400 or more, or a body that is no answer.

    Attributes:
        url: Where the request went, without credentials and query.
        status_code: HTTP status; None if no response came.
        response_headers: With credentials masked.
        response_body: As text, cut at the limit of whoever read it.
        data: The parsed body, if it was JSON.
        is_retryable: Whether the same call may succeed later; without it, decided by the status.
        request_body: What was sent, without credentials.
    """

    fields: ClassVar[tuple[str, ...]] = (
        "url",
        "status_code",
        "response_headers",
        "response_body",
        "data",
        "is_retryable",
        "request_body",
    )

    def __init__(  # noqa: PLR0913 - what is known of a failed request
        self,
        message: str,
        *,
        url: str = "",
        status_code: int | None = None,
        response_headers: Mapping[str, str] | None = None,
        response_body: str | None = None,
        data: object = None,
        is_retryable: bool | None = None,
        request_body: object = None,
    ) -> None:
        super().__init__(message)
        self.url: str = mask_url(url)
        self.status_code = status_code
        masked = None if response_headers is None else mask_headers(response_headers)
        self.response_headers: dict[str, str] | None = masked
        self.response_body = response_body
        self.data = data
        self.is_retryable: bool = is_retryable_status(status_code) if is_retryable is None else is_retryable
        self.request_body = request_body


class RetryError(OnionError):
    """Several tries of one call failed.

    Attributes:
        reason: ``maxRetriesExceeded`` or ``errorNotRetryable`` (a later try failed for good).
        errors: What each try raised, in order.
        last_error: The last of them.
    """

    fields: ClassVar[tuple[str, ...]] = ("reason", "errors")

    def __init__(self, message: str, *, reason: str, errors: Sequence[BaseException]) -> None:
        super().__init__(message)
        self.reason = reason
        self.errors: tuple[BaseException, ...] = tuple(errors)
        self.last_error: BaseException = self.errors[-1]


class StreamProviderError(OnionError):
    """The provider reported a failure inside a stream that had already begun.

    Attributes:
        type: The provider's class of the failure, if it names one.
        code: The provider's code, if it names one.
        status_code: The HTTP status that the failure would have had, if the provider says so.
        is_retryable: Whether the same call may succeed later.
        data: What the provider said, as it said it.
    """

    fields: ClassVar[tuple[str, ...]] = ("type", "code", "status_code", "is_retryable", "data")

    def __init__(
        self,
        message: str,
        *,
        type: str | None = None,
        code: str | int | None = None,
        status_code: int | None = None,
        is_retryable: bool = False,
        data: object = None,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.code = code
        self.status_code = status_code
        self.is_retryable = is_retryable
        self.data = data


class StreamInterruptedError(OnionError):
    """A stream broke off before the provider's terminal marker: nobody knows whether the answer is whole."""

    fields: ClassVar[tuple[str, ...]] = ("is_retryable",)

    def __init__(self, message: str, *, is_retryable: bool = True) -> None:
        super().__init__(message)
        self.is_retryable = is_retryable


class InvalidStreamPartError(OnionError):
    """A model sent a part that the stream grammar forbids."""


class StreamMisuseError(OnionError, RuntimeError):
    """A stream was read twice, or after it was closed or handed on."""


class InvalidArgumentError(OnionError, ValueError):
    """An argument cannot be used.

    Attributes:
        parameter: Its name.
        value: What was given.
    """

    fields: ClassVar[tuple[str, ...]] = ("parameter", "value")

    def __init__(self, message: str, *, parameter: str, value: object = None) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.value = value


class InvalidPromptError(OnionError):
    """The prompt or its messages cannot be sent to any model; the message names the place."""


class NoSuchToolError(OnionError):
    """The model called a tool that was not offered."""

    fields: ClassVar[tuple[str, ...]] = ("tool_name", "available_tools")

    def __init__(self, message: str, *, tool_name: str, available_tools: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        self.available_tools: tuple[str, ...] = tuple(available_tools)


class InvalidToolInputError(OnionError):
    """The input of a tool call is not JSON or does not fit the tool's schema."""

    fields: ClassVar[tuple[str, ...]] = ("tool_name", "tool_input")

    def __init__(self, message: str, *, tool_name: str, tool_input: str) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        self.tool_input = tool_input


class ToolCallRepairError(OnionError):
    """Repairing a tool call failed; `original_error` is what was wrong with the call."""

    fields: ClassVar[tuple[str, ...]] = ("original_error",)

    def __init__(self, message: str, *, original_error: BaseException) -> None:
        super().__init__(message)
        self.original_error = original_error


class ToolChoiceViolationError(OnionError):
    """The model did not do what `tool_choice` asked for."""

    fields: ClassVar[tuple[str, ...]] = ("tool_choice", "finish_reason")

    def __init__(self, message: str, *, tool_choice: object, finish_reason: str) -> None:
        super().__init__(message)
        self.tool_choice = tool_choice
        self.finish_reason = finish_reason


class InvalidToolApprovalError(OnionError):
    """An approval response does not belong to a request of this history, or was used before."""

    fields: ClassVar[tuple[str, ...]] = ("approval_id",)

    def __init__(self, message: str, *, approval_id: str) -> None:
        super().__init__(message)
        self.approval_id = approval_id


class InvalidToolApprovalSignatureError(InvalidToolApprovalError):
    """The signature of an approval request is missing or does not match the call."""

    fields: ClassVar[tuple[str, ...]] = ("approval_id", "tool_call_id")

    def __init__(self, message: str, *, approval_id: str, tool_call_id: str) -> None:
        super().__init__(message, approval_id=approval_id)
        self.tool_call_id = tool_call_id


class ToolCallNotFoundForApprovalError(OnionError):
    """An approval names a tool call that the history does not hold."""

    fields: ClassVar[tuple[str, ...]] = ("tool_call_id", "approval_id")

    def __init__(self, message: str, *, tool_call_id: str, approval_id: str) -> None:
        super().__init__(message)
        self.tool_call_id = tool_call_id
        self.approval_id = approval_id


class MissingToolResultsError(OnionError):
    """The history holds tool calls without results."""

    fields: ClassVar[tuple[str, ...]] = ("tool_call_ids",)

    def __init__(self, message: str, *, tool_call_ids: Sequence[str]) -> None:
        super().__init__(message)
        self.tool_call_ids: tuple[str, ...] = tuple(tool_call_ids)


class NoObjectGeneratedError(OnionError):
    """The answer does not hold the object that `output` asks for; the cause says why."""

    fields: ClassVar[tuple[str, ...]] = ("text", "finish_reason", "usage")
    response: ResponseInfo | None = None

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        usage: LanguageModelUsage | None = None,
        response: ResponseInfo | None = None,
        finish_reason: str | None = None,
        steps: Sequence[StepResult] = (),
    ) -> None:
        super().__init__(message)
        self.text = text
        self.usage: LanguageModelUsage | None = usage
        self.response = response
        self.finish_reason = finish_reason
        self.steps: tuple[StepResult, ...] = tuple(steps)


class NoOutputGeneratedError(OnionError):
    """The run ended without an answer from which an output could be read."""


class JSONParseError(OnionError):
    """A text is not JSON; `text` holds it."""

    fields: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, message: str, *, text: str) -> None:
        super().__init__(message)
        self.text = text


class TypeValidationError(OnionError):
    """A value does not have the shape that was asked for; `value` holds it."""

    fields: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self, message: str, *, value: object) -> None:
        super().__init__(message)
        self.value = value


class AbortedError(OnionError):
    """`result.abort(reason)` ended the run."""

    fields: ClassVar[tuple[str, ...]] = ("reason",)

    def __init__(self, reason: object = None) -> None:
        super().__init__("the run was aborted" if reason is None else f"the run was aborted: {reason}")
        self.reason = reason


class RunTimeoutError(OnionError, TimeoutError):
    """A time limit of the run passed; `limit` is its name in `TimeoutLimits`."""

    fields: ClassVar[tuple[str, ...]] = ("limit",)

    def __init__(self, message: str, *, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class CacheMissError(OnionError):
    """Only a cached answer was wanted, and the cache holds none."""


class DownloadError(OnionError):
    """A file that the prompt names could not be downloaded."""

    fields: ClassVar[tuple[str, ...]] = ("url", "status_code")

    def __init__(self, message: str, *, url: str, status_code: int | None = None) -> None:
        super().__init__(message)
        self.url: str = mask_url(url)
        self.status_code = status_code


class LoadAPIKeyError(OnionError):
    """No API key was given, and the environment holds none."""


class LocalModelError(OnionError):
    """The local model's weights or engine cannot be used; the message says what to do."""


class MissingExtraError(OnionError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""

    fields: ClassVar[tuple[str, ...]] = ("extra",)

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package} is not installed: run `pip install 'onion-ai[{extra}]'`")
        self.extra = extra


class NoSuchModelError(OnionError):
    """A model string or id names no model; `kind` is what was asked for."""

    fields: ClassVar[tuple[str, ...]] = ("model_id", "kind")

    def __init__(self, message: str, *, model_id: str, kind: str = "language model") -> None:
        super().__init__(message)
        self.model_id = model_id
        self.kind = kind


class UnsupportedFunctionalityError(OnionError):
    """A provider cannot express something in the call; nothing was sent."""

    fields: ClassVar[tuple[str, ...]] = ("functionality",)

    def __init__(self, message: str, *, functionality: str) -> None:
        super().__init__(message)
        self.functionality = functionality

    @classmethod
    def of(cls, functionality: str, *, provider: str) -> Self:
        """The error for a piece of a call that *provider* has no word for."""
        return cls(
            f"{provider} does not support {functionality}: remove it or use another model", functionality=functionality
        )
