"""Tools: a function with types and a docstring is a tool, and the loop runs what the model calls.

You will see two tools called at once, their results, and the answer that the model makes of them. A tool that raises
ends nothing: the model is told.
"""

import asyncio

from onion import generate_text, is_step_count, tool
from onion.testing import ScriptedModel, answer, call, text


@tool
async def get_weather(city: str) -> dict[str, object]:
    """Tell the weather in a city.

    Args:
        city: Name of the city.
    """
    await asyncio.sleep(0)
    return {"city": city, "celsius": 21}


@tool
def count_letters(word: str) -> int:
    """Count the letters of a word. A plain function runs in a thread, so it may take its time."""
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
            print(f"step {step.step_number}: {part}")
    print(result.text)


asyncio.run(main())
