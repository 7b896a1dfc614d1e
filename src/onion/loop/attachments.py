"""Puts files into a prompt where the model cannot fetch them by their URLs.

What fetches them is `onion.loop.download`, which is loaded when the first file is wanted.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from onion.errors import DownloadError, mask_url
from onion.loop.media import full_media_type
from onion.spec.base import value
from onion.spec.prompt import ContentOutput, FileData, FilePart, FileURL, ToolMessage, ToolResultPart, UserMessage

if TYPE_CHECKING:
    from onion.spec.model import SupportedURLs
    from onion.spec.prompt import Message, Prompt, ToolMessagePart

MAX_AT_ONCE = 8
UNKNOWN = "application/octet-stream"
"""What servers say of files they know nothing of."""


@value
class DownloadRequest:
    """A file that is wanted; `media_type` is what the prompt says it is, and may be a wildcard."""

    url: str
    media_type: str


@value
class Downloaded:
    """A file that was fetched; `media_type` is what the server says it is."""

    data: bytes
    media_type: str = UNKNOWN


Download: TypeAlias = Callable[[DownloadRequest], Awaitable[Downloaded | None]]
"""Fetches a file; None leaves the URL for the model."""

_SHOWING = (UserMessage, ToolMessage)
_Change: TypeAlias = Callable[[FilePart], FilePart]
_Place: TypeAlias = tuple[int, UserMessage | ToolMessage]


class Attachments:
    """The files that a run has downloaded, and where its prompt holds URLs: neither is looked for twice."""

    def __init__(self) -> None:
        self._files: dict[DownloadRequest, Downloaded | None] = {}
        self._scanned: Prompt = ()
        self._places: tuple[_Place, ...] = ()

    def are_in(self, prompt: Prompt) -> bool:
        """Whether *prompt* holds URLs of files."""
        return bool(self._find(prompt))

    async def fill(self, prompt: Prompt, supported_urls: SupportedURLs, download: Download | None = None) -> Prompt:
        """*prompt* with the content of every file whose URL the model does not take.

        Args:
            prompt: Given back as it is if there is nothing to fetch.
            supported_urls: What the model fetches itself.
            download: Fetches one file; without it, a `Downloader`.

        Raises:
            DownloadError: When a file cannot be fetched, or is not what the prompt says it is.
        """
        places = self._find(prompt)
        if not places:
            return prompt
        wanted = {
            request: None
            for _, message in places
            for part in _files(message)
            if (request := _wanted(part, supported_urls)) is not None
        }
        if not wanted:
            return prompt
        await self._fetch([request for request in wanted if request not in self._files], download or _default())

        def change(part: FilePart) -> FilePart:
            request = _wanted(part, supported_urls)
            file = None if request is None else self._files[request]
            return part if request is None or file is None else _filled(part, file, request)

        filled = list(prompt)
        for place, message in places:
            filled[place] = _changed(message, change)
        return tuple(filled)

    def _find(self, prompt: Prompt) -> tuple[_Place, ...]:
        """The messages with URLs; what continues a prompt that was looked through is not looked at again."""
        known = len(self._scanned)
        if prompt[:known] != self._scanned:
            known, self._places = 0, ()
        for index, message in enumerate(prompt[known:], start=known):
            if isinstance(message, _SHOWING) and _has_url(message):
                self._places = (*self._places, (index, message))
        self._scanned = prompt
        return self._places

    async def _fetch(self, requests: list[DownloadRequest], download: Download) -> None:
        permits = asyncio.Semaphore(MAX_AT_ONCE)

        async def fetch(request: DownloadRequest) -> None:
            async with permits:
                self._files[request] = await download(request)

        try:
            async with asyncio.TaskGroup() as group:
                for request in requests:
                    group.create_task(fetch(request))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None


def _default() -> Download:
    from onion.loop.download import Downloader

    return Downloader()


def _wanted(part: FilePart, supported_urls: SupportedURLs) -> DownloadRequest | None:
    """What has to be fetched for the model to see *part*; None if nothing."""
    if not isinstance(part.data, FileURL):
        return None
    url, media_type = part.data.url, part.media_type.lower()
    for kind, patterns in supported_urls.items():
        prefix = "" if kind in {"*", "*/*"} else kind.lower().replace("*", "")
        if media_type.startswith(prefix) and any(pattern.search(url) for pattern in patterns):
            return None
    return DownloadRequest(url=url, media_type=part.media_type)


def _filled(part: FilePart, file: Downloaded, request: DownloadRequest) -> FilePart:
    """*part* with the content of *file*, and with a media type that is no wildcard if that can be helped."""
    declared = request.media_type if "/" in request.media_type else f"{request.media_type}/*"
    top, _, subtype = declared.lower().partition("/")
    media_type = full_media_type(f"{top}/*", file.data)
    if media_type.endswith("*"):  # the bytes do not tell
        media_type = declared if file.media_type == UNKNOWN else file.media_type
    is_of_kind = media_type.startswith(f"{top}/") and (top != "application" or subtype == "*")
    if media_type != declared and top != "*" and not is_of_kind:
        shown = mask_url(request.url)
        msg = f"{shown} is {media_type}, but the prompt says that it is {request.media_type}: correct one of them"
        raise DownloadError(msg, url=request.url)
    media_type = UNKNOWN if media_type == "*/*" else media_type
    return dataclasses.replace(part, media_type=media_type, data=FileData(data=file.data))


def _has_url(message: UserMessage | ToolMessage) -> bool:
    files = _files(message)
    return bool(files) and any(isinstance(part.data, FileURL) for part in files)


def _files(message: UserMessage | ToolMessage) -> list[FilePart]:
    """The files that users and tools show; what the model made itself needs no download."""
    if isinstance(message, UserMessage):
        return [part for part in message.content if isinstance(part, FilePart)]
    shown = [part.output for part in message.content if isinstance(part, ToolResultPart)]
    contents = [output for output in shown if isinstance(output, ContentOutput)]
    return [item for output in contents for item in output.value if isinstance(item, FilePart)]


def _changed(message: UserMessage | ToolMessage, change: _Change) -> Message:
    if isinstance(message, UserMessage):
        shown = tuple(change(part) if isinstance(part, FilePart) else part for part in message.content)
        return dataclasses.replace(message, content=shown)
    return dataclasses.replace(message, content=tuple(_changed_result(part, change) for part in message.content))


def _changed_result(part: ToolMessagePart, change: _Change) -> ToolMessagePart:
    if not isinstance(part, ToolResultPart) or not isinstance(part.output, ContentOutput):
        return part
    items = tuple(change(item) if isinstance(item, FilePart) else item for item in part.output.value)
    return dataclasses.replace(part, output=ContentOutput(value=items))
