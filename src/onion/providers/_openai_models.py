"""What must be known of OpenAI's models: a table of id prefixes. Ids that it does not name count as the newest.

Levels are those that the API names where it refuses another: the API reference on ``reasoning_effort``, and refusals
quoted in openai/codex (issue 6647), openai/openai-agents-python (2089), Laisky/one-api (285), router-for-me/CLIProxyAPI
(pull request 249) and anomalyco/models.dev (pull request 2351), read 2026-12-01. The rest is from the model pages, read
2026-11-30.
"""

from __future__ import annotations

from dataclasses import replace

from onion.providers._traits import SAMPLING, ModelTraits

_STOP = frozenset({"stop"})
_CLASSIC = ("low", "medium", "high")
_REASONS = ModelTraits(refuses=SAMPLING | _STOP, efforts=_CLASSIC)
_MAY_REST = ModelTraits(refuses=_STOP, refuses_unless_effort_none=SAMPLING, efforts=("none", *_CLASSIC, "xhigh"))
_CODEX = ("gpt-5.1-codex-max", "gpt-5.2-codex", "gpt-5.3-codex")

OPENAI_MODELS = (
    _MAY_REST,
    ModelTraits(prefix="gpt-3.5", takes_effort=False),
    ModelTraits(prefix="gpt-4", takes_effort=False),
    ModelTraits(prefix="gpt-4o-search", takes_effort=False, refuses=SAMPLING),
    ModelTraits(prefix="gpt-4o-mini-search", takes_effort=False, refuses=SAMPLING),
    ModelTraits(prefix="gpt-audio", takes_effort=False),
    ModelTraits(prefix="chatgpt-", takes_effort=False),
    ModelTraits(prefix="ft:gpt-3.5", takes_effort=False),
    ModelTraits(prefix="ft:gpt-4", takes_effort=False),
    ModelTraits(prefix="o1", refuses=SAMPLING, efforts=_CLASSIC),
    replace(_REASONS, prefix="o3"),
    replace(_REASONS, prefix="o4"),
    replace(_REASONS, prefix="codex-mini"),
    replace(_REASONS, prefix="gpt-5", efforts=("minimal", *_CLASSIC)),
    replace(_REASONS, prefix="gpt-5-codex"),
    replace(_REASONS, prefix="gpt-5-pro", efforts=("high",)),
    ModelTraits(prefix="gpt-5-chat", takes_effort=False),
    replace(_MAY_REST, prefix="gpt-5."),
    replace(_MAY_REST, prefix="gpt-5.1", efforts=("none", *_CLASSIC)),
    replace(_REASONS, prefix="gpt-5.1-codex"),
    replace(_REASONS, prefix="gpt-5.1-codex-mini", efforts=("medium", "high")),
    *(replace(_REASONS, prefix=prefix, efforts=(*_CLASSIC, "xhigh")) for prefix in _CODEX),
    *(replace(_REASONS, prefix=f"gpt-5.{number}-chat", efforts=("medium",)) for number in (1, 2, 3)),
    *(replace(_REASONS, prefix=f"gpt-5.{number}-pro", efforts=("medium", "high", "xhigh")) for number in (2, 4, 5)),
)
