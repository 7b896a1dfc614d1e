"""Cases of schemas that become a part of a larger one: what refers to something has to find it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING

from pydantic import BaseModel

from onion import Output, generate_text, tool
from onion.errors import OnionError
from onion.providers._json import object_in
from onion.spec.call import FunctionTool, JsonFormat
from onion.testing import ScriptedModel, text
from tests.cases.case import Case, WaitingError
from tests.cases.expectations import differences
from tests.cases.models import FINE, MODELS, model_over
from tests.cases.playback import Playback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onion.spec.base import JSONSchema, JsonValue
    from onion.spec.model import LanguageModel

ROOTS = frozenset({"schema", "parameters", "input_schema", "responseJsonSchema", "parametersJsonSchema"})
"""Where the requests of the providers hold schemas."""


class Tag(Enum):
    A = "a"
    B = "b"


class Node(BaseModel):
    name: str
    child: Node | None = None
    tag: Tag


class Other:
    """Holds another model of the same name."""

    class Node(BaseModel):
        size: int


class Pair(BaseModel):
    first: Node
    second: Other.Node


async def run(case: Case) -> list[str]:
    """The faults of the case's schema, and of models like it: as elements of a list and as the input of a tool."""
    body = object_in(case.data, "body")
    if body.get("mode") != "array":
        raise WaitingError(f"an output of mode {body.get('mode')!r}")
    element = object_in(body, "element")
    before = copy.deepcopy(element)
    faults: list[str] = []
    for name, found in [
        ("the case's schema", await _lost(element)),
        ("a model", await _lost(Node)),
        ("two models of one name", await _lost(Pair)),
    ]:
        observed: dict[str, JsonValue] = {"all_refs_resolve": not found, "input_unchanged": element == before}
        faults += [f"{fault} ({name})" for fault in differences(case.expect, observed) + found]
    return faults


async def _lost(source: JSONSchema | type[BaseModel]) -> list[str]:
    """The references that lead nowhere: in what a model is told, and in what each provider is sent."""
    model = ScriptedModel([text("none")])
    await _ask(model, source)
    lost: list[str] = []
    for params in model.params:
        asked = params.response_format
        roots = [asked.schema] if isinstance(asked, JsonFormat) and asked.schema else []
        roots += [offered.input_schema for offered in params.tools or () if isinstance(offered, FunctionTool)]
        lost += [f"the model is not told of {reference}" for root in roots for reference in unresolved(root)]
        lost += [] if len(roots) == len(("output", "tool")) else [f"the model is told of {len(roots)} schemas"]
    for provider in MODELS:
        playback = Playback([FINE[provider]])
        async with playback.client() as client:
            await _ask(model_over(provider, client), source)
        bodies: list[JsonValue] = [json.loads(request.content) for request in playback.requests]
        roots = [root for body in bodies for root in _roots(body)]
        lost += [f"{provider} is not sent {reference}" for root in roots for reference in unresolved(root)]
        lost += [] if roots else [f"{provider} is sent no schema"]
    return lost


async def _ask(model: LanguageModel, source: JSONSchema | type[BaseModel]) -> None:
    """Ask for a list of such elements, and offer a tool that takes one. The answer does not matter."""
    tools = [tool(name="t", input_schema=source, execute=str)]
    with suppress(OnionError):
        await generate_text(model=model, prompt="go", tools=tools, output=Output.array(source), max_retries=0)


def _roots(body: JsonValue) -> Iterator[JSONSchema]:
    """The schemas in the body of a request."""
    if isinstance(body, Mapping):
        for name, member in body.items():
            if name in ROOTS and isinstance(member, Mapping):
                yield member
            else:
                yield from _roots(member)
    elif isinstance(body, Sequence) and not isinstance(body, str):
        for item in body:
            yield from _roots(item)


def unresolved(root: JSONSchema) -> list[str]:
    """The references in a schema that lead nowhere in it."""
    return [reference for reference in _references(root) if not _is_there(root, reference)]


def _references(found: JsonValue) -> Iterator[str]:
    if isinstance(found, Mapping):
        for name, member in found.items():
            if name == "$ref" and isinstance(member, str):
                yield member
            yield from _references(member)
    elif isinstance(found, Sequence) and not isinstance(found, str):
        for item in found:
            yield from _references(item)


def _is_there(root: JSONSchema, reference: str) -> bool:
    """Whether the JSON pointer leads to a schema."""
    found: JsonValue = root
    for name in reference.removeprefix("#").split("/")[1:]:
        found = found.get(name) if isinstance(found, Mapping) else None
    return reference.startswith("#") and isinstance(found, Mapping)
