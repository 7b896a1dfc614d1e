"""`onion run`."""

import json

import pytest

from onion.cli.main import main
from tests.cli.streams import Streams

HERE = "tests.cli.things"


def test_the_answer_is_all_of_stdout() -> None:
    streams = Streams()

    code = main(["run", "hi", "--model", f"{HERE}:make_hello"], streams.terminal)

    assert code == 0
    assert streams.stdout == "hello there\n"


def test_reasoning_tools_and_figures_are_told_on_stderr() -> None:
    streams = Streams()

    code = main(["run", "weather?", "--model", f"{HERE}:make_caller", "--tools", "demo"], streams.terminal)

    lines = streams.stderr.splitlines()
    assert code == 0
    assert streams.stdout == "It rains.\n"
    assert lines[0] == "I look it up."
    assert lines[1] == '→ get_weather({"city": "Paris"})'
    assert lines[2] == '← get_weather: {"city": "Paris", "sky": "rainy", "celsius": 8}'
    assert lines[3].startswith("── step 1: tool-calls · 10 tokens in, 5 out · ")
    assert lines[-1] == "── 2 steps: 20 tokens in, 10 out"


def test_the_prompt_may_come_from_stdin() -> None:
    streams = Streams("hi\n")

    assert main(["run", "-", "--model", f"{HERE}:make_hello"], streams.terminal) == 0
    assert streams.stdout == "hello there\n"


def test_json_is_one_part_a_line_and_nothing_else() -> None:
    streams = Streams()

    code = main(["run", "weather?", "--model", f"{HERE}:make_caller", "--tools", "demo", "--json"], streams.terminal)

    parts = [json.loads(line) for line in streams.stdout.splitlines()]
    assert code == 0
    assert streams.stderr == ""
    assert [part["type"] for part in parts][:3] == ["start", "start-step", "reasoning-start"]
    assert {"type": "text-delta", "id": "0", "text": "It rains."} in parts
    assert parts[-1]["type"] == "finish"
    assert parts[-1]["totalUsage"]["outputTokens"] == 10


def test_the_number_of_steps_is_limited() -> None:
    streams = Streams()

    arguments = ["run", "weather?", "--model", f"{HERE}:make_caller", "--tools", "demo", "--max-steps", "1"]
    code = main(arguments, streams.terminal)

    assert code == 0
    assert streams.stdout == ""
    assert "← get_weather" in streams.stderr


def test_the_little_local_model_is_made_to_call_a_tool_once() -> None:
    streams = Streams()

    code = main(["run", "weather?", "--model", f"{HERE}:make_local", "--tools", "demo"], streams.terminal)

    assert code == 0
    assert "→ get_weather" in streams.stderr
    assert streams.stdout == "I was offered 0 tools and 256 tokens.\n"


def test_the_limit_of_the_user_stands_before_that_for_the_local_model() -> None:
    streams = Streams()

    arguments = ["run", "hi", "--model", f"{HERE}:make_local", "--tools", "demo", "--max-output-tokens", "9"]
    main(arguments, streams.terminal)

    assert "9 tokens" in streams.stdout


def test_the_local_model_without_tools_is_left_alone() -> None:
    streams = Streams()

    assert main(["run", "hi", "--model", f"{HERE}:make_local"], streams.terminal) == 0
    assert streams.stdout == "I need no tool.\n"


def test_a_run_that_fails_shows_what_came_and_says_why() -> None:
    streams = Streams()

    code = main(["run", "hi", "--model", f"{HERE}:make_failing"], streams.terminal)

    assert code == 1
    assert streams.stdout == "half an ans\n"
    assert streams.stderr.splitlines()[-1] == "onion: StreamInterruptedError: the line is dead"


def test_a_run_that_fails_says_so_in_json_too() -> None:
    streams = Streams()

    code = main(["run", "hi", "--model", f"{HERE}:make_failing", "--json"], streams.terminal)

    types = [json.loads(line)["type"] for line in streams.stdout.splitlines()]
    assert code == 1
    assert "error" in types
    assert "the line is dead" in streams.stderr


def test_ctrl_c_ends_a_run_without_a_traceback() -> None:
    streams = Streams()

    code = main(["run", "hi", "--model", f"{HERE}:make_interrupted"], streams.terminal)

    assert code == 130
    assert streams.stdout == "half an ans\n"
    assert streams.stderr == "interrupted\n"


@pytest.mark.parametrize("prompt", ["", "-"])
def test_an_empty_prompt_is_refused_before_anything_is_loaded(prompt: str) -> None:
    streams = Streams()

    code = main(["run", prompt, "--model", "no:model"], streams.terminal)

    assert code == 2
    assert streams.stderr.startswith("onion: the prompt is empty")
