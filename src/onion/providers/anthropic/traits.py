"""What must be known of Anthropic's models: a table of id prefixes. Ids that it does not name count as the newest.

From the model pages, with what is new in each model, and the pages "Extended thinking", "Adaptive thinking", "Effort",
"Structured outputs" and "Mid-conversation system messages" of Anthropic's documentation, read 2026-12-01.
"""

from __future__ import annotations

from typing import Literal

from onion.providers._traits import longest_prefix
from onion.spec.base import value

_FIRST_EFFORTS = ("low", "medium", "high", "max")
ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@value
class ModelTraits:
    """What is known of the models whose ids begin with `prefix`; the longest prefix wins.

    Attributes:
        prefix: Empty for the entry that holds where no other does.
        max_output_tokens: The most that the model gives; asked for where the caller sets no limit, since the API wants
            one.
        thinking: Whether reasoning is measured by the model itself, by a budget of tokens, or not there.
        at_rest: Whether it reasons if it is told nothing, and whether that can be turned off.
        off_switch: How it is turned off, if it is on and can be.
        efforts: The levels that it takes.
        takes_schema: Knows structured output; others are made to call a tool whose input is the answer.
        takes_sampling: Accepts temperature, top_p and top_k.
        takes_system_messages: Accepts messages of the role system behind a user's.
        takes_forced_choice: Can be made to call a tool, while it does not reason.
    """

    prefix: str = ""
    max_output_tokens: int = 128_000
    thinking: Literal["adaptive", "budget", "none"] = "adaptive"
    at_rest: Literal["off", "on", "always"] = "always"
    off_switch: Literal["disabled", "between_tools"] = "disabled"
    efforts: tuple[str, ...] = ALL_EFFORTS
    takes_schema: bool = True
    takes_sampling: bool = False
    takes_system_messages: bool = True
    takes_forced_choice: bool = False


def _older(
    prefix: str,
    max_output_tokens: int,
    *,
    thinking: Literal["adaptive", "budget", "none"] = "budget",
    efforts: tuple[str, ...] = (),
    takes_schema: bool = False,
) -> ModelTraits:
    return ModelTraits(
        prefix=prefix,
        max_output_tokens=max_output_tokens,
        thinking=thinking,
        efforts=efforts,
        at_rest="off",
        takes_schema=takes_schema,
        takes_sampling=True,
        takes_system_messages=False,
        takes_forced_choice=True,
    )


MODELS = (
    ModelTraits(),
    ModelTraits(prefix="claude-sonnet-5-5", at_rest="on", off_switch="between_tools"),
    ModelTraits(prefix="claude-haiku-5-5", at_rest="on", takes_forced_choice=True),
    ModelTraits(prefix="claude-opus-5", at_rest="on", takes_forced_choice=True),
    ModelTraits(prefix="claude-opus-5-5"),
    ModelTraits(prefix="claude-sonnet-5", at_rest="on", takes_system_messages=False, takes_forced_choice=True),
    ModelTraits(prefix="claude-opus-4-8", at_rest="off", takes_forced_choice=True),
    ModelTraits(prefix="claude-opus-4-7", at_rest="off", takes_system_messages=False, takes_forced_choice=True),
    _older("claude-opus-4-6", 128_000, thinking="adaptive", efforts=_FIRST_EFFORTS, takes_schema=True),
    _older("claude-sonnet-4-6", 128_000, thinking="adaptive", efforts=_FIRST_EFFORTS, takes_schema=True),
    _older("claude-opus-4-5", 64_000, efforts=("low", "medium", "high"), takes_schema=True),
    _older("claude-sonnet-4-5", 64_000, takes_schema=True),
    _older("claude-haiku-4-5", 64_000, takes_schema=True),
    _older("claude-opus-4-1", 32_000, takes_schema=True),
    _older("claude-opus-4-0", 32_000),
    _older("claude-opus-4-2", 32_000),
    _older("claude-sonnet-4-0", 64_000),
    _older("claude-sonnet-4-2", 64_000),
    _older("claude-3-7-", 64_000),
    _older("claude-3-5-", 8_192, thinking="none"),
    _older("claude-3-", 4_096, thinking="none"),
    _older("claude-2", 4_096, thinking="none"),
    _older("claude-instant", 4_096, thinking="none"),
)


def traits_of(model_id: str, models: tuple[ModelTraits, ...] = MODELS) -> ModelTraits:
    """What is known of *model_id*; what a gateway puts before the name does not count."""
    start = model_id.find("claude-")
    name = model_id[max(start, 0) :]
    return longest_prefix(name, models) or ModelTraits()
