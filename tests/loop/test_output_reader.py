"""What an output shows while its text arrives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, RootModel

from onion.errors import TypeValidationError
from onion.loop.output import Output
from onion.spec import ResponseInfo
from onion.spec.step import LanguageModelUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onion.loop.output_reader import OutputReader
    from onion.spec import JsonObject, JsonValue

NAMED: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def partials_of(reader: OutputReader[object], deltas: Sequence[str], block: str = "a") -> list[object]:
    shown = [reader.partial for delta in deltas if reader.feed(block, delta)]
    return [*shown, reader.partial] if reader.end_block(block) else shown


def finish(reader: OutputReader[object], text: str) -> object:
    return reader.finish(text=text, finish_reason="stop", usage=LanguageModelUsage(), response=ResponseInfo(), steps=())


def test_text_is_shown_as_far_as_it_goes() -> None:
    assert partials_of(Output.text().reader(), ["one", "", " two", " three"]) == ["one", "one two", "one two three"]


def test_an_object_grows_and_is_shown_only_when_it_changed() -> None:
    deltas = ["{", '"na', 'me":', ' "Gr', 'ace"', ", ", '"age"', ": 4", "5", "}", "\n"]

    shown = partials_of(Output.object(NAMED).reader(), deltas)

    assert shown == [{}, {"name": "Gr"}, {"name": "Grace"}, {"name": "Grace", "age": 4}, {"name": "Grace", "age": 45}]


def test_partials_are_not_validated() -> None:
    assert partials_of(Output.object(NAMED).reader(), ['{"nick":"Z",', '"name":1}']) == [
        {"nick": "Z"},
        {"nick": "Z", "name": 1},
    ]


def test_a_literal_is_not_taken_for_decided_before_its_closing_quote() -> None:
    shown = partials_of(Output.json().reader(), ['{"kind":"app', "le", '_pie"', ',"n":1', "2}"])

    assert shown[-1] == {"kind": "apple_pie", "n": 12}
    assert {"kind": "apple_pie", "n": 1} in shown


def test_a_choice_is_shown_once_only_one_option_is_left() -> None:
    reader = Output.choice(["aardvark", "abacus", "zebra"]).reader()

    assert partials_of(reader, ['{"result":"', "a", "b", "acus", '"}']) == ["abacus"]


def test_a_choice_that_begins_another_is_shown_once_the_answer_is_whole() -> None:
    reader = Output.choice(["apple", "apple_pie", "pear"]).reader()

    assert partials_of(reader, ['{"result":', '"app', "le", '"', "}"]) == ["apple"]


def test_an_element_is_shown_when_the_next_begins_or_the_answer_is_whole() -> None:
    reader = Output.array(NAMED).reader()
    deltas = ['{"elem', 'ents":[', '{"name":"A"', "}", ',{"na', 'me":"B"},', '{"name":"C"}', "]", "}"]
    elements: list[Sequence[object]] = []
    shown: list[object] = []

    for delta in deltas:
        if reader.feed("a", delta):
            shown.append(reader.partial)
        elements.append(reader.take_elements())

    a, b, c = {"name": "A"}, {"name": "B"}, {"name": "C"}
    assert shown == [[], [a], [a, b], [a, b, c]]
    assert elements == [[], [], [], [], [a], [], [b], [], [c]]
    assert not reader.end_block("a")


@pytest.mark.parametrize("element", [{"name": "Z" * 60}, "Z" * 60, 17, None], ids=["object", "text", "number", "null"])
def test_elements_of_a_long_answer_come_one_by_one_in_order(element: JsonValue) -> None:
    reader = Output.array({}).reader()
    items = [element] * 200
    text = json.dumps({"elements": items})
    taken: list[object] = []
    steps: set[int] = set()

    for start in range(0, len(text), 4):
        reader.feed("a", text[start : start + 4])
        found = reader.take_elements()
        taken.extend(found)
        steps.add(len(found))

    assert taken == items
    assert steps <= {0, 1, 2}


def test_an_element_that_does_not_fit_is_left_out_on_the_way_and_an_error_at_the_end() -> None:
    reader = Output.array(NAMED).reader()
    text = '{"elements":[{"name":"A"},{},{"name":"C"}]}'

    shown = partials_of(reader, [text[:26], text[26:29], text[29:]])

    assert shown == [[], [{"name": "A"}], [{"name": "A"}, {"name": "C"}]]
    with pytest.raises(Exception, match="element 1 does not fit"):
        finish(reader, text)


def test_elements_end_with_an_error_where_there_are_too_many() -> None:
    reader = Output.array({"type": "string"}, max_items=1).reader()
    taken: list[object] = []
    shown: list[object] = []

    for delta in ('{"elements":["a",', '"b",', '"c"]}'):
        if reader.feed("a", delta):
            shown.append(reader.partial)
        taken.extend(reader.take_elements())

    assert shown == [[], ["a"], ["a", "b", "c"]]
    assert taken == ["a"]
    assert isinstance(reader.element_error, TypeValidationError)


@pytest.mark.parametrize("text", ["[1, 2]", '{"elements": {"a": 1}}', '{"other": [1]}', '"elements"', "{}"])
def test_an_answer_that_is_no_array_shows_nothing(text: str) -> None:
    reader = Output.array(int).reader()

    assert partials_of(reader, list(text)) == []
    assert reader.take_elements() == []


def test_elements_are_validated_once() -> None:
    calls: list[int] = []

    def double(n: int) -> int:
        calls.append(n)
        return 2 * n

    class Doubled(RootModel[Annotated[int, AfterValidator(double)]]):
        pass

    reader = Output.array(Doubled).reader()
    text = '{"elements":[1,2,3]}'

    shown = partials_of(reader, list(text))

    assert shown[-1] == finish(reader, text) == [Doubled.model_construct(n) for n in (2, 4, 6)]
    assert calls == [1, 2, 3]


def test_elements_of_a_python_type_are_values_of_it() -> None:
    class Named(BaseModel):
        name: str

    shown = partials_of(Output.array(Named).reader(), ['{"elements":[{"name":"A"}]}'])

    assert shown == [[Named(name="A")]]


def test_each_partial_is_a_list_of_its_own() -> None:
    shown = partials_of(Output.array(int).reader(), ['{"elements":[1,2', ",3]}"])

    assert shown == [[1], [1, 2, 3]]


def test_only_the_first_block_of_a_step_is_shown() -> None:
    reader = Output.object(NAMED).reader()

    first = partials_of(reader, ['{"name":"Cy",'], "a")
    second = partials_of(reader, ['"age":9}'], "b")

    assert first == [{"name": "Cy"}]
    assert second == []


def test_each_step_is_read_from_its_start() -> None:
    reader = Output.object(NAMED).reader()
    partials_of(reader, ["looking it up"], "a")

    reader.start_step()

    assert partials_of(reader, ['{"name":"Eve"}'], "b") == [{"name": "Eve"}]


WAITING: list[tuple[Output[object], list[str], list[object]]] = [
    (Output.json(), ["[1" + " " * 200, ",2"], [[1], [1, 2]]),
    (Output.array(int), ['{"elements":[1' + " " * 200, ",2]}"], [[], [1, 2]]),
    (Output.choice(["a", "b"]), ["{" + " " * 200, '"result":"a"}'], ["a"]),
]


@pytest.mark.parametrize(("output", "deltas", "shown"), WAITING, ids=["json", "array", "choice"])
def test_what_waited_for_more_text_is_shown_at_the_end_of_the_block(
    output: Output[object], deltas: list[str], shown: list[object]
) -> None:
    assert partials_of(output.reader(), deltas) == shown


@given(st.lists(st.integers() | st.text(max_size=3), max_size=8), st.integers(1, 9))
def test_the_last_elements_are_those_of_the_whole_answer(items: list[int | str], size: int) -> None:
    text = json.dumps({"elements": items})
    reader = Output.array({}).reader()

    shown = partials_of(reader, [text[start : start + size] for start in range(0, len(text), size)])

    assert shown[-1] == items == finish(reader, text)


def test_a_long_text_is_shown_less_often_so_that_it_stays_linear() -> None:
    reader = Output.text().reader()
    copied = 0
    shown: list[int] = []

    for _ in range(20_000):
        if reader.feed("a", "0123456789abcdef" * 8):
            shown.append(len(str(reader.partial)))
            copied += shown[-1]
    is_last_due = reader.end_block("a")

    length = 20_000 * 128
    assert is_last_due or shown[-1] == length
    assert copied < 2000 * length
    assert shown == sorted(set(shown))
