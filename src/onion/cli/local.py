"""`onion local`: fetch the weights, serve the local model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from onion.cli.progress import download_progress
from onion.cli.render import Kind

if TYPE_CHECKING:
    from onion.cli.options import Options
    from onion.cli.terminal import Terminal

ENDPOINTS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")
WAIT_SECONDS = 1.0


def fetch(options: Options, terminal: Terminal) -> int:
    """Bring the weights into the cache folder, and write where they are."""
    from onion.providers.local import fetch as fetch_weights

    del options
    with download_progress("weights", terminal) as report:
        fetched = fetch_weights(progress=report)
    terminal.note("the weights were there already" if fetched.was_there else "the weights are fetched", Kind.FIGURES)
    terminal.line(str(fetched.path))
    return 0


def serve(options: Options, terminal: Terminal) -> int:
    """Serve the local model until Ctrl-C, which is the way to end it and so no failure."""
    from onion.providers.local import serve as serve_model

    with serve_model(options.weights, host=options.host, port=options.port) as server:
        terminal.line(server.url)
        terminal.note(f"serves {server.model_id} under {', '.join(ENDPOINTS)}; Ctrl-C stops it", Kind.FIGURES)
        try:
            # In short pieces, since one long wait could not be interrupted on every system.
            while True:
                time.sleep(WAIT_SECONDS)
        except KeyboardInterrupt:
            terminal.note("stopped", Kind.FIGURES)
    return 0
