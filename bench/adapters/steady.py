"""Models that cost next to nothing, and what they say. Each answer is made anew, as a provider would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onion.spec import GenerateResult, StreamResult
from onion.spec.content import Text, ToolCall
from onion.spec.parts import FinishPart, StreamStart, TextDelta, TextEnd, TextStart
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from onion.spec import CallOptions
    from onion.spec.model import SupportedURLs
    from onion.spec.parts import StreamPart

USAGE: Final = Usage(input_tokens=InputTokens(total=10, no_cache=10), output_tokens=OutputTokens(total=20, text=20))
STOP: Final = FinishReason(unified="stop", raw="stop")
CALLS: Final = FinishReason(unified="tool-calls", raw="tool_calls")


class Steady:
    """Says *text*, whole; as a stream it says *deltas*."""

    def __init__(self, deltas: Iterable[str] = (), *, text: str = "hello") -> None:
        self.provider: str = "bench"
        self.model_id: str = "steady"
        self.supported_urls: SupportedURLs = {}
        self._deltas = deltas
        self._text = text

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer at once."""
        return GenerateResult(content=(Text(text=self._text),), finish_reason=STOP, usage=USAGE)

    async def do_stream(self, params: CallOptions) -> StreamResult:
        """Stream the deltas, without a pause."""
        return StreamResult(self._parts())

    async def _parts(self) -> AsyncGenerator[StreamPart, None]:
        yield StreamStart()
        yield TextStart(id="0")
        for delta in self._deltas:
            yield TextDelta(id="0", delta=delta)
        yield TextEnd(id="0")
        yield FinishPart(finish_reason=STOP, usage=USAGE)


class Calling(Steady):
    """Asks for so many steps of so many calls of the tool ``add``, then is done. Keeps no state: it counts messages."""

    def __init__(self, steps: int, calls: int) -> None:
        super().__init__()
        self._steps = steps
        self._calls = calls

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        """Answer with calls, or with the end."""
        step = len(params.prompt) // 2
        if step == self._steps:
            return GenerateResult(content=(Text(text="done"),), finish_reason=STOP, usage=USAGE)
        calls = tuple(
            ToolCall(tool_call_id=f"c{step}_{number}", tool_name="add", input=f'{{"a":{step},"b":{number}}}')
            for number in range(self._calls)
        )
        return GenerateResult(content=calls, finish_reason=CALLS, usage=USAGE)
