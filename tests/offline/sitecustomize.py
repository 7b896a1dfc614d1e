"""Forbids every connection that leaves the machine, from the start of the interpreter that finds this on its path."""

import ipaddress
import sys
from typing import TypeAlias

_Host: TypeAlias = str | bytes | None
_LOOPBACK_NAMES = ("localhost", "localhost.")


class NetworkForbiddenError(RuntimeError):
    """A test tried to reach something beyond loopback."""


def _is_loopback(host: _Host) -> bool:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "localhost")
    if text in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _audit(event: str, arguments: tuple[_Host | tuple[_Host, ...], ...]) -> None:
    if event == "socket.getaddrinfo":
        name = arguments[0]
        if not isinstance(name, tuple) and not _is_loopback(name):
            raise NetworkForbiddenError(f"tests stay on loopback, this one looked up {name!r}")
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and not _is_loopback(address[0]):  # anything else is the path of a local socket
            raise NetworkForbiddenError(f"tests stay on loopback, this one connected to {address[0]!r}")


def forbid_network() -> None:
    """Install the rule for the rest of the process; an audit hook cannot be taken out again."""
    sys.addaudithook(_audit)


if __name__ == "sitecustomize":
    forbid_network()
