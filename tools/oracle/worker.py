"""The side of the comparison that runs under MXNet's own Python: reads cases, appends results.

Cases run in forked children, so that one that kills the process, or spoils its memory, costs a fork and not an import;
one that hangs is ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from pathlib import Path
from typing import Any

_BATCH = 50
_PATIENCE = 20.0  # seconds without a result: MXNet waits for a device that never comes


def main(given: str, answer: str) -> None:
    """Run every case; each result is on disk before the next one runs. A death is a result, too."""
    os.environ["MXNET_ENGINE_TYPE"] = "NaiveEngine"  # errors where they happen; no threads to lose in a fork
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import mxnet as mx

    cases: list[Any] = pickle.loads(Path(given).read_bytes())
    done = read = 0
    while done < len(cases):
        end = min(done + _BATCH, len(cases))
        child = os.fork()
        if child == 0:
            _run(mx, cases[done:end], answer)
            os._exit(0)
        status = _wait(child, answer)
        fresh, read = read_results(answer, read)
        done += len(fresh)
        if status and done < end:
            _append(answer, {"died": True})
            done, read = done + 1, os.path.getsize(answer)


def _wait(child: int, answer: str) -> int:
    """The exit status of the child, which is killed when it gives no result for long."""
    size, since = -1, time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if os.path.getsize(answer) != size:
            size, since = os.path.getsize(answer), time.monotonic()
        elif time.monotonic() - since > _PATIENCE:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def _run(mx: Any, cases: list[Any], answer: str) -> None:
    from tools.oracle.running import pack, run_case, unpack

    for case in cases:
        _append(answer, pack(run_case(mx, unpack(case))))


def _append(answer: str, result: Any) -> None:
    with open(answer, "ab") as stream:
        pickle.dump(result, stream, protocol=4)


def read_results(answer: str, start: int = 0) -> tuple[list[Any], int]:
    """The results in the file from `start` on, and where the next one would begin."""
    results = []
    with open(answer, "rb") as stream:
        stream.seek(start)
        while stream.peek(1):
            results.append(pickle.load(stream))
        return results, stream.tell()


if __name__ == "__main__":
    main(*sys.argv[1:])
