from __future__ import annotations

import pytest
from opentelemetry import metrics, trace
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider

from onion.middleware.tracing.providers import LOOK_AGAIN_SECONDS, NOBODY, Providers
from tests.middleware.tracing.exporting import Telemetry


def test_without_an_sdk_nobody_is_told() -> None:
    assert Providers(None, None).look() is NOBODY
    assert Providers(NoOpTracerProvider(), NoOpMeterProvider()).look() is NOBODY


def test_what_a_provider_makes_is_made_once() -> None:
    telemetry = Telemetry()
    providers = Providers(telemetry.tracers, telemetry.meters)

    first, second = providers.look(), providers.look()

    assert first is second
    assert first.tracer is not None
    assert first.instruments is not None


@pytest.mark.parametrize("kind", ["spans", "metrics"])
def test_one_of_both_is_enough(kind: str) -> None:
    telemetry = Telemetry()
    is_traced = kind == "spans"

    told = Providers(telemetry.tracers if is_traced else None, None if is_traced else telemetry.meters).look()

    assert (told.tracer is not None, told.instruments is not None) == (is_traced, not is_traced)


def test_global_providers_that_are_set_up_later_are_seen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    telemetry, now = Telemetry(), [0.0]
    providers = Providers(None, None, clock=lambda: now[0])
    before = providers.look()

    monkeypatch.setattr(trace, "_TRACER_PROVIDER", telemetry.tracers)
    at_once = providers.look()
    now[0] = LOOK_AGAIN_SECONDS
    soon = providers.look()
    monkeypatch.undo()
    after = providers.look()

    assert (before, at_once, after) == (NOBODY, NOBODY, NOBODY)
    assert soon.tracer is not None
    assert soon.instruments is None
    assert metrics.get_meter_provider() is not telemetry.meters
