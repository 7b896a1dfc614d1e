"""Inputs, outputs and schemas of tools in the form that most APIs take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onion.providers._tooling import fits_strict, input_object, input_text, output_text, random_call_id
from onion.spec.prompt import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDenied,
    FileData,
    FilePart,
    JsonOutput,
    TextOutput,
    TextPart,
)

if TYPE_CHECKING:
    from onion.spec.base import JsonValue
    from onion.spec.prompt import ToolResultOutput


@pytest.mark.parametrize(
    ("given", "text", "parsed"),
    [
        ({"a": 1}, '{"a":1}', {"a": 1}),
        (None, "{}", {}),
        ("", "{}", {}),
        ('{ "a":1}', '{ "a":1}', {"a": 1}),
        ("{", '{"INVALID_JSON":"{"}', {"INVALID_JSON": "{"}),
        ("[1]", '{"INVALID_JSON":"[1]"}', {"INVALID_JSON": "[1]"}),
        ([1], '{"value":[1]}', {"value": [1]}),
    ],
)
def test_an_input_is_an_object_whatever_a_model_wrote(given: JsonValue, text: str, parsed: JsonValue) -> None:
    assert input_text(given) == text
    assert input_object(given) == parsed


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (TextOutput(value="a"), "a"),
        (JsonOutput(value=None), "null"),
        (ErrorTextOutput(value="b"), "b"),
        (ErrorJsonOutput(value={}), "{}"),
        (ExecutionDenied(), "The tool did not run: it was not allowed to."),
        (ExecutionDenied(reason="no"), "no"),
        (
            ContentOutput(
                value=(
                    TextPart(text="a"),
                    FilePart(media_type="image/png", data=FileData(data=b"")),
                    TextPart(text="b"),
                )
            ),
            "a\nb",
        ),
    ],
)
def test_an_output_is_text(output: ToolResultOutput, text: str) -> None:
    assert output_text(output) == text


def test_a_schema_is_strict_if_every_object_is_closed_and_complete() -> None:
    closed: JsonValue = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    assert fits_strict({"anyOf": [closed, {"type": "string"}]})
    assert not fits_strict({"anyOf": [closed, {"type": "object"}]})


def test_ids_are_made_up_anew() -> None:
    assert random_call_id() != random_call_id()
