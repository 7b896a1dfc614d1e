from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider

from onion.middleware.tracing.providers import NOBODY, Providers
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


PROGRAM = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from onion.middleware.tracing.providers import LOOK_AGAIN_SECONDS, Providers

now = [0.0]
providers = Providers(None, None, clock=lambda: now[0])
told = [providers.look()]
trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
told.append(providers.look())
now[0] = LOOK_AGAIN_SECONDS
told.append(providers.look())
print([found.tracer is not None for found in told])
"""


def test_a_global_provider_that_is_set_up_later_is_seen_soon() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=20, check=True)

    assert done.stdout.strip() == "[False, False, True]"
