import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from onion.errors import InvalidArgumentError, LocalModelError, MissingExtraError
from onion.providers.local.native import EngineSettings, start_native

SETTINGS = EngineSettings(weights=Path("a.gguf"), model_id="a")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(
            lambda: replace(SETTINGS, context_tokens=0), "context_tokens must be at least 1, got 0", id="context"
        ),
        pytest.param(lambda: replace(SETTINGS, slots=-1), "slots must be at least 1, got -1", id="slots"),
        pytest.param(lambda: replace(SETTINGS, threads=0), "threads must be at least 1, got 0", id="threads"),
    ],
)
def test_numbers_below_one_are_refused(make: Callable[[], EngineSettings], expected: str) -> None:
    with pytest.raises(InvalidArgumentError, match=expected):
        make()


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    with pytest.raises(MissingExtraError, match=r"xllamacpp is not installed: run `pip install 'onion-ai\[local\]'`"):
        start_native(SETTINGS)


def test_weights_that_the_engine_cannot_run_are_an_error(tmp_path: Path) -> None:
    weights = tmp_path / "broken.gguf"
    weights.write_bytes(b"GGUF and then nothing")

    with pytest.raises(LocalModelError, match=r"the engine cannot run .*broken\.gguf"):
        start_native(EngineSettings(weights=weights, model_id="broken", threads=1))

    assert os.environ["OMP_WAIT_POLICY"].lower() == "passive"
