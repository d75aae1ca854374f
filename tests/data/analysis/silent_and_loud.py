"""Blocks with defects. `# AHnnn` at the end of a line names what is found there; no other line has a finding."""
import functools
import itertools
import json
import logging
import math
import operator
import os
import random
import time
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from mxnet import ndarray as arrays
from mxnet.gluon import HybridBlock, nn, rnn
from mxnet.gluon.nn import Dense

COUNTS = {"calls": 0}
HISTORY = []
STEP = 0


class Attention(HybridBlock):
    def __init__(self, units, heads, **kwargs):
        super().__init__(**kwargs)
        self._units, self._heads = units, heads
        with self.name_scope():
            self.query = Dense(units, flatten=False)
            self.key = Dense(units, flatten=False)

    def _split(self, F, t):
        batch, length = t.shape[0], t.shape[1]  # AH101
        return t.reshape((batch, length, self._heads, -1))

    def hybrid_forward(self, F, x, mask=None):
        q, k = self._split(F, self.query(x)), self._split(F, self.key(x))
        score = F.batch_dot(q, k, transpose_b=True) / math.sqrt(self._units)
        if mask is not None:
            score = F.where(mask, score, F.ones_like(score) * -1e9)
        weights = F.softmax(score)
        if weights.max() > 0.99:  # AH401
            weights = weights * 0.9
        return F.batch_dot(weights, k)


class LastState(HybridBlock):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = rnn.LSTM(hidden)
        self.out = nn.Dense(2)

    def hybrid_forward(self, F, tokens):
        hidden = self.lstm(tokens)
        return self.out(hidden[-1])  # AH104


class Stats(HybridBlock):
    def hybrid_forward(self, F, data):
        centred = data - F.mean(data)  # AH504
        largest = centred.abs().max()
        print("largest", largest)  # AH301
        scale = float(largest)  # AH202
        return centred * scale


class InPlace(HybridBlock):
    def hybrid_forward(self, F, x, y):
        total = F.zeros_like(x)
        total += x  # AH109
        both = [total, y]
        both[1] *= 2  # AH109
        state = {"h": F.tanh(y)}
        state["h"] -= 1  # AH109
        return total + state["h"]


class Mutation(HybridBlock):
    def __init__(self):
        super().__init__()
        self.seen = []
        self.table = {}

    def hybrid_forward(self, F, x):
        global STEP
        STEP = STEP + 1  # AH303
        COUNTS["calls"] += 1  # AH303
        HISTORY.append(1)  # AH303
        self.seen.append(x)  # AH302
        self.table["x"] = 1  # AH302
        setattr(self, "last", x)  # AH302
        return F.relu(x)


class Frozen(HybridBlock):
    def hybrid_forward(self, F, x):
        if np.random.rand() > 0.5:  # AH505
            x = x * 2
        start = time.time()  # AH506
        noise = random.gauss(0, 1)  # AH505
        order = [0, 1]
        random.shuffle(order)  # AH505
        train = autograd.is_training()  # AH507
        return F.relu(x) * noise if train else F.relu(x) + start


class Loops(HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        out = []
        for i, row in enumerate(y):  # AH501
            out.append(row * i)
        first, second = y  # AH503
        n = len(y)  # AH502
        pairs = list(zip(y, F.tanh(x)))  # AH501
        rows = [r + 1 for r in y]  # AH501
        best = max(y, first)  # AH405
        while F.norm(y) > 1:  # AH402
            y = y / 2
        return F.concat(*out, dim=0) + n


class Logic(HybridBlock):
    def hybrid_forward(self, F, x, y):
        a = F.sum(x)
        b = F.sum(y)
        both = a > 0 and b > 0  # AH403
        none = not (a > 1)  # AH403
        assert a < b, "ordered"  # AH404
        picked = x * 2 if a > b else y  # AH401
        kept = [t for t in (F.relu(x), F.relu(y)) if t.sum() > 0]  # AH401
        inside = 0 < a < 1  # AH403
        return picked


class Host(HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.sigmoid(x)
        numbers = y.asnumpy()  # AH201
        one = y.max().asscalar()  # AH201
        whole = int(y.sum())  # AH202
        text = "{:.2f}".format(y.mean().asscalar())  # AH201
        root = math.sqrt(F.sum(y))  # AH203
        big = np.maximum(y, 0)  # AH204
        return y * one


class Namespaces(HybridBlock):
    def __init__(self):
        super().__init__()
        self.table = mx.nd.array([[1, 2], [3, 4]])

    def hybrid_forward(self, F, x):
        a = nd.relu(x)  # AH703
        b = mx.nd.concat(x, x, dim=1)  # AH703
        c = arrays.softmax(x)  # AH703
        d = F.dot(x, self.table)  # AH704
        e = F.relu(x) + mx.nd.ones((2, 2))  # AH704
        op = mx.nd
        f = op.tanh(x)  # AH703
        return a + b + c + d + e + f


class Names(HybridBlock):
    def hybrid_forward(self, F, x, y):
        a = F.concatenate([x, y], axis=0)  # AH701
        b = F.add(x, y)  # AH701
        c = F.contrib.isinf(x)  # AH701
        d = F.moveaxis(x, 0, 1)  # AH701
        e = x.view((2, -1))  # AH113
        f = F.relu(x).item()  # AH113
        g = x.T  # AH112
        h = F.tanh(x).astype("float32", copy=False)  # AH712
        i = F.transpose(x, axis=(1, 0))  # AH707
        j = F.concat(x, y, axis=1)  # AH707
        return a + b


class Shapes(HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        a = y.reshape(y.shape[0], -1)  # AH101 AH116
        b = y.reshape(-1, 4)  # AH116
        c = F.zeros(shape=y.shape)  # AH101
        d = y.astype(x.dtype)  # AH102
        e = F.ones((2,), ctx=y.context)  # AH103
        f = y.size  # AH101
        g = len(y.shape)  # AH101
        return a


class Slices(HybridBlock):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def hybrid_forward(self, F, x):
        y = F.relu(x)
        a = y[0]  # AH105
        b = y[1:]  # AH104
        c = y[..., 0]  # AH104
        d = y[:, None]  # AH104
        e = y[y > 0]  # AH104
        f = y[self.n]  # AH104
        g = y[0:1]  # AH105
        y[:, 0] = 1  # AH108
        y[0] += 2  # AH108
        z = F.split(y, num_outputs=2, axis=1)[-1]  # AH107
        t = F.topk(y, k=2)[0]  # AH106
        return a


State = namedtuple("State", "h c")


@dataclass
class Batch:
    data: object
    mask: object = None
    extra: list = field(default_factory=list)


def measure(batch):
    return batch.data.shape[1]  # AH101


class Carriers(HybridBlock):
    def hybrid_forward(self, F, x):
        s = State(F.relu(x), F.tanh(x))
        n = s.h.shape[0]  # AH101
        b = Batch(F.relu(x), extra=[x])
        m = measure(b)
        nested = {"a": {"b": [F.sigmoid(x)]}}
        k = nested["a"]["b"][0].ndim  # AH101
        ordered = OrderedDict([("x", F.relu(x))])
        j = ordered["x"].shape  # AH101
        first, *others = [F.relu(x), F.tanh(x)]
        w = others[0].asnumpy()  # AH201
        return first * n * m


def apply(fn, *args):
    return fn(*args)


def width(t):
    return t.shape[1]  # AH101


def norm_value(t):
    def inner(u):
        return u.asscalar()  # AH201

    return inner(t.norm())


class Helpers(HybridBlock):
    @staticmethod
    def rows(t):
        return len(t)  # AH502

    @classmethod
    def dtype_of(cls, t):
        return t.dtype  # AH102

    @property
    def scale(self):
        return 2

    def hybrid_forward(self, F, x):
        y = F.relu(x)
        a = apply(width, y)
        b = norm_value(y)
        c = self.rows(y)
        d = self.dtype_of(y)
        grow = functools.partial(operator.iadd, y)
        e = (lambda t: t.ndim)(y)  # AH101
        f = list(map(lambda t: t.context, [y]))  # AH103
        return y * self.scale * a


class Swish(gluon.Block):
    def forward(self, x):
        return x * nd.sigmoid(x)  # AH703


class Inner(HybridBlock):
    def forward(self, x):
        return x.reshape((x.shape[0], -1))  # AH101


class Outer(HybridBlock):
    def __init__(self):
        super().__init__()
        self.acts = [Swish()]
        self.by_name = {"swish": Swish()}
        with self.name_scope():
            self.inner = Inner()
            self.plain = nn.Sequential()  # AH601
            self.body = nn.HybridSequential()
            self.body.add(nn.Lambda("relu"))  # AH601
            self.own = Swish()  # AH601

    def hybrid_forward(self, F, x):
        for act in self.acts:
            x = act(x)
        return self.inner(self.by_name["swish"](x))


class Gain(HybridBlock):
    def __init__(self, units):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(units, 4))
            self.bias = self.params.get("bias", shape=(1, units))
            self.extra = self.params.get("extra", shape=(units,))

    def hybrid_forward(self, F, x, weight, bias):  # AH603
        value = self.weight.data()  # AH207
        y = F.dot(x, value)  # AH704
        z = F.dot(x, self.weight)  # AH706
        return y + bias  # AH504


class Results(HybridBlock):
    def hybrid_forward(self, F, x, state=None):
        y = F.relu(x)
        if state is None:
            return {"y": y}  # AH605
        return y, None  # AH606


class Constant(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.ones((2, 2)) * 3  # AH607


class Unchanged(HybridBlock):
    def hybrid_forward(self, F, x, y):
        return F.relu(x) + y, x  # AH608


class Scopes(HybridBlock):
    def hybrid_forward(self, F, x):
        with autograd.pause():  # AH508
            y = F.softmax(x)
        z = y.detach()  # AH206
        c = z.copy()  # AH205
        m = z.as_in_context(mx.cpu())  # AH205
        return x * z


class Base(HybridBlock):
    def hybrid_forward(self, F, x):
        return self.step(F, F.relu(x))

    def step(self, F, x):
        raise NotImplementedError


class Derived(Base):
    def step(self, F, x):
        return x[1]  # AH104


class Called(Base):
    def hybrid_forward(self, F, x):
        return super().hybrid_forward(x)  # AH604


def loop_body(F, x):
    counter = [0]

    def body(step, states):
        counter[0] += 1  # AH308
        return step * 2, states

    return F.contrib.foreach(body, x, [])[0]


class Scan(HybridBlock):
    def hybrid_forward(self, F, x):
        return loop_body(F, F.relu(x))


class Hooks(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.body = nn.Dense(3)
        self.body.register_forward_hook(lambda block, inputs, output: None)  # AH309

    def hybrid_forward(self, F, x):
        return self.body(x)


class Kinds(HybridBlock):
    def hybrid_forward(self, F, x, states):
        if isinstance(states, tuple):  # AH510
            x = x + states[0]
        if F is mx.nd:  # AH511
            x = x * 2
        return F.relu(x)


lambda_net = nn.HybridLambda(lambda F, x: nd.relu(x))  # AH703
