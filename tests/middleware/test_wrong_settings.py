"""Settings of Cache and Tracing that would fail at each call are refused where they are given."""

import pytest

from onion.errors import InvalidArgumentError
from onion.middleware import SHARED, Cache, MemoryStore, Tracing
from onion.spec import CallOptions
from onion.testing import ScriptedModel, text
from onion.wrap import wrap_language_model
from tests.middleware.stacks import ASK


@pytest.mark.parametrize("store", ["dir", MemoryStore, None])
def test_a_store_that_is_none_is_refused(store: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^store must be an object .* MemoryStore\(\), got") as caught:
        Cache(store, scope=SHARED)  # type: ignore[arg-type]  # the fault

    assert caught.value.parameter == "store"


def test_a_scope_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^scope must be the name of a tenant, .* or SHARED, got 3$"):
        Cache(MemoryStore(), scope=3)  # type: ignore[arg-type]  # the fault


@pytest.mark.parametrize("reasons", [["stp"], "stop", 3, [[]]])
def test_finish_reasons_that_there_are_not_are_refused(reasons: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^finish_reasons must be a collection of stop, length, .*, got"):
        Cache(MemoryStore(), scope=SHARED, finish_reasons=reasons)  # type: ignore[arg-type]  # the fault


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^ttl must be a number, got 'a'$"):
        Cache(MemoryStore(), scope=SHARED, ttl="a")  # type: ignore[arg-type]  # the fault
    with pytest.raises(InvalidArgumentError, match=r"^pace must be a number, got None$"):
        Cache(MemoryStore(), scope=SHARED, pace=None)  # type: ignore[arg-type]  # the fault
    with pytest.raises(InvalidArgumentError, match=r"^max_entries must be a number, got 'a'$"):
        MemoryStore(max_entries="a")  # type: ignore[arg-type]  # the fault


def test_a_key_that_is_no_function_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^key must be a function of the params, got 'prompt'$"):
        Cache(MemoryStore(), scope=SHARED, key="prompt")  # type: ignore[arg-type]  # the fault


async def test_a_key_that_returns_no_json_is_named_at_the_call() -> None:
    def prompt(params: CallOptions) -> object:
        return params.prompt[0]

    inner = ScriptedModel([text("hi")])
    cache = Cache(MemoryStore(), scope=SHARED, key=prompt)  # type: ignore[arg-type]  # the fault

    with pytest.raises(InvalidArgumentError, match=r"^key must return JSON .* UserMessage: ") as caught:
        await wrap_language_model(inner, cache).do_generate(ASK)

    assert caught.value.parameter == "key"
    assert inner.calls == []


@pytest.mark.parametrize(("provider", "shown"), [("x", "str"), (ScriptedModel, "the class ScriptedModel")])
def test_what_is_no_provider_of_telemetry_is_refused(provider: object, shown: str) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"^tracer_provider must be .* get_tracer, got {shown}$"):
        Tracing(provider)  # type: ignore[arg-type]  # the fault
    with pytest.raises(InvalidArgumentError, match=rf"^meter_provider must be .* get_meter, got {shown}$"):
        Tracing(None, provider)  # type: ignore[arg-type]  # the fault
