"""Dataclasses that cost little to import and to build.

`dataclasses.dataclass` writes and compiles up to nine methods for each class, half a millisecond of it. An import of
Onion defines more than a hundred such classes, of which a program builds a few dozen. So nothing is written here
before it is needed: `__repr__`, `__eq__` and `__hash__` are shared by all classes and read the fields; `__init__`,
which has to be as fast as one written by hand, is written for the first instance; and the standard library says what
the fields are when somebody asks. `dataclasses.fields`, `replace` and `asdict` find all that they look for.
"""

from __future__ import annotations

import dataclasses
import functools
import reprlib
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeGuard, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
Described: TypeAlias = Sequence[tuple[str, object, object]]
Fields: TypeAlias = dict[str, dataclasses.Field[object]]
Init: TypeAlias = Callable[..., None]
MakeClass: TypeAlias = Callable[[str, tuple[type, ...], Mapping[str, object]], type[T]]

_MISSING = dataclasses.MISSING
MASKED = "masked"
"""In the metadata of a field: what is shown in its place, as a function of it."""
_PARAMS = "__dataclass_params__"
_MANY = 5
"""With so many fields, changing the class of an instance twice costs less than a descriptor for each field."""
_set_class: Callable[[object, type], None] = vars(object)["__class__"].__set__


def slotted(cls: type[T], shared: Mapping[str, object]) -> type[T]:
    """The dataclass that *cls* describes: with slots, built with keywords, with the methods *shared*."""
    is_frozen = "__setattr__" in shared
    members: dict[str, object] = dict(vars(cls))
    hints = cls.__annotations__
    names = tuple(name for name, hint in hints.items() if not str(hint).startswith(("ClassVar", "typing.ClassVar")))
    described = [(name, hints[name], members.pop(name, _MISSING)) for name in names]
    for descriptor in ("__dict__", "__weakref__"):  # of the class that is replaced
        members.pop(descriptor, None)
    members |= {
        "__qualname__": cls.__qualname__,
        "__slots__": names,
        "__init__": _OnFirstUse(functools.partial(_write_init, described=described, is_frozen=is_frozen)),
        "__dataclass_fields__": _OnFirstUse(functools.partial(_read_fields, described=described)),
        _PARAMS: _OnFirstUse(functools.partial(_read_params, is_frozen=is_frozen)),
    }
    make: MakeClass[T] = type(cls)  # pyright: ignore[reportUnknownVariableType]  # a metaclass may make anything
    return make(cls.__name__, cls.__bases__, {**shared, **members})


class _OnFirstUse:
    """A class attribute that is made when somebody asks for it."""

    def __init__(self, make: Callable[[type], object]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type) -> object:
        made = self._make(self._owner)
        setattr(self._owner, self._name, made)
        # Not looked up again: a subclass may have one of its own, which is calling this one right now.
        return made.__get__(instance, owner) if isinstance(made, FunctionType) else made


def _is_field(default: object) -> TypeGuard[dataclasses.Field[object]]:
    return isinstance(default, dataclasses.Field)


def _read_fields(kind: type, *, described: Described) -> Fields:
    with_fields = dataclasses.make_dataclass(
        kind.__name__,
        [(name, hint, dataclasses.field() if default is _MISSING else default) for name, hint, default in described],
        namespace={"__doc__": kind.__doc__},  # else it inspects a signature to make one up
        kw_only=True,
        init=False,
        repr=False,
        eq=False,
    )
    return {field.name: field for field in dataclasses.fields(with_fields)}


def _read_params(kind: type, *, is_frozen: bool) -> object:
    """How the class was made; `dataclasses` asks for it when a dataclass inherits from *kind*."""
    found: object = vars(dataclasses.make_dataclass(kind.__name__, (), kw_only=True, frozen=is_frozen))[_PARAMS]
    return found


def _write_init(kind: type, *, described: Described, is_frozen: bool) -> Init:
    """An ``__init__`` with a keyword for each field of *kind*."""
    scope: dict[str, object] = {"_MISSING": _MISSING}
    parameters, values = ["self"], dict[str, str]()
    for name, _, given in described:
        default, factory = (given.default, given.default_factory) if _is_field(given) else (given, _MISSING)
        values[name] = name
        if factory is not _MISSING:
            scope[f"_make_{name}"] = factory
            parameters.append(f"{name}=_MISSING")
            values[name] = f"_make_{name}() if {name} is _MISSING else {name}"
        elif default is not _MISSING:
            scope[f"_default_{name}"] = default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
    if described:
        parameters.insert(1, "*")
    lines = _fill_frozen(kind, values, scope) if is_frozen else _fill(values)
    source = f"def __init__({', '.join(parameters)}):\n    " + "\n    ".join(lines or ["pass"])
    written: dict[str, Init] = {}
    exec(source, scope, written)  # noqa: S102 - the names of the fields and nothing else
    init = written["__init__"]
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    init.__module__ = kind.__module__
    init.__annotations__ = {name: hint for name, hint, _ in described} | {"return": None}
    return init


def _fill(values: Mapping[str, str]) -> list[str]:
    return [f"self.{name} = {written}" for name, written in values.items()]


def _fill_frozen(kind: type, values: Mapping[str, str], scope: dict[str, object]) -> list[str]:
    """Statements that fill the slots of an instance whose attributes cannot be set.

    They call the descriptors of the slots. Where those are many, it costs less to make the instance one of an open
    class with the same slots for as long as they are filled.
    """
    scope |= {f"_set_{name}": getattr(kind, name).__set__ for name in values}
    by_descriptor = [f"_set_{name}(self, {written})" for name, written in values.items()]
    if len(values) < _MANY or kind.__bases__ != (object,):
        return by_descriptor
    scope |= {"_set_class": _set_class, "_Kind": kind, "_Open": type(kind.__name__, (), {"__slots__": [*values]})}
    opened = ["_set_class(self, _Open)", *_fill(values), "self.__class__ = _Kind"]
    blocks = {"if self.__class__ is _Kind:": opened, "else:": by_descriptor}  # a subclass may have another layout
    return [line for header, block in blocks.items() for line in (header, *(f"    {line}" for line in block))]


@functools.cache
def _compared(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind) if field.compare)


def _key(value: DataclassInstance) -> tuple[object, ...]:
    return tuple([getattr(value, name) for name in _compared(type(value))])


def _equals(self: DataclassInstance, other: DataclassInstance) -> bool:
    return _key(self) == _key(other) if type(self) is type(other) else NotImplemented


def _hash(self: DataclassInstance) -> int:
    return hash(_key(self))


@reprlib.recursive_repr()
def _repr(self: DataclassInstance) -> str:
    shown: list[str] = []
    for field in dataclasses.fields(self):
        if field.repr:
            value: object = getattr(self, field.name)
            masked: Callable[[object], object] = field.metadata.get(MASKED, _as_it_is)
            shown.append(f"{field.name}={value if value is None else masked(value)!r}")
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _as_it_is(value: object) -> object:
    return value


def _replace(self: DataclassInstance, **changes: object) -> DataclassInstance:
    return dataclasses.replace(self, **changes)


def _refuse_to_set(_self: object, name: str, _value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: DataclassInstance) -> Mapping[str, object]:
    return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _set_state(self: DataclassInstance, state: Mapping[str, object]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)


RECORD: Mapping[str, object] = {"__repr__": _repr, "__replace__": _replace}
"""Methods of what is equal to nothing but itself."""

PART: Mapping[str, object] = {**RECORD, "__eq__": _equals, "__hash__": None}
"""Methods of what is compared by its fields."""

VALUE: Mapping[str, object] = {
    **PART,
    "__hash__": _hash,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,  # copies and pickles
    "__setstate__": _set_state,
}
"""Methods of what never changes."""
