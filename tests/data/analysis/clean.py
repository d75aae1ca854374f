"""Blocks that look like mistakes and are fine: no line has a finding."""
import functools
import itertools
import math
import operator
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import mxnet as mx
import numpy as np
from mxnet import gluon
from mxnet.gluon import HybridBlock, nn, rnn

TABLE = np.arange(6).reshape(2, 3)
SIZES = {"small": 1, "large": 2}
Config = namedtuple("Config", ["units", "act"])


@dataclass
class Options:
    shape: tuple = (2, 3)
    dtype: str = "float32"
    size: int = 3

    def copy(self):
        return Options(self.shape)


class Shape:
    """An object of its own with the names of a tensor."""

    shape = (1, 2)
    dtype = "x"
    context = "train"

    def asnumpy(self):
        return 1

    def __len__(self):
        return 3


class OwnNames(HybridBlock):
    def __init__(self, options=None, config=None):
        super().__init__()
        self.options = options or Options()
        self.helper = Shape()
        self.shape = (0, -1)
        self.size = 4

    def hybrid_forward(self, F, x):
        n = self.helper.asnumpy() + len(self.helper) + self.options.copy().size
        if self.helper.context == "train" and self.options.dtype == "float32":
            x = F.cast(x, self.options.dtype)
        rows, cols = self.options.shape
        return x.reshape(self.shape) * n * rows + TABLE.shape[0] + float(TABLE[0, 1]) + self.size


class Lists(HybridBlock):
    def hybrid_forward(self, F, x, states):
        h, c = states
        outs = [h, c]
        outs.append(F.relu(x))
        outs[0] = outs[0] + x
        outs[-1] = F.tanh(outs[-1])
        outs.insert(0, x * 2)
        last = outs.pop()
        new = outs + [last]
        for i, t in enumerate(new):
            new[i] = t * i
        total = sum(new) + functools.reduce(operator.add, new)
        more = list(itertools.chain(new, [total]))
        by_name = OrderedDict((str(i), t) for i, t in enumerate(more))
        by_name["extra"] = x * 3
        return F.concat(*by_name.values(), dim=0), [h * 2, c * 2]


class Splits(HybridBlock):
    def __init__(self, parts=3):
        super().__init__()
        self.parts = parts

    def hybrid_forward(self, F, x):
        a, b = F.split(x, num_outputs=2, axis=1)
        parts = F.split(a, num_outputs=self.parts, axis=0)
        first = parts[0]
        for p in parts:
            first = first + p
        n = len(F.split(b, num_outputs=4, axis=1))
        values, indices = F.topk(x, k=2, ret_typ="both")
        stacked = F.stack(*F.split(x, num_outputs=2, axis=1))
        return first * n, values, stacked


class Optional(HybridBlock):
    def hybrid_forward(self, F, x, mask=None, bias=None, mode="train"):
        if mask is not None and bias is not None:
            x = x * mask + bias
        elif mask is None:
            x = F.relu(x)
        if mode == "train":
            x = F.Dropout(x)
        y = x if bias is None else x + bias
        return y if mask is None else F.where(mask, y, F.zeros_like(y))


class Flags(HybridBlock):
    def __init__(self, act="relu", use_bn=True, layers=2, scale=None):
        super().__init__()
        self._act, self._layers, self._scale = act, layers, scale
        with self.name_scope():
            self.body = nn.HybridSequential()
            for i in range(layers):
                self.body.add(nn.Dense(4))
                if use_bn:
                    self.body.add(nn.BatchNorm())
            self.bn = nn.BatchNorm() if use_bn else None
            for i in range(2):
                setattr(self, f"fc{i}", nn.Dense(3))
            self.stack = [nn.Dense(2) for _ in range(2)]
            for layer in self.stack:
                self.register_child(layer)

    def hybrid_forward(self, F, x):
        x = self.body(x)
        if self.bn:
            x = self.bn(x)
        if self._scale is not None:
            x = x * self._scale
        for i in range(2):
            x = getattr(self, f"fc{i}")(x)
        for layer in self.stack:
            x = layer(x)
        for child in self.body:
            x = child(x)
        for name, child in self._children.items():
            if name.startswith("z"):
                x = child(x)
        x = self.body[0](x)
        while self._layers > 5:
            break
        if not self._layers or len(self.stack) > 3:
            raise ValueError(f"bad {self._layers}")
        return F.Activation(x, act_type=self._act) if self._act else x


class Cells(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.cell = rnn.LSTMCell(3, input_size=3)
            self.layer = rnn.GRU(3, input_size=3)

    def hybrid_forward(self, F, x, states):
        out, states = self.cell(x, states)
        seq, hidden = self.layer(F.expand_dims(out, axis=0), [states[0]])
        return F.squeeze(seq, axis=0), hidden[0] * 2


class Numbers(HybridBlock):
    def __init__(self, units, ratio=0.5, name_of="a"):
        super().__init__()
        self.units = int(units * ratio)
        self.eps = float(np.finfo("float32").eps)
        self.mean = np.float32(0.4)

    def hybrid_forward(self, F, x):
        n = max(self.units, 1)
        m = min(n, 8) + round(1.4) + abs(-2) + divmod(7, 2)[0]
        k = math.sqrt(n) * math.pi + np.sqrt(4.0)
        terms = [x ** i for i in range(1, 4)]
        y = F.add_n(*terms) / k + self.eps - self.mean
        flags = 0
        flags |= 2
        flags += m
        name = "act"
        name += "_x"
        return F.relu(y, name=name) * flags


class Eager(gluon.Block):
    def __init__(self):
        super().__init__()
        self.d = nn.Dense(3)

    def forward(self, x):
        y = self.d(x)
        y += 1
        y[0] = 0
        if y.sum().asscalar() > 0:
            return y[:, 0]
        return mx.nd.relu(y).reshape(y.shape[0], -1)


class Guarded(HybridBlock):
    def hybrid_forward(self, F, x):
        if isinstance(x, mx.nd.NDArray):
            assert x.shape[0] > 0
        if not isinstance(x, mx.sym.Symbol):
            assert float(x.max().asscalar()) < 1e6
        if hasattr(F, "no_such_operator"):
            x = F.no_such_operator(x)
        try:
            act = getattr(F, "not_there")
        except AttributeError:
            act = F.relu
        return act(x) if isinstance(x, mx.sym.Symbol) else act(x)


class Pool(HybridBlock):
    def hybrid_forward(self, F, x, kind, axis):
        return F.mean(x, axis=axis) if kind == "mean" else F.max(x, axis=axis)


class UsesPool(HybridBlock):
    def __init__(self):
        super().__init__()
        self.pool = Pool()
        self.half = nn.HybridLambda(lambda F, x: F.slice_axis(x, axis=1, begin=0, end=2))

    def hybrid_forward(self, F, x):
        return self.pool(self.half(x), "mean", 1) + self.pool(x, "max", 1)


class Outside(HybridBlock):
    """Around the graph everything is allowed."""

    calls = 0

    def __init__(self):
        super().__init__()
        print("made")
        Outside.calls += 1
        self.n = 0

    def __call__(self, x):
        self.n += 1
        return super().__call__(x)

    def predict(self, x):
        y = self(x.as_in_context(mx.cpu()))
        y[0] = 0
        return y.asnumpy(), y.shape

    def __repr__(self):
        return "{}".format(self.n)

    def hybrid_forward(self, F, x):
        return F.softmax(x)


class Recursive(HybridBlock):
    def walk(self, F, x, depth):
        if depth == 0:
            return x * 2
        return F.relu(self.walk(F, x, depth - 1))

    def pieces(self, x, n):
        for i in range(n):
            yield x * i

    def hybrid_forward(self, F, x, *rest):
        y = self.walk(F, x, 3)
        for piece in self.pieces(y, 2):
            y = y + piece
        for extra in rest:
            y = y + extra
        return F.concat(y, *[F.relu(p) for p in self.pieces(y, 3)], dim=1)


class Settled(HybridBlock):
    """A field that gets the same value at every call, texts about tensors, and lists under plural names."""

    def __init__(self):
        super().__init__()
        self._mode = None

    def hybrid_forward(self, F, x, skips, pyramid_levels):
        self._mode = "built"
        if len(skips) > 3:
            raise ValueError("got %s and %d" % (x, len(skips)))
        text = "shape of %s" % x
        for skip in skips:
            x = x + skip
        top, bottom = pyramid_levels
        return F.concat(x, top, *skips[1:]) + bottom


class Sampler(HybridBlock):
    """Distributions take tensors where other operators take attributes."""

    def hybrid_forward(self, F, loc, scale):
        noise = F.random.normal(loc=loc, scale=scale)
        return F.where(loc > scale, noise, F.broadcast_power(loc, scale))
