"""Computer use: Google's functions are calls of one tool of the caller's, and go back under their own names."""

from __future__ import annotations

import pytest

from onion.providers._json import object_in, objects_in
from onion.providers.google import tools
from onion.spec.content import ToolCall
from onion.spec.prompt import (
    AssistantMessage,
    ContentOutput,
    FileData,
    FilePart,
    JsonOutput,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
)
from tests.providers.google.bodies import HELLO, call, collected, play, request, text, whole
from tests.providers.google.test_rounds import MODES, run, sent
from tests.providers.loopback import serve

SCREEN = tools.computer_use(name="screen")
PNG = b"\x89PNG\r\n\x1a\n"
CLICK = call("click_at", {"x": 5, "y": 7}, call_id="c-1", thoughtSignature="sig")


def look(given: dict[str, object]) -> ContentOutput:
    """The page, and a screenshot."""
    shown = FilePart(data=FileData(data=PNG), media_type="image/png")
    return ContentOutput(value=(TextPart(text=f'{{"url": "https://a/{given["action"]}"}}'), shown))


def test_a_function_of_googles_is_a_call_of_the_tool() -> None:
    result = collected(whole(CLICK), params=HELLO.replace(tools=(SCREEN,)))

    assert result.content == (
        ToolCall(
            tool_call_id="c-1",
            tool_name="screen",
            input='{"action":"click_at","x":5,"y":7}',
            provider_metadata={
                "google": {"functionCall": {"id": "c-1", "name": "click_at"}, "thoughtSignature": "sig"}
            },
        ),
    )
    assert result.finish_reason.unified == "tool-calls"


@pytest.mark.parametrize("mode", MODES)
async def test_what_was_done_goes_back_under_the_functions_name(mode: str) -> None:
    screen = tools.computer_use(name="screen", execute=look)
    async with serve(play(whole(CLICK), whole(text("Done.")))) as server:
        steps = await run(server, mode, screen)

    assert [step.text for step in steps] == ["", "Done."]
    assert sent(server, 1, 1) == [CLICK]
    (outcome,) = sent(server, 1, 2)
    response = object_in(outcome, "functionResponse")
    assert (response["id"], response["name"]) == ("c-1", "click_at")
    assert response["response"] == {"url": "https://a/click_at"}
    assert [object_in(part, "inlineData")["mimeType"] for part in objects_in(response, "parts")] == ["image/png"]


@pytest.mark.parametrize(
    ("output", "response"),
    [
        (
            JsonOutput(value={"url": "u", "safety_acknowledgement": "true"}),
            {"url": "u", "safety_acknowledgement": "true"},
        ),
        (JsonOutput(value=["u"]), {"output": ["u"]}),
        (ContentOutput(value=(TextPart(text="no JSON"),)), {"output": "no JSON"}),
        (TextOutput(value="u"), {"output": "u"}),
    ],
)
def test_only_an_object_is_a_response_as_it_is(
    output: JsonOutput | ContentOutput | TextOutput, response: dict[str, object]
) -> None:
    metadata = {"google": {"functionCall": {"name": "navigate"}}}
    made = ToolCallPart(
        tool_call_id="t", tool_name="screen", input={"action": "navigate", "url": "u"}, provider_options=metadata
    )
    given = ToolResultPart(tool_call_id="t", tool_name="screen", output=output)
    history = (*HELLO.prompt, AssistantMessage(content=(made,)), ToolMessage(content=(given,)))

    body = request(HELLO.replace(prompt=history, tools=(SCREEN,))).body

    contents = objects_in(body, "contents")
    assert object_in(objects_in(contents[1], "parts")[0], "functionCall") == {"name": "navigate", "args": {"url": "u"}}
    assert objects_in(contents[2], "parts") == [{"functionResponse": {"name": "navigate", "response": response}}]
