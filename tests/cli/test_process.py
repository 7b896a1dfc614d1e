"""The command in a process of its own: pipes, Ctrl-C, what is loaded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = "tests.cli.things"
RUN = "import sys; from onion.cli.main import main; sys.exit(main(sys.argv[1:]))"
INTERRUPTED, CLOSED_PIPE = 130, 141

pytestmark = pytest.mark.timeout(60)


def start(*arguments: str, program: str = RUN) -> subprocess.Popen[str]:
    """The command in a new process, with pipes for its three streams."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def test_a_pipe_gets_the_answer_on_stdout_and_no_colours() -> None:
    with start("run", "weather?", "--model", f"{HERE}:make_caller", "--tools", "demo") as process:
        stdout, stderr = process.communicate()

    assert process.returncode == 0
    assert stdout == "It rains.\n"
    assert "→ get_weather" in stderr
    assert "\x1b" not in stdout + stderr


def test_json_lines_of_a_process_parse() -> None:
    with start("run", "-", "--model", f"{HERE}:make_hello", "--json") as process:
        stdout, stderr = process.communicate("hi")

    assert process.returncode == 0
    assert [json.loads(line)["type"] for line in stdout.splitlines()][-1] == "finish"
    assert stderr == ""


def test_the_answer_is_streamed_and_ctrl_c_ends_the_process() -> None:
    with start("run", "tell me a story", "--model", f"{HERE}:make_endless") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        begun = process.stdout.read(len("once upon"))

        process.send_signal(signal.SIGINT)

        assert begun == "once upon"
        assert process.wait() == INTERRUPTED
        assert process.stderr.read() == "interrupted\n"


def test_a_reader_that_goes_away_is_met_in_silence() -> None:
    with start("run", "tell me a story", "--model", f"{HERE}:make_endless", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()

        assert process.wait() == CLOSED_PIPE
        assert process.stderr.read() == ""


def test_a_failing_command_says_one_line() -> None:
    with start("run", "hi", "--model", "nowhere") as process:
        _, stderr = process.communicate()

    assert process.returncode == 2
    assert stderr.count("\n") == 1
    assert "nowhere" in stderr


def test_help_loads_neither_the_loop_nor_rich() -> None:
    program = (
        "import sys, contextlib, os\n"
        "from onion.cli.main import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "print(sorted({'onion.loop', 'onion.providers', 'rich', 'httpx', 'pydantic'} & set(sys.modules)))"
    )

    with start(program=program) as process:
        stdout, _ = process.communicate()

    assert stdout.splitlines()[-1] == "[]"


def test_the_console_command_is_installed_under_its_name() -> None:
    command = Path(sys.executable).with_name("onion")

    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert done.stdout.startswith("usage: onion")
