"""Record what the cases of `recorded/` give on MXNet 1.9.1, as JSON under tests/data/gluon.

python tests/gluon/record_cases.py        (with a Python that has mxnet 1.9.1)
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from recorded import blocks, layers, recurrent
from recorded.outcomes import outcome_of

TOPICS = {"layers": layers.CASES, "recurrent": recurrent.CASES, "blocks": blocks.CASES}


def main() -> None:
    """Write one file for each topic."""
    import mxnet

    warnings.simplefilter("ignore")
    target = Path(__file__).resolve().parent.parent / "data" / "gluon"
    for topic, cases in TOPICS.items():
        found = {name: outcome_of(run, mxnet) for name, run in cases.items()}
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
        (target / f"{topic}.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
