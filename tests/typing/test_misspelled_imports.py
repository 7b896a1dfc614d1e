"""A name that a package lacks is an error to type checkers: mypy reads this, where an idle ignore is one, too."""

from __future__ import annotations

import pytest


def test_a_misspelled_name_of_the_package_is_an_error_before_and_while_it_runs() -> None:
    with pytest.raises(ImportError, match="genrate_text"):
        from onion import genrate_text  # type: ignore[attr-defined]  # noqa: F401  # that is the slip


def test_a_misspelled_layer_is_an_error_before_and_while_it_runs() -> None:
    with pytest.raises(ImportError, match="Cahce"):
        from onion.middleware import Cahce  # type: ignore[attr-defined]  # noqa: F401  # that is the slip


def test_a_misspelled_store_is_an_error_before_and_while_it_runs() -> None:
    with pytest.raises(ImportError, match="DiscStore"):
        from onion.middleware.stores import DiscStore  # type: ignore[attr-defined]  # noqa: F401  # that is the slip


def test_a_misspelled_provider_is_an_error_before_and_while_it_runs() -> None:
    with pytest.raises(ImportError, match="opnai"):
        from onion.providers import opnai  # type: ignore[attr-defined]  # noqa: F401  # that is the slip


def test_a_misspelled_name_of_the_local_provider_is_an_error_before_and_while_it_runs() -> None:
    with pytest.raises(ImportError, match="fecth"):
        from onion.providers.local import fecth  # type: ignore[attr-defined]  # noqa: F401  # that is the slip
