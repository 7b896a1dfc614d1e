"""A base URL that nothing can be sent to is refused where it is given, without the secrets in it."""

from __future__ import annotations

import traceback

import pytest

from onion.errors import InvalidArgumentError
from onion.providers._model import Address

every_unusable_url = pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:s3cret@127.0.0.1:99999/v1?key=s3cret", "http://127.0.0.1:99999/v1"),
        ("http://me:s3cret@127.0.0.1:https/v1?key=s3cret", "http://127.0.0.1:https/v1"),
        ("http://me:s3cret@[::1/v1?key=s3cret", "unreadable"),
        ("http://me:pass/s3cret@host/v1?key=s3cret", "unreadable"),
        ("http://me:s3cret@:80/v1?key=s3cret", "http://:80/v1"),
        ("127.0.0.1:80/v1?key=s3cret", "127.0.0.1:80/v1"),
    ],
    ids=["port too large", "port of letters", "open bracket", "slash in a password", "no host", "no scheme"],
)


@every_unusable_url
def test_a_url_that_nothing_can_be_sent_to_is_refused_where_it_is_given(url: str, shown: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Address(url)

    assert caught.value.parameter == "base_url"
    assert shown in caught.value.message
    assert "s3cret" not in "".join(traceback.format_exception(caught.value)) + str(caught.value.value)


@every_unusable_url
def test_one_of_the_environment_is_refused_before_anything_is_sent(
    url: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_BASE_URL", url)
    address = Address(base_url_variable="SOME_BASE_URL")

    with pytest.raises(InvalidArgumentError) as caught:
        address.of("/x", None, None, sender="test")

    assert shown in caught.value.message
    assert "s3cret" not in "".join(traceback.format_exception(caught.value)) + str(caught.value.value)
