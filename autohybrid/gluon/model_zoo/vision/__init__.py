"""`gluon.model_zoo.vision`: image classifiers. `get_model(name)` makes one by its name."""

from __future__ import annotations

import difflib
from typing import Any

from autohybrid.gluon.model_zoo.vision.alexnet import *  # noqa: F403 - each module lists its public names
from autohybrid.gluon.model_zoo.vision.densenet import *  # noqa: F403
from autohybrid.gluon.model_zoo.vision.inception import *  # noqa: F403
from autohybrid.gluon.model_zoo.vision.mobilenet import *  # noqa: F403
from autohybrid.gluon.model_zoo.vision.resnet import *  # noqa: F403
from autohybrid.gluon.model_zoo.vision.squeezenet import *  # noqa: F403
from autohybrid.gluon.model_zoo.vision.vgg import *  # noqa: F403

#: Published name -> the function above that makes the model, where the two differ.
_RENAMED = {
    "squeezenet1.0": "squeezenet1_0", "squeezenet1.1": "squeezenet1_1", "inceptionv3": "inception_v3",
    "mobilenet1.0": "mobilenet1_0", "mobilenet0.75": "mobilenet0_75", "mobilenet0.5": "mobilenet0_5",
    "mobilenet0.25": "mobilenet0_25", "mobilenetv2_1.0": "mobilenet_v2_1_0", "mobilenetv2_0.75": "mobilenet_v2_0_75",
    "mobilenetv2_0.5": "mobilenet_v2_0_5", "mobilenetv2_0.25": "mobilenet_v2_0_25",
}  # fmt: skip
_NAMES = (
    "alexnet", "densenet121", "densenet161", "densenet169", "densenet201", "resnet18_v1", "resnet34_v1",
    "resnet50_v1", "resnet101_v1", "resnet152_v1", "resnet18_v2", "resnet34_v2", "resnet50_v2", "resnet101_v2",
    "resnet152_v2", "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn", *_RENAMED,
)  # fmt: skip


def get_model(name: str, **kwargs: Any) -> Any:
    """The model `name` ('resnet18_v1', 'mobilenet1.0'...); `kwargs` as its function takes them.

    Raises ValueError for an unknown name.
    """
    name = name.lower()
    if name not in _NAMES:
        close = difflib.get_close_matches(name, _NAMES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"no model is named {name!r}{hint}; there are {', '.join(sorted(_NAMES))}")
    return globals()[_RENAMED.get(name, name)](**kwargs)
