"""`onion explain`."""

import json

from onion.cli.main import main
from tests.cli.streams import Streams

HERE = "tests.cli.things"


def test_a_stack_is_drawn() -> None:
    streams = Streams()

    code = main(["explain", f"{HERE}:stack"], streams.terminal)

    assert code == 0
    assert streams.stdout == ("Rename()                    override_model_id\n└─ scripted/scripted-model  the model\n")


def test_a_stack_is_told_as_json() -> None:
    streams = Streams()

    code = main(["explain", f"{HERE}:stack", "--json"], streams.terminal)

    assert code == 0
    assert json.loads(streams.stdout) == {
        "layers": [{"name": "Rename", "settings": "Rename()", "hooks": ["override_model_id"]}],
        "provider": "scripted",
        "modelId": "scripted-model",
    }


def test_a_model_without_layers_is_itself() -> None:
    streams = Streams()

    assert main(["explain", f"{HERE}:make_hello"], streams.terminal) == 0
    assert streams.stdout.split() == ["scripted/scripted-model", "the", "model"]
