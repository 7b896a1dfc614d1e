from pathlib import Path

from onion.providers.local.native import EngineSettings
from onion.providers.local.pool import EnginePool
from tests.providers.local.engines import ScriptedEngine, Starter, says

ONE = EngineSettings(weights=Path("a.gguf"), model_id="a")
OTHER = EngineSettings(weights=Path("a.gguf"), model_id="a", slots=2)


def test_equal_settings_share_one_engine() -> None:
    starter = Starter(says("Hi"))
    pool = EnginePool(starter)

    engines = {pool.acquire(ONE, "x"), pool.acquire(EngineSettings(weights=Path("a.gguf"), model_id="a"), "y")}

    assert len(engines) == 1
    assert starter.started == [ONE]
    pool.close()


def test_other_settings_make_another_engine() -> None:
    starter = Starter(says("Hi"))
    pool = EnginePool(starter)

    assert pool.acquire(ONE, "x") is not pool.acquire(OTHER, "x")
    assert starter.started == [ONE, OTHER]
    pool.close()


def test_the_last_user_ends_the_engine() -> None:
    starter = Starter(says("Hi"))
    pool = EnginePool(starter)
    pool.acquire(ONE, "x")
    pool.acquire(ONE, "y")

    pool.release(ONE, "x")
    pool.release(ONE, "x")
    was_stopped = starter.engine.is_stopped
    pool.release(ONE, "y")

    assert not was_stopped
    assert starter.engine.is_stopped


def test_an_engine_that_ended_is_started_again() -> None:
    starter = Starter(says("Hi"))
    pool = EnginePool(starter)
    pool.acquire(ONE, "x")
    pool.release(ONE, "x")

    pool.acquire(ONE, "x")

    assert starter.started == [ONE, ONE]
    pool.close()


def test_releasing_what_was_never_acquired_does_nothing() -> None:
    starter = Starter(says("Hi"))
    pool = EnginePool(starter)
    pool.acquire(ONE, "x")

    pool.release(ONE, "stranger")
    pool.release(OTHER, "x")

    assert not starter.engine.is_stopped
    pool.close()


def test_closing_ends_every_engine() -> None:
    engines: list[ScriptedEngine] = []

    def start(_settings: EngineSettings) -> ScriptedEngine:
        engines.append(ScriptedEngine(says("Hi")))
        return engines[-1]

    pool = EnginePool(start)
    pool.acquire(ONE, "x")
    pool.acquire(OTHER, "x")

    pool.close()

    assert [engine.is_stopped for engine in engines] == [True, True]
