"""What a test of a model, a layer or a program on top of them needs. Imports no test framework."""

from onion.testing.answers import answer, call, parts, text, tool_call, usage
from onion.testing.lint import Lint
from onion.testing.rules import LintError
from onion.testing.scripted import After, Call, Raise, ScriptedModel, ScriptedStream, ScriptError, ScriptItem, Wait

__all__ = [
    "After",
    "Call",
    "Lint",
    "LintError",
    "Raise",
    "ScriptError",
    "ScriptItem",
    "ScriptedModel",
    "ScriptedStream",
    "Wait",
    "answer",
    "call",
    "parts",
    "text",
    "tool_call",
    "usage",
]
