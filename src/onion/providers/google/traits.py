"""What must be known of Google's models: a table of id prefixes. Ids that it does not name count as the newest.

The levels are from the developers' guides to Gemini 3.5 Flash and 3.8 Flash and the page "Thinking" of Google Cloud's
documentation, read 2026-12-01. Budgets, and what models before 3 lack, are from the pages "Gemini thinking", "Function
calling" and "Thought signatures" of the Gemini API's documentation as they are remembered.
"""

from __future__ import annotations

from typing import Literal

from onion.providers._traits import longest_prefix
from onion.spec.base import value

_LEVELS = ("low", "medium", "high")
_FLASH_LEVELS = ("minimal", *_LEVELS)
_SMALLEST, _LARGEST = 128, 24_576


@value
class ModelTraits:
    """What is known of the models whose ids begin with `prefix`; the longest prefix wins.

    Attributes:
        prefix: Empty for the entry that holds where no other does.
        thinking: Whether reasoning is measured in levels, by a budget of tokens, or not there.
        levels: The levels that it takes, from least to most.
        budget: The smallest and the largest budget.
        can_rest: Reasoning can be turned off.
        mixes_tools: Takes function tools beside tools of Google's own, and a form of the answer beside tools.
        takes_file_results: Takes files in what a tool gave back.
        wants_signatures: Refuses calls in the history that lack their signature.
        takes_system: Has system instructions.
    """

    prefix: str = ""
    thinking: Literal["level", "budget", "none"] = "level"
    levels: tuple[str, ...] = _LEVELS
    budget: tuple[int, int] = (_SMALLEST, _LARGEST)
    can_rest: bool = False
    mixes_tools: bool = True
    takes_file_results: bool = True
    wants_signatures: bool = True
    takes_system: bool = True


def _older(
    prefix: str,
    *,
    thinking: Literal["budget", "none"] = "none",
    budget: tuple[int, int] = (_SMALLEST, _LARGEST),
    can_rest: bool = False,
    takes_system: bool = True,
    takes_file_results: bool = False,
) -> ModelTraits:
    return ModelTraits(
        prefix=prefix,
        thinking=thinking,
        budget=budget,
        can_rest=can_rest,
        mixes_tools=False,
        takes_file_results=takes_file_results,
        wants_signatures=False,
        takes_system=takes_system,
    )


MODELS = (
    ModelTraits(),
    ModelTraits(prefix="gemini-3-pro", levels=("low", "high")),
    ModelTraits(prefix="gemini-3-pro-image", thinking="none"),
    ModelTraits(prefix="gemini-3-flash", levels=_FLASH_LEVELS),
    ModelTraits(prefix="gemini-3.1-flash-lite", levels=_FLASH_LEVELS),
    ModelTraits(prefix="gemini-3.5-flash", levels=_FLASH_LEVELS),
    _older("gemini-2.5-", thinking="budget", can_rest=True),
    _older("gemini-2.5-pro", thinking="budget", budget=(128, 32_768)),
    _older("gemini-2.5-flash-lite", thinking="budget", budget=(512, _LARGEST), can_rest=True),
    _older("gemini-2.5-flash-image"),
    _older("gemini-2.5-computer-use", thinking="budget", can_rest=True, takes_file_results=True),  # screenshots
    _older("gemini-2.0-"),
    _older("gemini-1"),
    _older("gemini-pro"),
    _older("gemma-3", takes_system=False),
    _older("learnlm"),
)


def traits_of(model_id: str, models: tuple[ModelTraits, ...] = MODELS) -> ModelTraits:
    """What is known of *model_id*; what stands before its last ``/`` does not count."""
    name = model_id.rpartition("/")[2]
    return longest_prefix(name, models) or ModelTraits()
