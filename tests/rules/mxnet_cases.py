"""Runs the cases of every rule with MXNet 1.9.1 and prints a JSON list of what each did.

    PYTHONPATH=. <python with mxnet 1.9.1> tests/rules/mxnet_cases.py

Not a test by itself: `test_against_mxnet.py` starts it with the interpreter named in AUTOHYBRID_MXNET_PYTHON.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import nullcontext
from typing import Any

from case_fixes import fix

from autohybrid.diagnostics.rule import Rule
from autohybrid.diagnostics.rules import load_rules

#: Rules whose fixes draw other random numbers than the code did.
DRAWS = ("AH505", "AH714")


def run(source: str) -> dict[str, Any]:
    """Call `Net` of a case before and after `hybridize()` and under `autograd.record()`, on inputs of one shape; the
    names of the exceptions."""
    import mxnet as mx

    outcome: dict[str, Any] = {}
    space: dict[str, Any] = {}
    try:
        exec(compile(source, "case.py", "exec"), space)
    except Exception as error:
        return {"load": type(error).__name__}
    method = space["Net"].hybrid_forward
    names = method.__code__
    last = names.co_argcount - len(method.__defaults__ or ())
    for mode in ("imperative", "hybridized", "recorded"):
        try:
            mx.random.seed(0)
            net = space["Net"]()
            net.initialize()
            taken = [name for name in names.co_varnames[2:last] if name not in net._reg_params]
            inputs = [argument(mx, name) for name in taken]
            if mode != "imperative":
                net.hybridize()
            with mx.autograd.record() if mode == "recorded" else nullcontext():
                result = net(*inputs)
            parts = result if isinstance(result, (list, tuple)) else [result]
            arrays = [part.asnumpy().tolist() for part in parts if isinstance(part, mx.nd.NDArray)]
            if mode != "recorded":
                outcome.setdefault("values", {})[mode] = arrays
        except Exception as error:
            outcome[mode] = type(error).__name__
    return outcome


def argument(mx: Any, name: str) -> Any:
    """An input that suits its name: a tuple of states, a number, a vector for a mask, else a matrix."""
    if name == "states":
        return mx.nd.ones((6, 6)), mx.nd.ones((6, 6))
    if name in ("k", "axis"):
        return 1
    if name in ("m", "i"):
        return mx.nd.array([0, 1, 2, 3, 4, 5])
    return mx.nd.arange(36).reshape((6, 6)) / 36 + 0.1


def run_apart(source: str) -> dict[str, Any]:
    """As `run`, in a process of its own: some cases bring the interpreter down."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os.write(writer, json.dumps(run(source)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    outcome: dict[str, Any] = json.loads(text) if text else {"hybridized": "crash"}
    return outcome


def run_fixed(rule: Rule, source: str, before: dict[str, Any]) -> str:
    """Run a case after its fixes: what goes wrong, or an empty text when both modes give what the imperative block gave
    before (where it gave something)."""
    after = run_apart(fix(load_rules(), source))
    values, wanted = after.get("values", {}), before.get("values", {}).get("imperative")
    raised = [after.get(mode) for mode in ("imperative", "hybridized")]
    if any(raised):
        # The inputs of the cases have one shape; a case that other inputs suit fails alike in both modes.
        return "" if "imperative" in before and raised[0] == raised[1] else str(after)
    if rule.code in DRAWS:
        return ""
    wanted = wanted or values["imperative"]
    same = is_close(values["imperative"], wanted) and is_close(values["hybridized"], wanted)
    return "" if same else "values differ"


def is_close(first: Any, second: Any) -> bool:
    """Whether nested lists of numbers are equal but for the order of a sum."""
    if isinstance(first, list):
        return isinstance(second, list) and len(first) == len(second) and all(map(is_close, first, second))
    return bool(first == second or (first != first and second != second) or abs(first - second) < 1e-5)


def main() -> None:
    warnings.simplefilter("ignore")
    import mxnet

    sys.stderr.write(f"mxnet {mxnet.__version__}\n")
    outcomes = []
    for rule in load_rules():
        for kind, cases in (("valid", rule.valid), ("invalid", rule.invalid)):
            for number, case in enumerate(cases):
                if "class Net" in case.source:
                    outcome = run_apart(case.source)
                    if getattr(case, "fixed", ()) or getattr(case, "removed", ()):
                        outcome["fixed"] = run_fixed(rule, case.source, outcome)
                    outcome.pop("values", None)
                    outcomes.append({"code": rule.code, "kind": kind, "number": number, **outcome})
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
