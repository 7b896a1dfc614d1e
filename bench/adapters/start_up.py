"""Importing, measured in interpreters of their own. The variant says what: ``asyncio`` or ``onion``."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

from bench.workload import Params, Setups, Workload, expect

if TYPE_CHECKING:
    from bench.workload import Extra

STATEMENTS = {
    "asyncio": "import asyncio",
    "onion": "import onion; from onion import generate_text, is_step_count, stream_text, tool, wrap_language_model",
}

PROBE = """
import sys, time
touched = []
sys.addaudithook(lambda event, args: touched.append(event) if event.startswith("socket.") else None)
begun = time.process_time()
%s
used = time.process_time() - begun
loaded = set(sys.modules)
import json, re
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(json.dumps({
    "cpu_us": used * 1e6,
    "peak_mb": int(peak) / 1024,
    "modules": len(loaded),
    "unwanted": len([name for name in loaded if name.partition(".")[0] in set(%r)]),
    "sockets": len(touched),
}))
"""
UNWANTED = (
    "aiohttp",
    "anyio",
    "diskcache",
    "h11",
    "httpcore",
    "httpx",
    "httpx2",
    "httpx_aiohttp",
    "opentelemetry",
    "redis",
    "requests",
    "sniffio",
    "structlog",
    "urllib3",
    "xllamacpp",
)


def start(params: Params) -> Workload:
    """Start an interpreter and let it import."""
    code = PROBE % (STATEMENTS[params.variant], UNWANTED)

    async def run(_operations: int) -> Extra:
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=PIPE)
        said, _ = await child.communicate()
        expect(child.returncode == 0, said)
        found: Extra = json.loads(said)
        return found

    return Workload(run, once=True)


SETUPS: Setups = {"import": start}
