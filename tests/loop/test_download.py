from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import httpx
import pytest

from onion.errors import DownloadError, InvalidArgumentError
from onion.loop.download import MAX_REDIRECTS, Downloaded, Downloader, DownloadRequest, user_agent

if TYPE_CHECKING:
    from onion.loop.addresses import Address

PUBLIC = "93.184.216.34"
PUBLIC_6 = "2606:2800:220:1:248:1893:25c8:1946"
URL = "https://example.test/a.png"

Answer = Callable[[httpx.Request], httpx.Response]


def names(**hosts: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """A resolver that knows these hosts, with dots for underscores, and takes addresses for what they are."""
    known = {name.replace("_", "."): addresses for name, addresses in hosts.items()}

    async def resolve(host: str, _port: int) -> Sequence[str]:
        with contextlib.suppress(ValueError):
            return [str(ipaddress.ip_address(host))]
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "not known")
        return known[host]

    return resolve


def downloader(answer: Answer, *, max_bytes: int = 100, **hosts: Sequence[str]) -> Downloader:
    hosts.setdefault("example_test", [PUBLIC])
    return Downloader(transport=httpx.MockTransport(answer), resolve=names(**hosts), max_bytes=max_bytes)


def wanted(url: str = URL) -> DownloadRequest:
    return DownloadRequest(url=url, media_type="image/*")


async def test_a_file_is_fetched_from_the_address_that_was_checked() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=b"image", headers={"content-type": "image/PNG; charset=x"})

    file = await downloader(answer)(wanted("https://user:secret@example.test:8443/a.png?q=1#part"))

    assert file == Downloaded(data=b"image", media_type="image/png")
    [request] = seen
    assert str(request.url) == f"https://{PUBLIC}:8443/a.png?q=1"
    assert request.headers["host"] == "example.test:8443"
    assert request.extensions["sni_hostname"] == "example.test"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["user-agent"].startswith("onion/")
    assert "authorization" not in request.headers


async def test_a_file_of_which_the_server_says_nothing_is_bytes() -> None:
    file = await downloader(lambda _: httpx.Response(200, stream=httpx.ByteStream(b"x")))(wanted())

    assert file == Downloaded(data=b"x", media_type="application/octet-stream")


async def test_redirects_are_followed_and_each_address_is_checked() -> None:
    seen: list[tuple[str, str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.host, request.headers["host"], request.headers.get("cookie")))
        if request.headers["host"] == "example.test":
            return httpx.Response(302, headers={"location": "//cdn.test/b.png", "set-cookie": "session=1"})
        return httpx.Response(200, content=b"moved")

    file = await downloader(answer, cdn_test=[PUBLIC_6])(wanted())

    assert file.data == b"moved"
    assert seen == [(PUBLIC, "example.test", None), (PUBLIC_6, "cdn.test", None)]


async def test_an_address_that_does_not_answer_is_passed_over() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == PUBLIC_6:
            msg = "unreachable"
            raise httpx.ConnectError(msg)
        return httpx.Response(200, content=b"x")

    file = await downloader(answer, example_test=[PUBLIC_6, PUBLIC])(wanted())

    assert file.data == b"x"


async def test_only_the_allowed_ones_of_several_addresses_are_used() -> None:
    hosts: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return httpx.Response(200)

    await downloader(answer, example_test=["10.0.0.1", PUBLIC])(wanted())

    assert hosts == [PUBLIC]


def unreached(request: httpx.Request) -> httpx.Response:
    pytest.fail(f"{request.url} was reached")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("http://127.0.0.1/a", "is not allowed: '127.0.0.1' is no address of the internet", id="loopback"),
        pytest.param("http://[::1]/a", "is not allowed", id="loopback, IPv6"),
        pytest.param("http://169.254.169.254/latest", "is not allowed", id="link-local"),
        pytest.param("http://inside.test/a", "is not allowed: 'inside.test'", id="a name of a private address"),
        pytest.param("http://unknown.test/a", "the host 'unknown.test' is not known", id="a name of nothing"),
        pytest.param("ftp://example.test/a", "is not a URL of http or https", id="another scheme"),
        pytest.param("file:///etc/passwd", "is not a URL of http or https", id="a file"),
        pytest.param("https:///a", "is not a URL of http or https", id="no host"),
        pytest.param("https://example.test:port/a", "failed with InvalidURL", id="no URL"),
    ],
)
async def test_what_must_not_be_reached_is_not_reached(url: str, message: str) -> None:
    fetch = downloader(unreached, inside_test=["192.168.1.1"])

    with pytest.raises(DownloadError, match=message):
        await fetch(wanted(url))


@pytest.mark.parametrize(
    "location",
    [
        pytest.param("http://127.0.0.1/a", id="to loopback"),
        pytest.param("http://inside.test/a", id="to a name of a private address"),
        pytest.param("file:///etc/passwd", id="to a file"),
        pytest.param("https://example.test:port/", id="to no URL"),
    ],
)
async def test_a_redirect_to_what_must_not_be_reached_is_not_followed(location: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["host"] == "example.test"
        return httpx.Response(301, headers={"location": location})

    with pytest.raises(DownloadError):
        await downloader(answer, inside_test=["10.0.0.1"])(wanted())


class Endless(httpx.AsyncByteStream):
    """A body that never ends; counts what was read of it."""

    def __init__(self) -> None:
        self.read = 0
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.read += 1
            yield b"0123456789"

    async def aclose(self) -> None:
        self.is_closed = True


def status(code: int, headers: Mapping[str, str] | None = None, content: bytes = b"x") -> Answer:
    return lambda _: httpx.Response(code, headers=headers, content=content)


def raising(_request: httpx.Request) -> httpx.Response:
    msg = "cut"
    raise httpx.ReadError(msg)


def refusing(_request: httpx.Request) -> httpx.Response:
    msg = "refused"
    raise httpx.ConnectError(msg)


@pytest.mark.parametrize(
    ("answer", "message", "status_code"),
    [
        pytest.param(status(404), "failed with status 404", 404, id="not found"),
        pytest.param(status(304), "failed with status 304", 304, id="not a file"),
        pytest.param(
            status(200, {"content-length": "101"}), "is larger than 100 bytes", None, id="too large, and says so"
        ),
        pytest.param(status(200, content=b"x" * 101), "is larger than 100 bytes", None, id="too large"),
        pytest.param(
            status(302, {"location": URL}), f"redirected more than {MAX_REDIRECTS} times", None, id="in circles"
        ),
        pytest.param(raising, "failed with ReadError: cut", None, id="cut off"),
        pytest.param(refusing, r"none of its addresses answers \(refused\)", None, id="no connection"),
    ],
)
async def test_a_download_that_fails_says_why(answer: Answer, message: str, status_code: int | None) -> None:
    with pytest.raises(DownloadError, match=message) as caught:
        await downloader(answer)(wanted("https://user:secret@example.test/a.png?token=hidden"))

    assert caught.value.status_code == status_code
    assert caught.value.url == URL
    assert "secret" not in str(caught.value)
    assert "hidden" not in str(caught.value)


async def test_a_compressed_answer_is_refused_because_it_may_be_a_bomb() -> None:
    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"x"))

    with pytest.raises(DownloadError, match="came compressed"):
        await downloader(answer)(wanted())


async def test_a_body_without_end_is_left_at_the_limit() -> None:
    body = Endless()

    with pytest.raises(DownloadError, match="is larger than 100 bytes"):
        await downloader(lambda _: httpx.Response(200, stream=body))(wanted())

    assert body.read == 11
    assert body.is_closed


async def test_a_download_that_takes_too_long_is_given_up() -> None:
    async def stall(_request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    fetch = Downloader(transport=httpx.MockTransport(stall), resolve=names(example_test=[PUBLIC]), timeout_seconds=0.01)

    with pytest.raises(DownloadError, match=r"took more than 0\.01 seconds"):
        await fetch(wanted())


def test_the_user_agent_names_the_version_that_is_installed() -> None:
    assert user_agent().startswith("onion/")
    assert user_agent("no-such-package-is-installed") == "onion"


@pytest.mark.parametrize("name", ["max_bytes", "timeout_seconds"])
def test_limits_must_leave_something(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{name} must be more than 0") as caught:
        Downloader(**{name: 0})  # type: ignore[arg-type]  # one of the two

    assert caught.value.parameter == name


def test_a_downloader_shows_its_limits() -> None:
    assert repr(Downloader(max_bytes=5, timeout_seconds=1.5)) == "Downloader(max_bytes=5, timeout_seconds=1.5)"


async def test_a_real_connection_goes_to_the_checked_address_and_is_closed() -> None:
    requests: list[bytes] = []
    left: list[bytes] = []
    hung_up = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 4\r\n\r\ndata")
        await writer.drain()
        left.append(await reader.read())
        writer.close()
        await writer.wait_closed()
        hung_up.set()

    asked: list[Address] = []

    def is_allowed(address: Address) -> bool:
        asked.append(address)
        return address.is_loopback

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        fetch = Downloader(is_allowed=is_allowed, resolve=names(pictures_test=["127.0.0.1"]))

        file = await fetch(wanted(f"http://pictures.test:{port}/a.png"))
        async with asyncio.timeout(5):
            await hung_up.wait()

    assert file == Downloaded(data=b"data", media_type="image/png")
    assert left == [b""]
    assert asked == [ipaddress.ip_address("127.0.0.1")]
    assert f"host: pictures.test:{port}".encode() in requests[0].lower()
