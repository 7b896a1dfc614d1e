"""Entries that were read from the store before: a text that comes again need not be read again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from onion.errors import TypeValidationError
from onion.middleware.caching.copying import fresh
from onion.middleware.caching.entry import Mark, marked, read_entry
from onion.spec.base import is_object
from onion.spec.parts import FinishPart

if TYPE_CHECKING:
    from onion.middleware.caching.entry import Entry
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult

MAX_READINGS = 100
MAX_CHARACTERS = 100_000  # of one text


class Reading:
    """What an entry says, given out as often as asked: nobody can change what others are given.

    Args:
        text: What the store gave.
        key: Of the entry.

    Raises:
        TypeValidationError: When the text is no entry, or none of that key.
    """

    __slots__ = ("_entry", "_is_fixed", "_result", "created", "key", "text")

    def __init__(self, text: str, key: str) -> None:
        entry: Entry = read_entry(text, key)
        try:
            result = entry.to_result()
        except Exception as error:  # an error part that somebody planted raises whatever it holds
            raise TypeValidationError("its parts are no answer", value=text) from error
        if not all(map(is_object, (result.provider_metadata or {}).values())):
            raise TypeValidationError("its metadata are no objects", value=text)
        self.text: str = text
        self.key: str = key
        self.created: float = entry.created
        self._entry = entry
        self._result: GenerateResult = result
        self._is_fixed: bool = fresh(result) is result

    def to_result(self, mark: Mark) -> GenerateResult:
        """The whole answer, with *mark* in its metadata."""
        return marked(self._result if self._is_fixed else fresh(self._result), mark)

    def to_parts(self, mark: Mark) -> tuple[StreamPart, ...]:
        """The parts as recorded, with *mark* in the metadata of the finish."""
        *parts, finish = map(fresh, self._entry.to_parts())
        return (*parts, marked(finish, mark) if isinstance(finish, FinishPart) else finish)


class Readings:
    """The last readings of one cache, by key."""

    def __init__(self) -> None:
        self._readings: OrderedDict[str, Reading] = OrderedDict()

    def read(self, text: str, key: str) -> Reading:
        """What *text* says.

        Raises:
            TypeValidationError: When it is no entry, or none of that key.
        """
        known = self._readings.get(key)
        if known is not None and known.text == text:
            return known
        reading = Reading(text, key)
        if len(text) <= MAX_CHARACTERS:
            self._readings[key] = reading
            if len(self._readings) > MAX_READINGS:
                self._readings.popitem(last=False)
        return reading
