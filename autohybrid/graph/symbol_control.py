"""`sym.contrib.foreach`, `while_loop` and `cond`: a body in Python over symbols becomes a graph inside a node."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.graph.notes import stored_notes
from autohybrid.graph.symbol import Symbol
from autohybrid.graph.symbol_bodies import make_node
from autohybrid.naming import AttrScope, NameManager
from autohybrid.tensor.ops import get_operator

__all__ = ["cond", "foreach", "while_loop"]

_MARK = "__subgraph_name__"
_used: dict[str, int] = {}
_lock = threading.Lock()


def foreach(body: Callable[[Any, Any], Any], data: Any, init_states: Any, name: str = "foreach") -> tuple[Any, Any]:
    """The outputs of `out, states = body(slice, states)` over the first axis of `data`, stacked, and the last states.

    Raises TypeError for anything but symbols, ValueError when the states change their number, AssertionError when the
    body leaves data or a state unused.
    """
    arrays, states = list(_flat(data)), list(_flat(init_states))
    with _Body(name) as scope:
        inside = [scope.variable(s) for s in (*arrays, *states)]
        parts = iter(inside)
        output, after = body(_like(data, parts), _like(init_states, parts))
    outputs, final = list(_flat(output)), list(_flat(after))
    if len(final) != len(states):
        raise ValueError(f"foreach: the body returned {len(final)} states for {len(states)}")
    graph = scope.graph([*outputs, *final])
    names = _input_names(graph.heads)
    if any(_name(v) not in names for v in inside):
        raise AssertionError("foreach: every array of the data and states must be used in the body")
    places = [names.index(_name(v)) for v in inside]
    rest = [n for i, n in enumerate(names) if i not in places]
    given = {
        "num_outputs": len(outputs) + len(final),
        "num_out_data": len(outputs),
        "in_state_locs": places[len(arrays) :],
        "in_data_locs": places[: len(arrays)],
        "remain_locs": [names.index(n) for n in rest],
    }
    inputs = [*[s._heads[0] for s in (*arrays, *states)], *[graph.outside[n] for n in rest]]
    results = iter(_call("_foreach", given, [graph.heads], inputs))
    return _like(output, results), _like(init_states, results)


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> tuple[Any, Any]:
    """The stacked outputs of `output, loop_vars = func(*loop_vars)` while `cond(*loop_vars)` holds, and the last
    loop variables. Outputs have `max_iterations` rows, zeros behind the last step.

    Raises ValueError when `max_iterations` is missing, the loop variables change their number, or one is not used.
    """
    if max_iterations is None:
        raise ValueError("while_loop: `max_iterations` must be given, it is the first extent of the outputs")
    variables = list(_flat(loop_vars))
    if not variables:
        raise ValueError("while_loop: `loop_vars` must hold at least one symbol")
    with _Body(f"{name}_cond") as test:
        test_inside = [test.variable(v) for v in variables]
        condition = cond(*_arguments(loop_vars, test_inside))
    test_graph = test.graph(list(_flat(condition)))
    with _Body(f"{name}_func") as step:
        inside = [step.variable(v) for v in variables]
        output, after = func(*_arguments(loop_vars, inside))
    outputs, final = list(_flat([] if output is None else output)), list(_flat([] if after is None else after))
    if len(final) != len(variables):
        raise ValueError(f"while_loop: `func` returned {len(final)} loop variables for {len(variables)}")
    step_graph = step.graph([*outputs, *final])
    inputs = _Union()
    test_places = inputs.places(test_graph, test_inside, variables)
    step_places = inputs.places(step_graph, inside, variables)
    names = _input_names(step_graph.heads)
    if any(_name(v) not in names for v in inside):
        raise ValueError("while_loop: every loop variable must be used in `func`")
    given = {
        "num_outputs": len(outputs) + len(final),
        "num_out_data": len(outputs),
        "max_iterations": int(max_iterations),
        "cond_input_locs": test_places,
        "func_input_locs": step_places,
        "func_var_locs": [names.index(_name(v)) for v in inside],
    }
    results = iter(_call("_while_loop", given, [test_graph.heads, step_graph.heads], inputs.heads))
    found = _like([] if output is None else output, results)
    return found, _like(loop_vars, results)


def _arguments(loop_vars: Any, inside: list[Symbol]) -> Any:
    return _like(loop_vars, iter(inside)) if isinstance(loop_vars, (list, tuple)) else inside


def cond(pred: Symbol, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = "cond") -> Any:
    """What `then_func()` gives where `pred` is not 0, else what `else_func()` gives.

    Raises ValueError when they give different numbers of outputs.
    """
    graphs, outputs, inputs = [], [], _Union()
    places = []
    for part, make in (("pred", lambda: pred), ("then", then_func), ("else", else_func)):
        with _Body(f"{name}_{part}") as scope:
            outputs.append(make())
        graph = scope.graph(list(_flat(outputs[-1])))
        graphs.append(graph.heads)
        places.append(inputs.places(graph, [], []))
    if len(graphs[1]) != len(graphs[2]):
        raise ValueError(f"cond: the branches give {len(graphs[1])} and {len(graphs[2])} outputs")
    given = {
        "num_outputs": len(graphs[1]),
        "cond_input_locs": places[0],
        "then_input_locs": places[1],
        "else_input_locs": places[2],
    }
    return _like(outputs[1], iter(_call("_cond", given, graphs, inputs.heads)))


def _call(kind: str, given: dict[str, Any], graphs: Sequence[Sequence[Head]], inputs: Sequence[Head]) -> list[Symbol]:
    text = {key: str(value) for key, value in {**given, "num_args": len(inputs) + len(graphs)}.items()}
    notes = stored_notes(AttrScope.current.get(None))
    node = make_node(kind, text, graphs, inputs, NameManager.current.get(None, kind), notes)
    return [Symbol([(node, i)]) for i in range(node.visible_count)]


# -- the graph of a body -----------------------------------------------------------------------------------------------
class _Graph:
    """A body cut out of its surroundings: its heads, and for each input from outside (by name) what feeds it."""

    def __init__(self, heads: tuple[Head, ...], outside: dict[str, Head]) -> None:
        self.heads = heads
        self.outside = outside


class _Body:
    """The scope in which a body is called: marks the nodes made inside."""

    def __init__(self, name: str) -> None:
        above = AttrScope.current.get(None).get(_MARK)
        full = f"{above}${name}" if above else name
        with _lock:
            count = _used[full] = _used.get(full, -1) + 1
        self.mark = f"{full}{count}"
        self._scope = AttrScope(**{_MARK: self.mark})
        self._bound: set[Node] = set()

    def __enter__(self) -> _Body:
        self._scope.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._scope.__exit__(*exc)

    def variable(self, outer: Symbol) -> Symbol:
        """The variable that stands for `outer` in the body."""
        (node, index), *_ = outer._heads
        name = f"{node.name}-{index}"
        taken = sum(bound.name == name or bound.name.startswith(f"{name}-") for bound in self._bound)
        inner = Node(None, None, (), f"{name}-{taken}" if taken else name, {_MARK: self.mark})
        self._bound.add(inner)
        return Symbol([(inner, 0)])

    def graph(self, outputs: Sequence[Symbol]) -> _Graph:
        """The graph of the outputs; what was made outside becomes a variable."""
        copies: dict[Head, Head] = {}
        outside: dict[str, Head] = {}
        heads = [s._heads[0] for s in outputs]
        for node in depth_first(heads):
            if node in self._bound:
                copies[node, 0] = (node, 0)
            elif node.op is None:
                copies[node, 0] = (Node(None, None, (), node.name, dict(node.notes)), 0)
                outside[node.name] = (node, 0)
            elif node.notes.get(_MARK) == self.mark:
                inside = self._copy(node, copies, outside)
                copies.update({(node, i): (inside, i) for i in range(node.output_count)})
        made = {node for node, _ in copies.values()}
        cut = tuple(self._head(head, copies, outside, made) for head in heads)
        used = set(_input_names(cut))
        return _Graph(cut, {name: head for name, head in outside.items() if name in used})

    def _copy(self, node: Node, copies: dict[Head, Head], outside: dict[str, Head]) -> Node:
        inputs = [self._inner(head, copies, outside) for head in node.inputs]
        return Node(node.op, node.attrs, inputs, node.name, dict(node.notes), node.span, node.extra)

    def _inner(self, head: Head, copies: dict[Head, Head], outside: dict[str, Head]) -> Head:
        if head not in copies:  # an output of a call that was made outside
            label = head[0].output_label(head[1])
            outside[label] = head
            copies[head] = (Node(None, None, (), label), 0)
        return copies[head]

    def _head(self, head: Head, copies: dict[Head, Head], outside: dict[str, Head], made: set[Node]) -> Head:
        inner = self._inner(head, copies, outside)
        if inner[0].op is not None:
            return inner
        op = get_operator("identity")  # an output must be a call of the graph itself
        name = NameManager.current.get(None, "identity")
        return Node(op, op.parse({}), [inner], name, {_MARK: self.mark}), 0


class _Union:
    """The inputs of a node with several graphs: each loop variable, and each outer output once."""

    def __init__(self) -> None:
        self._found: dict[Any, Head] = {}

    @property
    def heads(self) -> list[Head]:
        return list(self._found.values())

    def places(self, graph: _Graph, inside: Sequence[Symbol], outer: Sequence[Symbol]) -> list[int]:
        """Where each input of the graph stands among the node's inputs."""
        bound = {_name(i): o._heads[0] for i, o in zip(inside, outer)}
        found = []
        for name in _input_names(graph.heads):
            # Two loop variables may start from one output; they are inputs of their own.
            key: Any = name if name in bound else graph.outside[name]
            self._found.setdefault(key, bound.get(name) or graph.outside[name])
            found.append(list(self._found).index(key))
        return found


def _input_names(heads: Sequence[Head]) -> list[str]:
    return [node.name for node in depth_first(heads) if node.op is None]


def _name(symbol: Symbol) -> str:
    return symbol._heads[0][0].name


def _flat(value: Any) -> Iterator[Symbol]:
    if isinstance(value, Symbol):
        yield from value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
    else:
        raise TypeError(f"control flow works on symbols and nested lists of them, not {type(value).__name__}")


def _like(structure: Any, parts: Iterator[Symbol]) -> Any:
    """`parts` in the nesting of `structure`."""
    if isinstance(structure, Symbol):
        items = [next(parts) for _ in structure]
        return items[0] if len(items) == 1 else items
    return [_like(item, parts) for item in structure]
