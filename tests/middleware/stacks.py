"""What the tests of all layers share: the stack under test, a call, and clocks that do not wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import APICallError
from onion.spec import CallOptions, TextPart, UserMessage
from onion.testing import Lint
from onion.wrap import Middleware, wrap_language_model

if TYPE_CHECKING:
    from onion.spec import LanguageModel, StreamPart

ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="hello"),)),))
RATE_LIMITED = APICallError("slow down", status_code=429)
UNAVAILABLE = APICallError("down", status_code=503)
BAD_REQUEST = APICallError("no such field", status_code=400)


def under_test(model: LanguageModel, *layers: Middleware) -> LanguageModel:
    """*model* behind *layers*, with Lint on both sides: it holds the contract against both neighbours."""
    return wrap_language_model(model, [Lint(), *layers, Lint()])


class FakeSleep:
    """Notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


class OpenStore:
    """A store whose texts a test can read, plant and count."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self.texts.get(key)

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        self.texts[key] = value

    async def delete(self, key: str) -> None:
        self.texts.pop(key, None)

    def __repr__(self) -> str:
        return "OpenStore()"


async def parts_of(model: LanguageModel, params: CallOptions = ASK) -> list[StreamPart]:
    """All parts that *model* streams."""
    async with await model.do_stream(params) as stream:
        return [part async for part in stream]
