"""Cases that are a prompt in neutral words, and checks on the JSON that is sent for it."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from onion.errors import JSONParseError
from onion.providers._chat import ChatDialect, to_request
from onion.providers._json import object_in, parse_json, text_in
from onion.providers.anthropic import ModelTraits
from onion.providers.anthropic.request import to_request as to_anthropic
from onion.providers.google import ModelTraits as GeminiTraits
from onion.providers.google.request import to_request as to_gemini
from onion.providers.openai_responses import OPENAI
from onion.providers.openai_responses.request import to_request as to_responses
from onion.spec.call import CallOptions
from onion.spec.json import from_json
from onion.spec.prompt import Message, Prompt
from tests.cases.case import Case, WaitingError, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onion.spec.base import JsonObject, JsonValue

_OPENAI_CHAT = ChatDialect(name="openai-chat")


def _openai_chat(prompt: Prompt, options: JsonObject) -> JsonValue:
    own = {"openai-chat": object_in(options, "openai-chat")}
    return to_request("m-1", CallOptions(prompt=prompt, provider_options=own), _OPENAI_CHAT).body


def _anthropic(prompt: Prompt, options: JsonObject) -> JsonValue:
    own = {"anthropic": object_in(options, "anthropic")}
    return to_anthropic("claude-c-1", CallOptions(prompt=prompt, provider_options=own), ModelTraits()).body


def _gemini(prompt: Prompt, options: JsonObject) -> JsonValue:
    own = {"google": object_in(options, "gemini")}
    return to_gemini("gemini-c-1", CallOptions(prompt=prompt, provider_options=own), GeminiTraits()).body


def _openai_responses(prompt: Prompt, options: JsonObject) -> JsonValue:
    return to_responses("gpt-c-1", CallOptions(prompt=prompt, provider_options={"openai": options}), OPENAI).body


REQUESTS: Mapping[str, Callable[[Prompt, JsonObject], JsonValue]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
"""How a request is made, by wire format."""


async def run(case: Case) -> list[str]:
    """The faults of *case* in every format that is built; waits only if none is."""
    built = [name for name in case.providers if name in REQUESTS]
    if not built:
        raise WaitingError(", ".join(case.providers))
    prompt = to_prompt(rows(object_in(case.data, "body").get("prompt")))
    faults: list[str] = []
    for name in built:
        body = REQUESTS[name](prompt, object_in(case.data, "options"))
        faults += [f"{name}: {fault}" for fault in unmet(case.expect.get(name), body)]
    return faults


def unmet(checks: JsonValue, body: JsonValue) -> list[str]:
    """Those of *checks* that do not hold of *body*."""
    return [
        f"{check!r} does not hold of {str(look_up(body, str(check[0])))[:200]}"
        for check in (checks if isinstance(checks, list) else ())
        if isinstance(check, list) and not holds(body, str(check[0]), str(check[1]), check[2])
    ]


# --- the prompt ----------------------------------------------------------------------------------------------------


def to_prompt(messages: list[JsonObject]) -> Prompt:
    """The prompt that neutral words describe."""
    written = [
        {**message, "content": [_part(part) for part in rows(content)] if isinstance(content, list) else content}
        for message in messages
        for content in [message.get("content")]
    ]
    return from_json(tuple[Message, ...], written)


def _part(part: JsonObject) -> JsonObject:
    """The JSON form of a part: files have it by another way, options by another name."""
    data = {
        key: value
        for key, value in part.items()
        if key not in ("invalid", "provider_metadata", "data_b64", "data_hex", "url")
    }
    if "provider_metadata" in part:
        data["provider_options"] = part["provider_metadata"]
    if part.get("type") == "file":
        data["data"] = _file(part)
    return data


def _file(part: JsonObject) -> JsonObject:
    if "url" in part:
        return {"type": "url", "url": part["url"]}
    if "data_hex" in part:
        return {"type": "data", "data": base64.b64encode(bytes.fromhex(text_in(part, "data_hex"))).decode()}
    return {"type": "data", "data": text_in(part, "data_b64")}


# --- the checks ----------------------------------------------------------------------------------------------------

_STEP = re.compile(r"\.?([\w-]+)|\[(\d+)\]|\[\?(\w+)=([^\]]+)\]|\[(\*|\d+:\d+)\]")


def _messages(body: JsonValue) -> list[JsonObject]:
    return rows(object_in({"": body}, "").get("messages"))


def _system(body: JsonValue) -> str:
    return _text_of(object_in({"": body}, "").get("system"))


def _has_blank(body: JsonValue) -> bool:
    blocks = [block for message in _messages(body) for block in rows(message.get("content"))]
    return any(block.get("type") == "text" and not text_in(block, "text").strip() for block in blocks)


def _is_in_its_place(body: JsonValue) -> bool:
    said = "".join(_text_of(message.get("content")) for message in _messages(body))
    return -1 < said.find("a1") < said.find("S3") < said.find("u2")


def _items(body: JsonValue) -> list[JsonObject]:
    return rows(object_in({"": body}, "").get("input"))


def _kinds(body: JsonValue) -> JsonValue:
    items = [item for item in _items(body) if item.get("role") != "user"]
    kinds = [(text_in(item, "type") or "message", text_in(item, "role")) for item in items]
    return [f"{kind}({role})" if role else kind for kind, role in kinds]


def _has_results_first(body: JsonValue) -> bool:
    parts = rows(look_up(body, "contents[2].parts"))
    return len(parts) > 2 and all("functionResponse" in part for part in parts[:3])


def _gemini_system(body: JsonValue) -> str:
    instruction = object_in({"": body}, "").get("systemInstruction")
    return _text_of(instruction.get("parts")) if isinstance(instruction, dict) else ""


SPELT_OUT: Mapping[str, Callable[[JsonValue], JsonValue]] = {
    "contents[2].parts[0:3] all functionResponse": _has_results_first,
    "systemInstruction contains S3": lambda body: "S3" in _gemini_system(body),
    "system text": _system,
    "system text contains S3": lambda body: "S3" in _system(body),
    "S3 appears after a1 and before u2, or the call raises": _is_in_its_place,
    "any blank text block": _has_blank,
    "input[*] after the user message: type sequence": _kinds,
    "encrypted contents": lambda body: [
        item["encrypted_content"] for item in _items(body) if "encrypted_content" in item
    ],
    "any item rs_3": lambda body: any(item.get("id") == "rs_3" for item in _items(body)),
    "any message with empty content": lambda body: any(not message.get("content") for message in _messages(body)),
}
"""Places in the body that a case tells in words."""


def look_up(body: JsonValue, path: str) -> JsonValue:
    """What is at *path*: ``a.b[0].c``, ``a[?type=x].b`` for the first that fits, or one of the spelt-out places."""
    if path == "messages[*] texts":
        return [_text_of(message.get("content")) for message in rows(object_in({"": body}, "").get("messages"))]
    if place := re.fullmatch(r"text of part (\d+)", path):
        return _text_of(look_up(body, f"messages[0].content[{int(place[1]) - 1}]"))
    if path in SPELT_OUT:
        return SPELT_OUT[path](body)
    found = body
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise WaitingError(f"a way to read {path!r}")
        position = step.end()
        if step[5]:
            start, _, end = step[5].partition(":")
            items = rows(found)[int(start) : int(end)] if end else rows(found)
            return [look_up(item, path[position:]) for item in items]
        found = _step(found, step)
    return found


def _step(value: JsonValue, step: re.Match[str]) -> JsonValue:
    key, index, name, wanted, _ = step.groups()
    if key is not None:
        return value.get(key) if isinstance(value, dict) else None
    if index is not None:
        return value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
    return next((item for item in rows(value) if item.get(name) == wanted), None)


def _text_of(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_in(content, "text")
    return "".join(text_in(part, "text") for part in rows(content))


def holds(body: JsonValue, path: str, operator: str, wanted: JsonValue) -> bool:
    """Whether the check holds."""
    found = look_up(body, path)
    match operator:
        case "eq":
            return found == wanted
        case "len":
            return isinstance(found, list) and len(found) == wanted
        case "absent":
            return not found
        case "contains":
            return str(wanted) in str(found)
        case "is":
            return isinstance(found, dict) if wanted == "object" else found == wanted
        case "json_is":
            return wanted == "object" and _is_json_object(found)
        case "contains_in_order":
            places = [str(found).find(str(each)) for each in (wanted if isinstance(wanted, list) else [wanted])]
            return -1 not in places and places == sorted(places)
        case _:
            raise WaitingError(f"the operator {operator!r}")


def _is_json_object(found: JsonValue) -> bool:
    try:
        return isinstance(found, str) and isinstance(parse_json(found), dict)
    except JSONParseError:
        return False
