"""`onion run`: one prompt, one answer, tools in between."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from onion.cli.assistant import Assistant
from onion.cli.loading import load_prompt
from onion.cli.render import Transcript
from onion.spec.json import to_json
from onion.spec.prompt import TextPart, UserMessage

if TYPE_CHECKING:
    from onion.cli.options import Options
    from onion.cli.terminal import Terminal
    from onion.loop import StreamTextResult


def command(options: Options, terminal: Terminal) -> int:
    """Answer the prompt, streamed as text or as JSON lines. What fails raises."""
    question = UserMessage(content=(TextPart(text=load_prompt(options.prompt, terminal.stdin)),))
    assistant = Assistant(options)

    async def answer() -> None:
        await (write_json if options.json else write_text)(assistant.answer((question,)), terminal)

    asyncio.run(answer())
    return 0


async def write_text(result: StreamTextResult[str], terminal: Terminal) -> None:
    """Write a run as it comes, the answer apart from what is told about it.

    Raises:
        Exception: What ended the run.
    """
    transcript = Transcript()
    try:
        async with result:
            async for part in result.full_stream:
                terminal.show(transcript.feed(part))
    finally:
        terminal.show(transcript.end_line())


async def write_json(result: StreamTextResult[str], terminal: Terminal) -> None:
    """Write each part of a run's full stream as one line of JSON.

    Raises:
        Exception: What ended the run.
    """
    async with result:
        async for part in result.full_stream:
            terminal.line(json.dumps(to_json(part)))
