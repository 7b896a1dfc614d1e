"""The stack as data and as a drawing."""

from onion.testing import ScriptedModel
from onion.wrap import LayerExplanation, explain, wrap_language_model
from tests.wrap.traces import Trace

HOOKS = ("transform_params", "wrap_generate", "wrap_stream", "override_model_id")


def test_the_layers_are_listed_from_the_outside() -> None:
    model = ScriptedModel([], provider="acme.chat", model_id="m")

    explanation = explain(wrap_language_model(model, [Trace("A", []), Trace("B", [])]))

    assert explanation.layers == (
        LayerExplanation(name="Trace", settings="Trace(A)", hooks=HOOKS),
        LayerExplanation(name="Trace", settings="Trace(B)", hooks=HOOKS),
    )
    assert (explanation.provider, explanation.model_id) == ("acme.chat", "m")


def test_the_drawing_puts_each_layer_around_the_next() -> None:
    model = ScriptedModel([], provider="acme.chat", model_id="m")

    drawing = str(explain(wrap_language_model(model, [Trace("A", []), Trace("B", [])])))

    hooks = ", ".join(HOOKS)
    assert drawing.splitlines() == [
        f"Trace(A)           {hooks}",
        f"└─ Trace(B)        {hooks}",
        "   └─ acme.chat/m  the model",
    ]


def test_a_bare_model_has_no_layers() -> None:
    explanation = explain(ScriptedModel([], provider="acme.chat", model_id="m"))

    assert explanation.layers == ()
    assert str(explanation) == "acme.chat/m  the model"
