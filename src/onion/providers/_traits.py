"""What must be known of models by id: a table of prefixes, the longest one holds. Ids that it lacks count as new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.spec.base import value

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})


@value
class ModelTraits:
    """What must be known of the models whose ids begin with `prefix`; the longest prefix wins.

    Attributes:
        prefix: Empty for the entry that holds where no other does.
        takes_effort: The model can be told how hard to reason.
        refuses: Wire names of settings that it answers with an error.
        refuses_unless_effort_none: Settings that it takes only while it does not reason.
    """

    prefix: str = ""
    takes_effort: bool = True
    refuses: frozenset[str] = frozenset()
    refuses_unless_effort_none: frozenset[str] = frozenset()


def traits_of(model_id: str, models: Iterable[ModelTraits]) -> ModelTraits:
    """What the table *models* knows of *model_id*."""
    fitting = [traits for traits in models if model_id.startswith(traits.prefix)]
    return max(fitting, key=lambda traits: len(traits.prefix), default=ModelTraits())
