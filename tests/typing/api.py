"""The API as users write it. Nothing here runs: pyright and mypy read it; `assert_type` says what they must find."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never, assert_type

import onion
from onion import (
    CallOptions,
    GenerateResult,
    GenerateTextResult,
    LanguageModel,
    LanguageModelUsage,
    Middleware,
    Output,
    StepResult,
    StreamResult,
    StreamTextResult,
    Tool,
    ToolLoopAgent,
    collect,
    explain,
    from_json,
    generate_text,
    has_tool_call,
    is_step_count,
    layer,
    replay,
    stream_text,
    sync,
    to_json,
    tool,
    wrap_language_model,
)
from onion.errors import APICallError, OnionError, RetryError
from onion.middleware import Retry
from onion.spec import (
    Content,
    JsonValue,
    Message,
    PartTransform,
    StreamPart,
    SystemMessage,
    Text,
    TextDelta,
    TextPart,
    ToolCall,
    UserMessage,
)
from onion.testing import (
    CheckReport,
    Lint,
    ModelCheckOptions,
    ScriptedModel,
    check_language_model,
    check_middleware,
    parts,
    text,
)
from onion.wrap import DoGenerate, DoStream, Explanation, WrappedModel

if TYPE_CHECKING:
    import re

    from onion.spec.full_stream import FullStreamPart


@dataclass
class Recipe:
    """What the model is to write."""

    name: str
    steps: list[str]


class EchoModel:
    """A model by the protocol alone: nothing is inherited or registered."""

    provider = "echo"
    model_id = "echo-1"
    supported_urls: Mapping[str, Sequence[re.Pattern[str]]] = {}

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        return text(str(len(params.prompt)))

    async def do_stream(self, params: CallOptions) -> StreamResult:
        return replay(await self.do_generate(params))


class Upper(PartTransform):
    """Capital letters, in both modes."""

    def feed(self, part: StreamPart) -> StreamPart:
        return TextDelta(id=part.id, delta=part.delta.upper()) if isinstance(part, TextDelta) else part


class Shout(Middleware):
    """A user's own layer."""

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        result = await do_generate(params.replace(temperature=0.0))
        assert_type(result, GenerateResult)
        return await collect(replay(result).pipe(Upper))

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return (await do_stream()).pipe(Upper)


@tool
async def weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"{city}: {days} sunny days"


@tool(name="sum")
def add(numbers: list[float]) -> float:
    """The sum of the numbers."""
    return sum(numbers)


def stacks() -> LanguageModel:
    model = wrap_language_model(EchoModel(), [Shout(), Retry(max_retries=3), Lint()], model_id="mine")
    assert_type(model, WrappedModel)
    assert_type(explain(model), Explanation)
    assert_type(weather, Tool)
    assert_type(add, Tool)
    return wrap_language_model(model, layer(wrap_generate=generate_twice, modes=("generate",)))


async def generate_twice(
    *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
) -> GenerateResult:
    del do_stream, model
    await do_generate()
    return await do_generate(params)


async def whole_answers() -> None:
    result = await generate_text(model=stacks(), prompt="hi", tools=[weather, add], stop_when=is_step_count(3))
    assert_type(result, GenerateTextResult[str])
    assert_type(result.text, str)
    assert_type(result.output, str)
    assert_type(result.steps, tuple[StepResult, ...])
    assert_type(result.usage, LanguageModelUsage)

    recipe = await generate_text(model="openai:gpt-5", prompt="a cake", output=Recipe)
    assert_type(recipe.output, Recipe)
    listed = await generate_text(model=stacks(), prompt="cakes", output=Output.array(Recipe))
    assert_type(listed.output, list[Recipe])
    chosen = await generate_text(model=stacks(), prompt="?", output=Output.choice(["yes", "no"]))
    assert_type(chosen.output, str)


async def streams() -> None:
    result = stream_text(
        model=stacks(),
        messages=[SystemMessage(content="be brief"), UserMessage(content=(TextPart(text="hi"),))],
        stop_when=[is_step_count(3), has_tool_call("weather")],
        allow_system_in_messages=True,
    )
    assert_type(result, StreamTextResult[str])
    async with result:
        async for piece in result.text_stream:
            assert_type(piece, str)
    async for part in stream_text(model=stacks(), prompt="hi").full_stream:
        show(part)
    typed = stream_text(model=stacks(), prompt="a cake", output=Recipe)
    assert_type(await typed.output, Recipe)
    assert_type(await typed.text, str)
    assert_type(await typed.steps, tuple[StepResult, ...])


def show(part: FullStreamPart) -> None:
    match part.type:
        case "text-delta":
            assert_type(part.text, str)
        case "tool-call":
            assert_type(part.tool_name, str)
        case "tool-error":
            assert_type(part.error, object)
        case _:
            pass


async def agents() -> None:
    agent = ToolLoopAgent[str, Recipe](model=stacks(), tools=[weather], instructions="cook", output=Recipe)
    assert_type((await agent.generate(prompt="a cake", context="me")).output, Recipe)
    plain = ToolLoopAgent(model=stacks())
    assert_type(plain, ToolLoopAgent[object, str])
    assert_type(await plain.stream(prompt="hi").text, str)


def blocking() -> None:
    assert_type(sync.generate_text(model=stacks(), prompt="hi").text, str)
    for piece in sync.stream_text(model=stacks(), prompt="hi").text_stream:
        assert_type(piece, str)


def values(message: Message, content: Content) -> None:
    match message.role:
        case "system":
            assert_type(message.content, str)
        case "user" | "assistant" | "tool":
            assert_type(len(message.content), int)
        case _:
            assert_never(message)
    if isinstance(content, Text):
        assert_type(content.text, str)
    elif isinstance(content, ToolCall):
        assert_type(content.input, str)
    assert_type(to_json(message), JsonValue)
    assert_type(from_json(UserMessage, {}), UserMessage)


async def failures() -> None:
    try:
        await generate_text(model=stacks(), prompt="hi")
    except APICallError as error:
        assert_type(error.status_code, int | None)
    except RetryError as error:
        assert_type(error.errors, tuple[BaseException, ...])
    except OnionError as error:
        assert_type(error.steps, tuple[StepResult, ...])


async def tests() -> None:
    model = ScriptedModel([text("hi"), parts("h", "i"), ValueError, lambda params: text(str(params.seed))])
    assert_type(model.calls[0].params, CallOptions)
    assert_type(await check_language_model(EchoModel, ModelCheckOptions(strict=True)), CheckReport)
    assert_type(await check_middleware(Shout), CheckReport)


async def own_stream() -> AsyncIterator[StreamPart]:
    yield TextDelta(id="1", delta="a")


def misuse(result: GenerateResult, deltas: TextDelta) -> None:
    result.content = ()  # type: ignore[misc]  # values are frozen
    deltas.delta = "b"  # type: ignore[misc]  # parts are, to a type checker
    CallOptions(())  # type: ignore[call-arg]  # only keywords
    wrap_language_model(object(), [])  # type: ignore[arg-type]  # no model
    onion.generate_text(modell=EchoModel())  # type: ignore[call-overload]  # no such argument
