"""The size budget of the code: a file or function that outgrows it is split by concept, or gets a reason here."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE_LINES = 300
TEST_LINES = 400
FUNCTION_LINES = 50
LINES_PER_SUPPRESSION = 1000
NAMELESS = re.compile(r"_?(utils?|helpers?|core|internal|common|misc)(\.py)?")
SUPPRESSION = re.compile(r"#\s*(?:type|pyright):\s*ignore(?P<code>\[[\w, -]+\])?(?P<rest>.*)")

# "path" or "path:function" -> why it may be longer. A new line needs a decision record.
EXCEPTIONS: dict[str, str] = {
    "src/onion/errors.py": "one tree, drawn at its top: docs/decisions/0004",
}


def sources() -> Iterator[Path]:
    """Every Python file of the package."""
    return ROOT.joinpath("src").rglob("*.py")


def suite() -> Iterator[Path]:
    """Every Python file of the tests and of the benchmark."""
    for folder in ("tests", "bench"):
        yield from ROOT.joinpath(folder).rglob("*.py")


def relative(path: Path) -> str:
    """The path as EXCEPTIONS writes it."""
    return path.relative_to(ROOT).as_posix()


def line_count(path: Path) -> int:
    """Number of lines in the file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and length of every function: from ``def`` to its last line, its docstring not counted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            first = node.body[0]
            docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if ast.get_docstring(node) else 0
            yield node.name, last - node.lineno + 1 - docstring


def test_files_keep_the_budget() -> None:
    lengths = [(path, line_count(path), SOURCE_LINES) for path in sources()]
    lengths += [(path, line_count(path), TEST_LINES) for path in suite()]

    long = {relative(path): length for path, length, limit in lengths if length > limit}

    assert {name: length for name, length in long.items() if name not in EXCEPTIONS} == {}


def test_functions_keep_the_budget() -> None:
    long = {
        f"{relative(path)}:{name}": length
        for path in [*sources(), *suite()]
        for name, length in functions(path)
        if length > FUNCTION_LINES
    }

    assert {name: length for name, length in long.items() if name not in EXCEPTIONS} == {}


def test_every_exception_is_still_needed() -> None:
    needed = {relative(path) for path in sources() if line_count(path) > SOURCE_LINES}
    needed |= {relative(path) for path in suite() if line_count(path) > TEST_LINES}
    for path in [*sources(), *suite()]:
        needed |= {f"{relative(path)}:{name}" for name, length in functions(path) if length > FUNCTION_LINES}

    assert EXCEPTIONS.keys() - needed == set()
    assert all(reason.strip() for reason in EXCEPTIONS.values())


def test_names_of_files_and_folders_say_something() -> None:
    parts = {part for path in sources() for part in path.relative_to(ROOT).parts}

    assert [part for part in parts if NAMELESS.fullmatch(part)] == []


def test_suppressed_type_errors_name_code_and_reason_and_are_rare() -> None:
    files = list(sources())
    found = [
        (relative(path), number, match)
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := SUPPRESSION.search(line))
    ]

    assert [(name, number) for name, number, match in found if not match["code"] or "#" not in match["rest"]] == []
    assert len(found) <= 1 + sum(map(line_count, files)) // LINES_PER_SUPPRESSION
