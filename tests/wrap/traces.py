"""A layer that writes down when it is entered and left, and what it was given."""

from onion.spec import CallOptions, GenerateResult, LanguageModel, StreamResult, TextPart, UserMessage
from onion.wrap import DoGenerate, DoStream, Middleware, Mode

ASK = CallOptions(prompt=(UserMessage(content=(TextPart(text="x"),)),))


def asked(params: CallOptions) -> str:
    """The text of the only message."""
    (message,) = params.prompt
    assert isinstance(message, UserMessage)
    return "".join(part.text for part in message.content if isinstance(part, TextPart))


class Trace(Middleware):
    """Adds its name to the text and to the log."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log
        self.transformed: list[Mode] = []

    async def transform_params(self, *, params: CallOptions, type: Mode, model: LanguageModel) -> CallOptions:
        del model
        self.transformed.append(type)
        message = UserMessage(content=(TextPart(text=asked(params) + self.name),))
        return params.replace(prompt=(message,))

    async def wrap_generate(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> GenerateResult:
        self.log.append(f"{self.name}>")
        result = await do_generate()
        self.log.append(f"<{self.name}")
        return result

    async def wrap_stream(
        self, *, do_generate: DoGenerate, do_stream: DoStream, params: CallOptions, model: LanguageModel
    ) -> StreamResult:
        self.log.append(f"{self.name}>")
        result = await do_stream()
        self.log.append(f"<{self.name}")
        return result

    def override_model_id(self, *, model: LanguageModel) -> str:
        return f"{self.name}({model.model_id})"

    def __repr__(self) -> str:
        return f"Trace({self.name})"
