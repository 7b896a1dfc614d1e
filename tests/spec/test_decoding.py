"""Readers of types that the contract may come to use, beyond those that it does."""

from __future__ import annotations

import pytest

from onion.errors import TypeValidationError
from onion.spec import Text
from onion.spec.decoding import decoder


def test_a_union_of_values_and_others_is_read_by_what_is_there() -> None:
    read = decoder(Text | str | int | None)

    assert read(None, "it") is None
    assert read({"type": "text", "text": "a"}, "it") == Text(text="a")
    assert read("x", "it") == "x"
    assert read(3, "it") == 3
    with pytest.raises(TypeValidationError):
        read([3], "it")
