"""The public names are sorted, documented and stored, so that a change of the API shows in the diff.

After a change on purpose: ``python -m tests.test_api`` rewrites the stored list.
"""

import inspect
from pathlib import Path

import onion

STORED = Path(__file__).parent / "api.txt"


def public_names() -> list[str]:
    """The names in ``onion.__all__``, as they stand there."""
    return list(onion.__all__)


def test_all_is_sorted_without_repetition() -> None:
    names = public_names()

    assert names == sorted(set(names))


def test_modules_load_when_they_are_asked_for() -> None:
    assert vars(onion)["__getattr__"]("errors") is onion.errors
    assert vars(onion.providers)["__getattr__"]("openai") is onion.providers.openai


def test_every_public_name_can_be_imported() -> None:
    missing = [name for name in public_names() if not hasattr(onion, name)]

    assert missing == []


def test_every_public_name_shows_up_in_dir() -> None:
    assert set(public_names()) <= set(dir(onion))


def test_every_public_class_function_and_module_is_documented() -> None:
    values = {name: vars(onion).get(name) or getattr(onion, name) for name in public_names()}
    documentable = {
        name: value
        for name, value in values.items()
        if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)
    }

    assert documentable
    assert [name for name, value in documentable.items() if not inspect.getdoc(value)] == []


def test_the_public_names_are_the_stored_ones() -> None:
    assert public_names() == STORED.read_text(encoding="utf-8").split()


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(onion, "no_such_name")


if __name__ == "__main__":
    STORED.write_text("".join(f"{name}\n" for name in public_names()), encoding="utf-8")
