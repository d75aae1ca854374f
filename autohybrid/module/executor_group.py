"""DataParallelExecutorGroup: one executor for each device, each with its slice of the batch and its own parameters."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.context import Context, cpu
from autohybrid.ndarray import NDArray
from autohybrid.training.io import DataDesc


class DataParallelExecutorGroup:
    """Executors of one symbol on several devices.

    `workload` divides the batch; `shared_group` lends its parameters, gradients and input arrays. `param_arrays` and
    `grad_arrays` hold, for each parameter, one array for each device.
    """

    def __init__(
        self,
        symbol: Any,
        contexts: Sequence[Context],
        workload: Sequence[float],
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None,
        param_names: Sequence[str],
        for_training: bool,
        inputs_need_grad: bool,
        shared_group: DataParallelExecutorGroup | None = None,
        logger: Any = logging,
        fixed_param_names: Sequence[str] | None = None,
        grad_req: Any = "write",
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
    ) -> None:
        self.symbol = symbol
        self.contexts = list(contexts)
        self.workload = list(workload)
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.param_names = [name for name in self.arg_names if name in set(param_names)]
        self.fixed_param_names = set(fixed_param_names or ())
        self.state_names = list(state_names or ())
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.output_names = symbol.list_outputs()
        self.output_axes = [_batch_axis(symbol, name) for name in self.output_names]
        self.shared_data_arrays: list[dict[str, NDArray]] = (
            [{} for _ in self.contexts] if shared_group is None else shared_group.shared_data_arrays
        )
        data_names = [_described(d).name for d in data_shapes]
        self.grad_req = self._requests(grad_req, data_names)
        self.execs: list[Any] = [] if shared_group is None else list(shared_group.execs)
        self.bind_exec(data_shapes, label_shapes)

    def _requests(self, grad_req: Any, data_names: Sequence[str]) -> dict[str, str]:
        if isinstance(grad_req, (list, tuple)):
            given: Mapping[str, str] = dict(zip(self.arg_names, grad_req))
        elif isinstance(grad_req, Mapping):
            given = grad_req
        else:
            given = dict.fromkeys(self.arg_names, grad_req)
        requests = {}
        for name in self.arg_names:
            wanted = name in data_names and self.inputs_need_grad
            wanted = wanted or (name in self.param_names and name not in self.fixed_param_names)
            requests[name] = given.get(name, "write") if wanted and self.for_training else "null"
        return requests

    # -- binding -----------------------------------------------------------------------------------------------------
    def bind_exec(self, data_shapes: Sequence[Any], label_shapes: Sequence[Any] | None) -> None:
        """Make the executors for these shapes; arrays whose shape stays are kept."""
        self.data_shapes = [_described(d) for d in data_shapes]
        self.label_shapes = [_described(d) for d in label_shapes] if label_shapes else None
        self.data_names = [d.name for d in self.data_shapes]
        self.label_names = [d.name for d in self.label_shapes or ()]
        self.batch_size, self.slices = _slices(self.data_shapes, self.workload)
        self.execs = [self._bind_on(i, self.execs[i] if self.execs else None) for i in range(len(self.contexts))]
        self.param_arrays = [[exe.arg_dict[name] for exe in self.execs] for name in self.param_names]
        self.grad_arrays = [[exe.grad_dict[name] for exe in self.execs] for name in self.param_names]
        self.aux_arrays = [[exe.aux_dict[name] for exe in self.execs] for name in self.aux_names]

    reshape = bind_exec

    def _bind_on(self, i: int, previous: Any) -> Any:
        inputs = [*self.data_shapes, *(d for d in self.label_shapes or () if d.name in self.arg_names)]
        shapes = {d.name: self._part_shape(d, i) for d in inputs}
        arg_shapes, _, aux_shapes = self.symbol.infer_shape(**shapes)
        if arg_shapes is None:
            raise ValueError(f"the shapes {shapes} do not determine those of all arguments of the symbol")
        arg_types, _, aux_types = self.symbol.infer_type(**{d.name: d.dtype for d in inputs if d.dtype is not None})
        ctx, lent = self.contexts[i], previous
        lent_args, lent_grads, lent_aux = (lent.arg_dict, lent.grad_dict, lent.aux_dict) if lent else ({}, {}, {})
        stypes = _storage_types(self.symbol)
        args, grads = {}, {}
        for name, shape, dtype in zip(self.arg_names, arg_shapes, arg_types):
            pool = lent_args if name in self.param_names else self.shared_data_arrays[i]
            args[name] = _reused(pool, name, shape, dtype, ctx, stypes.get(name, "default"))
            if name not in self.param_names:
                pool[name] = args[name]
            if self.grad_req[name] != "null":
                grads[name] = _reused(lent_grads, name, shape, dtype, ctx)
        aux = {n: _reused(lent_aux, n, s, t, ctx) for n, s, t in zip(self.aux_names, aux_shapes, aux_types)}
        return self.symbol.bind(ctx, args, grads, self.grad_req, aux)

    def _part_shape(self, desc: DataDesc, i: int) -> tuple[int, ...]:
        axis = DataDesc.get_batch_axis(desc.layout)
        shape = list(desc.shape)
        if axis >= 0:
            shape[axis] = self.slices[i].stop - self.slices[i].start
        return tuple(shape)

    def _cut(self, array: NDArray, axis: int, i: int) -> NDArray:
        if axis < 0 or len(self.execs) == 1:
            return array
        return nd.slice_axis(array, axis=axis, begin=self.slices[i].start, end=self.slices[i].stop)  # type: ignore[no-any-return]

    # -- parameters --------------------------------------------------------------------------------------------------
    def set_params(
        self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray], allow_extra: bool = False
    ) -> None:
        """Copy values to all devices. Raises ValueError for unknown names, unless `allow_extra`."""
        for exe in self.execs:
            exe.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray]) -> None:
        """Write the values, averaged over the devices, into these dicts of arrays."""
        groups = (self.param_names, self.param_arrays, arg_params), (self.aux_names, self.aux_arrays, aux_params)
        for names, arrays, target in groups:
            for name, copies in zip(names, arrays):
                mean = nd.add_n(*[copy.as_in_context(cpu()) for copy in copies]) / len(copies)
                mean.astype(target[name].dtype).copyto(target[name])

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The arrays of the states."""
        arrays = [[exe.arg_dict[name] for exe in self.execs] for name in self.state_names]
        return _merged(arrays, [0] * len(arrays)) if merge_multi_context else arrays

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states to arrays (a list for each, with one array for each device) or all to one number."""
        for position, name in enumerate(self.state_names):
            for i, exe in enumerate(self.execs):
                exe.arg_dict[name][:] = states[position][i] if states is not None else value

    # -- running -----------------------------------------------------------------------------------------------------
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run all executors on a batch, or on a list with one batch for each of them."""
        inputs = [(self.data_shapes, "data")] + ([(self.label_shapes, "label")] if self.label_shapes else [])
        for i, exe in enumerate(self.execs):
            pre_sliced = isinstance(data_batch, list)
            batch = data_batch[i] if pre_sliced else data_batch
            for shapes, field in inputs:
                for desc, array in zip(shapes or (), getattr(batch, field, None) or ()):
                    if desc.name in exe.arg_dict:
                        part = array if pre_sliced else self._cut(array, DataDesc.get_batch_axis(desc.layout), i)
                        exe.arg_dict[desc.name][:] = part.astype(exe.arg_dict[desc.name].dtype)
            exe.forward(is_train=self.for_training if is_train is None else is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Gradients on all devices, with heads that belong to the whole batch."""
        if not self.for_training:
            raise AssertionError("bind with for_training=True to run backward")
        heads = [out_grads] if isinstance(out_grads, NDArray) else out_grads
        for i, exe in enumerate(self.execs):
            parts = None
            if heads is not None:
                parts = [self._cut(h, a, i).as_in_context(self.contexts[i]) for h, a in zip(heads, self.output_axes)]
            exe.backward(parts)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs: whole, or as lists with one array for each device."""
        arrays = [[exe.outputs[k] for exe in self.execs] for k in range(len(self.output_names))]
        return _merged(arrays, self.output_axes) if merge_multi_context else arrays

    def get_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs for a whole batch."""
        shapes = {d.name: d.shape for d in [*self.data_shapes, *(self.label_shapes or ())] if d.name in self.arg_names}
        return list(zip(self.output_names, self.symbol.infer_shape(**shapes)[1]))

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients of the data."""
        if not self.inputs_need_grad:
            raise AssertionError("bind with inputs_need_grad=True to get gradients of the data")
        arrays = [[exe.grad_dict[name] for exe in self.execs] for name in self.data_names]
        axes = [DataDesc.get_batch_axis(d.layout) for d in self.data_shapes]
        return _merged(arrays, axes) if merge_multi_context else arrays

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool) -> None:
        """Update a metric with the outputs of all devices and their labels."""
        axes = [DataDesc.get_batch_axis(d.layout) for d in self.label_shapes or ()]
        for i, exe in enumerate(self.execs):
            if pre_sliced:
                parts = labels[i]
            else:
                parts = [self._cut(label, axis, i) for label, axis in zip(labels, axes or [0] * len(labels))]
            eval_metric.update_dict(dict(zip(self.label_names, parts)), dict(zip(self.output_names, exe.outputs)))

    def install_monitor(self, mon: Any) -> None:
        """Let a Monitor watch all executors."""
        for exe in self.execs:
            mon.install(exe)


def _described(shape: Any) -> DataDesc:
    desc = shape if isinstance(shape, DataDesc) else DataDesc(*shape)
    if not isinstance(desc.shape, (tuple, list)):
        raise TypeError(f"the shape of `{desc.name}` must be a tuple of ints, not {type(desc.shape).__name__}")
    return desc


def _batch_axis(symbol: Any, output: str) -> int:
    return DataDesc.get_batch_axis(symbol[output].attr("__layout__"))


def _slices(shapes: Sequence[DataDesc], workload: Sequence[float]) -> tuple[int, list[slice]]:
    """The batch size and each device's part of it. Raises ValueError when inputs disagree or devices get nothing."""
    size = -1
    for desc in shapes:
        axis = DataDesc.get_batch_axis(desc.layout)
        if axis < 0:
            continue
        if size >= 0 and desc.shape[axis] != size:
            raise ValueError(f"the batch size of `{desc.name}` is {desc.shape[axis]}, that of others {size}")
        size = int(desc.shape[axis])
    bounds = [0]
    for done in range(1, len(workload) + 1):
        bounds.append(round(size * sum(workload[:done]) / sum(workload)))
    if size >= 0 and any(begin >= end for begin, end in pairwise(bounds)):
        raise ValueError(f"a batch of {size} is too small for {len(workload)} devices")
    return size, [slice(begin, end) for begin, end in pairwise(bounds)]


def _storage_types(symbol: Any) -> dict[str, str]:
    """The storage types that variables were given."""
    kinds = {"0": "default", "1": "row_sparse", "2": "csr"}
    attrs = symbol.attr_dict()
    return {name: kinds[given["__storage_type__"]] for name, given in attrs.items() if "__storage_type__" in given}


def _reused(
    pool: Mapping[str, Any], name: str, shape: tuple[int, ...], dtype: Any, ctx: Context, stype: str = "default"
) -> NDArray:
    found = pool.get(name)
    if found is not None and found.shape == shape:
        return found  # type: ignore[no-any-return]
    return nd.zeros(shape, ctx, dtype=dtype or "float32", stype=stype)


def _merged(arrays: Sequence[Sequence[NDArray]], axes: Sequence[int]) -> list[NDArray]:
    """One array from those of the devices: joined along the batch axis, the first one where there is none."""
    merged = []
    for parts, axis in zip(arrays, axes):
        if axis < 0 or len(parts) == 1:
            merged.append(parts[0])
        else:
            first = parts[0].context
            merged.append(nd.concat(*[part.as_in_context(first) for part in parts], dim=axis))
    return merged
