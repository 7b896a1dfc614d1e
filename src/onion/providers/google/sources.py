"""What an answer rests on: the chunks of its grounding as sources, with the passages that each supports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, objects_in, text_in
from onion.providers.google.names import NAME
from onion.spec.content import DocumentSource, URLSource

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue, ProviderMetadata
    from onion.spec.content import Source

_KINDS = ("web", "retrievedContext", "maps", "image")
_ADDRESSES = ("uri", "sourceUri")
_TYPES = {".pdf": "application/pdf", ".md": "text/markdown", ".html": "text/html", ".json": "application/json"}


def sources_of(grounding: JsonObject, text: str) -> list[Source]:
    """The sources that *grounding* names, in its order.

    Args:
        grounding: The ``groundingMetadata`` of the answer.
        text: The answer, in which its offsets count bytes of UTF-8.
    """
    passages = _passages(grounding, text.encode("utf-8", "replace"))
    found: list[Source] = []
    for index, chunk in enumerate(_chunks(grounding)):
        kind = next((name for name in _KINDS if object_in(chunk, name)), None)
        if kind is not None:
            found.append(_source(f"source-{len(found) + 1}", object_in(chunk, kind), passages.get(index)))
    return found


def _chunks(grounding: JsonObject) -> list[JsonObject]:
    """The chunks with their numbers kept: what is no object counts as an empty one."""
    chunks = grounding.get("groundingChunks")
    return [chunk if isinstance(chunk, dict) else {} for chunk in chunks] if isinstance(chunks, list) else []


def _source(source_id: str, chunk: JsonObject, passages: list[JsonValue] | None) -> Source:
    address = next((text_in(chunk, key) for key in _ADDRESSES if text_in(chunk, key)), "")
    title = text_in(chunk, "title")
    told: dict[str, JsonValue] = {key: member for key, member in chunk.items() if key not in ("title", *_ADDRESSES)}
    if passages:
        told["passages"] = passages
    metadata: ProviderMetadata | None = {NAME: told} if told else None
    if address.startswith(("http://", "https://")):
        return URLSource(id=source_id, url=address, title=title or None, provider_metadata=metadata)
    filename = address.rpartition("/")[2] or None
    if address:
        metadata = {NAME: {"uri": address, **told}}
    return DocumentSource(
        id=source_id,
        media_type=_TYPES.get("." + (filename or title).rpartition(".")[2].lower(), "text/plain"),
        title=title or filename or text_in(chunk, "fileSearchStore") or "Untitled document",
        filename=filename,
        provider_metadata=metadata,
    )


def _passages(grounding: JsonObject, answer: bytes) -> dict[int, list[JsonValue]]:
    """By number of the chunk, the passages of the answer that rest on it, with offsets in characters."""
    found: dict[int, list[JsonValue]] = {}
    for support in objects_in(grounding, "groundingSupports"):
        segment = object_in(support, "segment")
        passage: dict[str, JsonValue] = {"text": text_in(segment, "text")}
        start, end = count_in(segment, "startIndex") or 0, count_in(segment, "endIndex")
        if end is not None and not segment.get("partIndex"):
            passage |= {"start": _characters(answer, start), "end": _characters(answer, end)}
        chunks = support.get("groundingChunkIndices")
        for index in chunks if isinstance(chunks, list) else ():
            if isinstance(index, int):
                found.setdefault(index, []).append(passage)
    return found


def _characters(answer: bytes, offset: int) -> int:
    return len(answer[:offset].decode("utf-8", "ignore"))
