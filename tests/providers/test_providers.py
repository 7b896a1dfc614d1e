"""The front page of the providers: names load on first use, and no HTTP client before a call."""

import pytest

from onion import providers
from onion.providers._http import HTTPClient
from tests.test_imports import loaded_by


@pytest.mark.parametrize(
    "program",
    [
        "import onion.providers",
        "from onion.providers import openai_compatible; openai_compatible(base_url='http://h', model='m')",
        "from onion.providers import openai; openai.chat('gpt-5')",
        "from onion.providers import anthropic; anthropic.messages('claude-sonnet-5')",
    ],
)
def test_no_http_client_is_loaded_before_the_first_call(program: str) -> None:
    modules = loaded_by(program)

    assert modules.isdisjoint({"aiohttp", "httpx", "httpx2", "xllamacpp"})


def test_the_names_of_the_page_are_there() -> None:
    assert dir(providers) == providers.__all__
    assert providers.openai_compatible.__name__ == "openai_compatible"
    assert providers.HTTPClient is HTTPClient
    assert providers.openai.__name__ == "onion.providers.openai"
    assert providers.anthropic.__name__ == "onion.providers.anthropic"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(providers, "nothing")  # noqa: B009 - the attribute is not there on purpose
