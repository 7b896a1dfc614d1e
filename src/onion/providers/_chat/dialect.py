"""How one server's chat API differs from the common form: data, so that a vendor needs no code of its own."""

from __future__ import annotations

from typing import Literal

from onion.providers._traits import ModelTraits, traits_of
from onion.spec.base import value


@value
class ChatDialect:
    """One server's form of the chat API.

    Attributes:
        name: Key of its own settings in provider options and of its own answers in provider metadata.
        max_tokens_key: Name of the limit on output tokens.
        includes_usage: Streams are asked for usage (``stream_options``).
        takes_json_schema: Knows ``response_format: json_schema``; otherwise only ``json_object``.
        reasoning_field: Where reasoning goes back that does not say where it came from; None drops it.
        takes_file_urls: Files other than images may be given by URL.
        takes_video: Knows ``video_url`` parts.
        models: What differs between models.
    """

    name: str
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    includes_usage: bool = True
    takes_json_schema: bool = True
    reasoning_field: str | None = "reasoning_content"
    takes_file_urls: bool = True
    takes_video: bool = True
    models: tuple[ModelTraits, ...] = (ModelTraits(),)

    def traits(self, model_id: str) -> ModelTraits:
        """What is known of *model_id*."""
        return traits_of(model_id, self.models)
