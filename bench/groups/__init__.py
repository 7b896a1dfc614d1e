"""What is measured, in the order of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.groups import cache, calls, loop, memory, network, objects, peers, start_up, streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.rows import Group

OWN: Sequence[Group] = (
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
"""Onion against floors."""


def groups(peers_ready: Iterable[str]) -> Sequence[Group]:
    """All groups, with those peers whose environments are there."""
    return (*OWN, *peers.groups(peers_ready))
