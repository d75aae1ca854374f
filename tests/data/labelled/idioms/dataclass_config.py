import dataclasses

from mxnet import gluon


@dataclasses.dataclass
class Config:
    steps: int = 3
    rate: float = 0.5
    residual: bool = True


class Net(gluon.HybridBlock):
    def __init__(self, config=None, **kwargs):
        super().__init__(**kwargs)
        self.config = config or Config()

    def hybrid_forward(self, F, x):
        for step in range(self.config.steps):
            y = F.tanh(x * (step + 1) * self.config.rate)
            x = x + y if self.config.residual else y
        return x
