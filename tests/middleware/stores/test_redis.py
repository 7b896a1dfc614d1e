from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from onion.errors import InvalidArgumentError, MissingExtraError
from onion.middleware import SHARED, Cache, RedisStore
from onion.middleware.stores import ClaimingStore, ListingStore
from onion.testing import ScriptedModel, text
from tests.middleware.stacks import ASK, under_test
from tests.middleware.stores.resp import RespServer

SERVER = shutil.which("redis-server")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A Redis on loopback that is started when it is needed: the real one, or as much of it as Python plays."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._kind = kind
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._played: RespServer | None = None

    def start(self) -> None:
        if self._kind == "played":
            self._played = RespServer(self.port)
            self._played.start()
            return
        options = {"--port": self.port, "--bind": "127.0.0.1", "--save": "", "--dir": self._folder}
        command = [str(SERVER), *(str(word) for option in options.items() for word in option)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if b"Ready to accept connections" in line:
                return

    def stop(self) -> None:
        if self._played is not None:
            self._played.stop()
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.communicate()


@pytest.fixture(
    scope="module",
    params=[
        "played",
        pytest.param("real", marks=pytest.mark.skipif(SERVER is None, reason="redis-server is not installed")),
    ],
)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(kind, tmp_path_factory.mktemp("redis"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
async def store(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[RedisStore]:
    made = RedisStore(server.url, prefix=f"{request.node.name}:", max_connections=4)
    yield made
    await made.aclose()


async def test_it_gives_back_what_it_was_given(store: RedisStore) -> None:
    await store.set("a", "1", ttl=None)
    await store.set("a", "ä\n2", ttl=60)

    assert await store.get("a") == "ä\n2"
    assert await store.get("b") is None


async def test_a_key_can_be_forgotten(store: RedisStore) -> None:
    await store.set("a", "1", ttl=None)
    await store.delete("a")

    assert await store.get("a") is None


async def test_more_callers_than_connections_wait_for_one(store: RedisStore) -> None:
    await asyncio.gather(*(store.set(str(number), "x", ttl=None) for number in range(200)))

    found = await asyncio.gather(*(store.get(str(number)) for number in range(200)))

    assert found == ["x"] * 200


async def test_a_claim_is_held_by_one_and_given_back_by_its_owner_only(store: RedisStore) -> None:
    first = await store.claim("k", seconds=60)
    second = await store.claim("k", seconds=60)
    await store.release("k", "not the token")
    third = await store.claim("k", seconds=60)
    await store.release("k", first)
    fourth = await store.claim("k", seconds=60)

    assert "" not in (first, fourth)
    assert (second, third) == ("", "")
    assert isinstance(store, ClaimingStore)


async def test_its_keys_are_those_of_its_entries_alone(server: Server) -> None:
    mine, others = RedisStore(server.url, prefix="mine[*]:"), RedisStore(server.url, prefix="mine[x]:")
    await mine.set("a", "1", ttl=None)
    await mine.set("b", "2", ttl=60)
    await mine.claim("c", seconds=60)
    await others.set("d", "4", ttl=None)

    keys = sorted(await mine.keys())
    await mine.aclose()
    await others.aclose()

    assert keys == ["a", "b"]
    assert isinstance(mine, ListingStore)


async def test_a_second_cache_on_the_same_server_finds_what_the_first_one_kept(server: Server) -> None:
    first, second = RedisStore(server.url, prefix="shared:"), RedisStore(server.url, prefix="shared:")
    inner = ScriptedModel([text("one")])

    answers = [(await under_test(inner, Cache(store, scope=SHARED)).do_generate(ASK)).text for store in (first, second)]
    await first.aclose()
    await second.aclose()

    assert answers == ["one", "one"]
    assert len(inner.calls) == 1


async def test_while_the_server_is_down_the_model_is_asked_and_afterwards_the_cache_again(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(kind, tmp_path)
    store = RedisStore(server.url, timeout=0.5)
    inner = ScriptedModel([text("down"), text("up"), text("never")])
    model = under_test(inner, Cache(store, scope=SHARED))

    answers = [(await model.do_generate(ASK)).text]
    server.start()
    answers += [(await model.do_generate(ASK)).text for _ in range(2)]
    server.stop()
    await store.aclose()

    assert answers == ["down", "up", "up"]
    assert "could not read an entry: ConnectionError" in caplog.text


PROGRAM = """
import asyncio, os, sys
from onion.middleware import SHARED, Cache, RedisStore
from onion.testing import After, ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK

async def slow():
    await asyncio.sleep(0.3)

async def main():
    store = RedisStore(sys.argv[1], prefix="processes:")
    inner = ScriptedModel([After(slow, text(f"from {os.getpid()}"))])
    model = wrap_language_model(inner, Cache(store, scope=SHARED))
    print((await model.do_generate(ASK)).text, len(inner.calls))
    await store.aclose()

asyncio.run(main())
"""


def test_two_processes_that_ask_the_same_make_one_call(server: Server) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", PROGRAM, server.url]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]

    lines = [process.communicate(timeout=15)[0].strip() for process in processes]

    assert sorted(line.split()[-1] for line in lines) == ["0", "1"]
    assert len({line.rpartition(" ")[0] for line in lines}) == 1


def test_each_event_loop_has_connections_of_its_own(server: Server) -> None:
    store = RedisStore(server.url, prefix="loops:")

    async def use() -> str | None:
        await store.set("a", "1", ttl=None)
        found = await store.get("a")
        await store.aclose()
        await store.aclose()
        return found

    assert [asyncio.run(use()) for _ in range(2)] == ["1", "1"]


async def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)

    with pytest.raises(MissingExtraError, match=r"onion-ai\[redis\]"):
        await RedisStore("redis://127.0.0.1:1/0").get("a")


def test_a_limit_that_is_not_above_zero_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="max_connections must be above 0, got 0"):
        RedisStore("redis://127.0.0.1/0", max_connections=0)
    with pytest.raises(InvalidArgumentError, match="timeout must be above 0, got -1"):
        RedisStore("redis://127.0.0.1/0", timeout=-1)


def test_it_shows_the_server_without_the_password() -> None:
    assert repr(RedisStore("redis://user:hunter2@cache.example:6379/0")) == "RedisStore('cache.example:6379/0')"
    assert repr(RedisStore("redis://127.0.0.1:6379/0")) == "RedisStore('redis://127.0.0.1:6379/0')"
