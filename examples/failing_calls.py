"""Errors: one tree, messages that say what to do, and no run that fails in silence.

You will see a mistake that is found before anything is sent, a call that a retry saves, a call that no retry saves, and
a stream that breaks in the middle: its text is there, and then it raises.
"""

import asyncio

from onion import OnionError, generate_text, stream_text
from onion.errors import APICallError, RetryError, StreamInterruptedError
from onion.testing import Raise, ScriptedModel, parts, text


def busy() -> APICallError:
    """What a provider answers that has no time; the header says when to come back, in milliseconds."""
    return APICallError("the server is busy", status_code=503, response_headers={"retry-after-ms": "10"})


async def main() -> None:
    try:
        await generate_text(model=ScriptedModel([]), prompt="one", messages=[{"role": "user", "content": "two"}])
    except OnionError as error:
        print(f"{type(error).__name__}: {error}")

    result = await generate_text(model=ScriptedModel([busy(), text("Here I am.")]), prompt="Are you there?")
    print(result.text)

    try:
        await generate_text(model=ScriptedModel([busy(), busy()]), prompt="Are you there?", max_retries=1)
    except RetryError as error:
        print(f"{error.reason} after {len(error.errors)} tries; the last: {error.last_error}")

    broken = ScriptedModel([parts("Half an ans", Raise(StreamInterruptedError("the line is dead")))])
    try:
        async for delta in stream_text(model=broken, prompt="Are you there?").text_stream:
            print(delta)
    except StreamInterruptedError as error:
        print(f"{type(error).__name__}: {error}")


asyncio.run(main())
