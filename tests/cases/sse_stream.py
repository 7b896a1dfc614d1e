"""Cases that are one streamed answer: however its bytes arrive, the same right result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion import is_step_count, stream_text, tool
from onion.errors import OnionError
from onion.providers._json import parse_json, text_in
from tests.cases.convert import unmet
from tests.cases.expectations import differences
from tests.cases.models import ASK, model_over
from tests.cases.observing import names_of, of_failure, of_parts, of_run, read
from tests.cases.playback import Playback, body_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JsonObject, JsonValue
    from tests.cases.case import Case

RUN_KEYS = frozenset({"executed_tools", "steps", "object_raises"})
"""What only a run of the loop can tell."""


async def run(case: Case) -> list[str]:
    """The faults of *case*, over every way to cut its bytes, and in a run where the case asks for one."""
    faults: list[str] = []
    for provider in case.providers:
        for name, pieces in deliveries(case.data):
            observed = await observe(provider, case.data, pieces)
            expect = {key: value for key, value in case.expect.items() if key not in (*RUN_KEYS, "request2")}
            faults += [f"{fault} ({provider}, {name})" for fault in differences({**expect, "grammar": ""}, observed)]
        if "request2" in case.expect:
            faults += [f"{fault} ({provider}, in request 2)" for fault in await _next_request(case, provider)]
        asked = {key: value for key, value in case.expect.items() if key in RUN_KEYS}
        if asked:
            playback = Playback([case.data])
            async with playback.client() as client:
                told = await of_run(model_over(provider, client), names_of(case.expect), case.data.get("schema"))
            faults += [f"{fault} ({provider}, in a run)" for fault in differences(asked, told)]
    return list(dict.fromkeys(faults))


async def _next_request(case: Case, provider: str) -> list[str]:
    """What does not hold of the request that carries the results of this answer's calls."""
    playback = Playback([case.data])
    tools = [tool(name=name, input_schema={}, execute=_say_ok) for name in sorted(names_of(case.expect))]
    async with playback.client() as client:
        model = model_over(provider, client)
        await stream_text(model=model, prompt="go", tools=tools, stop_when=is_step_count(2)).steps
    checks = case.expect.get("request2")
    return unmet(checks, parse_json(playback.requests[1].content))


def _say_ok(given: object) -> str:
    del given
    return "ok"


async def observe(provider: str, answer: JsonObject, pieces: list[bytes]) -> dict[str, JsonValue]:
    """What a model makes of the answer."""
    playback = Playback([answer], pieces=pieces)
    async with playback.client() as client:
        try:
            parts = await read(await model_over(provider, client).do_stream(ASK))
        except OnionError as error:
            return of_failure(error)
    return of_parts(parts)


def deliveries(data: JsonObject) -> Iterator[tuple[str, list[bytes]]]:
    """The ways in which the body arrives."""
    body = body_of(data)
    yield "whole", [body]
    given = data.get("chunks_hex")
    if isinstance(given, list):
        yield "as the case cuts it", [bytes.fromhex(str(piece)) for piece in given]
    for size in {1, 7, _every(text_in(data, "deliver"))} - {0}:
        yield f"every {size} bytes", [body[start : start + size] for start in range(0, len(body), size)]
    yield "with CRLF", [body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")]


def _every(deliver: str) -> int:
    """The number in ``every n bytes``."""
    return next((int(word) for word in deliver.split() if word.isdecimal()), 0)
