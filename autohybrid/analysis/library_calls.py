"""Calls of names outside the project: NumPy, `math`, `random`, the clock, `autograd`, logging, gluon's own classes."""

from __future__ import annotations

import ast

from autohybrid.analysis.blocks import make_layer
from autohybrid.analysis.builtin_calls import BUILTINS, FUNCTIONS, call_operator_module
from autohybrid.analysis.calls import record_type
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.libraries import MODEL_ZOO, find_library_block
from autohybrid.analysis.methods import call_tensor_method, make_parameter
from autohybrid.analysis.subscripts import iterate
from autohybrid.analysis.values import (
    ANY,
    Layer,
    Map,
    Namespace,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    tensors_in,
)
from autohybrid.diagnostics.model import Confidence

_HANDED_OVER = frozenset(
    "sum prod max min amax amin clip squeeze argmax argmin mean round cumsum swapaxes transpose reshape repeat take "
    "sort argsort expand_dims".split()
)
_NUMPY_CLASSES = frozenset("float16 float32 float64 int8 int16 int32 int64 uint8 bool_ float_ int_".split())
_NUMPY_ARRAYS = frozenset(
    "array asarray zeros ones full arange linspace eye empty zeros_like ones_like concatenate stack meshgrid tile load "
    "hstack vstack".split()
)
_RANDOM_STATE = frozenset("seed setstate getstate set_state get_state".split())
_CLOCK = frozenset(
    "time.time time.perf_counter time.monotonic time.process_time time.time_ns datetime.datetime.now "
    "datetime.datetime.utcnow datetime.datetime.today os.urandom uuid.uuid4 uuid.uuid1".split()
)
_NUMERIC = frozenset({"scipy", "torch", "tensorflow", "cv2", "PIL", "pandas", "statistics", "cupy", "jax"})
_PASSING = frozenset({"islice", "cycle", "takewhile", "dropwhile", "accumulate"})
_FLAGS = frozenset({"is_training", "is_recording"})
_SCOPES = frozenset({"record", "pause", "train_mode", "predict_mode", "set_training", "set_recording"})
_AUTOGRAD_EFFECTS = frozenset({"backward", "grad", "mark_variables"})
_LOG_METHODS = frozenset("debug info warning error critical exception log".split())


def call_external(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """The result of calling a name outside the project."""
    root, _, rest = name.partition(".")
    if root == "builtins":
        handler = BUILTINS.get(rest)
        return handler(frame, arguments, node) if handler is not None else Unknown(f"result of `{rest}`")
    handler = FUNCTIONS.get(name)
    if handler is not None:
        return handler(frame, arguments, node)
    if root == "mxnet":
        return _call_mxnet(frame, name, arguments, node)
    if root == "numpy":
        return _call_numpy(frame, rest, arguments, node)
    if root == "math":
        return _call_math(frame, rest, arguments, node)
    if root in ("random", "secrets"):
        return _call_random(frame, name, rest, node)
    if root == "operator":
        return call_operator_module(frame, rest, arguments, node)
    if name in _CLOCK:
        frame.report(EventKind.RANDOM, node, name=name, source="clock", confidence=Confidence.DEFINITE)
        return Static("any")
    if name in ("collections.namedtuple", "typing.NamedTuple"):
        return record_type(arguments)
    if root == "itertools":
        return _call_itertools(frame, rest, arguments, node)
    if root in _NUMERIC:
        _check_numeric(frame, name, arguments, node)
    return _call_other(frame, name, node)


def _call_itertools(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    parts = [
        iterate(frame, value, node.args[place] if place < len(node.args) else node, name)
        for place, value in enumerate(arguments.positional)
        if isinstance(value, Tensor | Seq | Union)
    ]
    return Seq("iterator", None, Unknown("element") if len(parts) != 1 or name not in _PASSING else parts[0])


def _check_numeric(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> None:
    for place, value in enumerate(arguments.positional):
        tensor, certain = tensors_in(value)
        if tensor is not None and certain and tensor.graph and not tensor.listlike:
            subject = node.args[place] if place < len(node.args) else node
            frame.report(EventKind.FOREIGN, node, name=name, value=value, how="numpy", array=frame.text(subject))


def _call_other(frame: Frame, name: str, node: ast.Call) -> Value:
    if name.startswith("logging.") and name.rpartition(".")[2] in _LOG_METHODS:
        frame.report(EventKind.EFFECT, node, name="log", confidence=Confidence.LIKELY)
        return Static("none", None)
    if name == "logging.getLogger":
        return Static("logger")
    if name in ("sys.stdout.write", "sys.stderr.write", "pprint.pprint"):
        frame.report(EventKind.EFFECT, node, name="print", confidence=Confidence.LIKELY, tensor=False)
    return Unknown(f"result of `{name}`")


def _call_math(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    taint = ""
    for place, value in enumerate(arguments.positional):
        tensor, certain = tensors_in(value)
        if tensor is not None and certain and tensor.graph and not tensor.listlike:
            subject = node.args[place] if place < len(node.args) else node
            nodes = {"function": node.func} if len(node.args) == 1 else None
            frame.report(EventKind.CONVERT, node, name=f"math.{name}", value=value, subject=subject, nodes=nodes)
            taint = "shape"
        elif isinstance(value, Static):
            taint = taint or value.taint
    return Static("int" if name in ("ceil", "floor", "gcd", "comb") else "float", ANY, taint)


def _call_random(frame: Frame, name: str, rest: str, node: ast.Call) -> Value:
    if rest in ("Random", "SystemRandom", "RandomState", "default_rng", "Generator"):
        return Static("generator")
    if rest.rpartition(".")[2] in _RANDOM_STATE:
        return Unknown(f"result of `{name}`")
    frame.report(EventKind.RANDOM, node, name=name, source="random", confidence=Confidence.DEFINITE)
    if rest == "choice":
        return _chosen(frame, node)
    return Static("int" if rest in ("randint", "randrange", "getrandbits") else "any")


def _chosen(frame: Frame, node: ast.Call) -> Value:
    return iterate(frame, frame.eval(node.args[0]), node.args[0], "choice") if node.args else Unknown("choice")


# -- numpy ------------------------------------------------------------------------------------------------------------
def _call_numpy(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    if name.startswith("random."):
        return _call_random(frame, f"numpy.{name}", name.partition(".")[2], node)
    for place, value in enumerate(arguments.positional):
        tensor, certain = tensors_in(value)
        if tensor is None or not certain or not tensor.graph or tensor.listlike:
            continue
        if place == 0 and name in _HANDED_OVER and isinstance(node.func, ast.Attribute):
            rest = Arguments(arguments.positional[1:], arguments.keywords)
            return call_tensor_method(frame, tensor, "max" if name == "amax" else name, rest, node)
        subject = node.args[place] if place < len(node.args) else node
        frame.report(EventKind.FOREIGN, node, name=f"np.{name}", value=value, how="numpy", array=frame.text(subject))
        return Unknown("result of a NumPy function on a tensor")
    if name in _NUMPY_CLASSES or name in ("dtype", "finfo", "iinfo"):
        return Static("float" if name not in ("dtype", "finfo", "iinfo") else "any")
    if name in _NUMPY_ARRAYS:
        return Static("numpy")
    arrays = any(isinstance(value, Static) and value.type == "numpy" for value in arguments.all)
    if any(isinstance(value, Seq | Map | Unknown) for value in arguments.all) or arrays:
        return Static("any")
    return Static("float") if arguments.positional else Static("any")


# -- mxnet ------------------------------------------------------------------------------------------------------------
def _call_mxnet(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    facts = find_library_block(name)
    last = name.rpartition(".")[2]
    if facts is not None:
        return make_layer(frame, facts.name, arguments, node)
    if ".autograd." in name:
        return _call_autograd(frame, last, node)
    if name.startswith("mxnet.gluon.model_zoo"):
        return Layer(MODEL_ZOO)
    if last in ("cpu", "gpu", "cpu_pinned", "current_context", "Context"):
        return Static("context")
    if last in ("Parameter", "Constant") and ".gluon" in name:
        title = arguments.get(0, "name")
        text = str(title.const) if isinstance(title, Static) and title.const is not ANY else ""
        return make_parameter(text, arguments.keywords.get("shape"))
    if last == "NDArray" or name in ("mxnet.nd.array", "mxnet.nd.NDArray"):
        return Tensor(graph=False)
    if last == "split_and_load":
        return Seq("list", None, Tensor(graph=False))
    if last == "getF":
        return Namespace("F")
    return Unknown(f"result of `{name}`")


def _call_autograd(frame: Frame, name: str, node: ast.Call) -> Value:
    if name in _FLAGS:
        frame.report(EventKind.FLAG, node, name=name, confidence=Confidence.DEFINITE)
        return Static("bool", ANY, "training")
    if name in _SCOPES:
        frame.report(EventKind.SCOPE, node, name=name, confidence=Confidence.DEFINITE)
    elif name in _AUTOGRAD_EFFECTS:
        frame.report(EventKind.EFFECT, node, name="autograd", call=name, confidence=Confidence.DEFINITE)
    return Unknown(f"result of `autograd.{name}`")
