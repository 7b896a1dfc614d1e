"""One program under every format: only ``model=`` changes, and what comes out is the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from onion import ProviderRegistry, custom_provider, generate_text, is_step_count, stream_text, tool, wrap_provider
from onion.errors import NoSuchModelError
from onion.middleware import DefaultInstructions, DefaultSettings
from onion.spec.content import Text, ToolCall
from onion.spec.prompt import ToolMessage
from onion.spec.result import GenerateResult
from onion.spec.usage import FinishReason, InputTokens, OutputTokens, Usage
from onion.streaming import replay
from onion.wrap import wrap_language_model
from tests.providers.clients import make_httpx
from tests.providers.formats import FORMATS, Format, both_modes, every_format
from tests.providers.loopback import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel, SupportedURLs
    from onion.spec.step import StepResult
    from onion.spec.stream import StreamResult


class AcmeModel:
    """A third party's model: the five members of the protocol, and nothing of Onion's to inherit from."""

    def __init__(self, model_id: str) -> None:
        self.provider = "acme"
        self.model_id = model_id
        self.supported_urls: SupportedURLs = {}
        self.asked: list[CallOptions] = []

    async def do_generate(self, params: CallOptions) -> GenerateResult:
        self.asked.append(params)
        usage = Usage(input_tokens=InputTokens(total=3), output_tokens=OutputTokens(total=2))
        if isinstance(params.prompt[-1], ToolMessage):
            return GenerateResult(
                content=(Text(text="Hello, world"),), finish_reason=FinishReason(unified="stop"), usage=usage
            )
        call = ToolCall(tool_call_id="c1", tool_name="look", input='{"n":"a"}')
        return GenerateResult(content=(call,), finish_reason=FinishReason(unified="tool-calls"), usage=usage)

    async def do_stream(self, params: CallOptions) -> StreamResult:
        return replay(await self.do_generate(params))


class Acme:
    """A third party's provider, by the protocol alone."""

    def __init__(self) -> None:
        self.made: list[AcmeModel] = []

    def language_model(self, model_id: str, /) -> AcmeModel:
        self.made.append(AcmeModel(model_id))
        return self.made[-1]

    def embedding_model(self, model_id: str, /) -> object:
        raise NoSuchModelError("acme has no embedding models", model_id=model_id, kind="embedding model")

    def image_model(self, model_id: str, /) -> object:
        raise NoSuchModelError("acme has no image models", model_id=model_id, kind="image model")


@dataclass(frozen=True)
class Outcome:
    """What a program sees of a run, without the ids that each server makes up."""

    text: str
    calls: Sequence[Sequence[tuple[str, object]]]
    results: Sequence[Sequence[object]]
    reasons: Sequence[str]
    usage: Sequence[tuple[int | None, int | None]]
    roles: Sequence[str]
    is_fully_told: bool


def look(n: str) -> str:
    """Look something up."""
    return f"seen {n}"


LOOK = tool(look)
EXPECTED = Outcome(
    text="Hello, world",
    calls=[[("look", {"n": "a"})], []],
    results=[["seen a"], []],
    reasons=["tool-calls", "stop"],
    usage=[(3, 2), (3, 2)],
    roles=["assistant", "tool", "assistant"],
    is_fully_told=True,
)


async def program(model: LanguageModel, mode: str) -> Outcome:
    """The program: nothing in it knows who answers."""
    stop = is_step_count(5)
    if mode == "generate":
        whole = await generate_text(model=model, prompt="go", tools=[LOOK], stop_when=stop, max_retries=0)
        return seen(whole.steps, whole.text, [message.role for message in whole.response_messages])
    run = stream_text(model=model, prompt="go", tools=[LOOK], stop_when=stop, max_retries=0)
    text = "".join([piece async for piece in run.text_stream])
    return seen(await run.steps, text, [message.role for message in await run.response_messages])


def seen(steps: Sequence[StepResult], text: str, roles: Sequence[str]) -> Outcome:
    """The outcome of those steps."""
    return Outcome(
        text=text,
        calls=[[(call.tool_name, call.input) for call in step.tool_calls] for step in steps],
        results=[[result.output for result in step.tool_results] for step in steps],
        reasons=[step.finish_reason for step in steps],
        usage=[(step.usage.input_tokens, step.usage.output_tokens) for step in steps],
        roles=roles,
        is_fully_told=all(step.response.id and not step.warnings for step in steps),
    )


@pytest.fixture
async def registry() -> AsyncIterator[ProviderRegistry]:
    """Every format under its name, each at a server of its own that calls the tool and then speaks."""
    async with AsyncExitStack() as opened:
        client = await opened.enter_async_context(make_httpx())

        async def provider_of(form: Format) -> LanguageModel:
            server = await opened.enter_async_context(serve(form.play(steps=("call", "text"))))
            return form.make(server.url, client)

        providers = {
            name: custom_provider(language_models={"m-1": await provider_of(form)}) for name, form in FORMATS.items()
        }
        yield ProviderRegistry({**providers, "acme": Acme()})


@both_modes
@pytest.mark.parametrize("name", [*FORMATS, "acme"])
async def test_the_same_program_has_the_same_outcome_whoever_answers(
    registry: ProviderRegistry, name: str, mode: str
) -> None:
    assert await program(registry.language_model(f"{name}:m-1"), mode) == EXPECTED


@every_format
@both_modes
async def test_layers_of_a_provider_are_around_every_format_alike(form: Format, mode: str) -> None:
    async with serve(form.play(steps=("call", "text"))) as server, make_httpx() as client:
        own = custom_provider(language_models={"m-1": form.make(server.url, client)})
        wrapped = wrap_provider(own, [DefaultInstructions("Be brief."), DefaultSettings(max_output_tokens=77)])

        outcome = await program(wrapped.language_model("m-1"), mode)

    assert outcome == EXPECTED
    assert all(b"Be brief." in request.body and b"77" in request.body for request in server.received)


async def test_a_custom_provider_gives_each_alias_defaults_and_layers_of_its_own() -> None:
    acme = Acme()
    cold = wrap_language_model(acme.language_model("large-2026"), DefaultSettings(temperature=0.0))
    own = custom_provider(
        language_models={"cold": cold, "plain": acme.language_model("large-2026")}, fallback_provider=acme
    )
    registry = ProviderRegistry({"own": own}, middleware=DefaultSettings(seed=7))

    for name in ("cold", "plain", "small-2026"):
        await program(registry.language_model(f"own:{name}"), "generate")

    asked = [(model.model_id, model.asked[0].temperature, model.asked[0].seed) for model in acme.made]
    assert asked == [("large-2026", 0.0, 7), ("large-2026", None, 7), ("small-2026", None, 7)]


def test_what_a_third_party_lacks_it_says_itself() -> None:
    registry = ProviderRegistry({"acme": wrap_provider(Acme(), DefaultSettings(seed=1))})

    with pytest.raises(NoSuchModelError, match="acme has no embedding models"):
        registry.embedding_model("acme:e")
    with pytest.raises(NoSuchModelError, match="acme has no image models"):
        registry.image_model("acme:i")
