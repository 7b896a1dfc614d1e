"""The first program: ask a model, read the answer and what it cost.

You will see the answer, why the model stopped, and the tokens. A scripted model stands for a real one, so that this
runs anywhere; write ``model="local"`` for the local model, or ``model="openai.chat:gpt-5"`` with a key.
"""

import asyncio

from onion import generate_text
from onion.testing import ScriptedModel, text


async def main() -> None:
    model = ScriptedModel([text("Because the air scatters blue light more than red.")])

    result = await generate_text(model=model, prompt="Why is the sky blue?")

    print(result.text)
    print(f"finished: {result.finish_reason}, {result.usage.input_tokens} + {result.usage.output_tokens} tokens")


asyncio.run(main())
