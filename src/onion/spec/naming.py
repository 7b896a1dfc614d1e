"""How Python names and JSON keys correspond."""

from __future__ import annotations

TAGS = ("type", "role", "source_type")
"""Class constants that belong to the JSON form."""


def camel(name: str) -> str:
    """``tool_call_id`` to ``toolCallId``."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
