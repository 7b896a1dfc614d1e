import asyncio
from pathlib import Path

import pytest

from onion.providers.local.transfer import TransferError, transfer
from tests.providers.loopback import Connection, answer, serve

CONTENT = bytes(range(256)) * 1000


async def ranges(connection: Connection) -> None:
    """Serve CONTENT as a server does that knows ranges."""
    wanted = connection.request.headers.get("range")
    start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
    if start >= len(CONTENT):
        await answer(b"", status=416)(connection)
    else:
        await answer(CONTENT[start:], status=206 if wanted else 200)(connection)


async def breaking_off(connection: Connection) -> None:
    """Serve the first half and hang up."""
    await connection.head(headers=[("content-length", str(len(CONTENT)))])
    await connection.send(CONTENT[: len(CONTENT) // 2])
    connection.close()


async def test_a_file_is_written_and_its_progress_told(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []

    async with serve(ranges) as server:
        await asyncio.to_thread(transfer, server.url, tmp_path / "file", lambda done, total: told.append((done, total)))

    assert tmp_path.joinpath("file").read_bytes() == CONTENT
    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))


async def test_a_partial_file_is_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "file"
    told: list[tuple[int, int | None]] = []

    async with serve(breaking_off) as server:
        with pytest.raises(TransferError) as caught:
            await asyncio.to_thread(transfer, server.url, file)
    half = file.stat().st_size
    async with serve(ranges) as server:
        await asyncio.to_thread(transfer, server.url, file, lambda done, total: told.append((done, total)))

    assert not caught.value.is_refused
    assert 0 < half < len(CONTENT)
    assert server.received[0].headers["range"] == f"bytes={half}-"
    assert told[0] == (half, len(CONTENT))
    assert file.read_bytes() == CONTENT


async def test_a_server_without_ranges_starts_again(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")

    async with serve(answer(CONTENT)) as server:
        await asyncio.to_thread(transfer, server.url, file)

    assert file.read_bytes() == CONTENT


async def test_a_file_that_is_whole_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(CONTENT)

    async with serve(ranges) as server:
        await asyncio.to_thread(transfer, server.url, file)

    assert file.read_bytes() == CONTENT


async def test_a_body_of_unknown_length_is_taken(tmp_path: Path) -> None:
    async def chunked(connection: Connection) -> None:
        await connection.head(headers=[("transfer-encoding", "chunked")])
        await connection.chunk(CONTENT)
        await connection.chunk(b"")

    told: list[tuple[int, int | None]] = []

    async with serve(chunked) as server:
        await asyncio.to_thread(transfer, server.url, tmp_path / "file", lambda done, total: told.append((done, total)))

    assert told[-1] == (len(CONTENT), None)


async def test_a_server_that_says_no_has_refused(tmp_path: Path) -> None:
    async with serve(answer(b"who are you?", status=401)) as server:
        with pytest.raises(TransferError, match="status 401") as caught:
            await asyncio.to_thread(transfer, server.url, tmp_path / "file")

    assert caught.value.is_refused


async def test_a_server_that_is_not_there_has_refused(tmp_path: Path) -> None:
    async with serve(ranges) as server:
        pass

    with pytest.raises(TransferError, match="ConnectError") as caught:
        await asyncio.to_thread(transfer, server.url, tmp_path / "file")

    assert caught.value.is_refused


def test_a_file_on_this_machine_is_copied(tmp_path: Path) -> None:
    source = tmp_path / "a wheel.whl"
    source.write_bytes(CONTENT)

    transfer(source.as_uri(), tmp_path / "copy")

    assert tmp_path.joinpath("copy").read_bytes() == CONTENT


def test_a_file_that_is_not_there_has_refused(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="there is no file") as caught:
        transfer((tmp_path / "nothing").as_uri(), tmp_path / "copy")

    assert caught.value.is_refused


@pytest.mark.parametrize("name", ["PIP_CERT", "REQUESTS_CA_BUNDLE"])
async def test_certificates_that_pip_trusts_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("no certificate", encoding="ascii")
    monkeypatch.setenv(name, str(bundle))

    async with serve(ranges) as server:
        with pytest.raises(TransferError, match=f"{name}.*bundle.pem"):
            await asyncio.to_thread(transfer, server.url, tmp_path / "file")


async def test_a_bundle_of_certificates_that_is_not_there_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CERT", str(tmp_path / "nothing.pem"))
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)

    async with serve(ranges) as server:
        await asyncio.to_thread(transfer, server.url, tmp_path / "file")

    assert tmp_path.joinpath("file").read_bytes() == CONTENT
