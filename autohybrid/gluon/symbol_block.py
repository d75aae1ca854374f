"""SymbolBlock: a block made of a Symbol, such as one read from a `-symbol.json` file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid import symbol
from autohybrid.gluon.deferred import DeferredTensor, shape_of
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.parameter_files import brief, without_kind
from autohybrid.gluon.structure import flatten, is_symbol, regroup
from autohybrid.graph.interpreter import run
from autohybrid.symbol import Symbol

_ROW_SPARSE = "1"


class SymbolBlock(HybridBlock):
    """A block that computes `outputs` (a Symbol, or a list of them) from `inputs` (variables in it).

    The other variables become parameters, shared with `params` where it has them. Example: features of a network::

        inner = net(mx.sym.var('data')).get_internals()
        features = gluon.SymbolBlock(inner['flatten0_output'], mx.sym.var('data'), params=net.collect_params())
    """

    @staticmethod
    def imports(
        symbol_file: str,
        input_names: str | Sequence[str],
        param_file: str | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> SymbolBlock:
        """The block that `HybridBlock.export` or `model.save_checkpoint` wrote.

        Raises AssertionError for parameters that the file lacks or that the graph lacks, unless allowed.
        """
        graph = symbol.load(os.fspath(symbol_file))
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        dtype = np.float32 if param_file is None else None
        block = SymbolBlock(graph, [symbol.var(name, dtype=dtype) for name in names])
        if param_file is not None:
            from autohybrid import ndarray

            loaded = ndarray.load(param_file)
            if not allow_missing:
                _refuse_forgotten_inputs(block, names, loaded, param_file)
            block.collect_params().load_dict(
                loaded or {}, ctx, allow_missing, ignore_extra, "", param_file, cast_dtype=True, dtype_source="saved"
            )
        return block

    def __init__(self, outputs: Any, inputs: Any, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        if is_symbol(inputs) and len(inputs.list_outputs()) == 1:
            inputs = [inputs]
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        variables, self._in_format = flatten(inputs, "input of a SymbolBlock")
        heads, self._out_format = flatten(outputs, "output of a SymbolBlock")
        graph = symbol.Group(heads) if len(heads) > 1 else heads[0]
        for variable in variables:
            if len(variable.get_internals().list_outputs()) != 1:
                raise AssertionError(f"the inputs of a SymbolBlock must be variables; `{variable.name}` is computed")
        for name, attrs in graph.attr_dict().items():
            if attrs.get("__storage_type__") == _ROW_SPARSE:
                raise AssertionError(f"parameter `{name}` is row_sparse, which a SymbolBlock does not support")
        self._cached_graph = (variables, graph)
        self._add_parameters(variables, graph)

    def _add_parameters(self, variables: Sequence[Any], graph: Symbol) -> None:
        known = {v.name: types[0] for v in variables if (types := v.infer_type_partial()[0])[0] is not None}
        arguments, _, states = graph.infer_type_partial(**{n: t for n, t in known.items() if n in graph.list_inputs()})
        inputs = {variable.name for variable in variables}
        for name, dtype in zip(graph.list_arguments(), arguments):
            if name not in inputs:
                self.params.get(name, allow_deferred_init=True, dtype=dtype or np.float32)
        for name, dtype in zip(graph.list_auxiliary_states(), states):
            if name not in inputs:
                self.params.get(name, grad_req="null", allow_deferred_init=True, dtype=dtype or np.float32)
        cut = _common_start(list(self.params))
        self._reg_params = {name[cut:]: parameter for name, parameter in self.params.items()}

    def __getstate__(self) -> dict[str, Any]:
        variables, graph = self._cached_graph
        return {**super().__getstate__(), "_cached_graph": ([v.name for v in variables], graph.tojson())}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        names, text = saved["_cached_graph"]
        self._cached_graph = ([symbol.var(name) for name in names], symbol.load_json(text))

    def __repr__(self) -> str:
        variables, graph = self._cached_graph
        return f"{type(self).__name__}(\n{graph!r} : {len(variables)} -> {len(graph.list_outputs())}\n)"

    def _clear_cached_op(self) -> None:
        if "_compiled" in self.__dict__:
            self._compiled = None

    def _get_graph(self, *args: Any) -> tuple[list[Any], Symbol]:
        self._inputs_by_name(args)
        return self._cached_graph

    def _exported_symbol(self) -> Symbol:
        graph: Symbol = self._cached_graph[1]
        return graph

    def _inputs_by_name(self, args: tuple[Any, ...]) -> dict[str, Any]:
        flat, form = flatten(args, f"input of {self.name}")
        if form != self._in_format:
            raise ValueError(
                f"this SymbolBlock takes {', '.join(f'`{v.name}`' for v in self._cached_graph[0])} in the structure "
                f"{self._in_format}, but was called with the structure {form} (0 stands for an array)"
            )
        return {variable.name: value for variable, value in zip(self._cached_graph[0], flat)}

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **params: Any) -> Any:
        graph, form = self._cached_graph[1], self._out_format
        assert form is not None
        inputs = self._inputs_by_name((x, *args))
        if is_symbol(next(iter(inputs.values()))):
            used = {name: value for name, value in inputs.items() if name in graph.list_inputs()}
            return regroup(list(graph(**used)), form)
        if any(isinstance(value, DeferredTensor) for value in params.values()):
            self._fill_from_graph({name: shape_of(value) for name, value in inputs.items()})
        feed = {self._reg_params[key].name: _array(value) for key, value in params.items()} | inputs
        return regroup(run(graph._heads, feed), form)

    def _fill_from_graph(self, shapes: Mapping[str, Any]) -> None:
        graph = self._cached_graph[1]
        known = {name: shape for name, shape in shapes.items() if name in graph.list_inputs()}
        known |= {name: p.shape for name, p in self.params.items() if p.shape is not None and 0 not in p.shape}
        arguments, _, states = graph.infer_shape(**known)
        if arguments is None:
            raise ValueError(f"deferred initialization failed: the inputs {shapes} do not determine all shapes")
        self._set_inferred("shape", graph, arguments, states)
        for parameter in self.params.values():
            parameter._finish_deferred_init()

    def cast(self, dtype: Any) -> None:
        """Convert to another dtype; for float16 the parameters of BatchNorm stay float32, as it wants them."""
        super().cast(dtype)
        if np.dtype(dtype).name != "float16":
            return
        names = set(self.params)
        for ending in ("running_", "moving_"):
            for name in names:
                if name.endswith(f"{ending}var"):
                    start = name[: -len(f"{ending}var")]
                    siblings = [name, *(start + tail for tail in (f"{ending}mean", "gamma", "beta"))]
                    if names.issuperset(siblings):
                        for sibling in siblings:
                            self.params[sibling].cast("float32")


def _common_start(names: list[str]) -> int:
    """How many letters all names begin with together."""
    return next((i for i, letters in enumerate(zip(*names)) if len(set(letters)) > 1), min(map(len, names), default=0))


def _array(value: Any) -> Any:
    return value.array() if isinstance(value, DeferredTensor) else value


def _refuse_forgotten_inputs(block: SymbolBlock, names: list[str], loaded: Any, param_file: str) -> None:
    """A variable without values that looks like an input was most likely left out of `input_names`."""
    held = {without_kind(name) for name in loaded}
    missing = [name for name in block.params if name not in held]
    likely = [name for name in missing if name.startswith("data") or name.endswith("label")]
    if likely:
        raise AssertionError(
            f"{brief(likely)} of the graph have no values in {param_file!r}; they are probably inputs: name them in "
            f"`input_names`, which is {names}"
        )
