"""Random well-typed `hybrid_forward`s as source text: tensors, lists, branches, loops, helpers, states, writes.

Every program terminates and stays finite (values pass through tanh), takes two tensors of shape (3, 4) and returns
tensors. Elements are scaled where they change places, since a sum must not be compared with a sum of the same elements
in another order. What a program draws comes from one Random, so a seed is a program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_UNARY = (
    "F.tanh({})",
    "F.relu({})",
    "-{}",
    "F.sin({})",
    "F.abs({})",
    "({} * 0.5)",
    "({} + 1)",
    "(2 - {})",
    "{}.tanh()",
)
_BINARY = ("({} + {})", "({} - {})", "({} * {})", "F.broadcast_maximum({}, {})", "F.broadcast_minimum({}, {})")
_COMPARE = (">", "<", ">=", "<=")
HELPERS = """
def blend(F, a, b, amount):
    if a.mean() > b.mean():
        return a * amount + b * (1 - amount)
    return F.tanh(a - b)


def collect(F, x, count):
    rows = []
    for i in range(count):
        if x.sum() > i:
            rows.append(x + i)
        else:
            rows.append(x - i)
    return rows


def first_large(F, items, limit, otherwise=None):
    for k, item in enumerate(items):
        if F.abs(item).mean() > limit:
            return item * (k + 1)
    return items[-1] if otherwise is None else otherwise
"""
_CLASS = """

class Program(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.layer = nn.Dense(4, in_units=4, flatten=False)
            self.flag = True
            self.start = nd.zeros((3, 4))
            self.memo = self.start
            self.offset = self.params.get('offset', shape=(3, 4), init='one')

    def scaled(self, F, t):
        return F.tanh(self.layer(t)) if self.flag else t

    def pair(self, F, t, amount=0.5, *, flip=False):
        if t.mean() > 0 and not flip:
            return t * amount, F.tanh(t)
        return F.sin(t), t

    def hybrid_forward(self, F, x, y, offset):
"""


@dataclass
class ProgramWriter:
    """Writes one program. `tensors` and `scalars` are the names in scope of shapes (3, 4) and (1,), `lists` hold
    tensors, `numbers` are Python numbers; every `return` of a program gives `results` values."""

    random: Random
    tensors: list[str] = field(default_factory=lambda: ["x", "y"])
    scalars: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    count: int = 0
    results: int = 1

    def program(self) -> str:
        """The text of a module with a class `Program`."""
        self.results = self.random.randint(1, 2)
        self.block(2, self.random.randint(3, 7), 0)
        self.emit(2, f"return {', '.join(self.tensor(1) for _ in range(self.results))}")
        body = "\n".join(self.lines)
        imports = "from autohybrid import autograd, nd\nfrom autohybrid.gluon import HybridBlock, nn\n"
        return f"{imports}{HELPERS}{_CLASS}{body}\n"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # -- expressions -------------------------------------------------------------------------------------------------
    def tensor(self, depth: int) -> str:
        pick = self.random.random()
        if depth <= 0 or pick < 0.25:
            return self.random.choice(self.tensors)
        if pick < 0.5:
            return self.random.choice(_UNARY).format(self.tensor(depth - 1))
        if pick < 0.75:
            return self.random.choice(_BINARY).format(self.tensor(depth - 1), self.tensor(depth - 1))
        return self.special(depth)

    def special(self, depth: int) -> str:
        t = self.tensor(depth - 1)
        forms = [
            f"(offset + {t})",
            f"self.scaled(F, {t})",
            f"blend(F, {t}, {self.tensor(0)}, {self.random.choice((0.25, 0.5))})",
            f"({t} if {self.condition()} else {self.tensor(0)})",
            f"F.concat({t}[0:2], {self.tensor(0)}[1:2], dim=0)",
            f"({t} + {self.tensor(0)}[{self.random.randint(-3, 2)}])",
            f"F.where({t} > 0, {self.tensor(0)}, {self.tensor(0)})",
            f"({t} * {self.tensor(0)}.shape[0])",
            f"({t} * ({self.tensor(0)} > {self.random.choice((0, 0.25))}))",
            f"({t} * 0.9).reshape(({self.tensor(0)}.shape[1], -1)).T",
            f"({t} - {self.tensor(0)}[:, {self.random.randint(-4, 3)}].expand_dims(1))",
            f"({t} * 0.9)[::-1]",
            f"F.broadcast_add({t}, {self.tensor(0)}.max(axis={self.random.randint(0, 1)}, keepdims=True))",
        ]
        if self.lists:
            name = self.random.choice(self.lists)
            forms += [f"F.add_n(*{name})", f"sum({name})", f"{name}[-1]", f"first_large(F, {name}, 0.4, {t})"]
        if self.scalars:
            forms.append(f"({t} * {self.random.choice(self.scalars)})")
        if self.numbers:
            forms += [f"({t} * {self.random.choice(self.numbers)})", f"({t} + {self.random.choice(self.numbers)})"]
        return self.random.choice(forms)

    def scalar(self) -> str:
        t = self.tensor(1)
        plain = (f"{t}.sum()", f"{t}.mean()", f"F.max({t})", f"{t}[0, 1]", f"F.norm({t})")
        if self.random.random() < 0.9:
            return self.random.choice(plain)
        return f"{self.random.choice(('max', 'min'))}({self.random.choice(plain)}, {self.tensor(0)}.mean())"

    def condition(self) -> str:
        pick = self.random.random()
        simple = f"{self.scalar()} {self.random.choice(_COMPARE)} {self.random.choice((-1, 0, 0.5, 2))}"
        if pick < 0.6:
            return simple
        if pick < 0.7:
            return f"not {simple}"
        if pick < 0.8:
            return f"{simple} and {self.scalar()} < 3"
        if pick < 0.86:
            return f"{simple} or self.flag"
        if pick < 0.9:
            return f"-1 < {self.scalar()} <= 2"
        if self.numbers and pick < 0.95:
            return f"{self.random.choice(self.numbers)} > 0"
        if pick < 0.97:
            test = f"{self.tensor(0)}, {self.tensor(0)}"
            return f"{self.random.choice(('any', 'all'))}(k.sum() > {self.random.choice((-1, 0.5))} for k in ({test}))"
        return self.random.choice(("self.flag", "x.shape[0] == 3", "y is not None", "autograd.is_training()"))

    # -- statements --------------------------------------------------------------------------------------------------
    def block(self, depth: int, length: int, nesting: int, in_loop: bool = False) -> None:
        before = len(self.lines)
        for _ in range(length):
            self.statement(depth, nesting, in_loop)
        if len(self.lines) == before:
            self.emit(depth, "pass")

    def statement(self, depth: int, nesting: int, in_loop: bool) -> None:
        kinds = ["assign", "assign", "rebind", "scalar", "in place", "item", "helper", "view", "split", "pause", "pair"]
        kinds += ["listing", "check"]
        if not in_loop and nesting < 2:
            kinds += ["number", "inner", "table"]
        if nesting == 0:
            kinds += ["memo"]
        if nesting < 2:
            kinds += ["if", "if", "for", "while", "early"]
        if in_loop:
            kinds += ["break"]
        getattr(self, f"_{self.random.choice(kinds).replace(' ', '_')}")(depth, nesting)

    def _assign(self, depth: int, nesting: int) -> None:
        value, name = self.tensor(2), self.fresh("t")
        self.emit(depth, f"{name} = F.tanh({value})")
        if nesting == 0:
            self.tensors.append(name)

    def _rebind(self, depth: int, nesting: int) -> None:
        name = self.random.choice(self.tensors)
        self.emit(depth, f"{name} = F.tanh({self.tensor(2)})")

    def _scalar(self, depth: int, nesting: int) -> None:
        value, name = self.scalar(), self.fresh("s")
        self.emit(depth, f"{name} = F.tanh({value})")
        if nesting == 0:
            self.scalars.append(name)

    def _in_place(self, depth: int, nesting: int) -> None:
        name, value = self.fresh("c"), self.tensor(1)
        self.emit(depth, f"{name} = nd.zeros((3, 4)) + 0.25")
        self.emit(depth, f"{name} {self.random.choice(('+=', '*=', '-='))} 0.5")
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.tanh({name} + {value})")

    def _item(self, depth: int, nesting: int) -> None:
        name = self.fresh("c")
        self.emit(depth, f"{name} = nd.ones((3, 4))")
        key = self.random.choice(("0", "1:", ":, 2", "-1, 1", "[0, 2]", "slice(0, 2)"))
        self.emit(depth, f"{name}[{key}] = {self.random.choice((0, 0.5, -1))}")
        if self.random.random() < 0.5:
            self.emit(depth, f"{name}[0][1:3] = 0.75")
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.tanh({name} * {self.tensor(1)})")

    def _helper(self, depth: int, nesting: int) -> None:
        name = self.fresh("rows")
        self.emit(depth, f"{name} = collect(F, {self.tensor(1)}, {self.random.randint(1, 3)})")
        if nesting == 0:
            self.lists.append(name)

    def _view(self, depth: int, nesting: int) -> None:
        name, part = self.fresh("c"), self.fresh("v")
        self.emit(depth, f"{name} = nd.ones((3, 4)) * 0.5")
        key = self.random.choice(("0", "1:", "-1", "0:2", "1:3"))
        self.emit(depth, f"{part} = {self.random.choice((f'{name}[{key}]', name, f'{name}.reshape((4, 3))'))}")
        inside = depth
        if self.random.random() < 0.4:
            self.emit(depth, f"if {self.condition()}:")
            inside += 1
        writes = ("{} += 1", "{} *= 0.5", "{}[:] = 0.75", "{}[0] = -1", "{}[-1:] -= 0.25")
        self.emit(inside, self.random.choice(writes).format(part))
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.tanh({name} * {self.tensor(1)})")

    def _split(self, depth: int, nesting: int) -> None:
        left, right = self.fresh("a"), self.fresh("b")
        self.emit(depth, f"{left}, {right} = F.split({self.tensor(1)}, num_outputs=2, axis=1)")
        joined = self.random.choice((f"{right} * 0.9, {left}", f"{left}, {left} - {right}"))
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.concat({joined}, dim=1)")

    def _pause(self, depth: int, nesting: int) -> None:
        scope = self.random.choice(("pause", "predict_mode", "train_mode", "record"))
        name = self.fresh("p")
        self.emit(depth, f"with autograd.{scope}():")
        self.emit(depth + 1, f"{name} = F.tanh({self.tensor(2)})")
        self.emit(depth, f"{self.random.choice(self.tensors)} = {name} * 0.5 + {self.tensor(1)} * 0.25")

    def _pair(self, depth: int, nesting: int) -> None:
        options = self.random.choice(("", ", 0.25", ", flip=True", ", amount=0.75"))
        one, two = self.random.choice(self.tensors), self.fresh("q")
        self.emit(depth, f"{one}, {two} = self.pair(F, {self.tensor(1)}{options})")
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.tanh({two} - {self.tensor(0)})")

    def _listing(self, depth: int, nesting: int) -> None:
        name, item = self.fresh("list"), self.fresh("e")
        count = self.random.randint(1, 3)
        forms = [
            f"[{', '.join(self.tensor(1) for _ in range(count))}]",
            f"[F.tanh({item} * 0.5) for {item} in ({self.tensor(0)}, {self.tensor(0)})]",
            f"[{self.tensor(0)} + {item} for {item} in range({count})]",
            f"[{item} if {item}.sum() > 0 else -{item} for {item} in [{self.tensor(0)}, {self.tensor(0)}]]",
        ]
        self.emit(depth, f"{name} = {self.random.choice(forms)}")
        if self.random.random() < 0.4:
            self.emit(depth, f"{name}.append({self.tensor(1)})")
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.tanh(F.add_n(*{name}))")
        if nesting == 0:
            self.lists.append(name)

    def _table(self, depth: int, nesting: int) -> None:
        name = self.fresh("d")
        self.emit(depth, f"{name} = {{'a': {self.tensor(1)}, 'b': {self.tensor(0)}}}")
        self.emit(depth, f"if {self.condition()}:")
        self.emit(depth + 1, f"{name}['a'] = F.sin({name}['b'])")
        self.emit(depth, f"{self.random.choice(self.tensors)} = F.tanh({name}['a'] + {name}['b'])")

    def _number(self, depth: int, nesting: int) -> None:
        name = self.fresh("n")
        self.emit(depth, f"{name} = {self.random.choice((0, 1, -1, 0.5))}")
        self.emit(depth, f"if {self.condition()}:")
        self.emit(depth + 1, f"{name} {self.random.choice(('+=', '-=', '='))} {self.random.choice((1, 2, 0.5))}")
        if self.random.random() < 0.5:
            self.emit(depth, "else:")
            self.emit(depth + 1, f"{name} = {self.random.choice((0, 1, 3))}")
        if nesting == 0:
            self.numbers.append(name)

    def _inner(self, depth: int, nesting: int) -> None:
        name, value = self.fresh("f"), self.tensor(1)
        self.emit(depth, f"def {name}(v, w=0.5):")
        self.emit(depth + 1, f"if v.sum() > {self.random.choice((-1, 0, 1))}:")
        self.emit(depth + 2, f"return F.tanh(v * w) + {self.tensor(0)} * 0.1")
        self.emit(depth + 1, "return v")
        self.emit(depth, f"{self.random.choice(self.tensors)} = {name}({value})")

    def _memo(self, depth: int, nesting: int) -> None:
        self.emit(depth, f"self.memo = F.tanh({self.tensor(1)})")
        self.emit(depth, f"{self.random.choice(self.tensors)} = self.memo * 0.5 + {self.tensor(0)}")

    def _check(self, depth: int, nesting: int) -> None:
        if self.random.random() < 0.5:
            self.emit(depth, f"assert {self.scalar()} < 50, 'too large'")
            return
        self.emit(depth, f"if F.abs({self.tensor(0)}).max() > {self.random.choice((1.5, 3, 9))}:")
        self.emit(depth + 1, "raise ValueError('too large')")

    def _if(self, depth: int, nesting: int) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.block(depth + 1, self.random.randint(1, 2), nesting + 1)
        if self.random.random() < 0.3:
            self.emit(depth, f"elif {self.condition()}:")
            self.block(depth + 1, 1, nesting + 1)
        if self.random.random() < 0.6:
            self.emit(depth, "else:")
            self.block(depth + 1, self.random.randint(1, 2), nesting + 1)

    def _early(self, depth: int, nesting: int) -> None:
        if nesting:
            self._rebind(depth, nesting)
            return
        self.emit(depth, f"if {self.condition()}:")
        if self.random.random() < 0.5:
            self._rebind(depth + 1, nesting + 1)
        self.emit(depth + 1, f"return {', '.join(self.tensor(1) for _ in range(self.results))}")

    def _for(self, depth: int, nesting: int) -> None:
        over = self.random.choice((f"range({self.random.randint(1, 3)})", "x", "[x, y]", "zip([x, y], [y, x])"))
        name = self.fresh("i")
        target = f"{name}, {name}b" if over.startswith("zip") else name
        self.emit(depth, f"for {target} in {over}:")
        self.block(depth + 1, self.random.randint(1, 2), nesting + 1, in_loop=True)
        if not over.startswith("range"):
            self.emit(depth + 1, f"y = F.tanh(y + {name} * 0.5)")

    def _while(self, depth: int, nesting: int) -> None:
        name = self.fresh("w")
        self.emit(depth, f"{name} = F.abs({self.tensor(1)}) + 0.5")
        self.emit(depth, f"while {name}.sum() < {self.random.choice((8, 20))}:")
        self.emit(depth + 1, f"{name} = {name} * 1.5")
        if self.numbers and self.random.random() < 0.3:
            self.emit(depth + 1, f"{self.random.choice(self.numbers)} += 1")
        if self.random.random() < 0.3:
            self.emit(depth + 1, f"if F.max({name}) > 3:")
            self.emit(depth + 2, "break")
        self.emit(depth, f"x = F.tanh({name} * 0.1)")

    def _break(self, depth: int, nesting: int) -> None:
        self.emit(depth, f"if {self.condition()}:")
        self.emit(depth + 1, self.random.choice(("break", "continue")))


def make_program(seed: int) -> str:
    """The program of a seed."""
    return ProgramWriter(Random(seed)).program()
