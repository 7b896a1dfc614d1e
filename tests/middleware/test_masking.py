from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.middleware._masking import mask_json, mask_text

if TYPE_CHECKING:
    from onion.spec import JsonValue


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("the key sk-TESTKEY-123 leaks", "the key *** leaks"),
        ("x-api-key: abcdef123", "x-api-key: ***"),
        ('{"apiKey":"abcdef123"}', '{"apiKey":"***"}'),
        ("Authorization: Bearer abcdef123", "Authorization: Bearer ***"),
        ("https://x.example/v1?alt=sse&key=abcdef123&n=1", "https://x.example/v1?alt=sse&key=***&n=1"),
        ("![dot](data:image/png;base64,iVBORw0K)", "![dot](***)"),
        ("data:text/plain,hello there", "*** there"),
        ("redis://user:hunter2@host:6379/0", "redis://***@host:6379/0"),
        ("A" * 200, "***"),
        ("the tokens: 12, a risk-free task", "the tokens: 12, a risk-free task"),
        ("metadata: data: none", "metadata: data: none"),
    ],
)
def test_secrets_and_data_urls_are_taken_out_of_a_text(text: str, masked: str) -> None:
    assert mask_text(text, 1000) == masked


def test_a_secret_that_the_limit_would_cut_is_still_known_as_one() -> None:
    assert mask_text("key sk-TESTKEY-123", 9) == "key ***"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert mask_text("a b " * 10, 3) == "a b…"
    assert mask_text("a b " * 10_000, 3) == "a b…"


def test_values_under_a_secret_name_are_masked_at_every_depth() -> None:
    value: JsonValue = {
        "list": [{"api_key": "abc", "signature": {"x": 1}}],
        "n": 1,
        "text": "sk-TESTKEY-123",
        "none": None,
    }

    assert mask_json(value, 100) == {
        "list": [{"api_key": "***", "signature": "***"}],
        "n": 1,
        "text": "***",
        "none": None,
    }
