"""Asks the model to write a broken tool call again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.middleware.tool_call_repair.checking import mended_call
from onion.spec.call import FunctionTool, ToolChoice
from onion.spec.content import ToolCall
from onion.spec.prompt import TextPart, UserMessage
from onion.spec.usage import InputTokens, OutputTokens, Usage

if TYPE_CHECKING:
    from onion.middleware.tool_call_repair.checking import Problem
    from onion.spec.call import CallOptions, Tool
    from onion.spec.result import GenerateResult

MAX_SHOWN_INPUT = 4_000


class Question:
    """What the model is asked about one broken call.

    Args:
        call: As the model wrote it.
        problem: What is wrong with it.
        params: Of the call that it came from.
        tools: Those that the model was offered, by name.
    """

    def __init__(self, call: ToolCall, problem: Problem, params: CallOptions, tools: Mapping[str, Tool]) -> None:
        self._call = call
        self._problem = problem
        self._params = params
        self._tools = tools
        self._tool = tools.get(call.tool_name)

    def params(self) -> CallOptions:
        """The same prompt and a request to make the call again, with its tool alone, or all if it is unknown."""
        choice = (
            ToolChoice(type="required") if self._tool is None else ToolChoice(type="tool", tool_name=self._tool.name)
        )
        return self._params.replace(
            prompt=(*self._params.prompt, UserMessage(content=(TextPart(text=self._text()),))),
            tools=self._params.tools if self._tool is None else (self._tool,),
            tool_choice=choice,
            response_format=None,
            include_raw_chunks=None,
        )

    def read(self, answer: GenerateResult) -> ToolCall | None:
        """The call that *answer* holds, or one whose input is its text; None if there is neither."""
        for part in answer.content:
            if isinstance(part, ToolCall) and not part.provider_executed:
                return self._mended(part)
        if self._tool is None or not answer.text.strip():
            return None
        return self._mended(replace(self._call, input=answer.text))

    def _mended(self, call: ToolCall) -> ToolCall:
        mended = mended_call(call, self._tools)
        return call if mended is None else mended[0]

    def _text(self) -> str:
        shown = self._call.input[:MAX_SHOWN_INPUT]
        lines = [
            "Your last tool call could not be used. Nothing has run.",
            f"Tool: {self._call.tool_name}",
            f"Input: {shown}",
            f"Problem: {self._problem}",
        ]
        if isinstance(self._tool, FunctionTool):
            lines.append(f"JSON Schema of the input: {json.dumps(self._tool.input_schema, ensure_ascii=False)}")
        lines.append("Make this one call again, with what was meant, and write nothing else.")
        return "\n".join(lines)


def add_usage(base: Usage, more: Iterable[Usage]) -> Usage:
    """*base* and what was used beside it; a figure that nobody gives stays unknown."""
    total = base
    for used in more:
        first, second = total.input_tokens, used.input_tokens
        wrote, added = total.output_tokens, used.output_tokens
        total = Usage(
            input_tokens=InputTokens(
                total=_sum(first.total, second.total),
                no_cache=_sum(first.no_cache, second.no_cache),
                cache_read=_sum(first.cache_read, second.cache_read),
                cache_write=_sum(first.cache_write, second.cache_write),
            ),
            output_tokens=OutputTokens(
                total=_sum(wrote.total, added.total),
                text=_sum(wrote.text, added.text),
                reasoning=_sum(wrote.reasoning, added.reasoning),
            ),
            raw=base.raw,
        )
    return total


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
