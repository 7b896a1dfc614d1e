"""The key of a call: everything that changes the answer, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias

from onion.errors import InvalidArgumentError
from onion.spec.json import FORMAT_VERSION, to_json

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel


NOT_ASKED = ("headers", "includeRawChunks")
SAYS_NOTHING: tuple[JsonValue, ...] = ([], {}, {"type": "text"})

_writer = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)


class Scope(Enum):
    """Who may be given the answer of another."""

    SHARED = "shared"

    def __repr__(self) -> str:
        return self.name


SHARED: Literal[Scope.SHARED] = Scope.SHARED
"""Everybody: equal questions get the same answer, whoever asks."""

CacheScope: TypeAlias = "str | Callable[[CallOptions], str] | Literal[Scope.SHARED]"
KeyFunction: TypeAlias = "Callable[[CallOptions], JsonValue]"


def scope_of(scope: CacheScope, params: CallOptions) -> str | None:
    """The tenant that *params* belong to; None means that everybody shares.

    Raises:
        InvalidArgumentError: When the function gives no text: an empty tenant would be shared by accident.
    """
    if isinstance(scope, Scope):
        return None
    return _tenant(scope(params) if callable(scope) else scope)


def _tenant(tenant: object) -> str:
    if isinstance(tenant, str) and tenant:
        return tenant
    msg = f"scope must give a text that names the tenant, got {tenant!r}: write SHARED if everybody may share"
    raise InvalidArgumentError(msg, parameter="scope", value=tenant)


def cache_key(model: LanguageModel, params: CallOptions, tenant: str | None, key: KeyFunction | None) -> str:
    """A hash, so that neither prompt nor tenant can be read from it.

    Raises:
        InvalidArgumentError: When *key* returns what is no JSON.
    """
    asked = canonical(params) if key is None else key(params)
    whole = [FORMAT_VERSION, model.provider, model.model_id, tenant, asked]
    try:
        text = _writer.encode(whole)
    except (TypeError, ValueError, RecursionError) as error:
        kind = type(asked).__name__
        msg = f"key must return JSON (texts, numbers, true, false, None, lists, dicts), not so this {kind}: {error}"
        raise InvalidArgumentError(msg, parameter="key", value=kind) from error
    return f"onion-{hashlib.sha256(text.encode()).hexdigest()}"


def canonical(params: CallOptions) -> JsonValue:
    """The JSON form of *params*, equal for calls that ask the same.

    Without headers, the wish for raw chunks and what is reserved for Onion's layers; whole numbers are written one way,
    and what is empty is the same as what is absent.
    """
    encoded = to_json(params)
    asked: dict[str, JsonValue] = encoded if isinstance(encoded, dict) else {}
    for name in NOT_ASKED:
        asked.pop(name, None)
    for message in _objects(asked.get("prompt")):
        _clean(message)
        for part in _objects(message.get("content")):
            _clean(part)
            output = part.get("output")
            if isinstance(output, dict) and part.get("type") == "tool-result":
                _clean(output)
                if output.get("type") == "content":
                    for item in _objects(output.get("value")):
                        _clean(item)
    for tool in _objects(asked.get("tools")):
        _clean(tool)
    _clean(asked)
    return {
        name: int(setting) if isinstance(setting, float) and setting.is_integer() else setting
        for name, setting in asked.items()
        if setting not in SAYS_NOTHING
    }


def _objects(found: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _clean(owner: dict[str, JsonValue]) -> None:
    """Take what is Onion's own out of the provider options of *owner*, and the options if nothing is left."""
    options = owner.get("providerOptions")
    if not isinstance(options, dict):
        return
    kept = {name: option for name, option in options.items() if name != "onion" and option}
    if kept:
        owner["providerOptions"] = kept
    else:
        del owner["providerOptions"]
