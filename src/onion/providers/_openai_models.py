"""What must be known of OpenAI's models: a table of id prefixes. Ids that it does not name count as the newest.

From the API reference and the model pages, read 2026-11-30.
"""

from __future__ import annotations

from onion.providers._traits import SAMPLING, ModelTraits

_STOP = frozenset({"stop"})
_CLASSIC = ("low", "medium", "high")

OPENAI_MODELS = (
    ModelTraits(refuses=_STOP, refuses_unless_effort_none=SAMPLING),
    ModelTraits(prefix="gpt-3.5", takes_effort=False),
    ModelTraits(prefix="gpt-4", takes_effort=False),
    ModelTraits(prefix="gpt-4o-search", takes_effort=False, refuses=SAMPLING),
    ModelTraits(prefix="gpt-4o-mini-search", takes_effort=False, refuses=SAMPLING),
    ModelTraits(prefix="gpt-audio", takes_effort=False),
    ModelTraits(prefix="chatgpt-", takes_effort=False),
    ModelTraits(prefix="ft:gpt-3.5", takes_effort=False),
    ModelTraits(prefix="ft:gpt-4", takes_effort=False),
    ModelTraits(prefix="o1", refuses=SAMPLING, efforts=_CLASSIC),
    ModelTraits(prefix="o3", refuses=SAMPLING | _STOP, efforts=_CLASSIC),
    ModelTraits(prefix="o4", refuses=SAMPLING | _STOP, efforts=_CLASSIC),
    ModelTraits(prefix="gpt-5", refuses=SAMPLING | _STOP, efforts=("minimal", *_CLASSIC)),
    ModelTraits(prefix="gpt-5-pro", refuses=SAMPLING | _STOP, efforts=("high",)),
    ModelTraits(prefix="gpt-5-chat", takes_effort=False),
    ModelTraits(prefix="gpt-5.", refuses=_STOP, refuses_unless_effort_none=SAMPLING),
    ModelTraits(prefix="gpt-5.1", refuses=_STOP, refuses_unless_effort_none=SAMPLING, efforts=("none", *_CLASSIC)),
    ModelTraits(
        prefix="gpt-5.1-codex-max",
        refuses=_STOP,
        refuses_unless_effort_none=SAMPLING,
        efforts=("none", *_CLASSIC, "xhigh"),
    ),
)
