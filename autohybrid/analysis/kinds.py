"""The classes that tell arrays from symbols, and the names of classes in a type test."""

from __future__ import annotations

from autohybrid.analysis.values import External, Seq, Value, members_of

ARRAY_CLASS, GRAPH_CLASS = "mxnet.nd.NDArray", "mxnet.sym.Symbol"


def class_names(value: Value) -> frozenset[str]:
    """The full names of the classes in the second argument of `isinstance`; an unknown class is an empty text."""
    names: set[str] = set()
    parts = value.items if isinstance(value, Seq) and value.items is not None else members_of(value)
    for part in parts:
        if isinstance(part, External):
            names.add(part.name)
        elif isinstance(part, Seq):
            names |= class_names(part)
        else:
            names.add(str(getattr(getattr(part, "info", None), "qualname", "")))
    return frozenset(names)
