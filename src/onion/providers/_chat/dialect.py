"""How one server's chat API differs from the common form: data, so that a vendor needs no code of its own."""

from __future__ import annotations

from typing import Literal

from onion.providers._traits import ModelTraits, traits_of
from onion.spec.base import JsonObject, value


@value
class ChatDialect:
    """One server's form of the chat API.

    Attributes:
        name: Key of its own settings in provider options and of its own answers in provider metadata.
        max_tokens_key: Name of the limit on output tokens.
        includes_usage: Streams are asked for usage (``stream_options``).
        takes_json_schema: Knows ``response_format: json_schema``; otherwise only ``json_object``.
        takes_json_object: Knows ``json_object``; otherwise any JSON is asked for with the schema of an object.
        seed_key: Name of the seed.
        takes_top_k: Knows ``top_k``, which OpenAI's API lacks.
        lacks: Wire names of settings that it takes for no model; what single models refuse is in *models*.
        reasoning_off: Members that turn reasoning off, where the level ``none`` does not.
        reasoning_field: Where reasoning goes back that does not say where it came from; None drops it.
        takes_file_urls: Files other than images may be given by URL.
        takes_video: Knows ``video_url`` parts.
        models: What differs between models.
    """

    name: str
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    includes_usage: bool = True
    takes_json_schema: bool = True
    takes_json_object: bool = True
    seed_key: str = "seed"
    takes_top_k: bool = False
    lacks: frozenset[str] = frozenset()
    reasoning_off: JsonObject | None = None
    reasoning_field: str | None = "reasoning_content"
    takes_file_urls: bool = True
    takes_video: bool = True
    models: tuple[ModelTraits, ...] = (ModelTraits(),)

    def traits(self, model_id: str) -> ModelTraits:
        """What is known of *model_id*."""
        return traits_of(model_id, self.models)
