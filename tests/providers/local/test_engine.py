import asyncio
import subprocess
import sys
import threading
from contextlib import aclosing

import pytest

from onion.providers.local.engine import Engine
from onion.spec.base import JsonObject
from tests.providers.local.engines import ScriptedEngine, delta

PATIENCE = 10.0
ONE, TWO = delta("one"), delta("two")


class Gate:
    """Stops the engine's thread until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self._open.wait(PATIENCE)

    def open(self) -> None:
        self._open.set()


async def read_all(engine: Engine) -> list[JsonObject]:
    async with aclosing(engine.answer({})) as chunks:
        return [chunk async for chunk in chunks]


async def test_chunks_come_in_order_and_then_end() -> None:
    native = ScriptedEngine([ONE, TWO])
    engine = Engine(native, slots=1)

    call = engine.answer({"messages": []})
    chunks = [chunk async for chunk in call]

    assert chunks == [ONE, TWO]
    assert [chunk async for chunk in call] == []
    assert native.requests == [{"messages": []}]
    assert native.active == 0
    engine.close()


@pytest.mark.parametrize("error", [ValueError("bad request"), RuntimeError("no image")])
async def test_what_the_engine_raises_reaches_the_reader(error: Exception) -> None:
    engine = Engine(ScriptedEngine([ONE, error]), slots=1)

    with pytest.raises(type(error), match=str(error)):
        await read_all(engine)
    engine.close()


async def test_closing_early_stops_the_call_and_waits_until_the_slot_is_free() -> None:
    gate = Gate()
    native = ScriptedEngine([ONE, gate, TWO, TWO, TWO])
    engine = Engine(native, slots=1)
    chunks = engine.answer({})
    assert await anext(chunks) == ONE

    closing = asyncio.create_task(chunks.aclose())
    await asyncio.to_thread(gate.reached.wait, PATIENCE)
    assert not closing.done()
    gate.open()
    await closing

    assert native.active == 0
    assert native.broken_off == 1
    engine.close()


async def test_a_call_that_does_not_stop_in_time_is_not_waited_for() -> None:
    gate = Gate()
    native = ScriptedEngine([ONE, gate, TWO])
    engine = Engine(native, slots=1, close_seconds=0.01)
    chunks = engine.answer({})
    await anext(chunks)

    await chunks.aclose()

    assert native.active == 1
    gate.open()
    engine.close()
    assert native.active == 0


async def test_cancelling_the_reader_stops_the_call() -> None:
    gate = Gate()
    native = ScriptedEngine([gate, ONE, TWO])
    engine = Engine(native, slots=1)
    reading = asyncio.create_task(read_all(engine))
    await asyncio.to_thread(gate.reached.wait, PATIENCE)

    reading.cancel()
    await asyncio.sleep(0)  # lets it see that
    gate.open()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert native.active == 0
    assert native.broken_off == 1
    engine.close()


async def test_more_calls_than_slots_wait_for_their_turn() -> None:
    native = ScriptedEngine([ONE, TWO])
    engine = Engine(native, slots=3)

    answers = await asyncio.gather(*(read_all(engine) for _ in range(50)))

    assert answers == [[ONE, TWO]] * 50
    assert native.most_at_once <= 3
    engine.close()


async def test_a_call_that_waits_is_given_up_without_ever_taking_a_slot() -> None:
    gate = Gate()
    native = ScriptedEngine([gate, ONE])
    engine = Engine(native, slots=1)
    first = asyncio.create_task(read_all(engine))
    await asyncio.to_thread(gate.reached.wait, PATIENCE)
    second = asyncio.create_task(read_all(engine))
    await asyncio.sleep(0)  # lets it ask

    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.open()

    assert await first == [ONE]
    assert len(native.requests) == 1
    engine.close()


async def test_closing_the_engine_ends_the_calls_that_run_and_those_that_wait() -> None:
    gate = Gate()
    native = ScriptedEngine([ONE, gate, TWO, TWO])
    engine = Engine(native, slots=1)
    running = asyncio.create_task(read_all(engine))
    waiting = asyncio.create_task(read_all(engine))
    await asyncio.to_thread(gate.reached.wait, PATIENCE)

    closing = asyncio.create_task(asyncio.to_thread(engine.close))
    assert await waiting == []
    gate.open()
    await closing

    assert await running == [ONE]
    assert native.is_stopped
    assert len(native.requests) == 1


def test_a_loop_that_is_gone_stops_its_calls() -> None:
    gate = Gate()
    native = ScriptedEngine([ONE, gate, TWO, TWO])
    engine = Engine(native, slots=1)
    loop = asyncio.new_event_loop()

    async def read_one() -> JsonObject:
        return await anext(engine.answer({}))

    assert loop.run_until_complete(read_one()) == ONE
    gate.reached.wait(PATIENCE)

    loop.close()
    gate.open()
    engine.close()

    assert native.broken_off == 1


async def test_an_engine_that_is_closed_answers_nothing() -> None:
    native = ScriptedEngine([ONE])
    engine = Engine(native, slots=1)
    engine.close()

    assert await read_all(engine) == []
    assert native.requests == []


def test_a_process_that_ends_does_not_wait_for_an_answer_that_nobody_reads() -> None:
    program = """
import asyncio, itertools
from onion.providers.local.engine import Engine

class Endless:
    def complete(self, request, on_chunk):
        next(number for number in itertools.count() if on_chunk({"number": number}))

async def read_one():
    return await anext(engine.answer({}))

engine = Engine(Endless(), slots=1)
loop = asyncio.new_event_loop()
print(loop.run_until_complete(read_one()))
"""

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )

    assert done.stdout == "{'number': 0}\n"
    assert done.returncode == 0
