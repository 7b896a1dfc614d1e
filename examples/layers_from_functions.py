"""Layers from plain functions, and the order of a stack.

You will see three layers drawn from the outside in, and the order in which they see a call: the first in the list sees
the params first and the answer last.
"""

import asyncio

from onion import GenerateResult, Middleware, explain, generate_text, layer, wrap_language_model
from onion.spec import CallOptions, LanguageModel
from onion.testing import ScriptedModel, text
from onion.wrap import DoGenerate, DoStream, Mode


def announcing(name: str) -> Middleware:
    """A layer that says when a call passes it."""

    async def wrap_generate(
        *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        print(f"{name}: a call with temperature {params.temperature} goes in")
        result = await do_generate()
        print(f"{name}: {result.text!r} comes out")
        return result

    return layer(name=name, modes=("generate",), wrap_generate=wrap_generate)


async def cool_down(*, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
    """Changed params are a copy."""
    return params.replace(temperature=0)


async def main() -> None:
    stack = [announcing("Outer"), layer(name="CoolDown", transform_params=cool_down), announcing("Inner")]
    model = wrap_language_model(ScriptedModel([text("Hello.")]), stack)
    print(explain(model))

    await generate_text(model=model, prompt="Hi", temperature=1)


asyncio.run(main())
