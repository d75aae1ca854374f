"""The side of `tools/oracle.py` that runs under MXNet's own Python (NumPy 1.23): reads cases, appends results."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main(given: str, answer: str) -> None:
    """Run every case; each result is on disk before the next case runs, so that a crash loses one."""
    import mxnet as mx

    from tools.oracle import pack, run_case, unpack

    with open(answer, "ab") as stream:
        for case in pickle.loads(Path(given).read_bytes()):
            result = run_case(mx, {**case, "inputs": [unpack(p) for p in case["inputs"]]})
            plain = {k: v if k == "error" else [pack(a) for a in v] for k, v in result.items()}
            stream.write(pickle.dumps(plain, protocol=4))
            stream.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
