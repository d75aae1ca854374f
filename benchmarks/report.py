"""Write docs/performance.md from the figures of benchmark runs.

    python -m benchmarks.report RESULTS_FOLDER [--output docs/performance.md]

The folder holds what `python -m benchmarks.<workload> --json FOLDER/<workload>.json` wrote.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

#: Time of autohybrid over time of MXNet with static memory and shapes, on one thread, that the project aims at.
TARGETS = {
    "mlp": 0.30,
    "mlp_b128": 0.80,
    "lenet": 0.65,
    "lenet_b32": 0.80,
    "resnet18": 0.80,
    "resnet50": 0.80,
    "mobilenet": 0.35,
    "lstm": 0.70,
    "bert": 0.80,
    "elementwise_chain": 0.08,
    "norm_chain": 0.65,
    "train_mlp": 0.40,
    "train_lenet": 0.70,
}

_HEAD = """# Performance

How long a hybridized call takes, compared with MXNet 1.9.1 (`hybridize(static_alloc=True, static_shape=True)`), with
NumPy as the only library underneath. This page is generated from the JSON files of the benchmark runs:

```
{commands}
python -m benchmarks.report results
```

Every contender runs in a process of its own, with the same parameters and one thread; the processes take turns, so
that what else the machine does hits all alike. A ratio below 1 means that autohybrid is faster. The results of all
contenders are compared too: the last column is the largest difference among the first numbers of the output.

BLAS of the runs: {blas}
{note}

| workload | autohybrid, us | MXNet static, us | ratio | target | | difference |
|---|---|---|---|---|---|---|
"""


def row(table: dict[str, Any]) -> str:
    """One line of the table."""
    name = table["workload"]
    figures = {c["framework"]: c for c in table["contenders"]}
    own, peer = figures["autohybrid"], figures.get("mxnet-static")
    title = (importlib.import_module(f"benchmarks.{name}").__doc__ or name).splitlines()[0].rstrip(".")
    if peer is None:
        return f"| {title} | {own['median_us']:.0f} | - | - | {TARGETS[name]:.2f} | | - |"
    ratio, target = peer["first_over_this"], TARGETS[name]
    verdict = "reached" if ratio <= target else "missed"
    return (
        f"| {title} | {own['median_us']:.0f} | {peer['median_us']:.0f} | {ratio:.2f} | {target:.2f} | {verdict} "
        f"| {peer['largest_difference']:.0e} |"
    )


def page(tables: list[dict[str, Any]], tail: str, note: str = "") -> str:
    """The whole page, with `note` on how the figures were taken. Workloads come in the order of TARGETS."""
    known = {table["workload"]: table for table in tables}
    names = [name for name in TARGETS if name in known]
    commands = "\n".join(f"python -m benchmarks.{n} --mxnet PYTHON_WITH_MXNET --json results/{n}.json" for n in names)
    blas = "; ".join(sorted({" ".join(known[n]["blas"].split()) for n in names}))
    return (
        _HEAD.format(commands=commands, blas=blas, note=f"\n{note}\n" if note else "")
        + "\n".join(row(known[n]) for n in names)
        + "\n"
        + tail
    )


_TAIL = """
## What the executor does

- Passes over the graph (`graph/passes/`): calls that hand on their input go, equal calls are computed once.
- One function of straight-line Python for each graph, signature and train mode (`graph/codegen.py`), from code
  templates of the operator records; `autohybrid show` prints it.
- Runs of element-wise calls over large arrays become one loop over pieces that stay in the cache
  (`graph/chunk_loops.py`). BatchNorm outside training is one of them.
- Memory of large intermediates is planned by liveness and kept between calls (`graph/arena.py`): a set of buffers for
  each call that is under way. Results are always fresh.
- What depends on parameters alone is computed once and again only after one of them was written
  (`graph/prepared.py`): packed weights of dense and recurrent layers, folded BatchNorm, transformed kernels.
- Products with few rows or a short width run in tiles that the BLAS library multiplies without packing
  (`tensor/packing.py`). Biases of hidden dense layers go through the relu behind them (`graph/passes/shift_bias.py`).
- Softmax, LayerNorm and GELU take fewer passes (`tensor/rows.py`) and share the loops of their neighbours. LSTM layers
  need one tanh a step (`tensor/packed_recurrence.py`).
- Convolutional nets run with the channels last (`graph/channels_last/`), 3 x 3 kernels by Winograd's products.
- Calls on large batches whose rows do not depend on each other run in several threads, each on a part of the rows
  (`graph/row_split.py`): as many as `AUTOHYBRID_THREADS` or `OMP_NUM_THREADS` says, else as there are processors. Other
  calls use the threads of NumPy's BLAS (`OPENBLAS_NUM_THREADS`).
- Under `autograd.record()` both passes are generated (`graph/recorded_code.py`): only the gradients that are asked for
  are computed, in memory that is planned over both passes, the large ones straight into `grad`. The adjoints of
  convolutions take one product for the rows of the data (`tensor/convolution_adjoints.py`). SGD and Adam write into
  weights and states, some thousand numbers at a time (`tensor/update_in_place.py`).

With `hybridize(exact=True)` every step computes each number by the same operations as the plain interpreter, and the
tests compare the two bit for bit (`tests/graph/test_generated.py`, `tests/graph/test_memory_plan.py`). Otherwise
results move by a few units of rounding: 1e-6 of the largest value in dense and recurrent nets, 1e-5 in convolutional
ones.
"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder with the JSON files")
    parser.add_argument("--output", type=Path, default=Path("docs/performance.md"))
    parser.add_argument("--note", default="", help="what a reader must know about the runs")
    options = parser.parse_args()
    tables = [json.loads(path.read_text()) for path in sorted(options.results.glob("*.json"))]
    options.output.write_text(page(tables, _TAIL, options.note))


if __name__ == "__main__":
    main()
