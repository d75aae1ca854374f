"""Compare every operator with MXNet 1.9.1 on random calls: outputs, gradients, and whether the call is refused.

    make oracle                                      sets MXNet up in .oracle and runs this
    python -m tools.oracle --mxnet PYTHON [--cases 5] [--only NAME] [--seed 0]

Calls are made from the samples of the records: extents are replaced consistently by others, values drawn anew. Each is
run here and, in another process, by MXNet. A call that both refuse agrees. Differences that are meant are listed in
`docs/differences.md`; their operators are named in KNOWN with the reason.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Operators whose differences are meant; see docs/differences.md.
KNOWN: dict[str, str] = {
    "norm": "integer norms of MXNet are wrong",
    "boolean_mask": "MXNet refuses a mask that selects nothing",
    "tile": "MXNet's gradient reads unset memory for some shapes",
    "digamma": "poles",
}
_TOLERANCE = {"float16": (2e-2, 2e-3), "float32": (1e-3, 1e-4), "float64": (1e-5, 1e-7)}


def make_cases(count: int, only: str, seed: int) -> Iterator[dict[str, Any]]:
    """Random calls as plain data: public function, input arrays, keyword arguments."""
    from autohybrid.tensor.namespaces import public_place
    from autohybrid.tensor.ops import records

    for op in records():
        namespace, spelling = public_place(op.name)
        if namespace == "_internal" or op.random or op.open_attrs or only not in op.name or not op.samples:
            continue
        usable = [s for s in op.samples if s.error is None and not any(0 in shape for shape in s.shapes)]
        state = np.random.RandomState(seed + zlib.crc32(op.name.encode()) % 2**16)
        for k in range(count if usable else 0):
            sample = usable[k % len(usable)]
            extents = _new_extents(state, sample.shapes) if k >= len(usable) and not sample.values else {}
            inputs = []
            for i, shape in enumerate(sample.shapes):
                dtype = sample.dtypes[i] if sample.dtypes else "float32"
                new = tuple(extents.get(e, e) for e in shape)
                inputs.append(_values(state, sample, i, new, dtype))
            yield {
                "op": op.name,
                "function": [p for p in (namespace, spelling) if p],
                "inputs": inputs,
                "attrs": dict(sample.attrs),
                "grad": op.differentiable == "yes" and not op.mutates,
                "nograd": list(sample.nograd),
            }


def _new_extents(state: np.random.RandomState, shapes: tuple[tuple[int, ...], ...]) -> dict[int, int]:
    """Another extent for each extent above 1, the same wherever it occurs."""
    found = sorted({e for shape in shapes for e in shape if e > 1})
    return {e: int(state.randint(2, 7)) for e in found}


def _values(state: np.random.RandomState, sample: Any, index: int, shape: tuple[int, ...], dtype: str) -> Any:
    if index in sample.values:
        return np.asarray(sample.values[index], dtype=dtype)
    return state.uniform(sample.low, sample.high, shape).astype(dtype)


def run_case(mx: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Outputs and gradients of a case under `mx` (autohybrid or MXNet), or the error."""
    try:
        function = mx.nd
        for part in case["function"]:
            function = getattr(function, part)
        arrays = [mx.nd.array(a, dtype=a.dtype) for a in case["inputs"]]
        wanted = [i for i, a in enumerate(arrays) if case["grad"] and _is_real(a) and i not in case["nograd"]]
        for i in wanted:
            arrays[i].attach_grad()
        with mx.autograd.record():
            result = function(*arrays, **case["attrs"])
            outputs = list(result) if isinstance(result, (list, tuple)) else [result]
            live = [o for o in outputs if _is_real(o)]
        gradients = []
        if wanted and live:
            heads = [mx.nd.array(_head(o.shape), dtype=o.dtype) for o in live]
            mx.autograd.backward(live, heads)
            gradients = [arrays[i].grad.asnumpy() for i in wanted]
        return {"outputs": [o.asnumpy() for o in outputs], "gradients": gradients}
    except Exception as error:  # noqa: BLE001 - that a call is refused, and how, is what is compared
        return {"error": f"{type(error).__name__}: {str(error)[:200]}"}


def _is_real(array: Any) -> bool:
    return array.dtype in (np.float32, np.float64)


def _head(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.cos(np.arange(int(np.prod(shape)), dtype="float64")).reshape(shape)


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """What differs between two results; '' when nothing does."""
    if "error" in ours or "error" in theirs:
        if "error" in ours and "error" in theirs:
            return ""
        side = "only autohybrid" if "error" in ours else "only MXNet"
        return f"{side} refuses: {ours.get('error') or theirs.get('error')}"
    for what in ("outputs", "gradients"):
        if len(ours[what]) != len(theirs[what]):
            return f"{len(ours[what])} {what}, MXNet has {len(theirs[what])}"
        for i, (a, b) in enumerate(zip(ours[what], theirs[what])):
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"{what} {i}: {a.shape} {a.dtype}, MXNet {b.shape} {b.dtype}"
            rtol, atol = _TOLERANCE.get(a.dtype.name, (0, 0))
            if not np.allclose(a, b, rtol, atol, equal_nan=True):
                return f"{what} {i} differ by up to {np.nanmax(np.abs(a.astype('float64') - b.astype('float64'))):.3g}"
    return ""


def main() -> int:
    """Run the comparison; exit code 1 when an operator differs that is not in KNOWN."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxnet", required=True, help="a Python with mxnet 1.9.1 and numpy 1.23.5")
    parser.add_argument("--cases", type=int, default=5, help="calls for each operator")
    parser.add_argument("--only", default="", help="operators with this text in the name")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import autohybrid

    cases = list(make_cases(options.cases, options.only, options.seed))
    ours = [run_case(autohybrid, case) for case in cases]
    theirs = _under_mxnet(options.mxnet, cases)
    differs: Counter[str] = Counter()
    for case, a, b in zip(cases, ours, theirs):
        found = difference(a, b)
        if found:
            differs[case["op"]] += 1
            shapes = [x.shape for x in case["inputs"]]
            print(f"{'known' if case['op'] in KNOWN else 'DIFFERS'} {case['op']} {shapes} {case['attrs']}: {found}")
    unknown = [name for name in differs if name not in KNOWN]
    operators = len({c["op"] for c in cases})
    print(
        json.dumps({"operators": operators, "calls": len(cases), "differ": sum(differs.values()), "unknown": unknown})
    )
    return int(bool(unknown))


def _under_mxnet(python: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run the cases in the other interpreter; a case that kills it counts as refused."""
    results: list[dict[str, Any]] = []
    script = str(Path(__file__).resolve().parent / "oracle_worker.py")
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "cases.pickle", Path(folder) / "results.pickle"
        while len(results) < len(cases):
            # protocol 4: the other side runs an older NumPy, whose arrays are rebuilt from plain bytes
            given.write_bytes(pickle.dumps([_plain(c) for c in cases[len(results) :]], protocol=4))
            answer.write_bytes(b"")
            subprocess.run([python, script, str(given), str(answer)], check=False, capture_output=True)
            results += _results(answer)
            if len(results) < len(cases):
                results.append({"error": "the process died"})
    return results


def _plain(case: dict[str, Any]) -> dict[str, Any]:
    """The case with arrays as (dtype, shape, bytes): pickled arrays name modules that differ between NumPy versions."""
    return {**case, "inputs": [pack(a) for a in case["inputs"]]}


def pack(array: np.ndarray[Any, Any]) -> tuple[str, tuple[int, ...], bytes]:
    """An array as plain values."""
    return str(array.dtype), array.shape, np.ascontiguousarray(array).tobytes()


def unpack(packed: tuple[str, tuple[int, ...], bytes]) -> np.ndarray[Any, Any]:
    """The array that `pack` took apart."""
    dtype, shape, content = packed
    return np.frombuffer(content, dtype=dtype).reshape(shape).copy()


def _results(answer: Path) -> list[dict[str, Any]]:
    """What the worker had finished; it appends one pickle for each case."""
    results = []
    with open(answer, "rb") as stream:
        while True:
            try:
                result = pickle.load(stream)
            except EOFError:
                return results
            results.append({k: v if k == "error" else [unpack(p) for p in v] for k, v in result.items()})


if __name__ == "__main__":
    sys.exit(main())
