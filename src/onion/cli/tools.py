"""The tools that the command line names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from onion.cli import demo_tools
from onion.cli.loading import UsageError, load_object
from onion.loop import Tool

if TYPE_CHECKING:
    from onion.loop.toolset import Tools

DEMO_TOOLS = "demo"


def load_tools(name: str) -> Tools:
    """The tools that ``demo`` or ``module:object`` names: one tool, several, or a function that makes them.

    Raises:
        UsageError: When it names no object, or one that holds something else than tools.
    """
    if name == DEMO_TOOLS:
        return demo_tools.tools
    found = load_object(name)
    if not isinstance(found, Tool) and callable(found):
        found = found()
    named = _named_tools(found)
    if not named:
        msg = (
            f"{name!r} is a {type(found).__name__}, not tools: name a function with @tool before it, or a list of them"
        )
        raise UsageError(msg)
    return named


def _named_tools(found: object) -> Tools:
    """The tools in *found*; none if it holds anything else."""
    if _is_mapping(found):
        named = {str(name): tool for name, tool in found.items() if isinstance(tool, Tool)}
        return named if len(named) == len(found) else ()
    items = found if _is_sequence(found) else (found,)
    listed = [tool for tool in items if isinstance(tool, Tool)]
    return listed if len(listed) == len(items) else ()


def _is_mapping(found: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(found, Mapping)


def _is_sequence(found: object) -> TypeGuard[Sequence[object]]:
    return isinstance(found, list | tuple)
