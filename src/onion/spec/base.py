"""How the values of the contract are made, and the types of what they do not interpret.

A `value` is frozen. A `part` is made once per streamed delta, so it is a plain slotted object at run time, a third
of the cost, and frozen to type checkers only; `onion.testing.Lint` catches who changes one. A `record` is the state
of something that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar, dataclass_transform

from onion.spec.slotted import PART, RECORD, VALUE, slotted

if TYPE_CHECKING:
    JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
    """Anything that JSON can carry; read-only."""
else:  # the decoder evaluates type hints, in modules where the names inside a quoted alias mean nothing
    JsonValue = bool | int | float | str | Sequence[object] | Mapping[str, object] | None

JsonObject: TypeAlias = Mapping[str, JsonValue]
JSONSchema: TypeAlias = Mapping[str, JsonValue]

ProviderOptions: TypeAlias = Mapping[str, Mapping[str, JsonValue]]
"""What only one provider understands, by provider name; ``onion`` is reserved for our own layers and never sent."""

ProviderMetadata: TypeAlias = Mapping[str, Mapping[str, JsonValue]]
"""What only one provider says about an answer, by provider name; ``onion`` is ours and never sent back."""

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make *cls* a frozen, slotted dataclass that is built with keywords."""
    return slotted(cls, VALUE)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def part(cls: type[T]) -> type[T]:
    """Make *cls* a slotted dataclass that is built with keywords; frozen to type checkers, plain at run time."""
    return slotted(cls, PART)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make *cls* a slotted dataclass that is built with keywords, may change, and is equal to nothing but itself."""
    return slotted(cls, RECORD)


def is_object(data: object) -> TypeGuard[Mapping[str, object]]:
    """Whether *data* is a JSON object."""
    return type(data) is dict or isinstance(data, Mapping)  # asking the abstract class costs three times the rest


def is_array(data: object) -> TypeGuard[Sequence[object]]:
    """Whether *data* is a JSON array; a text is none."""
    return isinstance(data, list | tuple)
