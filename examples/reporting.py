"""What the examples share: their command line, a progress bar on terminals, and a picture of the losses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.progress import track

#: How an example trains: (hybridize, epochs, at most this many batches an epoch, seed) -> the loss of each batch.
Train = Callable[[bool, int, int, int], list[float]]

#: Imperative and hybridized training add up the same numbers in another order here and there.
_TOLERANCE = 1e-3


def run(description: str, train: Train, argv: Sequence[str] | None = None, epochs: int = 3) -> list[list[float]]:
    """Train as the command line says and report. Gives the losses of each training.

    With `--mode both` (the default) it trains twice from one seed, imperatively and hybridized, and exits with an
    error when the losses differ.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mode", choices=("imperative", "hybridized", "both"), default="both")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batches", type=int, default=0, help="at most this many batches an epoch; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curve", default="", help="write a picture of the losses to this file (needs matplotlib)")
    options = parser.parse_args(argv)
    modes = ("imperative", "hybridized") if options.mode == "both" else (options.mode,)
    curves = {}
    for mode in modes:
        losses = train(mode == "hybridized", options.epochs, options.batches, options.seed)
        curves[mode] = losses
        sys.stdout.write(f"{mode}: loss {losses[0]:.4f} -> {losses[-1]:.4f} after {len(losses)} batches\n")
    if options.curve:
        save_curve(options.curve, curves)
    if len(modes) == 2:
        gap = max(abs(a - b) for a, b in zip(*curves.values()))
        sys.stdout.write(f"largest difference between imperative and hybridized losses: {gap:.2e}\n")
        if gap > _TOLERANCE:
            raise SystemExit("the hybridized model does not train as the imperative one does")
    return list(curves.values())


def batches(total: int, description: str) -> Iterator[int]:
    """0 to `total` - 1, with a progress bar if stderr is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return iter(range(total))
    return iter(track(range(total), description=description, console=console, transient=True))


def save_curve(path: str, curves: dict[str, list[float]]) -> None:
    """Write a picture with one line of losses for each training. Says so when matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.stderr.write("the learning curve was not written: it needs matplotlib (`pip install 'autohybrid[viz]'`)\n")
        return
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="batch", ylabel="loss")
    for (name, losses), style in zip(curves.items(), ("-", "--")):
        axes.plot(losses, style, label=name)
    axes.legend()
    figure.savefig(path)
