"""OpenAI's own dialect of the chat API."""

from __future__ import annotations

from onion.providers._chat import ChatDialect
from onion.providers._openai_models import OPENAI_MODELS

OPENAI = ChatDialect(
    name="openai",
    max_tokens_key="max_completion_tokens",
    reasoning_field=None,
    takes_file_urls=False,
    takes_video=False,
    models=OPENAI_MODELS,
)
"""The chat API of OpenAI itself."""
