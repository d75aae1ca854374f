"""What the first call of a hybridized net costs, in processor time: reading, lowering, building, generating code.

    python -m benchmarks.first_call [--mxnet PYTHON] [--torch PYTHON] [--repeat 3]

Every figure comes from a fresh process on one thread; the least of `--repeat` runs is shown. `cold` starts with an
empty cache of lowered functions, `cached` with one that an earlier process filled; both load the modules that the first
compiled call of a process needs (LibCST, the analysis). `loaded` has them from another net, and an empty cache.
`building` is the time from the call to a finished graph (findings, lowering, building); `first` is the whole first
call, `next` one after it. The net has run imperatively before, so parameters are there. MXNet computes in the calling
thread (its NaiveEngine). torch compiles the same graph with `torch.compile`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_MODELS = ("MLP", "ResNet50")
Figures = dict[str, float]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxnet", default=os.environ.get("AUTOHYBRID_MXNET_PYTHON", ""), help="a Python with MXNet")
    parser.add_argument(
        "--torch", default=os.environ.get("AUTOHYBRID_TORCH_PYTHON", ""), help="a Python with torch and autohybrid"
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=_MODELS, default=_MODELS)
    parser.add_argument("--serve", nargs=2, metavar=("FRAMEWORK", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        print("@@" + json.dumps(_measure(*options.serve)), flush=True)
        return
    pythons = {"autohybrid": sys.executable, "mxnet": options.mxnet, "torch": options.torch}
    print(f"{'':24}{'building ms':>12}{'first ms':>12}{'next ms':>12}")
    for model in options.models:
        for framework, python in pythons.items():
            for label, figures in _runs(framework, python, model, options.repeat) if python else ():
                shown = [f"{figures[k] * 1e3:12.1f}" if k in figures else f"{'':12}" for k in _COLUMNS]
                print(f"{model:10}{label:14}{''.join(shown)}", flush=True)


_COLUMNS = ("building", "first", "next")


def _runs(framework: str, python: str, model: str, repeat: int) -> list[tuple[str, Figures]]:
    """The least figures of several processes, by what was in the cache."""
    if framework != "autohybrid":
        return [(framework, _least([_process(framework, python, model, None) for _ in range(repeat)]))]
    found: dict[str, list[Figures]] = {"cold": [], "cached": [], "loaded": []}
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            found["cold"].append(_process(framework, python, model, folder))
            found["cached"].append(_process(framework, python, model, folder))
        with tempfile.TemporaryDirectory() as folder:
            found["loaded"].append(_process(f"{framework}-loaded", python, model, folder))
    return [(label, _least(runs)) for label, runs in found.items()]


def _least(runs: list[Figures]) -> Figures:
    return {key: min(run[key] for run in runs) for key in runs[0]}


def _process(framework: str, python: str, model: str, cache: str | None) -> Figures:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "AUTOHYBRID_THREADS"), "1")
    env = {**os.environ, **threads, "MXNET_ENGINE_TYPE": "NaiveEngine"}
    if cache is not None:
        env["AUTOHYBRID_CACHE_DIR"] = cache
    command = [python, "-m", "benchmarks.first_call", "--serve", framework, model]
    done = subprocess.run(command, cwd=_ROOT, env=env, capture_output=True, text=True, check=True)
    answer: Figures = json.loads(next(line[2:] for line in done.stdout.splitlines() if line.startswith("@@")))
    return answer


def _measure(framework: str, model: str) -> Figures:
    if framework != "mxnet":
        importlib.import_module("autohybrid.compat").install()
    models = importlib.import_module("benchmarks.first_call_models")
    if framework == "torch":
        return _measure_torch(getattr(models, model), models.SHAPES[model])
    mx = importlib.import_module("mxnet")
    if framework.endswith("-loaded"):
        other = models.ConvBlock(3, 3, 1)
        other.initialize()
        other.hybridize()
        other(mx.nd.ones((1, 3, 2, 2)))
    net = getattr(models, model)()
    net.initialize()
    data = mx.nd.ones(models.SHAPES[model])
    net(data).wait_to_read()
    net.hybridize(static_alloc=True, static_shape=True)
    figures: Figures = {}
    if framework.startswith("autohybrid"):
        _watch_building(figures)
    figures["first"] = _seconds(lambda: net(data).wait_to_read())
    figures["next"] = min(_seconds(lambda: net(data).wait_to_read()) for _ in range(3))
    return figures


def _watch_building(figures: Figures) -> None:
    """Put the time that building graphs takes into `figures`."""
    compiler = importlib.import_module("autohybrid.transform.compiler")
    build = compiler.CompiledBlock._build

    def timed(*arguments: Any) -> Any:
        start = time.process_time()
        try:
            return build(*arguments)
        finally:
            figures["building"] = figures.get("building", 0.0) + time.process_time() - start

    compiler.CompiledBlock._build = timed


def _measure_torch(make_net: Callable[[], Any], shape: tuple[int, ...]) -> Figures:
    import numpy as np
    import torch

    from benchmarks.torch_graph import TorchNet

    x = np.ones(shape, "float32")
    net = TorchNet(lambda mx: make_net(), [x])
    data = torch.from_numpy(x)
    compiled = torch.compile(lambda given: net(given))
    with torch.inference_mode():
        net(data)
        first = _seconds(lambda: compiled(data))
        return {"first": first, "next": min(_seconds(lambda: compiled(data)) for _ in range(3))}


def _seconds(call: Callable[[], object]) -> float:
    """Processor time of a call, that of the compilers it starts included."""
    before, start = os.times(), time.process_time()
    call()
    after = os.times()
    children = after.children_user + after.children_system - before.children_user - before.children_system
    return time.process_time() - start + children


if __name__ == "__main__":
    main()
