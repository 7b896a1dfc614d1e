"""What the Messages API's format leaves out on purpose, and how its recorded exchanges are read."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from onion.providers._model import AnswerDecoder
from onion.providers.anthropic import Anthropic
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.providers.anthropic.result import to_result
from onion.providers.anthropic.traits import ModelTraits
from tests.recorded.checks import CALL, WireFormat

if TYPE_CHECKING:
    import httpx

    from onion.spec.model import LanguageModel

DROPPED = {
    "type": "is the kind of event, or says only that it is a message",
    "role": "is always the assistant",
    "message.type": "says only that it is a message",
    "message.role": "is always the assistant",
    "index": "is the order of the blocks",
    "delta.type": "is said by the kind of part",
    "content_block.type": "is said by the kind of part, and kept where the block goes back",
    "content[[]].type": "is said by the kind of part, and kept where the block goes back",
    "message.content[[]].type": "is said by the kind of part",
    "message.usage.*": "is replaced by the totals that come last, and else kept in the raw usage",
}
"""What is left out on purpose, as patterns of paths, and why."""

CONTEXT = context_of(CALL, ModelTraits())


def _make_model(client: httpx.AsyncClient) -> LanguageModel:
    provider = Anthropic(base_url="http://recorded/v1", api_key="none", http_client=client)
    return provider.language_model("claude-recorded")


def _make_decoder() -> AnswerDecoder:
    numbers = count()
    return AnswerDecoder(EventReader(CONTEXT, generate_id=lambda: f"made-{next(numbers)}"))


ANTHROPIC = WireFormat(
    read=partial(to_result, context=CONTEXT),
    make_decoder=_make_decoder,
    make_model=_make_model,
    dropped=DROPPED,
)
