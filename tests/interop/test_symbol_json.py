"""`-symbol.json`: recorded graphs are written again byte for byte; damaged and hostile ones end in a clear error."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import autohybrid as mx

RECORDED = sorted((Path(__file__).parent.parent / "data" / "symbols").glob("*-symbol.json"))


def graph(*nodes: dict[str, Any], heads: Any = ((0, 0, 0),), version: int = 10901) -> str:
    records = [{"inputs": [], "name": f"n{i}", **n} for i, n in enumerate(nodes)]
    return json.dumps({"nodes": records, "heads": heads, "attrs": {"mxnet_version": ["int", version]}})


VARIABLE = {"op": "null"}
DENSE = {"op": "FullyConnected", "attrs": {"num_hidden": "3"}}


@pytest.mark.parametrize("path", [p for p in RECORDED if "legacy" not in p.name], ids=lambda p: p.name)
def test_recorded_graph_is_written_byte_for_byte(path: Path) -> None:
    text = path.read_text()
    assert mx.sym.load_json(text).tojson() == text
    assert mx.sym.load(str(path)).tojson() == text


def test_recorded_graphs_are_there() -> None:
    assert {p.name.split("-")[0] for p in RECORDED} >= {
        "mlp",
        "lenet",
        "resnet",
        "multi",
        "legacy_attr",
        "legacy_param",
    }


def test_the_oldest_files_get_their_missing_states_and_renamed_attributes() -> None:
    dense = {"op": "FullyConnected", "param": {"num_hidden": "3"}, "attr": {"weight_lr_mult": "2"}, "name": "fc",
             "inputs": [[0, 0], [1, 0], [2, 0]]}  # fmt: skip
    norm = {"op": "BatchNorm", "param": {}, "name": "bn", "inputs": [[3, 0], [4, 0], [5, 0]]}
    variables = [{"op": "null", "param": {}, "name": n} for n in ("data", "fc_weight", "fc_bias")]
    text = graph(
        *variables, dense, {**VARIABLE, "name": "g"}, {**VARIABLE, "name": "b"}, norm, heads=[[6, 0]], version=800
    )
    symbol = mx.sym.load_json(text)
    assert symbol.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert symbol.attr_dict()["fc_weight"] == {"__lr_mult__": "2", "lr_mult": "2"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not the JSON"),
        ("[" * 100_000, "not the JSON"),
        ("{}", "KeyError"),
        ("[]", "not the graph of a symbol"),
        (graph({"op": "NoSuchOperator"}), "`NoSuchOperator` is not known"),
        (graph(VARIABLE, heads=[]), "no heads"),
        (graph(VARIABLE, heads=[[1, 0, 0]]), "node 1, which is not defined"),
        (graph(VARIABLE, heads=[[-1, 0, 0]]), "node -1, which is not defined"),
        (graph(VARIABLE, heads=[[0, 3, 0]]), "output 3 of node `n0`"),
        (graph(VARIABLE, {**DENSE, "inputs": [[0, 0, 0]]}), "has 1 inputs, with these attributes it takes 3"),
        (graph(VARIABLE, {**DENSE, "inputs": [[7, 0, 0]] * 3}), "node 7, which is not defined"),
        (graph(VARIABLE, {**DENSE, "attrs": {"num_hidden": "x"}, "inputs": [[0, 0, 0]] * 3}), "num_hidden"),
        (
            graph(VARIABLE, {"op": "SliceChannel", "attrs": {"num_outputs": "999999999999"}, "inputs": [[0, 0, 0]]}),
            "too many",
        ),
        (
            graph(VARIABLE, {"op": "SliceChannel", "attrs": {"num_outputs": "(" * 5000}, "inputs": [[0, 0, 0]]}),
            "cannot read",
        ),
    ],
)
def test_what_is_no_graph_raises(text: str, complaint: str) -> None:
    with pytest.raises(mx.MXNetError, match=complaint):
        mx.sym.load_json(text)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken-symbol.json"
    path.write_text("{")
    with pytest.raises(mx.MXNetError, match=r"broken-symbol\.json"):
        mx.sym.load(str(path))
    with pytest.raises(mx.MXNetError, match=r"cannot write .*No such file"):
        mx.sym.var("x").save(str(tmp_path / "nowhere" / "x.json"))
    with pytest.raises(mx.MXNetError, match=r"cannot read .*No such file"):
        mx.sym.load(str(tmp_path / "nowhere.json"))


def mutated(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text))
        digits = [i for i, c in enumerate(text) if c.isdigit()]
        match rng.randrange(4):
            case 0:
                text = text[:place] + rng.choice('{}[]",:0-9ex ') + text[place + 1 :]
            case 1:
                text = text[:place] + text[place + rng.randint(1, 20) :]
            case 2:
                at = rng.choice(digits or [0])
                text = text[:at] + rng.choice(["-1", "0", "99", "4294967296", "1e400"]) + text[at + 1 :]
            case 3:
                text = text[:place] + text[rng.randrange(len(text)) :][:30] + text[place:]
    return text


def test_two_thousand_mutated_graphs_load_or_raise_clearly() -> None:
    rng = random.Random(11)
    originals = [p.read_text() for p in RECORDED]
    refused = 0
    for _ in range(2_000):
        text = mutated(rng, rng.choice(originals))
        try:
            symbol = mx.sym.load_json(text)
            symbol.list_arguments()
            symbol.tojson()
        except mx.MXNetError as error:
            refused += 1
            assert str(error)
    assert refused > 1_000
