"""Names: of the provider, and of members that the API spells with underscores and the AI SDK with capitals."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import NOTHING

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue, ProviderOptions

ACTION = "action"
"""Member of the input of a call of a toolset that names the tool in it."""

NAME = "anthropic"
"""Key of our provider options and metadata, and first half of our tools' ids."""

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
"""What the API takes in no name of a tool and no id of a call."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FOREIGN_INSIDES = frozenset({"schema", "input_schema", "input", "block"})
"""Members whose own members are not the API's, but a user's."""


def fitting(name: str) -> str:
    """*name*, of a tool or as the id of a call, with what the API does not take replaced."""
    return _FOREIGN.sub("_", name) or "_"


class Ids:
    """The ids of the calls of one request: those of other providers are made to fit, and stay different."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, call_id: str) -> str:
        """The id under which the API is told of that call."""
        found = self._known.get(call_id)
        if found is None:
            found = fitting(call_id)
            while found in self._known.values():
                found += "_"
            self._known[call_id] = found
        return found


def own_options(options: ProviderOptions | None) -> JsonObject:
    """Our members of the options of a message, part or tool, the outer names spelled as the API does."""
    found = (options or {}).get(NAME, NOTHING)
    return {snake(key): member for key, member in found.items()} if found else NOTHING


@functools.lru_cache(maxsize=1024)
def snake(name: str) -> str:
    """``cacheControl`` as ``cache_control``."""
    return _CAPITAL.sub("_", name).lower()


def in_wire_names(members: JsonObject) -> dict[str, JsonValue]:
    """*members* with every name in them spelled as the API does, but for names that are a user's."""
    spelled = ((snake(key), member) for key, member in members.items())
    return {key: member if key in _FOREIGN_INSIDES else spelled_inside(member) for key, member in spelled}


def spelled_inside(member: JsonValue) -> JsonValue:
    """*member* with every name in it spelled as the API does."""
    if isinstance(member, Mapping):
        return in_wire_names(member)
    return [spelled_inside(item) for item in member] if isinstance(member, list | tuple) else member
