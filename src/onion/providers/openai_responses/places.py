"""Which item of the output an event belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, text_in

if TYPE_CHECKING:
    from onion.spec.base import JsonObject


class Places:
    """Gives each item its place in the output.

    Most servers say it (``output_index``), and then ids do not matter: some change them with each event. Where it is
    not said (llama.cpp), the id tells items apart, or for calls the call id.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, int] = {}
        self._latest = 0

    def of(self, event: JsonObject) -> int:
        """The place of the item that *event* belongs to; without place and id, that of the event before."""
        place = count_in(event, "output_index")
        if place is None or "item" in event:
            item = object_in(event, "item")
            item_id = text_in(event, "item_id") or text_in(item, "id") or text_in(item, "call_id")
            if place is None:
                place = self._by_id.get(item_id, self._next()) if item_id else self._latest
            if item_id:
                self._by_id[item_id] = place
        self._latest = place
        return place

    def _next(self) -> int:
        return max(self._by_id.values(), default=-1) + 1
