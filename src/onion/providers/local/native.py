"""The inference engine, llama.cpp by way of xllamacpp: started here, and called here and nowhere else."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from onion.errors import InvalidArgumentError, LocalModelError, MissingExtraError

if TYPE_CHECKING:
    import xllamacpp

    from onion.spec.base import JsonObject

LOOPBACK = "127.0.0.1"
_CACHE_MEBIBYTES = 256
_BATCH_TOKENS = 256
"""A long prompt is read in batches; between two of them a call can be stopped."""
_SILENT = -1

OnChunk: TypeAlias = Callable[["JsonObject"], bool]
"""Takes each chunk of an answer; True stops the generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What makes one engine; equal settings share it.

    Attributes:
        weights: The ``.gguf`` file.
        model_id: What the model is called in answers.
        context_tokens: Prompt and answer of one call together, in tokens.
        slots: Calls that run at the same time; more of them wait.
        threads: Of the processor; None lets the engine choose.
        host: Address that its HTTP side listens at.
        port: 0 lets the system choose.
        is_private: The HTTP side, which the engine always has, serves nobody: its key is random.
        api_key: What the HTTP side asks for if it is not private; empty means nothing.
        chat_template: Jinja template in place of the weights' own; empty for that one.
    """

    weights: Path
    model_id: str
    context_tokens: int = 4096
    slots: int = 4
    threads: int | None = None
    host: str = LOOPBACK
    port: int = 0
    is_private: bool = True
    api_key: str = ""
    chat_template: str = ""

    def __post_init__(self) -> None:
        for name, given in (("context_tokens", self.context_tokens), ("slots", self.slots), ("threads", self.threads)):
            if given is not None and given < 1:
                msg = f"{name} must be at least 1, got {given!r}"
                raise InvalidArgumentError(msg, parameter=name, value=given)


class NativeEngine(Protocol):
    """A started engine. Its methods block and may be called from many threads at once."""

    url: str
    """Where its HTTP side listens."""
    api_key: str
    """What that side asks for; empty if nothing."""

    def complete(self, request: JsonObject, on_chunk: OnChunk) -> None:
        """Answer a chat request in the OpenAI format; each chunk, or an error in its place, goes to *on_chunk*.

        Raises:
            ValueError: For a request that the engine cannot read.
            RuntimeError: For one that it cannot do.
        """
        ...

    def grammar(self, schema: JsonObject) -> str:
        """What makes an answer fit *schema*, for the ``grammar`` of a request."""
        ...

    def stop(self) -> None:
        """End the engine, and with it the calls that run."""
        ...


StartEngine: TypeAlias = Callable[[EngineSettings], NativeEngine]


def start_native(settings: EngineSettings) -> NativeEngine:
    """Load the weights and start the engine; takes about a second.

    Raises:
        MissingExtraError: When xllamacpp is not installed.
        LocalModelError: When the engine cannot run the weights.
    """
    # With OpenMP's threads spinning, two engine threads on a busy machine fall to a tenth; read when the library loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ModuleNotFoundError as error:
        raise MissingExtraError("xllamacpp", extra="local") from error
    api_key = secrets.token_urlsafe() if settings.is_private else settings.api_key
    try:
        server = xllamacpp.Server(_parameters(settings, api_key))
        server.handle_metrics()  # an engine that is ended before its loop runs never ends: wait for its first answer
    except RuntimeError as error:
        msg = (
            f"the engine cannot run {str(settings.weights)!r} at {settings.host}:{settings.port} ({error}): is it a "
            f"whole .gguf file of a kind that llama.cpp knows, is the port free, and is there memory for "
            f"{settings.slots} x {settings.context_tokens} tokens of context?"
        )
        raise LocalModelError(msg) from error
    return _Xllamacpp(server, xllamacpp.json_schema_to_grammar, api_key)


def _parameters(settings: EngineSettings, api_key: str) -> xllamacpp.CommonParams:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(settings.weights)
    parameters.model_alias = {settings.model_id}
    parameters.n_ctx = settings.context_tokens * settings.slots
    parameters.n_parallel = settings.slots
    parameters.n_batch = _BATCH_TOKENS
    parameters.cache_ram_mib = _CACHE_MEBIBYTES
    parameters.hostnames = [settings.host]
    parameters.port = settings.port
    parameters.api_keys = [api_key] if api_key else []
    parameters.cors_origins = ""  # its default lets every web page in the user's browser call it
    parameters.ui = False
    parameters.endpoint_metrics = True
    parameters.endpoint_slots = True
    parameters.chat_template = settings.chat_template
    parameters.verbosity = _SILENT
    if settings.threads is not None:
        parameters.cpuparams.n_threads = settings.threads
    return parameters


class _Xllamacpp:
    def __init__(self, server: xllamacpp.Server, to_grammar: Callable[[JsonObject], str], api_key: str) -> None:
        self._server: xllamacpp.Server | None = server
        self._to_grammar = to_grammar
        self.url = server.listening_address
        self.api_key = api_key

    def complete(self, request: JsonObject, on_chunk: OnChunk) -> None:
        server = self._server
        if server is None:
            msg = "the engine was stopped"
            raise RuntimeError(msg)
        server.handle_chat_completions(dict(request), on_chunk)

    def grammar(self, schema: JsonObject) -> str:
        return self._to_grammar(dict(schema))

    def stop(self) -> None:
        self._server = None  # the last reference: its destructor ends the threads
