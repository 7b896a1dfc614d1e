"""Tools: a function with types and a docstring is a tool, and the loop runs what the model calls.

You will see tools called at once, what each gives, and the answer that the model makes of it. Tools may be async; plain
ones run in threads. One that raises ends nothing: the model is told.
"""

import asyncio

from onion import generate_text, is_step_count, tool
from onion.spec.tools import TypedToolCall, TypedToolError, TypedToolResult
from onion.testing import ScriptedModel, answer, call, text


@tool
def get_weather(city: str) -> dict[str, object]:
    """Tell the weather in a city.

    Args:
        city: Name of the city.
    """
    return {"city": city, "celsius": 21}


@tool
def count_letters(word: str) -> int:
    """Count the letters of a word."""
    if not word:
        raise ValueError("there is no word to count")
    return len(word)


async def main() -> None:
    model = ScriptedModel(
        [
            answer(
                call("get_weather", {"city": "Paris"}, id="call-1"),
                call("count_letters", {"word": "Paris"}, id="call-2"),
                call("count_letters", {"word": ""}, id="call-3"),
            ),
            text("Paris has five letters and 21 degrees."),
        ]
    )

    result = await generate_text(
        model=model, prompt="Tell me about Paris.", tools=[get_weather, count_letters], stop_when=is_step_count(5)
    )

    for step in result.steps:
        for part in step.content:
            if isinstance(part, TypedToolCall):
                print(f"step {step.step_number} calls {part.tool_name}({part.input})")
            elif isinstance(part, TypedToolResult | TypedToolError):
                outcome = part.output if isinstance(part, TypedToolResult) else repr(part.error)
                print(f"step {step.step_number} gets {outcome}")
    print(result.text)


asyncio.run(main())
