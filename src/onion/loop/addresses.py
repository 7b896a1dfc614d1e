"""Which network addresses a download may go to: only those that everybody on the internet may reach."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses that a gateway translates into the IPv4 address in their last 32 bits (RFC 6052, §2.1)."""


def is_public(address: Address) -> bool:
    """Whether *address* belongs to the internet, and not to this machine, its network or a special purpose."""
    if isinstance(address, ipaddress.IPv6Address) and (inner := _embedded(address)) is not None:
        return is_public(inner)
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that traffic to *address* ends at, where it does."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of *host*, as the system knows them.

    Raises:
        OSError: When there are none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
