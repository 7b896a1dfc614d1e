"""From the words of the command line to objects: models, prompts, whatever module:object names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from onion.errors import NoSuchModelError
from onion.registry import resolve_model
from onion.spec.model import LanguageModel

if TYPE_CHECKING:
    from typing import TextIO


class UsageError(Exception):
    """The command line asks for something that is not there; the message says what, and what to do."""


@runtime_checkable
class _AnyModel(LanguageModel, Protocol):
    """A model, recognized by its members."""


def load_object(name: str) -> object:
    """The object that ``module:object`` names; modules of the current folder are found as well.

    Raises:
        UsageError: When there is no such module or object. What a module raises while it is imported passes through.
    """
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        msg = f"{name!r} is not of the form module:object, for example my_app.models:model"
        raise UsageError(msg)
    found: object = _import(module_name)
    for attribute in path.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            msg = f"{name!r} names nothing: {attribute!r} is not in {module_name}"
            raise UsageError(msg) from None
    return found


def _import(name: str) -> object:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Only its own name or that of a parent: a module that lacks a package of its own says so itself.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        msg = f"no module {name!r} here or among the installed packages: write it with dots, without .py"
        raise UsageError(msg) from error


def load_model(name: str) -> LanguageModel:
    """The model that ``provider:model`` or ``module:object`` names; the object may be a function that makes one.

    Raises:
        UsageError: When it names neither a provider nor an object, or something that is no model.
    """
    try:
        return resolve_model(name)
    except NoSuchModelError as error:
        if ":" not in name:
            raise
        try:
            found = load_object(name)
        except UsageError as also:
            msg = f"{error}; nor is it module:object: {also}"
            raise UsageError(msg) from also
    if not isinstance(found, _AnyModel) and callable(found):
        found = found()
    if not isinstance(found, _AnyModel):
        msg = f"{name!r} is a {type(found).__name__}, not a model: name an object with do_generate and do_stream"
        raise UsageError(msg)
    return found


def load_prompt(prompt: str, stdin: TextIO) -> str:
    """The prompt itself, or all of stdin for ``-``.

    Raises:
        UsageError: When it is empty.
    """
    text = stdin.read() if prompt == "-" else prompt
    if not text.strip():
        msg = "the prompt is empty: write it as an argument, or '-' and give it on stdin"
        raise UsageError(msg)
    return text
