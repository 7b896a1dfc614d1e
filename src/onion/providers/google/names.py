"""Names: of the provider, and of the members that are no content of a part but belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import NOTHING
from onion.spec.naming import camel

if TYPE_CHECKING:
    from onion.spec.base import JsonObject, JsonValue, ProviderOptions

NAME = "google"
"""Key of our provider options and metadata, and first half of our tools' ids."""

COMPUTER = "computer_use"
"""The one tool of Google's that runs at the caller's; its calls are named by what is to be done."""
ACTION = "action"
"""Member of its input that says so."""

SIGNATURE = "thoughtSignature"
BESIDE = (SIGNATURE, "thought", "partMetadata", "mediaResolution", "videoMetadata")
"""Members that stand in a part beside its content, and go back with it."""

MESSAGE_KINDS = ("functionCall", "toolCall", "toolResponse", "executableCode", "codeExecutionResult")
"""Members that hold calls and results."""


def own_options(options: ProviderOptions | None) -> JsonObject:
    """Our members of the options of a call, message, part or tool, the outer names spelled as the API does."""
    found = (options or {}).get(NAME, NOTHING)
    return {camel(key): member for key, member in found.items()} if found else NOTHING


def beside(members: JsonObject) -> dict[str, JsonValue]:
    """What stands beside the content of a part, of its *members* or of the options that carry them."""
    return {key: members[key] for key in BESIDE if members.get(key) is not None}
