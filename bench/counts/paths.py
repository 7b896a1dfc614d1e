"""The paths that are counted. Standard library only as long as nothing is asked of it: imports are counted, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.workload import NO_PARAMS, Params

if TYPE_CHECKING:
    from collections.abc import Sequence

CALIBRATION = "calibration"
IMPORT_ASYNCIO = "import asyncio"
IMPORT_ONION = "import onion"
FIRST_NAMES = ("generate_text", "is_step_count", "stream_text", "tool", "wrap_language_model")
"""What the first program in the README takes from the package, and `wrap_language_model`."""


@dataclass(frozen=True, slots=True)
class Path:
    """A workload to be counted, in a short and a long run.

    Attributes:
        name: How the record names it; says what an operation is.
        operations: Length of the short run; the long one has three times as many.
        grows: One run is longer than the other by this param instead of being repeated.
        per: So many of what *grows* are one operation.
    """

    name: str
    adapter: str
    workload: str
    operations: int
    params: Params = field(default=NO_PARAMS)
    grows: str = ""
    per: int = 1

    def runs(self) -> list[tuple[Params, int]]:
        """For the short and the long run, how the workload is set up and how many operations it has."""
        lengths = (self.operations, self.operations * LONGER)
        if not self.grows:
            return [(self.params, length) for length in lengths]
        return [(self.params.replace(**{self.grows: length * self.per}), length) for length in lengths]


LONGER = 3
CALLS = "bench.adapters.onion_calls"
STREAMS = "bench.adapters.onion_streams"
CACHE = "bench.adapters.onion_cache"
WIRE = "bench.adapters.onion_wire"
DELTAS = 200

PATHS: Sequence[Path] = (
    Path("generate_text, a step", CALLS, "generate", 10),
    Path("tool loop, a step", CALLS, "loop", 15, grows="steps"),
    Path("16 parallel tools, a step", CALLS, "loop", 2, Params(calls=16), grows="steps"),
    Path("a model behind a pass-through layer, a call", CALLS, "call", 50, Params(layers=1)),
    Path("Tracing without an SDK, a step", CALLS, "tracing", 10),
    Path("stream_text, a delta", STREAMS, "stream", DELTAS, grows="deltas"),
    Path("stream_text through 5 part transforms, a delta", STREAMS, "stream", DELTAS, Params(layers=5), grows="deltas"),
    Path("partial objects, a KB", STREAMS, "object", 4, grows="size", per=1000),
    Path("cache hit in memory", CACHE, "hit", 10),
    *(
        Path(f"{name} format, a delta", WIRE, "stream", DELTAS, Params(variant=name), grows="deltas")
        for name in ("chat", "responses", "anthropic", "google")
    ),
)
