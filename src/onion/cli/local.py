"""`onion local`: fetch the weights, serve the local model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.cli.progress import download_progress
from onion.cli.render import Kind

if TYPE_CHECKING:
    from onion.cli.options import Options
    from onion.cli.terminal import Terminal


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
    """Serve the local model until Ctrl-C."""
    raise NotImplementedError
