"""How one server's Responses API differs: data, so that a vendor needs no code of its own."""

from __future__ import annotations

from onion.providers._openai_models import OPENAI_MODELS
from onion.providers._traits import ModelTraits, traits_of
from onion.spec.base import value


@value
class ResponsesDialect:
    """One server's form of the Responses API.

    Attributes:
        name: Key of its own settings in provider options and of its own answers in provider metadata.
        has_developer_role: Instructions to models that reason are given in the role ``developer``.
        has_encrypted_reasoning: Can be asked for its reasoning in a form that goes back without being stored there.
        models: What differs between models.
    """

    name: str
    has_developer_role: bool = False
    has_encrypted_reasoning: bool = False
    models: tuple[ModelTraits, ...] = (ModelTraits(),)

    def traits(self, model_id: str) -> ModelTraits:
        """What is known of *model_id*."""
        return traits_of(model_id, self.models)


OPENAI = ResponsesDialect(name="openai", has_developer_role=True, has_encrypted_reasoning=True, models=OPENAI_MODELS)
"""The Responses API of OpenAI itself."""
