"""Importing Onion is cheap: what a first program does not need yet loads on first use."""

import importlib
import subprocess
import sys

import pytest

FIRST_PROGRAM = """
from onion import ToolLoopAgent, generate_text, is_step_count, stream_text, tool, wrap_language_model
from onion.middleware import Cache, Retry
from onion.providers import openai
"""
MOST_MODULES = 180
"""As many may come with it beside those of asyncio, the standard library's included."""

HEAVY = frozenset({"csv", "email", "html", "http", "multiprocessing", "sqlite3", "tempfile", "xml", "zipfile"})
"""Packages of the standard library that take long to load."""

OTHER_PROGRAMS = (
    "onion",
    "onion.errors",
    "onion.middleware",
    "onion.providers",
    "onion.providers.anthropic",
    "onion.providers.google",
    "onion.providers.local",
    "onion.providers.openai_chat.presets",
    "onion.registry",
    "onion.spec",
    "onion.sync",
    "onion.wrap",
)


def loaded_by(program: str) -> set[str]:
    """Names of the modules that *program* loads into a fresh interpreter."""
    code = f"import sys\nbefore = set(sys.modules)\n{program}\nprint(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def packages(modules: set[str]) -> set[str]:
    """What the modules are parts of."""
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("program", [FIRST_PROGRAM, *(f"import {name}" for name in OTHER_PROGRAMS)])
def test_an_import_loads_the_standard_library_and_nothing_of_others(program: str) -> None:
    found = packages(loaded_by(program))

    assert "onion" in found
    assert found - sys.stdlib_module_names == {"onion"}
    assert found.isdisjoint(HEAVY)


def test_a_first_program_loads_no_layer_and_no_provider_that_it_does_not_name() -> None:
    found = loaded_by(FIRST_PROGRAM)
    layers = {name.removeprefix("onion.middleware.") for name in found if name.count(".") == 2 and "middleware" in name}
    providers = {name.split(".")[2] for name in found if name.startswith("onion.providers.")}

    assert layers == {"_masking", "caching", "retry", "stores"}
    assert {name for name in providers if not name.startswith("_")} == {"openai", "openai_responses"}
    assert found.isdisjoint({"onion.cli", "onion.testing", "onion.sync"})


def test_a_first_program_loads_few_modules() -> None:
    found = loaded_by(FIRST_PROGRAM) - loaded_by("import asyncio")

    assert len(found) <= MOST_MODULES


def test_a_first_program_opens_no_connection() -> None:
    watched = (
        "import sys, asyncio\n"
        "sys.addaudithook(lambda event, _: print(event) if event.startswith('socket.') else None)\n"
        f"{FIRST_PROGRAM}"
    )

    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True)

    assert done.stdout == ""


@pytest.mark.parametrize("name", ["generate_text", "Tool", "ToolLoopAgent", "collect", "Middleware", "from_json"])
def test_every_name_of_the_package_can_be_the_first_that_is_imported(name: str) -> None:
    assert "onion" in loaded_by(f"from onion import {name}")


def test_a_name_that_the_local_provider_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'onion.providers.local' has no attribute 'nothing'"):
        importlib.import_module("onion.providers.local").nothing  # noqa: B018  # asking is what is tested
