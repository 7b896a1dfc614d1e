"""The container in which Anthropic runs code: a later request names it, so that files and state are still there.

An answer carries its container as content of the kind ``anthropic.container``, which a history keeps and no model sees.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from onion.providers._json import object_in, text_in
from onion.providers.anthropic.names import NAME, own_options
from onion.spec.content import Custom
from onion.spec.prompt import AssistantMessage, CustomPart

if TYPE_CHECKING:
    from collections.abc import Callable

    from onion.spec.base import JsonObject
    from onion.spec.prompt import Prompt

KIND = "anthropic.container"


def container_content(container: JsonObject) -> Custom:
    """The content that carries *container*."""
    return Custom(kind=KIND, provider_metadata={NAME: {"container": container}})


def container_of(prompt: Prompt, now: Callable[[], datetime]) -> str | None:
    """The id of the latest container in *prompt*, unless it has expired."""
    for message in reversed(prompt):
        if isinstance(message, AssistantMessage):
            for part in reversed(message.content):
                if isinstance(part, CustomPart) and part.kind == KIND:
                    container = object_in(own_options(part.provider_options), "container")
                    return None if _has_expired(container, now) else text_in(container, "id") or None
    return None


def _has_expired(container: JsonObject, now: Callable[[], datetime]) -> bool:
    try:
        end = datetime.fromisoformat(text_in(container, "expires_at"))
    except ValueError:
        return False
    return end.tzinfo is not None and end <= now()
