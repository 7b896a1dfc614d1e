"""Servers that speak the chat format: addresses, names of keys, and where their form differs. Data only.

From what the vendors and their users say, as known on 2026-12-01; where it is in doubt, a setting is sent. Read on that
day: xAI's "Reasoning", DeepSeek's "Thinking Mode", and what others say of Cerebras. What is not here is as with
OpenAI; models are not listed, for any id works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from onion.providers._chat import ChatDialect, ModelTraits
from onion.providers.openai_chat.quirks import OPENAI
from onion.providers.openai_chat.wire import PATH
from onion.spec.base import JsonObject, value


@value
class Vendor:
    """One vendor.

    Attributes:
        dialect: How its form differs; its name is the vendor's.
        base_url: What stands before `path`; empty where everybody has an address of their own.
        base_url_variable: Environment variable with the address.
        key_variable: Environment variable with the key; None: a server on one's own machine, which wants none.
        key_header: The header that carries the key.
        path: ``{model}`` in it stands for the id of the model.
        fetches_images: Its servers fetch images by URL; elsewhere they are downloaded and sent along.
    """

    dialect: ChatDialect
    base_url: str = ""
    base_url_variable: str | None = None
    key_variable: str | None = None
    key_header: str = "authorization"
    path: str = PATH
    fetches_images: bool = False


_PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_NOT_WHILE_REASONING = _PENALTIES | {"stop"}
_REASONS_AS_IT_LIKES = ModelTraits(refuses=_NOT_WHILE_REASONING, takes_effort=False)
_THINKING_OFF: JsonObject = {"thinking": {"type": "disabled"}}
_GROK = (
    ModelTraits(refuses=_NOT_WHILE_REASONING, efforts=("low", "medium", "high")),
    ModelTraits(prefix="grok-2", takes_effort=False),
    ModelTraits(prefix="grok-3", takes_effort=False),
    ModelTraits(prefix="grok-3-mini", refuses=_NOT_WHILE_REASONING, efforts=("low", "high")),
    replace(_REASONS_AS_IT_LIKES, prefix="grok-4"),
    ModelTraits(prefix="grok-4.", refuses=_NOT_WHILE_REASONING, efforts=("low", "medium", "high")),
    ModelTraits(prefix="grok-4.3", refuses=_NOT_WHILE_REASONING, efforts=("none", "low", "medium", "high")),
    replace(_REASONS_AS_IT_LIKES, prefix="grok-4.20"),
    replace(_REASONS_AS_IT_LIKES, prefix="grok-code"),
)
"""What xAI's reasoning models refuse, and which take a level ("Reasoning", and the AI SDK, read 2026-12-01)."""

_KNOWN = (
    Vendor(  # Resource and deployment are one's own; "v1 API" of Azure OpenAI, which needs no api-version
        dialect=replace(OPENAI, name="azure", models=(ModelTraits(),)),  # ids are names that the user gave
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        key_variable="AZURE_OPENAI_API_KEY",
        key_header="api-key",
        path="/openai/v1/chat/completions",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(
            name="cerebras",
            max_tokens_key="max_completion_tokens",
            reasoning_field="reasoning",
            takes_file_urls=False,
            takes_video=False,
            lacks=_PENALTIES,  # answered with 400
        ),
        base_url="https://api.cerebras.ai/v1",
        key_variable="CEREBRAS_API_KEY",
    ),
    Vendor(
        dialect=ChatDialect(
            name="deepseek",
            takes_json_schema=False,  # "JSON Output"
            reasoning_off=_THINKING_OFF,  # "Thinking Mode"
            takes_file_urls=False,
            takes_video=False,
            lacks=frozenset({"seed"}),
        ),
        base_url="https://api.deepseek.com",
        key_variable="DEEPSEEK_API_KEY",
    ),
    Vendor(
        dialect=ChatDialect(name="fireworks", takes_top_k=True),
        base_url="https://api.fireworks.ai/inference/v1",
        key_variable="FIREWORKS_API_KEY",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(
            name="groq",
            max_tokens_key="max_completion_tokens",
            reasoning_field="reasoning",
            takes_file_urls=False,
            takes_video=False,
        ),
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(name="llama_cpp", takes_top_k=True, takes_file_urls=False, takes_video=False),
        base_url="http://localhost:8080/v1",
    ),
    Vendor(
        dialect=ChatDialect(
            name="lm_studio",
            takes_json_object=False,  # lmstudio-ai/lmstudio-bug-tracker, issue 189
            takes_top_k=True,
            takes_file_urls=False,
            takes_video=False,
        ),
        base_url="http://localhost:1234/v1",
    ),
    Vendor(
        dialect=ChatDialect(
            name="mistral",
            includes_usage=False,  # comes unasked; members that it does not know are answered with 422
            seed_key="random_seed",
            reasoning_field=None,  # reasoning is a part of the content there, and says so itself
            takes_video=False,
        ),
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(
            name="moonshot",
            max_tokens_key="max_completion_tokens",
            reasoning_off=_THINKING_OFF,
            takes_file_urls=False,
            lacks=frozenset({"seed"}),
        ),
        base_url="https://api.moonshot.ai/v1",
        key_variable="MOONSHOT_API_KEY",
    ),
    Vendor(
        dialect=ChatDialect(name="ollama", reasoning_field="reasoning", takes_file_urls=False, takes_video=False),
        base_url="http://localhost:11434/v1",
    ),
    Vendor(
        dialect=ChatDialect(name="openrouter", reasoning_field="reasoning", takes_top_k=True),
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(
            name="perplexity",
            includes_usage=False,  # each chunk brings it
            takes_json_object=False,  # "Structured outputs"
            reasoning_field=None,
            takes_top_k=True,
            takes_video=False,
            lacks=frozenset({"seed", "stop"}),
        ),
        base_url="https://api.perplexity.ai",
        key_variable="PERPLEXITY_API_KEY",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(name="together", reasoning_field="reasoning", takes_top_k=True, takes_file_urls=False),
        base_url="https://api.together.xyz/v1",
        key_variable="TOGETHER_API_KEY",
        fetches_images=True,
    ),
    Vendor(
        dialect=ChatDialect(name="vllm", reasoning_field="reasoning", takes_top_k=True, takes_file_urls=False),
        base_url="http://localhost:8000/v1",
    ),
    Vendor(
        dialect=ChatDialect(
            name="xai",
            max_tokens_key="max_completion_tokens",
            takes_file_urls=False,
            takes_video=False,
            models=_GROK,
        ),
        base_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        fetches_images=True,
    ),
)

VENDORS: Mapping[str, Vendor] = {known.dialect.name: known for known in _KNOWN}
"""By name."""
