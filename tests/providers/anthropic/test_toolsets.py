"""Toolsets of Anthropic that run at the caller: calls of their tools are calls of one, and go back as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers.anthropic import tools
from onion.spec.content import ToolCall
from onion.spec.parts import ToolInputDelta
from tests.providers.anthropic.bodies import HELLO, called, decoded, message, over, play, said, start
from tests.providers.anthropic.test_rounds import DONE, MODES, blocks, run
from tests.providers.loopback import serve

if TYPE_CHECKING:
    from onion.spec.base import JsonObject

SCREEN = tools.computer_toolset(name="screen")
WITH_SCREEN = HELLO.replace(tools=(SCREEN,))


def calls_in(*pieces: str, toolset: str = "computer") -> list[ToolCall]:
    """The calls of a stream whose one call has the input *pieces*, of which no part is seen before it is whole."""
    parts = decoded(start(), *called(0, "left_click", *pieces, toolset_name=toolset), *over(), params=WITH_SCREEN)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    deltas = [part.delta for part in parts if isinstance(part, ToolInputDelta)]
    assert "".join(deltas) == "".join(call.input for call in calls)
    return calls


def test_a_call_of_a_toolset_is_one_of_the_callers_tool_and_says_what_is_to_be_done() -> None:
    (call,) = calls_in('{"coordinate"', ": [5, 7]}")

    assert (call.tool_name, call.input) == ("screen", '{"action":"left_click","coordinate":[5,7]}')
    assert call.provider_metadata == {"anthropic": {"toolset_name": "computer", "name": "left_click"}}


def test_a_call_without_input_says_what_is_to_be_done_too() -> None:
    (call,) = calls_in()

    assert call.input == '{"action":"left_click"}'


def test_a_call_of_a_toolset_that_the_caller_has_not_keeps_its_name() -> None:
    (call,) = calls_in('{"x": 1}', toolset="phone")

    assert (call.tool_name, call.input) == ("left_click", '{"x": 1}')


def test_a_call_that_broke_off_is_none() -> None:
    parts = decoded(
        start(),
        *said(0, "Clicking."),
        *called(1, "left_click", '{"coord', toolset_name="computer")[:-1],
        {"type": "error", "error": {}},
        params=WITH_SCREEN,
    )

    assert [part.type for part in parts][-3:] == ["tool-input-end", "error", "finish"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_of_a_toolset_goes_back_as_it_was(mode: str) -> None:
    click: JsonObject = {
        "type": "tool_use",
        "id": "a",
        "name": "left_click",
        "toolset_name": "computer",
        "input": {"coordinate": [5, 7]},
    }
    done: list[object] = []

    def act(given: dict[str, object]) -> str:
        done.append(given)
        return "clicked"

    screen = tools.computer_toolset(execute=act, name="screen")
    async with serve(play(message(click, stop_reason="tool_use"), DONE)) as server:
        await run(server, mode, screen)

    assert done == [{"action": "left_click", "coordinate": [5, 7]}]
    assert blocks(server, 1, 1) == [click]
    assert blocks(server, 1, 2)[0]["content"] == "clicked"
