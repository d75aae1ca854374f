"""Random programs: hybridized, every one gives what it gives imperatively, in values, gradients and errors."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import autohybrid as mx
from autohybrid import ndarray
from tools.random_programs.comparing import check
from tools.random_programs.writer import make_program

PROGRAMS = int(os.environ.get("AUTOHYBRID_PROGRAMS", "2000"))
CHUNK = 50


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_hybridized_program_equals_imperative(first: int, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        for seed in range(first, min(first + CHUNK, PROGRAMS)):
            check(seed, tmp_path)


def test_a_seed_is_a_program() -> None:
    assert make_program(5) == make_program(5) != make_program(6)


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
def test_a_difference_is_shown_with_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(ndarray.ones((1,))), "__neg__", lambda self: self)
    from autohybrid.transform.runtime import Runtime

    monkeypatch.setattr(Runtime, "tanh", lambda self, x: ndarray.sin(x), raising=False)
    with pytest.raises(AssertionError, match=r"(?s)seed \d+, input 0.*class Program"):
        for seed in range(20):
            check(seed, tmp_path)


def test_the_driver_counts_programs() -> None:
    command = [sys.executable, "-m", "tools.random_programs", "--programs", "6", "--seed", "40", "--chunk", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "6 programs, 0 differ" in done.stdout
