"""The examples run, train, and give the same losses imperatively and hybridized (they check that themselves)."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

_EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp_digits", "lenet_digits", "lstm_language_model", "transformer"])
def test_a_few_steps_lower_the_loss(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    example = importlib.import_module(f"train_{name}")
    curves = example.main(["--epochs", "1", "--batches", "8"])
    assert len(curves) == 2 and all(len(losses) == 8 for losses in curves)
    assert curves[0][-1] < curves[0][0]
    assert "largest difference between imperative and hybridized" in capsys.readouterr().out


def test_the_picture_of_the_losses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    reporting = importlib.import_module("reporting")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    reporting.save_curve(str(tmp_path / "curve.png"), {"imperative": [2.0, 1.0]})
    assert "needs matplotlib" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    pytest.importorskip("matplotlib")
    reporting.save_curve(str(tmp_path / "curve.png"), {"imperative": [2.0, 1.0]})
    assert (tmp_path / "curve.png").read_bytes()[1:4] == b"PNG"
