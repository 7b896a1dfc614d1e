"""ToolCallRepair: mends tool calls that name no known tool, are no JSON or do not fit the schema.

Goes inside of Cache, so that repaired answers are kept, and outside of Retry, so that asking the model again is
retried. In a stream the input of a call passes as it comes; from the first call that needs repair on, parts wait for
the finish, since its reason decides: a call that the length limit cut off is never repaired.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from onion.errors import InvalidArgumentError, ToolCallRepairError
from onion.middleware.tool_call_repair.asking import Question, add_usage
from onion.middleware.tool_call_repair.checking import Problem, mended_call, problem_of
from onion.spec.base import JSONSchema, value
from onion.spec.call import FunctionTool, RunInfo, Tool
from onion.spec.content import ToolCall
from onion.spec.parts import FinishPart
from onion.spec.prompt import Message, SystemMessage
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.content import Content
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.spec.usage import Usage
    from onion.wrap import DoGenerate, DoStream

MAX_ASKS = 3
MAX_KEPT_INPUT = 2_000
REPAIRABLE = ("stop", "tool-calls")
"""Finish reasons of an answer that is whole."""

Piece = TypeVar("Piece")


@value
class BrokenToolCall:
    """What a repair function is told.

    Attributes:
        tool_call: The call as the model wrote it.
        error: What is wrong with it: a NoSuchToolError or an InvalidToolInputError.
        tools: Those that the model was offered, by name.
        input_schema: Of the tool that the call names, if there is one.
        messages: Those of the step, without instructions.
        instructions: The system prompt.
        run: Which run the call belongs to, if any.
    """

    tool_call: ToolCall
    error: Problem
    tools: Mapping[str, Tool]
    input_schema: JSONSchema | None
    messages: tuple[Message, ...]
    instructions: str | None
    run: RunInfo | None


RepairFunction: TypeAlias = Callable[[BrokenToolCall], "ToolCall | Awaitable[ToolCall | None] | None"]


class ToolCallRepair(Middleware):
    """Mends the tool calls of an answer before anybody else sees them.

    First by itself, where nothing has to be guessed: fences, trailing commas, unclosed brackets, JSON inside of a JSON
    string, a name that differs in case or separators. Then by the function, or else by asking the model. A repaired
    call keeps its id and says in ``provider_metadata["onion"]["toolCallRepair"]`` how it was repaired and what it
    was; one that could not be repaired carries the reason as its `error`. What asking costs is added to the usage.

    Args:
        repair: Given a `BrokenToolCall`, gives the call that was meant, or None to give up. May be async.
        mechanical: Whether the layer mends by itself.
        ask: Whether to ask the model again if there is no function.
        max_asks: How often to ask at most about the calls of one answer.

    Raises:
        InvalidArgumentError: For a number below 0.
    """

    def __init__(
        self,
        repair: RepairFunction | None = None,
        *,
        mechanical: bool = True,
        ask: bool = True,
        max_asks: int = MAX_ASKS,
    ) -> None:
        if max_asks < 0:
            msg = f"max_asks must be at least 0, got {max_asks!r}"
            raise InvalidArgumentError(msg, parameter="max_asks", value=max_asks)
        self.mechanical = mechanical
        self.ask: bool = ask and repair is None
        self.max_asks = max_asks
        self._repair = repair

    def __repr__(self) -> str:
        function = "" if self._repair is None else "repair=…, "
        return f"ToolCallRepair({function}mechanical={self.mechanical}, ask={self.ask})"

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole, with mended calls."""
        result = await do_generate()
        repair = _Repair(self, self._repair, params, do_generate)
        if result.finish_reason.unified not in REPAIRABLE or not any(map(repair.is_broken, result.content)):
            return result
        content: list[Content] = [await repair.mend(part) for part in result.content]
        return replace(result, content=tuple(content), usage=add_usage(result.usage, repair.spent))

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Answer as a stream, with mended calls."""
        stream = await do_stream()
        if not params.tools:
            return stream
        return stream.through(lambda parts: _mended(parts, _Repair(self, self._repair, params, do_generate)))


async def _mended(parts: AsyncIterator[StreamPart], repair: _Repair) -> AsyncGenerator[StreamPart, None]:
    """*parts* as they come; from the first broken call on held back until the finish says whether to mend."""
    held: list[StreamPart] = []
    try:
        async for part in parts:
            if isinstance(part, FinishPart) and held:
                if part.finish_reason.unified in REPAIRABLE:
                    held = [await repair.mend(waiting) for waiting in held]
                    part = replace(part, usage=add_usage(part.usage, repair.spent))  # noqa: PLW2901 - the same finish
                held.append(part)
                break
            if held or repair.is_broken(part):
                held.append(part)
            else:
                yield part
    except Exception:
        for part in held:
            yield part
        raise
    for part in held:
        yield part


class _Repair:
    """The repair of one answer.

    Attributes:
        spent: What asking the model used.
    """

    def __init__(
        self, layer: ToolCallRepair, function: RepairFunction | None, params: CallOptions, do_generate: DoGenerate
    ) -> None:
        self._layer = layer
        self._function = function
        self._params = params
        self._do_generate = do_generate
        self._tools: dict[str, Tool] = {tool.name: tool for tool in params.tools or ()}
        self._asks_left = layer.max_asks if layer.ask else 0
        self.spent: list[Usage] = []

    def is_broken(self, part: object) -> bool:
        """Whether *part* is a call that needs repair."""
        return self._problem(part) is not None

    def _problem(self, part: object) -> Problem | None:
        if not isinstance(part, ToolCall) or part.provider_executed or part.error is not None or not self._tools:
            return None
        if part.dynamic and part.tool_name not in self._tools:
            return None
        return problem_of(part, self._tools)

    async def mend(self, part: Piece) -> Piece | ToolCall:
        """*part*, or the repaired call; one that cannot be repaired carries the reason."""
        problem = self._problem(part)
        if not isinstance(part, ToolCall) or problem is None:
            return part
        if self._layer.mechanical:
            mended = mended_call(part, self._tools)
            if mended is not None:
                found, steps = mended
                return _said(part, found, by="mechanical", steps=steps)
        if self._function is not None:
            return await self._by_function(self._function, part, problem)
        if self._asks_left > 0:
            self._asks_left -= 1
            return await self._by_asking(part, problem)
        return replace(part, error=problem)

    async def _by_function(self, function: RepairFunction, call: ToolCall, problem: Problem) -> ToolCall:
        broken = BrokenToolCall(
            tool_call=call,
            error=problem,
            tools=self._tools,
            input_schema=tool.input_schema
            if isinstance(tool := self._tools.get(call.tool_name), FunctionTool)
            else None,
            messages=_messages(self._params),
            instructions=_instructions(self._params),
            run=self._params.run,
        )
        try:
            answer = function(broken)
            found = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - the call carries it
            return _failed(call, problem, error)
        return replace(call, error=problem) if found is None else self._checked(call, found, by="function")

    async def _by_asking(self, call: ToolCall, problem: Problem) -> ToolCall:
        question = Question(call, problem, self._params, self._tools)
        try:
            answer = await self._do_generate(question.params())
        except Exception as error:  # noqa: BLE001 - the call carries it
            return _failed(call, problem, error)
        self.spent.append(answer.usage)
        found = question.read(answer)
        return replace(call, error=problem) if found is None else self._checked(call, found, by="model")

    def _checked(self, call: ToolCall, found: ToolCall, *, by: str) -> ToolCall:
        """The call that *found* stands for, if it is a good one; it is not repaired again."""
        problem = problem_of(found, self._tools)
        return _said(call, found, by=by) if problem is None else replace(call, error=problem)


def _said(call: ToolCall, found: ToolCall, *, by: str, steps: Sequence[str] = ()) -> ToolCall:
    """*call* with name and input of *found*, saying how that came about."""
    said: dict[str, JsonValue] = {"by": by, "toolName": call.tool_name, "input": call.input[:MAX_KEPT_INPUT]}
    if steps:
        said["steps"] = list(steps)
    metadata = call.provider_metadata or {}
    ours = {**metadata.get("onion", {}), "toolCallRepair": said}
    return replace(call, tool_name=found.tool_name, input=found.input, provider_metadata={**metadata, "onion": ours})


def _failed(call: ToolCall, problem: Problem, cause: Exception) -> ToolCall:
    msg = f"repairing the call of {call.tool_name!r} failed: {type(cause).__name__}: {cause}"
    error = ToolCallRepairError(msg, original_error=problem)
    error.__cause__ = cause
    return replace(call, error=error)


def _messages(params: CallOptions) -> tuple[Message, ...]:
    if params.run is not None:
        return params.run.messages
    return tuple(message for message in params.prompt if not isinstance(message, SystemMessage))


def _instructions(params: CallOptions) -> str | None:
    texts = [message.content for message in params.prompt if isinstance(message, SystemMessage)]
    return "\n\n".join(texts) if texts else None
