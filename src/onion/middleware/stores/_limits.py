"""Refuses limits that make no sense."""

from __future__ import annotations

from onion.errors import InvalidArgumentError


def check_above_zero(**limits: object) -> None:
    """Refuse what is not above 0.

    Raises:
        InvalidArgumentError: For a limit that is 0 or less, or no number.
    """
    for name, limit in limits.items():
        if not _number(name, limit) > 0:
            raise InvalidArgumentError(f"{name} must be above 0, got {limit!r}", parameter=name, value=limit)


def check_at_least(least: int, **limits: object) -> None:
    """Refuse what is below *least*.

    Raises:
        InvalidArgumentError: For a limit that is below, or no number.
    """
    for name, limit in limits.items():
        if not _number(name, limit) >= least:
            msg = f"{name} must be at least {least}, got {limit!r}"
            raise InvalidArgumentError(msg, parameter=name, value=limit)


def _number(name: str, limit: object) -> float:
    if isinstance(limit, int | float):
        return limit
    raise InvalidArgumentError(f"{name} must be a number, got {limit!r}", parameter=name, value=limit)
