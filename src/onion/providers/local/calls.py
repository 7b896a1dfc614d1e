"""Reads one tool call out of the model's text while it is being written."""

from __future__ import annotations

import re

from onion.errors import JSONParseError
from onion.providers._json import parse_json

_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*(?P<name>"(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*(?=\S)')
_BLANK = " \t\r\n"


class CallReader:
    """Splits ``{"name": …, "arguments": …}`` into the name and the text of the arguments.

    Feed it text as it comes. What it holds is the model's own writing, so it may break off anywhere or be no call.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        """Known once the arguments begin."""
        self.written: str = ""
        """All text so far."""
        self._value = _ValueEnd()

    def feed(self, text: str) -> str:
        """Take more of the call and give what it adds to the text of the arguments."""
        self.written += text
        if self.name is None:
            head = _HEAD.match(self.written)
            if head is None:
                return ""
            self.name = _text(head["name"])
            text = self.written[head.end() :]
        return text[: self._value.feed(text)]


class _ValueEnd:
    """Finds where a JSON value ends, over any number of pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_text = False
        self._is_escaped = False
        self._is_over = False
        self._is_bare = False

    def feed(self, text: str) -> int:
        """How many characters of *text* belong to the value."""
        for position, character in enumerate(text):
            if self._is_over or (self._is_bare and character in ",}" + _BLANK):
                self._is_over = True
                return position
            self._step(character)
        return len(text)

    def _step(self, character: str) -> None:
        if self._in_text:
            self._in_text = self._is_escaped or character != '"'
            self._is_escaped = character == "\\" and not self._is_escaped
            self._is_over = not self._in_text and self._depth == 0
        elif character == '"':
            self._in_text = True
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            self._is_over = self._depth == 0
        elif self._depth == 0:
            self._is_bare = True


def _text(quoted: str) -> str:
    try:
        found = parse_json(quoted)
    except JSONParseError:  # an escape that JSON does not know
        return quoted[1:-1]
    return str(found)
