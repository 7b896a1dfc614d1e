"""Cases of the store on disk: what may lie in its folder, and who else may hold it."""

from __future__ import annotations

import asyncio
import json
import pickle
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from onion.middleware import SHARED, Cache, DiskStore
from onion.testing import ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.cases.case import WaitingError
from tests.middleware.stacks import ASK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from onion.spec import LanguageModel
    from tests.cases.case import Case

LONG = 50_000_000
LAG_SECONDS = 0.02
READS = 1000


class _Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


class _Folder:
    """A store in a folder of its own, behind a cache."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = DiskStore(path / "cache", lock_timeout=0.5)
        self.evidence = path / "evidence"

    def model(self, *answers: str) -> LanguageModel:
        inner = ScriptedModel([text(found) for found in answers])
        return wrap_language_model(inner, Cache(self.store, scope=SHARED))

    def change(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.store.directory / "cache.db")) as database:
            database.execute(statement, values)
            database.commit()


async def run(case: Case) -> list[str]:
    """Each thing that can happen to a folder, in a new one."""
    names = case.data.get("calls")
    limit = case.expect.get("max_wait_s")
    faults: list[str] = []
    for name in names if isinstance(names, list) else []:
        if str(name) not in _HAPPENINGS:
            raise WaitingError(str(name))
        with tempfile.TemporaryDirectory() as path:
            folder = _Folder(Path(path))
            started = time.monotonic()
            found = await _HAPPENINGS[str(name)](folder)
            waited = time.monotonic() - started
            await folder.store.aclose()
            if found:
                faults.append(f"{name}: {found}")
            if isinstance(limit, int | float) and waited > limit:
                faults.append(f"{name}: took {waited:.1f} s")
            if folder.evidence.exists():
                faults.append(f"{name}: code was executed")
    return faults


async def _live(model: LanguageModel, wanted: str) -> str:
    found = (await model.do_generate(ASK)).text
    return "" if found == wanted else f"answered {found[:40]!r} instead of {wanted[:40]!r}"


async def _pickle(folder: _Folder) -> str:
    model = folder.model("first", "live")
    await model.do_generate(ASK)
    folder.change("UPDATE Cache SET mode = 4, value = ?", pickle.dumps(_Evil(folder.evidence)))
    return await _live(model, "live")


async def _junk(folder: _Folder) -> str:
    folder.store.directory.mkdir()
    folder.store.directory.joinpath("cache.db").write_bytes(b"junk" * 5000)
    return await _live(folder.model("live"), "live")


async def _locked(folder: _Folder) -> str:
    await folder.store.set("other", "1", ttl=None)
    with closing(sqlite3.connect(folder.store.directory / "cache.db", isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        found = await _live(folder.model("live"), "live")
        database.execute("ROLLBACK")
    return found


PAUSE_SECONDS = 0.001


async def _lag(folder: _Folder) -> str:
    await folder.store.set("k", "x" * 4000, ttl=None)
    lags: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(PAUSE_SECONDS)  # without a pause it would take the interpreter from the store's thread
            lags.append(time.perf_counter() - before - PAUSE_SECONDS)

    watcher = asyncio.ensure_future(watch())
    for _ in range(READS):
        await folder.store.get("k")
    await asyncio.sleep(0.01)  # the reads may be over before it looked for the first time
    watcher.cancel()
    usual = sorted(lags)[len(lags) * 99 // 100]
    return "" if usual < LAG_SECONDS else f"the event loop lagged {usual:.3f} s"


async def _two_writers(folder: _Folder) -> str:
    other = DiskStore(folder.store.directory)
    await asyncio.gather(
        *(
            store.set("k", f"{name}{number}", ttl=None)
            for number in range(50)
            for name, store in (("a", folder.store), ("b", other))
        )
    )
    found = await other.get("k"), await folder.store.get("k")
    await other.aclose()
    return "" if found[0] == found[1] and found[0] in ("a49", "b49") else f"read {found!r}"


async def _long(folder: _Folder) -> str:
    model = folder.model("x" * LONG, "y" * LONG)
    return await _live(model, "x" * LONG)


async def _old_format(folder: _Folder) -> str:
    model = folder.model("first", "live")
    await model.do_generate(ASK)
    with closing(sqlite3.connect(folder.store.directory / "cache.db")) as database:
        ((kept,),) = database.execute("SELECT value FROM Cache").fetchall()
    folder.change("UPDATE Cache SET value = ?", json.dumps({**json.loads(kept), "version": 0}))
    return await _live(model, "live")


_HAPPENINGS: Mapping[str, Callable[[_Folder], Awaitable[str]]] = {
    "pickle payload": _pickle,
    "junk database": _junk,
    "exclusive lock 10 s": _locked,
    "1000 reads loop lag": _lag,
    "two writers": _two_writers,
    "50 MB value": _long,
    "old format version": _old_format,
}
