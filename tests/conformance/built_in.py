"""The framework's own layers, as scenarios name them (FORMAT.md, section 6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.middleware.add_tool_input_examples import PREFIX, AddToolInputExamples, compact_json
from onion.middleware.default_instructions import DefaultInstructions
from onion.middleware.default_settings import DefaultSettings
from onion.middleware.extract_json import ExtractJSON
from onion.middleware.extract_reasoning import SEPARATOR, ExtractReasoning
from onion.middleware.simulate_streaming import SimulateStreaming
from onion.spec import CallOptions, from_json
from tests.conformance.revive import snake

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.spec import CallChanges, JsonValue, ToolInputExample
    from onion.wrap import Middleware
    from tests.conformance.data import MiddlewareData


def built_in(data: MiddlewareData) -> Middleware:
    """The layer that *data* names."""
    return _BUILT_IN[data["type"]](data)


def _default_settings(data: MiddlewareData) -> Middleware:
    given = from_json(CallOptions, {"prompt": [], **data["settings"]})
    settings: CallChanges = {snake(name): getattr(given, snake(name)) for name in data["settings"]}  # type: ignore[assignment]  # names and values are the scenario's
    return DefaultSettings(**settings)


def _extract_json(data: MiddlewareData) -> Middleware:
    if "replaceAll" not in data:
        return ExtractJSON()
    pairs = data["replaceAll"]

    def replace_all(text: str) -> str:
        for old, new in pairs:
            text = text.replace(old, new)
        return text

    return ExtractJSON(transform=replace_all)


def _add_tool_input_examples(data: MiddlewareData) -> Middleware:
    template = data.get("formatTemplate")

    def fill(example: ToolInputExample, index: int) -> str:
        if template is None:
            return compact_json(example, index)
        compact = json.dumps(example.input, separators=(",", ":"), ensure_ascii=False)
        return template.replace("{index}", str(index)).replace("{json}", compact)

    return AddToolInputExamples(data.get("prefix", PREFIX), format=fill, remove=data.get("remove", True))


def _extract_reasoning(data: MiddlewareData) -> Middleware:
    tag = data["tagName"]
    delimiters: Mapping[str, JsonValue] = tag if isinstance(tag, Mapping) else {}
    return ExtractReasoning(
        None if delimiters else str(tag),
        opening=str(delimiters["opening"]) if delimiters else None,
        closing=str(delimiters["closing"]) if delimiters else None,
        separator=data.get("separator", SEPARATOR),
        start_with_reasoning=data.get("startWithReasoning", False),
    )


_BUILT_IN: dict[str, Callable[[MiddlewareData], Middleware]] = {
    "addToolInputExamples": _add_tool_input_examples,
    "defaultInstructions": lambda data: DefaultInstructions(data["instructions"]),
    "defaultSettings": _default_settings,
    "extractJson": _extract_json,
    "extractReasoning": _extract_reasoning,
    "simulateStreaming": lambda _data: SimulateStreaming(),
}
