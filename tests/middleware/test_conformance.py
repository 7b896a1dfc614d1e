"""Every layer that Onion brings passes the check that strangers run on theirs."""

import logging
from collections.abc import Callable, Mapping

import pytest
import structlog

from onion.middleware import (
    SHARED,
    AddToolInputExamples,
    Cache,
    DefaultInstructions,
    DefaultSettings,
    ExtractJSON,
    ExtractReasoning,
    Logging,
    MemoryStore,
    Retry,
    SimulateStreaming,
    ToolCallRepair,
    Tracing,
)
from onion.spec import GenerateResult
from onion.testing import MiddlewareCheckOptions, answer, check_middleware
from onion.testing.samples import ANSWERS
from onion.wrap import Middleware

LAYERS: dict[str, Callable[[], Middleware]] = {
    "AddToolInputExamples": AddToolInputExamples,
    "Cache": lambda: Cache(MemoryStore(), scope=SHARED),
    "DefaultInstructions": lambda: DefaultInstructions("be brief"),
    "DefaultSettings": lambda: DefaultSettings(temperature=0.5),
    "ExtractJSON": ExtractJSON,
    "ExtractReasoning": lambda: ExtractReasoning(tag_name="think"),
    "Logging": lambda: Logging(structlog.wrap_logger(logging.getLogger("check"))),
    "Retry": Retry,
    "SimulateStreaming": SimulateStreaming,
    "ToolCallRepair": ToolCallRepair,
    "Tracing": Tracing,
}
ACTED_ON: dict[str, Mapping[str, GenerateResult]] = {
    "ExtractJSON": {"fenced": answer('```json\n{"a": 1}\n```'), "bare": answer('{"a": 1}')},
    "ExtractReasoning": {"tagged": answer("<think>plan a</think>\n\nAn <b>onion</b>."), "open": answer("<think>plan")},
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_it_keeps_the_contract(name: str) -> None:
    options = MiddlewareCheckOptions(answers={**ANSWERS, **ACTED_ON.get(name, {})})

    report = await check_middleware(LAYERS[name], options)

    assert report.skipped == {}
