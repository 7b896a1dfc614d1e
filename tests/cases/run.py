"""Runs the cases of a folder: ``python -m tests.cases.run DIR``.

Prints counts and ids, and exits with 1 if a case fails. A new kind is a file with a runner and a line in `KINDS`.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cases import (
    approval,
    cache,
    cache_disk,
    cancel,
    convert,
    http,
    json_response,
    json_sequence,
    layers,
    loops,
    partial,
    producer,
    retry_after,
    schema,
    scripted_loop,
    secrets,
    sse_stream,
    telemetry,
    timeout,
    usage,
)
from tests.cases.case import Case, WaitingError, load_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.cases.case import Runner

KINDS: Mapping[str, Runner] = {
    "approval": approval.run,
    "cache_disk": cache_disk.run,
    "cache_mutation": cache.run_mutation,
    "cache_stream": cache.run_stream,
    "cache_table": cache.run_table,
    "cancel": cancel.run,
    "convert": convert.run,
    "http_sequence": http.run_sequence,
    "http_table": http.run_table,
    "json_response": json_response.run,
    "json_sequence": json_sequence.run,
    "loops": loops.run,
    "middleware": layers.run,
    "middleware_order": layers.run_order,
    "partial_json": partial.run,
    "producer": producer.run,
    "retry_after_table": retry_after.run,
    "schema": schema.run,
    "scripted_loop": scripted_loop.run,
    "secret_scan": secrets.run,
    "sse_sequence": http.run_stream_sequence,
    "sse_stream": sse_stream.run,
    "table": usage.run,
    "telemetry": telemetry.run,
    "timeout": timeout.run,
}
"""The kinds that can be run."""


async def faults_of(case: Case) -> list[str]:
    """The faults of one case; a crash of what is tested is one.

    Raises:
        WaitingError: Where something is not built yet.
    """
    if case.kind not in KINDS:
        raise WaitingError(case.kind)
    try:
        return await KINDS[case.kind](case)
    except WaitingError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is that case's
        return [f"crashed with {error!r}"]


def report(cases: list[Case], write: Callable[[str], object] = print) -> int:
    """Run *cases*, write what was found, and give the exit code."""
    passed: list[str] = []
    failed: dict[str, list[str]] = {}
    waiting: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        try:
            faults = asyncio.run(faults_of(case))
        except WaitingError as error:
            waiting[str(error)].append(case.id)
            continue
        if faults:
            failed[case.id] = faults
        else:
            passed.append(case.id)
    for name, faults in failed.items():
        write(f"FAILED {name}")
        for fault in faults[:10]:
            write(f"  {fault}")
    write(f"passed: {' '.join(passed) or 'none'}")
    for name, ids in sorted(waiting.items()):
        write(f"waiting for {name}: {' '.join(ids)}")
    write(f"passed {len(passed)}, failed {len(failed)}, waiting {sum(map(len, waiting.values()))}")
    return 1 if failed or not cases else 0


def main(arguments: list[str]) -> int:
    """Run the cases below the folder that the arguments name."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: python -m tests.cases.run FOLDER\n")
        return 2
    return report(load_cases(Path(arguments[0])))


if __name__ == "__main__":
    logging.getLogger("onion").addHandler(logging.NullHandler())  # what is logged is not what is asked for
    sys.exit(main(sys.argv[1:]))
