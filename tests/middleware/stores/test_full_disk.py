"""A disk that takes no more: the system refuses to let files grow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, resource, signal, sys
from onion.middleware import SHARED, Cache, DiskStore
from onion.testing import ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def ask(model, number):
    return (await model.do_generate(ASK.replace(seed=number))).text

async def main():
    store = DiskStore(sys.argv[1])
    inner = ScriptedModel([text(str(number) * 90_000) for number in range(6)])
    model = wrap_language_model(inner, Cache(store, scope=SHARED))
    told = [await ask(model, 0)]
    limit(20_000)
    told += [await ask(model, 1), await ask(model, 1), await ask(model, 0)]
    limit(resource.RLIM_INFINITY)
    told += [await ask(model, 1), await ask(model, 1)]
    await store.aclose()
    print([(found[0], len(found)) for found in told], len(inner.calls))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
asyncio.run(main())
"""


def test_while_files_cannot_grow_the_model_is_asked_and_afterwards_the_cache_again(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}

    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        timeout=15,
        env=environment,
    )

    told = [(said, 90_000) for said in "012033"]
    assert ended.stdout.strip() == f"{told} 4"
    assert "could not write an entry" in ended.stderr
