"""Compare every operator with MXNet 1.9.1 on random calls: values, gradients, inference, and what is refused.

    make oracle                                      sets MXNet up in .oracle and runs this
    python -m tools.oracle --mxnet PYTHON [--cases 5] [--only NAME] [--seed 0]

Every odd call of an operator is made through a symbol and its executor. Differences that are meant are listed in
`docs/differences.md`; `known_differences.toml` names them for this tool, each by operator and kind.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tools.oracle.cases import make_cases
from tools.oracle.comparison import Known, differences, read_known
from tools.oracle.running import pack, run_case, unpack
from tools.oracle.worker import read_results


def main() -> int:
    """Run the comparison; exit code 1 when something differs that the table does not have."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxnet", required=True, help="a Python with mxnet 1.9.1 and numpy 1.23.5")
    parser.add_argument("--cases", type=int, default=5, help="calls for each operator")
    parser.add_argument("--only", default="", help="operators with this text in the name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--known", action="store_true", help="print the meant differences as well")
    options = parser.parse_args()
    known = read_known()
    cases = list(make_cases(options.cases, options.only, options.seed))
    ours, theirs = _both(options.mxnet, cases)
    used: Counter[Known] = Counter()
    unknown: Counter[str] = Counter()
    for case, a, b in zip(cases, ours, theirs):
        for kind, text in differences(a, b):
            line = f"{case['op']} [{kind}] {case['mode']} {_inputs(case)} {case['attrs']}: {text}"
            if kind == "missing in MXNet" and case["places"][0][0] == "_internal":
                continue  # a helper of gradients, which MXNet has under another name or not at all
            entry = next((k for k in known if k.covers(case["op"], kind, line)), None)
            if entry is not None:
                used[entry] += 1
            else:
                unknown[case["op"]] += 1
            if entry is None or options.known:
                print("known" if entry else "DIFFERS", line)
    for entry in known:
        if options.cases >= 100 and not options.only and entry not in used:
            print(f"not seen: {', '.join(entry.operators)} [{entry.kind}] {entry.reason}")
    operators = len({c["op"] for c in cases})
    summary = {"operators": operators, "calls": len(cases), "meant": used.total(), "unknown": dict(unknown)}
    print(json.dumps(summary))
    return int(bool(unknown))


def _inputs(case: dict[str, Any]) -> str:
    return " ".join(f"{a.dtype}{list(a.shape)}" for a in case["inputs"])


def _both(python: str, cases: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """The results here and MXNet's, computed side by side."""
    import autohybrid

    worker = str(Path(__file__).resolve().parent / "worker.py")
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "cases.pickle", Path(folder) / "results.pickle"
        # protocol 4 and plain bytes: the other side runs an older NumPy
        given.write_bytes(pickle.dumps([pack(c) for c in cases], protocol=4))
        answer.write_bytes(b"")
        command = [python, worker, str(given), str(answer)]
        other = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        ours = [run_case(autohybrid, case) for case in cases]
        _, messages = other.communicate()
        theirs = [unpack(r) for r in read_results(str(answer))[0]]
    if len(theirs) != len(cases):
        raise SystemExit(f"{python} could not run the cases:\n{messages[-2000:]}")
    return ours, theirs


if __name__ == "__main__":
    sys.exit(main())
