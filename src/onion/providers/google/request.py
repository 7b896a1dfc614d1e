"""The body of a request of the Gemini API: settings, tools, form of the answer and contents. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from onion.providers._json import object_in
from onion.providers._model import WireRequest
from onion.providers.google.contents import Conversation
from onion.providers.google.names import own_options
from onion.providers.google.settings import OF_CONFIG, config_of, form_of
from onion.providers.google.toolbox import Toolbox

if TYPE_CHECKING:
    from onion.providers.google.traits import ModelTraits
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions
    from onion.spec.usage import CallWarning

OURS = frozenset({"generationConfig", "structuredOutputs", "toolConfig"})
"""Options that are no members of the body as they are."""


def path_of(model_id: str, *, is_stream: bool) -> str:
    """Where a call of that model goes; an id with a ``/`` in it says where the model is."""
    place = model_id if "/" in model_id else f"models/{model_id}"
    return f"/{quote(place, safe='/@:')}:" + ("streamGenerateContent?alt=sse" if is_stream else "generateContent")


def to_request(model_id: str, params: CallOptions, traits: ModelTraits, *, is_stream: bool = False) -> WireRequest:
    """The request for one call.

    Provider options under ``google`` go into the body or its generation config as they are, and are the last word;
    None takes a member out. Their names may be spelled as the API does or with underscores.

    Raises:
        UnsupportedFunctionalityError: When the prompt holds what the API has no word for.
        InvalidPromptError: When a file's content is not what it is said to be.
    """
    warnings: list[CallWarning] = []
    options = own_options(params.provider_options)
    toolbox = Toolbox(params.tools, traits)
    config = config_of(params, options, traits, warnings)
    form, instruction = form_of(params, options, warnings, takes_form=traits.mixes_tools or toolbox.is_empty)
    talk = Conversation(traits, warnings)
    talk.add(params.prompt)
    if instruction:
        talk.instruct(instruction)
    config = _given({**form, **config})
    body: dict[str, JsonValue] = {"contents": talk.contents(), "systemInstruction": talk.system}
    body |= toolbox.members(params.tool_choice, object_in(options, "toolConfig"), warnings)
    body["generationConfig"] = config or None
    body |= {key: found for key, found in options.items() if key not in OF_CONFIG and key not in OURS}
    return WireRequest(
        path=path_of(model_id, is_stream=is_stream), body=_given(body), warnings=tuple(warnings), headers={}
    )


def _given(members: JsonObject) -> dict[str, JsonValue]:
    return {key: found for key, found in members.items() if found is not None}
