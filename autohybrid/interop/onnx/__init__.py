"""ONNX: graphs and their parameters written as models that other run times read. Needs the package `onnx`.

`graph_writer.py` holds the model that is being made, `export.py` walks a graph, and the tables of the other files say
what each operator becomes.
"""

from __future__ import annotations

from autohybrid.interop.onnx.export import OPERATORS, export_onnx

__all__ = ["OPERATORS", "export_onnx"]
