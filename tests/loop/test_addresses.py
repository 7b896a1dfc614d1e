from __future__ import annotations

import ipaddress

import pytest

from onion.loop.addresses import is_public, resolve


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("93.184.216.34", id="IPv4"),
        pytest.param("2606:2800:220:1:248:1893:25c8:1946", id="IPv6"),
        pytest.param("::ffff:93.184.216.34", id="IPv4 in IPv6"),
        pytest.param("64:ff9b::5db8:d822", id="IPv4 behind a translating gateway"),
    ],
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1", id="loopback"),
        pytest.param("::1", id="loopback, IPv6"),
        pytest.param("10.1.2.3", id="private"),
        pytest.param("192.168.0.1", id="private, at home"),
        pytest.param("172.16.5.4", id="private, in between"),
        pytest.param("100.64.0.1", id="shared by a carrier"),
        pytest.param("169.254.169.254", id="link-local, where clouds keep credentials"),
        pytest.param("fe80::1", id="link-local, IPv6"),
        pytest.param("fe80::1%1", id="link-local with a zone"),
        pytest.param("fd00::1", id="private, IPv6"),
        pytest.param("0.0.0.0", id="unspecified"),  # noqa: S104  # it is refused
        pytest.param("::", id="unspecified, IPv6"),
        pytest.param("224.0.0.1", id="multicast"),
        pytest.param("ff0e::1", id="multicast, IPv6"),
        pytest.param("240.0.0.1", id="reserved"),
        pytest.param("255.255.255.255", id="broadcast"),
        pytest.param("::ffff:127.0.0.1", id="loopback in IPv6"),
        pytest.param("64:ff9b::7f00:1", id="loopback behind a translating gateway"),
        pytest.param("2002:7f00:1::", id="loopback in 6to4"),
        pytest.param("2001:0:5db8:d822:0:0:80ff:fffe", id="loopback in Teredo"),
    ],
)
def test_an_address_that_is_not_of_the_internet_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


async def test_a_host_is_looked_up_as_the_system_does() -> None:
    assert "127.0.0.1" in await resolve("localhost", 80)
