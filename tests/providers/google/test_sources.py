"""What an answer rests on: grounding as sources, and the passages that rest on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.content import DocumentSource, URLSource
from tests.providers.google.bodies import chunk, collected, text
from tests.providers.google.test_quirks import both, google

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue


def test_the_last_grounding_that_says_something_counts() -> None:
    page: JsonObject = {"groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}]}

    result = collected(
        chunk(text("a"), groundingMetadata={}),
        chunk(text("b"), groundingMetadata=page),
        chunk(reason="STOP", groundingMetadata={}),
    )

    assert result.content[-1] == URLSource(id="source-1", url="https://a", title="A")
    assert result.provider_metadata == {"google": {"groundingMetadata": page}}


def test_passages_count_characters_where_the_api_counts_bytes_and_begin_at_zero() -> None:
    grounding: JsonObject = {
        "groundingChunks": [{"web": {"uri": "https://a"}}, "junk", {"novelty": {}}, {"web": {"uri": "https://b"}}],
        "groundingSupports": [
            {"segment": {"endIndex": 6, "text": "grün"}, "groundingChunkIndices": [0, "x"]},
            {"segment": {"startIndex": 6, "endIndex": 9, "text": "Tee"}, "groundingChunkIndices": [0, 3]},
            {"segment": {"partIndex": 1, "endIndex": 3, "text": "???"}, "groundingChunkIndices": [3]},
            {"segment": {"text": "?"}},
        ],
    }

    result = both(text("grün Tee"), grounding=grounding)

    first, second = result.content[1:]
    tea: JsonObject = {"text": "Tee", "start": 5, "end": 8}
    assert google(first) == {"passages": [{"text": "grün", "start": 0, "end": 5}, tea]}
    assert google(second) == {"passages": [tea, {"text": "???"}]}
    assert isinstance(second, URLSource)
    assert (second.id, second.url) == ("source-2", "https://b")


def test_chunks_are_pages_documents_places_and_images() -> None:
    chunks: JsonValue = [
        {"retrievedContext": {"uri": "https://a/x", "title": "X", "text": "t"}},
        {"retrievedContext": {"uri": "gs://b/report.pdf"}},
        {"retrievedContext": {"text": "t", "fileSearchStore": "fileSearchStores/s"}},
        {"maps": {"uri": "https://maps/1", "title": "Inn", "placeId": "p"}},
        {"image": {"sourceUri": "https://i/1", "imageUri": "https://i/1.png"}},
        {"retrievedContext": {"text": "t"}},
    ]

    found = both(text("a"), grounding={"groundingChunks": chunks}).content[1:]

    assert found[0] == URLSource(
        id="source-1", url="https://a/x", title="X", provider_metadata={"google": {"text": "t"}}
    )
    assert found[1] == DocumentSource(
        id="source-2",
        media_type="application/pdf",
        title="report.pdf",
        filename="report.pdf",
        provider_metadata={"google": {"uri": "gs://b/report.pdf"}},
    )
    titles = [part.title for part in found if isinstance(part, DocumentSource | URLSource)]
    assert titles == ["X", "report.pdf", "fileSearchStores/s", "Inn", None, "Untitled document"]
    assert google(found[3]) == {"placeId": "p"}


def test_what_was_read_of_urls_is_told_beside_the_grounding() -> None:
    told: JsonObject = {"urlMetadata": [{"retrievedUrl": "https://a"}]}

    assert both(text("a"), urlContextMetadata=told).provider_metadata == {"google": {"urlContextMetadata": told}}
