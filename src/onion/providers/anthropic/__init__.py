"""Anthropic. The module is the provider: ``anthropic.language_model("claude-sonnet-5")``.

`Anthropic` makes one with settings of its own; `tools` has the tools that Anthropic defines. The key is read from
``ANTHROPIC_API_KEY`` and the address from ``ANTHROPIC_BASE_URL`` when a call is made.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, NoReturn

from onion.providers.anthropic import tools
from onion.providers.anthropic.provider import Anthropic
from onion.providers.anthropic.traits import ModelTraits

if TYPE_CHECKING:
    from onion.providers._model import WireModel

__all__ = [
    "Anthropic",
    "ModelTraits",
    "aclose",
    "anthropic",
    "embedding_model",
    "image_model",
    "language_model",
    "messages",
    "tools",
]

anthropic: Anthropic = Anthropic()
"""The provider with settings from the environment alone; the functions of this module are its own."""

messages: Callable[[str], WireModel] = anthropic.messages
language_model: Callable[[str], WireModel] = anthropic.language_model
embedding_model: Callable[[str], NoReturn] = anthropic.embedding_model
image_model: Callable[[str], NoReturn] = anthropic.image_model
aclose: Callable[[], Coroutine[None, None, None]] = anthropic.aclose
