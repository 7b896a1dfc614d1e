"""`onion chat`: a conversation, line by line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from onion.cli.assistant import Assistant
from onion.cli.render import Kind, error_text
from onion.cli.run import write_text
from onion.spec.prompt import TextPart, UserMessage

if TYPE_CHECKING:
    from onion.cli.options import Options
    from onion.cli.terminal import Terminal
    from onion.spec.prompt import Message

QUESTION_MARK = "> "


def command(options: Options, terminal: Terminal) -> int:
    """Answer each line of stdin, with what was said before in mind, until stdin ends.

    Ctrl-C stops an answer; at the question mark it leaves. A turn that fails or is stopped is forgotten.

    Returns:
        0, or 1 if the last turn failed.
    """
    assistant = Assistant(options)
    history: tuple[Message, ...] = ()
    exit_code = 0
    # One event loop for the whole conversation, so that connections and the local model stay open.
    with asyncio.Runner() as runner:
        while line := _next_line(terminal):
            if not line.strip():
                continue
            question = UserMessage(content=(TextPart(text=line.strip()),))
            try:
                history = runner.run(_turn(assistant, (*history, question), terminal))
                exit_code = 0
            except KeyboardInterrupt:
                terminal.note("stopped")
            except Exception as error:  # noqa: BLE001 - a turn that fails does not end the conversation
                terminal.note(f"onion: {error_text(error)}", Kind.ERROR)
                exit_code = 1
    return exit_code


async def _turn(assistant: Assistant, messages: tuple[Message, ...], terminal: Terminal) -> tuple[Message, ...]:
    """Answer, and give the conversation with the answer."""
    result = assistant.answer(messages)
    await write_text(result, terminal)
    return (*messages, *await result.response_messages)


def _next_line(terminal: Terminal) -> str:
    """The next line with its end; empty at the end of stdin."""
    if terminal.stdin.isatty():
        terminal.ask(QUESTION_MARK)
    return terminal.stdin.readline()
