"""Anthropic. The module is the provider: ``anthropic.language_model("claude-sonnet-5")``.

`Anthropic` makes one with settings of its own; `tools` has the tools that Anthropic defines. The key is read from
``ANTHROPIC_API_KEY`` and the address from ``ANTHROPIC_BASE_URL`` when a call is made.
"""

from onion.providers.anthropic import tools
from onion.providers.anthropic.provider import Anthropic
from onion.providers.anthropic.traits import ModelTraits

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

anthropic = Anthropic()
"""The provider with settings from the environment alone; the functions of this module are its own."""

messages = anthropic.messages
language_model = anthropic.language_model
embedding_model = anthropic.embedding_model
image_model = anthropic.image_model
aclose = anthropic.aclose
