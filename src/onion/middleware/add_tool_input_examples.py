"""AddToolInputExamples: writes the examples of a tool's input into its description, for models that take none.

May go anywhere; outside of Cache the text is part of the key. Streams pass untouched.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from onion.spec.call import FunctionTool
from onion.wrap import Middleware

if TYPE_CHECKING:
    from onion.spec.call import CallOptions, Tool, ToolInputExample
    from onion.spec.model import LanguageModel
    from onion.wrap import Mode

PREFIX = "Input Examples:"


def compact_json(example: ToolInputExample, index: int) -> str:
    """The input of *example* as JSON in one line."""
    del index
    return json.dumps(example.input, separators=(",", ":"), ensure_ascii=False)


class AddToolInputExamples(Middleware):
    """Adds the input examples of each tool to the end of its description.

    Args:
        prefix: The line above the examples.
        format: Writes one example, given its number from 0; without it, compact JSON.
        remove: Whether to take the examples themselves out of the tool.
    """

    def __init__(
        self,
        prefix: str = PREFIX,
        *,
        format: Callable[[ToolInputExample, int], str] = compact_json,
        remove: bool = True,
    ) -> None:
        self.prefix = prefix
        self.remove = remove
        self._format = format

    def __repr__(self) -> str:
        return f"AddToolInputExamples(prefix={self.prefix!r}, remove={self.remove})"

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        """The params with the examples in the descriptions."""
        if not any(isinstance(tool, FunctionTool) and tool.input_examples for tool in params.tools or ()):
            return params
        return params.replace(tools=tuple(map(self._described, params.tools or ())))

    def _described(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool) or not tool.input_examples:
            return tool
        lines = [self._format(example, index) for index, example in enumerate(tool.input_examples)]
        text = "\n".join([self.prefix, *lines])
        return replace(
            tool,
            description=f"{tool.description}\n\n{text}" if tool.description else text,
            input_examples=None if self.remove else tool.input_examples,
        )
