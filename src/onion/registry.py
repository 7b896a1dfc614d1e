"""Models by name: ``provider:model`` strings, registries of providers, and providers made of models.

A name is looked up when it is used: importing this module loads no provider, and neither does building a registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from onion.errors import InvalidArgumentError, NoSuchModelError
from onion.wrap import wrap_language_model

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel
    from onion.wrap import Middleware

SEPARATOR = ":"
"""Only the first one separates: model ids may hold more of them."""


class Provider(Protocol):
    """Gives models by id; whatever has these methods is a provider.

    `embedding_model` and `image_model` are reserved: what has no such models raises a NoSuchModelError of that kind.
    """

    def language_model(self, model_id: str, /) -> LanguageModel:
        """The language model of that id."""
        ...

    def embedding_model(self, model_id: str, /) -> object:
        """The embedding model of that id."""
        ...

    def image_model(self, model_id: str, /) -> object:
        """The image model of that id."""
        ...


def resolve_model(model: str | LanguageModel) -> LanguageModel:
    """The model itself, or the one that a string names: ``openai.chat:gpt-5``, ``local:path.gguf``, or ``local`` alone.

    Raises:
        NoSuchModelError: When the string names no provider that comes with Onion, or lacks the model.
        InvalidArgumentError: When it is neither a model nor a string.
    """
    if not isinstance(model, str):
        if _is_model(model):
            return model
        msg = f"a model must be a LanguageModel or a string such as 'openai:gpt-5', got {model!r}"
        raise InvalidArgumentError(msg, parameter="model", value=model)
    name, separator, model_id = model.partition(SEPARATOR)
    make = _BUILT_IN.get(name)
    if make is None or not (model_id or (name in _WITH_DEFAULT and not separator)):
        raise _no_such_model(model, "language model", _BUILT_IN)
    return make(model_id)


def _is_model(model: LanguageModel) -> bool:
    try:
        calls: tuple[object, object] = (model.do_generate, model.do_stream)
    except AttributeError:
        return False
    return all(map(callable, calls)) and not isinstance(model, type)


class ProviderRegistry:
    """Several providers under their names, as one provider whose ids are ``name:model``.

    Args:
        providers: The providers by name.
        separator: What stands between name and model; the first one counts.
        middleware: Layers around every language model that the registry gives, outermost first.

    Raises:
        InvalidArgumentError: For a name that holds the separator, and for an empty separator.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider],
        *,
        separator: str = SEPARATOR,
        middleware: Middleware | Sequence[Middleware] = (),
    ) -> None:
        if not separator:
            raise InvalidArgumentError("separator must not be empty", parameter="separator", value=separator)
        for name in providers:
            if separator in name or not name:
                msg = f"provider name {name!r} is empty or holds the separator {separator!r}: choose another"
                raise InvalidArgumentError(msg, parameter="providers", value=name)
        self._providers = dict(providers)
        self._separator = separator
        self._middleware = middleware

    def language_model(self, model_id: str, /) -> LanguageModel:
        """The language model ``name:model``, in the registry's layers."""
        provider, own_id = self._split(model_id, "language model")
        return _in_layers(provider.language_model(own_id), self._middleware)

    def embedding_model(self, model_id: str, /) -> object:
        """The embedding model ``name:model``."""
        provider, own_id = self._split(model_id, "embedding model")
        return provider.embedding_model(own_id)

    def image_model(self, model_id: str, /) -> object:
        """The image model ``name:model``."""
        provider, own_id = self._split(model_id, "image model")
        return provider.image_model(own_id)

    def _split(self, model_id: str, kind: str) -> tuple[Provider, str]:
        name, _, own_id = model_id.partition(self._separator)
        if name not in self._providers or not own_id:
            raise _no_such_model(model_id, kind, self._providers, separator=self._separator)
        return self._providers[name], own_id


def custom_provider(
    *, language_models: Mapping[str, str | LanguageModel] | None = None, fallback_provider: Provider | None = None
) -> Provider:
    """A provider of the models that are given: aliases, models in layers, a choice of few.

    Args:
        language_models: By id. A string stands for the model that `resolve_model` finds, when it is asked for.
        fallback_provider: Asked for every other id.
    """
    return _CustomProvider(language_models or {}, fallback_provider)


def wrap_provider(provider: Provider, middleware: Middleware | Sequence[Middleware]) -> Provider:
    """The provider with *middleware*, one layer or a list, outermost first, around each of its language models."""
    return _WrappedProvider(provider, middleware)


class _CustomProvider:
    def __init__(self, language_models: Mapping[str, str | LanguageModel], fallback_provider: Provider | None) -> None:
        self._language_models = dict(language_models)
        self._fallback = fallback_provider

    def language_model(self, model_id: str, /) -> LanguageModel:
        found = self._language_models.get(model_id)
        if found is not None:
            return resolve_model(found)
        return self._else(model_id, "language model").language_model(model_id)

    def embedding_model(self, model_id: str, /) -> object:
        return self._else(model_id, "embedding model").embedding_model(model_id)

    def image_model(self, model_id: str, /) -> object:
        return self._else(model_id, "image model").image_model(model_id)

    def _else(self, model_id: str, kind: str) -> Provider:
        if self._fallback is None:
            known = self._language_models if kind == "language model" else {}
            msg = f"this provider has no {kind} {model_id!r}: it has {_listed(known)}"
            raise NoSuchModelError(msg, model_id=model_id, kind=kind)
        return self._fallback


class _WrappedProvider:
    def __init__(self, provider: Provider, middleware: Middleware | Sequence[Middleware]) -> None:
        self._provider = provider
        self._middleware = middleware

    def language_model(self, model_id: str, /) -> LanguageModel:
        return _in_layers(self._provider.language_model(model_id), self._middleware)

    def embedding_model(self, model_id: str, /) -> object:
        return self._provider.embedding_model(model_id)

    def image_model(self, model_id: str, /) -> object:
        return self._provider.image_model(model_id)


def _in_layers(model: LanguageModel, middleware: Middleware | Sequence[Middleware]) -> LanguageModel:
    if isinstance(middleware, Sequence) and not middleware:
        return model
    return wrap_language_model(model, middleware)


def _local(path: str) -> LanguageModel:
    from onion.providers.local import local

    return local(path) if path else local()


def _openai(model_id: str) -> LanguageModel:
    from onion.providers.openai import language_model

    return language_model(model_id)


def _openai_chat(model_id: str) -> LanguageModel:
    from onion.providers.openai import chat

    return chat(model_id)


def _anthropic(model_id: str) -> LanguageModel:
    from onion.providers.anthropic import language_model

    return language_model(model_id)


def _google(model_id: str) -> LanguageModel:
    from onion.providers.google import language_model

    return language_model(model_id)


def _vendor(name: str, model_id: str) -> LanguageModel:
    from onion.providers.openai_chat.presets import PRESETS

    return PRESETS[name].language_model(model_id)


_VENDORS = (
    "azure",
    "cerebras",
    "deepseek",
    "fireworks",
    "groq",
    "llama_cpp",
    "lm_studio",
    "mistral",
    "moonshot",
    "ollama",
    "openrouter",
    "perplexity",
    "together",
    "vllm",
    "xai",
)
"""Vendors of the chat format; their table loads with the first of them."""
_BUILT_IN: Mapping[str, Callable[[str], LanguageModel]] = {
    "anthropic": _anthropic,
    "google": _google,
    "local": _local,
    "openai": _openai,
    "openai.chat": _openai_chat,
    "openai.responses": _openai,
    **{name: partial(_vendor, name) for name in _VENDORS},
}
_WITH_DEFAULT = frozenset({"local"})
"""Providers that know which model is meant when only they are named."""


def _no_such_model(
    model_id: str, kind: str, known: Mapping[str, object], *, separator: str = SEPARATOR
) -> NoSuchModelError:
    msg = f"{model_id!r} names no {kind}: write provider{separator}model, where provider is {_listed(known)}"
    return NoSuchModelError(msg, model_id=model_id, kind=kind)


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names)) or "none"
