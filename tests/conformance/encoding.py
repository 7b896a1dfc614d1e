"""Values of Onion as a record holds them: the AI SDK's JSON, with errors and bytes marked (FORMAT.md, section 8)."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeGuard

from onion.spec.naming import TAGS, camel
from tests.conformance.failures import ThrownValue, fields_of

if TYPE_CHECKING:
    from onion.spec import JsonValue

LEFT_OUT = frozenset({"performance", "request", "validate", "run"})
"""Fields that no record has."""
OWN = "onion"
"""The key of provider options and metadata that is ours."""


def encode(value: object) -> JsonValue:
    """*value* as a record holds it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if _is_mapping(value):
        return {str(key): encode(member) for key, member in value.items()}
    if _is_sequence(value):
        return [encode(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _members(value)
    if isinstance(value, BaseException):
        return encode(value.value) if isinstance(value, ThrownValue) else {"$error": encode_error(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message = f"a record cannot hold a {type(value).__name__}"
    raise TypeError(message)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, tuple | list)


def encode_error(error: BaseException) -> dict[str, JsonValue]:
    """An error as a record holds it where nothing else can stand."""
    encoded: dict[str, JsonValue] = {}
    for key, member in fields_of(error).items():
        if isinstance(member, BaseException):
            encoded[key] = encode_error(member)
        elif key == "errors" and _is_sequence(member):
            encoded[key] = [encode_error(item) for item in member if isinstance(item, BaseException)]
        else:
            encoded[key] = encode(member)
    return encoded


def _members(value: object) -> dict[str, JsonValue]:
    kind = type(value)
    declared = dataclasses.fields(kind)  # type: ignore[arg-type]  # only dataclasses come here
    fields = [field.name for field in declared if field.name not in LEFT_OUT and field.metadata.get("json", True)]
    encoded: dict[str, JsonValue] = {
        camel(tag): getattr(kind, tag) for tag in TAGS if tag not in fields and hasattr(kind, tag)
    }
    for name in fields:
        member: object = getattr(value, name)
        if name in {"provider_metadata", "provider_options"} and _is_mapping(member):
            member = {key: options for key, options in member.items() if key != OWN} or None
        if member is not None:
            encoded[camel(name)] = encode(member)
    return encoded
