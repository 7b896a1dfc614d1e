"""What is measured, in the order of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.groups import cache, calls, loop, memory, network, objects, start_up, streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.rows import Group

GROUPS: Sequence[Group] = (
    start_up.GROUP,
    calls.GROUP,
    cache.GROUP,
    loop.GROUP,
    streams.GROUP,
    objects.GROUP,
    network.GROUP,
    memory.OPEN,
    memory.FLAT,
)
