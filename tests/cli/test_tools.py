"""The tools that the command line names."""

import pytest

from onion.cli import demo_tools
from onion.cli.loading import UsageError
from onion.cli.tools import load_tools
from tests.cli import things

HERE = "tests.cli.things"


def test_the_built_in_tools_are_called_demo() -> None:
    assert load_tools("demo") is demo_tools.tools


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shout", [things.shout]),
        ("make_tools", [things.shout]),
        ("tools_by_name", {"loud": things.shout}),
    ],
)
def test_tools_are_found_alone_in_lists_and_by_name(name: str, expected: object) -> None:
    assert load_tools(f"{HERE}:{name}") == expected


@pytest.mark.parametrize("name", ["NUMBER", "mixed", "Catalogue.hello", "nothing_at_all"])
def test_what_holds_anything_but_tools_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not tools: name a function with @tool before it"):
        load_tools(f"{HERE}:{name}")
