"""Headers: who wins, who asks, and what is never shown."""

import pytest

from onion.errors import InvalidArgumentError
from onion.providers._http import merge_headers, package_version
from onion.providers._http.headers import secrets_in, without_secrets


def test_later_headers_win_whatever_their_case() -> None:
    merged = merge_headers({"X-A": "1", "x-b": "2"}, None, {"x-a": "3"}, product="chat")

    assert merged["x-a"] == "3"
    assert merged["x-b"] == "2"


def test_the_callers_user_agent_comes_first() -> None:
    own = f"onion/{package_version()} chat"

    assert merge_headers({}, product="chat")["user-agent"] == own
    assert merge_headers({"User-Agent": "mine/1"}, product="chat")["user-agent"] == f"mine/1 {own}"


def test_onion_names_itself_once() -> None:
    given = {"user-agent": f"mine/1 onion/{package_version()} onion-agent/tool-loop"}

    merged = merge_headers(given, product="chat")

    assert merged["user-agent"] == f"{given['user-agent']} chat"


def test_a_package_that_is_not_installed_has_version_zero() -> None:
    assert package_version("no-such-package-anywhere") == "0"


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer sk-secret\n"},
        {"authorization": "Bearer sk-sécret"},
        {"x a": "b"},
        {"": "b"},
        {"é": "b"},
    ],
    ids=["line break", "beyond ASCII", "space in the name", "no name", "name beyond ASCII"],
)
def test_what_http_cannot_carry_is_refused_without_showing_the_value(headers: dict[str, str]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        merge_headers(headers, product="chat")

    assert "cret" not in str(caught.value) + repr(caught.value.value)


def test_the_values_of_credentials_are_secrets_with_and_without_their_scheme() -> None:
    headers = {"authorization": "Bearer sk-TESTKEY-123", "x-api-key": "none", "accept": "application/json"}

    assert secrets_in(headers) == ("Bearer sk-TESTKEY-123", "sk-TESTKEY-123")
    assert without_secrets("wrong key sk-TESTKEY-123!", secrets_in(headers)) == "wrong key ***!"


def test_beta_features_of_all_layers_add_up() -> None:
    merged = merge_headers(
        {"anthropic-beta": "a,b"}, {"Anthropic-Beta": "c, a"}, {"anthropic-beta": ""}, product="anthropic"
    )

    assert merged["anthropic-beta"] == "a,b,c"


def test_who_asks_is_said_once() -> None:
    first = merge_headers({"user-agent": "my-anthropic-app"}, product="anthropic")

    second = merge_headers(first, product="anthropic")

    assert second["user-agent"] == first["user-agent"]
    assert second["user-agent"].split()[-1] == "anthropic"
