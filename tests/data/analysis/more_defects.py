"""Further blocks with defects, mostly through objects, helpers and library functions."""
import itertools
import logging
import operator
import random
from collections import namedtuple

import mxnet as mx
import numpy as np
import scipy.special
from mxnet import gluon
from mxnet.gluon import HybridBlock, nn

log = logging.getLogger(__name__)
COUNTER = itertools.count()
Pair = namedtuple("Pair", "left right")


class Counter:
    def __init__(self):
        self.n = 0
        self.seen = []

    def step(self):
        self.n += 1  # AH302
        self.seen.append(self.n)  # AH302
        return self.n


class UsesCounter(HybridBlock):
    total = 0

    def __init__(self):
        super().__init__()
        self.counter = Counter()
        self.names = iter(["a", "b"])
        self.rng = np.random.RandomState(0)

    def hybrid_forward(self, F, x):
        n = self.counter.step()
        type(self).total += 1  # AH303
        UsesCounter.total = 3  # AH303
        i = next(COUNTER)  # AH303
        name = next(self.names)  # AH302
        r = self.rng.uniform()  # AH505
        log.info("step %d", n)  # AH306
        return x * n * r


class Special(HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        a = y.__getitem__(0)  # AH105
        y.__iadd__(1)  # AH109
        n = y.__len__()  # AH502
        b = operator.getitem(y, 1)  # AH104
        c = scipy.special.erf(y)  # AH204
        d = list(itertools.islice(y, 2))  # AH501
        e = [*y]  # AH501
        f = sorted([y, x * 2])  # AH405
        g = F.broadcast_mul(y, np.ones((1, 3)))  # AH710
        h = mx.np.exp(y)  # AH703
        return y + b


class Given(HybridBlock):
    def hybrid_forward(self, F, x, training, steps, shape):  # AH610
        if training:
            x = F.Dropout(x)
        for _ in range(steps):
            x = F.relu(x)
        return x.reshape(shape=shape) * 2


class Cell(HybridBlock):
    def hybrid_forward(self, F, x, pair):
        return F.tanh(x + pair.left) * pair.right  # AH113


class Switch(HybridBlock):
    def hybrid_forward(self, F, x):
        n = getattr(x, "shape", (1,))[0]  # AH512
        y = F.relu(x) if isinstance(x, mx.nd.NDArray) else F.tanh(x)  # AH511
        return y / n


class Aux(HybridBlock):
    def __init__(self, mode="plain", use_head=False):
        super().__init__()
        self.mode, self.use_head = mode, use_head
        with self.name_scope():
            self.body = nn.Dense(4)
            self.aux = nn.Dense(2)  # AH602
            self.head = nn.Conv2D(8, 3)  # AH602

    def hybrid_forward(self, F, x):
        y = self.body(x)
        if self.mode == "aux":
            y = self.aux(y)
        if not self.use_head:
            return y
        return self.head(y)


class NoNamespace(HybridBlock):
    def hybrid_forward(self, x):  # AH604
        return x


def update(store, value):
    store["last"] = value


class Chain(HybridBlock):
    def __init__(self):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Dense(3), nn.Activation("relu"))
        self.acts = [nn.Activation("tanh"), nn.Dense(2)]

    def features(self, F, x):
        for layer in self.body:
            x = layer(x)
        return x

    def hybrid_forward(self, F, x):
        y = self.features(F, x)
        z = self.body(y)
        for act in self.acts:
            z = act(z)
        if z.sum() > 0:  # AH401
            z = z + y.shape[0]  # AH101
        return z[:, 0]  # AH104


class ByKind(HybridBlock):
    def __init__(self, kind="mean"):
        super().__init__()
        self.pool = {"mean": self.mean, "max": self.max}[kind]

    def mean(self, F, x):
        return F.mean(x, axis=1)

    def max(self, F, x):
        return x.max(axis=1).asscalar()  # AH201

    def hybrid_forward(self, F, x):
        return self.pool(F, x)


class Nested(HybridBlock):
    def hybrid_forward(self, F, x):
        def scale(t, by=2):
            def inner(u):
                u += by  # AH109
                return u

            return inner(t)

        y = scale(F.relu(x))
        fns = [lambda t: t.shape, lambda t: t * 2]  # AH101
        outs = [fn(y) for fn in fns]
        return y


class Walrus(HybridBlock):
    def hybrid_forward(self, F, x):
        if (total := x.sum()) > 0:  # AH401
            x = x / total  # AH504
        y = F.relu(x)
        match y.ndim:  # AH101
            case 2:
                y = y * 2
            case _:
                y = y * 3
        return y if (n := len(y)) else y * n  # AH502


class Keyword(HybridBlock):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3)
        self.loss = gluon.loss.L2Loss()

    def hybrid_forward(self, F, x, label):
        y = self.fc(x=x)  # AH609
        return self.loss(y, label=label)  # AH609


class WithObject(HybridBlock):
    def hybrid_forward(self, F, x):
        return Pair(F.relu(x), x * 2)  # AH605


class SameShape(HybridBlock):
    """Sums that keep their axes, against tensors of the shape of what was summed."""

    def hybrid_forward(self, F, x):
        unit = x / F.sqrt(F.sum(x * x, axis=1, keepdims=True))  # AH504
        normed = F.tanh(x) / F.norm(x, axis=1, keepdims=True)  # AH504
        soft = F.exp(x) / F.sum(F.exp(x), axis=-1, keepdims=True)  # AH504
        y = F.relu(x)
        y -= F.mean(x, axis=1, keepdims=True)  # AH109
        z = F.relu(x)
        z = z - F.mean(x, axis=1, keepdims=True)  # AH504
        best = (x * 2).relu() == F.argmax(x, axis=1, keepdims=True)  # AH504
        kept = F.max(x, axis=1, keepdims=True) - F.min(x, axis=1, keepdims=True)
        pooled = F.Pooling(x, kernel=(2, 2)) - F.sum(x, axis=1)
        return unit, normed, soft, y, z, best, kept, pooled


class Ignored(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.relu(x, axis=1) + F.where(x, x, x, how=1)  # AH707
