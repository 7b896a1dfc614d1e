"""Cases of one model, one client and one stack of layers that several event loops use."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from onion.middleware import SHARED, Cache, MemoryStore, Retry
from onion.providers import openai_compatible
from onion.wrap import wrap_language_model
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.loopback import QUICK, Loopback
from tests.cases.runs import MODES, Mode, ran
from tests.cases.watching import watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from onion.providers import HTTPClient
    from onion.spec.base import JsonValue
    from onion.spec.model import LanguageModel

ROOT = Path(__file__).parents[2]
TIMES = 2


async def run(case: Case) -> list[str]:
    """The faults of every way to use a model in several loops, over a server that keeps its connections."""
    ways = case.data.get("calls")
    faults: list[str] = []
    for way in map(str, ways if isinstance(ways, list) else []):
        if way not in WAYS:
            raise WaitingError(f"models used so: {way!r}")
        for mode in MODES:
            kind, body = QUICK[mode]
            errors: list[str] = []
            async with watching() as watch:
                with _serving(kind, body) as server:
                    is_closed = await WAYS[way](server.url, mode, errors)
            observed: dict[str, JsonValue] = {"errors": len(errors), "user_client_closed": is_closed}
            found = [*differences(case.expect, observed), *errors, *watch.faults()]
            faults += [f"{fault} ({way}, {mode})" for fault in found]
    return faults


def _serving(kind: str, body: bytes) -> Loopback:
    return Loopback(lambda: (body,), kind=kind)


def _model(url: str, client: HTTPClient | None = None) -> LanguageModel:
    return openai_compatible(base_url=url, model="m-1", name="vendor", api_key="k", http_client=client)


async def _ask(model: LanguageModel, mode: Mode, errors: list[str]) -> None:
    """Ask twice, so that a connection is used again; what is raised is noted."""
    try:
        for _ in range(TIMES):
            told = await ran({"model": model, "prompt": "go", "max_retries": 0}, mode)
            if told.result is None or told.result.text != "x":
                errors.append(f"the run gave {told.error!r}")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the case is about
        errors.append(repr(error))


def _in_new_loop(model: LanguageModel, mode: Mode, errors: list[str]) -> Awaitable[None]:
    """Ask under `asyncio.run`, in a thread, since a loop runs here."""
    return asyncio.to_thread(lambda: asyncio.run(_ask(model, mode, errors)))


# --- the ways --------------------------------------------------------------------------------------------------------


async def _one_after_the_other(url: str, mode: Mode, errors: list[str]) -> bool:
    model = _model(url)
    for _ in range(TIMES):
        await _in_new_loop(model, mode, errors)
    return False


async def _at_the_same_time(url: str, mode: Mode, errors: list[str]) -> bool:
    model = _model(url)
    await asyncio.gather(*(_in_new_loop(model, mode, errors) for _ in range(TIMES)))
    return False


async def _own_client(url: str, mode: Mode, errors: list[str]) -> bool:
    async with httpx.AsyncClient() as client:
        for _ in range(TIMES):
            await _ask(_model(url, client), mode, errors)
        return client.is_closed


async def _made_outside(url: str, mode: Mode, errors: list[str]) -> bool:
    """The layers exist before any loop runs, as those of a module do; each loop asks what no other asked."""
    layers = await asyncio.to_thread(lambda: [Cache(MemoryStore(), scope=SHARED), Retry()])
    models = [wrap_language_model(_model(url), layers, model_id=f"m-{number}") for number in range(TIMES)]
    for model in models:
        await _in_new_loop(model, mode, errors)
    await asyncio.gather(*(_in_new_loop(models[0], mode, errors) for _ in range(TIMES)))
    return False


async def _after_a_fork(url: str, mode: Mode, errors: list[str]) -> bool:
    """In a process of its own: one with threads had better not fork."""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.cases.forking", url, mode, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await program.communicate()
    errors += told.decode().splitlines()
    errors += [f"the program ended with {program.returncode}"] if program.returncode else []
    return False


WAYS: Mapping[str, Callable[[str, Mode, list[str]], Awaitable[bool]]] = {
    "asyncio.run twice": _one_after_the_other,
    "two threads": _at_the_same_time,
    "user client reused": _own_client,
    "locks made at import": _made_outside,
    "after a fork": _after_a_fork,
}
"""Give whether a client of the user's own was closed."""
