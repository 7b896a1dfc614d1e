"""Whether everything that a server said is in what was made of it: found by value, so by no rule of the decoder's."""

from __future__ import annotations

from collections import defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tests.recorded.exchanges import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onion.spec.base import JsonValue

SHORTEST_PIECE = 16


def lost(
    said: Sequence[JsonValue],
    result: JsonValue,
    dropped: Mapping[str, str],
    written: Mapping[str, Callable[[JsonValue], JsonValue]],
) -> list[str]:
    """The faults: values that were said and are not in *result*.

    Args:
        said: The body, or the chunks of a stream.
        result: The JSON of what was made of it, or of its parts.
        dropped: Patterns of paths that are left out on purpose, with the reason.
        written: How the values at a path are written in the result, where they are not kept as they are.
    """
    by_path: dict[str, list[JsonValue]] = defaultdict(list)
    for message in said:
        for path, value in leaves(message):
            if value not in (None, "", 0, False) and not any(fnmatchcase(path, pattern) for pattern in dropped):
                by_path[path].append(value)
    for path in written.keys() & by_path.keys():  # told in every chunk, and not alike everywhere: the first one counts
        by_path[path] = [written[path](by_path[path][0])]
    found = [value for _, value in leaves(result)]
    numbers = {value for value in found if isinstance(value, int | float)}
    texts = {value for value in found if isinstance(value, str)} | set(_joined(result))
    everything = "\0".join(texts)
    return [
        f"lost: {path} = {str(values[-1])[:80]!r}"
        for path, values in by_path.items()
        if not _is_found(values, numbers, texts, everything)
    ]


def _is_found(values: list[JsonValue], numbers: set[int | float], texts: set[str], everything: str) -> bool:
    """Texts may have been joined; counts may be running totals, of which the last one counts."""
    if not all(isinstance(value, str) for value in values):
        return values[-1] in numbers or str(values[-1]) in texts
    said = [str(value) for value in values]
    return _is_there("".join(said), texts, everything) or all(_is_there(each, texts, everything) for each in said)


def _is_there(text: str, texts: set[str], everything: str) -> bool:
    """Inside of a longer text only if it is long enough not to be there by chance."""
    return text in texts or (len(text) >= SHORTEST_PIECE and text in everything)


def _joined(result: JsonValue) -> list[str]:
    """The texts of each kind of content, and of each kind of delta, in one piece."""
    pieces: dict[str, list[str]] = defaultdict(list)
    for path, value in leaves(result):
        if isinstance(value, str):
            pieces[path].append(value)
    return ["".join(values) for values in pieces.values()]
