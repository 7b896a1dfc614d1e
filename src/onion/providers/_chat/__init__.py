"""The wire form of the chat completions API, without I/O: shared by every provider that speaks it.

`to_request` makes a request's body, `to_result` reads a completion, `ChunkReader` the chunks of a stream. What differs
between servers is data, a `ChatDialect`.

The form is that of OpenAI's API reference, "Chat completions", read 2026-11-30, and of the servers that follow it more
or less; unknown members are ignored.
"""

from onion.providers._chat.chunks import ChunkReader
from onion.providers._chat.dialect import ChatDialect
from onion.providers._chat.finish import FINISH_REASONS
from onion.providers._chat.messages import to_messages
from onion.providers._chat.request import ChatRequest, to_request
from onion.providers._chat.result import to_result
from onion.providers._chat.usage import to_usage
from onion.providers._media import sniff
from onion.providers._tooling import input_text, output_text, random_call_id
from onion.providers._traits import SAMPLING, ModelTraits

__all__ = [
    "FINISH_REASONS",
    "SAMPLING",
    "ChatDialect",
    "ChatRequest",
    "ChunkReader",
    "ModelTraits",
    "input_text",
    "output_text",
    "random_call_id",
    "sniff",
    "to_messages",
    "to_request",
    "to_result",
    "to_usage",
]
