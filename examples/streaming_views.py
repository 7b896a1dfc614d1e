"""Streaming: several views of one run, each complete.

You will see the text as it comes, then every part of the same run, then what the run cost. Views are made before the
first read; the run advances as they are read, and what is awaited drives it to its end.
"""

import asyncio

from onion import is_step_count, stream_text, tool
from onion.testing import ScriptedModel, answer, call, parts


@tool
def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"21 degrees in {city}"


async def main() -> None:
    model = ScriptedModel(
        [
            answer("Let me look. ", call("get_weather", {"city": "Paris"})),
            parts("It ", "is ", "warm."),
        ]
    )

    async with stream_text(
        model=model, prompt="How is the weather in Paris?", tools=[get_weather], stop_when=is_step_count(5)
    ) as result:
        words, everything = result.text_stream, result.full_stream
        async for word in words:
            print(repr(word))
        async for part in everything:
            print("  ", part.type)
        usage = await result.usage
        print(f"{len(await result.steps)} steps, {usage.input_tokens} + {usage.output_tokens} tokens")


asyncio.run(main())
