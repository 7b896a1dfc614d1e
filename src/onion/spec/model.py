"""The one protocol. Whatever has these five members is a model; nothing is registered anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from onion.spec.call import CallOptions
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult

SupportedURLs: TypeAlias = Mapping[str, Sequence[re.Pattern[str]]]
"""Media type (or ``*/*``, ``image/*``) to patterns of the URLs that the model fetches itself."""


class LanguageModel(Protocol):
    """Something that answers a prompt, whole or as a stream.

    A failed call raises an `OnionError`. From `do_stream` it raises as long as no content was passed on; later
    failures are one `error` part and a `finish` with reason ``error``.
    """

    @property
    def provider(self) -> str:
        """Who answers, with the wire format: ``openai.chat``."""
        ...

    @property
    def model_id(self) -> str:
        """The provider's name of the model."""
        ...

    @property
    def supported_urls(self) -> SupportedURLs:
        """What the model fetches itself, so that the loop need not download it."""
        ...

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer whole."""
        ...

    async def do_stream(self, params: CallOptions) -> StreamResult:
        """Answer as a stream, which the caller then owns and must close."""
        ...
