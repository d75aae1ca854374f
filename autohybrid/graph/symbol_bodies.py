"""The nodes of symbolic control flow (`_foreach`, `_while_loop`, `_cond`): their bodies are graphs of their own.

A body is the node's `extra`: it runs its graphs on NDArrays, so that gradients of every order follow from the tape,
and infers shapes and dtypes through them. Positions (`in_data_locs`...) are MXNet's, as in its files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.interpreter import run
from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.tensor import creation
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import get_operator

Facts = list[Any]
_PLACES = {
    "_foreach": ("in_state_locs", "in_data_locs", "remain_locs"),
    "_while_loop": ("cond_input_locs", "func_input_locs", "func_var_locs"),
    "_cond": ("cond_input_locs", "then_input_locs", "else_input_locs"),
}
_GRAPHS = {"_foreach": 1, "_while_loop": 2, "_cond": 3}


@dataclass(frozen=True)
class Body:
    """What the three kinds share. `attrs` are the node's; `subgraphs` the heads of each graph."""

    attrs: Attrs
    subgraphs: tuple[tuple[Head, ...], ...]
    names: tuple[tuple[str, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        found = tuple(tuple(n.name for n in depth_first(g) if n.op is None) for g in self.subgraphs)
        object.__setattr__(self, "names", found)

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        """The node's outputs."""
        raise NotImplementedError

    def infer(
        self, infer: Callable[..., Any], ins: Facts, sliced: Callable[[Any], Any], stacked: Any
    ) -> tuple[Facts, Facts]:
        """Facts of inputs and outputs. `sliced` gives a slice's fact, `stacked(fact, count)` that of stacked ones."""
        raise NotImplementedError

    def through(self, infer: Callable[..., Any], graph: int, facts: Sequence[Any]) -> tuple[Facts, Facts]:
        """The facts of a graph's inputs and heads, from what is known of its inputs."""
        known = {name: fact for name, fact in zip(self.names[graph], facts) if fact is not None}
        found = infer(self.subgraphs[graph], known)
        variables = [found[n, 0] for n in depth_first(self.subgraphs[graph]) if n.op is None]
        return variables, [found[h] for h in self.subgraphs[graph]]

    def call(self, graph: int, values: Sequence[NDArray]) -> list[NDArray]:
        return run(self.subgraphs[graph], dict(zip(self.names[graph], values)))


def _stack(rows: Sequence[NDArray]) -> NDArray:
    op = get_operator("stack")
    return invoke(op, op.parse({"num_args": len(rows)}), rows)  # type: ignore[no-any-return]


class ForeachBody(Body):
    """Inputs: the data, the first states, then what the graph takes from outside."""

    @property
    def places(self) -> tuple[int, ...]:
        """Where each input of the node stands among the graph's."""
        return (*self.attrs.in_data_locs, *self.attrs.in_state_locs, *self.attrs.remain_locs)

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        data, width = len(self.attrs.in_data_locs), len(self.attrs.in_state_locs)
        states = list(inputs[data : data + width])
        rows: list[list[NDArray]] = []
        if not len(inputs[0]):
            raise MXNetError(f"{node.name}: there is no step to run: the first axis of the data is empty")
        for step in range(len(inputs[0])):
            given = [*[x[step] for x in inputs[:data]], *states, *inputs[data + width :]]
            after = self.call(0, [value for _, value in sorted(zip(self.places, given), key=lambda pair: pair[0])])
            states = after[self.attrs.num_out_data :]
            rows.append(after[: self.attrs.num_out_data])
        return [*[_stack([row[i] for row in rows]) for i in range(self.attrs.num_out_data)], *states]

    def infer(
        self, infer: Callable[..., Any], ins: Facts, sliced: Callable[[Any], Any], stacked: Any
    ) -> tuple[Facts, Facts]:
        data = len(self.attrs.in_data_locs)
        facts: Facts = [None] * len(self.names[0])
        for index, place in enumerate(self.places):
            facts[place] = sliced(ins[index]) if index < data else ins[index]
        variables, heads = self.through(infer, 0, facts)
        steps = ins[0][0] if isinstance(ins[0], tuple) else None
        found = [ins[i] if i < data else variables[place] for i, place in enumerate(self.places)]
        count = self.attrs.num_out_data
        return found, [*[stacked(fact, steps) for fact in heads[:count]], *heads[count:]]


class WhileBody(Body):
    """Graphs: the condition, then the body. The loop variables are inputs of the node among others."""

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        attrs, values = self.attrs, list(inputs)
        variables = [attrs.func_input_locs[place] for place in attrs.func_var_locs]
        rows: list[list[NDArray]] = []
        while len(rows) < attrs.max_iterations and self.call(0, [values[i] for i in attrs.cond_input_locs])[0]:
            after = self.call(1, [values[i] for i in attrs.func_input_locs])
            rows.append(after[: attrs.num_out_data])
            for place, value in zip(variables, after[attrs.num_out_data :]):
                values[place] = value
        return [*self._outputs(inputs, rows), *[values[place] for place in variables]]

    def _outputs(self, inputs: Sequence[NDArray], rows: list[list[NDArray]]) -> list[NDArray]:
        """The collected outputs, with zeros behind the last step."""
        limit, count = self.attrs.max_iterations, self.attrs.num_out_data
        if rows:
            blanks = [row.zeros_like() for row in rows[0]]
            return [_stack([*[r[i] for r in rows], *[blanks[i]] * (limit - len(rows))]) for i in range(count)]
        used = [inputs[i] for i in self.attrs.func_input_locs]
        _, shapes = self.through(infer_shapes, 1, [x.shape for x in used])
        _, dtypes = self.through(infer_dtypes, 1, [x._data.dtype.name for x in used])
        return [creation.zeros((limit, *s), inputs[0].ctx, t) for s, t in zip(shapes[:count], dtypes[:count])]

    def infer(
        self, infer: Callable[..., Any], ins: Facts, sliced: Callable[[Any], Any], stacked: Any
    ) -> tuple[Facts, Facts]:
        found = list(ins)
        for graph, places in ((0, self.attrs.cond_input_locs), (1, self.attrs.func_input_locs)):
            variables, heads = self.through(infer, graph, [found[i] for i in places])
            for place, fact in zip(places, variables):
                found[place] = fact
        count = self.attrs.num_out_data
        return found, [*[stacked(fact, self.attrs.max_iterations) for fact in heads[:count]], *heads[count:]]


class CondBody(Body):
    """Graphs: the condition, the branch taken when it holds, the other one."""

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The node's inputs that each graph takes."""
        return (self.attrs.cond_input_locs, self.attrs.then_input_locs, self.attrs.else_input_locs)

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        chosen = 1 if self.call(0, [inputs[i] for i in self.places[0]])[0] else 2
        return self.call(chosen, [inputs[i] for i in self.places[chosen]])

    def infer(
        self, infer: Callable[..., Any], ins: Facts, sliced: Callable[[Any], Any], stacked: Any
    ) -> tuple[Facts, Facts]:
        found = list(ins)
        outputs: list[Facts] = []
        for graph, places in enumerate(self.places):
            variables, heads = self.through(infer, graph, [found[i] for i in places])
            outputs.append(heads)
            for place, fact in zip(places, variables):
                found[place] = fact
        return found, [a if a is not None else b for a, b in zip(outputs[1], outputs[2])]


_BODIES: dict[str, type[Body]] = {"_foreach": ForeachBody, "_while_loop": WhileBody, "_cond": CondBody}


def is_control_flow(kind: str) -> bool:
    """Whether an operator name of a file is one of the three."""
    return kind in _BODIES


def make_node(
    kind: str,
    given: Mapping[str, Any],
    graphs: Sequence[Sequence[Head]],
    inputs: Sequence[Head],
    name: str,
    notes: dict[str, str],
) -> Node:
    """A control flow node. Raises MXNetError when graphs, positions and inputs do not fit each other."""
    if len(graphs) != _GRAPHS[kind]:
        raise MXNetError(f"node `{name}`: operator {kind} has {_GRAPHS[kind]} subgraphs, not {len(graphs)}")
    attrs = _parser(kind).parse(dict(given))
    body = _BODIES[kind](attrs, tuple(tuple(g) for g in graphs))
    _check(name, kind, body, len(inputs))
    return Node(_record(kind, body, len(inputs)), attrs, inputs, name, notes, extra=body)


def _check(name: str, kind: str, body: Body, count: int) -> None:
    limits = [count] * 3 if kind == "_cond" else [count, count, len(body.names[-1])]
    if kind == "_foreach":
        limits = [len(body.names[0])] * 3
    for key, limit in zip(_PLACES[kind], limits):
        places = getattr(body.attrs, key)
        if any(not 0 <= place < limit for place in places):
            raise MXNetError(f"node `{name}`: `{key}` {places} has a position outside 0 to {limit - 1}")
    if isinstance(body, ForeachBody) and sorted(body.places) != list(range(count)):
        raise MXNetError(f"node `{name}`: {count} inputs do not match the positions {body.places}")
    if len(body.subgraphs[-1]) != body.attrs.num_outputs:
        raise MXNetError(
            f"node `{name}`: `num_outputs` is {body.attrs.num_outputs}, the graph has {len(body.subgraphs[-1])}"
        )


def _schema(kind: str) -> tuple[Attr, ...]:
    attrs = [Attr("num_args", "int"), Attr("num_outputs", "int")]
    if kind != "_cond":
        attrs.append(Attr("num_out_data", "int"))
    if kind == "_while_loop":
        attrs.append(Attr("max_iterations", "int"))
    return (*attrs, *[Attr(key, "shape") for key in _PLACES[kind]])


def _parser(kind: str) -> OpDef:
    return OpDef(kind, _unreachable, inputs=(), attrs=_schema(kind))


def _unreachable(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    raise NotImplementedError("control flow runs through its body")


def _record(kind: str, body: Body, count: int) -> OpDef:
    """The operator of one node: what it infers depends on its body."""
    names = tuple(f"input{i}" for i in range(count))
    total = body.attrs.num_outputs
    outputs = tuple(f"output{i}" for i in range(total)) if total > 1 or kind != "_cond" else ("output",)

    def shapes(attrs: Attrs, ins: Facts, outs: Facts) -> tuple[Facts, Facts]:
        def stacked(fact: Any, steps: Any) -> Any:
            return None if fact is None else (-1 if steps is None else steps, *fact)

        return body.infer(infer_shapes, ins, lambda fact: None if fact is None else fact[1:], stacked)

    def dtypes(attrs: Attrs, ins: Facts, outs: Facts) -> tuple[Facts, Facts]:
        return body.infer(infer_dtypes, ins, lambda fact: fact, lambda fact, steps: fact)

    return OpDef(
        kind,
        _unreachable,
        inputs=(),
        attrs=_schema(kind),
        outputs=outputs,
        active_inputs=lambda attrs: names,
        infer_shape=shapes,
        infer_dtype=dtypes,
    )
