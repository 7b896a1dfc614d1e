from pathlib import Path

import pytest

from onion.errors import LocalModelError
from onion.providers.local.serving import LocalServer, serve
from onion.providers.local.weights import SMOLLM2
from tests.providers.local.engines import Starter, says


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return path


def test_it_serves_as_long_as_the_block_runs(weights: Path) -> None:
    starter = Starter(says("Hi"))

    with serve(weights, port=8081, api_key="secret", start=starter) as server:
        was_stopped = starter.engine.is_stopped

    assert server == LocalServer(url=starter.engine.url, model_id="tiny", weights=weights)
    assert not was_stopped
    assert starter.engine.is_stopped
    settings = starter.started[0]
    assert (settings.host, settings.port, settings.api_key) == ("127.0.0.1", 8081, "secret")
    assert not settings.is_private
    assert settings.chat_template == ""


def test_it_stops_when_the_block_fails(weights: Path) -> None:
    starter = Starter(says("Hi"))

    with pytest.raises(KeyboardInterrupt), serve(weights, start=starter):
        raise KeyboardInterrupt

    assert starter.engine.is_stopped


def test_the_default_weights_get_a_template_that_knows_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONION_CACHE_DIR", str(tmp_path))
    tmp_path.joinpath(SMOLLM2.file).write_bytes(b"GGUF")
    starter = Starter(says("Hi"))

    with serve(start=starter) as server:
        pass

    assert server.model_id == "smollm2-135m"
    assert "tool_call" in starter.started[0].chat_template


def test_missing_weights_are_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONION_CACHE_DIR", str(tmp_path))
    starter = Starter(says("Hi"))

    with pytest.raises(LocalModelError, match="run `onion local fetch`"), serve(start=starter):
        pass

    assert starter.started == []
