"""What is known of names outside the project: the blocks of gluon, and where `mx.nd`, `mx.sym` and `F` live.

Owns canonical names and the table of library blocks. `autohybrid` is spelt like `mxnet`, so both mean the same here.
Nothing is imported: a name is known or it is `External`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from autohybrid.analysis.values import External, Namespace, Operator, Value


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """A block class of the library. `returns`: tensor, pair (a cell: output and states), layer (a fused recurrent
    layer: a pair when states are given), children (whatever the last child gives), function (what the wrapped function
    gives), unknown. `size`: the keyword that, when missing or 0, leaves a parameter shape open."""

    name: str
    hybrid: bool
    returns: str = "tensor"
    size: str = ""
    container: bool = False


def _layers(names: str, hybrid: bool = True, **facts: object) -> dict[str, BlockFacts]:
    return {name: BlockFacts(name, hybrid, **facts) for name in names.split()}  # type: ignore[arg-type]


LIBRARY_BLOCKS: Mapping[str, BlockFacts] = MappingProxyType(
    {
        **_layers("HybridBlock", returns="unknown"),
        **_layers("Block", hybrid=False, returns="unknown"),
        **_layers("SymbolBlock", returns="unknown"),
        **_layers("Dense", size="in_units"),
        **_layers("Conv1D Conv2D Conv3D", size="in_channels"),
        **_layers("Conv1DTranspose Conv2DTranspose Conv3DTranspose", size="in_channels"),
        **_layers("DeformableConvolution ModulatedDeformableConvolution", size="in_channels"),
        **_layers("BatchNorm BatchNormReLU SyncBatchNorm LayerNorm InstanceNorm GroupNorm", size="in_channels"),
        **_layers("Activation Dropout Embedding Flatten LeakyReLU PReLU ELU SELU GELU SiLU Swish Identity"),
        **_layers("MaxPool1D MaxPool2D MaxPool3D AvgPool1D AvgPool2D AvgPool3D ReflectionPad2D"),
        **_layers("GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D"),
        **_layers("PixelShuffle1D PixelShuffle2D PixelShuffle3D"),
        **_layers("HybridSequential", returns="children", container=True),
        **_layers("Sequential", hybrid=False, returns="children", container=True),
        **_layers("HybridConcurrent", container=True),
        **_layers("Concurrent", hybrid=False, container=True),
        **_layers("HybridLambda", returns="function"),
        **_layers("Lambda", hybrid=False, returns="function"),
        **_layers("SparseEmbedding", hybrid=False),
        **_layers("RNNCell LSTMCell GRUCell LSTMPCell", returns="pair", size="input_size"),
        **_layers("ZoneoutCell ResidualCell DropoutCell VariationalDropoutCell ModifierCell", returns="pair"),
        **_layers("HybridSequentialRNNCell HybridRecurrentCell", returns="pair", container=True),
        **_layers("SequentialRNNCell RecurrentCell", hybrid=False, returns="pair", container=True),
        **_layers("BidirectionalCell", returns="pair"),
        **_layers("Conv1DRNNCell Conv2DRNNCell Conv3DRNNCell Conv1DLSTMCell Conv2DLSTMCell", returns="pair"),
        **_layers("Conv3DLSTMCell Conv1DGRUCell Conv2DGRUCell Conv3DGRUCell", returns="pair"),
        **_layers("RNN LSTM GRU", returns="layer", size="input_size"),
        **_layers("Loss", returns="unknown"),
        **_layers("L1Loss L2Loss SigmoidBCELoss SigmoidBinaryCrossEntropyLoss SoftmaxCELoss SoftmaxCrossEntropyLoss"),
        **_layers("KLDivLoss CTCLoss HuberLoss HingeLoss SquaredHingeLoss LogisticLoss TripletLoss PoissonNLLLoss"),
        **_layers("CosineEmbeddingLoss SDMLLoss"),
    }
)

MODEL_ZOO = BlockFacts("model of the zoo", hybrid=True, returns="tensor")
_SUB_NAMESPACES = frozenset("contrib linalg random sparse image op _internal np npx".split())
_ARRAY_CLASSES = frozenset("NDArray CSRNDArray RowSparseNDArray BaseSparseNDArray".split())
_GRAPH_CLASSES = frozenset("Symbol".split())
_ROOTS = MappingProxyType({"nd": "nd", "ndarray": "nd", "sym": "sym", "symbol": "sym", "np": "np", "npx": "npx"})


def external(dotted: str) -> Value:
    """The value of a full dotted name outside the project.

    >>> external("autohybrid.nd.relu")
    Operator(root='nd', name='relu')
    """
    root, _, rest = dotted.partition(".")
    if root == "autohybrid":
        root = "mxnet"
    if root != "mxnet" or not rest:
        return External(f"{root}.{rest}" if rest else root)
    head, _, tail = rest.partition(".")
    if head == "random" and tail:
        return Operator("nd", f"random.{tail}")
    if head not in _ROOTS:
        return External(f"mxnet.{rest}")
    value: Value = Namespace(_ROOTS[head])
    for part in tail.split(".") if tail else ():
        value = attribute_of_library(value, part)
    return value


def attribute_of_library(value: Value, name: str) -> Value:
    """The attribute `name` of a namespace or of an external name."""
    if isinstance(value, Namespace):
        return namespace_attribute(value, name)
    if isinstance(value, External):
        return external(f"{value.name}.{name}")
    raise TypeError(f"{value!r} is no name of a library")


def namespace_attribute(space: Namespace, name: str) -> Value:
    """`F.name`, `mx.nd.name` and the like: a sub-namespace, a class or an operator."""
    dotted = f"{space.path}.{name}" if space.path else name
    if name in _ARRAY_CLASSES:
        return External("mxnet.nd.NDArray")
    if name in _GRAPH_CLASSES:
        return External("mxnet.sym.Symbol")
    if name in _SUB_NAMESPACES or (space.root in ("nd", "sym") and name in _ROOTS and not space.path):
        if name in _ROOTS and name not in ("np", "npx"):
            return space
        return Namespace(space.root, dotted)
    return Operator(space.root, dotted)


def find_library_block(dotted: str) -> BlockFacts | None:
    """The facts of a block class by its full dotted name, wherever in `mxnet.gluon` it is taken from."""
    if not dotted.startswith("mxnet.") or ".data." in dotted:
        return None
    return LIBRARY_BLOCKS.get(dotted.rpartition(".")[2])
