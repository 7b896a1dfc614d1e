"""DefaultInstructions: a system message for calls that have none.

Goes outside of Cache, so that the instructions belong to the key. Streams pass untouched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import InvalidArgumentError
from onion.spec.prompt import SystemMessage
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.call import CallOptions
    from onion.spec.model import LanguageModel
    from onion.wrap import Mode


class DefaultInstructions(Middleware):
    """Puts a system message first in every prompt that has no system message.

    Args:
        instructions: The text, or a message with provider options of its own.

    Raises:
        InvalidArgumentError: When the text is empty.
    """

    def __init__(self, instructions: str | SystemMessage) -> None:
        message = SystemMessage(content=instructions) if isinstance(instructions, str) else instructions
        if not message.content:
            msg = "instructions must not be empty: leave the layer out instead"
            raise InvalidArgumentError(msg, parameter="instructions", value=instructions)
        self._message = message

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        """The params, with the message if there is none."""
        if any(isinstance(message, SystemMessage) for message in params.prompt):
            return params
        return params.replace(prompt=(self._message, *params.prompt))
