"""An engine that plays a script, and what a test says to a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from onion.spec.call import CallOptions, FunctionTool
from onion.spec.prompt import Prompt, TextPart, UserMessage

if TYPE_CHECKING:
    from onion.providers.local.native import EngineSettings, OnChunk
    from onion.spec.base import JsonObject

Step: TypeAlias = "JsonObject | Exception | Callable[[], object]"
"""A chunk; an exception to raise; something to do or wait for."""

USAGE: JsonObject = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}
ADD = FunctionTool(
    name="add",
    description="Add two numbers.",
    input_schema={
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
)


def ask(text: str) -> Prompt:
    """A prompt of one user message."""
    return (UserMessage(content=(TextPart(text=text),)),)


HELLO = CallOptions(prompt=ask("Say hello."))


def delta(content: str) -> JsonObject:
    """A chunk with text."""
    return {
        "id": "chat-1",
        "created": 1_796_000_000,
        "model": "tiny",
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}],
    }


def finish(reason: str = "stop") -> tuple[JsonObject, JsonObject]:
    """The two chunks that end an answer."""
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": USAGE}


def says(*texts: str, reason: str = "stop") -> tuple[JsonObject, ...]:
    """A whole answer."""
    return (*(delta(text) for text in texts), *finish(reason))


class ScriptedEngine:
    """Plays one answer per call, the last one again and again."""

    def __init__(self, *answers: Sequence[Step]) -> None:
        self.url = "http://127.0.0.1:1"
        self.api_key = "key"
        self.requests: list[JsonObject] = []
        self.is_stopped = False
        self.broken_off = 0
        self.most_at_once = 0
        self._answers = list(answers)
        self._active = 0
        self._lock = threading.Lock()

    @property
    def active(self) -> int:
        """How many calls hold a slot."""
        return self._active

    def complete(self, request: JsonObject, on_chunk: OnChunk) -> None:
        with self._lock:
            self.requests.append(request)
            answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
            self._active += 1
            self.most_at_once = max(self.most_at_once, self._active)
        try:
            for step in answer:
                if self._play(step, on_chunk):
                    self.broken_off += 1
                    return
        finally:
            with self._lock:
                self._active -= 1

    def grammar(self, schema: JsonObject) -> str:
        return f"grammar of {schema}"

    def stop(self) -> None:
        self.is_stopped = True

    def _play(self, step: Step, on_chunk: OnChunk) -> bool:
        if isinstance(step, Exception):
            raise step
        if callable(step):
            step()
            return False
        return on_chunk(step)


class Starter:
    """Starts a scripted engine and counts how often."""

    def __init__(self, *answers: Sequence[Step]) -> None:
        self.started: list[EngineSettings] = []
        self.engine = ScriptedEngine(*answers)

    def __call__(self, settings: EngineSettings) -> ScriptedEngine:
        self.started.append(settings)
        return self.engine
