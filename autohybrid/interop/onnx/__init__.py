"""ONNX: graphs and their parameters written as models that other run times read, and models read as symbols. Needs the
package `onnx`.

`graph_writer.py` holds the model that is being made, `export.py` walks a graph, and `arithmetic.py`, `layers.py` and
`shaping.py` say what each operator becomes. `import_model.py` reads a model, `reader.py` holds a call that is being
read, and the files `read_*.py` say what each ONNX operator becomes.
"""

from __future__ import annotations

from autohybrid.interop.onnx.export import OPERATORS, export_onnx
from autohybrid.interop.onnx.import_model import READERS, ImportedModel, import_onnx, model_metadata

__all__ = ["OPERATORS", "READERS", "ImportedModel", "export_onnx", "import_onnx", "model_metadata"]
