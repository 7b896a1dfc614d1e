from __future__ import annotations

import pytest

import onion.middleware
import onion.middleware.stores
from onion.wrap import Middleware


@pytest.mark.parametrize("module", [onion.middleware, onion.middleware.stores], ids=lambda module: module.__name__)
def test_every_name_of_the_package_is_there(module: object) -> None:
    names = getattr(module, "__all__", [])

    assert names
    assert [name for name in names if getattr(module, name, None) is None] == []
    assert set(names) <= set(dir(module))


@pytest.mark.parametrize("module", [onion.middleware, onion.middleware.stores], ids=lambda module: module.__name__)
def test_an_unknown_name_is_an_attribute_error(module: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(module, "Nothing")  # noqa: B009 - pyright knows that it is not there


def test_every_layer_is_a_middleware_with_a_docstring() -> None:
    found = [getattr(onion.middleware, name) for name in onion.middleware.__all__]
    layers = [layer for layer in found if isinstance(layer, type) and issubclass(layer, Middleware)]

    assert layers
    assert [layer for layer in layers if not layer.__doc__] == []
