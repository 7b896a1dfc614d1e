"""Mends a tool call without anybody's help, and without guessing: what is missing is never made up.

A text is mended only where there is one way to read it: a fence around it, a comma before a closing bracket, brackets
that were not closed, closing brackets too many, JSON written as a JSON string. A text that ends inside of a string or
with a number is left alone, since 10 may have been about to become 100.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

MAX_ALTERNATIVES = 50
MAX_ENCODINGS = 3  # how often JSON may have been written as a string of itself

_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\r?\n(?P<inside>.*?)(?:\r?\n[ \t]*```\s*)?", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\\x00-\x1f]|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))*\")"
    r"|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>true|false|null)"
    r"|(?P<mark>[{}\[\],:]))"
)
_CLOSERS = {"{": "}", "[": "]"}
_SEPARATORS = re.compile(r"[\s_.\-]+")


def parse(text: str) -> JsonValue:
    """The value of a JSON text; an empty text is an empty object, as for a tool without arguments.

    Raises:
        ValueError: When it is no JSON; also for NaN and infinities.
    """
    if not text.strip():
        return {}
    value: JsonValue = json.loads(text, parse_constant=_refuse)
    return value


def _refuse(word: str) -> float:
    msg = f"{word} is no JSON"
    raise ValueError(msg)


def similar_name(name: str, known: Iterable[str]) -> str | None:
    """The one known name that differs from *name* in case and separators only; None if there is none, or several."""
    wanted = _letters(name)
    found = [other for other in known if _letters(other) == wanted]
    return found[0] if wanted and len(found) == 1 else None


def _letters(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def readings(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The JSON texts that *text* can be read as, each with what was done to get there; the least is done first."""
    steps: tuple[str, ...] = ()
    if not text.strip():
        yield text, steps
        return
    for _ in range(MAX_ENCODINGS):
        fence = _FENCE.fullmatch(text)
        if fence is not None:
            text, steps = fence["inside"], (*steps, "fence")
        mended = _mend(text)
        if mended is None:
            return
        text, done = mended
        steps = (*steps, *done)
        yield text, steps
        value = parse(text)
        if not isinstance(value, str):
            return
        text, steps = value, (*steps, "double-encoded")


def _mend(text: str) -> tuple[str, tuple[str, ...]] | None:
    """*text* with its brackets and commas put right, and what was done; None if that does not make it JSON."""
    scan = _Scan()
    position = 0
    end = len(text.rstrip())
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None or not scan.take(token):
            return None
        position = token.end()
    closed = scan.close()
    try:
        parse(closed or "?")
    except (ValueError, RecursionError):
        return None
    return closed, tuple(scan.steps)


class _Scan:
    """The tokens so far, without the commas and brackets that are too many."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.steps: dict[str, None] = {}
        self._last = ""
        self._can_end = False

    def take(self, token: re.Match[str]) -> bool:
        """Take the next token; false if nothing sensible can come of it."""
        mark = token["mark"] or ""
        is_over = bool(self.pieces) and not self.open
        if mark in ("}", "]"):
            if is_over:
                self.steps["stray-bracket"] = None
                return True
            if not self.open or _CLOSERS[self.open[-1]] != mark:
                return False
            if self._last == ",":
                self.pieces.pop()
                self.steps["trailing-comma"] = None
            self.open.pop()
        elif is_over:
            return False
        elif mark in _CLOSERS:
            self.open.append(mark)
        is_key = bool(token["string"]) and self.open[-1:] == ["{"] and self._last in ("{", ",")
        self._can_end = mark in ("}", "]") or bool(token["word"]) or (bool(token["string"]) and not is_key)
        self._last = mark or "value"
        self.pieces.append(token.group())
        return True

    def close(self) -> str:
        """The text with its open brackets closed, unless something is missing before them."""
        if self.open and self._can_end:
            self.steps["unclosed-bracket"] = None
            self.pieces.extend(_CLOSERS[bracket] for bracket in reversed(self.open))
        return "".join(self.pieces)


def decode_by_schema(value: JsonValue, schema: JsonValue, root: Mapping[str, JsonValue]) -> JsonValue:
    """*value* with each text decoded that is JSON of a list or object where *schema* takes one and no text."""
    wanted = _alternatives(schema, root)
    types = {kind for option in wanted for kind in _types(option)}
    if isinstance(value, str) and types & {"array", "object"} and "string" not in types:
        try:
            decoded = parse(value)
        except ValueError:
            return value
        if ("array" if isinstance(decoded, list) else "object" if isinstance(decoded, dict) else "") in types:
            return decoded
        return value
    if isinstance(value, Mapping):
        return {key: decode_by_schema(member, _member(wanted, key), root) for key, member in value.items()}
    if isinstance(value, list):
        items = next((option["items"] for option in wanted if "items" in option), None)
        return [decode_by_schema(item, items, root) for item in value]
    return value


def _member(wanted: Sequence[Mapping[str, JsonValue]], key: str) -> JsonValue:
    for option in wanted:
        properties = option.get("properties")
        if isinstance(properties, Mapping) and key in properties:
            return properties[key]
    return None


def _types(schema: Mapping[str, JsonValue]) -> set[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {kind}
    return {name for name in kind if isinstance(name, str)} if isinstance(kind, list) else set()


def _alternatives(schema: JsonValue, root: Mapping[str, JsonValue]) -> list[Mapping[str, JsonValue]]:
    """*schema* and what it offers in its place by ``$ref``, ``anyOf`` and ``oneOf``, one level each."""
    found: list[Mapping[str, JsonValue]] = []
    waiting: list[JsonValue] = [schema]
    while waiting and len(found) < MAX_ALTERNATIVES:  # a schema may refer to itself
        option = waiting.pop()
        if not isinstance(option, Mapping):
            continue
        found.append(option)
        waiting.append(_resolve(option.get("$ref"), root))
        for name in ("anyOf", "oneOf"):
            offered = option.get(name)
            if isinstance(offered, list | tuple):
                waiting.extend(offered)
    return found


def _resolve(reference: JsonValue, root: Mapping[str, JsonValue]) -> JsonValue:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: JsonValue = root
    for step in reference[2:].split("/"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
