"""Views, subscripts and writes do in a hybridized block what they do in an imperative one, also to the arguments."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autohybrid import nd

# `x` is (2, 3, 4), `i` two indices, `v` four values; `;` stands for a line end, `r` is returned.
BODIES = [
    "r=x[0]",
    "r=x[i]",
    "r=x[i,1]",
    "r=x[:,i]",
    "r=x[1,:,i]",
    "r=x[[0,1],:,[1,2]]",
    "r=x[:,::-1]",
    "r=x[0,0,0]",
    "r=x[None,0]",
    "r=x[...,None,1]",
    "x[0]=5;r=x",
    "x[i]=v;r=x",
    "x[:,i]=v;r=x+0",
    "x[0,1,2]=v[0];r=x",
    "x[:,None]=F.ones((2,1,3,4));r=x",
    "x[0][1]=9;r=x",
    "y=x[0];y[:]=3;r=x",
    "y=x.reshape((6,4));y[2]=v;r=x",
    "y=x[1:];x[:]=0;r=y",
    "x[::2]=1;r=x",
    "y=x[0];z=y[1];z+=100;r=x",
    "x+=1;y=x[0];x*=2;r=y",
    "a=F.zeros((3,));a[1]=v[0];a[0]=2;r=a",
    "a=F.array([1,2,3]);a[:]=v[1:];r=a",
    "r=x.copy();r[:]=1",
    'r=x.astype("int32")[0]',
    "x[:]=v;r=x",
    "x[0:0]=5;r=x",
    "x[x>3]=0;r=x",
    "r=F.concat(x[0],x[1],dim=0)",
    "x[i,[1,2],0]=v[:2];r=x",
    "x[0]=[1,2,3,4];r=x",
    "x[0]=np.ones(4);r=x",
    "for row in x:\n  row[:]=row*2\nr=x",
    "r=F.stack(*[q for q in x])",
    "y=x.expand_dims(0,inplace=True);y[0,0]=1;r=x",
    "y=x.T;y[:]=0;r=x",
    "x[1]=x[0];r=x",
    "y=x.detach();y[:]=4;r=x",
    "x[0]+=x[1];r=x",
    "r=x.broadcast_to((2,2,3,4))",
    "r=F.arange(3)+1",
    "r=x.squeeze();r+=1",
    "r=x[:]*1",
    "y=F.ones((2,));y[i]=v[:2];r=y",
    "r=x.slice_assign_scalar(5,(0,),(1,),(None,))",
    "r=F.moveaxis(x,0,2)",
    "r=F.split_v2(x,3,axis=1)[1]",
    "r=x.split_v2((1,),axis=2)[0]",
]


def make_block(folder: Path, body: str) -> Any:
    """A block whose `hybrid_forward` is `body`, from a file, as its source must be readable."""
    inside = "\n".join(" " * 8 + line for line in body.replace(";", "\n").split("\n"))
    path = folder / "block_of_the_test.py"
    path.write_text(
        "import numpy as np\n"
        "from autohybrid import gluon\n\n\n"
        "class Net(gluon.HybridBlock):\n"
        f"    def hybrid_forward(self, F, x, i, v):\n{inside}\n        return r\n"
    )
    spec = importlib.util.spec_from_file_location("block_of_the_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Net()


def outcome(block: Any) -> list[tuple[Any, ...]]:
    """Shape, dtype and values of the result and of `x` afterwards, for two calls."""
    found = []
    for offset in (0, 1):
        x = nd.array(np.arange(24).reshape(2, 3, 4) + offset)
        result = block(x, nd.array([1, 0]), nd.array([5, 6, 7, 8]))
        found += [(a.shape, a.dtype, a.asnumpy().tolist()) for a in (result, x)]
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("body", BODIES)
def test_hybridized_block_agrees_with_the_imperative_one(tmp_path: Path, body: str) -> None:
    block = make_block(tmp_path, body)
    imperative = outcome(block)
    block.hybridize()
    assert outcome(block) == imperative
