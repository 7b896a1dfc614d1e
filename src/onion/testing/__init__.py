"""What a test of a model, a layer or a program on top of them needs. Imports no test framework."""

from onion.testing.answers import answer, call, parts, text, tool_call, usage
from onion.testing.checks import CheckReport
from onion.testing.conformance import ModelCheckOptions, check_language_model
from onion.testing.layer_conformance import MiddlewareCheckOptions, check_middleware
from onion.testing.lint import Lint
from onion.testing.rules import LintError
from onion.testing.scripted import (
    After,
    Call,
    Raise,
    ScriptedModel,
    ScriptedStream,
    ScriptError,
    ScriptItem,
    ScriptPart,
    Wait,
)

__all__ = [
    "After",
    "Call",
    "CheckReport",
    "Lint",
    "LintError",
    "MiddlewareCheckOptions",
    "ModelCheckOptions",
    "Raise",
    "ScriptError",
    "ScriptItem",
    "ScriptPart",
    "ScriptedModel",
    "ScriptedStream",
    "Wait",
    "answer",
    "call",
    "check_language_model",
    "check_middleware",
    "parts",
    "text",
    "tool_call",
    "usage",
]
