"""The settings of a call as a generation config. What the model would refuse becomes a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onion.providers._json import count_in, dump_json, object_in
from onion.providers.google.schema import fit_schema
from onion.providers.google.thinking import thinking_of
from onion.spec.call import JsonFormat
from onion.spec.usage import CallWarning, CompatibilityWarning

if TYPE_CHECKING:
    from onion.providers.google.traits import ModelTraits
    from onion.spec.base import JsonObject, JsonValue
    from onion.spec.call import CallOptions

JSON = "application/json"
OF_CONFIG = frozenset(
    {
        "audioTimestamp",
        "candidateCount",
        "enableAffectiveDialog",
        "enableEnhancedCivicAnswers",
        "imageConfig",
        "logprobs",
        "mediaResolution",
        "responseJsonSchema",
        "responseLogprobs",
        "responseMimeType",
        "responseModalities",
        "responseSchema",
        "routingConfig",
        "speechConfig",
        "thinkingConfig",
    }
)
"""Provider options that are members of the generation config and not of the body."""


def config_of(
    params: CallOptions, options: JsonObject, traits: ModelTraits, warnings: list[CallWarning]
) -> dict[str, JsonValue]:
    """The generation config of a call, but for the form of its answer."""
    thinking = thinking_of(params.reasoning, traits, warnings)
    config: dict[str, JsonValue] = {
        "maxOutputTokens": params.max_output_tokens,
        "temperature": params.temperature,
        "topP": params.top_p,
        "topK": params.top_k,
        "presencePenalty": params.presence_penalty,
        "frequencyPenalty": params.frequency_penalty,
        "stopSequences": list(params.stop_sequences) if params.stop_sequences else None,
        "seed": params.seed,
        "thinkingConfig": thinking or None,
    }
    own = {key: found for key, found in options.items() if key in OF_CONFIG}
    own.update(object_in(options, "generationConfig"))
    given = own.get("thinkingConfig")
    if isinstance(given, dict):
        own["thinkingConfig"] = _thinking(thinking, given)
    config |= own
    if (count_in(config, "candidateCount") or 1) > 1:
        details = "only the first is read; all are in the body of an answer, and in the raw chunks of a stream"
        warnings.append(CompatibilityWarning(feature="candidateCount", details=details))
    return config


def _thinking(ours: JsonObject, given: JsonObject) -> JsonObject:
    """The caller's thinking config over ours; the API takes a level or a budget, and not both."""
    if not given.keys().isdisjoint({"thinkingBudget", "thinkingLevel"}):
        ours = {key: found for key, found in ours.items() if key == "includeThoughts"}
    return {**ours, **given}


def form_of(
    params: CallOptions, options: JsonObject, warnings: list[CallWarning], *, takes_form: bool
) -> tuple[dict[str, JsonValue], str | None]:
    """The members of the generation config that want JSON, and an instruction where the model takes none of them.

    Args:
        params: The call.
        options: Ours; ``structuredOutputs`` says False to keep the schema out.
        warnings: Where goes what is sent in another form.
        takes_form: The model takes the form of an answer beside the tools of this call.
    """
    wanted = params.response_format
    if not isinstance(wanted, JsonFormat):
        return {}, None
    schema = None if wanted.schema is None else fit_schema(wanted.schema)
    if takes_form and (schema is None or options.get("structuredOutputs") is False):
        return {"responseMimeType": JSON}, None
    if takes_form:
        return {"responseMimeType": JSON, "responseJsonSchema": schema}, None
    details = "the model takes no form of the answer beside tools: it is told in the instructions"
    warnings.append(CompatibilityWarning(feature="response_format", details=details))
    said = "Answer with JSON and nothing else."
    return {}, said if schema is None else f"{said} It follows this JSON Schema: {dump_json(schema).decode()}"
