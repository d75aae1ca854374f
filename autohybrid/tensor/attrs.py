"""Operator attributes: their types, how a Python value or a JSON string becomes one, and the parsed bundle.

Owns `Attr` (the schema of one attribute) and `Attrs` (parsed values). Knows no operator and no array library, so
the linter can load it. The rules of parsing are MXNet 1.9.1's (dmlc parameters): text and Python values are both
accepted everywhere, because `-symbol.json` holds text only.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from autohybrid.errors import MXNetError


class _Required:
    """Marks an attribute without a default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()

#: The dtype names of MXNet 1.9.1, indexed by the type flag of its file formats.
DTYPE_FLAGS: tuple[str, ...] = (
    "float32", "float64", "float16", "uint8", "int32", "int8", "int64",
    "bool", "int16", "uint16", "uint32", "uint64", "bfloat16",
)  # fmt: skip
_PYTHON_DTYPES = {"float": "float64", "int": "int64", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Attr:
    """The schema of one attribute.

    `type` is one of `int float bool str shape shapes ints floats dtype enum`; a `?` behind it admits None.
    `shape` is a tuple of ints (a lone int n stands for `(n,)`), `shapes` a tuple of those; `ints` is the same with None
    allowed inside.
    `choices` limits `enum` and, where given, `dtype`; `low` and `high`, both allowed themselves, limit numbers
    (given together).
    """

    name: str
    type: str
    default: Any = REQUIRED
    choices: tuple[Any, ...] = ()
    doc: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def parse(self, value: Any) -> Any:
        """`value` (Python or text) as this type. Raises ValueError saying what is allowed."""
        kind = self.type
        if kind.endswith("?"):
            if value is None or value == "None":
                return None
            kind = kind[:-1]
        result = _PARSERS[kind](value)
        if self.choices and result not in self.choices:
            raise ValueError(f"expected one of {', '.join(map(repr, self.choices))}")
        if self.low is not None and self.high is not None and not self.low <= result <= self.high:
            raise ValueError("it lies outside")
        return result


class Attrs:
    """Parsed attributes of one operator call: `attrs.kernel`, `attrs.axis`...

    `given` maps the names the caller passed to the text MXNet writes for them in `-symbol.json`. `key` identifies the
    parsed values (hashable, equal for equal values). `accepted` is for the imperative front end: the signatures of
    inputs that it found right with these attributes.
    """

    __slots__ = ("__dict__", "accepted", "given", "key")
    session: Any  # only for operators whose calls have one, see OpDef.session

    def __init__(self, values: Mapping[str, Any], given: Mapping[str, str]) -> None:
        self.__dict__.update(values)
        self.given: Mapping[str, str] = MappingProxyType(dict(given))
        self.key: tuple[Any, ...] = tuple(
            # 0.0 equals -0.0, but is another value.
            (name, type(value), repr(value) if type(value) is float and not value else value)
            for name, value in values.items()
        )
        self.accepted: set[tuple[Any, ...]] = set()

    def __getattr__(self, name: str) -> Any:  # only reached when the instance dictionary has no such name
        raise AttributeError(f"this operator has no attribute {name!r}")

    def values(self) -> dict[str, Any]:
        """A fresh dictionary of the parsed values."""
        return dict(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attrs) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Attrs({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


def parse_attrs(operator: str, schema: Mapping[str, Attr], given: Mapping[str, Any], fixed: bool = True) -> Attrs:
    """The keyword arguments `given` to `operator` as Attrs.

    Raises MXNetError naming the operator, the attribute, what was given and what is allowed: for an unknown name
    (with the closest one), a missing required attribute and a value of the wrong form. `fixed=False` keeps unknown
    names as text (CustomOp takes any).
    """
    values: dict[str, Any] = {}
    for name, attr in schema.items():
        if name in given:
            try:
                values[name] = attr.parse(given[name])
            except (ValueError, TypeError) as error:
                raise MXNetError(
                    f"operator {operator}: invalid value for attribute `{name}` ({describe_type(attr)}): "
                    f"got {given[name]!r}; {error}"
                ) from error
        elif attr.required:
            raise MXNetError(f"operator {operator}: required attribute `{name}` ({describe_type(attr)}) was not given")
        else:
            values[name] = attr.default
    for name in given:
        if name in schema:
            continue
        if fixed:
            raise MXNetError(unknown_keyword(operator, name, schema))
        values[name] = spell(given[name])
    return Attrs(values, {name: spell(value) for name, value in given.items()})


def unknown_keyword(operator: str, name: str, known: Iterable[str]) -> str:
    """The message for a keyword that the operator does not take, with the closest valid one."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else f"; it takes {', '.join(f'`{n}`' for n in names) or 'none'}"
    return f"operator {operator}: unknown keyword argument `{name}`{hint}"


_FOR_PEOPLE = {
    "shape": "tuple of int",
    "shapes": "tuple of tuples of int",
    "ints": "tuple of int or None",
    "floats": "tuple of float",
}


def describe_type(attr: Attr) -> str:
    """The type of an attribute for people: 'int', 'tuple of int or None', 'one of 'a', 'b''."""
    kind, optional = attr.type.rstrip("?"), attr.type.endswith("?")
    if attr.choices:
        text = "one of " + ", ".join(map(repr, attr.choices))
    else:
        text = _FOR_PEOPLE.get(kind, kind)
    if attr.low is not None:
        text += f" from {attr.low} to {attr.high}"
    return text + (" or None" if optional else "")


def spell(value: Any) -> str:
    """The text MXNet's Python front end writes for an attribute value: `str(value)` of plain Python values."""
    return value if isinstance(value, str) else str(_plain(value))


def dtype_name(value: Any) -> str:
    """The name of a dtype given as a name, a NumPy dtype or scalar type, or a Python type.

    >>> dtype_name(float)
    'float64'
    """
    if isinstance(value, str):
        name = value
    elif isinstance(value, type):
        name = _PYTHON_DTYPES.get(value.__name__, value.__name__)
    else:
        name = getattr(value, "name", str(value))
    if name == "bool_":
        name = "bool"
    if name not in DTYPE_FLAGS:
        raise ValueError(f"{value!r} is not a dtype; known are {', '.join(DTYPE_FLAGS)}")
    return name


def _plain(value: Any) -> Any:
    """NumPy scalars (also inside lists and tuples) as Python numbers, dtypes as their names."""
    if value is None or (isinstance(value, (bool, int, float, str)) and type(value).__module__ == "builtins"):
        return value
    if isinstance(value, (tuple, list)):
        return type(value)([_plain(v) for v in value]) if type(value) in (tuple, list) else tuple(map(_plain, value))
    if isinstance(value, type):
        return _PYTHON_DTYPES.get(value.__name__, value.__name__)
    if hasattr(value, "kind") and hasattr(value, "itemsize") and hasattr(value, "name"):
        return value.name
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", 1) == 0 else value


def _literal(text: str) -> Any:
    cleaned = text.strip().replace("L", "")
    if not cleaned:
        raise ValueError("empty text")
    try:
        return ast.literal_eval(cleaned)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise ValueError(f"cannot read {text[:80]!r}") from None


def _parse_int(value: Any) -> int:
    value = _plain(value)
    if isinstance(value, str):
        value = (
            {"true": 1, "false": 0, "True": 1, "False": 0}.get(value.strip())
            if value.strip().isalpha()
            else _literal(value)
        )
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ValueError("expected an int")


def _parse_float(value: Any) -> float:
    value = _plain(value)
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise ValueError("expected a number")


def _parse_bool(value: Any) -> bool:
    value = _plain(value)
    if isinstance(value, (bool, int)):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in ("true", "1", "false", "0"):
        return value.strip().lower() in ("true", "1")
    raise ValueError("expected True or False")


def _parse_str(value: Any) -> str:
    return value if isinstance(value, str) else spell(value)


def _sequence(value: Any, item: Callable[[Any], Any]) -> tuple[Any, ...]:
    value = _plain(value)
    if isinstance(value, str):
        text = value.strip()
        value = () if text in ("()", "[]") else _literal(text)
    if isinstance(value, (tuple, list)):
        return tuple(item(v) for v in value)
    return (item(value),)


def _parse_shape(value: Any) -> tuple[int, ...]:
    return _sequence(value, _parse_int)


def _parse_shapes(value: Any) -> tuple[tuple[int, ...], ...]:
    return _sequence(value, _parse_shape)


def _parse_ints(value: Any) -> tuple[int | None, ...]:
    return _sequence(value, lambda v: None if v is None else _parse_int(v))


def _parse_floats(value: Any) -> tuple[float, ...]:
    return _sequence(value, _parse_float)


def _parse_enum(value: Any) -> Any:
    return value if value is None else spell(value)


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "int": _parse_int,
    "float": _parse_float,
    "bool": _parse_bool,
    "str": _parse_str,
    "shape": _parse_shape,
    "shapes": _parse_shapes,
    "ints": _parse_ints,
    "floats": _parse_floats,
    "dtype": dtype_name,
    "enum": _parse_enum,
}
