"""`-symbol.json`, MXNet's form of a graph, written byte for byte as MXNet 1.9.1 does and read in every version since 0.8."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.graph.notes import stored_notes
from autohybrid.tensor.ops import operators

_VERSION = 10901


def write_graph(heads: Sequence[Head]) -> str:
    """The JSON text of a graph."""
    nodes = depth_first(heads)
    position = {node: i for i, node in enumerate(nodes)}
    row_pointer = [0]
    for node in nodes:
        row_pointer.append(row_pointer[-1] + node.output_count)
    versions: dict[Node, int] = {}
    document = {
        "nodes": [_node_record(node, position, versions) for node in nodes],
        "arg_nodes": [i for i, node in enumerate(nodes) if node.op is None],
        "node_row_ptr": row_pointer,
        "heads": [[position[node], index, 0] for node, index in heads],
        "attrs": {"mxnet_version": ["int", _VERSION]},
    }
    return _text(document, 0)


def _node_record(node: Node, position: Mapping[Node, int], versions: dict[Node, int]) -> dict[str, Any]:
    """One node; `versions` counts, as MXNet does, how often each auxiliary state was handed to a node that changes it."""
    record: dict[str, Any] = {"op": "null" if node.op is None else node.op.name, "name": node.name}
    attrs = {**(node.attrs.given if node.attrs is not None else {}), **node.notes}
    if attrs:
        record["attrs"] = dict(sorted(attrs.items()))
    if node.op is not None and node.op.aux and node.attrs is not None:
        for name, (source, _) in zip(node.op.input_names(node.attrs), node.inputs):
            if name in node.op.aux:
                versions[source] = versions.get(source, 0) + 1
    counts = node.versions or [versions.get(source, 0) for source, _ in node.inputs]
    record["inputs"] = [[position[source], index, count] for (source, index), count in zip(node.inputs, counts)]
    if node.extra is not None and hasattr(node.extra, "subgraphs"):
        record["subgraphs"] = [json.loads(write_graph(g)) for g in node.extra.subgraphs]
    return record


def _text(value: Any, depth: int) -> str:
    """dmlc's layout: two blanks a level, `, ` before a line end, number lists of up to ten on one line."""
    if isinstance(value, dict):
        inner = "  " * (depth + 1)
        rows = [f"{inner}{json.dumps(k)}: {_text(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ", \n".join(rows) + "\n" + "  " * depth + "}"
    if isinstance(value, list):
        flat = all(not isinstance(v, (dict, list)) for v in value)
        if not value or (flat and len(value) <= 10):
            return "[" + ", ".join(json.dumps(v) for v in value) + "]"
        inner = "  " * (depth + 1)
        return "[\n" + ", \n".join(inner + _text(v, depth + 1) for v in value) + "\n" + "  " * depth + "]"
    return json.dumps(value)


def read_graph(document: Any) -> list[Head]:
    """The heads of the graph that a parsed JSON document describes.

    Raises MXNetError when it is not a graph, names an unknown operator, or refers to a node that is not there.
    """
    try:
        records, heads = document["nodes"], document["heads"]
        version = int(document.get("attrs", {}).get("mxnet_version", ["int", 800])[1])
        reader = _Reader(version)
        for record in records:
            reader.add(record)
        return [(reader.nodes[head[0]], int(head[1])) for head in heads]
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise MXNetError(f"this JSON is not the graph of a symbol: {type(error).__name__}: {error}") from error


class _Reader:
    def __init__(self, version: int) -> None:
        self.version = version
        self.nodes: list[Node] = []

    def add(self, record: Mapping[str, Any]) -> None:
        name, kind = str(record["name"]), record["op"]
        attrs = {str(k): str(v) for key in ("param", "attr", "attrs") for k, v in (record.get(key) or {}).items()}
        inputs = [(self._node(entry[0]), int(entry[1])) for entry in record["inputs"]]
        if kind == "null":
            self.nodes.append(Node(None, None, (), name, stored_notes(attrs)))
            return
        op = operators().get(kind)
        if op is None:
            raise MXNetError(f"node `{name}`: operator `{kind}` is not known")
        self._move_weight_attrs(op.inputs, attrs, inputs)
        own, notes = _split(op, attrs)
        if self.version < 905 and op.name in ("argmax", "argmin") and own.get("axis") == "-1":
            del own["axis"]
        parsed = op.parse(own)
        if self.version < 900:
            for label in op.input_names(parsed)[len(inputs) :]:
                variable = Node(None, None, (), f"{name}_{label}")
                inputs.append((variable, 0))
        versions = tuple(int(e[2]) if len(e) > 2 else 0 for e in record["inputs"])
        kept = versions if any(versions) and len(versions) == len(inputs) else None
        self.nodes.append(Node(op, parsed, inputs, name, notes, versions=kept))

    def _node(self, index: Any) -> Node:
        if not 0 <= int(index) < len(self.nodes):
            raise MXNetError(f"an input refers to node {index}, which is not defined before it")
        return self.nodes[int(index)]

    def _move_weight_attrs(self, labels: Sequence[str], attrs: dict[str, str], inputs: Sequence[Head]) -> None:
        """Old files keep `weight_lr_mult` on the operator; it belongs to the variable that is its `weight`."""
        for key in list(attrs):
            label, _, rest = key.partition("_")
            if rest in ("lr_mult", "wd_mult") and label in labels and labels.index(label) < len(inputs):
                inputs[labels.index(label)][0].notes[f"__{rest}__"] = attrs.pop(key)


def _split(op: Any, attrs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Operator attributes and notes: what the schema does not know stays with the node as text."""
    own, notes = {}, {}
    for key, value in attrs.items():
        if key in op.schema or (op.open_attrs and not key.startswith("__")):
            own[key] = value
        else:
            notes[key] = value
    return own, stored_notes(notes)
