"""The page of rules is what the source of the rules says."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

from onion.testing import protocol, rules

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


def test_the_page_in_the_docs_is_the_one_made_from_the_source() -> None:
    assert PAGE.read_text(encoding="utf-8") == protocol.page()


def test_every_rule_has_its_sentence_and_a_name_of_its_own() -> None:
    source = inspect.getsource(rules)
    names = re.findall(r"^- \*\*([a-z-]+)\*\*: [A-Z`].+\.\)?$", protocol.page(), re.MULTILINE)

    assert len(names) == source.count("#: ") == len(re.findall(r"self\.require(?:_strictly)?\(\"", source)) > 30
    assert len(set(names)) == len(names)


def test_running_the_module_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(inspect.getfile(protocol), run_name="__main__")

    assert capsys.readouterr().out == protocol.page()
