"""An LSTM that learns to write like the sonnets: `python examples/train_lstm_language_model.py`.

It predicts each character from those before it; the state is carried from one batch to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reporting import batches, run

import autohybrid as mx
from autohybrid import autograd, gluon, nd
from autohybrid.gluon import nn, rnn

_TEXT = Path(__file__).parent / "data" / "sonnets.txt"
_ROWS, _LENGTH = 16, 24


class LanguageModel(gluon.HybridBlock):
    """Characters (time, rows) and a state to scores (time, rows, characters) and the next state."""

    def __init__(self, characters: int, width: int = 64, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(characters, width)
            self.lstm = rnn.LSTM(width, input_size=width)
            self.scores = nn.Dense(characters, flatten=False, in_units=width)

    def hybrid_forward(self, F: Any, x: Any, state: Any) -> Any:
        outputs, state = self.lstm(self.embedding(x), state)
        return self.scores(outputs), state


def load() -> tuple[nd.NDArray, int]:
    """The text as numbers, cut into parallel rows: (time, rows); and how many different characters there are."""
    text = _TEXT.read_text(encoding="utf-8")
    characters = sorted(set(text))
    codes = np.array([characters.index(c) for c in text], dtype="float32")
    length = len(codes) // _ROWS
    return nd.array(codes[: length * _ROWS].reshape(_ROWS, length).T), len(characters)


def train(hybridize: bool, epochs: int, limit: int, seed: int) -> list[float]:
    """The mean loss a character of each batch."""
    mx.random.seed(seed)
    text, characters = load()
    net = LanguageModel(characters)
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss(batch_axis=1)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    weights = [p for p in net.collect_params().values() if p.grad_req != "null"]
    count = (len(text) - 1) // _LENGTH
    losses = []
    for epoch in range(epochs):
        state = net.lstm.begin_state(batch_size=_ROWS)
        for number in batches(min(limit or count, count), f"epoch {epoch + 1}"):
            start = number * _LENGTH
            inputs, wanted = text[start : start + _LENGTH], text[start + 1 : start + 1 + _LENGTH]
            state = [s.detach() for s in state]
            with autograd.record():
                scores, state = net(inputs, state)
                loss = loss_function(scores, wanted)
            loss.backward()
            gluon.utils.clip_global_norm([w.grad() for w in weights], 5.0 * _ROWS)
            trainer.step(_ROWS)
            losses.append(float(loss.mean().asscalar()))
    return losses


def main(argv: Sequence[str] | None = None) -> list[list[float]]:
    """Train as the command line says."""
    return run("Train an LSTM language model on sonnets.", train, argv, epochs=10)


if __name__ == "__main__":
    main()
