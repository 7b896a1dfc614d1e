"""Which proxy the environment asks for: ``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``."""

from __future__ import annotations

from urllib.parse import urlsplit


def proxy_for(url: str) -> str | None:
    """The proxy through which *url* is to be asked; None asks it directly."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_any_socks() -> bool:
    """Whether the environment names a SOCKS proxy, which aiohttp cannot use."""
    from urllib.request import getproxies

    return any(proxy.startswith("socks") for proxy in getproxies().values())
