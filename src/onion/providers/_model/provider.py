"""What a provider of models behind HTTP is, whatever its wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from onion.errors import InvalidArgumentError, NoSuchModelError
from onion.providers._model.model import WireModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.providers._model.model import Server
    from onion.providers._model.wire import Wire

_RESERVED_NAME = "onion"
_UPWARD = frozenset({".", ".."})
"""Parts of an address that lead elsewhere (RFC 3986, section 5.2.4): an id may come from a stranger."""


class WireProvider:
    """The models of one server; a vendor's own class says only what its settings are (docs/decisions, 0011).

    Args:
        name: Of the provider, which is also the key of its options and metadata.
        server: Where the models are.
        wire_for: Gives the wire format in which a model is spoken to, by its id.

    Raises:
        InvalidArgumentError: For a reserved name.
    """

    def __init__(self, name: str, server: Server, wire_for: Callable[[str], Wire]) -> None:
        self._name = _checked(name)
        self._server = server
        self._wire_for = wire_for

    def language_model(self, model_id: str, /) -> WireModel:
        """The model of that id; whether it exists only the server knows.

        Raises:
            NoSuchModelError: For an id that can be none: it is empty, cannot be printed, or climbs out of its place in
                the address.
        """
        if not model_id:
            msg = f"{self._name} needs a model id, got an empty one"
            raise NoSuchModelError(msg, model_id=model_id)
        if not model_id.isprintable() or not _UPWARD.isdisjoint(model_id.split("/")):
            msg = f"{model_id!r} can be the id of no model of {self._name}: it would become part of the address"
            raise NoSuchModelError(msg, model_id=model_id)
        return WireModel(model_id, self._server, self._wire_for(model_id))

    def embedding_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        raise _no_such_model(self._name, model_id, "embedding model")

    def image_model(self, model_id: str, /) -> NoReturn:
        """Reserved: there are none yet."""
        raise _no_such_model(self._name, model_id, "image model")

    async def aclose(self) -> None:
        """Close the connections that were opened in the running event loop; they open again when needed."""
        await self._server.transport.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, {self._server.address})"


def _checked(name: str) -> str:
    if not name or name == _RESERVED_NAME:
        msg = f"a provider cannot be called {name!r}: choose another name"
        raise InvalidArgumentError(msg, parameter="name", value=name)
    return name


def _no_such_model(name: str, model_id: str, kind: str) -> NoSuchModelError:
    msg = f"{name} offers no {kind} {model_id!r} here: only language models"
    return NoSuchModelError(msg, model_id=model_id, kind=kind)
