"""What MXNet 1.9.1 offers under which name: the measured surface, as data.

`mxnet_names.json` lists, per namespace, the names that `mx.nd` and `mx.sym` share and those that only one has; the
methods of NDArray and Symbol; and for each operator its keywords, inputs and number of outputs. It was measured on
mxnet 1.9.1 and holds facts only. It is read on first use.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """`attrs`: keyword names; `inputs`: names of tensor inputs; `outputs`: visible outputs with default attributes;
    `outputs_when`: `(attribute, value, outputs)`; `variadic`: takes any number of tensors."""

    attrs: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: int
    outputs_when: tuple[tuple[str, str, int], ...]
    variadic: bool


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """Names of one namespace: on both `mx.nd` and `mx.sym`, only on `mx.nd`, only on `mx.sym`."""

    shared: frozenset[str]
    array_only: frozenset[str]
    graph_only: frozenset[str]


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """Methods and properties of NDArray and Symbol. `refused`: both have it, Symbol raises NotImplementedForSymbol."""

    shared: frozenset[str]
    array_only: frozenset[str]
    array_properties: frozenset[str]
    graph_only: frozenset[str]
    refused: frozenset[str]


@cache
def _data() -> Mapping[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "mxnet_names.json"), encoding="utf-8") as stream:
        loaded: Mapping[str, Any] = json.load(stream)
    return loaded


@cache
def namespace_facts(path: str) -> NamespaceFacts | None:
    """Facts of `F` (path ``""``) or of a sub-namespace such as ``"contrib"``; None for one MXNet does not have."""
    entry = _data()["namespaces"].get(path)
    if entry is None:
        return None
    return NamespaceFacts(*(frozenset(entry[key].split()) for key in ("shared", "array", "graph")))


@cache
def method_facts() -> MethodFacts:
    """Facts of the methods of NDArray and Symbol."""
    entry = _data()["methods"]
    keys = ("shared", "array", "properties", "graph", "refused")
    return MethodFacts(*(frozenset(entry[key].split()) for key in keys))


@cache
def operator_facts(name: str) -> OperatorFacts | None:
    """Facts of an operator by its name below `F`, for example ``"relu"`` or ``"contrib.box_nms"``."""
    entry = _data()["operators"].get(name)
    if entry is None:
        return None
    when = tuple((*key.split("=", 1), count) for key, count in entry.get("w", {}).items())
    return OperatorFacts(
        attrs=tuple(entry["a"].split()),
        inputs=tuple(entry["i"].split()),
        outputs=entry.get("o", 1),
        outputs_when=when,
        variadic=bool(entry.get("v")),
    )


def operator_names() -> Iterator[str]:
    """The names of all operators that `operator_facts` knows."""
    return iter(_data()["operators"])


@cache
def function_signature(kind: str, name: str) -> str | None:
    """The signature of a function written in Python, `kind` being ``"nd"`` or ``"sym"``: ``"(shape, ctx=None)"``."""
    signature: str | None = _data()["functions"].get(f"{kind}.{name}")
    return signature


@cache
def closest_name(name: str, path: str) -> str:
    """The name of namespace `path` on both kinds that looks most like `name`, or an empty text."""
    facts = namespace_facts(path)
    if facts is None:
        return ""
    return most_alike(name, (candidate for candidate in facts.shared if not candidate.startswith("_")), 0.7)


def most_alike(name: str, candidates: Iterable[str], cutoff: float) -> str:
    """The candidate that looks most like `name`, or an empty text where none comes near."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, sorted(candidates), 1, cutoff)), "")
