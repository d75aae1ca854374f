"""HybridBlock: a Block whose `hybrid_forward(F, x, ...)` runs on arrays, on Symbols, or compiled into a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from autohybrid import ndarray
from autohybrid.context import Context, current_context
from autohybrid.errors import DeferredInitializationError
from autohybrid.gluon.block import Block
from autohybrid.gluon.deferred import DeferredTensor, stand_in
from autohybrid.gluon.hybridize_options import HybridizeOptions
from autohybrid.gluon.parameter import Parameter
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.structure import Fixed, Format, flatten, is_symbol, kinds_and_devices, leaves, regroup, settle
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.numpy_array import DENSE
from autohybrid.tensor.tape import state

if TYPE_CHECKING:
    from autohybrid.graph.profile import Profile
    from autohybrid.symbol import Symbol
    from autohybrid.transform.compiler import CompiledBlock

_DEFAULTS = HybridizeOptions()


class HybridBlock(Block):
    """A Block that can become a graph. Override `hybrid_forward`; its own parameters come in as keyword arguments.

    Called with NDArrays it runs imperatively with `F = mx.nd`, or compiled after `hybridize()`; called with Symbols
    it builds on them with `F = mx.sym`. A class that overrides `forward` instead always runs imperatively.

    Example::

        class Model(gluon.HybridBlock):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                with self.name_scope():
                    self.dense = nn.Dense(20)
            def hybrid_forward(self, F, x):
                return F.relu(self.dense(x))
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._active = False
        self._options = _DEFAULTS
        #: (inputs, outputs) as Symbols, once traced or imported; () when not.
        self._cached_graph: tuple[Any, ...] = ()
        self._in_format: Format | None = None
        self._out_format: Format | None = None
        #: What the compiler keeps for this block; emptied by everything that could change the graph.
        self._compiled: CompiledBlock | None = None
        self._callback: Callable[..., None] | None = None
        self._monitor_all = False

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle keeps: everything but the graph, which is built again at the next call."""
        return {**self.__dict__, "_cached_graph": (), "_compiled": None, "_callback": None}

    # -- structure ---------------------------------------------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, Block):
            self._clear_cached_op()

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make `block` a child. Raises ValueError when it is no Block.

        A plain Block may be a child too (MXNet refuses it): its `forward` is lowered into the graph with the rest.
        """
        if not isinstance(block, Block):
            raise ValueError(
                f"children of a HybridBlock are Blocks, but {type(self).__name__} `{self.name}` was given {block!r}"
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def _register_parameter(self, name: str, parameter: Parameter) -> None:
        super()._register_parameter(name, parameter)
        self._clear_cached_op()

    def _clear_cached_op(self) -> None:
        """Forget the graph and everything compiled from it."""
        if "_compiled" in self.__dict__:
            self._cached_graph = ()
            self._in_format = self._out_format = None
            self._compiled = None

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another dtype; the block is compiled afresh."""
        self._clear_cached_op()
        super().cast(dtype)

    def hybridize(self, active: bool = True, backend: str | None = None, clear: bool = True, **options: Any) -> None:
        """Compile at the next call, here and in all children; `active=False` goes back to imperative calls.

        `options` are those of HybridizeOptions (`static_alloc`, `static_shape`, `strict`...). `clear=False` keeps what
        was compiled. Raises TypeError for an unknown option.
        """
        self._options = _DEFAULTS.updated({**options, "backend": backend})
        self._active = bool(active)
        if clear:
            self._clear_cached_op()
        super().hybridize(active, **options)

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, clear: bool = False, **options: Any) -> None:
        """`hybridize`, then compile for these inputs at once. Raises ValueError without a `backend`."""
        if not backend:
            raise ValueError("optimize_for() needs a backend; hybridize() compiles for the default one")
        self.hybridize(True, backend, clear, **options)
        self(x, *args)

    def register_op_hook(self, callback: Callable[..., None], monitor_all: bool = False) -> None:
        """When hybridized, call `callback(name, operator, array)` with every operator's output, and with
        `monitor_all` with its inputs too."""
        self._callback = callback
        self._monitor_all = monitor_all
        super().register_op_hook(callback, monitor_all)

    def profile(self, *args: Any, calls: int = 10) -> Profile:
        """Time every step of the compiled call on `args`: the median seconds of `calls` calls, bytes, arithmetic.

        The result prints as a table and writes a Chrome trace (`write_trace(path)`). Raises MXNetError when the block
        is not hybridized or runs imperatively, and ValueError for `calls` below 1.
        """
        from autohybrid.transform.profiling import profile_block

        return profile_block(self, args, calls)

    # -- running -----------------------------------------------------------------------------------------------------
    def forward(self, x: Any, *args: Any) -> Any:
        """Run on arrays or symbols; calls `hybrid_forward` or the compiled graph.

        Raises ValueError for a mixture of arrays and symbols, no tensor at all, or, hybridized, several devices.
        """
        if type(x) is NDArray and self._active and not args and self._compiled is not None and state.builder is None:
            return self._compiled.call_one(x)
        if type(x) in DENSE and not self._active and (not args or not any(map(is_symbol, args))):
            ctx = x._ctx
            params = self._arrays_on(ctx) if self._reg_params else {}
            if params is not None and ctx is current_context():
                return self._call_hybrid_forward(ndarray, x, args, params)
            if params is not None:
                return self._run_on(ctx, params, x, args)
        symbols, arrays, devices = kinds_and_devices((x, *args))
        if symbols and arrays:
            raise ValueError(f"{self.name}: arrays and symbols cannot be mixed among the inputs")
        if symbols:
            params = {name: parameter.var() for name, parameter in self._reg_params.items()}
            with self.name_scope():
                return self._call_hybrid_forward(_symbol_module(), x, args, params)
        if not arrays:
            raise ValueError(f"{self.name}: none of the inputs is an array or a symbol")
        if state.builder is not None:
            return state.builder.run_hybrid_forward(self, (x, *args))
        if self._active and not any(isinstance(a, DeferredTensor) for a in (x, *args)):
            return self._run_compiled(x, args, devices)
        return self._run_imperatively(devices, x, args)

    def _call_imperatively(self, args: tuple[Any, ...]) -> Any:
        """A call that is not compiled although the block is hybridized: its own code runs, children are compiled."""
        return self._run_imperatively(kinds_and_devices(args)[2], args[0], args[1:])

    def _run_imperatively(self, devices: list[Context], x: Any, args: tuple[Any, ...]) -> Any:
        params = self._arrays_on(devices[0])
        if params is None:
            return self._run_deferred(devices[0], x, args)
        return self._run_on(devices[0], params, x, args)

    def _run_compiled(self, x: Any, args: tuple[Any, ...], devices: list[Context]) -> Any:
        if len(devices) > 1:
            raise ValueError(
                f"{self.name}: the inputs are on several devices ({devices}); a hybridized block runs on one. "
                "Move them with `as_in_context`"
            )
        from autohybrid.transform.compiler import call_compiled

        if self._in_format is None:
            self._in_format = flatten((x, *args), f"input of {self.name}", fixed=True)[1]
        return call_compiled(self, (x, *args))

    def _stand_ins(self, ctx: Context) -> dict[str, Any]:
        """Its own parameters on `ctx` as a graph being built takes them, by attribute name."""
        return {
            name: DeferredTensor(p, ctx) if p._data is None and p._deferred_init else stand_in(p, ctx)
            for name, p in self._reg_params.items()
        }

    def _arrays_on(self, ctx: Context) -> dict[str, Any] | None:
        """The arrays of its own parameters on `ctx`; None when one still waits for its shape."""
        found = {}
        for name, parameter in self._reg_params.items():
            data = parameter._data
            if data is not None and len(data) == 1 and data[0]._ctx is ctx and parameter._gives_its_array:
                found[name] = data[0]
            elif data is None and parameter._deferred_init:
                return None
            else:
                found[name] = parameter.data(ctx)
        return found

    def _run_on(self, ctx: Context, params: dict[str, Any], x: Any, args: tuple[Any, ...]) -> Any:
        current = current_context()
        if current is ctx or current == ctx:
            return self._call_hybrid_forward(ndarray, x, args, params)
        with Context(ctx):
            return self._call_hybrid_forward(ndarray, x, args, params)

    def _run_deferred(self, ctx: Context, x: Any, args: tuple[Any, ...]) -> Any:
        """The first call of a block with parameters of unknown shape: operators tell the shapes as they run."""
        for parameter in self._reg_params.values():
            if parameter._deferred_init and parameter.shape is not None and 0 not in parameter.shape:
                parameter._finish_deferred_init()
        try:
            return settle(self._run_on(ctx, self._stand_ins(ctx), x, args))
        except DeferredInitializationError:
            # The code asked for something only an array has; the graph may tell the shape.
            self._deferred_infer_shape(x, *args)
            for parameter in self.params.values():
                parameter._finish_deferred_init()
        return self._run_on(ctx, {n: p.data(ctx) for n, p in self._reg_params.items()}, x, args)

    def _call_hybrid_forward(self, F: Any, x: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        try:
            return self.hybrid_forward(F, x, *args, **params)
        except TypeError as error:
            problem = self._signature_problem(x, args, params)
            if problem is None:
                raise
            raise TypeError(problem) from error

    def _signature_problem(self, x: Any, args: tuple[Any, ...], params: dict[str, Any]) -> str | None:
        """Why `hybrid_forward` cannot take these arguments; None when it can."""
        signature = inspect.signature(self.hybrid_forward)
        try:
            signature.bind(None, x, *args, **params)
        except TypeError as error:
            owner = f"{type(self).__name__}.hybrid_forward{signature}"
            unknown = [name for name in params if name not in signature.parameters]
            if unknown:
                return (
                    f"{owner} has no argument for parameter `{unknown[0]}` of the block; add `{unknown[0]}` to its "
                    "arguments, or keep the parameter out of the block's attributes"
                )
            return f"{owner} cannot take {len(args) + 1} inputs and the parameters {list(params)}: {error}"
        return None

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs with the operators of `F`; to be overridden. Parameters come as keyword arguments."""
        raise NotImplementedError(f"{type(self).__name__} must define hybrid_forward(self, F, x, ...)")

    # -- the block as a graph ------------------------------------------------------------------------------------------
    def _get_graph(self, *args: Any) -> tuple[list[Any], Symbol]:
        """Input variables and outputs of the block as Symbols, for arguments of this structure."""
        flat, form = flatten(args, f"input of {self.name}")
        if not self._cached_graph or form != self._in_format:
            self._in_format = form
            self._cached_graph = self._trace(form, len([a for a in flat if a is not None]))
        return self._cached_graph

    def _trace(self, form: Format, count: int) -> tuple[list[Any], Symbol]:
        if count == 0:
            raise ValueError(f"{self.name}: all inputs are None")
        symbol = _symbol_module()
        variables = [symbol.var("data" if count == 1 else f"data{i}") for i in range(count)]
        remaining = iter(variables)
        grouped = regroup([_leaf(leaf, remaining) for leaf in leaves(form)], form)
        # Not through __call__: the hooks of this block belong to real calls.
        outputs, self._out_format = flatten(self.forward(*grouped), f"output of {self.name}")
        return variables, symbol.Group(outputs)

    def _deferred_infer_shape(self, *args: Any) -> None:
        try:
            self.infer_shape(*args)
        except (ValueError, RuntimeError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(f"deferred initialization failed because a shape cannot be inferred: {error}") from error

    def infer_shape(self, *args: Any) -> None:
        """Set the shapes of all parameters from these inputs. Raises ValueError when they do not determine them."""
        inputs, out = self._get_graph(*args)
        given = [a for a in flatten(args, "input")[0] if a is not None]
        known = {variable.name: array.shape for variable, array in zip(inputs, given)}
        arguments, _, states = out.infer_shape(**{n: s for n, s in known.items() if n in out.list_inputs()})
        if arguments is None:
            raise ValueError(f"the shapes of the parameters of {self.name} cannot be inferred from the inputs {known}")
        self._set_inferred("shape", out, arguments, states)

    def infer_type(self, *args: Any) -> None:
        """Set the dtypes of all parameters from these inputs. Raises ValueError when they do not determine them."""
        inputs, out = self._get_graph(*args)
        given = [a for a in flatten(args, "input")[0] if a is not None]
        known = {variable.name: array.dtype for variable, array in zip(inputs, given)}
        arguments, _, states = out.infer_type(**{n: t for n, t in known.items() if n in out.list_inputs()})
        if arguments is None:
            raise ValueError(f"the dtypes of the parameters of {self.name} cannot be inferred from the inputs {known}")
        self._set_inferred("dtype", out, arguments, states)

    def _set_inferred(self, field: str, out: Any, arguments: Any, states: Any) -> None:
        found = dict(zip(out.list_arguments(), arguments)) | dict(zip(out.list_auxiliary_states(), states))
        for parameter in self.collect_params().values():
            if parameter.name in found:
                setattr(parameter, field, found[parameter.name])

    def _exported_symbol(self) -> Symbol:
        """The block as a graph for a file."""
        from autohybrid.gluon.exporting import trace_for_export

        return trace_for_export(self)  # type: ignore[no-any-return]

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Write `<path>-symbol.json` and `<path>-<epoch>.params`, which MXNet and `SymbolBlock.imports` read.

        The inputs are named `data`, or `data0`, `data1`... Raises RuntimeError before the first hybridized call.
        """
        from autohybrid.gluon.exporting import export_block

        export_block(self, path, epoch, remove_amp_cast)


def _symbol_module() -> Any:
    from autohybrid import symbol

    return symbol


def _leaf(form: Any, variables: Iterator[Any]) -> Any:
    """What stands at one place of the arguments when the block is traced."""
    if isinstance(form, Fixed):
        return form.value
    return None if form == -1 else next(variables)
