"""What the Responses format leaves out on purpose, and how its recorded exchanges are read."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from onion.providers._model import Address, AnswerDecoder
from onion.providers.openai_responses import ResponsesDialect, ResponsesProvider
from onion.providers.openai_responses.events import EventReader
from onion.providers.openai_responses.result import to_result
from tests.recorded.checks import WireFormat

if TYPE_CHECKING:
    import httpx

    from onion.spec.base import JsonValue
    from onion.spec.model import LanguageModel
    from onion.spec.result import GenerateResult

NAME = "recorded"

_OF_RESPONSE = {
    "object": "says only that it is a response",
    "status": "is said by the finish reason",
    "instructions": "repeats the request",
    "max_output_tokens": "repeats the request",
    "max_tool_calls": "repeats the request",
    "parallel_tool_calls": "repeats the request",
    "previous_response_id": "repeats the request",
    "prompt_cache_key": "repeats the request",
    "prompt_cache_retention": "repeats the request",
    "reasoning.*": "repeats the request",
    "safety_identifier": "repeats the request",
    "store": "repeats the request",
    "temperature": "repeats the request",
    "text.*": "repeats the request",
    "tool_choice": "repeats the request",
    "tool_choice.*": "repeats the request",
    "tools[[]].*": "repeats the request",
    "top_logprobs": "repeats the request",
    "top_p": "repeats the request",
    "truncation": "repeats the request",
    "user": "repeats the request",
    "background": "repeats the request",
    "presence_penalty": "repeats the request",
    "frequency_penalty": "repeats the request",
    "completed_at": "is when the response was asked for, and how long that took",
    "output_text": "repeats the text of the items",
}
_OF_ITEM = {
    "status": "is said by the finish reason, unless it is odd",
    "role": "is always the assistant",
    "type": "is said by the kind of part, and kept where the item goes back",
    "content[[]].type": "is said by the kind of part",
    "summary[[]].type": "is said by the kind of part",
}

DROPPED = {
    **_OF_RESPONSE,
    **{f"response.{path}": reason for path, reason in _OF_RESPONSE.items()},
    **{f"output[[]].{path}": reason for path, reason in _OF_ITEM.items()},
    **{f"item.{path}": reason for path, reason in _OF_ITEM.items()},
    "response.output[[]].*": "repeats the items",
    "type": "is the kind of event",
    "sequence_number": "is the order of the events",
    "output_index": "is the order of the items",
    "content_index": "is the order of the pieces",
    "summary_index": "is the order of the pieces",
    "annotation_index": "is the order of the citations",
    "obfuscation": "is padding",
    "item_id": "is the id of the item, or one that changes with each event",
}
"""What is left out on purpose, as patterns of paths, and why."""


_COME_WITH_THE_ITEM = (
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.added",
    "response.content_part.done",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.output_text.annotation.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
    "response.mcp_call_arguments.done",
    "response.code_interpreter_call_code.delta",
    "response.code_interpreter_call_code.done",
    "response.shell_call_command.delta",
    "response.shell_call_command.done",
    "response.shell_call_command.added",
    "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done",
    "response.apply_patch_call_operation_diff.delta",
    "response.apply_patch_call_operation_diff.done",
    "response.output_item.added",
)
_COME_AT_THE_END = ("response.created", "response.in_progress", "response.queued", "response.failed")
REPEATED: dict[str, str] = {}
REPEATED.update(dict.fromkeys(_COME_WITH_THE_ITEM, "comes again, and whole, when the item is done"))
REPEATED.update(dict.fromkeys(_COME_AT_THE_END, "comes again at the end"))
"""Events whose content is looked for in others."""


def _time(created: JsonValue) -> JsonValue:
    assert isinstance(created, int | float)
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


WRITTEN = {"created_at": _time, "response.created_at": _time}
"""What is written in another form, by path."""


def _read(body: JsonValue) -> GenerateResult:
    return to_result(body, name=NAME)


def _make_decoder() -> AnswerDecoder:
    numbers = count()
    return AnswerDecoder(EventReader(NAME, generate_id=lambda: f"made-{next(numbers)}"))


def _make_model(client: httpx.AsyncClient) -> LanguageModel:
    dialect = ResponsesDialect(name=NAME)
    return ResponsesProvider(dialect, Address("http://recorded/v1"), http_client=client).responses("m")


OPENAI_RESPONSES = WireFormat(
    read=_read,
    make_decoder=_make_decoder,
    make_model=_make_model,
    dropped=DROPPED,
    written=WRITTEN,
    repeated=REPEATED,
)
