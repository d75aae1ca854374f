"""Records what MXNet 1.9.1 answers, for the tests of training. Run with a Python that has MXNet: `python record.py`.

Writes `facts.json` and the binary files beside it. The tests read these; they need no MXNet.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import random
import warnings
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

HERE = Path(__file__).parent
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
DRAW = np.random.RandomState(7)


def plain(value):
    if isinstance(value, nd.NDArray):
        value = value.asnumpy()
    if isinstance(value, np.ndarray):
        return {
            "dtype": value.dtype.name,
            "shape": list(value.shape),
            "values": [repr(float(v)) for v in value.ravel()],
        }
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


# -- optimizers: (constructor, dtype, keyword arguments) -> weights and state after each of four updates ---------------
OPTIMIZERS = [
    ("SGD", "float32", {"learning_rate": 0.1, "momentum": 0.7, "wd": 0.03}),
    ("SGD", "float16", {"learning_rate": 0.1, "momentum": 0.7, "wd": 0.03, "multi_precision": True}),
    ("SGD", "float64", {"learning_rate": 0.1, "clip_gradient": 0.2}),
    ("NAG", "float32", {"learning_rate": 0.1, "momentum": 0.6, "wd": 0.1}),
    ("NAG", "float16", {"learning_rate": 0.1, "momentum": 0.6, "wd": 0.1, "multi_precision": True}),
    ("NAG", "float32", {"learning_rate": 0.1}),
    ("Signum", "float32", {"learning_rate": 0.02, "momentum": 0.5, "wd": 0.01, "wd_lh": 0.1}),
    ("DCASGD", "float32", {"learning_rate": 0.1, "lamda": 0.2, "wd": 0.02}),
    ("Adam", "float32", {"learning_rate": 0.05, "wd": 0.1, "clip_gradient": 0.5}),
    ("Adam", "float16", {"learning_rate": 0.05, "multi_precision": True}),
    ("Adamax", "float32", {"wd": 0.05}),
    ("Nadam", "float32", {"wd": 0.05, "rescale_grad": 0.5}),
    ("FTML", "float32", {"learning_rate": 0.1, "wd": 0.02}),
    ("AdaGrad", "float32", {"eps": 1e-4, "wd": 0.1, "clip_gradient": 0.3}),
    ("RMSProp", "float32", {"gamma1": 0.8, "clip_weights": 0.9}),
    ("RMSProp", "float32", {"centered": True, "gamma2": 0.6, "wd": 0.1}),
    ("AdaDelta", "float32", {"rho": 0.8, "wd": 0.02}),
    ("Ftrl", "float32", {"lamda1": 0.05, "wd": 0.1}),
    ("LAMB", "float32", {"learning_rate": 0.05, "wd": 0.1, "upper_bound": 0.7}),
    ("LAMB", "float16", {"learning_rate": 0.05, "wd": 0.1, "multi_precision": True}),
    ("LARS", "float32", {"learning_rate": 0.2, "momentum": 0.5, "eta": 0.1, "wd": 0.01}),
    ("LARS", "float16", {"learning_rate": 0.2, "momentum": 0.5, "eta": 0.1, "multi_precision": True}),
    ("LBSGD", "float32", {"learning_rate": 0.1, "momentum": 0.5, "batch_scale": 2, "updates_per_epoch": 2}),
    ("LBSGD", "float32", {"learning_rate": 0.1, "warmup_strategy": "lars"}),
    ("contrib.GroupAdaGrad", "float32", {"learning_rate": 0.1}),
    ("Test", "float32", {"rescale_grad": 0.5}),
]


def state_arrays(state):
    if isinstance(state, (list, tuple)):
        return [array for part in state for array in state_arrays(part)]
    return [] if state is None else [state]


def optimizers():
    facts = []
    for name, dtype, settings in OPTIMIZERS:
        klass = mx.optimizer
        for part in name.split("."):
            klass = getattr(klass, part)
        weight, grads = DRAW.randn(2, 3).astype(dtype), [DRAW.randn(2, 3).astype(dtype) for _ in range(4)]
        updater = mx.optimizer.get_updater(klass(**settings))
        w, steps = nd.array(weight, dtype=dtype), []
        for grad in grads:
            updater(0, nd.array(grad, dtype=dtype), w)
            steps.append([plain(w), plain(state_arrays(updater.states[0]))])
        facts.append(
            {
                "name": name,
                "dtype": dtype,
                "settings": settings,
                "weight": plain(weight),
                "grads": plain(grads),
                "steps": steps,
            }
        )
    return facts


# -- schedules ---------------------------------------------------------------------------------------------------------
SCHEDULES = [
    ("FactorScheduler", {"step": 3, "factor": 0.3, "stop_factor_lr": 0.02, "base_lr": 0.7}),
    ("FactorScheduler", {"step": 1, "factor": 0.9, "base_lr": 1.0, "warmup_steps": 4, "warmup_begin_lr": 0.2}),
    ("MultiFactorScheduler", {"step": [2, 5, 6], "factor": 0.5, "base_lr": 0.3}),
    ("PolyScheduler", {"max_update": 9, "base_lr": 0.4, "pwr": 3, "final_lr": 0.01}),
    (
        "CosineScheduler",
        {"max_update": 7, "base_lr": 0.6, "final_lr": 0.1, "warmup_steps": 2, "warmup_mode": "constant"},
    ),
]


def schedules():
    return [
        {"name": name, "settings": settings, "rates": [float(s(t)) for t in range(12)]}
        for name, settings in SCHEDULES
        for s in [getattr(mx.lr_scheduler, name)(**settings)]
    ]


# -- losses ------------------------------------------------------------------------------------------------------------
def losses():
    p, y = DRAW.randn(3, 4).astype("float32"), DRAW.randn(3, 4).astype("float32")
    positive = np.abs(y) + 0.1
    binary, sign = (y > 0).astype("float32"), np.sign(y)
    classes = np.array([2, 0, 3], "float32")
    weight = np.array([[0.5], [2.0], [0.0]], "float32")
    log_p = p - np.log(np.exp(p).sum(1, keepdims=True))
    cases = [
        ("L2Loss", {}, [p, y]), ("L2Loss", {"weight": 3.0, "batch_axis": 1}, [p, y]), ("L1Loss", {"weight": 0.5}, [p, y, weight]),
        ("HuberLoss", {"rho": 0.7}, [p, y, weight]), ("SigmoidBCELoss", {}, [p, binary, weight]),
        ("SigmoidBCELoss", {}, [p, binary, None, np.array([[1, 2, 3, 4]], "float32")]),
        ("SigmoidBCELoss", {"from_sigmoid": True}, [1 / (1 + np.exp(-p)), binary]),
        ("SoftmaxCELoss", {}, [p, classes]), ("SoftmaxCELoss", {"sparse_label": False}, [p, binary, weight]),
        ("SoftmaxCELoss", {"from_logits": True, "weight": 2.0}, [log_p, classes]),
        ("KLDivLoss", {}, [log_p, positive]), ("KLDivLoss", {"from_logits": False}, [p, positive, weight]),
        ("HingeLoss", {"margin": 0.5}, [p, sign]), ("SquaredHingeLoss", {}, [p, sign, weight]),
        ("LogisticLoss", {}, [p, sign]), ("LogisticLoss", {"label_format": "binary"}, [p, binary]),
        ("TripletLoss", {"margin": 2}, [p, y, DRAW.randn(3, 4).astype("float32")]),
        ("PoissonNLLLoss", {}, [p, np.abs(np.round(y * 2))]), ("PoissonNLLLoss", {"from_logits": False}, [positive, binary]),
        ("CosineEmbeddingLoss", {"margin": 0.1}, [p, y, np.array([1, -1, 1], "float32")]),
        ("SDMLLoss", {"smoothing_parameter": 0.2}, [p, y]),
    ]  # fmt: skip
    facts = []
    for name, settings, inputs in cases:
        arrays = [None if x is None else nd.array(x) for x in inputs]
        arrays[0].attach_grad()
        with autograd.record():
            loss = getattr(gluon.loss, name)(**settings)(*arrays)
        loss.backward()
        facts.append(
            {
                "name": name,
                "settings": settings,
                "inputs": plain(inputs),
                "loss": plain(loss),
                "grad": plain(arrays[0].grad),
            }
        )
    return facts


# -- metrics -----------------------------------------------------------------------------------------------------------
def metrics():
    scores = DRAW.rand(6, 3).astype("float32")
    scores /= scores.sum(1, keepdims=True)
    classes, labels = DRAW.randint(0, 3, 6).astype("float32"), DRAW.randint(0, 3, 6).astype("float32")
    binary, pair = DRAW.randint(0, 2, 6).astype("float32"), scores[:, :2].copy()
    numbers, others = DRAW.randn(6).astype("float32"), DRAW.randn(6).astype("float32")
    cases = [
        ("acc", {}, labels, scores), ("acc", {}, labels, classes), ("top_k_accuracy", {"top_k": 2}, labels, scores),
        ("f1", {}, binary, pair), ("f1", {"average": "micro"}, binary, pair), ("mcc", {}, binary, pair),
        ("mcc", {"average": "micro"}, binary, pair), ("pcc", {}, labels, scores), ("mae", {}, numbers, others),
        ("mse", {}, numbers, others), ("rmse", {}, numbers, others), ("ce", {}, labels, scores), ("nll_loss", {"eps": 1e-3}, labels, scores),
        ("perplexity", {"ignore_label": 1}, labels, scores), ("pearsonr", {}, numbers, others),
        ("pearsonr", {"average": "micro"}, numbers, others), ("loss", {}, numbers, others),
    ]  # fmt: skip
    facts = []
    for name, settings, label, pred in cases:
        metric = mx.metric.create(name, **settings)
        seen = []
        for half in (slice(0, 4), slice(2, 6)):
            metric.update([nd.array(label[half])], [nd.array(pred[half])])
            seen.append([plain(metric.get()), plain(metric.get_global())])
        metric.reset_local()
        metric.update([nd.array(label)], [nd.array(pred)])
        seen.append([plain(metric.get()), plain(metric.get_global())])
        facts.append(
            {
                "name": name,
                "settings": settings,
                "label": plain(label),
                "pred": plain(pred),
                "seen": json.loads(json.dumps(seen)),
                "text": str(metric),
            }
        )
    return facts


# -- initializers that draw nothing, and the description of those that do ---------------------------------------------
def initializers():
    facts = {"fixed": [], "dumps": []}
    for text, shape in (
        ("Bilinear()", [2, 1, 4, 4]),
        ("Bilinear()", [1, 2, 3, 5]),
        ("LSTMBias(0.25)", [12]),
        ("Constant(-1.5)", [2, 2]),
    ):
        array = nd.zeros(tuple(shape))
        eval("mx.init." + text)(mx.init.InitDesc("x_weight"), array)  # noqa: S307
        facts["fixed"].append({"call": text, "shape": shape, "value": plain(array)})
    for mode, size in (("lstm", 2 * 4 * 3 * (5 + 3 + 2) + 2 * 4 * 3 * (6 + 3 + 2)), ("gru", 3 * 3 * (5 + 3 + 2))):
        layers, both = (2, True) if mode == "lstm" else (1, False)
        array = nd.zeros((size,)) - 7
        init = mx.init.FusedRNN(mx.init.Constant(0.5), 3, layers, mode, both, 2.0)
        init(mx.init.InitDesc("rnn_weight", {}, mx.init.Zero()), array)
        facts["fixed"].append(
            {
                "call": f"FusedRNN(Constant(0.5), 3, {layers}, {mode!r}, {both}, 2.0)",
                "shape": [size],
                "value": plain(array),
            }
        )
    for text in (
        "Xavier()",
        "Xavier('gaussian', 'in', 2)",
        "MSRAPrelu('out', 0.1)",
        "Orthogonal()",
        "Normal(0.3)",
        "Uniform()",
        "LSTMBias()",
    ):
        facts["dumps"].append([text, eval("mx.init." + text).dumps()])  # noqa: S307
    return facts


# -- files -------------------------------------------------------------------------------------------------------------
def files():
    magic = bytes([0x0A, 0x23, 0xD7, 0xCE])
    payloads = [b"", b"a", b"abcd" + magic + b"tail", magic, b"x" + magic + b"y", bytes(range(256)) * 3, magic * 3]
    record = mx.recordio.MXIndexedRecordIO(str(HERE / "sample.idx"), str(HERE / "sample.rec"), "w")
    for key, payload in enumerate(payloads):
        record.write_idx(key * 10, payload)
    record.close()
    headers = [mx.recordio.pack((0, 2.5, 7, 1), b"body"), mx.recordio.pack((0, [1.0, 2.0, 3.0], 8, 0), b"rest")]
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    x = nd.array([[1, 2, 3], [4, 5, 6]])
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1, "wd": 0.01})
    after = []
    for number in range(4):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(2)
        if number == 1:
            trainer.save_states(str(HERE / "adam.states"))
        after.append([plain(net.weight.data()), plain(net.bias.data())])
    encode = lambda raw: base64.b64encode(raw).decode()  # noqa: E731
    return {"payloads": [encode(p) for p in payloads], "packed": [encode(h) for h in headers], "adam": after}


def samplers():
    np.random.seed(3)
    order = [int(i) for i in gluon.data.RandomSampler(12)]
    rollover = gluon.data.BatchSampler(gluon.data.SequentialSampler(7), 3, "rollover")
    rounds = [[len(rollover), [[int(i) for i in b] for b in rollover]] for _ in range(3)]
    iterations = {}
    for handling in ("pad", "discard", "roll_over"):
        it = mx.io.NDArrayIter(
            {"b": np.arange(14).reshape(7, 2), "a": np.arange(7)}, np.arange(7) * 10, 3, last_batch_handle=handling
        )
        iterations[handling] = []
        for _ in range(3):
            it.reset()
            iterations[handling].append([[b.pad, plain(b.data), plain(b.label)] for b in it])
    return {"order": order, "rollover": rounds, "iterations": iterations}


if __name__ == "__main__":
    os.chdir(HERE)
    random.seed(0)
    facts = {
        "optimizers": optimizers(), "schedules": schedules(), "losses": losses(), "metrics": metrics(),
        "initializers": initializers(), "files": files(), "samplers": samplers(),
    }  # fmt: skip
    (HERE / "facts.json").write_text(json.dumps(facts, indent=0))
