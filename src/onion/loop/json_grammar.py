"""The pieces of a JSON text (RFC 8259) as patterns: whole ones, and those whose end has not come yet."""

from __future__ import annotations

import json
import re

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
