"""What JSON cannot carry, made of the single-key objects that stand for it (FORMAT.md, section 2)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.conformance.compare import is_list
from tests.conformance.failures import to_exception

if TYPE_CHECKING:
    from onion.spec import JsonValue

_CAPITAL = re.compile(r"[A-Z]")


def revive(data: JsonValue) -> object:
    """*data* with bytes, URLs, errors and absent values in the place of what stands for them."""
    if isinstance(data, Mapping):
        if len(data) == 1:
            ((key, member),) = data.items()
            if key == "$bytes":
                return base64.b64decode(str(member))
            if key == "$url":
                return str(member)
            if key == "$undefined":
                return None
            if key == "$error" and isinstance(member, str | Mapping):
                return to_exception(member)
        return {key: revive(member) for key, member in data.items()}
    return [revive(item) for item in data] if is_list(data) else data


def snake(name: str) -> str:
    """``toolCallId`` to ``tool_call_id``."""
    return _CAPITAL.sub(lambda capital: "_" + capital[0].lower(), name)
