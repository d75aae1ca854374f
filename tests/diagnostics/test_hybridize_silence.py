"""`hybridize()` and `check` are silenced by the same comments."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import pytest

import autohybrid as mx
from autohybrid.diagnostics.engine import check
from autohybrid.errors import HybridizeWarning

SOURCE = """
from autohybrid.gluon import nn

class Net(nn.HybridBlock):
    def hybrid_forward(self, F, x):
        return x * x.shape[0]{comment}
"""


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("", ["AH101"]),
        ("  # autohybrid: ignore[AH101] the batch is part of the formula", []),
        ("  # noqa: AH1", []),
        ("  # noqa: AH2", ["AH101"]),
    ],
)
def test_a_comment_silences_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: str, codes: list[str]
) -> None:
    name = f"net_in_{tmp_path.name}"
    path = tmp_path / f"{name}.py"
    path.write_text(SOURCE.format(comment=comment))
    assert [finding.code for finding in check(path) if finding.code < "AH9"] == codes
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(name)
    net = module.Net()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net.hybridize()
        assert net(mx.nd.ones((2, 3))).asnumpy().tolist() == [[2.0] * 3] * 2
    told = [warning for warning in caught if issubclass(warning.category, HybridizeWarning)]
    assert bool(told) is bool(codes)
    assert all(code in str(told[0].message) for code in codes)
