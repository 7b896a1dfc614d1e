"""Cases of JSON that is still arriving."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, TypeVar

from onion import Output, stream_text
from onion.errors import NoObjectGeneratedError
from onion.loop.partial_json import PartialJSON
from onion.providers._json import object_in
from onion.testing import ScriptedModel, parts
from tests.cases.expectations import differences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.loop.json_grammar import Missing
    from onion.spec.base import JsonObject, JsonValue
    from tests.cases.case import Case

T = TypeVar("T")
NO_MEMBER = "<none of the options>"


async def run(case: Case) -> list[str]:
    """The faults of *case*: each text is the beginning of the last one."""
    written = case.data.get("calls")
    texts = [str(text) for text in written] if isinstance(written, list) else []
    expected = case.data.get("expect")
    faults = _monotonic(texts[-1])
    if isinstance(expected, list):
        for text, wanted in zip(texts, expected, strict=True):
            found = [_value([text]), _value(text)]
            faults += [f"{text!r} stands for {found!r}"] if found != [wanted, wanted] else []
        return faults + await _check_run(Output.json(), texts, expected)
    return faults + await _check_schema(case, texts)


def _value(pieces: Sequence[str]) -> JsonValue | Missing:
    """What the text in these pieces stands for."""
    reader = PartialJSON()
    for piece in pieces:
        reader.feed(piece)
    return reader.value


def _monotonic(text: str) -> list[str]:
    """From the first character on there is an object, whose strings only grow."""
    faults: list[str] = []
    before: dict[str, JsonValue] = {}
    for length in range(1, len(text) + 1):
        found = _value([text[:length]])
        if not isinstance(found, dict):
            return [*faults, f"{text[:length]!r} stands for {found!r}"]
        for name, shown in before.items():
            now = found.get(name)
            if isinstance(shown, str) and not (isinstance(now, str) and now.startswith(shown) and "\ufffd" not in now):
                faults.append(f"{name} was {shown!r} and is {now!r} after {text[:length]!r}")
        before = found
    return faults


async def _partials(output: Output[T], texts: Sequence[str]) -> tuple[list[object], T | NoObjectGeneratedError]:
    """What a run shows of a text that comes so, and its output, or the error in its place."""
    deltas = [text[len(before) :] for before, text in itertools.pairwise(("", *texts))]
    result = stream_text(model=ScriptedModel([parts(*deltas)]), prompt="go", output=output)
    shown = [partial async for partial in result.partial_output_stream]
    try:
        return shown, await result.output
    except NoObjectGeneratedError as error:
        return shown, error


async def _check_run(output: Output[JsonValue], texts: Sequence[str], expected: list[JsonValue]) -> list[str]:
    """A run shows each value once, since it shows those that are new."""
    shown, final = await _partials(output, texts)
    wanted = [value for value, _ in itertools.groupby(expected)]
    is_right = shown == wanted and final == expected[-1]
    return [] if is_right else [f"a run shows {shown!r}, and gives {final!r}"]


async def _check_schema(case: Case, texts: Sequence[str]) -> list[str]:
    """Growing values break no rule of a schema; the whole ones have to keep all of them."""
    schema, never = object_in(case.data, "schema"), object_in(case.expect, "never")
    shown, final = await _partials(Output.object(schema), texts)
    observed: JsonObject = {
        "no_exception": len(shown) >= len(texts) and not isinstance(final, Exception),
        "final": None if isinstance(final, NoObjectGeneratedError) else final,
    }
    faults = differences({key: value for key, value in case.expect.items() if key != "never"}, observed)
    whole = object_in(case.expect, "final")
    for name, described in object_in(schema, "properties").items():
        options = described.get("enum") if isinstance(described, dict) else None
        if not isinstance(options, list):
            continue
        broken = json.dumps({**whole, name: NO_MEMBER})
        _, outcome = await _partials(Output.object(schema), [broken])
        faults += [f"{broken} was taken"] if not isinstance(outcome, NoObjectGeneratedError) else []
        chosen, forbidden = str(whole[name]), never.get(f"{name}_validated_as")
        answer = json.dumps({"result": chosen})
        choices, outcome = await _partials(
            Output.choice([str(option) for option in options]), [answer[:end] for end in range(1, len(answer) + 1)]
        )
        faults += [f"a choice settles on {forbidden!r} while it grows: {choices!r}"] if forbidden in choices else []
        faults += [f"a choice gives {outcome!r}"] if outcome != chosen else []
    return faults
