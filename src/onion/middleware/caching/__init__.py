"""Cache: answers a call that was answered before, in either mode."""

from onion.middleware.caching.key import SHARED, CacheScope, Scope
from onion.middleware.caching.layer import Cache

__all__ = ["SHARED", "Cache", "CacheScope", "Scope"]
