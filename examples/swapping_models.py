"""Providers: the same program with another model, by name.

You will see aliases that hide which model answers, layers that come with an alias, and the error for a name that nobody
knows. A string such as ``"openai.chat:gpt-5"`` or ``"local"`` works wherever a model does.
"""

import asyncio

from onion import OnionError, ProviderRegistry, custom_provider, generate_text, layer, wrap_language_model
from onion.spec import CallOptions, LanguageModel
from onion.testing import ScriptedModel, text
from onion.wrap import Mode


async def be_short(*, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
    """Limit the answer, whatever the caller asks for."""
    return params.replace(max_output_tokens=50)


async def main() -> None:
    fast = ScriptedModel([text("Quick and rough.")], model_id="fast-1")
    careful = ScriptedModel([text("Slow and sure.")], model_id="careful-9")
    registry = ProviderRegistry(
        {
            "our": custom_provider(
                language_models={
                    "fast": wrap_language_model(fast, layer(name="BeShort", transform_params=be_short)),
                    "careful": careful,
                }
            )
        }
    )

    for name in ("our:fast", "our:careful", "our:huge"):
        try:
            result = await generate_text(model=registry.language_model(name), prompt="How do you work?")
            print(f"{name} is {result.final_step.model.model_id}: {result.text}")
        except OnionError as error:
            print(f"{name}: {error}")
    print("the fast one was asked for at most", fast.params[0].max_output_tokens, "tokens")


asyncio.run(main())
