"""Without asyncio: the same functions, blocking, for scripts and notebooks.

You will see a whole answer and a stream, read by plain code. It works inside a running event loop, too.
"""

from onion.sync import generate_text, stream_text
from onion.testing import ScriptedModel, parts, text


def main() -> None:
    result = generate_text(model=ScriptedModel([text("Hello.")]), prompt="Hi")
    print(result.text, result.usage.output_tokens)

    with stream_text(model=ScriptedModel([parts("One ", "word ", "after ", "another.")]), prompt="Hi") as stream:
        for delta in stream.text_stream:
            print(delta)


main()
