"""Fixtures of the loop's tests."""

from __future__ import annotations

import pytest

from tests.loop.bank import Bank


@pytest.fixture
def bank() -> Bank:
    """A bank whose payments need an approval."""
    return Bank(needs_approval=True)
