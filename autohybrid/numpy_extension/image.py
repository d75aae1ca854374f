"""`mx.npx.image`: the image operators on `mx.np` arrays."""

from autohybrid.numpy_extension.calling import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

__getattr__, __dir__ = _lazy_namespace(globals(), "image", "autohybrid.numpy_extension.image", _call_operator)
