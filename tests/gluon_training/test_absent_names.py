"""Names that MXNet has and autohybrid has not say what to use in their place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autohybrid.compat import absent

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("mx.io.ImageDetRecordIter", "use image.ImageDetIter"),
        ("mx.io.absent_name", "module 'autohybrid.training.io' has no attribute 'absent_name'"),
        ("mx.glun", "module 'mxnet' (autohybrid) has no attribute 'glun'; did you mean `gluon`?"),
        ("mx.io.NDArrayIter; mx.img.imresize; mx.rnd.uniform", ""),
    ],
)
def test_missing_names_say_what_exists(expression: str, message: str) -> None:
    program = f"from autohybrid import compat; compat.install(); import mxnet as mx; {expression}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert message in done.stderr
    assert done.returncode == (1 if message else 0)


def test_names_listed_as_absent_are_absent() -> None:
    import importlib

    for module, names in absent._ABSENT.items():
        assert not set(names) & set(vars(importlib.import_module(module)))
