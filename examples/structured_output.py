"""Structured output: an object of your own type, whole or as it grows.

You will see an object grow as it comes, then the object itself, a choice of words, and the error for an answer that
does not fit.
"""

import asyncio
from dataclasses import dataclass

from onion import Output, generate_text, stream_text
from onion.errors import NoObjectGeneratedError
from onion.testing import ScriptedModel, parts, text


@dataclass
class Recipe:
    """A dish and what it takes; a pydantic model or a TypedDict does as well."""

    name: str
    steps: list[str]


async def main() -> None:
    model = ScriptedModel([parts('{"name": "Tea", ', '"steps": ["boil water", ', '"wait"]}')])
    async with stream_text(model=model, prompt="How do I make tea?", output=Recipe) as result:
        async for partial in result.partial_output_stream:
            print(partial)
        print(await result.output)

    mood = await generate_text(
        model=ScriptedModel([text('{"result": "sunny"}')]),
        prompt="Describe the sky in a word.",
        output=Output.choice(["sunny", "rainy"]),
    )
    print(mood.output)

    try:
        await generate_text(model=ScriptedModel([text('{"name": 7}')]), prompt="How do I make tea?", output=Recipe)
    except NoObjectGeneratedError as error:
        print(f"{type(error).__name__}: {error}")


asyncio.run(main())
