"""A model over HTTP, whatever its wire format: what every provider does alike, so that it writes its format only."""

from onion.providers._model.address import Address
from onion.providers._model.model import Server, WireModel
from onion.providers._model.naming import check_name, no_such_model, require_id
from onion.providers._model.wire import StreamDecoder, Wire, WireRequest

__all__ = [
    "Address",
    "Server",
    "StreamDecoder",
    "Wire",
    "WireModel",
    "WireRequest",
    "check_name",
    "no_such_model",
    "require_id",
]
