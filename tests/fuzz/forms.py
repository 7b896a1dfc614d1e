"""What is fuzzed: every format as the recordings are read, and ways to read one that no recording takes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from onion.providers._model import AnswerDecoder
from onion.providers.anthropic.context import context_of
from onion.providers.anthropic.events import EventReader
from onion.providers.anthropic.result import to_result
from onion.providers.anthropic.traits import ModelTraits
from onion.spec.call import FunctionTool, JsonFormat
from tests.recorded.checks import CALL
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.recorded.checks import WireFormat

_AS_TOOL = context_of(
    CALL.replace(
        response_format=JsonFormat(schema={"type": "object"}),
        tools=(FunctionTool(name="look", input_schema={"type": "object"}),),
        provider_options={"anthropic": {"structuredOutputMode": "jsonTool"}},
    ),
    ModelTraits(),
)
"""The answer is the input of a tool."""


def _decoder_as_tool() -> AnswerDecoder:
    numbers = count()
    return AnswerDecoder(EventReader(_AS_TOOL, generate_id=lambda: f"made-{next(numbers)}"), include_raw=True)


FORMS: Mapping[str, WireFormat] = {
    **FORMATS,
    "anthropic/json-tool": replace(
        FORMATS["anthropic"], read=partial(to_result, context=_AS_TOOL), make_decoder=_decoder_as_tool
    ),
}
"""By name; what stands before the stroke is the format that the answers are of."""
