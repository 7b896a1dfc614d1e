"""Characters cut in half: some servers send the two escapes of one emoji in two chunks."""

from __future__ import annotations

_FIRST_HALF, _LAST_HALF = "\ud800", "\udbff"
"""Range of the code units that open a pair (Unicode 17, section 3.8, D71)."""


class Halves:
    """Keeps the first half of a character back until the second is there."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """*text*, which is not empty, with whole characters only; perhaps nothing of it yet."""
        if self._held:
            text = whole(self._held + text)
            self._held = ""
        if _FIRST_HALF <= text[-1] <= _LAST_HALF:
            self._held = text[-1]
            text = text[:-1]
        return text

    def end(self) -> str:
        """What stands for a half whose other one never came."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""


def whole(text: str) -> str:
    """*text* with its pairs of halves joined; a half at the end stays, one elsewhere is replaced."""
    tail = text[-1] if _FIRST_HALF <= text[-1] <= _LAST_HALF else ""
    head = text[:-1] if tail else text
    return head.encode("utf-16", "surrogatepass").decode("utf-16", "replace") + tail
