"""How the text of an answer is read, by kind of output: whole at the end, and what it shows while it arrives.

One object reads the text of one step. What it validated on the way is not validated again at the end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, Self, TypeVar

from onion.errors import JSONParseError, TypeValidationError
from onion.loop.json_grammar import MISSING
from onion.loop.partial_json import CHARACTERS_PER_SLOT, PartialJSON
from onion.spec.base import value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onion.spec.base import JsonValue

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

ELEMENTS = "elements"
RESULT = "result"
"""Members of the object that a list or a choice is wrapped in: providers want an object at the root."""


def _refuse(constant: str) -> NoReturn:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def parse_json(text: str) -> JsonValue:
    """The value of a whole JSON text.

    Raises:
        JSONParseError: For anything else.
    """
    try:
        parsed: JsonValue = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        msg = f"a text of {len(text)} characters is not JSON: {reason}"
        raise JSONParseError(msg, text=text) from error
    return parsed


class Growing(Protocol):
    """Something that is read while its text arrives."""

    @property
    def value(self) -> object:
        """What the text so far stands for; made anew each time."""
        ...

    @property
    def cost(self) -> int:
        """What making `value` copies, in items of a list."""
        ...

    def feed(self, text: str, /) -> bool:
        """Read more text; whether `value` became another one."""
        ...

    def finish(self) -> bool:
        """No more text comes; whether `value` became another one."""
        ...


class Answer(Protocol[T_co]):
    """Reads the text of one answer."""

    @property
    def shown(self) -> Growing:
        """What is shown of it while it arrives."""
        ...

    @property
    def elements(self) -> Sequence[object]:
        """Whole elements so far, for outputs that have any."""
        ...

    def parse(self, text: str) -> T_co:
        """The output that the whole *text* stands for.

        Raises:
            JSONParseError: When it is no JSON.
            TypeValidationError: When it has another shape than asked for.
        """
        ...


@value
class Bounds:
    """How many elements a list may have; None is no bound."""

    min_items: int | None = None
    max_items: int | None = None

    def check(self, items: Sequence[object]) -> None:
        """Raise a TypeValidationError for too few or too many."""
        if self.min_items is not None and len(items) < self.min_items:
            msg = f"the answer has {len(items)} elements; it must have at least {self.min_items}"
            raise TypeValidationError(msg, value=items)
        if self.max_items is not None and len(items) > self.max_items:
            raise self.too_many(items)

    def too_many(self, items: Sequence[object]) -> TypeValidationError:
        """The error for more than `max_items`."""
        msg = f"the answer has {len(items)} elements; it may have at most {self.max_items}"
        return TypeValidationError(msg, value=items)


class TextAnswer:
    """Text as it is."""

    elements: Sequence[object] = ()

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0

    def feed(self, delta: str) -> bool:
        """Read more text."""
        self._pieces.append(delta)
        self._length += len(delta)
        return bool(delta)

    def finish(self) -> bool:
        """Every delta was shown."""
        return False

    @property
    def shown(self) -> Self:
        """This."""
        return self

    @property
    def value(self) -> str:
        """The text so far."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def cost(self) -> int:
        """Grows with the text."""
        return 1 + self._length // CHARACTERS_PER_SLOT

    def parse(self, text: str) -> str:
        """Every text will do."""
        return text


class JsonAnswer(Generic[T]):
    """A JSON value, which *check* turns into the output, or refuses. It is not checked before it is whole."""

    elements: Sequence[object] = ()

    def __init__(self, check: Callable[[JsonValue], T]) -> None:
        self._check = check
        self.shown: PartialJSON = PartialJSON()

    def parse(self, text: str) -> T:
        """The checked value."""
        return self._check(parse_json(text))


class ArrayAnswer(Generic[T]):
    """A list, wrapped in an object; each element is checked once.

    Elements that do not fit are left out on the way, and an error at the end.
    """

    def __init__(self, check: Callable[[JsonValue], T], bounds: Bounds) -> None:
        self._check = check
        self._bounds = bounds
        self._json = PartialJSON()
        self._checked: list[tuple[JsonValue, T | TypeValidationError]] = []
        self._has_begun = False
        self.elements: list[T] = []

    def feed(self, delta: str) -> bool:
        """Read more text."""
        self._json.feed(delta)
        return self._take_settled()

    def finish(self) -> bool:
        """Read what waited for more."""
        self._json.finish()
        return self._take_settled()

    @property
    def shown(self) -> Self:
        """This."""
        return self

    @property
    def value(self) -> list[T]:
        """The elements so far."""
        return self.elements.copy()

    @property
    def cost(self) -> int:
        """Grows with the number of elements."""
        return 1 + len(self.elements)

    def parse(self, text: str) -> list[T]:
        """The elements, as many as the bounds allow."""
        document = parse_json(text)
        items = document.get(ELEMENTS) if isinstance(document, dict) else None
        if not isinstance(items, list):
            msg = f"the answer must be an object with a list under {ELEMENTS!r}"
            raise TypeValidationError(msg, value=document)
        self._bounds.check(items)
        checked: list[T] = []
        for index, item in enumerate(items):
            element = self._element(index, item)
            if isinstance(element, TypeValidationError):
                msg = f"element {index} does not fit: {element}"
                raise TypeValidationError(msg, value=item) from element
            checked.append(element)
        return checked

    def _take_settled(self) -> bool:
        found = self._json.settled_items(ELEMENTS)
        if found is None:
            return False
        items, count = found
        has_changed = not self._has_begun
        self._has_begun = True
        for index in range(len(self._checked), count):
            element = self._element(index, items[index])
            self._checked.append((items[index], element))
            if not isinstance(element, TypeValidationError):
                self.elements.append(element)
                has_changed = True
        return has_changed

    def _element(self, index: int, item: JsonValue) -> T | TypeValidationError:
        if index < len(self._checked) and self._checked[index][0] == item:
            return self._checked[index][1]
        try:
            return self._check(item)
        except TypeValidationError as error:
            return error


class ChoiceAnswer:
    """One of some texts, wrapped in an object."""

    elements: Sequence[object] = ()
    cost = 1

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._json = PartialJSON()
        self.value: object = MISSING

    @property
    def shown(self) -> Self:
        """This."""
        return self

    def feed(self, delta: str) -> bool:
        """Read more text; an option is shown as soon as only one is left that begins so."""
        self._json.feed(delta)
        return self._choose()

    def finish(self) -> bool:
        """Read what waited for more."""
        self._json.finish()
        return self._choose()

    def parse(self, text: str) -> str:
        """The option that was chosen."""
        document = parse_json(text)
        chosen = document.get(RESULT) if isinstance(document, dict) else None
        if not isinstance(chosen, str) or chosen not in self._options:
            msg = f"the answer must be an object with one of {', '.join(self._options)} under {RESULT!r}"
            raise TypeValidationError(msg, value=document)
        return chosen

    def _choose(self) -> bool:
        document = self._json.value
        begun = document.get(RESULT) if isinstance(document, dict) else None
        if not isinstance(begun, str):
            return False
        if self._json.is_complete:
            left = [option for option in self._options if option == begun]
        else:
            left = [option for option in self._options if option.startswith(begun)]
        if len(left) != 1 or left[0] == self.value:
            return False
        self.value = left[0]
        return True
