"""Sources: citations of pages and documents, and pages that a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.content import DocumentSource, URLSource
from onion.spec.prompt import (
    ContentOutput,
    FileData,
    FilePart,
    FileText,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolApprovalResponsePart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from tests.providers.anthropic.bodies import HELLO, message, read, text

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.prompt import Prompt

PDF = FilePart(media_type="application/pdf", data=FileData(data=b"%PDF"), filename="a.pdf")
NOTE = FilePart(media_type="text/plain", data=FileText(text="x"))
IMAGE = FilePart(media_type="image/png", data=FileData(data=b"x"))
RESULT = ToolResultPart(tool_call_id="c", tool_name="t", output=ContentOutput(value=(TextPart(text="a"), NOTE)))
PLAIN = ToolResultPart(tool_call_id="d", tool_name="t", output=TextOutput(value="x"))
PROMPT: Prompt = (
    SystemMessage(content="S"),
    UserMessage(content=(TextPart(text="q"), IMAGE, PDF)),
    ToolMessage(content=(RESULT, PLAIN, ToolApprovalResponsePart(approval_id="a", approved=True))),
)


def cited(*citations: JsonValue) -> list[object]:
    """The sources of a text with those citations."""
    content = read(message(text("x", citations=list(citations))), HELLO.replace(prompt=PROMPT)).content
    return [part for part in content if isinstance(part, URLSource | DocumentSource)]


def test_a_citation_of_a_document_names_the_document_of_the_prompt() -> None:
    first: JsonObject = {
        "type": "page_location",
        "document_index": 0,
        "document_title": "The A",
        "cited_text": "a",
        "start_page_number": 1,
        "file_id": None,
    }
    second: JsonObject = {"type": "char_location", "document_index": 1, "document_title": None}

    assert cited(first, second, "no citation") == [
        DocumentSource(
            id="source-1",
            media_type="application/pdf",
            title="The A",
            filename="a.pdf",
            provider_metadata={"anthropic": {"documentIndex": 0, "citedText": "a", "startPageNumber": 1}},
        ),
        DocumentSource(
            id="source-2",
            media_type="text/plain",
            title="Untitled document",
            provider_metadata={"anthropic": {"documentIndex": 1}},
        ),
    ]


def test_a_citation_of_a_document_that_nobody_knows_is_a_source_too() -> None:
    assert cited({"type": "char_location", "document_index": 7}, {"type": "novelty"}) == [
        DocumentSource(
            id="source-1",
            media_type="text/plain",
            title="Untitled document",
            provider_metadata={"anthropic": {"documentIndex": 7}},
        ),
        DocumentSource(id="source-2", media_type="text/plain", title="Untitled document"),
    ]


def test_a_citation_of_a_search_result_names_its_source() -> None:
    assert cited({"type": "search_result_location", "source": "https://s", "title": None}) == [
        URLSource(id="source-1", url="https://s")
    ]


def test_pages_that_a_search_found_are_sources() -> None:
    pages: list[JsonValue] = [
        {"type": "web_search_result", "url": "https://a", "title": "A", "encrypted_content": "E", "page_age": None},
        {"type": "web_search_result", "url": ""},
        {"type": "other", "url": "https://b"},
        "x",
    ]

    result = read(message({"type": "web_search_tool_result", "tool_use_id": "s", "content": pages}))

    assert [part for part in result.content if isinstance(part, URLSource)] == [
        URLSource(id="source-1", url="https://a", title="A")
    ]


def test_a_page_that_was_fetched_is_a_document_to_cite() -> None:
    page: JsonObject = {
        "type": "web_fetch_result",
        "url": "https://f",
        "content": {"type": "document", "source": {"type": "base64", "media_type": "application/pdf"}},
    }
    bare: JsonObject = {"type": "web_fetch_result", "url": "https://g", "content": {"type": "document", "title": "G"}}
    blocks: list[JsonObject] = [
        {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": page},
        {"type": "web_fetch_tool_result", "tool_use_id": "s2", "content": bare},
        text("x", citations=[{"type": "char_location", "document_index": 0}, {"document_index": 1}]),
    ]

    found = [part for part in read(message(*blocks)).content if isinstance(part, DocumentSource)]

    assert [(part.title, part.media_type) for part in found] == [("https://f", "application/pdf"), ("G", "text/plain")]
