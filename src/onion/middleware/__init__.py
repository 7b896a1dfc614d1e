"""The layers, each in its own file. A layer's file is loaded when its name is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.middleware.add_tool_input_examples import AddToolInputExamples
    from onion.middleware.caching import SHARED, Cache
    from onion.middleware.default_instructions import DefaultInstructions
    from onion.middleware.default_settings import DefaultSettings
    from onion.middleware.extract_json import ExtractJSON
    from onion.middleware.extract_reasoning import ExtractReasoning
    from onion.middleware.logging import Logging
    from onion.middleware.retry import Retry
    from onion.middleware.simulate_streaming import SimulateStreaming
    from onion.middleware.smooth_stream import SmoothStream
    from onion.middleware.stores import CacheStore, DiskStore, MemoryStore, RedisStore
    from onion.middleware.tool_call_repair import BrokenToolCall, ToolCallRepair
    from onion.middleware.tracing import Tracing

__all__ = [
    "SHARED",
    "AddToolInputExamples",
    "BrokenToolCall",
    "Cache",
    "CacheStore",
    "DefaultInstructions",
    "DefaultSettings",
    "DiskStore",
    "ExtractJSON",
    "ExtractReasoning",
    "Logging",
    "MemoryStore",
    "RedisStore",
    "Retry",
    "SimulateStreaming",
    "SmoothStream",
    "ToolCallRepair",
    "Tracing",
]

_MODULES = {
    "SHARED": "caching",
    "AddToolInputExamples": "add_tool_input_examples",
    "BrokenToolCall": "tool_call_repair",
    "Cache": "caching",
    "CacheStore": "stores",
    "DefaultInstructions": "default_instructions",
    "DefaultSettings": "default_settings",
    "DiskStore": "stores",
    "ExtractJSON": "extract_json",
    "ExtractReasoning": "extract_reasoning",
    "Logging": "logging",
    "MemoryStore": "stores",
    "RedisStore": "stores",
    "Retry": "retry",
    "SimulateStreaming": "simulate_streaming",
    "SmoothStream": "smooth_stream",
    "ToolCallRepair": "tool_call_repair",
    "Tracing": "tracing",
}


if not TYPE_CHECKING:  # a checker that saw it would take every misspelled name

    def __getattr__(name: str) -> object:
        module = _MODULES.get(name)
        if module is None:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        found: object = getattr(import_module(f"{__name__}.{module}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
