"""Undefined: the value of a local variable that lowered code passes around before anything was assigned to it."""

from __future__ import annotations

from typing import Any, NoReturn

_OPERATORS = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "mod", "rmod", "pow", "rpow", "neg", "abs",
    "lt", "le", "gt", "ge", "eq", "ne", "len", "iter", "call", "bool", "float", "int", "index", "getitem", "setitem",
    "contains", "enter", "format", "str",
)  # fmt: skip


class Undefined:
    """Any use raises UnboundLocalError, as reading the variable would."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnboundLocalError(
            f"cannot access local variable '{self.name}' where it is not associated with a value on every path"
        )

    def __getattr__(self, attribute: str) -> NoReturn:
        self._refuse()

    def __setattr__(self, attribute: str, value: Any) -> NoReturn:
        self._refuse()

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"

    __hash__ = object.__hash__


class Nothing(Undefined):
    """What a loop that was not left by `return` gives as its result: nobody reads it."""

    __slots__ = ()


#: The only one.
NOTHING = Nothing("the result of the loop")


for _name in _OPERATORS:
    setattr(Undefined, f"__{_name}__", Undefined._refuse)
