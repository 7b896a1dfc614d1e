"""Tools that Google defines and runs, ready to be put into ``tools=``.

Their arguments are those of the Gemini API (page "Using tools with the Gemini API"); what it adds goes
into ``settings``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onion.providers.google.names import NAME
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from onion.spec.base import JsonValue


def google_search(
    *,
    time_range: Mapping[str, str] | None = None,
    name: str = "google_search",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Search the web with Google; the answer names its sources.

    Args:
        time_range: ``{"startTime": ..., "endTime": ...}``, times as RFC 3339 has them.
        name: What you call it.
        settings: Whatever else the API takes.
    """
    return _tool("google_search", name, {"timeRangeFilter": dict(time_range) if time_range else None}, settings)


def url_context(*, name: str = "url_context", settings: Mapping[str, JsonValue] | None = None) -> ProviderTool:
    """Read the pages behind URLs that the prompt mentions."""
    return _tool("url_context", name, {}, settings)


def code_execution(*, name: str = "code_execution", settings: Mapping[str, JsonValue] | None = None) -> ProviderTool:
    """Run Python code at Google's."""
    return _tool("code_execution", name, {}, settings)


def file_search(
    *,
    file_search_store_names: Sequence[str],
    top_k: int | None = None,
    metadata_filter: str | None = None,
    name: str = "file_search",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Search files in stores: ``file_search(file_search_store_names=["fileSearchStores/my-store"])``."""
    args: dict[str, JsonValue] = {
        "fileSearchStoreNames": list(file_search_store_names),
        "topK": top_k,
        "metadataFilter": metadata_filter,
    }
    return _tool("file_search", name, args, settings)


def google_maps(
    *, enable_widget: bool | None = None, name: str = "google_maps", settings: Mapping[str, JsonValue] | None = None
) -> ProviderTool:
    """Look up places on Google Maps."""
    return _tool("google_maps", name, {"enableWidget": enable_widget}, settings)


def enterprise_web_search(
    *, name: str = "enterprise_web_search", settings: Mapping[str, JsonValue] | None = None
) -> ProviderTool:
    """Search the web under the rules for enterprises; on Vertex AI."""
    return _tool("enterprise_web_search", name, {}, settings)


def vertex_rag_store(
    *,
    rag_corpus: str,
    top_k: int | None = None,
    name: str = "vertex_rag_store",
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """Search a corpus of the RAG engine; on Vertex AI."""
    corpus: JsonValue = [{"ragCorpus": rag_corpus}]
    return _tool("vertex_rag_store", name, {"ragResources": corpus, "similarityTopK": top_k}, settings)


def _tool(
    kind: str, name: str, args: Mapping[str, JsonValue], settings: Mapping[str, JsonValue] | None
) -> ProviderTool:
    given = {key: found for key, found in {**args, **(settings or {})}.items() if found is not None}
    return ProviderTool(id=f"{NAME}.{kind}", name=name, args=given, is_provider_executed=True)
