from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from onion.middleware.tracing import names

if TYPE_CHECKING:
    from types import ModuleType


def values_of(module: ModuleType) -> set[str]:
    return {found for name in dir(module) if name.isupper() and isinstance(found := getattr(module, name), str)}


def ours() -> list[str]:
    return sorted(found for found in values_of(names) if found.startswith("gen_ai.") or found == names.ERROR_TYPE)


@pytest.fixture(scope="module")
def conventions() -> set[str]:
    prefix = "opentelemetry.semconv"
    modules = ["attributes.error_attributes", "_incubating.attributes.gen_ai_attributes"]
    modules += ["_incubating.metrics.gen_ai_metrics"]
    return {found for name in modules for found in values_of(importlib.import_module(f"{prefix}.{name}"))}


@pytest.mark.parametrize("name", ours())
def test_every_name_is_one_of_the_conventions(name: str, conventions: set[str]) -> None:
    assert name in conventions


def test_operations_and_providers_are_those_of_the_conventions() -> None:
    found = importlib.import_module("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    operations = {member.value for member in found.GenAiOperationNameValues}
    providers = {member.value for member in found.GenAiProviderNameValues}

    assert {names.CHAT, names.INVOKE_AGENT, names.EXECUTE_TOOL} <= operations
    assert set(names.PROVIDERS.values()) <= providers


def test_buckets_are_those_of_the_conventions() -> None:
    assert (names.SECONDS_BUCKETS[0], names.SECONDS_BUCKETS[-1]) == (0.01, 81.92)
    assert (names.TOKEN_BUCKETS[0], names.TOKEN_BUCKETS[-1]) == (1, 67108864)
