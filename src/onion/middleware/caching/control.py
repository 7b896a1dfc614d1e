"""How one call says what the cache is to do for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from onion.spec.call import CallOptions

CONTROLS = ("bypass", "refresh", "only-if-cached")


def control_of(params: CallOptions) -> str | None:
    """What ``provider_options["onion"]["cache"]`` asks for.

    Raises:
        InvalidArgumentError: When it is no word that the cache knows, or something else than ``cache`` is asked for
            there: a misspelt name would go unheard.
    """
    if params.provider_options is None:
        return None
    ours = params.provider_options.get("onion")
    if not ours:
        return None
    unknown = sorted(ours.keys() - {"cache"})
    if unknown:
        msg = f'provider_options["onion"] of a call may only hold "cache", got {", ".join(map(repr, unknown))}'
        raise InvalidArgumentError(msg, parameter="provider_options", value=unknown)
    word = ours.get("cache")
    if word is None or (isinstance(word, str) and word in CONTROLS):
        return word
    msg = f'provider_options["onion"]["cache"] must be one of {", ".join(CONTROLS)}, got {word!r}'
    raise InvalidArgumentError(msg, parameter="provider_options", value=word)
