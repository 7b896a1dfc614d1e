"""Models by name."""

import subprocess
import sys
from pathlib import Path

import pytest

from onion.errors import InvalidArgumentError, NoSuchModelError
from onion.registry import ProviderRegistry, custom_provider, resolve_model, wrap_provider
from onion.spec.model import LanguageModel
from onion.testing import ScriptedModel
from onion.wrap import Middleware, explain, layer


class EchoProvider:
    """A provider by the protocol alone: gives a scripted model for every id."""

    def language_model(self, model_id: str, /) -> LanguageModel:
        return ScriptedModel([], provider="echo", model_id=model_id)

    def embedding_model(self, model_id: str, /) -> object:
        return f"embedding {model_id}"

    def image_model(self, model_id: str, /) -> object:
        return f"image {model_id}"


def called(name: str) -> Middleware:
    """A layer that can be seen in the id of the model."""

    def override(*, model: LanguageModel) -> str:
        return f"{name} {model.model_id}"

    return layer(name=name, override_model_id=override)


def test_a_model_resolves_to_itself() -> None:
    model = ScriptedModel([])

    assert resolve_model(model) is model


@pytest.mark.parametrize(
    "name",
    ["", "gpt-5", "nowhere:model", ":model", "openai", "openai:", "openai.chat", "local:"],
    ids=lambda name: name or "nothing",
)
def test_a_string_that_names_no_model_is_refused_and_the_providers_are_listed(name: str) -> None:
    with pytest.raises(
        NoSuchModelError, match=r"provider:model.* anthropic, .*local, .*openai, openai\.chat"
    ) as caught:
        resolve_model(name)

    assert caught.value.model_id == name
    assert caught.value.kind == "language model"


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai:gpt-5", "openai.responses"),
        ("openai.responses:gpt-5", "openai.responses"),
        ("openai.chat:gpt-5", "openai.chat"),
        ("anthropic:gpt-5", "anthropic.messages"),
        ("google:gpt-5", "google.generative-ai"),
        ("groq:gpt-5", "groq.chat"),
        ("vllm:gpt-5", "vllm.chat"),
    ],
)
def test_a_string_names_provider_and_model(name: str, provider: str) -> None:
    model = resolve_model(name)

    assert model.provider == provider
    assert model.model_id == "gpt-5"


def test_a_string_names_a_file_of_weights_for_the_local_model(tmp_path: Path) -> None:
    weights = tmp_path / "small.gguf"
    weights.write_bytes(b"GGUF and more")

    model = resolve_model(f"local:{weights}")

    assert model.provider == "local"
    assert model.model_id == "small"


def test_only_the_first_colon_separates_provider_and_model() -> None:
    registry = ProviderRegistry({"echo": EchoProvider()})

    model = registry.language_model("echo:family:variant:4")

    assert model.model_id == "family:variant:4"


def test_a_registry_hands_other_kinds_to_the_provider() -> None:
    registry = ProviderRegistry({"echo": EchoProvider()})

    assert registry.embedding_model("echo:one") == "embedding one"
    assert registry.image_model("echo:two") == "image two"


def test_a_registry_takes_another_separator() -> None:
    registry = ProviderRegistry({"echo": EchoProvider()}, separator=" > ")

    assert registry.language_model("echo > a:b").model_id == "a:b"


def test_a_registry_says_which_providers_it_has() -> None:
    registry = ProviderRegistry({"b": EchoProvider(), "a": EchoProvider()})

    with pytest.raises(NoSuchModelError, match=r"'c:x' names no image model.* a, b") as caught:
        registry.image_model("c:x")

    assert caught.value.kind == "image model"


def test_an_empty_registry_says_so() -> None:
    with pytest.raises(NoSuchModelError, match="none"):
        ProviderRegistry({}).language_model("a:b")


def test_a_registry_puts_its_layers_around_every_language_model() -> None:
    registry = ProviderRegistry({"echo": EchoProvider()}, middleware=[called("First"), called("Second")])

    model = registry.language_model("echo:x")

    assert model.model_id == "First Second x"


def test_a_registry_without_layers_gives_the_providers_model_as_it_is() -> None:
    registry = ProviderRegistry({"echo": EchoProvider()})

    assert isinstance(registry.language_model("echo:x"), ScriptedModel)


@pytest.mark.parametrize("name", ["a:b", ""], ids=["separator", "empty"])
def test_a_provider_name_that_could_not_be_found_again_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="provider name"):
        ProviderRegistry({name: EchoProvider()})


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="separator"):
        ProviderRegistry({}, separator="")


def test_registries_nest() -> None:
    inner = ProviderRegistry({"echo": EchoProvider()})
    outer = ProviderRegistry({"inner": inner})

    assert outer.language_model("inner:echo:x").model_id == "x"


def test_a_custom_provider_gives_its_own_models_under_their_ids() -> None:
    small = ScriptedModel([])
    provider = custom_provider(language_models={"small": small})

    assert provider.language_model("small") is small


def test_a_custom_provider_resolves_an_alias_when_it_is_used() -> None:
    provider = custom_provider(language_models={"broken": "nowhere:model"})

    with pytest.raises(NoSuchModelError, match="nowhere:model"):
        provider.language_model("broken")


def test_a_custom_provider_asks_its_fallback_for_what_it_lacks() -> None:
    provider = custom_provider(language_models={"small": ScriptedModel([])}, fallback_provider=EchoProvider())

    assert provider.language_model("large").model_id == "large"
    assert provider.embedding_model("e") == "embedding e"
    assert provider.image_model("i") == "image i"


def test_a_custom_provider_without_fallback_names_kind_and_choice() -> None:
    provider = custom_provider(language_models={"small": ScriptedModel([]), "large": ScriptedModel([])})

    with pytest.raises(NoSuchModelError, match=r"no language model 'huge': it has large, small"):
        provider.language_model("huge")
    with pytest.raises(NoSuchModelError, match=r"no embedding model 'small': it has none") as caught:
        provider.embedding_model("small")
    with pytest.raises(NoSuchModelError, match="no image model"):
        provider.image_model("small")

    assert caught.value.kind == "embedding model"


def test_a_wrapped_provider_puts_a_layer_around_its_language_models_only() -> None:
    provider = wrap_provider(EchoProvider(), called("First"))

    model = provider.language_model("real")

    assert model.model_id == "First real"
    assert [found.name for found in explain(model).layers] == ["First"]
    assert provider.embedding_model("e") == "embedding e"
    assert provider.image_model("i") == "image i"


def test_importing_the_registry_and_failing_to_resolve_loads_no_provider() -> None:
    program = (
        "import sys\n"
        "from onion.registry import resolve_model\n"
        "try: resolve_model('nowhere:model')\n"
        "except Exception: pass\n"
        "print([name for name in sys.modules if name.startswith('onion.providers') or name == 'httpx'])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
