"""What goes back of a recorded answer in the request that follows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx

from onion import generate_text, stream_text
from onion.providers._json import count_in, object_in, objects_in, parse_json, text_in
from onion.spec.call import CallOptions
from onion.spec.json import from_json, to_json
from onion.spec.prompt import (
    AssistantMessage,
    Message,
    TextOutput,
    TextPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from tests.recorded.checks import events_of
from tests.recorded.exchanges import leaves, members
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.model import LanguageModel
    from onion.spec.prompt import ToolMessagePart
    from onion.spec.usage import CallWarning
    from tests.recorded.exchanges import Exchange

_MARKS = ("id", "call_id", "signature", "data", "encrypted_content", "thoughtSignature", "thought_signature")

NOT_SENT_BACK = {
    "annotations[[]].*": "save the server from reading a file again",
    "channel": "is said by the field that the text is in",
    "content[[]].logprobs[[]].*": "are no words of the model",
    "executed_tools[[]].*": "have no word in the chat format: a warning says so",
    "functionCall.partialArgs[[]].jsonPath": "is the place that the value then has",
    "*.willContinue": "says that more of the call follows",
    "index": "is the order of the calls",
    "status": "is said of what the server makes",
}
"""What the model said and need not hear, as patterns of paths, and why."""
WARNED_OF = {"pa-groq-web-search-tool-domain-filters-0"}
"""Exchanges after which a warning says what is left out."""
NOT_DECLARED = {"ai-openai-custom-tool-1-s"}
"""Exchanges with a call whose tool is not declared here, and whose input is no object: it goes back without."""

ASK = UserMessage(content=(TextPart(text="hi"),))
GO_ON = UserMessage(content=(TextPart(text="go on"),))


async def next_request(exchange: Exchange, then: JsonObject) -> tuple[JsonValue, Sequence[CallWarning]]:
    """The body of the request after the recorded answer, and the warnings of what it leaves out.

    Args:
        exchange: What the server answers first.
        then: What it answers to the request that follows.
    """
    sent: list[JsonValue] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(parse_json(request.content))
        if len(sent) > 1:
            return httpx.Response(200, json=then)
        return httpx.Response(exchange.status, headers=exchange.headers, content=exchange.raw)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        model = FORMATS[exchange.provider].make_model(client)
        messages = await _added(model, is_stream=exchange.sse is not None)
        added = from_json(tuple[Message, ...], json.loads(json.dumps(to_json(messages))))  # as they are stored
        outcomes = tuple(_outcomes(added))
        prompt = (ASK, *added, *((ToolMessage(content=outcomes),) if outcomes else (GO_ON,)))
        result = await model.do_generate(CallOptions(prompt=prompt))
    return sent[1], result.warnings


async def _added(model: LanguageModel, *, is_stream: bool) -> Sequence[Message]:
    if is_stream:
        return await stream_text(model=model, messages=[ASK], max_retries=0).response_messages
    return (await generate_text(model=model, messages=[ASK], max_retries=0)).response_messages


def _outcomes(messages: Sequence[Message]) -> Iterator[ToolMessagePart]:
    """A result for each call that the client has to run, and a yes to each request for approval."""
    parts = [part for message in messages if isinstance(message, AssistantMessage) for part in message.content]
    answered = {
        part.tool_call_id for message in messages for part in message.content if isinstance(part, ToolResultPart)
    }
    for part in parts:
        if isinstance(part, ToolCallPart) and not part.provider_executed and part.tool_call_id not in answered:
            output = TextOutput(value="done")
            yield ToolResultPart(tool_call_id=part.tool_call_id, tool_name=part.tool_name, output=output)
        elif isinstance(part, ToolApprovalRequestPart):
            yield ToolApprovalResponsePart(approval_id=part.approval_id, approved=True)


def said(exchange: Exchange) -> list[JsonValue]:
    """What the model said, in the words of its format, as it has to go back."""
    if exchange.sse is None:
        chunks = [members(exchange.body)]
    else:
        events = [event.data for event in events_of([exchange.sse]) if event.data != b"[DONE]"]
        chunks = [members(parse_json(data)) for data in events]
    return list(_SAID[exchange.provider](chunks))


def marks(value: JsonValue) -> list[str]:
    """What the server knows its words by, in its order: ids, signatures, and what it encrypted."""
    found = [str(text) for path, text in leaves(_ordered(value)) if path.rpartition(".")[2] in _MARKS and text]
    return list(dict.fromkeys(found))


def _ordered(value: JsonValue) -> JsonValue:
    """*value* with the members of objects by name, for their order says nothing."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


def parsed(value: JsonValue) -> JsonValue:
    """*value* with the arguments of calls parsed: as text they may be written in another way."""
    if isinstance(value, list | tuple):
        return [parsed(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: parsed(member) for key, member in value.items()}
    if isinstance(found.get("arguments"), str):
        found["arguments"] = parse_json(text_in(found, "arguments") or "{}")
    return found


def _of_chat(chunks: Sequence[JsonObject]) -> Iterator[JsonValue]:
    calls: dict[JsonValue, dict[str, JsonValue]] = {}
    for chunk in chunks:
        for choice in objects_in(chunk, "choices"):
            message = dict(object_in(choice, "delta") or object_in(choice, "message"))
            for number, call in enumerate(objects_in(message, "tool_calls")):
                known = calls.setdefault(call.get("index", number), {})
                arguments = text_in(known, "arguments") + text_in(object_in(call, "function"), "arguments")
                told = {**call, **object_in(call, "function"), "function": None, "arguments": arguments}
                known |= {key: found for key, found in told.items() if found not in (None, "")}
            yield {key: found for key, found in message.items() if key != "tool_calls"}
    yield from calls.values()


def _of_responses(chunks: Sequence[JsonObject]) -> Iterator[JsonValue]:
    done = [chunk for chunk in chunks if chunk.get("type") == "response.output_item.done"]
    yield from (
        object_in(chunk, "item") for chunk in sorted(done, key=lambda chunk: count_in(chunk, "output_index") or 0)
    )
    for chunk in chunks:
        yield from objects_in(chunk, "output") if "type" not in chunk else ()


def _of_gemini(chunks: Sequence[JsonObject]) -> Iterator[JsonValue]:
    for chunk in chunks:
        for candidate in objects_in(chunk, "candidates"):
            yield from objects_in(object_in(candidate, "content"), "parts")


def _of_anthropic(chunks: Sequence[JsonObject]) -> Iterator[JsonValue]:
    blocks: dict[JsonValue, dict[str, JsonValue]] = {}
    for chunk in chunks:
        yield from objects_in(chunk, "content")
        yield from objects_in(object_in(chunk, "message"), "content")
        block, delta = object_in(chunk, "content_block"), object_in(chunk, "delta")
        if block:
            blocks[chunk["index"]] = dict(block)
        elif chunk.get("index") in blocks:
            _grow(blocks[chunk["index"]], delta)
    for block in blocks.values():
        written = block.pop("partial_json", "")
        yield {**block, "input": parse_json(written)} if isinstance(written, str) and written else block


def _grow(block: dict[str, JsonValue], delta: JsonObject) -> None:
    for key, found in delta.items():
        if key == "citation":
            block["citations"] = [*objects_in(block, "citations"), found]
        elif key != "type":
            block[key] = text_in(block, key) + found if isinstance(found, str) else found


_SAID = {
    "anthropic": _of_anthropic,
    "gemini": _of_gemini,
    "openai-chat": _of_chat,
    "openai-responses": _of_responses,
}
