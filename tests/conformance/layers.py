"""The layers of a scenario: built-in ones by name, scripted ones written here (FORMAT.md, section 6)."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Never

from onion.spec import (
    CallOptions,
    GenerateResult,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamResult,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    from_json,
)
from onion.spec.transform import Outcome, PartTransform
from onion.streaming import collect, replay
from onion.wrap import Middleware, layer
from tests.conformance.built_in import built_in
from tests.conformance.failures import to_exception
from tests.conformance.revive import revive, snake
from tests.conformance.scripted import to_part

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from onion.spec import JsonValue, LanguageModel, StreamPart, SupportedURLs
    from onion.wrap import DoGenerate, DoStream
    from onion.wrap.hooks import Mode
    from tests.conformance.data import MiddlewareData
    from tests.conformance.recorder import Recorder


BLOCK_PARTS = (TextStart, TextDelta, TextEnd, ReasoningStart, ReasoningDelta, ReasoningEnd)


def build_layers(layers: Sequence[MiddlewareData], recorder: Recorder) -> list[Middleware]:
    """The layers, outermost first."""
    return [_layer(data, recorder) for data in layers]


class _ProbeTransform(PartTransform):
    """Tells of the first part of a stream and of its end."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._has_begun = False

    def feed(self, part: StreamPart) -> StreamPart:
        if not self._has_begun:
            self._has_begun = True
            self._note("stream:first")
        return part

    def close(self, outcome: Outcome, error: BaseException | None) -> None:
        if outcome == "finished":
            self._note("stream:end")


class Probe(Middleware):
    """Notes what passes it."""

    def __init__(self, name: str, trace: list[JsonValue]) -> None:
        self._name = name
        self._trace = trace

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        self._note("transform")
        return params

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        self._note("generate:enter")
        try:
            result = await do_generate()
        except BaseException:
            self._note("generate:error")
            raise
        self._note("generate:exit")
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        self._note("stream:enter")
        try:
            stream = await do_stream()
        except BaseException:
            self._note("stream:error")
            raise
        return stream.pipe(lambda: _ProbeTransform(self._note))

    def _note(self, event: str) -> None:
        self._trace.append(f"{self._name}:{event}")


class SetParam(Middleware):
    """Changes params, of one kind of call only if asked."""

    def __init__(self, data: MiddlewareData) -> None:
        self._data = data

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        if self._data.get("only", type) != type:
            return params
        changes = from_json(CallOptions, {"prompt": [], **self._data["params"]})
        return dataclasses.replace(
            params, **{snake(name): getattr(changes, snake(name)) for name in self._data["params"]}
        )


class _AppendToBlocks(PartTransform):
    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...]:
        return (TextDelta(id=part.id, delta=self._suffix), part) if isinstance(part, TextEnd) else part


class AppendText(Middleware):
    """Puts a suffix to every text."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        result = await do_generate()
        content = [
            dataclasses.replace(part, text=part.text + self._suffix) if isinstance(part, Text) else part
            for part in result.content
        ]
        return dataclasses.replace(result, content=tuple(content))

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return (await do_stream()).pipe(lambda: _AppendToBlocks(self._suffix))


class CallTwice(Middleware):
    """Throws the first answer away."""

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        await do_generate()
        return await do_generate()

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        await (await do_stream()).aclose()
        return await do_stream()


class Canned(Middleware):
    """Answers without calling the model."""

    def __init__(self, data: MiddlewareData) -> None:
        self._data = data

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        return from_json(GenerateResult, revive(self._data["generate"]))

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        async def parts() -> AsyncIterator[StreamPart]:
            for part in self._data["stream"]:
                yield to_part(part)

        return StreamResult(parts())


class Fallback(Middleware):
    """Answers in the place of a call that fails."""

    modes = ("generate",)

    def __init__(self, data: MiddlewareData) -> None:
        self._data = data

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        try:
            return await do_generate()
        except Exception:  # noqa: BLE001 - whatever it was, the scenario has an answer
            return from_json(GenerateResult, revive(self._data["generate"]))


class StreamAsGenerate(Middleware):
    """Answers a whole call with a collected stream."""

    modes = ("generate",)

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        return await collect(await do_stream())


class _OwnIds(PartTransform):
    """Numbers the blocks ``g0``, ``g1`` … as the scenarios expect them."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def feed(self, part: StreamPart) -> StreamPart:
        if isinstance(part, BLOCK_PARTS):
            return dataclasses.replace(part, id=self._ids.setdefault(part.id, f"g{len(self._ids)}"))
        return part


class GenerateAsStream(Middleware):
    """Answers a stream call with a replayed whole answer."""

    modes = ("stream",)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        return replay(await do_generate()).pipe(_OwnIds)


class Override(Middleware):
    """Shows other ids; ``{inner}`` stands for the value of the wrapped model."""

    def __init__(self, data: MiddlewareData) -> None:
        self._data = data

    def override_model_id(self, *, model: LanguageModel) -> str:
        return self._data.get("modelId", "{inner}").replace("{inner}", model.model_id)

    def override_provider(self, *, model: LanguageModel) -> str:
        return self._data.get("provider", "{inner}").replace("{inner}", model.provider)

    def override_supported_urls(self, *, model: LanguageModel) -> SupportedURLs:
        if "supportedUrls" not in self._data:
            return model.supported_urls
        return {kind: tuple(map(re.compile, found)) for kind, found in self._data["supportedUrls"].items()}


def _throw_in(data: MiddlewareData) -> Middleware:
    async def fail(**_arguments: object) -> Never:
        raise to_exception(data["error"])

    hook = snake(data["hook"])
    if hook == "transform_params":
        return layer(transform_params=fail)
    return layer(wrap_generate=fail) if hook == "wrap_generate" else layer(wrap_stream=fail)


def _layer(data: MiddlewareData, recorder: Recorder) -> Middleware:
    make = _SCRIPTED.get(data["type"])
    if make is not None:
        return make(data)
    if data["type"] == "probe":
        return Probe(data["name"], recorder.trace)
    return built_in(data)


_SCRIPTED: Mapping[str, Callable[[MiddlewareData], Middleware]] = {
    "appendText": lambda data: AppendText(data["suffix"]),
    "callTwice": lambda _data: CallTwice(),
    "canned": Canned,
    "fallback": Fallback,
    "generateAsStream": lambda _data: GenerateAsStream(),
    "overrideModelId": Override,
    "overrideProvider": Override,
    "overrideSupportedUrls": Override,
    "setParam": SetParam,
    "streamAsGenerate": lambda _data: StreamAsGenerate(),
    "throwIn": _throw_in,
}
