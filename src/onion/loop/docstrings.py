"""Reads what a Google-style docstring says of a function and of its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

from onion.spec.base import value

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?|Attributes):\s*$")
_ARGUMENT_SECTIONS = frozenset({"Args", "Arguments", "Parameters"})
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


@value
class Docstring:
    """A docstring taken apart.

    Attributes:
        description: All that comes before the first section; None if there is nothing.
        arguments: Description by name.
    """

    description: str | None
    arguments: Mapping[str, str]


def read_docstring(text: str | None) -> Docstring:
    """The description and the arguments in *text*, which may be indented as it stands in the source."""
    lines = inspect.cleandoc(text or "").splitlines()
    start = next((number for number, line in enumerate(lines) if _SECTION.match(line)), len(lines))
    description = "\n".join(lines[:start]).strip()
    return Docstring(description=description or None, arguments=dict(_arguments(lines[start:])))


def _arguments(lines: list[str]) -> Iterator[tuple[str, str]]:
    name, words = "", list[str]()
    margin: int | None = None
    is_inside = False
    for line in lines:
        if section := _SECTION.match(line):
            is_inside = section[1] in _ARGUMENT_SECTIONS
        if section or not is_inside or not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        margin = indent if margin is None else margin
        if indent <= margin and (entry := _ARGUMENT.match(line.strip())):
            if name:
                yield name, " ".join(words)
            name, words = entry[1], [entry[2]] if entry[2] else []
        elif name:
            words.append(line.strip())
    if name:
        yield name, " ".join(words)
