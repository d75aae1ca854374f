"""Blocks, parameters, names and files."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any

import numpy as np

from recorded.support import described, fill, ramp, ready


def _net(mx: Any, **kwargs: Any) -> Any:
    """A block with a parameter and a constant of its own, and children in and outside its name scope."""
    gluon = mx.gluon

    class Net(gluon.HybridBlock):
        def __init__(self, **kw: Any) -> None:
            super().__init__(**kw)
            with self.name_scope():
                self.first = gluon.nn.Dense(3, in_units=2)
                self.scale = self.params.get("scale", shape=(1, 3), init="ones")
                self.shift = self.params.get_constant("shift", mx.nd.array([[1, 2, 3]]))
                self.inner = gluon.nn.HybridSequential()
                with self.inner.name_scope():
                    self.inner.add(gluon.nn.Dense(3, in_units=3), gluon.nn.BatchNorm(in_channels=3))
            self.last = gluon.nn.Dense(2, in_units=3, prefix="last_")

        def hybrid_forward(self, F: Any, x: Any, scale: Any, shift: Any) -> Any:
            x = F.broadcast_add(F.broadcast_mul(self.first(x), scale), shift)
            return self.last(self.inner(x))

    return Net(**kwargs)


def _names(mx: Any) -> Any:
    net = _net(mx, prefix="net_")
    return [described(net), list(net.collect_params(".*gamma|net_scale")), list(net.params), repr(net.params)]


def _shared_prefix(mx: Any) -> Any:
    a = _net(mx, prefix="a_")
    b = _net(mx, prefix="b_", params=a.collect_params())
    return [list(b.collect_params()), b.first.weight is a.first.weight, b.last.weight is a.last.weight]


def _counters(mx: Any) -> Any:
    nn = mx.gluon.nn
    with mx.name.NameManager():
        a, b = nn.Dense(1), nn.Dense(1)
        with a.name_scope():
            c, d = nn.Dense(1), nn.Conv2D(1, 1)
        with mx.name.Prefix("pre_"):
            e = nn.Dense(1)
        f = nn.LeakyReLU(0.1)
        g = nn.Dense(1, activation="tanh")
    return [block.prefix for block in (a, b, c, d, e, f, g, g.act)]


def _saved(mx: Any, use: Any) -> Any:
    handle, path = tempfile.mkstemp()
    os.close(handle)
    try:
        return use(path)
    finally:
        os.remove(path)


def _round_trip(mx: Any) -> Any:
    a, b = _net(mx, prefix="a_"), _net(mx, prefix="b_")
    ready(mx, a, ramp(mx, 2, 2))

    def use(path: str) -> Any:
        a.save_parameters(path)
        b.load_parameters(path)
        return [sorted(mx.nd.load(path)), b(ramp(mx, 2, 2)), a(ramp(mx, 2, 2))]

    return _saved(mx, use)


def _deduplicated(mx: Any) -> Any:
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2))
    net.add(nn.Dense(2, in_units=2, params=net[0].params))
    net.initialize()
    fill(mx, net)

    def use(path: str) -> Any:
        net.save_parameters(path, deduplicate=True)
        names = sorted(mx.nd.load(path))
        net.load_parameters(path)
        return [names, net(ramp(mx, 1, 2))]

    return _saved(mx, use)


def _load(**options: Any) -> Any:
    """Load a file with one parameter too many and one too few."""

    def run(mx: Any) -> Any:
        nn = mx.gluon.nn
        net = nn.HybridSequential()
        net.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
        net.initialize(mx.init.Zero())

        def use(path: str) -> Any:
            mx.nd.save(path, {"0.weight": mx.nd.ones((2, 2)), "0.bias": mx.nd.ones((2,)), "2.weight": mx.nd.ones((1,))})
            net.load_parameters(path, **options)
            return [p.data() for p in net.collect_params().values()]

        return _saved(mx, use)

    return run


def _load_dtype(**options: Any) -> Any:
    def run(mx: Any) -> Any:
        net = mx.gluon.nn.Dense(2, in_units=2, use_bias=False)

        def use(path: str) -> Any:
            mx.nd.save(path, {"weight": mx.nd.ones((2, 2), dtype="float64")})
            net.load_parameters(path, **options)
            return [str(np.dtype(net.weight.dtype)), net.weight.data()]

        return _saved(mx, use)

    return run


def _stripped(mx: Any) -> Any:
    net = mx.gluon.nn.Dense(2, in_units=1, prefix="q_")
    net.initialize(mx.init.One())

    def use(path: str) -> Any:
        net.collect_params().save(path, strip_prefix="q_")
        names = sorted(mx.nd.load(path))
        net.collect_params().load(path, restore_prefix="q_")
        return names

    return _saved(mx, use)


def _exported(mx: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = ready(mx, _net(mx, prefix="net_"), ramp(mx, 2, 2))
        net.hybridize()
        before = net(ramp(mx, 2, 2))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            net.export(path, epoch=7)
            files = sorted(os.listdir(folder))
            names = sorted(mx.nd.load(path + "-0007.params"))
            block = mx.gluon.SymbolBlock.imports(path + "-symbol.json", ["data"], path + "-0007.params")
            after = block(ramp(mx, 2, 2))
    return [before, files, names, after, sorted(block.collect_params())]


def _hooks(mx: Any) -> Any:
    log: list[str] = []
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(1, in_units=1), mx.gluon.nn.Activation("relu"))
    net.initialize()
    pre = net[0].register_forward_pre_hook(lambda block, inputs: log.append(f"before {type(block).__name__}"))
    net[1].register_forward_hook(lambda block, inputs, output: log.append(f"after {len(inputs)} {output.shape}"))
    net(mx.nd.ones((2, 1)))
    pre.detach()
    net(mx.nd.ones((3, 1)))
    visited: list[str] = []
    net.apply(lambda block: visited.append(type(block).__name__))
    return [log, visited]


def _cast(mx: Any) -> Any:
    net = _net(mx)
    ready(mx, net, ramp(mx, 2, 2))
    net.cast("float64")
    return [net(ramp(mx, 2, 2, dtype="float64")), [str(np.dtype(p.dtype)) for p in net.collect_params().values()]]


def _batch_norm_cast(mx: Any) -> Any:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(2, in_units=2), mx.gluon.nn.BatchNorm(in_channels=2))
    net.initialize()
    net.cast("float16")
    return [str(np.dtype(p.dtype)) for p in net.collect_params().values()]


def _requests(mx: Any) -> Any:
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    net.collect_params().setattr("grad_req", "add")
    x = mx.nd.array([[1, 2]])
    for _ in range(2):
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()
    added = net.weight.grad().copy()
    net.collect_params().zero_grad()
    zeroed = net.weight.grad().copy()
    net.weight.grad_req = "null"
    return [added, zeroed, net.bias.grad_req, net.weight.grad_req]


def _deferred(mx: Any) -> Any:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(2, 3), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(3), mx.gluon.nn.LayerNorm())
    net.initialize(mx.init.One())
    before = [p.shape for p in net.collect_params().values()]
    net(mx.nd.ones((1, 2, 5, 5)))
    return [before, [p.shape for p in net.collect_params().values()]]


def _inferred(mx: Any) -> Any:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv1D(2, 3), mx.gluon.nn.GroupNorm(2), mx.gluon.nn.Dense(3), mx.gluon.nn.PReLU())
    net.infer_shape(mx.nd.ones((1, 2, 5)))
    net.infer_type(mx.nd.ones((1, 2, 5)))
    parameters = net.collect_params().values()
    return [[p.shape for p in parameters], [str(np.dtype(p.dtype)) for p in parameters]]


def _own_deferred(mx: Any) -> Any:
    class Scale(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.scale = self.params.get("scale", shape=(0, 0), init="ones", allow_deferred_init=True)
            self.table = self.params.get("table", shape=(4, 0), init="ones", allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, scale: Any, table: Any) -> Any:
            return F.FullyConnected(x * scale, table, num_hidden=4, no_bias=True)

    net = Scale()
    net.initialize()
    y = net(mx.nd.ones((2, 3)))
    return [y, net.scale.shape, net.table.shape]


def _summary(mx: Any) -> Any:
    import contextlib
    import io

    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3, in_units=2), mx.gluon.nn.BatchNorm(in_channels=3))
    net.add(mx.gluon.nn.Dense(2, in_units=3, params=None))
    net.initialize()
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        net.summary(mx.nd.ones((4, 2)))
    return text.getvalue()


def _parameter(mx: Any) -> Any:
    p = mx.gluon.Parameter("p", shape=(2, 0), allow_deferred_init=True, lr_mult=2.0, wd_mult=0.5, init="ones")
    p.initialize()
    shown = [repr(p), p.lr_mult, p.wd_mult, [str(c) for c in p.list_ctx()]]
    p.shape = (2, 3)
    p.set_data(ramp(mx, 2, 3))
    q = mx.gluon.Parameter("q", shape=3, dtype="float64", init=mx.init.Constant(2))
    q.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    q.set_data(mx.nd.array([1, 2, 3]))
    per_device = [q.data(mx.cpu(1)), q.grad(mx.cpu(0)), len(q.list_data()), len(q.list_grad())]
    q.reset_ctx(mx.cpu(2))
    return [shown, p.shape, per_device, [str(c) for c in q.list_ctx()], q.data(), q.var().name]


def _parameter_dict(mx: Any) -> Any:
    first = mx.gluon.ParameterDict("a_")
    first.get("w", shape=(0, 3), dtype="float32")
    first.get("w", shape=(2, 0))
    first.get_constant("c", mx.nd.array([1, 2]))
    second = mx.gluon.ParameterDict("b_", shared=first)
    second.get("w", shape=(1,))
    merged = mx.gluon.ParameterDict()
    merged.update(first)
    merged.update(second)
    first.initialize(mx.init.One())
    return [repr(first), list(merged), first["a_w"].data(), [p.grad_req for p in first.values()], "a_w" in first]


def _sequential_slices(mx: Any) -> Any:
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="s_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=2), nn.Activation("relu"), nn.Dense(1, in_units=2))
    part = net[:2]
    return [type(part).__name__, len(part), part[0] is net[0], net[-1].name, part.prefix, [b.name for b in net]]


def _symbol_block(mx: Any) -> Any:
    data = mx.sym.var("data")
    hidden = mx.sym.FullyConnected(data, num_hidden=3, name="a")
    out = mx.sym.Group([mx.sym.Activation(hidden, act_type="relu", name="b"), hidden * 2])
    block = mx.gluon.SymbolBlock(out, data)
    block.initialize()
    x = ramp(mx, 2, 4)
    block(x)
    fill(mx, block)
    block.hybridize()
    return [
        block(x),
        [[name, p.shape] for name, p in block.collect_params().items()],
        [o.list_outputs() for o in block(data)],
    ]


def _traced(mx: Any) -> Any:
    net = _net(mx, prefix="net_")
    graph = net(mx.sym.var("x"))
    return [graph.list_arguments(), graph.list_auxiliary_states(), graph.list_outputs()]


def _raises(name: str) -> Any:
    def run(mx: Any) -> Any:
        gluon = mx.gluon
        net = gluon.nn.Dense(2, in_units=3)
        match name:
            case "not_initialized":
                return net(mx.nd.ones((1, 3)))
            case "wrong_width":
                net.initialize()
                return net(mx.nd.ones((1, 4)))
            case "deferred_data":
                other = gluon.nn.Dense(2)
                other.initialize()
                return other.weight.data()
            case "mixed_inputs":
                return gluon.contrib.nn.HybridConcurrent()(mx.nd.ones((1,)), mx.sym.var("a"))
            case "no_tensor":
                return gluon.contrib.nn.Identity()(3)
            case "attribute_type":
                block = gluon.nn.HybridSequential()
                block.child = net
                block.child = 3
            case "parameter_twice":
                net.weight = net.params.get("weight")
            case "same_names":
                a, b = gluon.nn.Dense(1, prefix="x_"), gluon.nn.Dense(1, prefix="x_")
                stack = gluon.nn.Sequential()
                stack.add(a, b)
                return stack.collect_params()
            case "other_device":
                net.initialize()
                return net.weight.data(mx.cpu(3))
            case "grad_of_null":
                net.initialize()
                net.weight.grad_req = "null"
                return net.weight.grad()
            case "wrong_set_data":
                net.initialize()
                net.weight.set_data(mx.nd.ones((1, 1)))
            case "reset_before_init":
                net.collect_params().reset_ctx(mx.cpu())
            case "unknown_constant":
                net.params.get_constant("none")
            case "export_too_early":
                net.initialize()
                net.export("never")
            case "bad_grad_req":
                net.weight.grad_req = "sometimes"
            case "bad_stype":
                gluon.Parameter("p", stype="dense")
            case "summary_hybridized":
                net.initialize()
                net.hybridize()
                net.summary(mx.nd.ones((1, 3)))
            case "save_without_prefix":
                net.initialize()
                net.collect_params().save("never", strip_prefix="zzz")
            case "no_forward":
                return gluon.Block()(mx.nd.ones((1,)))
            case "no_hybrid_forward":
                return gluon.HybridBlock()(mx.nd.ones((1,)))
        return None

    return run


CASES: dict[str, Any] = {
    "names": _names,
    "shared": _shared_prefix,
    "counters": _counters,
    "round_trip": _round_trip,
    "deduplicated": _deduplicated,
    "load_strict": _load(),
    "load_allow_missing": _load(allow_missing=True),
    "load_ignore_extra": _load(ignore_extra=True),
    "load_permissive": _load(allow_missing=True, ignore_extra=True),
    "load_other_dtype": _load_dtype(),
    "load_cast_current": _load_dtype(cast_dtype=True),
    "load_cast_saved": _load_dtype(cast_dtype=True, dtype_source="saved"),
    "load_bad_source": _load_dtype(cast_dtype=True, dtype_source="other"),
    "stripped": _stripped,
    "exported": _exported,
    "hooks": _hooks,
    "cast": _cast,
    "batch_norm_cast": _batch_norm_cast,
    "requests": _requests,
    "deferred": _deferred,
    "inferred": _inferred,
    "own_deferred": _own_deferred,
    "summary": _summary,
    "parameter": _parameter,
    "parameter_dict": _parameter_dict,
    "sequential_slices": _sequential_slices,
    "symbol_block": _symbol_block,
    "traced": _traced,
}
for _name in (
    "not_initialized", "wrong_width", "deferred_data", "mixed_inputs", "no_tensor", "attribute_type",
    "parameter_twice", "same_names", "other_device", "grad_of_null", "wrong_set_data", "reset_before_init",
    "unknown_constant", "export_too_early", "bad_grad_req", "bad_stype", "summary_hybridized", "save_without_prefix",
    "no_forward", "no_hybrid_forward",
):  # fmt: skip
    CASES[f"raises_{_name}"] = _raises(_name)
