"""What an answer rests on: citations in its text, and pages that a search found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onion.providers._json import count_in, object_in, text_in
from onion.providers._media import media_type_of
from onion.providers.anthropic.names import NAME
from onion.spec.base import value
from onion.spec.content import DocumentSource, URLSource
from onion.spec.naming import camel
from onion.spec.prompt import ContentOutput, FilePart, ToolMessage, ToolResultPart, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JsonObject, JsonValue, ProviderMetadata
    from onion.spec.content import Source
    from onion.spec.prompt import Prompt

_PLAIN_TEXT = "text/plain"


@value
class Document:
    """A document of the prompt, which citations name by its number."""

    title: str
    media_type: str
    filename: str | None = None


def documents_in(prompt: Prompt) -> tuple[Document, ...]:
    """The documents of *prompt*, in their order."""
    return tuple(
        Document(title=part.filename or "Untitled document", media_type=media_type, filename=part.filename)
        for part in _files(prompt)
        if not (media_type := media_type_of(part)).startswith("image/")
    )


def _files(prompt: Prompt) -> Iterator[FilePart]:
    for message in prompt:
        if isinstance(message, UserMessage):
            yield from (part for part in message.content if isinstance(part, FilePart))
        elif isinstance(message, ToolMessage):
            outputs = [part.output for part in message.content if isinstance(part, ToolResultPart)]
            for output in outputs:
                if isinstance(output, ContentOutput):
                    yield from (item for item in output.value if isinstance(item, FilePart))


class Sources:
    """Makes the sources of one answer, and numbers them.

    Args:
        documents: Those of the prompt.
    """

    def __init__(self, documents: tuple[Document, ...]) -> None:
        self._documents = list(documents)
        self._count = 0

    def of_citation(self, citation: JsonObject) -> Source:
        """The source that *citation* names."""
        url = text_in(citation, "url") or text_in(citation, "source")
        if url:
            title = text_in(citation, "title") or None
            return URLSource(id=self._id(), url=url, title=title, provider_metadata=_rest(citation))
        index = count_in(citation, "document_index")
        known = self._documents[index] if index is not None and index < len(self._documents) else None
        title = text_in(citation, "document_title") or (known.title if known else "Untitled document")
        return DocumentSource(
            id=self._id(),
            media_type=known.media_type if known else _PLAIN_TEXT,
            title=title,
            filename=known.filename if known else None,
            provider_metadata=_rest(citation),
        )

    def of_result(self, content: JsonValue) -> list[Source]:
        """The pages that a search found; a page that was fetched is a document from now on."""
        if isinstance(content, Mapping):
            document = object_in(content, "content")
            if text_in(document, "type") == "document":
                media_type = text_in(object_in(document, "source"), "media_type") or _PLAIN_TEXT
                title = text_in(document, "title") or text_in(content, "url")
                self._documents.append(Document(title=title, media_type=media_type))
        found: list[Source] = []
        for page in content if isinstance(content, list) else ():
            if isinstance(page, Mapping) and page.get("type") == "web_search_result" and text_in(page, "url"):
                age = text_in(page, "page_age")
                found.append(
                    URLSource(
                        id=self._id(),
                        url=text_in(page, "url"),
                        title=text_in(page, "title") or None,
                        provider_metadata={NAME: {"pageAge": age}} if age else None,
                    )
                )
        return found

    def _id(self) -> str:
        self._count += 1
        return f"source-{self._count}"


def _rest(citation: JsonObject) -> ProviderMetadata | None:
    """Where in the source, and what was cited, under the names of the AI SDK."""
    known = ("type", "url", "source", "title", "document_title")
    told = {camel(key): found for key, found in citation.items() if key not in known and found is not None}
    return {NAME: told} if told else None
