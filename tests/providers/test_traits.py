"""What is known of models by the beginning of their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers._openai_models import OPENAI_MODELS
from onion.providers._traits import EFFORTS, ModelTraits, effort_for, traits_of
from onion.spec.usage import CallWarning

if TYPE_CHECKING:
    from onion.spec.call import ReasoningEffort


def test_the_longest_prefix_holds_and_of_equal_ones_the_first() -> None:
    table = (ModelTraits(prefix="a", efforts=("low",)), ModelTraits(prefix="a"), ModelTraits(prefix="ab"))

    assert traits_of("a-1", table).efforts == ("low",)
    assert traits_of("ab-1", table).prefix == "ab"
    assert traits_of("c", table) == ModelTraits()


def test_ids_that_the_table_of_openai_lacks_count_as_the_newest() -> None:
    assert traits_of("a-model-of-tomorrow", OPENAI_MODELS) == OPENAI_MODELS[0]
    assert traits_of("gpt-4o-2024-08-06", OPENAI_MODELS).takes_effort is False


@pytest.mark.parametrize(
    ("wanted", "efforts", "sent", "warned"),
    [
        (None, None, None, False),
        ("provider-default", None, None, False),
        ("xhigh", None, "xhigh", False),
        ("none", ("low", "high"), "low", True),
        ("medium", ("low", "high"), "low", True),
        ("xhigh", ("low", "high"), "high", True),
        ("high", ("low", "high"), "high", False),
    ],
)
def test_the_nearest_level_that_a_model_has_is_asked_for(
    wanted: ReasoningEffort | None,
    efforts: tuple[str, ...] | None,
    sent: str | None,
    warned: bool,  # noqa: FBT001 - from the table
) -> None:
    warnings: list[CallWarning] = []

    assert effort_for("m", wanted, ModelTraits(efforts=efforts), warnings) == sent
    assert bool(warnings) is warned


@pytest.mark.parametrize(("wanted", "warned"), [("none", False), ("low", True)])
def test_a_model_that_does_not_reason_is_asked_for_nothing(
    wanted: ReasoningEffort,
    warned: bool,  # noqa: FBT001 - from the table
) -> None:
    warnings: list[CallWarning] = []

    assert effort_for("m", wanted, ModelTraits(takes_effort=False), warnings) is None
    assert bool(warnings) is warned


def test_every_level_in_the_table_of_openai_is_one() -> None:
    assert {effort for traits in OPENAI_MODELS for effort in traits.efforts or ()} <= set(EFFORTS)


def test_a_model_that_can_only_be_told_not_to_reason_takes_no_level() -> None:
    only_off, warnings = ModelTraits(efforts=("none",)), list[CallWarning]()

    assert effort_for("m", "high", only_off, warnings) is None
    assert effort_for("m", "none", only_off, warnings) == "none"
    assert [warning.type for warning in warnings] == ["unsupported"]
