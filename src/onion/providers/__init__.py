"""Providers: where models come from. Each loads on first use, so that importing this loads no HTTP client."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.providers import anthropic, google, openai
    from onion.providers._http import HTTPClient
    from onion.providers._model import Address
    from onion.providers.local import local
    from onion.providers.openai_chat import ChatDialect, openai_compatible
    from onion.providers.openai_chat.presets import (
        azure,
        azure_resource,
        cerebras,
        deepseek,
        fireworks,
        groq,
        llama_cpp,
        lm_studio,
        mistral,
        moonshot,
        ollama,
        openrouter,
        perplexity,
        together,
        vendor,
        vllm,
        xai,
    )

__all__ = [
    "Address",
    "ChatDialect",
    "HTTPClient",
    "anthropic",
    "azure",
    "azure_resource",
    "cerebras",
    "deepseek",
    "fireworks",
    "google",
    "groq",
    "llama_cpp",
    "lm_studio",
    "local",
    "mistral",
    "moonshot",
    "ollama",
    "openai",
    "openai_compatible",
    "openrouter",
    "perplexity",
    "together",
    "vendor",
    "vllm",
    "xai",
]

_HOMES = {
    "Address": "onion.providers._model",
    "ChatDialect": "onion.providers.openai_chat",
    "HTTPClient": "onion.providers._http",
    "openai_compatible": "onion.providers.openai_chat",
    "azure": "onion.providers.openai_chat.presets",
    "azure_resource": "onion.providers.openai_chat.presets",
    "cerebras": "onion.providers.openai_chat.presets",
    "deepseek": "onion.providers.openai_chat.presets",
    "fireworks": "onion.providers.openai_chat.presets",
    "groq": "onion.providers.openai_chat.presets",
    "llama_cpp": "onion.providers.openai_chat.presets",
    "lm_studio": "onion.providers.openai_chat.presets",
    "mistral": "onion.providers.openai_chat.presets",
    "moonshot": "onion.providers.openai_chat.presets",
    "ollama": "onion.providers.openai_chat.presets",
    "openrouter": "onion.providers.openai_chat.presets",
    "perplexity": "onion.providers.openai_chat.presets",
    "together": "onion.providers.openai_chat.presets",
    "vendor": "onion.providers.openai_chat.presets",
    "vllm": "onion.providers.openai_chat.presets",
    "xai": "onion.providers.openai_chat.presets",
}
"""Names of this page and the modules that define them."""

_MODULES = frozenset({"anthropic", "google", "local", "openai"})
"""Providers that are modules; ``local`` can be called, too."""


if not TYPE_CHECKING:  # a checker that saw it would take every misspelled name

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
