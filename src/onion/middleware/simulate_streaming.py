"""SimulateStreaming: answers a stream with a whole answer, for models that cannot stream.

Goes next to the model; layers between it and the model see whole answers only. The parts come at once, when the whole
answer is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onion.spec.content import Reasoning, Text
from onion.spec.parts import (
    FinishPart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from onion.spec.result import ResponseInfo
from onion.spec.stream import StreamResult
from onion.wrap import Middleware

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from onion.wrap import DoGenerate, DoStream, Mode


def simulated_parts(result: GenerateResult) -> Iterator[StreamPart]:
    """The parts of *result*: one delta per text, blocks numbered from 0.

    A text without characters is left out, unless its metadata say something.
    """
    said = result.response or ResponseInfo()
    yield StreamStart(warnings=result.warnings)
    yield ResponseMetadata(id=said.id, timestamp=said.timestamp, model_id=said.model_id)
    blocks = 0
    for part in result.content:
        if isinstance(part, Text):
            if not part.text and part.provider_metadata is None:
                continue
            yield TextStart(id=str(blocks), provider_metadata=part.provider_metadata)
            if part.text:
                yield TextDelta(id=str(blocks), delta=part.text)
            yield TextEnd(id=str(blocks))
            blocks += 1
        elif isinstance(part, Reasoning):
            yield ReasoningStart(id=str(blocks), provider_metadata=part.provider_metadata)
            if part.text:
                yield ReasoningDelta(id=str(blocks), delta=part.text)
            yield ReasoningEnd(id=str(blocks))
            blocks += 1
        else:
            yield part
    yield FinishPart(
        finish_reason=result.finish_reason,
        usage=result.usage,
        provider_metadata=result.provider_metadata,
        structured_output_text=result.structured_output_text,
    )


class SimulateStreaming(Middleware):
    """Answers a streaming call by asking the model for a whole answer. Nothing that the answer holds is lost."""

    modes: tuple[Mode, ...] = ("stream",)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """A stream of the whole answer. What the call raises is raised here."""
        result = await do_generate()
        return StreamResult(_given(simulated_parts(result)), request=result.request, response=result.response)


async def _given(parts: Iterator[StreamPart]) -> AsyncGenerator[StreamPart, None]:
    for part in parts:
        yield part
