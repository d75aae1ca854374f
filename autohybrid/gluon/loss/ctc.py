"""CTCLoss: sequences whose alignment with their labels is not known."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.loss.base import Loss, weighted


class CTCLoss(Loss):
    """Connectionist temporal classification. The blank is the last class; labels are padded with -1.

    pred: logits (N, T, classes) for layout 'NTC' or (T, N, classes) for 'TNC'; label: (N, L) or (L, N) for
    label_layout 'TN'; pred_lengths, label_lengths: (N,). Result: (N,).
    """

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None, **kwargs: Any
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise AssertionError(f"layout must be 'NTC' or 'TNC', not {layout!r}")
        if label_layout not in ("NT", "TN"):
            raise AssertionError(f"label_layout must be 'NT' or 'TN', not {label_layout!r}")
        super().__init__(weight, label_layout.find("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def hybrid_forward(
        self,
        F: Any,
        pred: Any,
        label: Any,
        pred_lengths: Any = None,
        label_lengths: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        if self._layout == "NTC":
            pred = F.swapaxes(pred, 0, 1)
        if self._label_layout == "TN":
            label = F.swapaxes(label, 0, 1)
        loss = F.CTCLoss(
            pred,
            label,
            pred_lengths,
            label_lengths,
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
        )
        return weighted(F, loss, self._weight, sample_weight)
