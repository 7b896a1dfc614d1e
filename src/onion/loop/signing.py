"""Signatures of approval requests, so that a history which a client holds cannot approve what nobody asked for.

The scheme is the AI SDK's: HMAC-SHA256 over the ids, the tool's name and a digest of the input, base64url without
padding. The input is digested in canonical JSON (RFC 8785), so that a round trip through a browser, which reorders
keys and writes 10.0 as 10, does not break a signature.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onion.spec.base import JsonValue

_SCHEME = "ai-sdk-tool-approval-v1"
_EXACT_INTEGERS = 2**53
_FIRST_EXPONENT = 21
_LAST_SMALL_EXPONENT = -7


def sign(secret: str | bytes, *, approval_id: str, tool_call_id: str, tool_name: str, tool_input: JsonValue) -> str:
    """The signature of a request to run that tool with that input."""
    digest = _base64url(hashlib.sha256(_utf8(canonical_json(tool_input))).digest())
    message = json.dumps(
        [_SCHEME, approval_id, tool_call_id, tool_name, digest], separators=(",", ":"), ensure_ascii=False
    )
    key = secret.encode() if isinstance(secret, str) else secret
    return _base64url(hmac.digest(key, _utf8(message), "sha256"))


def is_signed(
    secret: str | bytes,
    signature: str,
    *,
    approval_id: str,
    tool_call_id: str,
    tool_name: str,
    tool_input: JsonValue,
) -> bool:
    """Whether *signature* is the one that `sign` makes; takes the same time for right and wrong ones."""
    wanted = sign(
        secret, approval_id=approval_id, tool_call_id=tool_call_id, tool_name=tool_name, tool_input=tool_input
    )
    return hmac.compare_digest(_utf8(wanted), _utf8(signature))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def canonical_json(json_value: JsonValue) -> str:
    """The one text of *json_value* (RFC 8785): keys sorted by UTF-16 units, numbers as ECMAScript writes them."""
    if isinstance(json_value, str) or json_value is None or isinstance(json_value, bool):
        return json.dumps(json_value, ensure_ascii=False)
    if isinstance(json_value, int | float):
        return _number(json_value)
    if isinstance(json_value, Mapping):
        items = sorted(json_value.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass"))
        members = (f"{json.dumps(key, ensure_ascii=False)}:{canonical_json(member)}" for key, member in items)
        return "{" + ",".join(members) + "}"
    return "[" + ",".join(canonical_json(item) for item in _items(json_value)) + "]"


def _items(json_value: Sequence[JsonValue]) -> Sequence[JsonValue]:
    return json_value


def _number(number: float) -> str:
    """As `Number.prototype.toString` writes it: ECMA-262, section 6.1.6.1.20."""
    if isinstance(number, int) and abs(number) <= _EXACT_INTEGERS:
        return str(number)
    try:
        number = float(number)
    except OverflowError:
        return str(number)
    sign = "-" if number < 0 else ""
    mantissa, _, exponent_text = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent_text or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if len(digits) <= point <= _FIRST_EXPONENT:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= _FIRST_EXPONENT:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _LAST_SMALL_EXPONENT < point - 1 <= 0 and point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
