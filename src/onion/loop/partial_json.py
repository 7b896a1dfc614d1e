"""JSON that is still arriving: after each bit of text, the value that the text so far stands for.

What is open is shown as far as it goes: a string without its end, a number as read so far, ``true``, ``false`` and
``null`` from their first letter. What cannot be shown yet is left out: a key without a value, a lone minus sign, an
escape that is not whole, the first half of a surrogate pair.

Text is read once. Making a value copies what is still open, so it costs `PartialJSON.cost`, which grows with the
document; who wants many values in linear time pays for them out of an `Allowance` (allowance.py).
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

    Container: TypeAlias = list[JsonValue] | dict[str, JsonValue]

MAX_REREAD = 64
"""Open text up to this length is read again with what comes: cheaper than to remember how far reading was."""

PATIENCE = 1.25
"""Longer open text, unless it is a string, is read again when it has grown by this factor."""

CHARACTERS_PER_SLOT = 64
"""So much text is copied in about the time of one item of a list."""

_SLOTS_PER_CONTAINER = 4

_SPACE = r"[ \t\n\r]*+"
_STRING = r'"((?:[^"\\\x00-\x1f]++|\\.)*+)"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
# A high surrogate is taken once it is clear whether its other half follows (RFC 8259, section 7).
_RUN = (
    r'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    rf"|{_HIGH}(?!\\?\Z|\\u[0-9a-fA-F]{{0,3}}\Z))*+"
)
_OPEN_ESCAPE = rf"(?:{_HIGH})?(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?\Z"

# A piece is what is said to a container at once: an item or member with the comma before it, or the end.
_SCALAR = rf"(?:{_STRING}|({_NUMBER})(?=[ \t\n\r,\]}}])|(true|false|null)|([\[{{]))"
_ITEM = re.compile(rf"{_SPACE}(?:(\])|(,)?{_SPACE}(){_SCALAR})")
_MEMBER = re.compile(rf"{_SPACE}(?:(\}})|(,)?{_SPACE}{_STRING}{_SPACE}:{_SPACE}{_SCALAR})")
_CLOSER, _COMMA, _NAME, _TEXT, _DIGITS, _WORD, _OPENER = range(1, 8)

_OPEN_SCALAR = rf'(?:"({_RUN}){_OPEN_ESCAPE}|({_NUMBER})(?:\.|[eE][-+]?)?\Z|-\Z|([tfn][a-z]*)\Z|\Z)'
_OPEN_ITEM = re.compile(rf"{_SPACE}(,)?{_SPACE}(){_OPEN_SCALAR}")
_OPEN_MEMBER = re.compile(
    rf'{_SPACE}(,)?{_SPACE}(?:{_STRING}{_SPACE}(?::{_SPACE}{_OPEN_SCALAR}|\Z)|(?:"{_RUN}{_OPEN_ESCAPE})?\Z)'
)
_OPEN_COMMA, _OPEN_NAME, _OPEN_TEXT, _OPEN_DIGITS, _OPEN_WORD = range(1, 6)

_STRING_RUN = re.compile(rf'({_RUN})(?:(")|{_OPEN_ESCAPE})')
_WHOLE_NUMBER = re.compile(rf"{_SPACE}{_NUMBER}{_SPACE}")

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_WORD_OF = {word[0]: word for word in _WORDS}


class Missing(Enum):
    """The type of `MISSING`, which stands for a value of which nothing has arrived."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class PartialJSON:
    """Reads a JSON text bit by bit.

    Once the text cannot become JSON any more, `is_broken` is set, further text is ignored, and the value stays.

    Attributes:
        is_broken: No JSON text begins with the text so far.
    """

    __slots__ = (
        "_changed", "_container", "_leaf", "_length", "_name", "_patience", "_pieces", "_rest", "_root", "_slots",
        "_stack", "is_broken",
    )  # fmt: skip

    def __init__(self) -> None:
        self.is_broken = False
        self._root: list[JsonValue] = []
        """Holds the value once it is whole."""
        self._container: Container = self._root
        """The innermost that is open."""
        self._stack: list[tuple[Container, str]] = []
        """What is open, each with its key in the one before."""
        self._name = ""
        """The key of what is shown next."""
        self._leaf: JsonValue | Missing = MISSING
        """What is shown of an open scalar."""
        self._pieces: list[str] | None = None
        """A long string that is open."""
        self._length = 0
        self._rest = ""
        self._patience = 0.0
        self._slots = 1
        self._changed = False

    def feed(self, text: str) -> bool:
        """Read the next bit of text; whether the value became another one."""
        self._changed = False
        if self.is_broken:
            return False
        if self._rest:
            text = self._rest + text
            self._rest = ""
        if self._pieces is not None:
            text = self._read_string(text)
        if len(text) < self._patience:
            self._rest = text
        elif text:
            self._read(text)
        return self._changed

    def finish(self) -> bool:
        """Nothing more comes: read what waited for more; whether the value became another one."""
        self._patience = 0
        return self.feed("")

    @property
    def is_complete(self) -> bool:
        """Whether the text so far is a whole JSON text."""
        if self.is_broken or self._stack:
            return False
        return bool(self._root) or _WHOLE_NUMBER.fullmatch(self._rest) is not None

    @property
    def cost(self) -> int:
        """What making a value copies, in items of a list."""
        return self._slots + self._length // CHARACTERS_PER_SLOT

    @property
    def value(self) -> JsonValue | Missing:
        """The value of the text so far, new along what is still open, the rest shared; `MISSING` at first."""
        if self._root:
            return self._root[0]
        shown = self._leaf
        if self._pieces is not None:
            shown = "".join(self._pieces)
            self._pieces = [shown]
        name = self._name
        for container, own_name in reversed(self._stack):
            copied = container.copy()
            if isinstance(copied, dict):
                if shown is not MISSING:
                    copied[name] = shown
            elif shown is not MISSING:
                copied.append(shown)
            shown, name = copied, own_name
        return shown

    def _read(self, text: str) -> None:
        position = 0
        try:
            while not self._root:
                found = (_ITEM if isinstance(self._container, list) else _MEMBER).match(text, position)
                if found is None:
                    break
                position = found.end()
                self._take(found)
            self._show(text[position:])
        except ValueError:
            self.is_broken = True

    def _take(self, piece: re.Match[str]) -> None:
        """Put a whole piece in its place; raises ValueError where it has none."""
        kind = piece.lastindex
        if kind == _CLOSER:
            self._close()
            return
        if (piece[_COMMA] is None) is bool(self._container):
            raise ValueError
        name = _decoded(piece[_NAME])
        if kind == _TEXT:
            self._keep(name, _decoded(piece[_TEXT]))
        elif kind == _OPENER:
            self._open(name, [] if piece[_OPENER] == "[" else {})
        elif kind == _DIGITS:
            self._keep(name, _number(piece[_DIGITS]))
        else:
            self._keep(name, _WORDS[piece[_WORD]])

    def _keep(self, name: str, value: JsonValue) -> None:
        if self._leaf is MISSING or self._leaf != value:
            self._changed = True
        self._leaf = MISSING
        container = self._container
        if isinstance(container, list):
            container.append(value)
        else:
            container[name] = value
        self._slots += 1

    def _open(self, name: str, container: Container) -> None:
        self._stack.append((container, name))
        self._container = container
        self._slots += _SLOTS_PER_CONTAINER
        self._changed = True

    def _close(self) -> None:
        if not self._stack:
            raise ValueError
        closed, name = self._stack.pop()
        self._container = self._stack[-1][0] if self._stack else self._root
        self._slots -= _SLOTS_PER_CONTAINER + len(closed)
        self._leaf = closed  # it was shown before, so closing it changes nothing
        self._keep(name, closed)

    def _show(self, rest: str) -> None:
        """Show what follows the last whole piece; raises ValueError when it is no beginning of one."""
        self._patience = 0
        if self._root or not rest:
            if rest.strip(" \t\n\r"):
                raise ValueError
            return
        found = (_OPEN_ITEM if isinstance(self._container, list) else _OPEN_MEMBER).match(rest)
        if found is None or not self._is_comma_right(found, rest):
            raise ValueError
        self._rest = rest
        kind = found.lastindex
        if kind == _OPEN_TEXT:
            self._show_leaf(found, _decoded(found[_OPEN_TEXT]))
        elif kind == _OPEN_DIGITS:
            self._show_leaf(found, _number(found[_OPEN_DIGITS]))
        elif kind == _OPEN_WORD:
            word = _WORD_OF[found[_OPEN_WORD][0]]
            if not word.startswith(found[_OPEN_WORD]):
                raise ValueError
            self._show_leaf(found, _WORDS[word])
        if len(rest) > MAX_REREAD:
            if kind == _OPEN_TEXT:
                self._length = found.end() - found.start(_OPEN_TEXT)
                self._pieces = [_decoded(found[_OPEN_TEXT])]
                self._rest = rest[found.end(_OPEN_TEXT) :]
            else:
                self._patience = len(rest) * PATIENCE

    def _is_comma_right(self, found: re.Match[str], rest: str) -> bool:
        if found[_OPEN_COMMA]:
            return bool(self._container)
        return not self._container or not rest.strip(" \t\n\r")

    def _show_leaf(self, found: re.Match[str], leaf: JsonValue) -> None:
        self._name = _decoded(found[_OPEN_NAME])
        if self._leaf is MISSING or self._leaf != leaf:
            self._leaf = leaf
            self._changed = True

    def _read_string(self, text: str) -> str:
        """Read on in the long string that is open; what follows it, if it ends here."""
        found = _STRING_RUN.match(text)
        pieces = self._pieces
        if found is None or pieces is None:
            self.is_broken = True
            return ""
        if found[1]:
            pieces.append(_decoded(found[1]))
            self._length += len(found[1])
            self._changed = True
        if found[2] is None:
            self._rest = text[found.end(1) :]
            return ""
        self._leaf = "".join(pieces)
        self._pieces = None
        self._length = 0
        self._keep(self._name, self._leaf)
        return text[found.end() :]


def _decoded(raw: str) -> str:
    """The string that *raw* stands for between quotes; raises ValueError for escapes that JSON does not know."""
    if "\\" not in raw:
        return raw
    decoded: str = json.loads(f'"{raw}"')
    return decoded


def _number(text: str) -> int | float:
    """As `json.loads` reads it; raises ValueError for a whole number of more digits than Python converts."""
    return float(text) if "." in text or "e" in text or "E" in text else int(text)
