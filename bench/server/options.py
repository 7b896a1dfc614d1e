"""What a client asks of the server, as its path spells it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

SPELLED = {
    "n": "deltas",
    "per": "events_per_write",
    "gap": "gap_ms",
    "all": "together",
    "tools": "tool_steps",
    "m": "calls",
    "split": "split",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to answer. In brackets: how the path spells it.

    Attributes:
        deltas: Text deltas of a stream (n).
        events_per_write: Events that go out together, as one HTTP chunk (per).
        split: Cut the body every so many bytes instead, in the middle of lines and characters; 0 is not to (split).
        gap_ms: Milliseconds between two writes (gap).
        together: After its first write a stream waits until so many have come that far (all).
        tool_steps: So many answers call tools before one is text (tools).
        calls: Tool calls of one answer (m).
    """

    deltas: int = 16
    events_per_write: int = 64
    split: int = 0
    gap_ms: int = 0
    together: int = 0
    tool_steps: int = 0
    calls: int = 1


@cache
def parse(text: str) -> Options:
    """The options that the first segment of a path gives.

    Raises:
        KeyError: For an option that there is not.
    """
    given = dict(pair.split("=") for pair in text.split(",") if "=" in pair)
    return Options(**{SPELLED[name]: int(found) for name, found in given.items()})
