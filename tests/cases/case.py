"""A case: an input with what is right for it, as the files of a folder hold them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from onion.providers._json import object_in, text_in
from onion.spec.base import JsonObject, JsonValue

INPUTS = Path(__file__).parent / "inputs"
MORE = Path(__file__).parent / "more"
"""What the descriptions of the cases ask for beyond their inputs."""


class WaitingError(Exception):
    """A case, or what it still needs, waits for something that is not built yet; the message names it."""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        kind: Which runner it is for.
        providers: The wire formats that it is about; empty if it is about none.
        data: The whole file.
    """

    id: str
    kind: str
    providers: tuple[str, ...]
    data: JsonObject

    @property
    def expect(self) -> JsonObject:
        """What is right, if it is one object."""
        return object_in(self.data, "expect")

    @property
    def calls(self) -> list[JsonObject]:
        """The answers, rows or steps, if they are a list of objects."""
        return rows(self.data.get("calls"))


Runner: TypeAlias = Callable[[Case], Awaitable[list[str]]]
"""Runs a case and gives its faults; raises a WaitingError where something is not built yet."""


def rows(value: JsonValue) -> list[JsonObject]:
    """The objects in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def load_case(path: Path) -> Case:
    """The case in one file."""
    found: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict), f"{path.name} holds no object"
    provider = found.get("provider")
    providers = provider if isinstance(provider, list) else [provider]
    named = tuple(name for name in providers if isinstance(name, str))
    return Case(id=text_in(found, "id"), kind=text_in(found, "kind"), providers=named, data=found)


def load_cases(folder: Path) -> list[Case]:
    """All cases below *folder*, by id."""
    return sorted((load_case(path) for path in folder.rglob("*.json")), key=lambda case: case.id)
