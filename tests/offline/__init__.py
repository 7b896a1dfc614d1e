"""Keeps a process on loopback; ``sitecustomize`` beside it does so for subprocesses."""

from tests.offline.sitecustomize import forbid_network

__all__ = ["forbid_network"]
