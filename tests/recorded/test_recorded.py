"""Every recorded exchange of the formats that are built; and that the checks would find what they look for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.recorded.checks import broken_rules
from tests.recorded.exchanges import RECORDINGS, Exchange, load_exchange, load_exchanges
from tests.recorded.framings import cuts
from tests.recorded.lost import lost
from tests.recorded.openai_chat import OPENAI_CHAT
from tests.recorded.run import FORMATS, faults_of, main, report

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec.base import JsonValue

FILES = sorted(path for name in FORMATS for path in RECORDINGS.joinpath(name).glob("*.json"))
MESSAGE: dict[str, JsonValue] = {"content": "hi"}


def exchange(body: JsonValue = None, *, sse: str | None = None, provider: str = "openai-chat") -> Exchange:
    """An exchange that nobody recorded."""
    headers = {"content-type": "application/json" if sse is None else "text/event-stream"}
    stream = None if sse is None else sse.encode()
    return Exchange("made", provider, "m", 200, headers, body, stream, None)


def completion(**members: JsonValue) -> dict[str, JsonValue]:
    """A whole answer."""
    return {"id": "cc-1", "choices": [{"message": MESSAGE, "finish_reason": "stop"}], **members}


def written(folder: Path, *exchanges: JsonValue) -> Path:
    """A folder with those exchanges in it."""
    for number, found in enumerate(exchanges):
        folder.joinpath(f"{number}.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


@pytest.mark.skipif(not FILES, reason="the recordings are not here: ../shared/recordings beside the checkout")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_recorded_exchange_parses_however_it_is_cut_and_nothing_is_lost(path: Path) -> None:
    assert faults_of(load_exchange(path)) == []


def test_an_answer_that_is_understood_has_no_faults() -> None:
    stream = 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n'

    assert faults_of(exchange(completion())) == []
    assert faults_of(exchange(sse=stream)) == []


def test_a_member_that_nobody_reads_is_found_to_be_lost() -> None:
    assert faults_of(exchange(completion(novelty="x"))) == ["lost: novelty = 'x'"]


def test_a_text_that_is_lost_in_part_is_found() -> None:
    said: list[JsonValue] = [{"delta": "Hel"}, {"delta": "lo"}]

    assert lost(said, {"text": "Hello"}, {}, {}) == []
    assert lost(said, {"text": "Help"}, {}, {}) == ["lost: delta = 'lo'"]


def test_a_count_that_is_lost_is_found() -> None:
    assert lost([{"n": 3}, {"n": 4}], {"n": 4}, {}, {}) == []
    assert lost([{"n": 3}, {"n": 4}], {"n": 3}, {}, {}) == ["lost: n = '4'"]


def test_a_stream_that_breaks_the_grammar_is_found() -> None:
    parts, failure = OPENAI_CHAT.decode([b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n', b"data: [DONE]\n\n"])

    assert failure is None
    assert broken_rules(parts) == []
    assert "finish-comes" in broken_rules(parts[:-1])[0]
    assert "blocks-end" in broken_rules([*parts[:-2], parts[-1]])[0]


def test_a_body_is_cut_at_every_byte() -> None:
    pieces = [pieces for name, pieces in cuts(b"data: a\n\n") if name.startswith("cut")]

    assert pieces == [[b"data: a\n\n"[:cut], b"data: a\n\n"[cut:]] for cut in range(9)]


def test_the_report_counts_and_names_what_fails() -> None:
    lines: list[str] = []

    code = report([exchange(completion()), exchange(completion(x=1)), exchange(provider="smoke")], lines.append)

    assert code == 1
    assert lines == [
        "FAILED made",
        "  lost: x = '1'",
        "openai-chat: 1 passed",
        "waiting for smoke: 1",
        "passed 1, failed 1, waiting 1",
    ]


def test_a_failure_that_is_taken_for_an_answer_is_found() -> None:
    assert faults_of(exchange("plain text")) == []
    assert faults_of(exchange(json.dumps(completion()))) == ["a failure was taken for an answer"] * 2


def test_a_folder_is_read_with_all_below_it_and_its_failures_set_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good: JsonValue = {
        "id": "e1",
        "provider": "openai-chat",
        "model": None,
        "response": {"status": 200, "headers": {"content-type": "application/json"}, "body": completion()},
        "request": None,
    }
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)

    assert [found.id for found in load_exchanges(written(below, good))] == ["e1"]
    assert main([str(tmp_path)]) == 0
    assert "passed 1, failed 0, waiting 0" in capsys.readouterr().out


def test_a_folder_without_exchanges_is_no_success(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 1
    assert main([]) == 2
    assert main([str(tmp_path / "nothing")]) == 2
