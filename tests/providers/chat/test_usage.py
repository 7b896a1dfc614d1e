"""Token counts in every form, and None for what nobody said."""

import pytest

from onion.providers._chat import to_usage
from onion.providers._chat.usage import usage_in
from onion.spec.base import JsonObject, JsonValue
from onion.spec.usage import InputTokens, OutputTokens, Usage


def counts(account: JsonObject) -> tuple[InputTokens, OutputTokens]:
    """What is read of *account*."""
    usage = to_usage(account)
    assert usage.raw is account
    return usage.input_tokens, usage.output_tokens


@pytest.mark.parametrize(
    ("account", "expected"),
    [
        pytest.param(
            {"prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2}},
            InputTokens(total=10, no_cache=4, cache_read=4, cache_write=2),
            id="in the details",
        ),
        pytest.param({"prompt_cache_hit_tokens": 4}, InputTokens(total=10, no_cache=6, cache_read=4), id="DeepSeek"),
        pytest.param({"cached_tokens": 4}, InputTokens(total=10, no_cache=6, cache_read=4), id="Moonshot"),
        pytest.param({"num_cached_tokens": 4}, InputTokens(total=10, no_cache=6, cache_read=4), id="Mistral"),
        pytest.param({"prompt_tokens_details": None}, InputTokens(total=10), id="null details"),
        pytest.param({}, InputTokens(total=10), id="nothing said of caches"),
    ],
)
def test_cached_tokens_are_found_wherever_a_server_puts_them(account: JsonObject, expected: InputTokens) -> None:
    assert counts({"prompt_tokens": 10, **account})[0] == expected


@pytest.mark.parametrize(
    ("account", "expected"),
    [
        pytest.param(
            {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}},
            OutputTokens(total=9, text=5, reasoning=4),
            id="in the details",
        ),
        pytest.param(
            {"completion_tokens": 9, "reasoning_tokens": 4}, OutputTokens(total=9, text=5, reasoning=4), id="beside"
        ),
        pytest.param(
            {
                "completion_tokens": 1,
                "prompt_tokens": 10,
                "total_tokens": 15,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            OutputTokens(total=5, text=1, reasoning=4),
            id="xAI: reasoning only in the total",
        ),
        pytest.param(
            {"completion_tokens": 1, "prompt_tokens": 10, "total_tokens": 15},
            OutputTokens(total=5, text=1, reasoning=4),
            id="Gemini: reasoning only as a gap",
        ),
        pytest.param(
            {"completion_tokens": 5, "prompt_tokens": 10, "total_tokens": 99, "reasoning_tokens": 4},
            OutputTokens(total=5, text=1, reasoning=4),
            id="a total that is something else",
        ),
        pytest.param(
            {"completion_tokens": 3, "reasoning_tokens": 4}, OutputTokens(total=3, text=0, reasoning=4), id="too much"
        ),
        pytest.param(
            {"completion_tokens": 9, "completion_tokens_details": None}, OutputTokens(total=9), id="null details"
        ),
        pytest.param({"prompt_tokens": 3}, OutputTokens(), id="nothing said of the answer"),
    ],
)
def test_reasoning_tokens_are_found_and_counted_once(account: JsonObject, expected: OutputTokens) -> None:
    assert counts(account)[1] == expected


@pytest.mark.parametrize(
    ("account", "total"),
    [({"prompt_tokens": None}, None), ({"prompt_tokens": 3.0}, 3), ({"prompt_tokens": True}, None)],
)
def test_odd_counts_do_no_harm(account: JsonObject, total: int | None) -> None:
    assert counts({**account, "completion_tokens": 4}) == (InputTokens(total=total), OutputTokens(total=4))


def test_no_account_is_no_counts() -> None:
    assert to_usage(None) == Usage()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ({"usage": {"a": 1}}, {"a": 1}),
        ({"x_groq": {"usage": {"a": 1}}}, {"a": 1}),
        ({"usage": None, "x_groq": {"usage": {"a": 1}}}, {"a": 1}),
        ({"usage": None}, None),
        ({"usage": {}}, None),
        ({}, None),
    ],
)
def test_the_account_is_found_where_it_is(source: JsonObject, found: JsonValue) -> None:
    assert usage_in(source) == found
