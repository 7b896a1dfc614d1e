"""What must be known of models by id: a table of prefixes, the longest one holds. Ids that it lacks count as new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from onion.spec.base import value
from onion.spec.usage import CompatibilityWarning, UnsupportedWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onion.spec.call import ReasoningEffort
    from onion.spec.usage import CallWarning

SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""The levels of `CallOptions.reasoning`, from least to most."""


@value
class ModelTraits:
    """What must be known of the models whose ids begin with `prefix`; the longest prefix wins.

    Attributes:
        prefix: Empty for the entry that holds where no other does.
        takes_effort: The model can be told how hard to reason.
        efforts: The levels that it takes, from least to most; None: all of them.
        refuses: Wire names of settings that it answers with an error.
        refuses_unless_effort_none: Settings that it takes only while it does not reason.
    """

    prefix: str = ""
    takes_effort: bool = True
    efforts: tuple[str, ...] | None = None
    refuses: frozenset[str] = frozenset()
    refuses_unless_effort_none: frozenset[str] = frozenset()


class Prefixed(Protocol):
    """An entry of a table of id prefixes."""

    @property
    def prefix(self) -> str:
        """What the ids begin with that it holds for."""
        ...


TraitsT = TypeVar("TraitsT", bound=Prefixed)


def longest_prefix(model_id: str, models: Iterable[TraitsT]) -> TraitsT | None:
    """The entry that fits *model_id* best; of entries with the same prefix the first holds."""
    fitting = [traits for traits in models if model_id.startswith(traits.prefix)]
    return max(fitting, key=lambda traits: len(traits.prefix), default=None)


def traits_of(model_id: str, models: Iterable[ModelTraits]) -> ModelTraits:
    """What the table *models* knows of *model_id*."""
    return longest_prefix(model_id, models) or ModelTraits()


def effort_for(
    model_id: str, wanted: ReasoningEffort | None, traits: ModelTraits, warnings: list[CallWarning]
) -> str | None:
    """The level to ask *model_id* for: the one that is *wanted*, or the nearest that it has.

    Args:
        model_id: For the warning.
        wanted: As in `CallOptions.reasoning`.
        traits: What is known of the model.
        warnings: Where it is said that the model takes no level, or not that one.
    """
    if wanted is None or wanted == "provider-default":
        return None
    able = [effort for effort in traits.efforts or () if effort != "none"]  # which is another wish, and no level
    if not traits.takes_effort or (traits.efforts is not None and not able and wanted not in traits.efforts):
        if wanted != "none":
            warnings.append(UnsupportedWarning(feature="reasoning", details=f"{model_id} takes no level of it"))
        return None
    if traits.efforts is None or wanted in traits.efforts:
        return wanted
    place = EFFORTS.index(wanted)
    nearest = min(able, key=lambda effort: abs(EFFORTS.index(effort) - place))
    details = f"{model_id} knows no {wanted!r}: asked for {nearest!r}"
    warnings.append(CompatibilityWarning(feature="reasoning", details=details))
    return nearest
