"""Tools that Google defines, ready to be put into ``tools=``. Google runs them all but `computer_use`.

Their arguments are those of the Gemini API ("Using tools with the Gemini API") and of Vertex AI; what they add goes
into ``settings``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from onion.providers.google.names import ACTION, COMPUTER, NAME
from onion.spec.call import ProviderTool

if TYPE_CHECKING:
    from onion.spec.base import JSONSchema, JsonValue

_OF_ACTIONS: JSONSchema = {"type": "object", "properties": {ACTION: {"type": "string"}}, "required": [ACTION]}


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


def vertex_ai_search(
    *, datastore: str, name: str = "vertex_ai_search", settings: Mapping[str, JsonValue] | None = None
) -> ProviderTool:
    """Search a data store of Vertex AI Search, named by its whole path; on Vertex AI."""
    return _tool("vertex_ai_search", name, {"datastore": datastore}, settings)


def computer_use(
    *,
    environment: str = "browser",
    excluded_predefined_functions: Sequence[str] | None = None,
    execute: Callable[..., object] | None = None,
    name: str = COMPUTER,
    settings: Mapping[str, JsonValue] | None = None,
) -> ProviderTool:
    """See and use a screen of the caller's.

    Each of Google's functions is a call of this tool: the input has ``action``, the function's name, beside its
    arguments, and where Google wants the user asked before, ``safety_decision``. An object that is given back goes to
    the model as it is: it wants ``url``, and ``safety_acknowledgement`` where it asked. A screenshot goes with it as
    the file of a `ContentOutput` whose text is that object.

    Args:
        environment: Where it acts: ``browser``, ``mobile`` or ``desktop``.
        excluded_predefined_functions: Those that it must not call.
        execute: Acts; without it, calls are handed back.
        name: What you call it.
        settings: Whatever else the API takes.
    """
    args: dict[str, JsonValue] = {
        "environment": f"ENVIRONMENT_{environment.upper()}",
        "excludedPredefinedFunctions": list(excluded_predefined_functions) if excluded_predefined_functions else None,
    }
    made = _tool(COMPUTER, name, args, settings)
    return dataclasses.replace(made, execute=execute, is_provider_executed=False, input_schema=_OF_ACTIONS)


def _tool(
    kind: str, name: str, args: Mapping[str, JsonValue], settings: Mapping[str, JsonValue] | None
) -> ProviderTool:
    given = {key: found for key, found in {**args, **(settings or {})}.items() if found is not None}
    return ProviderTool(id=f"{NAME}.{kind}", name=name, args=given, is_provider_executed=True)
