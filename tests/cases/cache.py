"""Cases of the cache: what belongs to the key, who stops early, who changes what he was given."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from onion.middleware import SHARED, Cache
from onion.providers._json import object_in, text_in
from onion.spec import CallOptions, GenerateResult, RunInfo, Text, TextDelta, ToolCall, from_json
from onion.streaming import collect
from onion.testing import ScriptedModel, answer, parts, text, usage
from onion.wrap import wrap_language_model
from tests.cases.case import rows
from tests.middleware.stacks import ASK, OpenStore

if TYPE_CHECKING:
    from onion.middleware.caching import CacheScope
    from onion.spec import JsonValue, LanguageModel
    from onion.spec.base import JsonObject
    from tests.cases.case import Case


def numbered() -> Iterator[GenerateResult]:
    """Endless answers, each with its number."""
    return (text(f"answer {number}") for number in count(1))


def params_of(row: JsonObject) -> CallOptions:
    """The call that *row* describes in snake_case."""
    members = {name: found for name, found in row.items() if name != "model_id"}
    if "tools" in members:
        members["tools"] = [{"type": "function", **tool} for tool in rows(members["tools"])]
    return from_json(CallOptions, members)


async def ask(model: LanguageModel, params: CallOptions, number: int) -> str:
    """The text of the answer; the modes take turns."""
    if number % 2:
        return (await collect(await model.do_stream(params))).text
    return (await model.do_generate(params)).text


async def run_table(case: Case) -> list[str]:
    """Which calls share an entry, and which do not."""
    calls = object_in(case.data, "calls")
    if "namespaces" in calls:
        return await _namespaces(case, calls)
    store, script, asked = OpenStore(), numbered(), 0

    def model_of(row: JsonObject) -> tuple[ScriptedModel, LanguageModel]:
        inner = ScriptedModel(script, model_id=text_in(row, "model_id") or "m-1")
        return inner, wrap_language_model(inner, Cache(store, scope=SHARED))

    base = object_in(calls, "base")
    first = ""
    faults: list[str] = []
    for number, row in enumerate([base, *rows(calls.get("must_miss"))]):
        inner, model = model_of(row)
        answers = [await ask(model, params_of(row), turn) for turn in (number, number + 1)]
        first = first or answers[0]
        asked += len(inner.calls)
        if len(inner.calls) != 1 or answers[0] != answers[1]:
            faults.append(f"row {number} called the model {len(inner.calls)} times")
    for number, row in enumerate(rows(calls.get("must_hit"))):
        inner, model = model_of(base)
        changed = copy.deepcopy(params_of(base)).replace(
            headers={name: str(found) for name, found in object_in(row, "headers").items()},
            run=RunInfo(run_id=f"run {number}", context=row),
        )
        if await ask(model, changed, number) != first or inner.calls:
            faults.append(f"row {number} missed: {row!r}")
    if asked != case.expect.get("model_calls"):
        faults.append(f"model_calls: {asked} instead of {case.expect.get('model_calls')}")
    return faults


async def _namespaces(case: Case, calls: JsonObject) -> list[str]:
    store, inner = OpenStore(), ScriptedModel(numbered())
    params = params_of(object_in(calls, "request"))
    spaces = calls.get("namespaces")
    names = spaces if isinstance(spaces, list) else []
    scopes: list[CacheScope] = [str(name) if name else SHARED for name in names]
    scopes.append("sk-TESTKEY-123")
    models = [wrap_language_model(inner, Cache(store, scope=scope)) for scope in scopes]
    rounds = [[await ask(model, params, turn) for model in models] for turn in range(2)]
    faults: list[str] = []
    wanted = case.expect.get("model_calls")
    if rounds[0] != rounds[1] or len(set(rounds[0])) != len(scopes) or len(inner.calls) - 1 != wanted:
        faults.append(f"answers {rounds!r}, {len(inner.calls) - 1} model calls instead of {wanted}")
    if any("sk-TESTKEY-123" in found for found in (*store.texts, *store.texts.values())):
        faults.append("the store shows a secret scope")
    return faults


async def run_stream(case: Case) -> list[str]:
    """Readers of one stream, of whom some stop early."""
    calls = object_in(case.data, "calls")
    pieces = calls.get("stream")
    deltas = [str(piece) for piece in pieces if piece != "finish"] if isinstance(pieces, list) else []
    consumers = rows(calls.get("consumers"))
    inner = ScriptedModel([parts(*deltas) for _ in consumers])
    model = wrap_language_model(inner, Cache(OpenStore(), scope=SHARED))
    texts: list[JsonValue] = []
    for consumer in consumers:
        wanted, seen = consumer.get("read"), list[str]()
        async with await model.do_stream(ASK) as stream:
            async for part in stream:
                if isinstance(part, TextDelta):
                    seen.append(part.delta)
                if len(seen) == wanted:
                    break
        texts.append("".join(seen))
    found = {"model_calls": len(inner.calls), "texts": texts}
    return [
        f"{key}: {found.get(key)!r} instead of {right!r}"
        for key, right in case.expect.items()
        if found.get(key) != right
    ]


async def run_mutation(case: Case) -> list[str]:
    """A caller who changes everything that he is given."""
    calls = object_in(case.data, "calls")
    response = object_in(calls, "response")
    said = answer(*map(_content, rows(response.get("content"))), used=usage(3, 4))
    inner = ScriptedModel([said])
    model = wrap_language_model(inner, Cache(OpenStore(), scope=SHARED))
    original = copy.deepcopy(said)
    faults: list[str] = []
    repeat = calls.get("repeat")
    for number in range(int(repeat) if isinstance(repeat, int) else 3):
        found = await (collect(await model.do_stream(ASK)) if number == 1 else model.do_generate(ASK))
        if (found.content, found.usage) != (original.content, original.usage):
            faults.append(f"answer {number} is {found!r}")
        for owner in (found, *found.content):
            if isinstance(owner.provider_metadata, dict):
                owner.provider_metadata["x"] = {"n": 1}
    return faults


def _content(row: JsonObject) -> Text | ToolCall:
    if row.get("type") == "text":
        return Text(text=text_in(row, "text"), provider_metadata={"p": {"n": 0}})
    return ToolCall(tool_call_id=text_in(row, "id"), tool_name=text_in(row, "name"), input=str(row.get("input")))
