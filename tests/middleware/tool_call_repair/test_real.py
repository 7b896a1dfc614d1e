"""What the real local model writes when nothing holds it to the schema: mended as it stands, or left as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from onion.middleware.tool_call_repair.checking import mended_call, misfit_of, problem_of
from onion.middleware.tool_call_repair.mending import parse
from onion.providers.local import LocalServer, serve
from onion.spec import FunctionTool
from onion.spec.content import ToolCall

pytestmark = [pytest.mark.local, pytest.mark.slow, pytest.mark.timeout(120)]

SEND = FunctionTool(
    name="send_mail",
    input_schema={
        "type": "object",
        "properties": {
            "to": {"type": "array", "items": {"type": "string"}},
            "subject": {"type": "string"},
            "priority": {"type": "integer"},
        },
        "required": ["to", "subject"],
    },
)
TOOLS = {"send_mail": SEND}
BEGUN = (
    '{"to": ["ann@example.com"], "subject": "Lunch"',
    '{"to": "[\\"ann@example.com\\"]", "subject":',
    '```json\n{"to": ["ann@example.com"],',
    "{",
)
SIGNS_OF_STRUCTURE = re.compile(r'```json|[\s\[\]{},:"\\`]')


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with serve(context_tokens=1024, slots=2) as running:
        yield running


async def written_by_the_model(server: LocalServer, begun: str, seed: int, length: int) -> str:
    """What the model makes of the beginning of an input, without a grammar."""
    task = f"Write the JSON input of the tool send_mail: {SEND.input_schema}. Mail Ann about lunch, priority 10."
    prompt = f"<|im_start|>user\n{task}<|im_end|>\n<|im_start|>assistant\n{begun}"
    body = {"prompt": prompt, "max_tokens": length, "temperature": 0.8, "seed": seed, "stop": ["<|im_end|>", "\n\n"]}
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        answer = (await client.post("/v1/completions", json=body)).json()
    return begun + str(answer["choices"][0]["text"])


@pytest.mark.parametrize("begun", BEGUN)
async def test_a_mended_call_says_what_the_model_wrote_and_nothing_else(server: LocalServer, begun: str) -> None:
    inputs = [await written_by_the_model(server, begun, seed, length) for seed in (1, 2) for length in (1, 3, 12, 40)]

    calls = [ToolCall(tool_call_id="c", tool_name="Send-Mail", input=text) for text in inputs]
    mended = [(call, result) for call in calls if (result := mended_call(call, TOOLS)) is not None]

    assert all(problem_of(call, TOOLS) is not None for call in calls)
    for call, (found, _) in mended:
        assert misfit_of(parse(found.input), SEND) is None
        assert SIGNS_OF_STRUCTURE.sub("", found.input) == SIGNS_OF_STRUCTURE.sub("", call.input)
        assert not call.input.rstrip()[-1].isalnum()
