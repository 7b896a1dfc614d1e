"""Where `Cache` keeps its entries. Each store loads its package when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from onion.middleware.stores.memory import MemoryStore

__all__ = ["CacheStore", "MemoryStore"]

_MODULES = {"MemoryStore": "memory"}


class CacheStore(Protocol):
    """Keeps texts under keys. Both are plain text: keys short, values JSON.

    A store may lose entries at any time, and may raise: `Cache` waits for a bounded time, logs a warning and calls the
    model.
    """

    async def get(self, key: str) -> str | None:
        """The text under *key*; None if there is none, or it is too old."""
        ...

    async def set(self, key: str, value: str, *, ttl: float | None) -> None:
        """Keep *value* under *key*, for *ttl* seconds; None means as long as there is room."""
        ...

    async def delete(self, key: str) -> None:
        """Forget *key*, if it is known."""
        ...


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    found: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
