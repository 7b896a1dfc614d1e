"""Every example runs as a reader would run it, without arguments and without network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from onion.cli.loading import load_object

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(ROOT.joinpath("examples").glob("*.py"))
LINES = 60
TIMEOUT_SECONDS = 60
DEMO_TIMEOUT_SECONDS = 180
# What `make demo` runs: it fetches and runs the local model, so it alone needs the network and has no limit of lines.
DEMO = "demo.py"


def run(
    example: Path, folder: Path, *, offline: bool, timeout: float = TIMEOUT_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run one example in a fresh interpreter, in an empty folder, without any provider's key."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    inherited = environment.get("PYTHONPATH")
    search = [str(ROOT / "tests" / "offline")] if offline else []
    # Relative entries are relative to the checkout, not to the folder in which the example runs.
    search += [str(ROOT / entry) for entry in (inherited or "").split(os.pathsep) if entry]
    environment["PYTHONPATH"] = os.pathsep.join(search)
    return subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(TIMEOUT_SECONDS + 10)
@pytest.mark.parametrize("example", [path for path in EXAMPLES if path.name != DEMO], ids=lambda path: path.name)
def test_an_example_runs_and_shows_something(example: Path, tmp_path: Path) -> None:
    done = run(example, tmp_path, offline=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.local
@pytest.mark.slow
@pytest.mark.timeout(DEMO_TIMEOUT_SECONDS + 10)
def test_the_demo_runs_to_its_end(tmp_path: Path) -> None:
    done = run(ROOT / "examples" / DEMO, tmp_path, offline=False, timeout=DEMO_TIMEOUT_SECONDS)

    assert done.returncode == 0, done.stderr
    assert "$ onion explain examples.demo:build_model --json\n{" in done.stdout


def test_the_last_command_of_the_demo_names_what_is_there_from_the_projects_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    source = (ROOT / "examples" / DEMO).read_text(encoding="utf-8")

    (shown,) = re.findall(r"\$ onion explain (\S+) --json", source)

    assert callable(load_object(shown))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_says_what_it_shows(example: Path) -> None:
    text = example.read_text(encoding="utf-8")

    assert text.startswith('"""')
    assert example.name == DEMO or len(text.splitlines()) <= LINES
