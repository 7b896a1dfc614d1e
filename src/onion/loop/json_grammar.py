"""The pieces of a JSON text (RFC 8259) as patterns: whole ones, and those whose end has not come yet."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onion.spec.base import JsonValue


class Missing(Enum):
    """The type of `MISSING`, which stands for a value of which nothing has arrived."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

_SPACE = r"[ \t\n\r]*+"
_STRING = r'"((?:[^"\\\x00-\x1f]++|\\.)*+)"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
# Not possessive as a whole: Python 3.11.2 forgets a lookahead inside of a possessive group.
# A high surrogate is taken once it is clear whether its other half follows (RFC 8259, section 7).
_RUN = (
    r'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    rf"|{_HIGH}(?!\\?\Z|\\u[0-9a-fA-F]{{0,3}}\Z))*"
)
_OPEN_ESCAPE = rf"(?:{_HIGH})?(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?\Z"

# A piece is what is said to a container at once: an item or member with the comma before it, or the end.
_SCALAR = rf"(?:{_STRING}|({_NUMBER})(?=[ \t\n\r,\]}}])|(true|false|null)|([\[{{]))"
ITEM = re.compile(rf"{_SPACE}(?:(\])|(,)?{_SPACE}(){_SCALAR})")
MEMBER = re.compile(rf"{_SPACE}(?:(\}})|(,)?{_SPACE}{_STRING}{_SPACE}:{_SPACE}{_SCALAR})")
CLOSER, COMMA, NAME, TEXT, DIGITS, WORD, OPENER = range(1, 8)

_OPEN_SCALAR = rf'(?:"({_RUN}){_OPEN_ESCAPE}|({_NUMBER})(?:\.|[eE][-+]?)?\Z|-\Z|([tfn][a-z]*)\Z|\Z)'
OPEN_ITEM = re.compile(rf"{_SPACE}(,)?{_SPACE}(){_OPEN_SCALAR}")
OPEN_MEMBER = re.compile(
    rf'{_SPACE}(,)?{_SPACE}(?:{_STRING}{_SPACE}(?::{_SPACE}{_OPEN_SCALAR}|\Z)|(?:"{_RUN}{_OPEN_ESCAPE})?\Z)'
)
OPEN_COMMA, OPEN_NAME, OPEN_TEXT, OPEN_DIGITS, OPEN_WORD = range(1, 6)

STRING_RUN = re.compile(rf'({_RUN})(?:(")|{_OPEN_ESCAPE})')
WHOLE_NUMBER = re.compile(rf"{_SPACE}{_NUMBER}{_SPACE}")

WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
WORD_OF = {word[0]: word for word in WORDS}


def decoded(raw: str) -> str:
    """The string that *raw* stands for between quotes; raises ValueError for escapes that JSON does not know."""
    if "\\" not in raw:
        return raw
    meant: str = json.loads(f'"{raw}"')
    return meant


def number(text: str) -> int | float:
    """As `json.loads` reads it; raises ValueError for a whole number of more digits than Python converts."""
    return float(text) if "." in text or "e" in text or "E" in text else int(text)


def scalar(piece: re.Match[str]) -> JsonValue:
    """The value of an item or a member that is whole; raises ValueError where it has none."""
    kind = piece.lastindex
    if kind == TEXT:
        return decoded(piece[TEXT])
    return number(piece[DIGITS]) if kind == DIGITS else WORDS[piece[WORD]]


def open_scalar(piece: re.Match[str]) -> JsonValue:
    """What is shown of the value of an item or a member that is open; raises ValueError if it cannot become one."""
    kind = piece.lastindex
    if kind == OPEN_TEXT:
        return decoded(piece[OPEN_TEXT])
    if kind == OPEN_DIGITS:
        return number(piece[OPEN_DIGITS])
    word = WORD_OF[piece[OPEN_WORD][0]]
    if not word.startswith(piece[OPEN_WORD]):
        raise ValueError
    return WORDS[word]


def is_comma_right(piece: re.Match[str], rest: str, *, is_first: bool) -> bool:
    """Whether an open item or member, which *rest* may be the beginning of, has a comma before it just if it must."""
    if piece[OPEN_COMMA]:
        return not is_first
    return is_first or not rest.strip(" \t\n\r")


class OpenString:
    """A long string whose end has not come: it is read once.

    Attributes:
        length: About how many characters it has.
    """

    __slots__ = ("_pieces", "length")

    def __init__(self, raw: str) -> None:
        self._pieces = [decoded(raw)]
        self.length: int = len(raw)

    @property
    def value(self) -> str:
        """The string so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def feed(self, text: str) -> re.Match[str] | None:
        """Read on; a `STRING_RUN`, or None if *text* cannot go on in it."""
        found = STRING_RUN.match(text)
        if found is not None and found[1]:
            self._pieces.append(decoded(found[1]))
            self.length += len(found[1])
        return found
