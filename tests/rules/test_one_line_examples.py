"""The one-line example of every rule, as its page shows it: put into a block, the rule finds it."""

from __future__ import annotations

import ast
import builtins
import re

import pytest
from rules.case_fixes import find

from autohybrid.diagnostics.rule import Rule, forward
from autohybrid.diagnostics.rules import load_rules

# About bytes, or about comments, which the tests of suppressions run.
ELSEWHERE = {"AH000", "AH002", "AH005", "AH900", "AH901", "AH902"}
RULES = [rule for rule in load_rules() if rule.code not in ELSEWHERE]
KNOWN = {
    "mx",
    "nd",
    "autograd",
    "gluon",
    "nn",
    "HybridBlock",
    "F",
    "self",
    "x",
    "math",
    "np",
    "random",
    "time",
    "logging",
}
IMPORTS = "import logging\nimport math\nimport random\nimport time\n\nimport numpy as np"
CLASS = "from mxnet.gluon import HybridBlock, nn\n\n\nclass Net(HybridBlock):\n"
FORWARD = "    def hybrid_forward(self, F, x):\n        return F.relu(x)\n"
LOOP = "out, s = F.contrib.while_loop(..., func=lambda i, acc: ([], [i + 1, acc]), loop_vars=[x, x], max_iterations=3)"

#: What an example needs around it: a module in which `...` stands for the example.
AROUND: dict[str, str] = {
    "AH109": forward("...\nreturn a", inputs="a, b"),
    "AH207": forward("return ...", init="self.fc = nn.Dense(3)"),
    "AH303": forward("...\nreturn x * 2", before="COUNTS = {'calls': 0}"),
    "AH304": forward("tick()\nreturn x * 2", before="..."),
    "AH305": forward("...\nreturn x * 2", init="self.gain = self.params.get('gain', shape=(1, 6))"),
    "AH308": forward(
        "n = [0]\ndef body(step, states):\n    ...\n    return step * n[0], states\n"
        "return F.contrib.foreach(body, x, [])[0]"
    ),
    "AH309": forward("return self.body(x)", init="self.body = nn.Dense(3)\n..."),
    "AH406": forward(f"{LOOP}\nreturn s[0]", inputs="x, limit"),
    "AH410": forward("...\nself.prev = x\nreturn out", init="self.prev = None"),
    "AH504": forward("return ...", inputs="x, scale", init="self.scale = self.params.get('scale', shape=(1, 6))"),
    "AH511": forward("...\nreturn F.tanh(x)"),
    "AH603": CLASS
    + "    def __init__(self):\n        super().__init__()\n        self.w = self.params.get('w', shape=(3,))\n\n"
    "    ...\n        return F.relu(x)\n",
    "AH604": CLASS.replace("Net", "Base") + FORWARD + "\n\nclass Net(Base):\n"
    "    def hybrid_forward(self, F, x):\n        return ...\n",
    "AH606": forward("...", inputs="x, state=None"),
    "AH609": forward("return ...", inputs="q", init="self.attention = nn.Dense(3)"),
    "AH612": CLASS + "    ...\n\n    def hybrid_forward(self, F, x):\n        return self.fc(x)\n",
    "AH613": CLASS + "    def __init__(self):\n        super().__init__()\n        self.d = nn.Dense(3)\n\n    ...\n",
    "AH709": forward("return ...", init="self._shift = True"),
    "AH801": CLASS + "    ...\n",
}


def snippets(rule: Rule) -> list[str]:
    section = re.search(r"^Example:(.*?)^Instead:", rule.doc, re.DOTALL | re.MULTILINE)
    assert section is not None
    # What follows "with" and the like tells of its surroundings.
    told = re.split(r"` (?:with|used under|in the|in a) ", section[1])[0] + "`"
    return re.findall(r"`([^`]+)`", told)


def put_into_block(code: str, snippet: str) -> str:
    """A module with a block that holds the example."""
    if code in AROUND:
        return AROUND[code].replace("...", snippet, 1)
    inputs = ", ".join(["x", *sorted(unbound(snippet))])
    if snippet.endswith(":"):
        snippet += "\n    x = F.relu(x)"
    if re.match(r"def hybrid_forward", snippet):
        return f"{CLASS}    {snippet}\n"
    if re.match(r"self\.\w+ = ", snippet):
        return forward("return F.relu(x)", init=snippet, before=IMPORTS)
    body = (
        snippet
        if snippet.startswith("return")
        else f"return {snippet}"
        if is_expression(snippet)
        else f"{snippet}\nreturn x"
    )
    return forward(body, inputs=inputs, before=IMPORTS)


def is_expression(snippet: str) -> bool:
    try:
        ast.parse(snippet, mode="eval")
    except SyntaxError:
        return False
    return True


def unbound(snippet: str) -> set[str]:
    """The names that an example reads and does not bind: inputs of the method."""
    names = list(ast.walk(ast.parse(snippet + "\n    pass" if snippet.endswith(":") else snippet)))
    loaded = {node.id for node in names if isinstance(node, ast.Name)}
    bound = {node.id for node in names if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return loaded - bound - {node.arg for node in names if isinstance(node, ast.arg)} - KNOWN - set(dir(builtins))


CASES = [(rule, snippet) for rule in RULES for snippet in snippets(rule)]


@pytest.mark.parametrize(("rule", "snippet"), CASES, ids=[f"{rule.code}-{snippet}" for rule, snippet in CASES])
def test_the_rule_finds_its_example(rule: Rule, snippet: str) -> None:
    source = put_into_block(rule.code, snippet)
    ast.parse(source)
    assert rule.code in {finding.code for finding in find([rule], source)}, source


def test_every_rule_has_an_example() -> None:
    assert {rule.code for rule, _ in CASES} == {rule.code for rule in RULES}
