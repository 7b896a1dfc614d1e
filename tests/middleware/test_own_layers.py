"""The layers that the README writes from scratch: those of the examples, short, and well behaved."""

import asyncio
import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from onion.testing import check_middleware
from onion.wrap import Middleware

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAX_LINES = 30
each_layer = pytest.mark.parametrize(("example", "name"), [("own_cache", "Cache"), ("own_telemetry", "Telemetry")])


def example_of(name: str) -> Path:
    return ROOT / "examples" / f"{name}.py"


def layer_in(code: str) -> str:
    """What of *code* is the layer: from its first class to what shows it."""
    return code[code.index("\nclass ") :].partition("\nasync def main")[0].strip()


def shown_in_readme(name: str) -> str:
    """The layer *name* as the README shows it."""
    (found,) = (code for code in FENCE.findall((ROOT / "README.md").read_text()) if f"\nclass {name}(" in code)
    return layer_in(found)


@each_layer
def test_the_readme_shows_the_layer_of_the_example(example: str, name: str) -> None:
    assert shown_in_readme(name) == layer_in(example_of(example).read_text())


@pytest.mark.parametrize("name", ["Cache", "Telemetry"])
def test_a_layer_from_scratch_is_short(name: str) -> None:
    lines = [line for line in shown_in_readme(name).splitlines() if line.strip()]

    assert len(lines) < MAX_LINES


@each_layer
def test_importing_an_example_runs_nothing(example: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = runpy.run_path(str(example_of(example)))

    assert issubclass(made[name], Middleware)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_layer
def test_it_keeps_the_contract(example: str, name: str) -> None:
    made: Callable[[], Middleware] = runpy.run_path(str(example_of(example)))[name]

    report = asyncio.run(check_middleware(made))

    assert report.skipped == {}
