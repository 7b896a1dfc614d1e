"""Short lists and objects, read again from their beginning as they grow.

Compiled code reads a short text once more in less time than ours takes to read on from where it stopped. What is
unusual it leaves to ours: text that is no JSON, halves of surrogate pairs, very deep nesting.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic_core import from_json

from onion.loop.json_grammar import WORD_OF

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

MAX_LENGTH = 512
"""How long the text of a list or an object may be that is read again and again."""

_CLOSERS = {"[": "]", "{": "}"}
_MAX_TRIES = 3
_UNSURE = "aeflnrstuE.+-"
"""What the last character of a word or a number may be that is not whole."""
_UNSURE_END = re.compile(r"(?:([tfn][a-z]*)|[eE.+-]+)\Z")
_LONGEST_UNSURE_END = 5
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_OPEN_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}\Z")
_LONGEST_OPEN_ESCAPE = 5


class Rereader:
    """Reads one list or object after the other.

    Attributes:
        text: The list or object so far, while it is open.
        value: What it stands for.
    """

    __slots__ = ("_closer", "text", "value")

    def __init__(self) -> None:
        self.text: str = ""
        self.value: JsonValue = None
        self._closer = ""

    def begin(self, text: str, start: int) -> int:
        """As `feed`, for what begins in *text* with the bracket at *start*, and is short: the rest is not looked at."""
        self.text = ""
        self._closer = _CLOSERS[text[start]]
        return self.feed(text[start : start + MAX_LENGTH])

    def feed(self, delta: str) -> int:
        """Read on; how many characters of *delta* belong to the list or object if it ends there, 0 if it is open.

        Raises:
            ValueError: When it is too long, or it cannot be said what it stands for. *delta* was not read then.
        """
        text = self.text + delta
        if self._closer in delta:
            end = self._end(text, len(self.text))
            if end:
                return end - len(self.text)
        if len(text) > MAX_LENGTH:
            raise ValueError
        self.value = _opened(text)
        self.text = text
        return 0

    def _end(self, text: str, start: int) -> int:
        """Where the list or object ends, after *start*; 0 if it is open."""
        end = start
        for _ in range(_MAX_TRIES):
            end = text.find(self._closer, end) + 1
            if not end:
                return 0
            try:
                self.value = from_json(text[:end], allow_inf_nan=False)
            except ValueError as error:
                if not str(error).startswith("EOF"):
                    raise
            except TypeError as error:  # half of a surrogate pair, by itself
                raise ValueError from error
            else:
                return end
        raise ValueError


def _opened(text: str) -> JsonValue:
    """What *text*, the beginning of a list or an object, stands for so far."""
    if "\\u" in text[-_LONGEST_OPEN_ESCAPE:] and _OPEN_ESCAPE.search(text) is None:
        raise ValueError
    if text[-1] in _UNSURE and not _is_in_string(text):
        text = _without_half(text)
    try:
        shown: JsonValue = from_json(text, allow_inf_nan=False, allow_partial="trailing-strings")
    except TypeError as error:
        raise ValueError from error
    return shown


def _is_in_string(text: str) -> bool:
    if "\\" in text:
        text = _ESCAPE.sub("", text)
    return text.count('"') % 2 == 1


def _without_half(text: str) -> str:
    """*text* with its last word made whole, and without what does not make its last number another one yet."""
    found = _UNSURE_END.search(text, max(len(text) - _LONGEST_UNSURE_END, 0))
    if found is None:
        return text
    start = text[: found.start()]
    given: str | None = found[1]
    if given is None:
        return start
    word = WORD_OF[given[0]]
    return start + word if word.startswith(given) else text
