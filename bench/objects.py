"""The JSON object that is streamed, in pieces as a model would send it. Standard library only."""

from __future__ import annotations

import json

PIECE = 16


def object_text(size: int) -> str:
    """A report of at least *size* bytes: many items of five fields."""
    items: list[dict[str, object]] = []
    used = 0
    while used < size:
        number = len(items)
        item: dict[str, object] = {
            "id": number,
            "name": f"item number {number}",
            "tags": ["red", "green", "blue"],
            "score": number * 0.5,
            "ok": number % 2 == 0,
        }
        used += len(json.dumps(item, separators=(",", ":"))) + 1
        items.append(item)
    return json.dumps({"title": "report", "items": items}, separators=(",", ":"))


def deltas_of_object(size: int) -> list[str]:
    """The same, in pieces of 16 characters."""
    text = object_text(size)
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
