"""The page that lists the rules, made from the sentences above them: `python -m onion.testing.protocol`."""

from __future__ import annotations

import inspect
import re

from onion.testing import rules

_TITLE = re.compile(r'class \w+\(Rules\):\n    """(?P<title>.+)"""')
_RULE = re.compile(r'#: (?P<sentence>.+)\n +self\.require(?:_strictly)?\("(?P<name>[a-z-]+)"')
_INTRODUCTION = """\
# The protocol

What a `LanguageModel` and every layer around one keep to.
`onion.testing.Lint` is a layer that checks these rules on both of its neighbours.
A broken one raises a `LintError` with the rule's name.
This page is made from the source of the rules (`python -m onion.testing.protocol`), so it says what is checked.

Rules that end with "(Onion's own models.)" are checked by `Lint(strict=True)` only.
A foreign model need not keep them, and layers cope with one that does not.
"""


def page() -> str:
    """The page as Markdown."""
    source = inspect.getsource(rules)
    pieces = [_INTRODUCTION]
    for found in re.finditer(f"{_TITLE.pattern}|{_RULE.pattern}", source):
        if title := found["title"]:
            pieces.append(f"\n## {title.removesuffix('.')}\n\n")
        else:
            pieces.append(f"- **{found['name']}**: {found['sentence']}\n")
    return "".join(pieces)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - it is what the program does
