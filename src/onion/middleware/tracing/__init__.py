"""Tracing: OpenTelemetry spans and metrics for runs, model calls and tools."""

from onion.middleware.tracing.layer import Tracing

__all__ = ["Tracing"]
