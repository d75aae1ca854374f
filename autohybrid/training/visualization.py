"""`mx.viz`: a symbol as a table of layers (`print_summary`) or as a picture (`plot_network`, needs graphviz)."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["plot_network", "print_summary"]

Shapes = Mapping[str, tuple[int, ...]]
_WEIGHTS = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean")
_HEADERS = ("Layer (type)", "Output Shape", "Param #", "Previous Layer")


def print_summary(
    symbol: Any,
    shape: Shapes | None = None,
    line_length: int = 120,
    positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0),
) -> None:
    """Print each layer with its output shape, number of parameters and inputs; and the total of parameters.

    `shape`: the shapes of the inputs by name; without it shapes and numbers are not known. `positions`: where the
    columns end, as parts of `line_length` or in characters.
    """
    stops = [int(line_length * p) if positions[-1] <= 1 else int(p) for p in positions]
    known = _internal_shapes(symbol, shape)
    nodes = json.loads(symbol.tojson())["nodes"]
    lines = ["_" * line_length, _row(_HEADERS, stops), "=" * line_length]
    heads = {head[0] for head in json.loads(symbol.tojson())["heads"]}
    counted: set[str] = set()
    for position, node in enumerate(nodes):
        if node["op"] == "null" and (position > 0 or len(nodes) == 1):
            continue
        lines += _layer(node, nodes, known, shape or {}, counted, stops)
        lines.append(("=" if position in heads else "_") * line_length)
    total = sum(math.prod(known[name]) for name in counted)
    lines += [f"Total params: {total}", "_" * line_length]
    sys.stdout.write("\n".join(lines) + "\n")


def _internal_shapes(symbol: Any, shape: Shapes | None) -> dict[str, tuple[int, ...]]:
    """The shapes of all variables and layers, by name; nothing without the shapes of the inputs."""
    if shape is None:
        return {}
    internals = symbol.get_internals()
    found = internals.infer_shape(**shape)[1]
    if found is None:
        raise ValueError(f"the input shapes {dict(shape)} do not determine the shapes of the symbol")
    return {name.removesuffix("_output"): tuple(s) for name, s in zip(internals.list_outputs(), found)}


def _layer(
    node: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
    known: Shapes,
    inputs: Shapes,
    counted: set[str],
    stops: Sequence[int],
) -> list[str]:
    """The lines of one layer; adds the parameters that no earlier layer had to `counted`."""
    sources = [nodes[entry[0]] for entry in node["inputs"]]
    own = [s["name"] for s in sources if s["op"] == "null" and s["name"] not in inputs and not _is_state(s["name"])]
    own = [name for name in own if name in known and not name.endswith("label")]
    count = sum(math.prod(known[name]) for name in own if name not in counted)
    counted.update(own)
    previous = [s["name"] for s in sources if s["op"] != "null" or s["name"] in inputs]
    if not previous:
        previous = [s["name"] for s in sources if not s["name"].endswith((*_WEIGHTS, "label"))]
    shape = known.get(node["name"], ())
    first = [f"{node['name']}({node['op']})", "x".join(map(str, shape[1:])), str(count), *previous[:1]]
    return [_row(first, stops), *(_row(("", "", "", name), stops) for name in previous[1:])]


def _is_state(name: str) -> bool:
    return name.endswith(("_moving_var", "_moving_mean", "_running_var", "_running_mean"))


def _row(fields: Sequence[str], stops: Sequence[int]) -> str:
    line = ""
    for field, stop in zip(fields, stops):
        line = (line + field)[:stop].ljust(stop)
    return line


#: Operator -> fill colour and what its label says besides the name, as attributes.
_LOOKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Convolution": ("#fb8072", ("kernel", "stride", "num_filter")),
    "Deconvolution": ("#fb8072", ("kernel", "stride", "num_filter")),
    "FullyConnected": ("#fb8072", ("num_hidden",)),
    "BatchNorm": ("#bebada", ()),
    "Activation": ("#ffffb3", ("act_type",)),
    "LeakyReLU": ("#ffffb3", ("act_type",)),
    "Pooling": ("#80b1d3", ("pool_type", "kernel", "stride")),
    "Concat": ("#fdb462", ()),
    "Flatten": ("#fdb462", ()),
    "Reshape": ("#fdb462", ()),
    "Softmax": ("#b3de69", ()),
    "null": ("#8dd3c7", ()),
}
_OTHER = "#fccde5"


def plot_network(
    symbol: Any,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Shapes | None = None,
    dtype: Any = None,
    node_attrs: Mapping[str, str] | None = None,
    hide_weights: bool = True,
) -> Any:
    """The symbol as a `graphviz.Digraph` (`.render()` writes it, `.source` is its text).

    `shape`: input shapes by name, for labels at the edges. Raises ImportError when graphviz is not installed.
    """
    try:
        from graphviz import Digraph
    except ImportError as error:
        raise ImportError("plot_network needs graphviz: `pip install 'autohybrid[viz]'`") from error
    nodes = json.loads(symbol.tojson())["nodes"]
    repeated = [name for name, count in Counter(node["name"] for node in nodes).items() if count > 1]
    if repeated:
        warnings.warn(
            "There are multiple variables with the same name in your graph, this may result in cyclic graph. "
            f"Repeated names: {','.join(repeated)}",
            RuntimeWarning,
            stacklevel=2,
        )
    known = _internal_shapes(symbol, shape)
    settings = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled"}
    dot = Digraph(name=title, format=save_format)
    hidden = {
        node["name"] for node in nodes if hide_weights and node["op"] == "null" and node["name"].endswith(_WEIGHTS)
    }
    for node in nodes:
        if node["name"] not in hidden:
            dot.node(node["name"], **{**settings, **_look(node), **(node_attrs or {})})
    for node in nodes:
        for entry in node["inputs"]:
            source = nodes[entry[0]]["name"]
            if source not in hidden:
                label = "x".join(map(str, known.get(source, ())[1:]))
                dot.edge(node["name"], source, dir="back", arrowtail="open", label=label)
    return dot


def _look(node: Mapping[str, Any]) -> dict[str, str]:
    colour, shown = _LOOKS.get(node["op"], (_OTHER, ()))
    attrs = node.get("attrs", {})
    details = ", ".join(attrs[name] for name in shown if name in attrs)
    label = f"{node['op']}\n{details}" if details else node["name"]
    return {"label": label, "fillcolor": colour, "shape": "oval" if node["op"] == "null" else "box"}
