"""What the answer of a run shall be: text, an object, a list, one of some choices, or any JSON.

An `Output` says what is asked of the model and how its text is read. It is made once; `reader` gives what keeps the
state of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, overload

from onion.errors import InvalidArgumentError
from onion.loop.answers import (
    ELEMENTS,
    RESULT,
    Answer,
    ArrayAnswer,
    Bounds,
    ChoiceAnswer,
    JsonAnswer,
    TextAnswer,
)
from onion.loop.json_schema import hoist
from onion.loop.output_reader import OutputReader
from onion.loop.schema import Schema, schema_of
from onion.spec.base import JSONSchema, JsonValue, value
from onion.spec.call import JsonFormat, ResponseFormat, TextFormat

if TYPE_CHECKING:
    from types import UnionType

    from onion.loop.schema import SchemaSource

T = TypeVar("T")
OutputT_co = TypeVar("OutputT_co", covariant=True)

Opaque: TypeAlias = object
"""`object`, inside of a class that has a method of that name."""

OutputKind: TypeAlias = Literal["text", "object", "array", "choice", "json"]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The dialect of the schemas that are written here."""


@value
class Output(Generic[OutputT_co]):
    """What the answer shall be. Made by `text`, `object`, `array`, `choice` or `json`.

    Attributes:
        kind: Which of them.
        response_format: What is asked of the model; None: nothing.
        bounds: How many elements an array may have.
        is_lenient: Reading the output never fails: the text of the run, whatever it is.
    """

    kind: OutputKind
    response_format: ResponseFormat | None
    answer: Callable[[], Answer[OutputT_co]] = field(repr=False)
    bounds: Bounds = Bounds()
    is_lenient: bool = False

    @property
    def has_elements(self) -> bool:
        """Whether there is an element stream."""
        return self.kind == "array"

    def reader(self) -> OutputReader[OutputT_co]:
        """Reads the answers of one run."""
        return OutputReader(self.answer, bounds=self.bounds, is_lenient=self.is_lenient)

    @staticmethod
    def text() -> Output[str]:
        """The text of the last step."""
        return Output(kind="text", response_format=TextFormat(), answer=TextAnswer)

    @overload
    @staticmethod
    def object(source: type[T], /, *, name: str | None = None, description: str | None = None) -> Output[T]: ...
    @overload
    @staticmethod
    def object(
        source: JSONSchema, /, *, name: str | None = None, description: str | None = None
    ) -> Output[JsonValue]: ...
    @overload
    @staticmethod
    def object(
        source: UnionType | Schema, /, *, name: str | None = None, description: str | None = None
    ) -> Output[Opaque]: ...
    @staticmethod
    def object(source: SchemaSource, /, *, name: str | None = None, description: str | None = None) -> Output[Opaque]:
        """A value of a Python type, or JSON that fits a schema.

        Args:
            source: A pydantic model, dataclass, TypedDict or other type that pydantic knows; or a JSON Schema, whose
                output is the JSON itself.
            name: What the model is told that the value is called.
            description: What the model is told about it.

        Raises:
            InvalidArgumentError: When *source* is no shape of values.
        """
        schema = schema_of(source, parameter="output")
        asked = JsonFormat(schema=schema.json_schema, name=name, description=description)
        return Output(kind="object", response_format=asked, answer=lambda: JsonAnswer(schema.validate))

    @overload
    @staticmethod
    def array(
        element: type[T],
        /,
        *,
        min_items: int | None = None,
        max_items: int | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> Output[list[T]]: ...
    @overload
    @staticmethod
    def array(
        element: JSONSchema,
        /,
        *,
        min_items: int | None = None,
        max_items: int | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> Output[list[JsonValue]]: ...
    @overload
    @staticmethod
    def array(
        element: UnionType | Schema,
        /,
        *,
        min_items: int | None = None,
        max_items: int | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> Output[list[Opaque]]: ...
    @staticmethod
    def array(
        element: SchemaSource,
        /,
        *,
        min_items: int | None = None,
        max_items: int | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> Output[Opaque]:
        """A list; its elements can be read one by one while they arrive.

        Args:
            element: What one element is, as in `object`.
            min_items: Fewest elements; None is no bound.
            max_items: Most elements; None is no bound.
            name: What the model is told that the list is called.
            description: What the model is told about it.

        Raises:
            InvalidArgumentError: When *element* is no shape of values, or the bounds leave no room.
        """
        bounds = _checked_bounds(min_items, max_items)
        schema = schema_of(element, parameter="output")
        asked = JsonFormat(schema=_list_schema(schema.json_schema, bounds), name=name, description=description)
        return Output(
            kind="array", response_format=asked, answer=lambda: ArrayAnswer(schema.validate, bounds), bounds=bounds
        )

    @staticmethod
    def choice(options: Sequence[str], /, *, name: str | None = None, description: str | None = None) -> Output[str]:
        """One of *options*.

        Raises:
            InvalidArgumentError: When there are none, or one of them twice.
        """
        choices = tuple(options)
        if isinstance(options, str) or not choices or len(set(choices)) < len(choices):
            msg = f"the options of a choice must be different texts, at least one, got {options!r}"
            raise InvalidArgumentError(msg, parameter="options", value=options)
        result = {"type": "string", "enum": list(choices)}
        asked = JsonFormat(schema=_wrapper(RESULT, result, DRAFT), name=name, description=description)
        return Output(kind="choice", response_format=asked, answer=lambda: ChoiceAnswer(choices))

    @staticmethod
    def json(*, name: str | None = None, description: str | None = None) -> Output[JsonValue]:
        """Any JSON value."""
        asked = JsonFormat(name=name, description=description)
        return Output(kind="json", response_format=asked, answer=lambda: JsonAnswer(_same))


DEFAULT_OUTPUT = Output(kind="text", response_format=None, answer=TextAnswer, is_lenient=True)
"""Without `output=`: the text, whatever it is."""


@overload
def to_output(output: None) -> Output[str]: ...
@overload
def to_output(output: Output[T] | type[T]) -> Output[T]: ...
def to_output(output: Output[T] | type[T] | None) -> Output[T] | Output[str]:
    """What `output=` means: a type is an object of that type, None the text.

    Raises:
        InvalidArgumentError: When it is neither.
    """
    if output is None:
        return DEFAULT_OUTPUT
    return output if isinstance(output, Output) else Output.object(output)


def _same(json: JsonValue) -> JsonValue:
    return json


def _checked_bounds(min_items: int | None, max_items: int | None) -> Bounds:
    for name, bound in (("min_items", min_items), ("max_items", max_items)):
        if bound is not None and bound < 0:
            msg = f"{name} must be at least 0, got {bound}"
            raise InvalidArgumentError(msg, parameter=name, value=bound)
    if min_items is not None and max_items is not None and min_items > max_items:
        msg = f"min_items must not exceed max_items, got {min_items} and {max_items}"
        raise InvalidArgumentError(msg, parameter="min_items", value=min_items)
    return Bounds(min_items=min_items, max_items=max_items)


def _list_schema(element: JSONSchema, bounds: Bounds) -> JSONSchema:
    items, definitions = hoist(element, f"#/properties/{ELEMENTS}/items")
    dialect = items.pop("$schema", DRAFT)
    list_of: dict[str, JsonValue] = {"type": "array", "items": items}
    if bounds.min_items is not None:
        list_of["minItems"] = bounds.min_items
    if bounds.max_items is not None:
        list_of["maxItems"] = bounds.max_items
    return {**_wrapper(ELEMENTS, list_of, dialect), **definitions}


def _wrapper(member: str, schema: JSONSchema, dialect: JsonValue) -> dict[str, JsonValue]:
    """An object with one member: providers want an object at the root."""
    return {
        "$schema": dialect,
        "type": "object",
        "properties": {member: schema},
        "required": [member],
        "additionalProperties": False,
    }
