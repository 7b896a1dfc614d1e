from pathlib import Path

import pytest

from onion.errors import LocalModelError
from onion.providers.local.weights import SMOLLM2, cache_folder, find_weights, sha256_of


def test_the_users_own_cache_folder_comes_first() -> None:
    environment = {"ONION_CACHE_DIR": "/somewhere/else", "XDG_CACHE_HOME": "/xdg"}

    assert cache_folder(environment, "linux") == Path("/somewhere/else")


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        pytest.param({}, "linux", Path.home() / ".cache" / "onion", id="linux"),
        pytest.param({"XDG_CACHE_HOME": "/xdg"}, "linux", Path("/xdg/onion"), id="linux with XDG_CACHE_HOME"),
        pytest.param({}, "darwin", Path.home() / "Library" / "Caches" / "onion", id="macOS"),
        pytest.param({"LOCALAPPDATA": "/app"}, "win32", Path("/app/onion/Cache"), id="windows"),
        pytest.param({}, "win32", Path.home() / "AppData" / "Local" / "onion" / "Cache", id="windows without variable"),
    ],
)
def test_each_platform_has_its_cache_folder(environment: dict[str, str], platform: str, expected: Path) -> None:
    assert cache_folder(environment, platform) == expected


@pytest.mark.parametrize("model", [None, "smollm2-135m"])
def test_the_default_weights_are_found_in_the_folder(tmp_path: Path, model: str | None) -> None:
    tmp_path.joinpath(SMOLLM2.file).write_bytes(b"GGUF")

    assert find_weights(model, folder=tmp_path) == (tmp_path / SMOLLM2.file, "smollm2-135m")


def test_missing_weights_name_the_command_that_brings_them(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"the weights of smollm2-135m are not in .*: run `onion local fetch`"):
        find_weights(None, folder=tmp_path)


def test_other_weights_are_named_by_path_and_called_by_their_file_name(tmp_path: Path) -> None:
    other = tmp_path / "tiny.gguf"
    other.write_bytes(b"GGUF and more")

    assert find_weights(other) == (other, "tiny")


def test_a_file_that_is_not_there_is_said_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"there is no weights file .*nowhere\.gguf.*name a \.gguf file"):
        find_weights(str(tmp_path / "nowhere.gguf"))


def test_a_file_in_another_format_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.safetensors"
    other.write_bytes(b"\x00\x01")

    with pytest.raises(LocalModelError, match="not in the GGUF format"):
        find_weights(other)


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abc")

    assert sha256_of(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
