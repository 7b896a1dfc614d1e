"""What the chat format leaves out on purpose, and how its recorded exchanges are read."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from onion.providers import openai_compatible
from onion.providers._chat import ChunkReader, to_result
from onion.providers._model import AnswerDecoder
from tests.recorded.checks import WireFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from onion.spec.base import JsonValue
    from onion.spec.model import LanguageModel

NAME = "recorded"
MADE = "made-"

DROPPED = {
    "object": "says only that it is a completion",
    "*.role": "is always the assistant",
    "*.index": "is the order of the list",
    "*.tool_calls[[]].type": "is always a function",
    "obfuscation": "is padding",
    "*.delta.channel": "is said by the field that the text is in",
    "*.content[[]].type": "is said by the kind of part",
    "*.content[[]].thinking[[]].type": "is always text",
    "choices[[]].message.thought_signature": "is said again in extra_content",
}
"""What is left out on purpose, as patterns of paths, and why."""


def _time(created: JsonValue) -> JsonValue:
    assert isinstance(created, int)
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


WRITTEN = {"created": _time}
"""What is written in another form, by path."""


def _make_decoder() -> AnswerDecoder:
    numbers: Iterator[int] = iter(range(1000))
    return AnswerDecoder(ChunkReader(NAME, generate_id=lambda: f"{MADE}{next(numbers)}"))


def _make_model(client: httpx.AsyncClient) -> LanguageModel:
    return openai_compatible(base_url="http://recorded/v1", model="m", name=NAME, http_client=client)


OPENAI_CHAT = WireFormat(
    read=partial(to_result, name=NAME),
    make_decoder=_make_decoder,
    make_model=_make_model,
    dropped=DROPPED,
    written=WRITTEN,
)
