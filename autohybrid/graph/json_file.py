"""`-symbol.json`, MXNet's form of a graph: written byte for byte as MXNet 1.9.1 does, read in every version since 0.8.

Reading trusts nothing: a damaged or hostile document ends in an MXNetError that names the node.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.graph.notes import stored_notes
from autohybrid.graph.symbol_bodies import is_control_flow, make_node
from autohybrid.numpy_semantics import is_np_shape
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.ops import operators

_VERSION = 10901
#: Attributes that count inputs or outputs, and the most that a file may ask for.
_COUNTS = ("num_args", "num_outputs", "sections", "num_weights", "num_arrays", "num_tensors")
_MOST = 65536


def write_graph(heads: Sequence[Head]) -> str:
    """The JSON text of a graph."""
    marks: dict[str, Any] = {"is_np_shape": ["int", 1]} if is_np_shape() else {}
    return _text({**_document(heads), "attrs": {**marks, "mxnet_version": ["int", _VERSION]}}, 0)


def _document(heads: Sequence[Head]) -> dict[str, Any]:
    nodes = depth_first(heads)
    position = {node: i for i, node in enumerate(nodes)}
    row_pointer = [0]
    for node in nodes:
        row_pointer.append(row_pointer[-1] + _stored_outputs(node))
    versions: dict[Node, int] = {}
    return {
        "nodes": [_node_record(node, position, versions) for node in nodes],
        "arg_nodes": [i for i, node in enumerate(nodes) if node.op is None],
        "node_row_ptr": row_pointer,
        "heads": [[position[node], index, 0] for node, index in heads],
    }


def _stored_outputs(node: Node) -> int:
    if node.op is None or node.op.stored_outputs is None or node.attrs is None:
        return node.output_count
    return node.op.stored_outputs(node.attrs)


def _node_record(node: Node, position: Mapping[Node, int], versions: dict[Node, int]) -> dict[str, Any]:
    """One node; `versions` counts, as MXNet does, how often a state was handed to a node that changes it."""
    record: dict[str, Any] = {"op": "null" if node.op is None else node.op.stored_as or node.op.name, "name": node.name}
    attrs = {**(node.attrs.given if node.attrs is not None else {}), **node.notes}
    if attrs:
        record["attrs"] = dict(sorted(attrs.items()))
    if node.op is not None and node.op.aux and node.attrs is not None:
        states = node.op.aux_names(node.attrs)
        for name, (source, _) in zip(node.op.input_names(node.attrs), node.inputs):
            if name in states:
                versions[source] = versions.get(source, 0) + 1
    counts = node.versions or [versions.get(source, 0) for source, _ in node.inputs]
    record["inputs"] = [[position[source], index, count] for (source, index), count in zip(node.inputs, counts)]
    if node.extra is not None and hasattr(node.extra, "subgraphs"):
        record["subgraphs"] = [_document(g) for g in node.extra.subgraphs]
    return record


def _text(value: Any, depth: int) -> str:
    """dmlc's layout: two blanks a level and `, ` before a line end. On one line stand lists of up to ten entries that
    are no objects, and attributes when there is only one."""
    if isinstance(value, dict):
        rows = [
            f"{json.dumps(k)}: {_attributes(v, depth + 1) if k == 'attrs' else _text(v, depth + 1)}"
            for k, v in value.items()
        ]
        return _lines("{", rows, "}", depth)
    if isinstance(value, list):
        rows = [_text(v, depth + 1) for v in value]
        if len(value) <= 10 and not any(isinstance(v, dict) for v in value):
            return f"[{', '.join(rows)}]"
        return _lines("[", rows, "]", depth)
    return json.dumps(value)


def _attributes(value: Mapping[str, Any], depth: int) -> str:
    rows = [f"{json.dumps(k)}: {_text(v, depth + 1)}" for k, v in value.items()]
    return _lines("{", rows, "}", depth) if len(rows) > 1 else "{" + "".join(rows) + "}"


def _lines(start: str, rows: Sequence[str], end: str, depth: int) -> str:
    inner = "\n" + "  " * (depth + 1)
    return start + inner + f", {inner}".join(rows) + "\n" + "  " * depth + end


def read_graph(document: Any) -> list[Head]:
    """The heads of the graph that a parsed JSON document describes.

    Raises MXNetError when it is not a graph, names an unknown operator, or refers to a node that is not there.
    """
    try:
        return _heads(document, int(document.get("attrs", {}).get("mxnet_version", ["int", 800])[1]))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise MXNetError(f"this JSON is not the graph of a symbol: {type(error).__name__}: {error}") from error


def _heads(document: Any, version: int) -> list[Head]:
    reader = _Reader(version)
    for record in document["nodes"]:
        reader.add(record)
    found = [reader.output(head) for head in document["heads"]]
    if not found:
        raise ValueError("there are no heads")
    return found


class _Reader:
    def __init__(self, version: int) -> None:
        self.version = version
        self.nodes: list[Node] = []

    def add(self, record: Mapping[str, Any]) -> None:
        name, kind = str(record["name"]), record["op"]
        attrs = {str(k): str(v) for key in ("param", "attr", "attrs") for k, v in (record.get(key) or {}).items()}
        inputs = [self.output(entry) for entry in record["inputs"]]
        if kind == "null":
            self.nodes.append(Node(None, None, (), name, stored_notes(attrs)))
            return
        if is_control_flow(kind):
            self.nodes.append(self._control_flow(record, name, kind, attrs, inputs))
            return
        op = operators().get(kind)
        if op is None:
            raise MXNetError(f"node `{name}`: operator `{kind}` is not known")
        self._move_weight_attrs(op.inputs, attrs, inputs)
        own, notes = _split(op, attrs)
        if self.version < 905 and op.name in ("argmax", "argmin") and own.get("axis") == "-1":
            del own["axis"]
        parsed = op.parse(own)
        _refuse_huge_counts(name, parsed)
        if self.version < 900:
            for label in op.input_names(parsed)[len(inputs) :]:
                variable = Node(None, None, (), f"{name}_{label}")
                inputs.append((variable, 0))
        wanted = op.input_names(parsed)
        if len(inputs) != len(wanted) and not record.get("subgraphs"):
            raise MXNetError(
                f"node `{name}`: operator {op.name} has {len(inputs)} inputs, with these attributes it takes "
                f"{len(wanted)}: {', '.join(wanted)}"
            )
        versions = tuple(int(e[2]) if len(e) > 2 else 0 for e in record["inputs"])
        kept = versions if any(versions) and len(versions) == len(inputs) else None
        self.nodes.append(Node(op, parsed, inputs, name, notes, versions=kept))

    def _control_flow(
        self, record: Mapping[str, Any], name: str, kind: str, attrs: dict[str, str], inputs: list[Head]
    ) -> Node:
        graphs = [_heads(graph, self.version) for graph in record["subgraphs"]]
        own = {k: v for k, v in attrs.items() if not k.startswith("__")}
        return make_node(
            kind, own, graphs, inputs, name, stored_notes({k: v for k, v in attrs.items() if k not in own})
        )

    def output(self, entry: Any) -> Head:
        """The output that `[node, index, ...]` refers to."""
        number, index = int(entry[0]), int(entry[1])
        if not 0 <= number < len(self.nodes):
            raise MXNetError(f"an entry refers to node {number}, which is not defined before it")
        node = self.nodes[number]
        if not 0 <= index < node.output_count:
            raise MXNetError(f"an entry refers to output {index} of node `{node.name}`, which has {node.output_count}")
        return node, index

    def _move_weight_attrs(self, labels: Sequence[str], attrs: dict[str, str], inputs: Sequence[Head]) -> None:
        """Old files keep `weight_lr_mult` on the operator; it belongs to the variable that is its `weight`."""
        for key in list(attrs):
            label, _, rest = key.partition("_")
            if rest in ("lr_mult", "wd_mult") and label in labels and labels.index(label) < len(inputs):
                inputs[labels.index(label)][0].notes[f"__{rest}__"] = attrs.pop(key)


def _refuse_huge_counts(name: str, attrs: Attrs) -> None:
    """Refuse attributes that say how many inputs or outputs there are, before anything of that length is made."""
    for key in _COUNTS:
        value = getattr(attrs, key, None)
        if isinstance(value, int) and value > _MOST:
            raise MXNetError(f"node `{name}`: {value} is too many for attribute `{key}` (at most {_MOST})")


def _split(op: Any, attrs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Operator attributes and notes: what the schema does not know stays with the node as text."""
    own, notes = {}, {}
    for key, value in attrs.items():
        if key in op.schema or (op.open_attrs and not key.startswith("__")):
            own[key] = value
        else:
            notes[key] = value
    return own, stored_notes(notes)
