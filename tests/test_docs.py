"""Every Python fence in the README, the docs and the docstrings runs.

The fences of one page run in order in one namespace, like the cells of a notebook: a later fence may use the names of
an earlier one, and ``await`` may stand at the top. A fence that cannot run here is marked ```` ```python no-run ````.
"""

import ast
import asyncio
import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^(?P<indent> *)```python(?P<mark>[^\n]*)\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
MARKS = ("", "no-run")


def pages() -> list[Path]:
    """The README and every page under docs/."""
    return [ROOT / "README.md", *sorted(ROOT.joinpath("docs").rglob("*.md"))]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring in a source file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text


def fences(text: str) -> Iterator[tuple[int, str]]:
    """Line and code of every fence that is to run."""
    for match in FENCE.finditer(text):
        mark = match["mark"].strip()
        assert mark in MARKS, f"unknown mark {mark!r} on a fence; known: {MARKS}"
        if mark != "no-run":
            yield text.count("\n", 0, match.start("code")) + 1, inspect.cleandoc("\n" + match["code"])


def run(code: str, name: str, line: int, namespace: dict[str, object]) -> None:
    """Execute one fence; a top-level ``await`` gets an event loop of its own."""
    tree = ast.parse("\n" * (line - 1) + code, name)
    compiled: CodeType = compile(tree, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    function = FunctionType(compiled, namespace)
    if compiled.co_flags & inspect.CO_COROUTINE:
        asyncio.run(function())
    else:
        function()


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_fences_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}

    for line, code in fences(page.read_text(encoding="utf-8")):
        run(code, str(page), line, namespace)


def test_the_fences_of_the_docstrings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    for path in sorted(ROOT.joinpath("src").rglob("*.py")):
        for line, text in docstrings(path):
            namespace: dict[str, object] = {"__name__": "__main__"}
            for offset, code in fences(text):
                run(code, str(path), line + offset, namespace)


def test_the_prompts_of_the_docstrings_answer_as_shown() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)

    for path in sorted(ROOT.joinpath("src").rglob("*.py")):
        for line, text in docstrings(path):
            runner.run(parser.get_doctest(text, {}, f"{path.name}:{line}", str(path), line))

    assert runner.summarize(verbose=False).failed == 0
