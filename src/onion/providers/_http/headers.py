"""Headers of a request, and what of it may be shown. No I/O."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from onion.errors import MASK, InvalidArgumentError, mask_headers

_SHORTEST_SECRET = 8
"""Shorter keys are placeholders such as ``none``; hiding them would tear holes into ordinary words."""

_LISTS = frozenset({"anthropic-beta"})
"""Headers whose values add up: what a feature needs, and what the caller wants beside it."""


@functools.cache
def package_version(package: str = "onion-ai") -> str:
    """The installed version of *package*; ``0`` where it runs without being installed."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0"


def merge_headers(*layers: Mapping[str, str] | None, product: str) -> dict[str, str]:
    """The headers of all *layers*, the later ones winning, names in lower case; lists of beta features are joined.

    Args:
        layers: Each from names in any case.
        product: What joins the User-Agent behind the caller's own: ``onion/1.2 openai-chat``.

    Raises:
        InvalidArgumentError: For a header that HTTP cannot carry; the value is not shown.
    """
    merged: dict[str, str] = {}
    for layer in layers:
        for name, value in (layer or {}).items():
            key = name.lower()
            merged[key] = _joined(merged[key], value) if key in _LISTS and key in merged else value
    own = f"onion/{package_version()}"
    agent = merged.get("user-agent", "")
    merged["user-agent"] = " ".join(
        filter(None, (agent, *(name for name in (own, product) if name not in agent.split())))
    )
    check_headers(merged)
    return merged


def check_headers(headers: Mapping[str, str]) -> None:
    """Let pass what HTTP can carry.

    Raises:
        InvalidArgumentError: For a header that it cannot; the value is not shown.
    """
    for name, value in headers.items():
        if not name or not name.isascii() or not name.isprintable() or " " in name:
            msg = f"{name!r} cannot be the name of an HTTP header"
            raise InvalidArgumentError(msg, parameter="headers", value=name)
        if not value.isascii() or not value.replace("\t", " ").isprintable():
            msg = f"the value of the header {name!r} holds line breaks or characters beyond ASCII: remove them"
            raise InvalidArgumentError(msg, parameter="headers", value=MASK)


def _joined(before: str, more: str) -> str:
    items = (item.strip() for item in f"{before},{more}".split(","))
    return ",".join(dict.fromkeys(filter(None, items)))


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """What must not be shown of *headers*: the values of credentials, whole and without their scheme."""
    masked = mask_headers(headers)
    values = [value for name, value in headers.items() if masked[name] != value]
    parts = [*values, *(value.partition(" ")[2] for value in values)]
    return tuple(part for part in parts if len(part) >= _SHORTEST_SECRET)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """*text* with every secret in it masked: some servers repeat the key that they refuse."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text
