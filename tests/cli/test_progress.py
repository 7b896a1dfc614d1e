"""How far a download is."""

import pytest

from onion.cli.progress import BYTES_PER_MB, download_progress
from tests.cli.streams import Streams


def test_a_pipe_gets_a_line_for_every_tenth() -> None:
    streams = Streams()

    with download_progress("weights", streams.terminal) as report:
        for done in range(51):
            report(done * BYTES_PER_MB, 50 * BYTES_PER_MB)

    lines = streams.stderr.splitlines()
    assert lines[:3] == ["weights: 0 of 50 MB", "weights: 5 of 50 MB", "weights: 10 of 50 MB"]
    assert lines[-1] == "weights: 50 of 50 MB"
    assert len(lines) == 11


def test_a_download_of_unknown_length_counts_megabytes() -> None:
    streams = Streams()

    with download_progress("weights", streams.terminal) as report:
        report(3, None)
        report(12 * BYTES_PER_MB, None)
        report(13 * BYTES_PER_MB, None)

    assert streams.stderr.splitlines() == ["weights: 0 MB", "weights: 12 MB"]


def test_a_download_of_a_few_bytes_is_no_trouble() -> None:
    streams = Streams()

    with download_progress("weights", streams.terminal) as report:
        report(1, 3)

    assert streams.stderr == "weights: 0 of 0 MB\n"


def test_a_terminal_gets_a_bar() -> None:
    streams = Streams(is_terminal=True)

    with download_progress("weights", streams.terminal) as report:
        report(25 * BYTES_PER_MB, 50 * BYTES_PER_MB)
        report(50 * BYTES_PER_MB, 50 * BYTES_PER_MB)

    assert "weights" in streams.stderr
    assert "50.0/50.0 MB" in streams.stderr


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "pipe"])
def test_where_nothing_is_to_download_nothing_is_shown(is_terminal: bool) -> None:  # noqa: FBT001 - a parameter of the test
    streams = Streams(is_terminal=is_terminal)

    with download_progress("weights", streams.terminal):
        pass

    assert streams.stderr.strip() == ""
    assert streams.stdout == ""
