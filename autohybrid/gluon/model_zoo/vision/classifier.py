"""What the image classifiers share: `features` (a HybridSequential) followed by `output`."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.containers import HybridSequential


class Classifier(HybridBlock):
    """`(N, 3, H, W)` images to `(N, classes)` scores: `output(features(x))`."""

    features: HybridSequential
    output: Any

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.output(self.features(x))


def with_parameters(net: HybridBlock, pretrained: bool, name: str, ctx: Any, root: str | None) -> Any:
    """`net`, loaded with the published parameters of `name` if `pretrained`."""
    if pretrained:
        from autohybrid.gluon.model_zoo.model_store import get_model_file

        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net


def variant(make: Any, name: str, doc: str, *fixed: Any, **settings: Any) -> Any:
    """A public constructor such as `resnet18_v1(**kwargs)`: `make(*fixed, **settings, **kwargs)` under a name."""

    def function(**kwargs: Any) -> Any:
        return make(*fixed, **{**kwargs, **settings})

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = make.__module__
    return function
