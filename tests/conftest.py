"""What every test gets: no network beyond loopback, and hypothesis without deadlines on a busy machine."""

import os

import hypothesis
import pytest

from tests.offline import forbid_network

# httpx reads these; a proxy of the machine must not decide what a test sees.
for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(name, None)

hypothesis.settings.register_profile(
    "onion", deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("onion")


def pytest_configure(config: pytest.Config) -> None:
    """Forbid the network once the command line is read."""
    del config
    forbid_network()
