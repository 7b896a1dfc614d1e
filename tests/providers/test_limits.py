"""What servers say of their limits beside an answer reaches the caller, whoever answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion import generate_text, stream_text
from onion.errors import APICallError
from tests.providers.clients import make_httpx
from tests.providers.formats import Format, both_modes, every_format
from tests.providers.loopback import Script, answer, serve, stream

if TYPE_CHECKING:
    from onion.spec.model import LanguageModel
    from onion.spec.result import ResponseInfo

LIMITS = [
    ("x-ratelimit-remaining-tokens", "9"),
    ("anthropic-ratelimit-requests-remaining", "3"),
    ("retry-after", "2"),
]


def limited(form: Format, mode: str) -> Script:
    """An answer that tells the limits."""
    return stream(*form.text_events, headers=LIMITS) if mode == "stream" else answer(dict(form.text), headers=LIMITS)


async def asked(model: LanguageModel, mode: str) -> ResponseInfo:
    """What the server said of its answer."""
    if mode == "stream":
        return await stream_text(model=model, prompt="go", max_retries=0).response
    return (await generate_text(model=model, prompt="go", max_retries=0)).response


@every_format
@both_modes
async def test_the_limits_beside_an_answer_are_in_its_response(form: Format, mode: str) -> None:
    async with serve(limited(form, mode)) as server, make_httpx() as client:
        response = await asked(form.make(server.url, client), mode)

    assert response.headers is not None
    assert [(name, response.headers.get(name)) for name, _ in LIMITS] == LIMITS


@every_format
@both_modes
async def test_the_limits_beside_a_refusal_are_in_the_error(form: Format, mode: str) -> None:
    async with serve(answer(form.error("slow down"), status=429, headers=LIMITS)) as server, make_httpx() as client:
        with pytest.raises(APICallError) as caught:
            await asked(form.make(server.url, client), mode)

    assert caught.value.response_headers is not None
    assert caught.value.response_headers["x-ratelimit-remaining-tokens"] == "9"
