"""The handwritten digits of the examples, and the loop that trains a classifier on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from reporting import batches

import autohybrid as mx
from autohybrid import autograd, gluon

_FILE = Path(__file__).parent / "data" / "digits.npz"
_TEST = 297


def load() -> tuple[gluon.data.ArrayDataset, gluon.data.ArrayDataset]:
    """Training and test samples: images (1, 8, 8) of 0 to 1, labels 0 to 9."""
    with np.load(_FILE) as stored:
        images = (stored["images"].astype("float32") / 16)[:, None]
        labels = stored["labels"].astype("float32")
    return (
        gluon.data.ArrayDataset(images[:-_TEST], labels[:-_TEST]),
        gluon.data.ArrayDataset(images[-_TEST:], labels[-_TEST:]),
    )


def train_classifier(
    make_net: Callable[[], gluon.HybridBlock], hybridize: bool, epochs: int, limit: int, seed: int
) -> list[float]:
    """Train a network of ten outputs; gives the loss of each batch and prints the accuracy on the test samples."""
    mx.random.seed(seed)
    np.random.seed(seed)
    train_data, test_data = load()
    net = make_net()
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})
    loader = gluon.data.DataLoader(train_data, batch_size=50, shuffle=True)
    losses = []
    for epoch in range(epochs):
        samples = iter(loader)
        for _ in batches(min(limit or len(loader), len(loader)), f"epoch {epoch + 1}"):
            images, labels = next(samples)
            with autograd.record():
                loss = loss_function(net(images), labels)
            loss.backward()
            trainer.step(len(images))
            losses.append(float(loss.mean().asscalar()))
    accuracy = mx.metric.Accuracy()
    for images, labels in gluon.data.DataLoader(test_data, batch_size=99):
        accuracy.update(labels, net(images))
    print(f"accuracy on {len(test_data)} test images: {accuracy.get()[1]:.3f}")
    return losses
