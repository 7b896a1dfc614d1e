"""What the Gemini API's format leaves out on purpose, and how its recorded exchanges are read."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from onion.providers._model import AnswerDecoder
from onion.providers.google import Google, ModelTraits
from onion.providers.google.chunks import ChunkReader
from onion.providers.google.result import to_result
from onion.providers.google.toolbox import Toolbox
from tests.recorded.checks import CALL, WireFormat

if TYPE_CHECKING:
    import httpx

    from onion.spec.base import JsonValue
    from onion.spec.model import LanguageModel

DROPPED = {
    "candidates[[]].content.role": "is always the model",
    "candidates[[]].index": "is the number of the answer, of which there is one",
    "*.functionCall.willContinue": "says that pieces of the call follow",
    "*.partialArgs[[]].willContinue": "says that more of the text follows",
    "*.partialArgs[[]].jsonPath": "is the place that the value then has",
}
"""What is left out on purpose, as patterns of paths, and why."""

TOOLBOX = Toolbox(CALL.tools, ModelTraits())


def _time(created: JsonValue) -> JsonValue:
    moment = datetime.fromisoformat(str(created))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _make_decoder() -> AnswerDecoder:
    numbers = count()
    return AnswerDecoder(ChunkReader(TOOLBOX, generate_id=lambda: f"made-{next(numbers)}"))


def _make_model(client: httpx.AsyncClient) -> LanguageModel:
    provider = Google(base_url="http://recorded/v1beta", api_key="none", http_client=client)
    return provider.language_model("gemini-recorded")


GEMINI = WireFormat(
    read=partial(to_result, toolbox=TOOLBOX),
    make_decoder=_make_decoder,
    make_model=_make_model,
    dropped=DROPPED,
    written={"createTime": _time},
)
