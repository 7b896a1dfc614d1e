"""ExtractJSON: takes the Markdown fence off JSON that a model put into one.

Goes inside of what reads the text as JSON, so next to the model. A stream is passed on as it comes; only what may yet
turn out to be a fence is held back. With a transform of the user's own each text is held back until it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from onion.spec.parts import TextDelta, TextEnd, TextStart
from onion.spec.transform import PartTransform
from onion.streaming import transform_result
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.base import ProviderMetadata
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.spec.parts import StreamPart
    from onion.spec.result import GenerateResult
    from onion.spec.stream import StreamResult
    from onion.wrap import DoGenerate, DoStream

TextTransform = Callable[[str], str]

_OPENING = re.compile(r"```(?:json)?[ \t]*(?:\r?\n|(?=[{\[\"]))", re.IGNORECASE)
_MAY_BECOME_OPENING = re.compile(r"`{1,2}|```(?:j|js|jso|(?:json)?[ \t]*\r?)", re.IGNORECASE)
_CLOSING = re.compile(r"(?P<inside>\s*?)(?:\r?\n)?[ \t]*```\s*")


class _Unfenced:
    """Takes a text in pieces and gives it back without its fence, or without the white space around it."""

    def __init__(self) -> None:
        self._held = ""
        self._is_fenced: bool | None = None

    def feed(self, text: str) -> str:
        """What of the text so far is certain."""
        held = self._held + text
        if self._is_fenced is None:
            held = held.lstrip()
            opening = _OPENING.match(held)
            if opening is None and (not held or _MAY_BECOME_OPENING.fullmatch(held)):
                self._held = held
                return ""
            self._is_fenced = opening is not None
            held = held[opening.end() :] if opening else held
        certain = held.rstrip()
        if self._is_fenced:
            certain = certain.rstrip("`").rstrip()
        self._held = held[len(certain) :]
        return certain

    def end(self) -> str:
        """The rest, without the closing fence."""
        held, self._held = self._held, ""
        if not self._is_fenced:
            return held.rstrip()
        closing = _CLOSING.fullmatch(held)
        return held if closing is None else closing["inside"]


class _Transformed:
    """Takes a text in pieces and gives back what a function makes of the whole."""

    def __init__(self, transform: TextTransform) -> None:
        self._transform = transform
        self._pieces: list[str] = []

    def feed(self, text: str) -> str:
        self._pieces.append(text)
        return ""

    def end(self) -> str:
        text = "".join(self._pieces)
        self._pieces.clear()
        return self._transform(text) if text else ""


class _Texts(PartTransform):
    """Sends each block of text through a reader of its own."""

    def __init__(self, make: Callable[[], _Unfenced | _Transformed]) -> None:
        self._make = make
        self._open: dict[str, _Unfenced | _Transformed] = {}

    def feed(self, part: StreamPart) -> StreamPart | tuple[StreamPart, ...] | None:
        if isinstance(part, TextStart):
            self._open[part.id] = self._make()
        elif isinstance(part, TextDelta) and part.id in self._open:
            return _delta(part.id, self._open[part.id].feed(part.delta), part.provider_metadata)
        elif isinstance(part, TextEnd) and part.id in self._open:
            rest = _delta(part.id, self._open.pop(part.id).end(), None)
            return part if rest is None else (rest, part)
        return part

    def flush(self) -> tuple[StreamPart, ...]:
        rests = (_delta(block_id, reader.end(), None) for block_id, reader in self._open.items())
        return tuple(rest for rest in rests if rest is not None)


def _delta(block_id: str, text: str, metadata: ProviderMetadata | None) -> TextDelta | None:
    return TextDelta(id=block_id, delta=text, provider_metadata=metadata) if text or metadata else None


class ExtractJSON(Middleware):
    """Takes the fence off a text that is one: the opening line without a language or with ``json``, and its end.

    What is inside keeps its white space; a text without such a fence loses only the white space around it. Fences of
    other languages, and prose before a fence, stay.

    Args:
        transform: Turns each whole text into the one to pass on, instead of all that.
    """

    def __init__(self, transform: TextTransform | None = None) -> None:
        self._transform = transform

    def __repr__(self) -> str:
        return "ExtractJSON()" if self._transform is None else "ExtractJSON(transform=…)"

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        """Answer whole, with clean texts."""
        return transform_result(await do_generate(), self._texts)

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        """Answer as a stream of clean texts."""
        return (await do_stream()).pipe(self._texts)

    def _texts(self) -> PartTransform:
        transform = self._transform
        return _Texts(_Unfenced) if transform is None else _Texts(lambda: _Transformed(transform))
