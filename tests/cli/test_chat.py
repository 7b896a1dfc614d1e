"""`onion chat`."""

from onion.cli.main import main
from tests.cli.streams import Streams

HERE = "tests.cli.things"


def test_each_line_is_a_turn_that_knows_the_turns_before() -> None:
    streams = Streams("one\n\n  \ntwo\nthree\n")

    code = main(["chat", "--model", f"{HERE}:make_remembering"], streams.terminal)

    assert code == 0
    assert streams.stdout.splitlines() == ["1 messages", "3 messages"]


def test_a_turn_that_fails_is_told_and_forgotten() -> None:
    streams = Streams("one\ntwo\n")

    code = main(["chat", "--model", f"{HERE}:make_remembering"], streams.terminal)

    assert code == 1
    assert streams.stdout == "1 messages\n"
    assert streams.stderr.splitlines()[-1] == "onion: RuntimeError: not today"


def test_instructions_come_first_in_every_turn() -> None:
    streams = Streams("one\n")

    main(["chat", "--model", f"{HERE}:make_remembering", "--system", "Count."], streams.terminal)

    assert streams.stdout == "2 messages\n"


def test_ctrl_c_stops_an_answer_and_not_the_conversation() -> None:
    streams = Streams("one\ntwo\n")

    code = main(["chat", "--model", f"{HERE}:make_interrupted"], streams.terminal)

    assert code == 0
    assert streams.stdout == "half an ans\nwhole\n"
    assert streams.stderr.splitlines()[0] == "stopped"


def test_a_terminal_is_asked_for_each_line() -> None:
    streams = Streams("one\n", is_terminal=True)

    assert main(["chat", "--model", f"{HERE}:make_hello"], streams.terminal) == 0
    assert streams.stderr.count("> ") == 2


def test_a_pipe_is_not_asked() -> None:
    streams = Streams("one\n")

    main(["chat", "--model", f"{HERE}:make_hello"], streams.terminal)

    assert "> " not in streams.stderr
