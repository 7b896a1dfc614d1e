"""Numbers on the command line."""

from __future__ import annotations

import argparse

import pytest

from onion.cli.options import port, positive


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("8080", 8080), ("65535", 65535)])
def test_a_port_is_a_number_up_to_the_highest(text: str, number: int) -> None:
    assert port(text) == number


@pytest.mark.parametrize("text", ["-1", "65536", "http", "", "²"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a port"):
        port(text)


@pytest.mark.parametrize("text", ["0", "-1", "many", ""])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="not a whole number from 1"):
        positive(text)
