import importlib
from pathlib import Path

import pytest

import onion.providers
from onion.errors import InvalidArgumentError, LocalModelError
from onion.providers.local import LocalModel, local


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return path


def test_a_model_is_made_from_a_file_without_loading_anything(weights: Path) -> None:
    model = local(weights)

    assert repr(model) == "local/tiny"


def test_the_package_can_be_called_like_the_function_whatever_was_imported_before(weights: Path) -> None:
    importlib.import_module("onion.providers.local.weights")

    model = onion.providers.local(weights, slots=2)

    assert isinstance(model, LocalModel)
    assert model.model_id == "tiny"


def test_missing_weights_are_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONION_CACHE_DIR", str(tmp_path))

    with pytest.raises(LocalModelError, match="run `onion local fetch`"):
        local()


def test_settings_that_make_no_sense_are_refused(weights: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="slots must be at least 1, got 0"):
        local(weights, slots=0)
