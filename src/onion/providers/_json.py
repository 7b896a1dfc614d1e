"""JSON on the wire: parsing what servers send, writing what they read, and asking foreign objects for their members."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import JSONParseError, TypeValidationError

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue

NOTHING: JsonObject = {}
_SHOWN_CHARACTERS = 200
_OBJECTS = (dict, Mapping)
"""In this order: nearly all are the first, and that is known at once."""
_TOO_MUCH = 2**63
"""No server counts that far; whoever divides a number beyond 1e308 fails."""


def parse_json(text: bytes | str) -> JsonValue:
    """The value that *text* holds.

    Raises:
        JSONParseError: When it is not JSON.
    """
    from pydantic_core import from_json

    try:
        found: JsonValue = from_json(text)
    except (ValueError, TypeError):  # the latter is what it says of a text with half of a surrogate pair in it
        return _parse_odd_json(text)
    return found


def _parse_odd_json(text: bytes | str) -> JsonValue:
    """What the fast parser refuses but others send: halves of surrogate pairs, bytes that are not UTF-8."""
    decoded = text if isinstance(text, str) else text.decode("utf-8", "replace")
    try:
        found: JsonValue = json.loads(decoded)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        msg = f"not JSON ({reason}): {decoded[:_SHOWN_CHARACTERS]!r}"
        raise JSONParseError(msg, text=decoded) from None
    return found


def dump_json(value: JsonValue) -> bytes:
    """The JSON text of *value*, in UTF-8; numbers that JSON lacks (NaN, infinities) are null.

    Raises:
        TypeValidationError: When something in it has no JSON form.
    """
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        pass
    try:
        return json.dumps(_finite(value)).encode()  # halves of surrogate pairs, as escapes
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"the request holds something that has no JSON form: {error}"
        raise TypeValidationError(msg, value=value) from error


def _finite(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _finite(found) for key, found in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def text_in(source: JsonObject, key: str) -> str:
    """The text under *key*; empty where there is none, or something else."""
    found = source.get(key)
    return found if isinstance(found, str) else ""


def object_in(source: JsonObject, key: str) -> JsonObject:
    """The object under *key*; empty where there is none, or something else."""
    found = source.get(key)
    if isinstance(found, dict):  # all that a parser makes; asking an abstract class costs ten times as much
        return found
    return found if found is not None and isinstance(found, Mapping) else NOTHING


def objects_in(source: JsonObject, key: str) -> list[JsonObject]:
    """The objects in the list under *key*."""
    found = source.get(key)
    return [item for item in found if isinstance(item, _OBJECTS)] if isinstance(found, list) else []


def count_in(source: JsonObject, key: str) -> int | None:
    """The whole number of zero or more under *key*; None for everything else, booleans and the absurd included."""
    found = source.get(key)
    if type(found) is int:
        return found if 0 <= found < _TOO_MUCH else None
    if found is None or isinstance(found, bool) or not isinstance(found, int | float) or found != found // 1:
        return None
    return int(found) if 0 <= found < _TOO_MUCH else None
