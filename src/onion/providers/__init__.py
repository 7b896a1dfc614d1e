"""Providers: where models come from. Each loads on first use, so that importing this loads no HTTP client."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.providers import anthropic, google, openai
    from onion.providers._http import HTTPClient
    from onion.providers.local import local
    from onion.providers.openai_chat import ChatDialect, openai_compatible

__all__ = ["ChatDialect", "HTTPClient", "anthropic", "google", "local", "openai", "openai_compatible"]

_HOMES = {
    "ChatDialect": "onion.providers.openai_chat",
    "HTTPClient": "onion.providers._http",
    "openai_compatible": "onion.providers.openai_chat",
}
"""Names of this page and the modules that define them."""

_MODULES = frozenset({"anthropic", "google", "local", "openai"})
"""Providers that are modules; ``local`` can be called, too."""


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
