"""Recorded HTTP exchanges of one folder. They are other projects' data: read where they lie, never copied here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from onion.providers._json import count_in, object_in, text_in
from onion.spec.base import JsonObject, JsonValue

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"


@dataclass(frozen=True)
class Exchange:
    """One request with its answer.

    Attributes:
        provider: The wire format.
        body: The parsed answer, or its text; None for streams.
        sse: The raw stream; None for whole answers.
        request: The body that was sent, if it is known.
        vendor: Who answered.
    """

    id: str
    provider: str
    model: str
    status: int
    headers: dict[str, str]
    body: JsonValue
    sse: bytes | None
    request: JsonValue
    vendor: str = ""

    @property
    def raw(self) -> bytes:
        """The answer's body as bytes."""
        if self.sse is not None:
            return self.sse
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


def load_exchange(path: Path) -> Exchange:
    """The exchange in one file."""
    found: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    recorded, response = members(found), members(members(found).get("response"))
    sse = response.get("sse")
    return Exchange(
        id=text_in(recorded, "id"),
        provider=text_in(recorded, "provider"),
        model=text_in(recorded, "model"),
        status=count_in(response, "status") or 0,
        headers={name: str(said) for name, said in object_in(response, "headers").items() if name not in _FRAMING},
        body=response.get("body"),
        sse=sse.encode() if isinstance(sse, str) else None,
        request=object_in(recorded, "request").get("body"),
        vendor=text_in(recorded, "vendor"),
    )


def load_exchanges(folder: Path) -> list[Exchange]:
    """All exchanges below *folder*, by id."""
    return sorted((load_exchange(path) for path in folder.rglob("*.json")), key=lambda exchange: exchange.id)


_FRAMING = ("content-length", "content-encoding", "transfer-encoding")
"""Headers that held for the recorded bytes and not for these."""


def leaves(value: JsonValue, path: str = "") -> list[tuple[str, JsonValue]]:
    """Every scalar in *value* with its path, indices written as ``[]``."""
    if isinstance(value, dict):
        return [leaf for key, found in value.items() for leaf in leaves(found, f"{path}.{key}" if path else key)]
    if isinstance(value, list | tuple):
        return [leaf for found in value for leaf in leaves(found, f"{path}[]")]
    return [(path, value)]


def members(value: JsonValue) -> JsonObject:
    """*value* if it is an object."""
    return value if isinstance(value, dict) else {}
