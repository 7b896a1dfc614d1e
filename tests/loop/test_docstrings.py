import pytest

from onion.loop.docstrings import Docstring, read_docstring


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(None, Docstring(description=None, arguments={}), id="none"),
        pytest.param("Find a city.", Docstring(description="Find a city.", arguments={}), id="one line"),
        pytest.param(
            """Find a city.

            It may be small.

            Args:
                name: Its name.
                country (str): Where it lies,
                    as two letters.

                    Or three.
                **more: What else
                odd line without a colon

            Returns:
                city: The city.
            """,
            Docstring(
                description="Find a city.\n\nIt may be small.",
                arguments={
                    "name": "Its name.",
                    "country": "Where it lies, as two letters. Or three.",
                    "more": "What else odd line without a colon",
                },
            ),
            id="arguments over several lines",
        ),
        pytest.param(
            "Args:\n    just words\n    name:\n        Its name.",
            Docstring(description=None, arguments={"name": "Its name."}),
            id="arguments alone, with words before the first",
        ),
        pytest.param(
            "Raise it.\n\nRaises:\n    ValueError: Never.",
            Docstring(description="Raise it.", arguments={}),
            id="other sections only",
        ),
    ],
)
def test_a_docstring_is_taken_apart(text: str | None, expected: Docstring) -> None:
    assert read_docstring(text) == expected
