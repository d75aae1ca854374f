"""Generated executor: a graph as straight-line Python over raw arrays, for one signature and train mode.

One line for each call, with the user's line as a comment where it changes. An operator may offer a template (`fast` of
its record) that works on a CallSite; all others call their kernel. The text is kept (`function.source`) and is what
`autohybrid show` prints. Buffers of dead intermediates are reused by templates that can write into an input.
"""

from __future__ import annotations

import keyword
import linecache
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.context import cpu
from autohybrid.errors import MXNetError
from autohybrid.graph.alone_call import AloneCall
from autohybrid.graph.arena import LEAST_BYTES, Arena
from autohybrid.graph.call_site import CallSite
from autohybrid.graph.channels_last.memory import wanted_borders
from autohybrid.graph.channels_last.operators import is_shared
from autohybrid.graph.chunk_loops import find_run, write_run
from autohybrid.graph.executor_plan import ExecutorPlan, Step
from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.interpreter import run_node
from autohybrid.graph.lifetimes import Lifetimes
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.passes.pipeline import optimize
from autohybrid.graph.passes.rewriting import PlannedGraph
from autohybrid.graph.prepared import Prepared
from autohybrid.graph.repacking import RepackedCall, numbers_to_repack
from autohybrid.tensor.array import wrap
from autohybrid.tensor.imperative import KERNEL_ERRORS, explain, run_kernel, split_mutations, unaliased
from autohybrid.tensor.shapes import is_known
from autohybrid.tensor.templates import View, reshaped
from autohybrid.tensor.versions import changes, note_write

if TYPE_CHECKING:
    from autohybrid.graph.function import GraphFunction, Signature

_serial = 0


class Writer:
    """Writes the text of one executor; `globals` are the values that it names."""

    #: Whether the calls are those of a recorded call, which write where the imperative ones do.
    recorded = False

    def __init__(
        self, function: GraphFunction, signature: Signature, train: bool, threads: int = 1, prepares: bool = True
    ) -> None:
        self.function = function
        self.train = train
        self.globals: dict[str, Any] = {}
        self.lines: list[str] = []
        self.names: dict[Head, str] = {}
        #: The values made from parameters ahead of the calls; None while there are none.
        self.prepared: Prepared | None = None
        self._bound: dict[int, str] = {}
        self._taken: dict[str, int] = dict.fromkeys((*keyword.kwlist, "results", "run"), 1)
        captured = {name: a._data for name, a in zip(function.captured, function.captured_arrays())}
        fed = {name: (shape, dtype) for name, (shape, dtype) in zip(function.inputs, signature)}
        fed.update({name: (a.shape, a.dtype) for name, a in captured.items()})
        shapes = infer_shapes(function.all_heads, {n: tuple(s) for n, (s, _) in fed.items()})
        dtypes = infer_dtypes(function.all_heads, {n: d.name for n, (_, d) in fed.items()})
        has_memory = prepares and all(type(a) is np.ndarray for a in captured.values())
        known = _lasting_variables(function) if has_memory else frozenset()
        facts = PlannedGraph(function.all_heads, shapes, dtypes, train, function.exact, known, threads=threads)
        graph = self.optimize(facts)
        self.graph = graph
        self.heads, self.shapes, self.dtypes = graph.heads, graph.shapes, graph.dtypes
        order = program_order(self.heads)
        self.variables = {node.name: node for node in order if node.op is None and node not in graph.recipes}
        self.calls = [node for node in order if node.op is not None]
        self.position = {node: i for i, node in enumerate(self.calls)}
        self.lifetimes = Lifetimes(self.calls, self.heads)
        # The bodies of control flow and custom operators are the user's code and may keep an array they saw.
        borders = wanted_borders(self.calls, self.shapes)
        self.arena = Arena(self.lifetimes, any(map(_runs_user_code, self.calls)), borders)
        #: Values that later code reads without being a call.
        self.lasting: set[Head] = set()
        self._holders: dict[str, list[Head]] = {}
        self._assigned: set[str] = set()
        self._steps: list[Step] = []
        self._lines_before = 1  # the steps: the line of `def`, and what is put in front of them
        self._place = ""
        self._release = ""
        self._permutes = False  # whether an array may have its axes in another order than memory has
        self._used = {h for node in self.calls for h in node.inputs} | set(self.heads)

    def optimize(self, graph: PlannedGraph) -> PlannedGraph:
        """The graph that is written instead."""
        return optimize(graph)

    def is_used(self, head: Head) -> bool:
        return head in self._used

    def given_memory(self, head: Head) -> str | None:
        """The name of memory that the caller gave for a result: none, they are always fresh."""
        return None

    def bind(self, hint: str, value: Any) -> str:
        name = self._bound.get(id(value))
        if name is None:
            name = self._bound[id(value)] = self.fresh(hint)
            self.globals[name] = value
        return name

    def fresh(self, hint: str) -> str:
        base = re.sub(r"\W", "_", hint) or "value"
        if base[0].isdigit():
            base = f"_{base}"
        count = self._taken.get(base, 0)
        self._taken[base] = count + 1
        if count == 0:
            return base
        return self.fresh(f"{base}_{count}")

    def name_head(self, head: Head) -> str:
        if head not in self.names:
            node, index = head
            self.names[head] = self.fresh(node.name if index == 0 else f"{node.name}_{index}")
        return self.names[head]

    def write(self) -> str:
        parameters = [self._parameter(name) for name in self.function.inputs]
        for node in (*self.variables.values(), *self.graph.recipes):
            self.name_head((node, 0))
        self.write_calls(self.calls)
        self._take_memory()
        results = self.results(self.heads)
        if self._release:
            self.lines += [f"results = {results}", self._release, "return results"]
        else:
            self.lines.append(f"return {results}")
        self._take_prepared()
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def run({', '.join(parameters)}):\n{body}\n"

    def write_calls(self, calls: Sequence[Node]) -> None:
        """The statements of these calls, which follow each other."""
        index = 0
        while index < len(calls):
            end = find_run(self, calls, index)
            nodes = calls[index : max(end, index + 1)]
            for node in nodes:
                self._note_place(node)
            first = len(self.lines)
            if end > index:
                self.lines.extend(write_run(self, calls[index:end]))
            else:
                self._call(calls[index])
            self._forget(nodes, self.lines[first:])
            self._steps.append(Step(tuple(nodes), first, len(self.lines)))
            index = max(end, index + 1)

    def _forget(self, nodes: Sequence[Node], lines: Sequence[str]) -> None:
        """Let large arrays go that nothing reads after these calls; their names would keep them to the end."""
        for line in lines:
            targets = re.match(r"(\w+(?:, \w+)*),? = ", line)
            self._assigned.update(targets[1].split(", ") if targets else ())
        outputs = [(node, i) for node in nodes for i in range(node.output_count) if (node, i) in self.names]
        for head in outputs:
            self._holders.setdefault(self.names[head], []).append(head)
        here = self.position[nodes[-1]]
        inputs = [h for node in nodes for h in node.inputs if h in self.names]
        for name in dict.fromkeys([self.names[h] for h in (*inputs, *outputs)]):
            if name in self._assigned and name not in self.arena.names and self._is_done(name, here):
                self.lines.append(f"del {name}")
                self._assigned.remove(name)

    def _is_done(self, name: str, here: int) -> bool:
        """Whether a name stands for a large array, or several in turn, that nothing reads behind position `here`."""
        holders = self._holders.get(name, [])
        return any(map(self._is_large, holders)) and all(self._is_dead(h, here) for h in holders)

    def _is_dead(self, head: Head, here: int) -> bool:
        lives = head in self.lasting or not self.lifetimes.is_internal(head)
        return not lives and self.lifetimes.last_use(head) <= here

    def _is_large(self, head: Head) -> bool:
        shape, dtype = self.shapes[head], self.dtypes[head]
        known = is_known(shape) and dtype is not None
        return known and math.prod(shape) * np.dtype(dtype).itemsize >= LEAST_BYTES

    def _take_memory(self) -> None:
        """Take a set of buffers at the start, and put it back at the end; a call that fails drops it."""
        if not self.arena.made:
            return
        kept, make, memory = self.bind("kept", []), self.bind("make_memory", self.arena.maker()), self.fresh("memory")
        names = f"{', '.join(self.arena.made)}{',' if len(self.arena.made) == 1 else ''}"
        # The list may be emptied by another thread between a test and `pop`, so the error is the test.
        taken = ["try:", f"    {memory} = {kept}.pop()", "except IndexError:", f"    {memory} = {make}()"]
        self._put_first([*taken, f"{names} = {memory}"])
        self._release = f"{kept}.append({memory})"

    def _take_prepared(self) -> None:
        """Put the captured arrays and prepared values that the code reads into its variables, at the start."""
        words = set(re.findall(r"\w+", "\n".join(line for line in self.lines if not line.startswith("#"))))
        captured = [node for name, node in self.variables.items() if name in self.function.captured]
        shown = [node for node in (*captured, *self.graph.recipes) if self.names[node, 0] in words]
        if not shown:
            return
        values = Prepared(self.function.captured_arrays, tuple(self.function.captured), shown, self.graph.recipes)
        self.prepared = values
        prepared, moved, now = self.bind("prepared", values), self.bind("changes", changes), self.fresh("now")
        self._put_first(
            [
                f"{now} = {prepared}.now",
                f"if {now}[0] != {moved}.token:",
                f"    {now} = {prepared}.refresh()",
                f"_, {', '.join([self.names[node, 0] for node in shown])} = {now}",
            ]
        )

    def _put_first(self, lines: list[str]) -> None:
        self.lines[:0] = lines
        self._lines_before += len(lines)

    def plan(self) -> ExecutorPlan:
        """What the written text is made of, for reports."""
        before = self._lines_before
        steps = tuple([Step(step.nodes, step.first + before, step.end + before) for step in self._steps])
        return ExecutorPlan(steps, self.shapes, self.dtypes, self.arena.size)

    def _note_place(self, node: Node) -> None:
        """A comment with the user's line, where it changes."""
        if node.span is not None and str(node.span) != self._place:
            self._place = str(node.span)
            line = linecache.getline(node.span.path, node.span.line).strip()
            self.lines.append(f"# {self._place}  {line}".rstrip())

    def _parameter(self, name: str) -> str:
        node = self.variables.get(name)
        return self.fresh(name) if node is None else self.name_head((node, 0))  # the graph may not use an argument

    def _call(self, node: Node) -> None:
        assert node.op is not None
        template = node.op.fast if node.extra is None and self._is_known(node) else None
        if self.graph.exact and isinstance(template, View) and template is not reshaped:
            template = None  # sums over permuted memory go in another order than the imperative ones
        names = [self.names[h] for h in node.inputs]
        lines = None if template is None else template(CallSite(self, node, names, self.name_head((node, 0))))
        if lines is not None:
            self.lines.extend(lines)
            if isinstance(template, View):
                self._permutes = self._permutes or template is not reshaped
                self.lifetimes.share(node, writable=True)
            return
        count = node.output_count if node.extra is None else node.visible_count
        outputs = [self.name_head((node, i)) for i in range(count)]
        is_view = node.op.view and not self.graph.exact
        if node.inputs and (is_view or node.extra is not None):  # a branch may return an array that it was given
            self._permutes = True
            self.lifetimes.share(node, writable=False)
        call, gives_one = self._callable(node)
        comma = "," if count == 1 and not gives_one else ""
        self.lines.append(f"{', '.join(outputs)}{comma} = {self.bind(f'run_{node.op.name}', call)}({', '.join(names)})")

    def _is_known(self, node: Node) -> bool:
        heads = (*node.inputs, *[(node, i) for i in range(node.output_count)])
        return all(is_known(self.shapes[h]) and self.dtypes[h] is not None for h in heads)

    def _callable(self, node: Node) -> tuple[Callable[..., Any], bool]:
        """What runs a call, and whether it gives an array rather than a sequence of them."""
        op, attrs, train = node.op, node.attrs, self.train
        assert op is not None and attrs is not None
        if node.extra is not None:

            def through_arrays(*arrays: Any) -> Sequence[Any]:
                return [r._data for r in run_node(node, [wrap(a) for a in arrays])]

            return through_arrays, False
        if op.is_plain:
            return _plain(node), True
        ctx = cpu()

        def through_kernel(*arrays: Any) -> Sequence[Any]:
            return run_kernel(op, attrs, np, arrays, train, ctx)

        def through_copies(*arrays: Any) -> Sequence[Any]:
            return [unaliased(r, arrays) for r in run_kernel(op, attrs, np, arrays, train, ctx)]

        def with_mutations(*arrays: Any) -> Sequence[Any]:
            results, changes = split_mutations(op, attrs, run_kernel(op, attrs, np, arrays, train, ctx))
            for position, value in changes:
                arrays[position][...] = value
                note_write(arrays[position])
            return results

        def without_mutations(*arrays: Any) -> Sequence[Any]:
            return split_mutations(op, attrs, run_kernel(op, attrs, np, arrays, train, ctx))[0]

        if not op.mutates:
            return through_copies if op.view and self.graph.exact else through_kernel, False
        # BatchNorm with `fix_gamma` writes ones into gamma, but, as in MXNet, not in compiled calls outside recording.
        return without_mutations if op.train_dependent and not self.recorded else with_mutations, False

    def results(self, heads: Sequence[Head]) -> str:
        """The tuple of these heads, in memory that nothing else has."""
        shown = []
        for head in heads:
            name = self.names[head]
            lies_in_arena = any(self.names.get(member) in self.arena.names for member in self.lifetimes.group(head))
            if lies_in_arena or not self.lifetimes.is_own(head) or self.heads.count(head) > 1:
                name = f"{name}.copy()"
            elif self._permutes:
                name = f"({name} if {name}.flags.c_contiguous else {name}.copy())"
            shown.append(name)
        return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"


def _lasting_variables(function: GraphFunction) -> frozenset[Node]:
    """The captured variables that keep their values through a call: nothing in it may write into them."""
    written = {change.name for change in function.outputs.written}
    for node in function.order:
        if node.op is not None and (_runs_user_code(node) or (node.op.mutates and not node.op.train_dependent)):
            written.update(source.name for source, _ in node.inputs)
    names = function.captured.keys() - written
    return frozenset(node for node in function.order if node.op is None and node.name in names)


def _runs_user_code(node: Node) -> bool:
    return node.extra is not None or (node.op is not None and node.op.session is not None)


def _plain(node: Node) -> Callable[..., Any]:
    """The kernel of a plain operator; its errors name the user's line."""
    op, attrs, span = node.op, node.attrs, node.span
    assert op is not None and attrs is not None
    kernel = op.kernel

    def call(*arrays: Any) -> Any:
        try:
            result = kernel(np, attrs, *arrays)
        except (MXNetError, *KERNEL_ERRORS) as error:
            explained = explain(op, attrs, arrays, error)
            raise explained if span is None else type(explained)(f"{span}: {explained}") from error
        return result[0] if type(result) is tuple else result

    return call


def generate(function: GraphFunction, signature: Signature, train: bool, threads: int = 1) -> Callable[..., Any]:
    """Generate and compile the executor of `function` for inputs of `signature`, which may use so many threads.

    The result takes the raw input arrays and returns a tuple of fresh arrays; it looks at the captured ones itself.
    """
    run, writer = generate_alone(function, signature, train, threads)
    code: Callable[..., Any] = AloneCall(run) if any(map(is_shared, writer.calls)) else run
    numbers = 0 if writer.prepared is None else numbers_to_repack(writer.graph, writer.calls)
    if writer.prepared is None or numbers == 0:
        return code
    return RepackedCall(
        code, writer.prepared, numbers, lambda: generate_alone(function, signature, train, prepares=False)[0]
    )


def generate_alone(
    function: GraphFunction, signature: Signature, train: bool, threads: int = 1, prepares: bool = True
) -> tuple[Callable[..., Any], Writer]:
    """The generated function itself, and its writer. Without `prepares` nothing is made of parameters ahead."""
    writer = Writer(function, signature, train, threads, prepares)
    run = compile_text(writer.write(), writer.globals)
    run.plan = writer.plan()  # type: ignore[attr-defined]
    return run, writer


def compile_text(source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function `run` that `source` defines, over these global names; tracebacks and `run.source` show the text."""
    global _serial
    _serial += 1
    filename = f"<autohybrid executor {_serial}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), names)
    run: Callable[..., Any] = names["run"]
    run.source = source  # type: ignore[attr-defined]
    return run
