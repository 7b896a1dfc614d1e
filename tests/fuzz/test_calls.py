"""Whatever is asked, histories that somebody changed included, it is sent as JSON or refused with an error of ours."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onion.errors import OnionError
from onion.spec.call import CallOptions
from onion.spec.json import from_json, to_json
from onion.testing.strategies import params
from tests.fuzz.mutation import Mutator
from tests.fuzz.seeds import OWN, Seed, pool_of
from tests.recorded.exchanges import members
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from onion.spec.base import JsonValue


async def sent(name: str, call: CallOptions) -> JsonValue:
    """The body of the request, which is JSON as the standard has it."""
    bodies: list[JsonValue] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content.decode(), parse_constant=refuse))
        return httpx.Response(200, json=dict(OWN[name].text))

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        await FORMATS[name].make_model(client).do_generate(call)
    return bodies[0]


def refuse(word: str) -> None:
    """Fail for what Python takes for JSON, and nobody else."""
    pytest.fail(f"the request holds {word}")


def changed(call: CallOptions, number: int) -> CallOptions | None:
    """*call* with odd values in some places, None if no call is left; headers have rules of their own, and go."""
    told = {key: found for key, found in members(to_json(call)).items() if key != "headers"}
    mutator = Mutator(Random(number), pool_of([Seed((told,), is_stream=False)]))  # noqa: S311 - no secrets are made
    try:
        return from_json(CallOptions, mutator.changed(told))
    except OnionError:
        return None


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40)
@given(params(), st.integers(0, 2**32))
async def test_any_call_is_sent_as_json_or_refused(name: str, call: CallOptions, number: int) -> None:
    odd = changed(call, number)
    for each in (call, odd) if odd else (call,):
        try:
            body = await sent(name, each)
        except OnionError:
            continue
        assert isinstance(body, dict)


async def test_a_request_that_is_no_json_would_be_found() -> None:
    with pytest.raises(pytest.fail.Exception, match="holds NaN"):
        json.loads('{"a": NaN}', parse_constant=refuse)
