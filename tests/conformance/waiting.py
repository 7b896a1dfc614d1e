"""Scenarios that cannot pass yet, each with the feature that it waits for. They are run, and one that passes fails."""

from __future__ import annotations

WAITING: dict[str, str] = {}
