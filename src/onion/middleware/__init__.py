"""The layers, each in its own file. A layer's file is loaded when its name is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.middleware.caching import SHARED, Cache
    from onion.middleware.logging import Logging
    from onion.middleware.retry import Retry
    from onion.middleware.stores import CacheStore, MemoryStore
    from onion.middleware.tool_call_repair import BrokenToolCall, ToolCallRepair

__all__ = ["SHARED", "BrokenToolCall", "Cache", "CacheStore", "Logging", "MemoryStore", "Retry", "ToolCallRepair"]

_MODULES = {
    "SHARED": "caching",
    "BrokenToolCall": "tool_call_repair",
    "Cache": "caching",
    "CacheStore": "stores",
    "Logging": "logging",
    "MemoryStore": "stores",
    "Retry": "retry",
    "ToolCallRepair": "tool_call_repair",
}


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
