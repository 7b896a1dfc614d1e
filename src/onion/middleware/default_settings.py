"""DefaultSettings: fills in what a call leaves open.

Goes outside of Cache, so that what is filled in belongs to the key. Of two such layers the outer one wins. Streams pass
untouched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from onion.errors import InvalidArgumentError
from onion.spec.call import CallOptions
from onion.wrap import Middleware

if TYPE_CHECKING:
    from typing import Unpack

    from onion.spec.base import JsonValue, ProviderOptions
    from onion.spec.call import CallChanges
    from onion.spec.model import LanguageModel
    from onion.wrap import Mode

OWN_TO_EACH_CALL = ("prompt", "run")
NOT_SHOWN = ("headers", "tools", "provider_options", "response_format")  # may hold keys, or pages of schema

T = TypeVar("T")


def merged(default: JsonValue, given: JsonValue) -> JsonValue:
    """*given*, and what it lacks from *default*; objects are merged member by member."""
    if isinstance(default, Mapping) and isinstance(given, Mapping):
        return {**default, **{key: merged(default.get(key), member) for key, member in given.items()}}
    return given


def merged_options(default: ProviderOptions | None, given: ProviderOptions | None) -> ProviderOptions | None:
    """The options of a call over the default ones, provider by provider and member by member."""
    if default is None or given is None:
        return _first(given, default)
    return {
        name: {
            **default.get(name, {}),
            **{key: merged(default.get(name, {}).get(key), member) for key, member in given.get(name, {}).items()},
        }
        for name in {**default, **given}
    }


def merged_headers(default: Mapping[str, str] | None, given: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The headers of a call over the default ones, whatever the case of their names."""
    if default is None or given is None:
        return _first(given, default)
    names = {name.lower() for name in given}
    return {**{name: header for name, header in default.items() if name.lower() not in names}, **given}


class DefaultSettings(Middleware):
    """Gives every call the settings that it does not set itself.

    ``DefaultSettings(temperature=0, seed=1)``. A setting of the call wins, also when it is zero or empty; None leaves
    it open. Headers and provider options are merged, those of the call on top.

    Args:
        settings: Fields of `CallOptions` by name, all but the prompt and the run.

    Raises:
        InvalidArgumentError: For a name that is no setting.
    """

    def __init__(self, **settings: Unpack[CallChanges]) -> None:
        known = [field.name for field in dataclasses.fields(CallOptions) if field.name not in OWN_TO_EACH_CALL]
        for name in settings:
            if name not in known:
                msg = f"{name!r} is no default setting: known are {', '.join(known)}"
                raise InvalidArgumentError(msg, parameter=name)
        self._given = tuple(settings)
        self._settings = CallOptions(prompt=()).replace(**settings)

    def __repr__(self) -> str:
        shown = (
            f"{name}=…" if name in NOT_SHOWN else f"{name}={getattr(self._settings, name)!r}" for name in self._given
        )
        return f"DefaultSettings({', '.join(shown)})"

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        """The params with what they leave open filled in."""
        ours = self._settings
        return params.replace(
            max_output_tokens=_first(params.max_output_tokens, ours.max_output_tokens),
            temperature=_first(params.temperature, ours.temperature),
            stop_sequences=_first(params.stop_sequences, ours.stop_sequences),
            top_p=_first(params.top_p, ours.top_p),
            top_k=_first(params.top_k, ours.top_k),
            presence_penalty=_first(params.presence_penalty, ours.presence_penalty),
            frequency_penalty=_first(params.frequency_penalty, ours.frequency_penalty),
            response_format=ours.response_format if params.response_format is None else params.response_format,
            seed=_first(params.seed, ours.seed),
            tools=_first(params.tools, ours.tools),
            tool_choice=_first(params.tool_choice, ours.tool_choice),
            include_raw_chunks=_first(params.include_raw_chunks, ours.include_raw_chunks),
            headers=merged_headers(ours.headers, params.headers),
            reasoning=_first(params.reasoning, ours.reasoning),
            provider_options=merged_options(ours.provider_options, params.provider_options),
        )


def _first(given: T | None, default: T | None) -> T | None:
    return default if given is None else given
