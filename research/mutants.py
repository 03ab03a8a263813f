"""Would the tests see a mistake? A fixed sample of changed code, run against the tests of its room.

    python research/mutants.py                       300 mutants (an hour or two on one processor)
    python research/mutants.py --count 15
    python research/mutants.py --only ranking/       a sample of one room, or of one module

A mutant is the package with one comparison, sum, number, condition or returned value changed. It is
killed if a test fails or takes too long. A survivor is code that no test of its room holds, or a
change without effect. The same code and seed give the same sample.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
OPPOSITES: Final[dict[type[ast.AST], Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
Change = tuple[ast.AST, str, object]  # a node, one of its fields, and the field's new value


def find_changes(tree: ast.Module) -> Iterator[Change]:
    """All mutants of a module; annotations are left out, since they are not evaluated."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):  # a node after what contains it
        for name in ("annotation", "returns"):
            if isinstance(inner := getattr(node, name, None), ast.AST):
                skipped |= {*ast.walk(inner)}
        if node not in skipped:
            yield from change(node)


def change(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OPPOSITES:
            yield node, "ops", [OPPOSITES[type(operator)]()]
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in OPPOSITES:
            yield node, "op", OPPOSITES[type(operator)]()
        case ast.Constant(value=bool(value)):
            yield node, "value", not value
        case ast.Constant(value=int(value) | float(value)):
            yield node, "value", value + 1
        case ast.Return(value=ast.AST() as value) if ast.unparse(value) != "None":
            yield node, "value", ast.Constant(None)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield node, "test", ast.UnaryOp(ast.Not(), test)


def mutate(code: str, number: int) -> tuple[str, str]:
    """The code of a module with one of its changes, and the line and the change in words."""
    tree = ast.parse(code)
    node, field, value = list(find_changes(tree))[number]
    before = ast.unparse(node)
    setattr(node, field, value)
    shown = "  →  ".join(text.partition("\n")[0][:90] for text in (before, ast.unparse(node)))
    return ast.unparse(tree), f"{getattr(node, 'lineno', 0)}  {shown}"


def is_killed(checkout: Path, module: str, code: str, timeout: float) -> bool:
    """Whether tests fail with this code of a module, in a copy of the checkout: the module's own,
    and if these pass all of its room.
    """
    target, room = checkout / module, Path("tests", Path(module).parts[1])
    places = [room / f"test_{target.name}", room if (checkout / room).is_dir() else Path("tests")]
    kept = target.read_text(encoding="utf-8")
    target.write_text(code, encoding="utf-8")
    try:
        return any(
            fails(checkout, [str(place), module], timeout)
            for place in places
            if (checkout / place).exists()
        )
    finally:
        target.write_text(kept, encoding="utf-8")


def fails(checkout: Path, tests: list[str], timeout: float) -> bool:
    """Whether tests fail, or take longer than `timeout` seconds."""
    command = [sys.executable, "-m", "pytest", "-xq", "--hypothesis-seed=0", *tests]
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=checkout, start_new_session=True, **streams)
    try:
        return process.wait(timeout) != 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return True
    finally:
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the beginning of paths in the package")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one mutant's tests")
    args = parser.parse_args()
    files = sorted((ROOT / "forecasteval").rglob("*.py"))
    codes = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    mutants = [
        (module, number)
        for module, code in codes.items()
        if module.startswith(f"forecasteval/{args.only}")
        for number, _ in enumerate(find_changes(ast.parse(code)))
    ]
    sample = sorted(random.Random(args.seed).sample(mutants, min(args.count, len(mutants))))
    print(f"{len(sample)} of {len(mutants)} mutants")
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns(".git", "evaluation", "__pycache__", ".*_cache")
        checkout = Path(shutil.copytree(ROOT, Path(folder, "copy"), ignore=ignored))
        for module in {Path(module).parts[1]: module for module, _ in sample}.values():
            if is_killed(checkout, module, codes[module], args.timeout):
                sys.exit(f"without any change, the tests of {module} fail or take too long")
        for module, number in sample:
            code, words = mutate(codes[module], number)
            killed = is_killed(checkout, module, code, args.timeout)
            ends["killed" if killed else "survived"] += 1
            print(f"{'killed  ' if killed else 'SURVIVED'}  {module}:{words}", flush=True)
    print(", ".join(f"{count} {end}" for end, count in sorted(ends.items())))


if __name__ == "__main__":
    main()
