"""Where `Cache` keeps its entries. Each store loads its package when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from onion.middleware.stores.disk import DiskStore
    from onion.middleware.stores.memory import MemoryStore
    from onion.middleware.stores.redis import RedisStore

__all__ = ["CacheStore", "ClaimingStore", "DiskStore", "ListingStore", "MemoryStore", "RedisStore"]

_MODULES = {"DiskStore": "disk", "MemoryStore": "memory", "RedisStore": "redis"}


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


@runtime_checkable
class ClaimingStore(Protocol):
    """What a store shared by several processes may offer besides, so that they make one call of equal ones."""

    async def claim(self, key: str, *, seconds: float) -> str:
        """A token if nobody holds *key*, else an empty text. The claim lapses after *seconds*."""
        ...

    async def release(self, key: str, token: str) -> None:
        """Give back what *token* holds; nothing happens if it lapsed."""
        ...


@runtime_checkable
class ListingStore(Protocol):
    """What a store may offer besides, so that its entries can be looked at from outside."""

    async def get(self, key: str) -> str | None:
        """The text under *key*."""
        ...

    async def delete(self, key: str) -> None:
        """Forget *key*."""
        ...

    async def keys(self) -> list[str]:
        """The keys of all entries, in no order; claims are none."""
        ...

    async def aclose(self) -> None:
        """Release what the store holds open."""
        ...


if not TYPE_CHECKING:  # a checker that saw it would take every misspelled name

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
