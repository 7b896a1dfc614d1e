"""Cases of an output whose validator has an effect: it runs once, however the output is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel

from onion import generate_text, stream_text
from onion.providers._json import object_in, text_in
from onion.testing import ScriptedModel
from tests.cases.case import Case, WaitingError, rows
from tests.cases.expectations import differences
from tests.cases.scripts import answer_of

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

EFFECT = "count; n+1"


async def run(case: Case) -> list[str]:
    """The faults of *case*: partials are read first, then the object twice, then the text."""
    calls = object_in(case.data, "calls")
    output = object_in(calls, "output")
    fields = list(object_in(object_in(output, "schema"), "properties"))
    if text_in(output, "validator") != EFFECT or fields != ["n"]:
        raise WaitingError(f"a validator that does {output!r}")
    script = [answer_of(step) for step in rows(calls.get("steps"))]
    return await _streamed(case.expect, ScriptedModel(script)) + await _generated(case.expect, ScriptedModel(script))


def _counting(counted: list[int]) -> type[BaseModel]:
    def add_one(n: int) -> int:
        counted.append(n)
        return n + 1

    class Counted(BaseModel):
        n: Annotated[int, AfterValidator(add_one)]

    return Counted


async def _streamed(expect: JsonObject, model: ScriptedModel) -> list[str]:
    counted: list[int] = []
    result = stream_text(model=model, prompt="go", output=_counting(counted))
    partials = [partial async for partial in result.partial_output_stream]
    first, second, text = await result.output, await result.output, await result.text
    faults = _differences(expect, counted, first, second)
    raw = type(first).model_construct(n=counted[0]).model_dump() if counted else None
    if not partials or partials[-1] != raw:  # partial outputs are documented as not validated
        faults.append(f"the last partial output is {partials[-1:]} of the text {text!r}")
    return [f"{fault} (stream)" for fault in faults]


async def _generated(expect: JsonObject, model: ScriptedModel) -> list[str]:
    counted: list[int] = []
    result = await generate_text(model=model, prompt="go", output=_counting(counted))
    return [f"{fault} (generate)" for fault in _differences(expect, counted, result.output, result.output)]


def _differences(expect: JsonObject, counted: list[int], first: BaseModel, second: BaseModel) -> list[str]:
    faults = differences(
        expect,
        {
            "validator_calls": len(counted),
            "object": first.model_dump(),
            "object_second_await": second.model_dump(),
        },
    )
    return faults + ([] if second is first else ["reading the object again gives another one"])
