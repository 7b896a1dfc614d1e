"""An agent: the loop's defaults in a bundle, to be asked many times.

You will see an agent that looks up the weather by itself, asked once for a whole answer and once for a stream. It has
no loop of its own; what it does, `generate_text` and `stream_text` do with the same arguments.
"""

import asyncio

from onion import ToolLoopAgent, tool
from onion.testing import ScriptedModel, text, tool_call


@tool
def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"21 degrees in {city}"


async def main() -> None:
    forecaster = ToolLoopAgent(
        model=ScriptedModel(
            [
                tool_call("get_weather", {"city": "Paris"}),
                text("It is warm in Paris."),
                tool_call("get_weather", {"city": "Rome"}),
                text("It is warm in Rome, too."),
            ]
        ),
        instructions="You know the weather. Look it up before you answer.",
        tools=[get_weather],
    )
    result = await forecaster.generate(prompt="How is Paris?")
    print(f"{result.text} ({len(result.steps)} steps)")

    async with forecaster.stream(prompt="How is Rome?") as stream:
        async for part in stream.full_stream:
            print("  ", part.type)
        print(await stream.text)


asyncio.run(main())
