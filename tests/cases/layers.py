"""Cases of single layers, and of the order of several."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.middleware import ExtractJSON, ExtractReasoning, SimulateStreaming
from onion.providers._json import object_in, text_in
from onion.spec import (
    CallOptions,
    FilePart,
    FinishPart,
    GenerateResult,
    Reasoning,
    StreamStart,
    TextPart,
    UserMessage,
    from_json,
)
from onion.streaming import collect
from onion.testing import Lint, ScriptedModel, parts, text
from onion.wrap import Middleware, wrap_language_model
from tests.cases.case import WaitingError, rows
from tests.middleware.stacks import ASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec import JsonValue, LanguageModel, StreamResult
    from onion.spec.base import JsonObject
    from onion.wrap import DoGenerate, DoStream, Mode
    from tests.cases.case import Case


async def run(case: Case) -> list[str]:
    """One layer, in both modes, under every cut of the text."""
    name, options = text_in(case.data, "middleware"), object_in(case.data, "options")
    calls = object_in(case.data, "calls")
    if name == "simulate_streaming":
        return await _simulated(calls)
    if name == "extract_reasoning":
        layer: Middleware = ExtractReasoning(text_in(options, "tag"))
    elif name == "extract_json":
        layer = ExtractJSON()
    else:
        raise WaitingError(name)
    deltas = calls.get("text_deltas")
    pieces = [str(delta) for delta in deltas] if isinstance(deltas, list) else []
    whole = "".join(pieces)
    right = await _streamed(layer, pieces)
    faults = _differences(case.expect, right)
    cuts = ([whole[:at], whole[at:]] for at in range(len(whole)))
    if any([await _streamed(layer, cut) != right for cut in (list(whole), *cuts)]):
        faults.append("same_for_every_split: no")
    model = wrap_language_model(ScriptedModel([text(whole)]), [Lint(), layer, Lint()])
    if (await model.do_generate(ASK)).content != right.content:
        faults.append("generate gives something else than stream")
    return faults


async def _streamed(layer: Middleware, pieces: list[str]) -> GenerateResult:
    """Lint on both sides: blocks are paired."""
    model = wrap_language_model(ScriptedModel([parts(*pieces)]), [Lint(), layer, Lint()])
    return await collect(await model.do_stream(ASK))


def _differences(expect: JsonObject, found: GenerateResult) -> list[str]:
    reasoning = "".join(part.text for part in found.content if isinstance(part, Reasoning))
    seen: dict[str, JsonValue] = {
        "reasoning": reasoning,
        "text": found.text,
        "text_stripped": found.text.strip(),
        "blocks_paired": True,
        "same_for_every_split": True,
    }
    if "parsed" in expect:
        seen["parsed"] = json.loads(found.text)
    return [f"{key}: {seen.get(key)!r} instead of {right!r}" for key, right in expect.items() if seen.get(key) != right]


async def _simulated(calls: JsonObject) -> list[str]:
    result = _result(object_in(calls, "generate_result"))
    model = wrap_language_model(ScriptedModel([result, result]), [Lint(), SimulateStreaming(), Lint()])
    faults: list[str] = []
    if await collect(await model.do_stream(ASK)) != result:
        faults.append("collected_equals_generate: no")
    async with await model.do_stream(ASK) as stream:
        seen = [part async for part in stream]
    counts = {kind: sum(isinstance(part, kind) for part in seen) for kind in (StreamStart, FinishPart)}
    return [*faults, *(f"{number} {kind.type} parts" for kind, number in counts.items() if number != 1)]


def _result(row: JsonObject) -> GenerateResult:
    used = object_in(row, "usage")
    content: list[JsonValue] = [
        {
            **{key: found for key, found in part.items() if key != "data_b64"},
            "data": {"type": "data", "data": part["data_b64"]},
        }
        if "data_b64" in part
        else part
        for part in rows(row.get("content"))
    ]
    return from_json(
        GenerateResult,
        {
            **{key: found for key, found in row.items() if key != "finish"},
            "content": content,
            "finish_reason": {"unified": row.get("finish")},
            "usage": {"input_tokens": {"total": used.get("input")}, "output_tokens": {"total": used.get("output")}},
        },
    )


class _Letter(Middleware):
    """Adds its letter to the prompt, and notes when a call goes in and comes back."""

    def __init__(self, letter: str, log: list[JsonValue], transformed: list[str]) -> None:
        self._letter = letter
        self._log = log
        self._transformed = transformed

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        self._transformed.append(self._letter)
        return params.replace(prompt=(UserMessage(content=(TextPart(text=_asked(params) + self._letter),)),))

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        self._log.append(f"{self._letter}>")
        result = await do_generate()
        self._log.append(f"<{self._letter}")
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        self._log.append(f"{self._letter}>")
        result = await do_stream()
        self._log.append(f"<{self._letter}")
        return result


def _asked(params: CallOptions) -> str:
    message = params.prompt[-1]
    assert isinstance(message, UserMessage)
    return "".join(part.text for part in message.content if not isinstance(part, FilePart))


async def run_order(case: Case) -> list[str]:
    """Several layers at once, and wrapped one by one; the list is used twice."""
    calls = object_in(case.data, "calls")
    names, modes = calls.get("middlewares"), calls.get("modes")
    letters = [str(name) for name in names] if isinstance(names, list) else []
    log: list[JsonValue] = []
    transformed: list[str] = []
    layers = [_Letter(letter, log, transformed) for letter in letters]
    params = replace(ASK, prompt=(UserMessage(content=(TextPart(text=text_in(calls, "prompt")),)),))
    faults: list[str] = []
    for inner, model in _wrapped(layers):
        for mode in modes if isinstance(modes, list) else []:
            log.clear()
            transformed.clear()
            if mode == "stream":
                await collect(await model.do_stream(params))
            else:
                await model.do_generate(params)
            found: dict[str, JsonValue] = {
                "provider_text": _asked(inner.params[-1]),
                "log": list(log),
                "transform_calls": {letter: transformed.count(letter) for letter in letters},
            }
            faults += [f"{key}: {found.get(key)!r}" for key, right in case.expect.items() if found.get(key) != right]
    return faults


def _wrapped(layers: list[_Letter]) -> Iterator[tuple[ScriptedModel, LanguageModel]]:
    for _ in range(2):
        inner = ScriptedModel([text("hi")] * 2)
        yield inner, wrap_language_model(inner, list(layers))
    inner = ScriptedModel([text("hi")] * 2)
    model: LanguageModel = inner
    for layer in reversed(layers):
        model = wrap_language_model(model, [layer])
    yield inner, model
