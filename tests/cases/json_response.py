"""Cases that are one whole answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import OnionError
from tests.cases.expectations import differences
from tests.cases.models import ASK, model_over
from tests.cases.observing import of_failure, of_result
from tests.cases.playback import Playback

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from tests.cases.case import Case


async def run(case: Case) -> list[str]:
    """The faults of *case*."""
    faults: list[str] = []
    for provider in case.providers:
        observed = await observe(provider, case.data)
        faults += [f"{fault} ({provider})" for fault in differences(case.expect, observed)]
    return faults


async def observe(provider: str, answer: JsonObject) -> dict[str, JsonValue]:
    """What a model makes of the answer."""
    async with Playback([answer]).client() as client:
        try:
            result = await model_over(provider, client).do_generate(ASK)
        except OnionError as error:
            return of_failure(error)
    return of_result(result)
