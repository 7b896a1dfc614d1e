"""`onion explain`: what a model is made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onion.cli.loading import load_model
from onion.spec.json import to_json
from onion.wrap import explain

if TYPE_CHECKING:
    from onion.cli.options import Options
    from onion.cli.terminal import Terminal


def command(options: Options, terminal: Terminal) -> int:
    """Draw the layers of the named model, or write them as JSON."""
    explanation = explain(load_model(options.target))
    terminal.line(json.dumps(to_json(explanation)) if options.json else str(explanation))
    return 0
