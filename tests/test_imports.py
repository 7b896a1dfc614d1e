"""Importing Onion is cheap: heavy packages load on first use."""

import subprocess
import sys

HEAVY = (
    "aiohttp",
    "diskcache",
    "httpx",
    "httpx2",
    "jsonschema_rs",
    "onion.cli",
    "onion.testing",
    "opentelemetry",
    "redis",
    "rich",
    "structlog",
    "xllamacpp",
)


def loaded_by(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded after *program*."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_onion_loads_no_client_telemetry_store_or_terminal() -> None:
    modules = loaded_by("import onion")

    assert "onion" in modules
    assert modules.isdisjoint(HEAVY)
