"""Cases that are the forms in which servers say how long to wait."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from onion.middleware import Retry
from onion.providers._json import text_in
from onion.wrap import wrap_language_model
from tests.cases.http import Sleeps
from tests.cases.models import ASK, FINE, MODELS, model_over
from tests.cases.playback import Playback

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cases.case import Case


def _stopped_at(moment: str) -> Callable[[], float]:
    """A clock that stands at *moment*, or at the epoch."""
    now = datetime.fromisoformat(moment).timestamp() if moment else 0.0
    return lambda: now


async def run(case: Case) -> list[str]:
    """Every row is a 429 with that hint, and then success."""
    wanted = case.expect.get("delays_s")
    delays = wanted if isinstance(wanted, list) else []
    faults: list[str] = []
    for provider in MODELS:
        for row, delay in zip(case.calls, delays, strict=True):
            playback, sleeps = Playback([{"status": 429, **row}, FINE[provider]]), Sleeps()
            moment = text_in(row, "now")
            retry = Retry(1, sleep=sleeps, clock=_stopped_at(moment), jitter=0)
            async with playback.client() as client:
                await wrap_language_model(model_over(provider, client), retry).do_generate(ASK)
            if sleeps.seconds != [delay]:
                faults.append(f"waited {sleeps.seconds} instead of {delay} for {row!r} ({provider})")
    return faults
