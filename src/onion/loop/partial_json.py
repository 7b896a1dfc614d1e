"""JSON that is still arriving: after each bit of text, the value that the text so far stands for.

What is open is shown as far as it goes: a string without its end, a number as read so far, ``true``, ``false`` and
``null`` from their first letter. What cannot be shown yet is left out: a key without a value, a lone minus sign, an
escape that is not whole, the first half of a surrogate pair.

Text is read once. Making a value copies what is still open, so it costs `PartialJSON.cost`, which grows with the
document; who wants many values in linear time pays for them out of an `Allowance` (allowance.py).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from onion.loop.json_grammar import (
    CLOSER,
    COMMA,
    DIGITS,
    ITEM,
    MEMBER,
    NAME,
    OPEN_COMMA,
    OPEN_DIGITS,
    OPEN_ITEM,
    OPEN_MEMBER,
    OPEN_NAME,
    OPEN_TEXT,
    OPEN_WORD,
    OPENER,
    STRING_RUN,
    TEXT,
    WHOLE_NUMBER,
    WORD,
    WORD_OF,
    WORDS,
    decoded,
    number,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from onion.spec.base import JsonValue

    Container: TypeAlias = list[JsonValue] | dict[str, JsonValue]

MAX_REREAD = 64
"""Open text up to this length is read again with what comes: cheaper than to remember how far reading was."""

PATIENCE = 1.25
"""Longer open text, unless it is a string, is read again when it has grown by this factor."""

CHARACTERS_PER_SLOT = 64
"""So much text is copied in about the time of one item of a list."""

_SLOTS_PER_CONTAINER = 4
_DEPTH_OF_ITEMS = 2


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
        self.is_broken: bool = False
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
        return bool(self._root) or WHOLE_NUMBER.fullmatch(self._rest) is not None

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

    def settled_items(self, key: str) -> tuple[Sequence[JsonValue], int] | None:
        """The list under *key* of the outermost object, not copied, and how many of its items will not change.

        An item is settled when the next one begins, or the text is whole. None if there is no such list yet.
        """
        outermost = self._root[0] if self._root else self._stack[0][0] if self._stack else None
        if not isinstance(outermost, dict):
            return None
        if len(self._stack) > 1 and self._stack[1][1] == key:
            items: JsonValue = self._stack[1][0]
            has_next = len(self._stack) > _DEPTH_OF_ITEMS or self._leaf is not MISSING or self._pieces is not None
        else:
            items = outermost.get(key)
            has_next = self.is_complete
        if not isinstance(items, list):
            return None
        return items, len(items) if has_next else max(len(items) - 1, 0)

    def _read(self, text: str) -> None:
        position = 0
        try:
            while not self._root:
                found = (ITEM if isinstance(self._container, list) else MEMBER).match(text, position)
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
        if kind == CLOSER:
            self._close()
            return
        if (piece[COMMA] is None) is bool(self._container):
            raise ValueError
        name: str = piece[NAME]
        if "\\" in name:
            name = decoded(name)
        if kind == TEXT:
            text: str = piece[TEXT]
            self._keep(name, decoded(text) if "\\" in text else text)
        elif kind == OPENER:
            self._open(name, [] if piece[OPENER] == "[" else {})
        elif kind == DIGITS:
            self._keep(name, number(piece[DIGITS]))
        else:
            self._keep(name, WORDS[piece[WORD]])

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
        found = (OPEN_ITEM if isinstance(self._container, list) else OPEN_MEMBER).match(rest)
        if found is None or not self._is_comma_right(found, rest):
            raise ValueError
        self._rest = rest
        kind = found.lastindex
        if kind == OPEN_TEXT:
            text: str = found[OPEN_TEXT]
            self._show_leaf(found, decoded(text) if "\\" in text else text)
        elif kind == OPEN_DIGITS:
            self._show_leaf(found, number(found[OPEN_DIGITS]))
        elif kind == OPEN_WORD:
            word = WORD_OF[found[OPEN_WORD][0]]
            if not word.startswith(found[OPEN_WORD]):
                raise ValueError
            self._show_leaf(found, WORDS[word])
        if len(rest) > MAX_REREAD:
            if kind == OPEN_TEXT:
                self._length = found.end() - found.start(OPEN_TEXT)
                self._pieces = [decoded(found[OPEN_TEXT])]
                self._rest = rest[found.end(OPEN_TEXT) :]
            else:
                self._patience = len(rest) * PATIENCE

    def _is_comma_right(self, found: re.Match[str], rest: str) -> bool:
        if found[OPEN_COMMA]:
            return bool(self._container)
        return not self._container or not rest.strip(" \t\n\r")

    def _show_leaf(self, found: re.Match[str], leaf: JsonValue) -> None:
        name: str = found[OPEN_NAME]
        self._name = decoded(name) if "\\" in name else name
        if self._leaf is MISSING or self._leaf != leaf:
            self._leaf = leaf
            self._changed = True

    def _read_string(self, text: str) -> str:
        """Read on in the long string that is open; what follows it, if it ends here."""
        found = STRING_RUN.match(text)
        pieces = self._pieces
        if found is None or pieces is None:
            self.is_broken = True
            return ""
        if found[1]:
            pieces.append(decoded(found[1]))
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
