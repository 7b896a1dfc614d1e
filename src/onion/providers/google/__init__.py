"""Google. The module is the provider: ``google.language_model("gemini-3-flash")``.

`Google` makes one with settings of its own; `tools` has the tools that Google defines. The key is read from
``GOOGLE_GENERATIVE_AI_API_KEY``, ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY`` when a call is made.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, NoReturn

from onion.providers.google import tools
from onion.providers.google.provider import Google
from onion.providers.google.traits import ModelTraits

if TYPE_CHECKING:
    from onion.providers._model import WireModel

__all__ = ["Google", "ModelTraits", "aclose", "embedding_model", "google", "image_model", "language_model", "tools"]

google: Google = Google()
"""The provider with settings from the environment alone; the functions of this module are its own."""

language_model: Callable[[str], WireModel] = google.language_model
embedding_model: Callable[[str], NoReturn] = google.embedding_model
image_model: Callable[[str], NoReturn] = google.image_model
aclose: Callable[[], Coroutine[None, None, None]] = google.aclose
