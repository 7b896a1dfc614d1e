"""The framework's own layers, as scenarios name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.wrap import Middleware
    from tests.conformance.data import MiddlewareData


def built_in(data: MiddlewareData) -> Middleware:
    """The layer that *data* names."""
    return _BUILT_IN[data["type"]](data)


_BUILT_IN: dict[str, Callable[[MiddlewareData], Middleware]] = {}
