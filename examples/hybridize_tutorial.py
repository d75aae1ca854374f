"""The hybridize tutorial of Gluon, from the first layer to the limits, with `import autohybrid as mx`.

Run it: `python examples/hybridize_tutorial.py`. It writes `my_mlp-symbol.json` and `my_mlp-0000.params` into the
current folder.
"""

from __future__ import annotations

import time
import warnings

import autohybrid as mx
from autohybrid import nd, sym
from autohybrid.gluon import HybridBlock, SymbolBlock, nn


def get_net() -> nn.HybridSequential:
    """A multilayer perceptron: 512 inputs, 256 and 128 hidden units, 2 outputs."""
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
    net.initialize()
    return net


def bench(net: nn.HybridSequential, x: mx.nd.NDArray, calls: int = 1000) -> float:
    """Microseconds for one call of the network."""
    net(x)
    nd.waitall()
    start = time.perf_counter()
    for _ in range(calls):
        net(x)
    nd.waitall()
    return (time.perf_counter() - start) / calls * 1e6


class HybridNet(HybridBlock):
    """Prints what it is given: arrays when imperative; once, stand-ins, when the graph is built; then nothing."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.hidden = nn.Dense(10)
        self.output = nn.Dense(2)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        print("F: ", getattr(F, "__name__", F))
        print("x: ", x)
        x = F.relu(self.hidden(x))
        print("hidden: ", x)
        return self.output(x)


class Limits(HybridBlock):
    """What the tutorial lists as impossible after `hybridize()`. autohybrid computes all but the last exactly."""

    def __init__(self, what: str, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.what = what

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if self.what == "indexing":
            return x[0, 0]
        if self.what == "dtype":
            return x * 2 if x.dtype == "float32" else x
        if self.what == "context":
            return x * 2 if x.context == mx.cpu() else x
        if self.what == "shape":
            return F.sum(x) / x.shape[0]
        if self.what == "item assignment":
            x = x * 1
            x[0] = 2
            return x
        if self.what == "in place":
            a, b = x * 1, x
            a += b
            return a
        if self.what == "slice assignment":
            a, b = x * 1, x
            a[:] = a + b
            return a
        return F.sum(x) * float(x.asnumpy().mean())


def main() -> None:
    """Walk through the tutorial."""
    mx.random.seed(0)
    x = nd.random.normal(shape=(1, 512))
    net = get_net()
    before = net(x)
    print("imperative:", before)
    print(f"  {bench(net, x):.1f} us a call")
    net.hybridize()
    print("hybridized:", net(x))
    print(f"  {bench(net, x):.1f} us a call; largest difference {abs(net(x) - before).max().asscalar():.1e}")

    net.export("my_mlp")
    loaded = SymbolBlock.imports("my_mlp-symbol.json", ["data"], "my_mlp-0000.params")
    print("exported, imported:", loaded(x))

    y = net(sym.var("data"))
    print("symbolic:", y, y.list_arguments())
    print("shapes:", y.infer_shape(data=(4, 512))[1])

    net = HybridNet()
    net.initialize()
    x = nd.ones_like(nd.array([[1, 2, 3]]))
    print("\n== an imperative call prints arrays")
    net(x)
    net.hybridize()
    print("\n== the first hybridized call builds the graph and prints stand-ins")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        net(x)
    print("\n== further calls print nothing")
    net(x)

    print("\n== the limits")
    show_limits()


def show_limits() -> None:
    """Hybridize each limitation; print its finding, and whether the result equals the imperative one."""
    x = nd.array([[1, 2, 3], [4, 5, 6]])
    kinds = ["indexing", "dtype", "context", "shape", "item assignment", "in place", "slice assignment", "asnumpy"]
    for what in kinds:
        block = Limits(what)
        expected = block(x)
        block.hybridize()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mx.HybridizeWarning)
            try:
                same = (block(x).asnumpy() == expected.asnumpy()).all()
            except mx.HybridizeError as error:
                print(f"{what:16} refused: {str(error).splitlines()[0]}")
            else:
                print(f"{what:16} hybridized equals imperative: {same}")
    findings = mx.check(__file__)
    print(f"\nautohybrid check {__file__.rpartition('/')[2]}: {len(findings)} findings; the first:\n")
    print(findings[0].message, "-", findings[0].help)


if __name__ == "__main__":
    main()
