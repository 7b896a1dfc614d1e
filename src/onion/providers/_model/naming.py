"""What providers and models may be called, and what is said of models that there are none of."""

from __future__ import annotations

from onion.errors import InvalidArgumentError, NoSuchModelError

_RESERVED_NAME = "onion"


def check_name(name: str) -> str:
    """The name of a provider, which is also the key of its options and metadata.

    Raises:
        InvalidArgumentError: When it is empty or reserved.
    """
    if not name or name == _RESERVED_NAME:
        msg = f"a provider cannot be called {name!r}: choose another name"
        raise InvalidArgumentError(msg, parameter="name", value=name)
    return name


def require_id(name: str, model_id: str) -> str:
    """The id of a model; whether it exists only the server knows.

    Raises:
        NoSuchModelError: When it is empty.
    """
    if not model_id:
        msg = f"{name} needs a model id, got an empty one"
        raise NoSuchModelError(msg, model_id=model_id)
    return model_id


def no_such_model(name: str, model_id: str, kind: str) -> NoSuchModelError:
    """The error for a *kind* of model that the provider *name* does not offer here."""
    msg = f"{name} offers no {kind} {model_id!r} here: only language models"
    return NoSuchModelError(msg, model_id=model_id, kind=kind)
