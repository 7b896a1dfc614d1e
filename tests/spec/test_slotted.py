"""What the decorators of the contract make is a dataclass in every respect but the price."""

import copy
import dataclasses
import inspect
import operator
import pickle
from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

import pytest

from onion.spec.base import part, record, value

T_co = TypeVar("T_co", covariant=True)


@value
class Point:
    """A frozen value."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list[str], compare=False)
    note: str | None = dataclasses.field(default=None, repr=False, compare=False, metadata={"json": False})


@part
class Delta:
    """A part."""

    id: str
    delta: str = ""


@record
class State:
    """The state of something."""

    name: str
    seen: list[str] = dataclasses.field(default_factory=lambda: [])


@value
class Empty:
    """A value without fields."""


@value
class Box(Generic[T_co]):
    """A generic value."""

    content: T_co


@value
class Node:
    """A value that may hold itself."""

    inner: list[object]


@value
class Named:
    """A value that shows itself."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True, kw_only=True)
class Labelled(Point):
    """An ordinary dataclass of somebody else below ours."""

    label: str


def test_it_is_built_with_keywords_and_defaults_hold() -> None:
    point, other = Point(x=1), Point(x=1, y=2)

    point.tags.append("a")

    assert (point.x, point.y, point.tags, point.note) == (1, 0, ["a"], None)
    assert (other.y, other.tags) == (2, [])
    assert (Delta(id="1", delta="a").delta, Box(content=1).content) == ("a", 1)
    assert Empty() == Empty()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (Point, "missing 1 required keyword-only argument: 'x'"),
        (lambda: Point(1), "takes 1 positional argument"),  # type: ignore[call-arg]  # the fault
        (lambda: Delta(id="1", other=1), "unexpected keyword argument 'other'"),  # type: ignore[call-arg]  # the fault
        (lambda: Empty(x=1), "unexpected keyword argument 'x'"),  # type: ignore[call-arg]  # the fault
    ],
)
def test_wrong_arguments_are_named(build: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        build()


def test_a_value_can_neither_be_changed_nor_robbed_and_a_part_can() -> None:
    point, delta = Point(x=1), Delta(id="1")

    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]  # the fault
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        delattr(point, "x")
    delta.delta = "b"  # type: ignore[misc]  # frozen to type checkers

    assert point.x == 1
    assert delta.delta == "b"


def test_nothing_else_can_be_attached() -> None:
    assert not hasattr(Point(x=1), "__dict__")
    assert not hasattr(Delta(id="1"), "__dict__")
    with pytest.raises(AttributeError):
        Delta(id="1").other = 1  # type: ignore[attr-defined]  # the fault


def test_equality_is_that_of_the_compared_fields_of_one_class() -> None:
    assert Point(x=1, note="a", tags=["b"]) == Point(x=1)
    assert Point(x=1) != Point(x=2)
    assert Delta(id="1") == Delta(id="1")
    assert Point(x=1) != Labelled(x=1, label="")


def test_a_record_changes_and_is_equal_to_itself_only() -> None:
    state, other = State(name="a"), State(name="a")

    state.seen.append("x")
    state.name = "b"

    assert repr(state) == "State(name='b', seen=['x'])"
    assert other.seen == []
    assert {state, other} == {other, state}
    assert state != dataclasses.replace(state)


def test_values_are_hashed_by_what_is_compared_and_parts_are_not_hashed() -> None:
    assert len({Point(x=1), Point(x=1, note="a"), Point(x=2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Delta(id="1"))


def test_the_repr_is_the_call_that_builds_it() -> None:
    assert repr(Point(x=1, note="secret")) == "Point(x=1, y=0, tags=[])"
    assert repr(Delta(id="1")) == "Delta(id='1', delta='')"
    assert repr(Empty()) == "Empty()"
    assert repr(Named(name="me")) == "me"


def test_the_repr_of_what_holds_itself_ends() -> None:
    node = Node(inner=[])
    node.inner.append(node)

    assert repr(node) == "Node(inner=[...])"


def test_the_functions_of_the_standard_library_take_it() -> None:
    point = Point(x=1, tags=["a"])

    assert [field.name for field in dataclasses.fields(Point)] == ["x", "y", "tags", "note"]
    assert dataclasses.fields(Point)[3].metadata == {"json": False}
    assert dataclasses.fields(Point)[0].default is dataclasses.MISSING
    assert dataclasses.asdict(point) == {"x": 1, "y": 0, "tags": ["a"], "note": None}
    assert dataclasses.replace(Point(x=1, tags=["a"]), y=5).y == 5
    assert str(inspect.signature(Delta)) == "(*, id: str, delta: str = '') -> None"
    assert dataclasses.is_dataclass(Point)


def test_it_is_read_on_the_class_before_any_instance_exists() -> None:
    @value
    class Fresh:
        x: int = 1

    assert "x" in inspect.signature(Fresh.__init__).parameters
    assert Fresh().x == 1


def pickled(item: object) -> object:
    """What the bytes of *item* give again."""
    return pickle.loads(pickle.dumps(item))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickled])
def test_copies_are_equal_and_other_objects(twin: Callable[[object], object]) -> None:
    point, delta = Point(x=1, tags=["a"], note="n"), Delta(id="1", delta="a")

    copied = twin(point)

    assert isinstance(copied, Point)
    assert (copied, copied.tags, copied.note) == (point, ["a"], "n")
    assert copied is not point
    assert twin(delta) == delta


def test_a_copy_with_changes_can_be_asked_of_the_object_itself_as_python_3_13_does() -> None:
    changed = operator.methodcaller("__replace__", y=2)(Point(x=1))

    assert changed == Point(x=1, y=2)


def test_a_dataclass_may_inherit_from_it() -> None:
    labelled = Labelled(x=1, label="a")

    assert (labelled.x, labelled.y, labelled.label) == (1, 0, "a")
    assert dataclasses.replace(labelled, x=2) == Labelled(x=2, label="a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        labelled.label = "b"  # type: ignore[misc]  # the fault


def test_a_plain_class_may_inherit_from_it() -> None:
    class Marked(Point):
        mark = "m"

    assert (Marked(x=1).x, Marked.mark) == (1, "m")
    assert Marked(x=1) == Marked(x=1)


def test_it_matches_by_keyword() -> None:
    match Point(x=1, y=2):
        case Point(x=1, y=found):
            assert found == 2
        case _:
            pytest.fail("no match")


def test_a_generic_one_takes_its_argument() -> None:
    assert Box[int](content=1) == Box(content=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Box(content=1).content = 2  # type: ignore[misc]  # the fault


@value
class Wide:
    """A value of many fields, which is filled in another way."""

    a: int
    b: int = 2
    c: int = 3
    d: int = 4
    e: int = 5
    f: list[int] = dataclasses.field(default_factory=lambda: [6])


class Wider(Wide):
    """A class of somebody else below ours, with attributes of its own."""

    note = "free"


def test_a_value_of_many_fields_is_as_frozen_as_others_and_may_be_inherited_from() -> None:
    wide, wider = Wide(a=1, e=50), Wider(a=1, e=50)

    with pytest.raises(dataclasses.FrozenInstanceError):
        wide.a = 2  # type: ignore[misc]  # what is to fail

    assert type(wide) is Wide
    assert (wide.a, wide.b, wide.c, wide.d, wide.e, wide.f) == (1, 2, 3, 4, 50, [6])
    assert type(wider) is Wider
    assert (wider.a, wider.b, wider.c, wider.d, wider.e, wider.f) == (1, 2, 3, 4, 50, [6])
    assert copy.copy(wide) == pickle.loads(pickle.dumps(wide)) == dataclasses.replace(wide, b=2) == wide  # noqa: S301 - our own


def test_a_subclass_with_an_init_of_its_own_may_be_the_first_to_be_built() -> None:
    @value
    class Fresh:
        """A value that nobody has built so far."""

        text: str

    class Greeting(Fresh):
        def __init__(self, who: str) -> None:
            super().__init__(text=f"Hello {who}")

    assert Greeting("you").text == "Hello you"
    assert Fresh(text="x").text == "x"
