"""Models behind the chat completions API: OpenAI's own, and every server that speaks the same form."""

from onion.providers._chat import ChatDialect, ModelTraits
from onion.providers.openai_chat.provider import PRODUCT, ChatProvider, openai_compatible
from onion.providers.openai_chat.quirks import OPENAI

__all__ = ["OPENAI", "PRODUCT", "ChatDialect", "ChatProvider", "ModelTraits", "openai_compatible"]
