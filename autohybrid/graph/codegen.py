"""Generated executor: a graph as straight-line Python over raw arrays, for one signature and train mode.

One line for each call, with the user's line as a comment where it changes. An operator may offer a template (`fast` of
its record) that works on a CallSite; all others call their kernel. The text is kept (`function.source`) and is what
`autohybrid show` prints. Buffers of dead intermediates are reused by templates that can write into an input.
"""

from __future__ import annotations

import keyword
import linecache
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.context import cpu
from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.interpreter import run_node
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.array import wrap
from autohybrid.tensor.imperative import run_kernel, split_mutations

if TYPE_CHECKING:
    from autohybrid.graph.function import GraphFunction, Signature

_serial = 0


class CallSite:
    """What a template sees of the call it writes code for."""

    def __init__(self, writer: _Writer, node: Node) -> None:
        self._writer = writer
        self.node = node
        self.attrs: Any = node.attrs
        self.inputs = [writer.names[h] for h in node.inputs]
        self.shapes = [writer.shapes[h] for h in node.inputs]
        self.dtypes = [writer.dtypes[h] for h in node.inputs]
        self.out = writer.name_head((node, 0))
        self.out_shape = writer.shapes[node, 0]
        self.out_dtype = writer.dtypes[node, 0]
        self.train = writer.train

    def function(self, name: str) -> str:
        """The name under which `xp.<name>` can be called in the generated code."""
        return self._writer.bind(name, getattr(np, name))

    def constant(self, hint: str, value: Any) -> str:
        """The name under which `value` can be used in the generated code."""
        return self._writer.bind(hint, value)

    def scalar(self, hint: str, value: float) -> str:
        """The name of a 0-d array with `value` in the output's dtype (ufuncs take it faster than a Python number)."""
        array = np.asarray(value, dtype=self.out_dtype)
        array.flags.writeable = False
        return self._writer.bind(hint, array)

    def reusable(self) -> str | None:
        """The name of an input whose buffer may be overwritten with the output: a dead intermediate of its shape."""
        for head, name in zip(self.node.inputs, self.inputs):
            if self._writer.is_dead_after(head, self.node) and (
                self._writer.shapes[head] == self.out_shape and self._writer.dtypes[head] == self.out_dtype
            ):
                return name
        return None

    def into(self) -> str:
        """`, out=<name>` when a buffer can be reused, else nothing: for the end of a ufunc call's arguments."""
        name = self.reusable()
        return f", out={name}" if name is not None else ""

    def owns(self, index: int) -> bool:
        """Whether input `index` is a dead intermediate that the code may overwrite."""
        return self._writer.is_dead_after(self.node.inputs[index], self.node)


class _Writer:
    def __init__(self, function: GraphFunction, signature: Signature, train: bool) -> None:
        self.function = function
        self.train = train
        self.globals: dict[str, Any] = {}
        self.lines: list[str] = []
        self.names: dict[Head, str] = {}
        self.taken: set[str] = set(keyword.kwlist)
        self.aliased: set[Head] = set()
        captured = {name: provider()._data for name, provider in function.captured.items()}
        fed = {name: (shape, dtype) for name, (shape, dtype) in zip(function.inputs, signature)}
        fed.update({name: (a.shape, a.dtype) for name, a in captured.items()})
        self.shapes = infer_shapes(function.all_heads, {n: tuple(s) for n, (s, _) in fed.items()})
        self.dtypes = infer_dtypes(function.all_heads, {n: d.name for n, (_, d) in fed.items()})
        self.last_use = self._last_uses()

    def _last_uses(self) -> dict[Head, Node]:
        uses: dict[Head, Node] = {}
        for node in self.function.order:
            for head in node.inputs:
                uses[head] = node
        return uses

    def is_dead_after(self, head: Head, node: Node) -> bool:
        """Whether `head` is an intermediate with memory of its own that nothing reads after `node`."""
        return (
            head[0].op is not None
            and head not in self.aliased
            and self.last_use.get(head) is node
            and head not in self.function.all_heads
            and sum(h == head for h in node.inputs) == 1
        )

    def bind(self, hint: str, value: Any) -> str:
        for name, known in self.globals.items():
            if known is value:
                return name
        name = self.fresh(hint)
        self.globals[name] = value
        return name

    def fresh(self, hint: str) -> str:
        base = re.sub(r"\W", "_", hint) or "value"
        if base[0].isdigit():
            base = f"_{base}"
        name, count = base, 1
        while name in self.taken:
            name, count = f"{base}_{count}", count + 1
        self.taken.add(name)
        return name

    def name_head(self, head: Head) -> str:
        if head not in self.names:
            node, index = head
            self.names[head] = self.fresh(node.name if index == 0 else f"{node.name}_{index}")
        return self.names[head]

    def write(self) -> str:
        parameters = [self._parameter(name) for name in (*self.function.inputs, *self.function.captured)]
        place = ""
        for node in self.function.order:
            if node.op is None:
                continue
            if node.span is not None and str(node.span) != place:
                place = str(node.span)
                self.lines.append(f"# {place}  {linecache.getline(node.span.path, node.span.line).strip()}".rstrip())
            self._call(node)
        self.lines.append(f"return {self._results()}")
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def run({', '.join(parameters)}):\n{body}\n"

    def _parameter(self, name: str) -> str:
        for node in self.function.order:
            if node.op is None and node.name == name:
                return self.name_head((node, 0))
        return self.fresh(name)  # an argument that the graph does not use

    def _call(self, node: Node) -> None:
        assert node.op is not None
        if node.extra is None and node.op.fast is not None:
            lines = node.op.fast(CallSite(self, node))
            if lines is not None:
                self.lines.extend(lines)
                return
        arguments = ", ".join(self.names[h] for h in node.inputs)
        count = node.output_count if node.extra is None else node.visible_count
        outputs = [self.name_head((node, i)) for i in range(count)]
        if node.op.view or node.extra is not None:  # a branch or a body may return an array that it was given
            self.aliased.update((node, i) for i in range(node.output_count))
            # what a view is taken from must stay untouched as long as the view may be read
            self.aliased.update(node.inputs)
        call = self.bind(f"run_{node.op.name}", self._callable(node))
        self.lines.append(f"{', '.join(outputs)}{',' if len(outputs) == 1 else ''} = {call}({arguments})")

    def _callable(self, node: Node) -> Callable[..., Sequence[Any]]:
        op, attrs, train = node.op, node.attrs, self.train
        assert op is not None and attrs is not None
        if node.extra is not None:

            def through_arrays(*arrays: Any) -> Sequence[Any]:
                return [r._data for r in run_node(node, [wrap(a) for a in arrays])]

            return through_arrays
        ctx = cpu()

        def through_kernel(*arrays: Any) -> Sequence[Any]:
            return run_kernel(op, attrs, np, arrays, train, ctx)

        def with_mutations(*arrays: Any) -> Sequence[Any]:
            results, changes = split_mutations(op, attrs, run_kernel(op, attrs, np, arrays, train, ctx))
            for position, value in changes:
                arrays[position][...] = value
            return results

        def without_mutations(*arrays: Any) -> Sequence[Any]:
            return split_mutations(op, attrs, run_kernel(op, attrs, np, arrays, train, ctx))[0]

        if not op.mutates:
            return through_kernel
        # BatchNorm with `fix_gamma` writes ones into gamma, but, as in MXNet, not in compiled calls outside recording.
        return without_mutations if op.train_dependent else with_mutations

    def _results(self) -> str:
        shown = []
        heads = self.function.all_heads
        for head in heads:
            name = self.names[head]
            shared = head[0].op is None or head in self.aliased or heads.count(head) > 1
            shown.append(f"{name}.copy()" if shared else name)
        return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"


def generate(function: GraphFunction, signature: Signature, train: bool) -> Callable[..., Any]:
    """Generate and compile the executor of `function` for inputs of `signature`.

    The result takes the raw input arrays, then the raw captured ones, and returns a tuple of fresh arrays.
    """
    global _serial
    writer = _Writer(function, signature, train)
    source = writer.write()
    _serial += 1
    filename = f"<autohybrid executor {_serial}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), writer.globals)
    run: Callable[..., Any] = writer.globals["run"]
    run.source = source  # type: ignore[attr-defined]
    return run
