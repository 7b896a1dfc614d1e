"""What `onion run` and `onion chat` talk to: the model, the tools and the settings that the command line names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onion.cli.loading import load_model
from onion.cli.tools import load_tools
from onion.loop import is_step_count, stream_text

if TYPE_CHECKING:
    from onion.cli.options import Options
    from onion.loop import StepOverrides, StepPreparation, StreamTextResult
    from onion.spec.model import LanguageModel
    from onion.spec.prompt import Message

LOCAL_PROVIDER = "local"
LOCAL_MAX_OUTPUT_TOKENS = 256
"""The little local model may go on and on; half a minute of it is enough."""


class Assistant:
    """Answers messages as the options ask for.

    Raises:
        UsageError: When the options name a model or tools that are not there.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._model = load_model(options.model)
        self._tools = () if options.tools is None else load_tools(options.tools)

    def answer(self, messages: Sequence[Message]) -> StreamTextResult[str]:
        """The run that answers *messages*; nothing is sent before it is read."""
        options, local = self._options, is_local(self._model)
        return stream_text(
            model=self._model,
            messages=messages,
            instructions=options.system,
            tools=self._tools,
            stop_when=is_step_count(options.max_steps),
            prepare_step=call_once if self._tools and local else None,
            max_output_tokens=options.max_output_tokens or (LOCAL_MAX_OUTPUT_TOKENS if local else None),
        )


def is_local(model: LanguageModel) -> bool:
    """Whether *model* is the little local one, in layers or not."""
    return model.provider.partition(".")[0] == LOCAL_PROVIDER


def call_once(preparation: StepPreparation) -> StepOverrides:
    """Make the first step call a tool, and leave the later ones none.

    The little local model calls a tool only if it must, and then would never stop calling. It chooses best at
    temperature 0.
    """
    if preparation.step_number == 0:
        return {"tool_choice": "required", "temperature": 0}
    return {"active_tools": ()}
