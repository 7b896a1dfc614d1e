"""Models behind the Responses API: OpenAI's own, and every server that speaks the same form."""

from onion.providers.openai_responses import tools
from onion.providers.openai_responses.dialect import OPENAI, ResponsesDialect
from onion.providers.openai_responses.provider import PRODUCT, ResponsesProvider

__all__ = ["OPENAI", "PRODUCT", "ResponsesDialect", "ResponsesProvider", "tools"]
