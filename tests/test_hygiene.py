"""What is committed names no machine and no registry, leaves no nameless task, and has usable changelog fragments."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FRAGMENT = re.compile(r"\d+\.(breaking|added|changed|fixed)(\.\d+)?\.md")
TASK = re.compile(r"#.*\b(TODO|FIXME|XXX)\b(?!.*#\d+)")
# Spelt so that this file does not find itself.
HOST_PATHS = re.compile(r"/(?:home|Users)/[A-Za-z]|(?<![\w.~])/roo[t]/|[A-Z]:\\Users\\")
REGISTRIES = re.compile(r"\b(?:pypi|pythonhosted|registry\.npmjs|deb\.debian|crates)\.(?:org|io)\b|index-ur[l]")


def tracked_files() -> list[Path]:
    """Text files under version control, symbolic links left out."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: nothing says which files are tracked")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S607 -- git is where the user has it
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8000]]


def findings(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    """``path:line: text`` of every line in which *pattern* is found."""
    return [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {line.strip()[:120]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    own = re.compile("|".join(re.escape(str(path)) for path in (ROOT, Path.home()) if len(path.parts) > 2))

    files = tracked_files()

    assert findings(HOST_PATHS, files) == []
    assert not own.pattern or findings(own, files) == []


def test_no_file_names_a_package_registry() -> None:
    assert findings(REGISTRIES, tracked_files()) == []


def test_every_open_task_names_its_issue() -> None:
    python = [path for path in tracked_files() if path.suffix == ".py" and path != Path(__file__)]

    assert findings(TASK, python) == []


def test_changelog_fragments_are_named_as_towncrier_reads_them() -> None:
    names = [path.name for path in (ROOT / "docs" / "changelog.d").iterdir() if path.name != "README.md"]

    assert [name for name in names if not FRAGMENT.fullmatch(name)] == []


def test_changelog_fragments_say_something() -> None:
    fragments = [path for path in (ROOT / "docs" / "changelog.d").glob("*.md") if path.name != "README.md"]

    assert [path.name for path in fragments if not path.read_text(encoding="utf-8").strip().endswith(".")] == []
