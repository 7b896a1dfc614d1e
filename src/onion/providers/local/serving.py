"""`onion local serve`: the local model behind the HTTP endpoints of three wire formats."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onion.providers.local.native import LOOPBACK, EngineSettings, StartEngine, start_native
from onion.providers.local.template import TEMPLATE
from onion.providers.local.weights import SMOLLM2, find_weights

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A running server.

    Attributes:
        url: Without path; ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/messages`` lie under it.
        model_id: What it calls its model.
        weights: The file that it runs.
    """

    url: str
    model_id: str
    weights: Path


@contextmanager
def serve(  # noqa: PLR0913 - a public entry point
    model: str | os.PathLike[str] | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    context_tokens: int = 4096,
    slots: int = 4,
    threads: int | None = None,
    api_key: str = "",
    start: StartEngine = start_native,
) -> Generator[LocalServer]:
    """Serve the local model as long as the ``with`` block runs.

    Args:
        model: Path of a ``.gguf`` file; None means the weights that `fetch` brings.
        host: Address to listen at. Whoever can reach it can use the model, unless there is an *api_key*.
        port: 0 lets the system choose.
        context_tokens: Prompt and answer of one call together, in tokens.
        slots: Calls that run at the same time; more of them wait.
        threads: Of the processor; None lets the engine choose.
        api_key: What clients must send as bearer token; empty means nothing.
        start: Starts the engine.

    Raises:
        LocalModelError: When the weights are missing, or the engine cannot run them there.
        MissingExtraError: When the engine is not installed.
    """
    weights, model_id = find_weights(model)
    engine = start(
        EngineSettings(
            weights=weights,
            model_id=model_id,
            context_tokens=context_tokens,
            slots=slots,
            threads=threads,
            host=host,
            port=port,
            is_private=False,
            api_key=api_key,
            chat_template=TEMPLATE if model_id == SMOLLM2.model_id else "",
        )
    )
    try:
        yield LocalServer(url=engine.url, model_id=model_id, weights=weights)
    finally:
        engine.stop()
