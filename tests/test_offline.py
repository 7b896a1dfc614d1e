"""The rule that keeps the tests on loopback holds."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.offline.sitecustomize import NetworkForbiddenError

OFFLINE = Path(__file__).parent / "offline"


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "name.invalid"])
def test_a_connection_beyond_loopback_is_refused_before_it_is_tried(host: str) -> None:
    with pytest.raises(NetworkForbiddenError, match="loopback"):
        socket.create_connection((host, 9), timeout=0.1)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_allowed(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection((host, server.getsockname()[1]), timeout=5)

        assert client.getpeername() == server.getsockname()
        client.close()


def test_a_subprocess_obeys_too() -> None:
    program = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=0.1)"

    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(OFFLINE)}, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "NetworkForbiddenError" in done.stderr
