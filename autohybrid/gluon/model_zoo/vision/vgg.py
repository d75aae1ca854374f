"""VGG (Simonyan and Zisserman 2014): stacks of 3 x 3 convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, variant, with_parameters
from autohybrid.optim.initializer import Xavier

__all__ = [
    "VGG", "get_vgg", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn",
]  # fmt: skip

_FILTERS = [64, 128, 256, 512, 512]
#: Number of layers -> (convolutions in each stack, their filters).
vgg_spec = {
    11: ([1, 1, 2, 2, 2], _FILTERS),
    13: ([2, 2, 2, 2, 2], _FILTERS),
    16: ([2, 2, 3, 3, 3], _FILTERS),
    19: ([2, 2, 4, 4, 4], _FILTERS),
}


class VGG(Classifier):
    """`layers[i]` convolutions with `filters[i]` channels, then pooling, for each i; three dense layers at the end."""

    def __init__(
        self,
        layers: Sequence[int],
        filters: Sequence[int],
        classes: int = 1000,
        batch_norm: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise AssertionError(f"{len(layers)} stacks of layers need as many filter counts, not {len(filters)}")
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation="relu", weight_initializer="normal"), nn.Dropout(rate=0.5))
            self.output = nn.Dense(classes, weight_initializer="normal")

    def _make_features(self, layers: Sequence[int], filters: Sequence[int], batch_norm: bool) -> nn.HybridSequential:
        stack = nn.HybridSequential(prefix="")
        for count, channels in zip(layers, filters):
            for _ in range(count):
                init = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                stack.add(nn.Conv2D(channels, kernel_size=3, padding=1, weight_initializer=init))
                if batch_norm:
                    stack.add(nn.BatchNorm())
                stack.add(nn.Activation("relu"))
            stack.add(nn.MaxPool2D(strides=2))
        return stack


def get_vgg(num_layers: int, pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any) -> VGG:
    """VGG with 11, 13, 16 or 19 layers; `batch_norm=True` for the variants with BatchNorm."""
    layers, filters = vgg_spec[num_layers]
    suffix = "_bn" if kwargs.get("batch_norm") else ""
    net = VGG(layers, filters, **kwargs)
    return with_parameters(net, pretrained, f"vgg{num_layers}{suffix}", ctx, root)  # type: ignore[no-any-return]


vgg11 = variant(get_vgg, "vgg11", "VGG with 11 layers.", 11)
vgg13 = variant(get_vgg, "vgg13", "VGG with 13 layers.", 13)
vgg16 = variant(get_vgg, "vgg16", "VGG with 16 layers.", 16)
vgg19 = variant(get_vgg, "vgg19", "VGG with 19 layers.", 19)
vgg11_bn = variant(get_vgg, "vgg11_bn", "VGG with 11 layers and BatchNorm.", 11, batch_norm=True)
vgg13_bn = variant(get_vgg, "vgg13_bn", "VGG with 13 layers and BatchNorm.", 13, batch_norm=True)
vgg16_bn = variant(get_vgg, "vgg16_bn", "VGG with 16 layers and BatchNorm.", 16, batch_norm=True)
vgg19_bn = variant(get_vgg, "vgg19_bn", "VGG with 19 layers and BatchNorm.", 19, batch_norm=True)
