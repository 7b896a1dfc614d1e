"""The twin of a scenario: the same answers, given in the other mode, by replay or collected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.errors import InvalidStreamPartError
from onion.spec import GenerateResult, ResponseInfo, from_json
from onion.streaming import Collector, replay_parts
from tests.conformance.compare import is_list
from tests.conformance.encoding import encode
from tests.conformance.revive import revive
from tests.conformance.scripted import to_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.spec import JsonObject, JsonValue
    from tests.conformance.data import ModelEntry, Record, Scenario

FOR_ONE_MODE = frozenset({"streamAsGenerate", "generateAsStream", "canned", "fallback", "throwIn", "simulateStreaming"})
"""Layers that mean something else in the other mode, on purpose."""

_GENERATED = re.compile(r"approval-[0-9a-f]+|[A-Za-z0-9_-]{43}")
"""Ids and signatures that a run makes up."""


def twin(scenario: Scenario) -> Scenario | None:
    """The scenario in the other mode; None where an answer has no form there, or a layer is for one mode."""
    if scenario["mode"] == "model" or "abort" in scenario["call"]:
        return None
    if any(layer["type"] in FOR_ONE_MODE for layer in scenario.get("middleware", ())):
        return None
    answers = _other_forms(scenario["model"])
    others = {key: _other_forms(entries) for key, entries in scenario.get("models", {}).items()}
    if answers is None or None in others.values():
        return None
    other = scenario.copy()
    other["mode"] = "stream" if scenario["mode"] == "generate" else "generate"
    other["model"] = answers
    other["models"] = {key: entries for key, entries in others.items() if entries is not None}
    return other


def without_generated(record: Record) -> Record:
    """*record* without what two equal runs may differ in: response ids and times, made-up ids by their order."""
    seen: dict[str, str] = {}

    def clean(value: JsonValue) -> JsonValue:
        if is_list(value):
            return [clean(item) for item in value]
        if isinstance(value, Mapping):
            cleaned = {key: clean(member) for key, member in value.items()}
            return {**cleaned, "id": None, "timestamp": None} if "timestamp" in cleaned else cleaned
        if isinstance(value, str) and _GENERATED.fullmatch(value):
            return seen.setdefault(value, f"<generated-id-{len(seen)}>")
        return value

    return {key: clean(member) for key, member in record.items()}


def _other_forms(entries: Sequence[ModelEntry]) -> list[ModelEntry] | None:
    forms = [_other_form(entry) for entry in entries]
    return None if None in forms else [form for form in forms if form is not None]


def _other_form(entry: ModelEntry) -> ModelEntry | None:
    if "generate" in entry:
        return _streamed(from_json(GenerateResult, revive(entry["generate"])))
    if "stream" in entry:
        return _collected(entry["stream"], entry.get("response"))
    return entry


def _streamed(result: GenerateResult) -> ModelEntry:
    parts: list[JsonObject] = [part for part in map(encode, replay_parts(result)) if isinstance(part, dict)]
    if result.response is None or result.response.headers is None:
        return {"stream": parts}
    return {"stream": parts, "response": {"headers": dict(result.response.headers)}}


def _collected(parts: Sequence[JsonObject], response: JsonObject | None) -> ModelEntry | None:
    if not parts or parts[-1]["type"] != "finish" or any(part["type"] in {"error", "$throw", "raw"} for part in parts):
        return None
    collector = Collector()
    try:
        for part in parts:
            collector.feed(to_part(part))
    except InvalidStreamPartError:
        return None
    info = None if response is None else from_json(ResponseInfo, revive(response))
    result = encode(collector.result(response=info))
    return {"generate": result} if isinstance(result, dict) else None
