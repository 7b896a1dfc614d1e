"""The shape of a scenario file, as far as the runner reads it. Keys and values are those of the file.

A key that is there wherever it is read, because the kind of the object needs it, is not marked as optional.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from onion.spec import JsonObject, JsonValue

ErrorData: TypeAlias = "str | JsonObject"
Record: TypeAlias = "dict[str, JsonValue]"
"""What was observed of a run: the keys of `expect`."""


class Behaviour(TypedDict, total=False):
    """What a tool does."""

    delayMs: int
    returns: JsonValue
    returnsInput: bool
    throws: ErrorData
    yields: list[JsonValue]
    byInput: list[Behaviour]
    input: JsonValue
    abort: bool
    sync: bool


class WhenInput(TypedDict):
    """Inputs for which a tool needs approval."""

    whenInput: list[JsonValue]


class ToolData(TypedDict):
    """One tool."""

    kind: Literal["function", "dynamic", "provider"]
    id: str
    args: NotRequired[JsonObject]
    isProviderExecuted: NotRequired[bool]
    supportsDeferredResults: NotRequired[bool]
    description: NotRequired[str]
    title: NotRequired[str]
    strict: NotRequired[bool]
    inputExamples: NotRequired[list[JsonObject]]
    providerOptions: NotRequired[dict[str, JsonObject]]
    metadata: NotRequired[JsonObject]
    inputSchema: JsonObject
    needsApproval: NotRequired[bool | WhenInput]
    toModelOutput: NotRequired[JsonObject]
    recordInputEvents: NotRequired[bool]
    behaviour: NotRequired[Behaviour | None]


class StopData(TypedDict, total=False):
    """One stop condition."""

    stepCount: int
    hasToolCall: list[str]
    loopFinished: bool


class OutputData(TypedDict):
    """Structured output."""

    type: Literal["text", "object", "array", "choice", "json"]
    schema: JsonObject
    element: JsonObject
    options: list[str]
    minItems: NotRequired[int]
    maxItems: NotRequired[int]
    name: NotRequired[str]
    description: NotRequired[str]


class PreparedStep(TypedDict):
    """What `prepare_step` does before one step."""

    step: int
    override: JsonObject
    throws: NotRequired[ErrorData]


class AbortData(TypedDict, total=False):
    """How the run is aborted."""

    reason: str
    when: Literal["before"]


class CallData(TypedDict):
    """The arguments of the call; the ones that need no change are read by name."""

    prompt: NotRequired[JsonValue]
    messages: NotRequired[list[JsonObject]]
    instructions: NotRequired[JsonValue]
    maxRetries: NotRequired[int]
    streamRetries: NotRequired[int]
    stopWhen: NotRequired[list[StopData]]
    output: NotRequired[OutputData]
    toolApproval: NotRequired[JsonObject]
    toolApprovalSecret: NotRequired[str]
    toolChoice: NotRequired[JsonValue]
    prepareStep: NotRequired[list[PreparedStep]]
    prepareCall: NotRequired[JsonObject]
    includeRawChunks: NotRequired[bool]
    agent: NotRequired[bool]
    abort: NotRequired[AbortData]
    method: Literal["doGenerate", "doStream"]
    options: JsonObject


class ModelEntry(TypedDict, total=False):
    """One scripted answer."""

    generate: JsonObject
    stream: list[JsonObject]
    response: JsonObject
    request: JsonObject
    error: ErrorData
    abort: bool


class ModelConfig(TypedDict, total=False):
    """What the main model says of itself."""

    provider: str
    modelId: str
    supportedUrls: dict[str, list[str]]


class MiddlewareData(TypedDict):
    """One layer; the options of all kinds together."""

    type: str
    name: str
    params: JsonObject
    only: NotRequired[Literal["generate", "stream"]]
    suffix: str
    generate: JsonObject
    stream: list[JsonObject]
    hook: str
    error: ErrorData
    modelId: NotRequired[str]
    provider: NotRequired[str]
    supportedUrls: NotRequired[dict[str, list[str]]]
    settings: JsonObject
    instructions: str
    tagName: JsonValue
    separator: NotRequired[str]
    startWithReasoning: NotRequired[bool]
    replaceAll: NotRequired[list[list[str]]]
    prefix: NotRequired[str]
    remove: NotRequired[bool]
    formatTemplate: NotRequired[str]


class WrapData(TypedDict, total=False):
    """Ids given to the wrapper."""

    modelId: str
    providerId: str


class RepairAnswer(TypedDict, total=False):
    """One answer of the repair function."""

    returns: JsonObject | None
    throws: ErrorData


class Scenario(TypedDict):
    """A whole file."""

    id: str
    title: str
    behaviour: str
    tags: list[str]
    mode: Literal["generate", "stream", "model"]
    call: CallData
    tools: NotRequired[dict[str, ToolData]]
    model: list[ModelEntry]
    modelConfig: NotRequired[ModelConfig]
    models: NotRequired[dict[str, list[ModelEntry]]]
    middleware: NotRequired[list[MiddlewareData]]
    wrap: NotRequired[WrapData]
    repair: NotRequired[list[RepairAnswer]]
    expectOnly: NotRequired[list[str]]
    expect: Record


def load(path: Path) -> Scenario:
    """Read a scenario file."""
    scenario: Scenario = json.loads(path.read_text(encoding="utf-8"))
    return scenario
