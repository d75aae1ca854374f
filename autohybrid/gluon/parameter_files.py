"""Matching the names in a parameter file with the parameters of a block or dictionary, and loading them.

Three kinds of names occur: structural (`0.weight`, written by `save_parameters`), full parameter names
(`net_dense0_weight`), and those with `arg:` or `aux:` in front (written by `export`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from autohybrid.errors import MXNetError

if TYPE_CHECKING:
    from autohybrid.gluon.block import Block
    from autohybrid.gluon.parameter import Parameter

_SHOWN = 10


def named_values(parameters: Iterable[Parameter], strip_prefix: str) -> dict[str, Any]:
    """Values by name without `strip_prefix`. Raises ValueError for a name that does not begin with it."""
    values = {}
    for parameter in parameters:
        if not parameter.name.startswith(strip_prefix):
            raise ValueError(
                f"`{strip_prefix}` is to be stripped from the names, but {parameter.describe()} lacks it: "
                "the block shares it, or a child was made outside `name_scope()`; save_parameters() has no such limit"
            )
        values[parameter.name[len(strip_prefix) :]] = parameter._reduce()
    return values


def load_by_name(
    parameters: Mapping[str, Parameter],
    loaded: Any,
    where: str,
    ctx: Any,
    allow_missing: bool,
    ignore_extra: bool,
    restore_prefix: str,
    cast_dtype: bool,
    dtype_source: str,
) -> None:
    """Load arrays under full names into `parameters`. Raises AssertionError for missing and unexpected names."""
    pairs = loaded.items() if isinstance(loaded, dict) else loaded
    arrays = {restore_prefix + without_kind(name): value for name, value in pairs}
    remedy = "; the two networks must have been given the same prefix"
    _check(parameters, arrays, where, allow_missing, ignore_extra, remedy)
    for name, value in arrays.items():
        if name in parameters:
            parameters[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)


def load_into_block(
    block: Block,
    filename: str,
    ctx: Any,
    allow_missing: bool,
    ignore_extra: bool,
    cast_dtype: bool,
    dtype_source: str,
) -> None:
    """Load a file of any of the three kinds into `block`. Raises AssertionError or ValueError as `load_parameters`."""
    from autohybrid import ndarray

    loaded = ndarray.load(filename)
    structural = block._collect_params_with_prefix()
    if not loaded and not structural:
        return
    if not isinstance(loaded, dict):
        if loaded:
            raise MXNetError(f"file {filename!r} holds {len(loaded)} arrays without names; parameters need names")
        loaded = {}
    where = f"file {filename!r}"
    if any(name.startswith(("arg:", "aux:")) for name in loaded):
        parameters = block.collect_params()._params
        prefix = _translation(parameters, loaded, block.prefix)
        loaded = {prefix(without_kind(name)): value for name, value in loaded.items()}
        load_by_name(parameters, loaded, where, ctx, allow_missing, ignore_extra, "", cast_dtype, dtype_source)
        return
    if not any("." in name for name in loaded) and not structural.keys() >= loaded.keys():
        parameters = block.collect_params()._params
        load_by_name(
            parameters, loaded, where, ctx, allow_missing, ignore_extra, block.prefix, cast_dtype, dtype_source
        )
        return
    _check(_without_saved_twins(structural, loaded), loaded, where, allow_missing, True, "")
    extra = [name for name in loaded if name not in structural]
    if extra and not ignore_extra:
        raise ValueError(
            f"{where} holds `{extra[0]}`, which is no parameter of {type(block).__name__} `{block.name}`; its "
            f"parameters are {brief(structural)}; pass ignore_extra=True to skip it"
        )
    if len(extra) == len(loaded) and structural:
        _warn_unmatched(where, structural)
    for name, value in loaded.items():
        if name in structural:
            structural[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)


def without_kind(name: str) -> str:
    """The name without `arg:` or `aux:`."""
    return name[4:] if name.startswith(("arg:", "aux:")) else name


def brief(names: Iterable[str]) -> str:
    """The first and last few names."""
    listed = [f"`{name}`" for name in names]
    if len(listed) > _SHOWN:
        listed = [*listed[: _SHOWN // 2], "...", *listed[-_SHOWN // 2 :]]
    return ", ".join(listed) or "none"


def _check(
    parameters: Mapping[str, Parameter],
    arrays: Mapping[str, Any],
    where: str,
    allow_missing: bool,
    ignore_extra: bool,
    remedy: str,
) -> None:
    missing = [name for name in parameters if name not in arrays]
    if missing and not allow_missing:
        raise AssertionError(
            f"parameters {brief(missing)} are missing in {where}, which holds {brief(arrays)}{remedy}; "
            "pass allow_missing=True to leave them as they are"
        )
    extra = [name for name in arrays if name not in parameters]
    if extra and not ignore_extra:
        raise AssertionError(
            f"{where} holds {brief(extra)}, which are not among the parameters {brief(parameters)}{remedy}; "
            "pass ignore_extra=True to skip them"
        )
    if parameters and len(missing) == len(parameters) and not arrays.keys() & parameters.keys() and extra and remedy:
        _warn_unmatched(where, parameters)


def _warn_unmatched(where: str, parameters: Iterable[str]) -> None:
    """MXNet says nothing when both permissive flags hide that no name matched; that is nearly always a mistake."""
    warnings.warn(f"nothing was loaded: no name in {where} is among {brief(parameters)}", stacklevel=4)


def _without_saved_twins(structural: Mapping[str, Parameter], loaded: Mapping[str, Any]) -> dict[str, Parameter]:
    """Without the names of shared parameters that the file holds under another name (`deduplicate=True`)."""
    saved = {id(parameter) for name, parameter in structural.items() if name in loaded}
    return {name: p for name, p in structural.items() if name in loaded or id(p) not in saved}


def _translation(parameters: Mapping[str, Parameter], loaded: Mapping[str, Any], own: str) -> Any:
    """How names of an exported file become names here: unchanged where they match, else with the prefix exchanged.

    The prefix is exchanged only if then every parameter is found, so that no weight can land in the wrong layer.
    """
    names = [without_kind(name) for name in loaded]
    if not parameters or parameters.keys() <= set(names) or not all(name.startswith(own) for name in parameters):
        return lambda name: name
    tails = [name[len(own) :] for name in parameters]
    for name in names:
        if name.endswith(tails[0]):
            theirs = name[: len(name) - len(tails[0])]
            if all(theirs + tail in names for tail in tails):
                return lambda name: own + name[len(theirs) :] if name.startswith(theirs) else name
    return lambda name: name
