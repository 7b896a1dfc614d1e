"""Language model calls as an onion: everything is a model, decorated by middleware.

The names that most programs need; each loads its module on first use.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion import errors, middleware, providers, sync, testing
    from onion.agent import ToolLoopAgent
    from onion.errors import OnionError
    from onion.loop import (
        DiskApprovalStore,
        GenerateTextResult,
        MemoryApprovalStore,
        Output,
        StreamTextResult,
        TimeoutLimits,
        Tool,
        ToolOptions,
        dynamic_tool,
        generate_text,
        has_tool_call,
        is_loop_finished,
        is_step_count,
        provider_tool,
        prune_messages,
        stream_text,
        tool,
    )
    from onion.registry import ProviderRegistry, custom_provider, wrap_provider
    from onion.spec import CallOptions, GenerateResult, LanguageModel, StreamResult, from_json, to_json
    from onion.spec.step import LanguageModelUsage, StepResult
    from onion.streaming import collect, replay
    from onion.wrap import Middleware, explain, layer, wrap_language_model

__all__ = [
    "CallOptions",
    "DiskApprovalStore",
    "GenerateResult",
    "GenerateTextResult",
    "LanguageModel",
    "LanguageModelUsage",
    "MemoryApprovalStore",
    "Middleware",
    "OnionError",
    "Output",
    "ProviderRegistry",
    "StepResult",
    "StreamResult",
    "StreamTextResult",
    "TimeoutLimits",
    "Tool",
    "ToolLoopAgent",
    "ToolOptions",
    "collect",
    "custom_provider",
    "dynamic_tool",
    "errors",
    "explain",
    "from_json",
    "generate_text",
    "has_tool_call",
    "is_loop_finished",
    "is_step_count",
    "layer",
    "middleware",
    "provider_tool",
    "providers",
    "prune_messages",
    "replay",
    "stream_text",
    "sync",
    "testing",
    "to_json",
    "tool",
    "wrap_language_model",
    "wrap_provider",
]

_MODULES = {
    "onion.agent": ("ToolLoopAgent",),
    "onion.errors": ("OnionError",),
    "onion.loop": (
        "DiskApprovalStore",
        "GenerateTextResult",
        "MemoryApprovalStore",
        "Output",
        "StreamTextResult",
        "TimeoutLimits",
        "Tool",
        "ToolOptions",
        "dynamic_tool",
        "generate_text",
        "has_tool_call",
        "is_loop_finished",
        "is_step_count",
        "provider_tool",
        "prune_messages",
        "stream_text",
        "tool",
    ),
    "onion.registry": ("ProviderRegistry", "custom_provider", "wrap_provider"),
    "onion.spec": ("CallOptions", "GenerateResult", "LanguageModel", "StreamResult", "from_json", "to_json"),
    "onion.spec.step": ("LanguageModelUsage", "StepResult"),
    "onion.streaming": ("collect", "replay"),
    "onion.wrap": ("Middleware", "explain", "layer", "wrap_language_model"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
_SUBMODULES = ("errors", "middleware", "providers", "sync", "testing")


if not TYPE_CHECKING:  # a checker that saw it would take every misspelled name

    def __getattr__(name: str) -> object:
        if name in _SUBMODULES:
            return importlib.import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found: object = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return __all__
