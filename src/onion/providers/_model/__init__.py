"""A model over HTTP, whatever its wire format: what every provider does alike, so that it writes its format only."""

from onion.providers._model.address import Address
from onion.providers._model.decoder import (
    AnswerDecoder,
    AnswerReader,
    Progress,
    holds_content,
    no_answer,
    whole_answer,
)
from onion.providers._model.model import Server, WireModel
from onion.providers._model.provider import WireProvider
from onion.providers._model.wire import UNKNOWN, Exchange, StreamDecoder, Wire, WireRequest

__all__ = [
    "UNKNOWN",
    "Address",
    "AnswerDecoder",
    "AnswerReader",
    "Exchange",
    "Progress",
    "Server",
    "StreamDecoder",
    "Wire",
    "WireModel",
    "WireProvider",
    "WireRequest",
    "holds_content",
    "no_answer",
    "whole_answer",
]
