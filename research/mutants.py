"""Would the tests see a mistake? A fixed sample of changed code, run against its tests.

    python research/mutants.py                       300 mutants
    python research/mutants.py --count 15
    python research/mutants.py --only ranking/       a sample of one room,
    or of one module
    python research/mutants.py --checkout DIR        of another checkout
    python research/mutants.py --again               those that survived
    before, by new tests

A mutant is the package with one comparison, sum, number, condition or returned value
changed. It is killed if a test fails or takes too long: one of the module's own, of its
room, or of the files in tests/ and of other rooms that ran the changed line when all
tests ran once, which `coverage` and `pytest-cov` must be installed for. A survivor is
code that no test holds, or a change without effect. The same code and seed give the
same sample. What was found stays in `--state FOLDER`: a run that was stopped
goes on there.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
OPPOSITES: Final[dict[type[ast.AST], Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
# A node, one of its fields, and the field's new value
Change = tuple[ast.AST, str, object]
# A line as "forecasteval/cli.py:12", and the files of tests it ran in
Lines = dict[str, list[str]]
PROCESSES: Final = 2
FAILED: Final = "failed-test"
MEMORY: Final = 4 << 30  # bytes; a loop that never ends may also fill a list
# Every run of tests is a process with these, which take half of the time of
# a short one.
SERVER: Final = multiprocessing.get_context("forkserver")
IMPORTED: Final = ["hypothesis.strategies", "numpy", "openai", "pytest", "scipy.stats"]
# These read the source, not what it does, or measure time, for minutes.
LEFT_OUT: Final = [
    "tests/test_advice.py::test_every_advice_in_the_source_has_a_test",
    "tests/test_weight.py",
    "tests/futurex/test_time.py",
]


def find_changes(tree: ast.Module) -> Iterator[Change]:
    """All mutants of a module; annotations are left out, since they are
    not evaluated.
    """
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
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if (
            type(operator) in OPPOSITES
        ):
            yield node, "op", OPPOSITES[type(operator)]()
        case ast.Constant(value=bool(value)):
            yield node, "value", not value
        case ast.Constant(value=int(value) | float(value)):
            yield node, "value", value + 1
        case ast.Return(value=ast.AST() as value) if ast.unparse(value) != "None":
            yield node, "value", ast.Constant(None)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield node, "test", ast.UnaryOp(ast.Not(), test)


def mutate(code: str, number: int) -> tuple[str, int, str]:
    """The code of a module with one of its changes, the line, and the
    change in words.
    """
    tree = ast.parse(code)
    node, field, value = list(find_changes(tree))[number]
    before = ast.unparse(node)
    setattr(node, field, value)
    shown = "  →  ".join(
        text.partition("\n")[0][:90] for text in (before, ast.unparse(node))
    )
    return ast.unparse(tree), getattr(node, "lineno", 0), shown


def find_tests(
    checkout: Path, module: str, line: int, lines: Lines, most: int | None
) -> Iterator[list[str]]:
    """Lists of tests of a changed line: the module's own, then all others that ran it,
    those of its room first, and those that run least of the package. A line that ran
    when its module was imported has those of its room.
    """
    room = Path("tests", Path(module).parts[1])
    own = room / f"test_{Path(module).name}"
    if (checkout / own).exists():
        yield [str(own), module]
    sizes = Counter(name for files in lines.values() for name in files)
    found = lines.get(f"{module}:{line}", [])
    found = sorted(
        found, key=lambda name: (room not in Path(name).parents, sizes[name])
    )
    if found:
        yield [*[name for name in found if name != str(own)][:most], module]
    else:
        yield [str(room) if (checkout / room).is_dir() else "tests", module]


def find_killer(
    checkout: Path, module: str, code: str, lists: Iterable[list[str]], limit: int
) -> str | None:
    """The test that fails with this code of a module, in a copy of the checkout."""
    target = checkout / module
    kept = target.read_text(encoding="utf-8")
    target.write_text(code, encoding="utf-8")
    try:
        return next(
            filter(None, (find_failure(checkout, tests, limit) for tests in lists)),
            None,
        )
    finally:
        target.write_text(kept, encoding="utf-8")


def find_failure(checkout: Path, tests: list[str], limit: int) -> str | None:
    """The first test that fails; if none does, but all take more than `limit` seconds
    of a processor (ten times as long by the clock, for those that only wait), a
    word for that.
    """
    (checkout / FAILED).unlink(missing_ok=True)
    process = SERVER.Process(target=run_tests, args=(checkout, tests, limit))
    process.start()
    process.join(10 * limit)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # what it started, too
    process.join()
    if process.exitcode == 0:
        return None
    return (
        (checkout / FAILED).read_text()
        if (checkout / FAILED).exists()
        else f"{limit} seconds"
    )


class Watch:
    """Writes the name of a test that fails."""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            Path(FAILED).write_text(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            Path(FAILED).write_text(report.nodeid)


def run_tests(checkout: Path, tests: list[str], limit: int) -> None:
    """Run tests in this process, and end it."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    os.chdir(checkout)
    # Plugins would be read again, of packages that are imported here.
    os.environ |= {"CI": "true", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.dont_write_bytecode = True
    import pytest

    skipped = [word for name in LEFT_OUT for word in ("--deselect", name)]
    options = ["-xq", "-p", "no:cacheprovider", f"--rootdir={checkout}", *skipped]
    os._exit(pytest.main([*options, *tests], plugins=[Watch()]))


def list_lines(checkout: Path, state: Path) -> Lines:
    """Run all tests once, and list the files of tests that ran each line
    of the package.
    """
    known = state / "lines.json"
    if not known.exists():
        import coverage

        database = state / "coverage"
        print("all tests once, to learn which lines they run …", flush=True)
        options = [
            "--cov=forecasteval",
            "--cov-context=test",
            "--cov-report=",
            "--dist=loadfile",
        ]
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"-n{PROCESSES}", *options],
            cwd=checkout,
            env={**os.environ, "CI": "true", "COVERAGE_FILE": str(database)},
            check=True,
        )
        known.write_text(
            json.dumps(read_coverage(coverage.CoverageData(str(database))))
        )
    lines: Lines = json.loads(known.read_text())
    return lines


def read_coverage(data: Any) -> Lines:
    data.read()
    lines: defaultdict[str, set[str]] = defaultdict(set)
    for path in data.measured_files():
        module = "forecasteval/" + path.rpartition("/forecasteval/")[2]
        for line, contexts in data.contexts_by_lineno(path).items():
            files = {context.partition("::")[0] for context in contexts}
            lines[f"{module}:{line}"] |= {
                name for name in files if name.startswith("tests/")
            }
    return {line: sorted(files) for line, files in lines.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", default="", help="the beginning of paths in the package"
    )
    parser.add_argument(
        "--limit", type=int, default=240, help="CPU seconds for a mutant's tests"
    )
    parser.add_argument(
        "--files", type=int, help="files of tests for a mutant, at most"
    )
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--checkout", type=Path, default=ROOT, metavar="DIR")
    parser.add_argument("--state", type=Path, default=ROOT / "evaluation" / "mutants")
    parser.add_argument(
        "--again", action="store_true", help="only what survived before"
    )
    args = parser.parse_args()
    args.state.mkdir(parents=True, exist_ok=True)
    files = sorted((args.checkout / "forecasteval").rglob("*.py"))
    codes = {
        str(path.relative_to(args.checkout)): path.read_text("utf-8") for path in files
    }
    mutants = [
        (module, number)
        for module, code in codes.items()
        if module.startswith(f"forecasteval/{args.only}")
        for number, _ in enumerate(find_changes(ast.parse(code)))
    ]
    sample = random.Random(args.seed).sample(mutants, min(args.count, len(mutants)))
    print(f"{len(sample)} of {len(mutants)} mutants")
    journal = args.state / "ends.jsonl"
    ends: dict[tuple[str, int], str | None] = {}
    if journal.exists():
        rows = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
        ends = {(row["module"], row["number"]): row["killer"] for row in rows}
    checkouts: SimpleQueue[Path] = SimpleQueue()

    def run(mutant: tuple[str, int]) -> None:
        module, number = mutant
        code, line, words = mutate(codes[module], number)
        checkout = checkouts.get()
        lists = find_tests(checkout, module, line, lines, args.files)
        killer = find_killer(checkout, module, code, lists, args.limit)
        checkouts.put(checkout)
        ends[mutant] = killer
        print(
            f"{'killed  ' if killer else 'SURVIVED'}  {module}:{line}  {words}",
            flush=True,
        )
        row = {
            "module": module,
            "number": number,
            "line": line,
            "words": words,
            "killer": killer,
        }
        with journal.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")

    os.nice(args.nice)
    SERVER.set_forkserver_preload(IMPORTED)
    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns(
            ".git", "evaluation", "__pycache__", ".*_cache"
        )
        for number in range(PROCESSES):
            copy = Path(folder, f"copy{number}")
            checkouts.put(Path(shutil.copytree(args.checkout, copy, ignore=ignored)))
        lines = list_lines(copy, args.state)
        wanted = [
            mutant
            for mutant in sample
            if (ends.get(mutant, "") is None if args.again else mutant not in ends)
        ]
        with ThreadPoolExecutor(PROCESSES) as pool:
            list(pool.map(run, wanted))
        killers = {
            killer for mutant in sample if "::" in (killer := ends.get(mutant) or "")
        }
        fault = (
            find_failure(copy, sorted(killers), 10 * args.limit) if killers else None
        )
    if fault:
        sys.exit(f"a test fails without any change: {fault}")
    found = [ends[mutant] for mutant in sample if mutant in ends]
    print(f"{len(found) - found.count(None)} killed, {found.count(None)} survived")


if __name__ == "__main__":
    main()
