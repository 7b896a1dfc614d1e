"""What each argument of the loop must be, as far as one look tells: a slip is named where it was made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, TypeGuard, get_args

from onion.errors import MASK, InvalidArgumentError
from onion.spec.call import ReasoningEffort, ToolChoice
from onion.spec.prompt import SystemMessage
from onion.wrap import Middleware

_SECRET = ("headers", "tool_approval_secret")
_LONGEST = 200
EFFORTS: Final = get_args(ReasoningEffort)


def check_names(given: Iterable[str], known: Collection[str], *, function: str) -> None:
    """Check that *function* has every keyword argument that it was given.

    Raises:
        TypeError: For a name that it does not have.
    """
    for name in given:
        if name not in known:
            msg = f"{function}() got an unexpected keyword argument {name!r}"
            raise TypeError(msg)


def check_kind(name: str, given: object) -> None:
    """Check the argument *name*, which is not None.

    Raises:
        InvalidArgumentError: When it is something else than it must be.
    """
    kind = _KINDS.get(name)
    if kind is None or kind[0](given):
        return
    if name in _SECRET:
        msg = f"{name} must be {kind[1]}, got {_without_content(given)}"
        raise InvalidArgumentError(msg, parameter=name, value=MASK)
    shown = repr(given)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    raise InvalidArgumentError(f"{name} must be {kind[1]}, got {shown}", parameter=name, value=given)


def _without_content(given: object) -> str:
    """What *given* is, by kind: what is in it may be a credential."""
    if not _is_mapping(given):
        return f"a value of type {type(given).__name__}"
    kinds = ", ".join(f"{str(name)[:_LONGEST]!r}: {type(item).__name__}" for name, item in given.items())
    return f"{{{kinds}}}"


def _is_mapping(given: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(given, dict | Mapping)  # dict first: to ask for an abstract class takes ten times as long


def _is_iterable(given: object) -> TypeGuard[Iterable[object]]:
    return isinstance(given, list | tuple | Iterable)


def _is_list(given: object) -> TypeGuard[Collection[object]]:
    return isinstance(given, list | tuple | Collection)


def _is_list_of_texts(given: object) -> bool:
    return _is_list(given) and not isinstance(given, str) and all(isinstance(item, str) for item in given)


def _is_mapping_of_texts(given: object) -> bool:
    return _is_mapping(given) and all(isinstance(item, str) for pair in given.items() for item in pair)


def _is_mapping_of_mappings(given: object) -> bool:
    return _is_mapping(given) and all(map(_is_mapping, given.values()))


def _is_mapping_of_functions(given: object) -> bool:
    return _is_mapping(given) and all(map(callable, given.values()))


_FUNCTION = (callable, "a function, plain or async")
_TEXTS = (_is_list_of_texts, "a list of texts")
_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "active_tools": _TEXTS,
    "download": _FUNCTION,
    "headers": (_is_mapping_of_texts, "a mapping from names to texts"),
    "include": (_is_mapping, "a mapping such as {'raw_chunks': True}"),
    "instructions": (
        lambda given: isinstance(given, SystemMessage) or _is_iterable(given),
        "a text, a system message or a list of those",
    ),
    "middleware": (
        lambda given: isinstance(given, Middleware) or _is_iterable(given),
        "a Middleware object or a list of them",
    ),
    "prepare_step": _FUNCTION,
    "provider_options": (_is_mapping_of_mappings, "a mapping from names of providers to mappings"),
    "reasoning": (lambda given: given in EFFORTS, f"one of {', '.join(map(repr, EFFORTS))}"),
    "refine_tool_input": (_is_mapping_of_functions, "a mapping from names of tools to functions"),
    "repair_tool_call": _FUNCTION,
    "stop_sequences": _TEXTS,
    "stop_when": (
        lambda given: callable(given) or (_is_list(given) and all(map(callable, given))),
        "a stop condition such as is_step_count(5), or a list of them",
    ),
    "tool_approval": (
        lambda given: callable(given) or _is_mapping(given),
        "a mapping from names of tools to statuses or functions, or one function",
    ),
    "tool_approval_secret": (lambda given: isinstance(given, str | bytes), "a text or bytes"),
    "tool_choice": (
        lambda given: isinstance(given, str | ToolChoice) or _is_mapping(given),
        "'auto', 'none', 'required' or {'type': 'tool', 'tool_name': ...}",
    ),
    "tool_order": _TEXTS,
    "tools": (_is_iterable, "a list of tools, or a mapping from names to tools"),
    "tools_context": (_is_mapping, "a mapping from names of tools to what they see"),
}
