from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest

from onion.errors import DownloadError
from onion.loop.attachments import MAX_AT_ONCE, Attachments, Downloaded, DownloadRequest
from onion.spec import (
    AssistantMessage,
    ContentOutput,
    FileData,
    FilePart,
    FileURL,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalResponsePart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)

if TYPE_CHECKING:
    from onion.spec import Prompt, SupportedURLs, ToolResultOutput

PNG = b"\x89PNG\r\n\x1a\n"
NOWHERE: SupportedURLs = {}


class Web:
    """Answers downloads from a table, and keeps what was asked for."""

    def __init__(self, **pages: Downloaded | None) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def __call__(self, request: DownloadRequest) -> Downloaded | None:
        self.asked.append(request.url)
        name = request.url.rpartition("/")[2]
        if name not in self.pages:
            msg = f"{name} is not there"
            raise LookupError(msg)
        return self.pages[name]


def file(name: str, media_type: str = "image/*") -> FilePart:
    return FilePart(media_type=media_type, data=FileURL(url=f"https://example.test/{name}"), filename=name)


def filled(name: str, media_type: str, data: bytes) -> FilePart:
    return FilePart(media_type=media_type, data=FileData(data=data), filename=name)


def result(output: ToolResultOutput) -> ToolResultPart:
    return ToolResultPart(tool_call_id="c", tool_name="t", output=output)


async def test_files_of_users_and_tools_are_fetched_once_and_put_in_place() -> None:
    web = Web(a=Downloaded(data=PNG, media_type="image/png"), b=Downloaded(data=b"text", media_type="text/csv"))
    inline = filled("i", "text/plain", b"i")
    approval = ToolApprovalResponsePart(approval_id="p", approved=True)
    prompt: Prompt = (
        SystemMessage(content="s"),
        UserMessage(content=(TextPart(text="see"), file("a"), inline, file("a"))),
        AssistantMessage(content=(TextPart(text="ok"),)),
        ToolMessage(
            content=(
                approval,
                result(TextOutput(value="o")),
                result(ContentOutput(value=(TextPart(text="t"), file("b", "text/plain")))),
            )
        ),
    )

    sent = await Attachments().fill(prompt, NOWHERE, web)

    image, text = filled("a", "image/png", PNG), filled("b", "text/csv", b"text")
    assert sent == (
        SystemMessage(content="s"),
        UserMessage(content=(TextPart(text="see"), image, inline, image)),
        AssistantMessage(content=(TextPart(text="ok"),)),
        ToolMessage(
            content=(
                approval,
                result(TextOutput(value="o")),
                result(ContentOutput(value=(TextPart(text="t"), text))),
            )
        ),
    )
    assert sorted(web.asked) == ["https://example.test/a", "https://example.test/b"]


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        pytest.param("*/*", "^https://example", id="any type"),
        pytest.param("*", ".*", id="any type, in short"),
        pytest.param("image/*", ".*", id="a kind"),
        pytest.param("IMAGE/png", ".*", id="exactly"),
    ],
)
async def test_what_the_model_fetches_itself_stays_a_url(kind: str, pattern: str) -> None:
    web = Web()
    prompt: Prompt = (UserMessage(content=(file("a", "image/png"),)),)

    assert await Attachments().fill(prompt, {kind: [re.compile(pattern)]}, web) is prompt
    assert web.asked == []


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        pytest.param("application/pdf", ".*", id="another type"),
        pytest.param("image/*", "^https://other", id="another place"),
    ],
)
async def test_what_the_model_does_not_fetch_is_fetched(kind: str, pattern: str) -> None:
    web = Web(a=Downloaded(data=PNG))
    prompt: Prompt = (UserMessage(content=(file("a", "image/png"),)),)

    sent = await Attachments().fill(prompt, {kind: [re.compile(pattern)]}, web)

    assert sent == (UserMessage(content=(filled("a", "image/png", PNG),)),)


async def test_a_prompt_without_urls_is_given_back_as_it_is() -> None:
    prompt: Prompt = (UserMessage(content=(filled("a", "image/png", PNG),)), ToolMessage(content=()))

    assert await Attachments().fill(prompt, NOWHERE) is prompt


async def test_a_download_that_gives_nothing_leaves_the_url() -> None:
    prompt: Prompt = (UserMessage(content=(file("a"),)),)

    assert await Attachments().fill(prompt, NOWHERE, Web(a=None)) == prompt


async def test_a_run_fetches_each_file_once_however_many_steps_it_has() -> None:
    web = Web(a=Downloaded(data=PNG), b=Downloaded(data=PNG))
    attachments = Attachments()
    first: Prompt = (UserMessage(content=(file("a"),)),)
    second: Prompt = (*first, AssistantMessage(content=(TextPart(text="t"),)), UserMessage(content=(file("b"),)))

    await attachments.fill(first, NOWHERE, web)
    sent = await attachments.fill(second, NOWHERE, web)
    other = await attachments.fill((UserMessage(content=(file("b"),)),), NOWHERE, web)

    assert web.asked == ["https://example.test/a", "https://example.test/b"]
    assert sent[2] == other[0] == UserMessage(content=(filled("b", "image/png", PNG),))


@pytest.mark.parametrize(
    ("declared", "served", "data", "media_type"),
    [
        pytest.param("image/jpeg", "image/jpeg", PNG, "image/png", id="an image is what its bytes say"),
        pytest.param("image/svg+xml", "image/svg+xml", b"<svg/>", "image/svg+xml", id="else what the server says"),
        pytest.param("image/heif", "application/octet-stream", b"", "image/heif", id="else what the prompt says"),
        pytest.param("image", "application/octet-stream", b"?", "image/*", id="a kind, when nobody knows more"),
        pytest.param("*/*", "text/html", b"<p>", "text/html", id="anything, and the server knows"),
        pytest.param(
            "*/*", "application/octet-stream", b"?", "application/octet-stream", id="anything, and nobody knows"
        ),
        pytest.param("application/*", "application/json", b"{}", "application/json", id="a kind, and the server knows"),
        pytest.param("application/pdf", "text/html", b"%PDF-1.7", "application/pdf", id="the bytes against the server"),
        pytest.param("audio/wav", "audio/x-wav", b"?", "audio/x-wav", id="another name of the same kind"),
    ],
)
async def test_a_file_that_was_fetched_has_the_best_media_type_known(
    declared: str, served: str, data: bytes, media_type: str
) -> None:
    web = Web(a=Downloaded(data=data, media_type=served))

    sent = await Attachments().fill((UserMessage(content=(file("a", declared),)),), NOWHERE, web)

    assert sent == (UserMessage(content=(filled("a", media_type, data),)),)


@pytest.mark.parametrize(
    ("declared", "served"),
    [
        pytest.param("image/png", "text/html", id="a page in place of an image"),
        pytest.param("application/pdf", "application/json", id="an account of a failure in place of a document"),
    ],
)
async def test_a_file_that_is_something_else_is_refused(declared: str, served: str) -> None:
    web = Web(a=Downloaded(data=b"<p>", media_type=served))
    prompt: Prompt = (UserMessage(content=(file("a", declared),)),)

    with pytest.raises(DownloadError, match=f"https://example.test/a is {served}, but the prompt says .* {declared}"):
        await Attachments().fill(prompt, NOWHERE, web)


async def test_the_first_failure_is_raised_as_it_is_and_the_others_are_cancelled() -> None:
    ended: list[str] = []

    async def download(request: DownloadRequest) -> Downloaded:
        if request.url.endswith("bad"):
            msg = "gone"
            raise LookupError(msg)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(request.url)
        return Downloaded(data=b"")

    prompt: Prompt = (UserMessage(content=(file("slow"), file("bad"))),)

    with pytest.raises(LookupError, match="gone"):
        await Attachments().fill(prompt, NOWHERE, download)
    assert ended == ["https://example.test/slow"]


async def test_few_files_are_fetched_at_once() -> None:
    running, most = 0, 0

    async def download(_request: DownloadRequest) -> Downloaded:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return Downloaded(data=PNG)

    names = [f"f{number}" for number in range(3 * MAX_AT_ONCE)]
    await Attachments().fill((UserMessage(content=tuple(map(file, names))),), NOWHERE, download)

    assert most == MAX_AT_ONCE


async def test_without_a_download_the_guarded_one_is_used() -> None:
    here = FilePart(media_type="image/*", data=FileURL(url="http://127.0.0.1:1/a.png"))

    with pytest.raises(DownloadError, match=r"'127\.0\.0\.1' is no address of the internet"):
        await Attachments().fill((UserMessage(content=(here,)),), NOWHERE)
