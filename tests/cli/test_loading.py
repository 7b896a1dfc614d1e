"""From the words of the command line to objects."""

import io
import sys
from pathlib import Path

import pytest

from onion.cli.loading import UsageError, load_model, load_object, load_prompt
from onion.errors import NoSuchModelError
from onion.testing import ScriptedModel
from tests.cli import things

HERE = "tests.cli.things"


def test_module_and_object_name_an_object() -> None:
    assert load_object(f"{HERE}:Catalogue.hello") is things.Catalogue.hello


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("things", "not of the form module:object"),
        (":model", "not of the form module:object"),
        ("things:", "not of the form module:object"),
        ("tests.cli.nothing:model", "no module 'tests.cli.nothing'"),
        ("nowhere.at.all:model", "no module 'nowhere.at.all'"),
        (f"{HERE}:nothing", "'nothing' is not in tests.cli.things"),
        (f"{HERE}:Catalogue.nothing", "'nothing' is not in"),
    ],
)
def test_a_name_of_nothing_is_a_usage_error(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_object(name)


def test_modules_of_the_current_folder_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.joinpath("only_here.py").write_text("answer = 42\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    try:
        assert load_object("only_here:answer") == 42
    finally:
        sys.path.remove(str(tmp_path))


def test_a_module_that_lacks_a_package_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.joinpath("needy.py").write_text("import a_package_that_is_not_there\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    try:
        with pytest.raises(ModuleNotFoundError, match="a_package_that_is_not_there"):
            load_object("needy:model")
    finally:
        sys.path.remove(str(tmp_path))


def test_a_model_is_found_as_an_object() -> None:
    assert load_model(f"{HERE}:Catalogue.hello") is things.Catalogue.hello
    assert load_model(f"{HERE}:stack") is things.stack


def test_a_function_that_makes_a_model_is_called() -> None:
    model = load_model(f"{HERE}:make_hello")

    assert isinstance(model, ScriptedModel)


def test_what_is_no_model_is_refused_by_its_type() -> None:
    with pytest.raises(UsageError, match="is a int, not a model"):
        load_model(f"{HERE}:NUMBER")


def test_a_name_that_is_neither_provider_nor_module_says_both() -> None:
    with pytest.raises(UsageError, match=r"names no language model.*nor is it module:object.*no module"):
        load_model("nowhere:model")


def test_a_name_without_colon_can_only_be_a_provider() -> None:
    with pytest.raises(NoSuchModelError, match="provider:model"):
        load_model("gpt")


def test_the_prompt_is_the_argument_or_stdin() -> None:
    assert load_prompt("hello", io.StringIO("other")) == "hello"
    assert load_prompt("-", io.StringIO("from\na pipe\n")) == "from\na pipe\n"


@pytest.mark.parametrize("prompt", ["", "  \n", "-"])
def test_an_empty_prompt_is_a_usage_error(prompt: str) -> None:
    with pytest.raises(UsageError, match="the prompt is empty"):
        load_prompt(prompt, io.StringIO(""))
