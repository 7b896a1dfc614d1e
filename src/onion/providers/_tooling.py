"""Tool calls, tool results and schemas in the form that most APIs take. Pure but for the ids."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from onion.errors import JSONParseError
from onion.providers._json import NOTHING, dump_json, object_in, parse_json
from onion.spec.prompt import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    JsonOutput,
    TextOutput,
    TextPart,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import ToolResultOutput

_DENIED = "The tool did not run: it was not allowed to."


def random_call_id() -> str:
    """An id for a call that the server gave none."""
    return f"call_{secrets.token_hex(12)}"


def input_text(given: JsonValue) -> str:
    """The arguments of a call as JSON text of an object; text that is such an object stays as it is."""
    if isinstance(given, str):
        with contextlib.suppress(JSONParseError):
            if isinstance(parse_json(given), Mapping):
                return given
    return dump_json(input_object(given)).decode()


def input_object(given: JsonValue) -> JsonObject:
    """The arguments of a call as an object, which is all that servers accept back.

    Input that is no object was written by a model that broke off or went astray; it is wrapped, so that the model
    sees what it wrote and the request stays valid.
    """
    if isinstance(given, str):
        with contextlib.suppress(JSONParseError):
            parsed = parse_json(given)
            if isinstance(parsed, Mapping):
                return parsed
        return {"INVALID_JSON": given} if given.strip() else NOTHING
    if isinstance(given, Mapping):
        return given
    return NOTHING if given is None else {"value": given}


def output_text(output: ToolResultOutput) -> str:
    """What the model reads of a tool's output; files are left out."""
    match output:
        case TextOutput() | ErrorTextOutput():
            return output.value
        case JsonOutput() | ErrorJsonOutput():
            return dump_json(output.value).decode()
        case ExecutionDenied():
            return output.reason or _DENIED
        case ContentOutput():
            return "\n".join(item.text for item in output.value if isinstance(item, TextPart))
        case _:
            assert_never(output)


def fits_strict(schema: JsonValue) -> bool:
    """Whether servers accept *schema* as strict: every object closed, and all its properties required.

    OpenAI, "Structured model outputs", section "Supported schemas", read 2026-11-30.
    """
    if isinstance(schema, list | tuple):
        return all(map(fits_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        required = schema.get("required")
        names = set(required if isinstance(required, list | tuple) else ())
        if schema.get("additionalProperties") is not False or names != set(object_in(schema, "properties")):
            return False
    return all(map(fits_strict, schema.values()))
