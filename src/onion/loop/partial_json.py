"""JSON that is still arriving: after each bit of text, the value that the text so far stands for.

What is open is shown as far as it goes: a string without its end, a number as read so far, ``true``, ``false`` and
``null`` from their first letter. What cannot be shown yet is left out: a key without a value, a lone minus sign, an
escape that is not whole, the first half of a surrogate pair.

Text is read piece by piece and once, but for a short list or object, which is read again as a whole while it grows
(json_reread.py). Making a value copies what is open around that, so it costs `PartialJSON.cost`, which grows with the
document; who wants many values in linear time pays for them out of an `Allowance` (allowance.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onion.loop.json_grammar import (
    CLOSER,
    COMMA,
    ITEM,
    MEMBER,
    MISSING,
    NAME,
    OPEN_ITEM,
    OPEN_MEMBER,
    OPEN_NAME,
    OPEN_TEXT,
    OPENER,
    WHOLE_NUMBER,
    Missing,
    OpenString,
    decoded,
    is_comma_right,
    open_scalar,
    scalar,
)

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from onion.loop.json_reread import Rereader
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


class PartialJSON:
    """Reads a JSON text bit by bit.

    Once the text cannot become JSON any more, `is_broken` is set, further text is ignored, and the value stays.

    Attributes:
        is_broken: No JSON text begins with the text so far.
    """

    __slots__ = (
        "_changed", "_container", "_leaf", "_name", "_patience", "_reread", "_rereader", "_rest", "_root", "_slots",
        "_stack", "_string", "is_broken",
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
        """What is shown of it, unless `_string` is."""
        self._reread: Rereader | None = None
        """What reads it, if it is a list or an object."""
        self._rereader: Rereader | None = None
        self._string: OpenString | None = None
        self._rest = ""
        self._patience = 0.0
        self._slots = 1
        self._changed = False

    def feed(self, text: str) -> bool:
        """Read the next bit of text; whether the value became another one."""
        if self._reread is not None:
            return self._feed_again(self._reread, text)
        self._changed = False
        if self.is_broken:
            return False
        if self._rest:
            text = self._rest + text
            self._rest = ""
        if self._string is not None:
            text = self._read_string(self._string, text)
        if len(text) < self._patience:
            self._rest = text
        elif text:
            self._read(text)
        return self._changed

    def finish(self) -> bool:
        """Nothing more comes: read what waited for more; whether the value became another one."""
        if self._reread is not None:
            self._leave(self._reread)
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
        return self._slots if self._string is None else self._slots + self._string.length // CHARACTERS_PER_SLOT

    @property
    def value(self) -> JsonValue | Missing:
        """The value of the text so far, new along what is still open, the rest shared; `MISSING` at first."""
        if self._root:
            return self._root[0]
        shown = self._leaf if self._string is None else self._string.value
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
        outermost = self._root[0] if self._root else self._stack[0][0] if self._stack else self._leaf
        if not isinstance(outermost, dict):
            return None
        if len(self._stack) > 1 and self._stack[1][1] == key:
            items: JsonValue = self._stack[1][0]
            has_next = len(self._stack) > _DEPTH_OF_ITEMS or self._leaf is not MISSING or self._string is not None
        else:
            items = outermost.get(key)
            has_next = self.is_complete
        if not isinstance(items, list):
            return None
        return items, len(items) if has_next else max(len(items) - 1, 0)

    def _feed_again(self, reread: Rereader, text: str) -> bool:
        try:
            end = reread.feed(text)
        except ValueError:
            self._leave(reread)
            return self.feed(text)
        if end:
            self._reread, self._changed = None, False
            self._keep(self._name, reread.value)
            if end < len(text):
                self._read(text[end:])
            return self._changed
        shown, self._leaf = self._leaf, reread.value
        return shown != reread.value

    def _leave(self, reread: Rereader) -> None:
        """Read piece by piece what was read again so far; it means the same, if it is JSON."""
        self._reread = None
        shown, name, depth = self._leaf, self._name, len(self._stack)
        self._leaf = MISSING
        self._open(name, [] if reread.text[0] == "[" else {})
        self._read(reread.text[1:], may_wait=False)
        if self.is_broken:
            self._leaf, self._name = shown, name
            del self._stack[depth:]

    def _read(self, text: str, *, may_wait: bool = True) -> None:
        position = 0
        try:
            while not self._root:
                found = (ITEM if isinstance(self._container, list) else MEMBER).match(text, position)
                if found is None:
                    break
                position = found.end()
                if found.lastindex == CLOSER:
                    self._close()
                elif found.lastindex == OPENER:
                    position = self._begin(self._name_of(found), text, position - 1, may_wait=may_wait)
                    if self._reread is not None:
                        return
                else:
                    self._keep(self._name_of(found), scalar(found))
            self._show(text[position:])
        except ValueError:
            self.is_broken = True

    def _name_of(self, piece: re.Match[str]) -> str:
        """The key of an item or member, in a list nothing; raises ValueError if a comma is missing or too many."""
        if (piece[COMMA] is None) is bool(self._container):
            raise ValueError
        return decoded(piece[NAME])

    def _begin(self, name: str, text: str, start: int, *, may_wait: bool) -> int:
        """Begin the list or object at *start*; where reading goes on."""
        if self._rereader is None:
            from onion.loop.json_reread import Rereader  # loads compiled code

            self._rereader = Rereader()
        reread = self._rereader
        try:
            end = reread.begin(text, start)
        except ValueError:
            end, may_wait = 0, False
        if end:
            self._keep(name, reread.value)
            return start + end
        if may_wait and len(reread.text) == len(text) - start:
            self._reread, self._name, self._leaf = reread, name, reread.value
            self._changed = True
            return len(text)
        self._open(name, [] if text[start] == "[" else {})
        return start + 1

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
        if found is None or not is_comma_right(found, rest, is_first=not self._container):
            raise ValueError
        self._rest = rest
        kind = found.lastindex
        if kind is not None and kind >= OPEN_TEXT:
            leaf = open_scalar(found)
            self._name = decoded(found[OPEN_NAME])
            if self._leaf is MISSING or self._leaf != leaf:
                self._changed = True
            self._leaf = leaf
        if len(rest) > MAX_REREAD:
            if kind == OPEN_TEXT:
                self._string = OpenString(found[OPEN_TEXT])
                self._rest = rest[found.end(OPEN_TEXT) :]
            else:
                self._patience = len(rest) * PATIENCE

    def _read_string(self, string: OpenString, text: str) -> str:
        """Read on in the long string that is open; what follows it, if it ends here."""
        found = string.feed(text)
        if found is None:
            self.is_broken = True
            return ""
        self._changed = bool(found[1])
        if found[2] is None:
            self._rest = text[found.end(1) :]
            return ""
        self._leaf, self._string = string.value, None
        self._keep(self._name, self._leaf)
        return text[found.end() :]
