"""Names of the OpenTelemetry GenAI semantic conventions, in one place: they are still moving.

Source: opentelemetry-semantic-conventions 0.66b2, read 2026-12. A test holds them against that package.
"""

from __future__ import annotations

OPERATION_NAME = "gen_ai.operation.name"
PROVIDER_NAME = "gen_ai.provider.name"
OUTPUT_TYPE = "gen_ai.output.type"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - a kind of token that is no secret

REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_TOP_P = "gen_ai.request.top_p"
REQUEST_TOP_K = "gen_ai.request.top_k"
REQUEST_FREQUENCY_PENALTY = "gen_ai.request.frequency_penalty"
REQUEST_PRESENCE_PENALTY = "gen_ai.request.presence_penalty"
REQUEST_STOP_SEQUENCES = "gen_ai.request.stop_sequences"
REQUEST_SEED = "gen_ai.request.seed"
REQUEST_STREAM = "gen_ai.request.stream"

RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons"
RESPONSE_TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"

USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
USAGE_CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
USAGE_CACHE_CREATION = "gen_ai.usage.cache_creation.input_tokens"
USAGE_REASONING = "gen_ai.usage.reasoning.output_tokens"

TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT = "gen_ai.tool.call.result"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"

AGENT_NAME = "gen_ai.agent.name"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
ERROR_TYPE = "error.type"

CHAT = "chat"
INVOKE_AGENT = "invoke_agent"
EXECUTE_TOOL = "execute_tool"

OPERATION_DURATION = "gen_ai.client.operation.duration"
TOKEN_USAGE = "gen_ai.client.token.usage"  # noqa: S105 - a kind of token that is no secret
TIME_TO_FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk"

SECONDS_BUCKETS = tuple(0.01 * 2**power for power in range(14))
TOKEN_BUCKETS = tuple(4**power for power in range(14))

CAPTURE_CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

OUTCOME = "onion.outcome"
"""How a call or run ended: ``finished``, ``error``, ``closed`` early by its reader, or ``cancelled``."""
CACHE_HIT = "onion.cache.hit"
RUN_ID = "onion.run.id"
STEP = "onion.step"
STEPS = "onion.steps"
TOTAL_INPUT_TOKENS = "onion.total_usage.input_tokens"
"""What a whole run used; not under ``gen_ai.usage``, since backends sum that over all spans."""
TOTAL_OUTPUT_TOKENS = "onion.total_usage.output_tokens"

PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Where the conventions have another word than the first part of our provider names."""
