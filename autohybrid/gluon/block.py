"""Block: a node of a network, with children, parameters, hooks and files. Also offers HybridBlock and SymbolBlock."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autohybrid.gluon.hooks import HookHandle
from autohybrid.gluon.parameter import Parameter
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.parameter_errors import UninitializedParameterError
from autohybrid.gluon.parameter_files import load_into_block
from autohybrid.gluon.scope import NameScope, name_block
from autohybrid.tensor.epoch import epoch
from autohybrid.tensor.tape import state

if TYPE_CHECKING:
    from autohybrid.gluon.hybrid_block import HybridBlock
    from autohybrid.gluon.symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock"]


def __getattr__(name: str) -> Any:
    if name == "HybridBlock":
        from autohybrid.gluon.hybrid_block import HybridBlock

        return HybridBlock
    if name == "SymbolBlock":
        from autohybrid.gluon.symbol_block import SymbolBlock

        return SymbolBlock
    if name == "_BlockScope":  # MXNet's name
        return NameScope
    if name in ("_flatten", "_regroup"):  # MXNet's names, which other packages import
        from autohybrid.gluon import structure

        return getattr(structure, name[1:])
    raise AttributeError(f"module 'autohybrid.gluon.block' has no attribute '{name}'")


class Block:
    """Base class of layers and models. Assign children and parameters as attributes; override `forward`.

    `prefix` begins the names of its parameters (numbered by class name when not given); `params` shares the parameters
    of another block: `nn.Dense(20, params=first.collect_params())`.

    Example::

        class Model(gluon.Block):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                with self.name_scope():
                    self.dense = nn.Dense(20)
            def forward(self, x):
                return nd.relu(self.dense(x))
    """

    #: The argument with which a layer can be told the shape that it otherwise infers; for messages.
    _shape_argument: str | None = None

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._empty_prefix = prefix == ""
        self._prefix, self._params = name_block(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._child_counts: dict[str, int] = {}
        self._children: dict[str, Block] = {}
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks: dict[int, Callable[..., Any]] = {}
        self._forward_pre_hooks: dict[int, Callable[..., Any]] = {}

    def __repr__(self) -> str:
        lines = [f"  ({name}): {_indented(value)}" for name, value in self.__dict__.items() if isinstance(value, Block)]
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"

    def __setattr__(self, name: str, value: Any) -> None:
        registered = isinstance(value, (Block, Parameter))
        existing = getattr(self, name, None)
        if isinstance(existing, (Block, Parameter)) and not isinstance(value, type(existing)):
            raise TypeError(
                f"attribute `{name}` of {type(self).__name__} holds a {type(existing).__name__} and cannot become a "
                f"{type(value).__name__}"
            )
        if registered:
            if "_children" not in self.__dict__:
                raise AttributeError(
                    f"cannot assign `{name}`: {type(self).__name__}.__init__ must call `super().__init__()` first"
                )
            if isinstance(value, Block):
                self.register_child(value, name)
            else:
                self._register_parameter(name, value)
        if state.builder is not None:
            state.builder.note_attribute(self, name)
        super().__setattr__(name, value)
        epoch.move()

    def _register_parameter(self, name: str, parameter: Parameter) -> None:
        if name in self._reg_params:
            raise AssertionError(
                f"parameter attribute `{name}` of {type(self).__name__} is already set; to share parameters, give "
                "`params=` when the block is made"
            )
        self._reg_params[name] = parameter
        if parameter._owner is None:
            parameter._owner = (type(self).__name__, self._name, self._shape_argument)

    def _alias(self) -> str:
        return type(self).__name__.lower()

    # -- names and parameters ----------------------------------------------------------------------------------------
    @property
    def prefix(self) -> str:
        """What the names of its parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without the `_` at its end."""
        return self._name

    @property
    def params(self) -> ParameterDict:
        """Its own parameters, without the children's."""
        return self._params

    def name_scope(self) -> NameScope:
        """`with self.name_scope():` - children made inside get names that begin with this block's."""
        return NameScope(self)

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """Its own and all children's parameters; with `select`, those whose names a regular expression matches.

        >>> net.collect_params('.*weight|.*bias')
        """
        self._warn_of_hidden_blocks()
        pattern = None if not select else re.compile(select)
        collected = ParameterDict(self._params.prefix)
        collected.update({n: p for n, p in self.params.items() if pattern is None or pattern.match(n)})
        for child in self._children.values():
            collected.update(child.collect_params(select=select))
        return collected

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Parameters by structural name: the path of attributes, joined by dots."""
        if prefix:
            prefix += "."
        found = {prefix + name: parameter for name, parameter in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def _warn_of_hidden_blocks(self) -> None:
        children = set(map(id, self._children.values()))
        for name, value in self.__dict__.items():
            if name in ("_children", "_reg_params") or not isinstance(value, (list, tuple, dict)):
                continue
            if any(id(block) not in children for block in _blocks_in(value)):
                warnings.warn(
                    f"`{type(self).__name__}.{name}` holds blocks in a plain container, where their parameters are not "
                    "found; use register_child(), or nn.Sequential / nn.HybridSequential",
                    stacklevel=3,
                )

    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False) -> None:
        """Initialise all parameters, its own and the children's; see `ParameterDict.initialize`."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another dtype."""
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            parameter.cast(dtype)

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to zero."""
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other devices."""
        self.collect_params().reset_ctx(ctx)

    # -- files -------------------------------------------------------------------------------------------------------
    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Write all parameters under structural names; with `deduplicate`, shared ones once."""
        from autohybrid import ndarray

        named = self._collect_params_with_prefix()
        if deduplicate:
            last_name = {id(parameter): name for name, parameter in named.items()}
            named = {name: named[name] for name in last_name.values()}
        ndarray.save(filename, {name: parameter._reduce() for name, parameter in named.items()})

    def load_parameters(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read parameters that `save_parameters`, `ParameterDict.save` or `export` wrote.

        With `cast_dtype`, arrays of another dtype are converted to the parameter's (`dtype_source='current'`) or the
        parameter to the array's ('saved'). Raises AssertionError for missing, ValueError for unexpected names; warns
        when nothing matched.
        """
        load_into_block(self, filename, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)

    def save_params(self, filename: str) -> None:
        """Deprecated: `save_parameters`, but with full names without this block's prefix."""
        warnings.warn("save_params is deprecated; use save_parameters, or export", DeprecationWarning, stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(
        self, filename: str, ctx: Any = None, allow_missing: bool = False, ignore_extra: bool = False
    ) -> None:
        """Deprecated: `load_parameters`."""
        warnings.warn("load_params is deprecated; use load_parameters", DeprecationWarning, stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix: str) -> None:
        """Write names and structure to `<prefix>-model.json`, parameters to `<prefix>-model.params`."""
        from autohybrid.gluon.model_files import save_model

        save_model(self, prefix)

    def load(self, prefix: str) -> None:
        """Read what `save` wrote into a block that is built the same way."""
        from autohybrid.gluon.model_files import load_model

        load_model(self, prefix)

    # -- structure and hooks -----------------------------------------------------------------------------------------
    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make `block` a child under `name` (default: its number). Assigning an attribute does this too."""
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_pre_hook(self, hook: Callable[[Block, Any], None]) -> HookHandle:
        """Call `hook(block, inputs)` before every forward; the handle takes it off."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable[[Block, Any, Any], None]) -> HookHandle:
        """Call `hook(block, inputs, outputs)` after every forward; the handle takes it off."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback: Callable[..., None], monitor_all: bool = False) -> None:
        """Pass to hybrid children `callback(node output name, operator, array)`; see HybridBlock."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call `fn` on every child, recursively, then on this block; returns it."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridize every hybrid child; see `HybridBlock.hybridize`."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    # -- running -----------------------------------------------------------------------------------------------------
    def __call__(self, *args: Any) -> Any:
        """Run the block, its hooks included."""
        if self._forward_pre_hooks:
            for hook in tuple(self._forward_pre_hooks.values()):
                hook(self, args)
        try:
            builder = state.builder
            out = self.forward(*args) if builder is None else builder.call_block(self, args)
        except UninitializedParameterError as error:
            error.extend(self._collect_params_with_prefix().values())
            raise
        if self._forward_hooks:
            for hook in tuple(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def forward(self, *args: Any) -> Any:
        """Compute the outputs; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(self, x, ...)")

    def summary(self, *inputs: Any) -> None:
        """Print a table of layers, output shapes and numbers of parameters for these inputs.

        Raises AssertionError when the block is hybridized, RuntimeError when it is not initialised.
        """
        from autohybrid.gluon.summary import print_summary

        print_summary(self, inputs)


def _indented(block: Block) -> str:
    return repr(block).replace("\n", "\n  ")


def _blocks_in(value: Any) -> list[Block]:
    if isinstance(value, Block):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [block for item in value for block in _blocks_in(item)]
