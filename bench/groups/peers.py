"""The same work done by the peers: Onion's part of what each takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.groups.shared import ONION_CALLS, ONION_STREAMS
from bench.jobs import Job
from bench.peers.environments import NODE_PEER, PYTHON_PEERS, node, node_folder, python_of
from bench.rows import Group, Row, ratio
from bench.workload import Params

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NETWORK = "bench.adapters.onion_network"
BUDGET = 0.1
LESS_THAN_A_PEER = 1.0

IN_PROCESS: Mapping[str, tuple[str, str, Params]] = {
    "generate": (ONION_CALLS, "generate", Params()),
    "loop": (ONION_CALLS, "loop", Params(steps=10)),
    "parallel": (ONION_CALLS, "loop", Params(steps=10, calls=16)),
    "stream": (ONION_STREAMS, "stream", Params(deltas=1000)),
    "object": (ONION_STREAMS, "object", Params(size=20_000)),
}
"""What is done without a network, by name: Onion's adapter, the workload, its params."""

OVER_NETWORK: Mapping[str, tuple[str, str, Params]] = {
    "generate": (NETWORK, "generate", Params(options="n=16", variant="aiohttp")),
    "loop": (NETWORK, "loop", Params(options="tools=10", steps=10, variant="aiohttp")),
    "stream": (NETWORK, "stream", Params(options="n=2000,per=64", deltas=2000, variant="aiohttp")),
}
"""What is done over the loopback; Onion as it comes with its fast transport."""

TITLES = {
    "generate": "one call",
    "loop": "a step with one tool",
    "parallel": "a step of 16 parallel tools",
    "stream": "a delta",
    "object": "all partial values of 20 KB",
}
LACKING = {("openai_agents", "object"), ("litellm", "loop"), ("litellm", "parallel"), ("litellm", "object")}
"""What a peer has not."""
NETWORK_ONLY = {"openai_client"}


def peer_job(peer: str, workload: str, params: Params) -> Job:
    """The job of a peer, in its own environment."""
    adapter = f"bench.peers.adapters.{peer}"
    command: tuple[str, ...] = (str(python_of(peer)), "-m", "bench.worker", adapter)
    if peer == NODE_PEER:
        command = (str(node()), "--expose-gc", "bench/peers/adapters/ai_sdk.mjs", str(node_folder()))
    return Job(adapter=adapter, workload=workload, params=params, budget=BUDGET, command=command)


def peers_with(work: str, *, network: bool) -> list[str]:
    """The peers that can do it."""
    everybody = [NODE_PEER, *PYTHON_PEERS]
    return [peer for peer in everybody if network or not (peer in NETWORK_ONLY or (peer, work) in LACKING)]


def jobs(works: Iterable[str], ready: Iterable[str], *, network: bool) -> Iterator[tuple[str, Job]]:
    """Onion and its peers at each of the works."""
    for work in works:
        adapter, workload, params = (OVER_NETWORK if network else IN_PROCESS)[work]
        yield f"{work}-onion", Job(adapter=adapter, workload=workload, params=params, budget=BUDGET)
        for peer in peers_with(work, network=network):
            if peer in ready:
                name = f"network_{workload}" if network else workload
                yield f"{work}-{peer}", peer_job(peer, name, params.replace(variant=""))


def rows(group: str, works: Iterable[str], ready: Iterable[str], *, network: bool) -> Iterator[Row]:
    """Onion's part of each peer's figure; that of the peer whom a target names always has its line."""
    for work in works:
        for peer in peers_with(work, network=network):
            is_named = (group, work, peer) == ("peers", "generate", NODE_PEER)
            if not (is_named or peer in ready):
                continue
            yield Row(
                name=f"{group}.{work}-{peer}",
                title=f"{TITLES[work]}{' over the loopback' if network else ''}, to {peer}",
                limit=0.3 if is_named else LESS_THAN_A_PEER,
                unit="x",
                value=ratio(f"{work}-onion", f"{work}-{peer}"),
                is_optional=True,
            )


def groups(ready: Iterable[str]) -> tuple[Group, ...]:
    """A group for each work, so that few processes run at the same time."""
    ready = set(ready)
    made = [
        Group(
            name=name,
            rounds=3,
            jobs=dict(jobs([work], ready, network=network)),
            rows=tuple(rows(name, [work], ready, network=network)),
            needs_server=network,
        )
        for name, works, network in (("peers", IN_PROCESS, False), ("peers-network", OVER_NETWORK, True))
        for work in works
    ]
    return tuple(group for group in made if group.rows)
