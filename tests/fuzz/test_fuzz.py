"""A short run of the fuzzer over every format; and that it would find what it looks for."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.__main__ import main
from tests.fuzz.forms import FORMS
from tests.fuzz.mutation import Mutator
from tests.fuzz.run import Fuzzer
from tests.fuzz.seeds import pool_of, seeds_of
from tests.fuzz.target import HangError, limited
from tests.recorded.run import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonValue
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from tests.recorded.checks import WireFormat

RUNS = 40
CHAT = FORMATS["openai-chat"]


@pytest.mark.parametrize("name", FORMS)
def test_whatever_a_server_sends_is_an_answer_or_an_error_of_ours(name: str) -> None:
    report = Fuzzer(name, FORMS[name], seed=1).run(runs=RUNS)

    assert [fault.told for fault in report.faults.values()] == []
    assert report.runs == RUNS
    assert {outcome.partition(":")[0] for outcome in report.outcomes} >= {"stream", "whole"}


def test_the_same_number_draws_the_same_answers_and_another_one_others(tmp_path: Path) -> None:
    seeds = seeds_of("gemini", tmp_path)

    def drawn(seed: int) -> list[bytes]:
        mutator = Mutator(random.Random(seed), pool_of(seeds))  # noqa: S311 - no secrets are made here
        return [mutator.whole(seeds[0]) for _ in range(20)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def crashing(body: JsonValue) -> GenerateResult:
    """A reader that trusts servers."""
    raise KeyError(str(body)[:9])


class Endless:
    """A decoder that hands out no finish."""

    is_over = False

    def feed_events(self, events: object, *, is_rest: bool = False) -> list[StreamPart]:
        """Nothing."""
        del events, is_rest
        return []

    def end(self, failure: Exception | None = None) -> list[StreamPart]:
        """Nothing either."""
        del failure
        return []


@pytest.mark.parametrize(
    ("form", "kind", "fault"),
    [
        (replace(CHAT, read=crashing), "whole", "KeyError"),
        (replace(CHAT, make_decoder=Endless), "stream", "finish-comes"),
    ],
    ids=["an exception that is none of ours", "a stream without an end"],
)
def test_a_fault_is_found(form: WireFormat, kind: str, fault: str, tmp_path: Path) -> None:
    report = Fuzzer("openai-chat", form, seed=1, recordings=tmp_path).run(runs=20)

    found = [each for each in report.faults.values() if each.kind == kind]
    assert found
    assert all(fault in each.told for each in found)


def spin() -> None:
    """Never end."""
    with limited(0.01):
        while True:
            pass


def test_a_hang_is_a_fault() -> None:
    with pytest.raises(HangError, match="not done after"):
        spin()


def test_the_command_counts_and_keeps_what_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--format", "openai-chat", "--seed", "1", "--runs", "9", "--faults", str(tmp_path / "faults")]

    assert main(arguments) == 0
    assert "openai-chat, seed 1: 9 answers, 0 faults" in capsys.readouterr().out

    monkeypatch.setitem(FORMS, "openai-chat", replace(CHAT, read=crashing))
    assert main(arguments) == 1
    assert "KeyError" in capsys.readouterr().out
    assert [path.name.partition("-")[0] for path in tmp_path.joinpath("faults").iterdir()] == ["openai"]
