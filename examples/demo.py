"""The demo that `make demo` runs: a real model behind an onion of four layers, on your own processor, without a key.

You will see the weights being fetched (once, 93 MB), the onion as a drawing, a question that takes two steps with a
tool call in between, streamed as it comes, the same again from the cache, and what `onion explain` says.
"""

import asyncio
import contextlib
import sys
import time
from pathlib import Path

from onion import LanguageModel, explain, is_step_count, stream_text, tool, wrap_language_model
from onion.cli.main import main as onion
from onion.cli.render import Kind, Transcript
from onion.cli.terminal import Terminal
from onion.loop import StepOverrides, StepPreparation
from onion.middleware import SHARED, Cache, DefaultSettings, Logging, MemoryStore, Retry
from onion.providers.local import local

QUESTION = "What is the weather in Paris?"
STEPS = 2


class Screen:
    """Shows a run, and takes the events of the Logging layer: all it needs is these two methods."""

    def __init__(self) -> None:
        self.terminal = Terminal(stderr=sys.stdout)
        self.transcript = Transcript()
        self.cache_hits = 0

    def info(self, event: str, /, **fields: object) -> None:
        """Show an event of a call with what matters here."""
        shown = [f"{name}={fields[name]}" for name in ("mode", "attempt", "cache_hit", "duration_ms") if name in fields]
        self.cache_hits += fields.get("cache_hit") is True
        self.terminal.show(self.transcript.end_line())
        self.terminal.note(f"   log: {event} ({', '.join(shown)})", Kind.FIGURES)

    def error(self, event: str, /, **fields: object) -> None:
        """Show the event of a call that failed."""
        self.terminal.note(f"   log: {event} ({fields.get('error_message')})", Kind.ERROR)

    def title(self, text: str) -> None:
        """Begin a part of the demo."""
        self.terminal.line(f"\n--- {text}")


screen = Screen()


@tool
def get_weather(city: str) -> str:
    """Get the current weather in a city."""
    return f"sunny, 21 degrees Celsius in {city}"


def build_model() -> LanguageModel:
    """The local model in four layers, outermost first. A cache hit never gets to Retry, nor to the model."""
    return wrap_language_model(
        local(),
        [
            Logging(screen),
            DefaultSettings(temperature=0, max_output_tokens=60),
            Cache(MemoryStore(), scope=SHARED),
            Retry(max_retries=2),
        ],
    )


def call_then_answer(preparation: StepPreparation) -> StepOverrides:
    """Make the little model call a tool in the first step, and give it none in the second: it needs to be told."""
    if preparation.step_number == 0:
        return {"tool_choice": {"type": "tool", "tool_name": "get_weather"}}
    return {"active_tools": ()}


async def ask(model: LanguageModel) -> tuple[float, int]:
    """Ask and show what happens; the seconds it took, and how often a tool was called."""
    screen.transcript = Transcript()
    start = time.perf_counter()
    async with stream_text(
        model=model,
        prompt=QUESTION,
        tools=[get_weather],
        prepare_step=call_then_answer,
        stop_when=is_step_count(STEPS),
    ) as result:
        async for part in result.full_stream:
            screen.terminal.show(screen.transcript.feed(part))
    return time.perf_counter() - start, len(await result.tool_calls)


async def show() -> bool:
    """Ask twice; whether a tool was called, and both steps of the second time came from the cache."""
    model = build_model()
    screen.title("The onion: layers around a model are a model")
    screen.terminal.line(str(explain(model)))

    screen.title(f"{QUESTION} (two steps, streamed)")
    first, calls = await ask(model)
    screen.title("The same again: the cache answers")
    second, _ = await ask(model)

    screen.title(f"{first:.2f} s from the model, {second:.3f} s from the cache: {first / second:.0f} times as fast")
    return calls > 0 and screen.cache_hits == STEPS


def main() -> int:
    """Run the demo; 0 if all of it worked."""
    screen.title("$ onion local fetch")
    if onion(["local", "fetch"]) != 0 or not asyncio.run(show()):
        return 1
    screen.title("$ onion explain examples.demo:build_model --json")
    with contextlib.chdir(Path(__file__).parents[1]):  # modules are found in the current folder
        return onion(["explain", "examples.demo:build_model", "--json"])


if __name__ == "__main__":
    sys.exit(main())
