"""The command line `convert`: what another program wrote, as prediction files."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import write_atomic
from forecasteval.common.usage import describe
from forecasteval.common.version import __version__

from .formats import read_source
from .rows import Columns
from .runs import Run, Source, prediction_text

_EXAMPLES: Final = """\
  {0} convert logs/run.eval -o prediction/250915-mymodel.json
  {0} convert benchmark_results.jsonl -o prediction/250915-miroflow.json
  {0} convert run_1/benchmark_results.jsonl run_2/benchmark_results.jsonl -o prediction/250915-miroflow.json
  {0} convert answers.csv -o prediction/250915-mymodel.json --id question --answer reply

One run becomes NAME.json, several become NAME@1.json, NAME@2.json, …"""
_TAKEN: Final = ("systems.json", "leaderboard.json")  # what describes the systems, and whose result would be a board
_RUN: Final = re.compile(r"(.*)@([0-9]+)", re.S)  # NAME@RUN


class Numbered(NamedTuple):
    """A run, its source, and the file that it becomes; None if it has no answer."""

    source: Path
    number: int
    run: Run
    output: Path | None


def run(argv: Sequence[str], program: str) -> int:
    """Convert; 0 if it did its work.

    Raises InputError for what cannot be read, EvaluationError for what cannot be written, and SystemExit (argparse)
    for bad usage.
    """
    args = build_parser(program).parse_args(argv)
    _require_usable(args.output, args.sources)
    sources = {path: read_source(path, Columns(args.id, args.answer)) for path in args.sources}
    runs = number_runs(sources, args.output)
    outputs = [one.output for one in runs if one.output]
    if not outputs:
        reasons = "; ".join(note for one in runs for note in one.run.notes())
        raise InputError(", ".join(map(str, sources)), "expected answers", f"none ({reasons})")
    taken = [path for path in outputs if os.path.lexists(path)]
    if taken and not args.force:
        raise InputError(str(taken[0]), "the file is there already; --force writes over it")
    texts = {one.output: prediction_text(one.run, str(one.source)) for one in runs if one.output}
    for path, (text, _, _) in texts.items():
        write_atomic(path, text)
    told = {path: (count, notes) for path, (_, count, notes) in texts.items()}
    for line in [*_report(sources, runs, told), *_others(args.output, outputs)]:
        print(printable(line))
    return 0


def build_parser(program: str) -> argparse.ArgumentParser:
    """The options; `program` is what stands before `convert` on the command line."""
    what = "Make prediction files of what other programs wrote: inspect_ai, MiroFlow, FutureX submissions, tables."
    parser = argparse.ArgumentParser(prog=f"{program} convert", **describe(program, what, _EXAMPLES, "converted"))
    add = parser.add_argument
    add("sources", metavar="SOURCE", type=Path, nargs="+", help="file to read; what is in it tells its format")
    add("-o", "--output", metavar="FILE", type=Path, required=True, help="prediction to write, NAME.json")
    add("--id", metavar="COLUMN", help="column of the ids; of JSON, the key (id, …)")
    add("--answer", metavar="COLUMN", help="column of the answers; of JSON, the key (answer, prediction, …)")
    add("--force", action="store_true", help="write over files that are there already")
    add("--version", action="version", version=f"{program} convert {__version__}")
    return parser


def _require_usable(output: Path, sources: Sequence[Path]) -> None:
    if output.suffix != ".json":
        raise InputError(str(output), "expected a name that ends with .json")
    if output.name in _TAKEN:
        raise InputError(str(output), "expected another name", f"{output.name}, which nightly reads or writes itself")
    twice = [str(path) for path, count in Counter(map(os.path.realpath, sources)).items() if count > 1]
    if twice:
        raise InputError(", ".join(twice), "expected each source once", "one that is named twice")


def number_runs(sources: Mapping[Path, Source], output: Path) -> list[Numbered]:
    """All runs, and where they go: to `output` if there is one only, else to NAME@1.json, NAME@2.json, …

    Runs of one source keep their numbers; those of several are counted. InputError if several runs are to go to what is
    the name of one.
    """
    found = [(path, number, one) for path, source in sources.items() for number, one in source.runs.items()]
    if len(found) == 1:
        ((path, number, one),) = found
        return [Numbered(path, number, one, output if one.rows else None)]
    if "@" in output.stem:
        raise InputError(str(output), f"expected a name without @ for {len(found)} runs, which are told by @1, @2 …")
    if len(sources) > 1:
        found = [(path, number, one) for number, (path, _, one) in enumerate(found, 1)]
    return [
        Numbered(path, number, one, output.with_name(f"{output.stem}@{number}.json") if one.rows else None)
        for path, number, one in found
    ]


def _report(
    sources: Mapping[Path, Source], runs: Sequence[Numbered], told: Mapping[Path, tuple[int, list[str]]]
) -> list[str]:
    lines = []
    for path, source in sources.items():
        runs_of_it = len(source.runs)
        lines.append(f"{path}: {source.format}, {runs_of_it} run{'s' if runs_of_it > 1 else ''}")
        lines += [f"  {note}" for note in source.notes]
        for one in runs:
            if one.source == path:
                answers, notes = told[one.output] if one.output else (0, [])
                count = f"{answers} answer{'s' if answers != 1 else ''}"
                lines.append(f"{one.output}: {count}" if one.output else f"run {one.number}: no answers, not written")
                lines += [f"  {note}" for note in [*one.run.notes(), *notes]]
    return lines


def _others(output: Path, written: Sequence[Path]) -> list[str]:
    """Runs of the same name that were there before and are none of these."""
    base = _RUN.fullmatch(output.stem)
    stem = base[1] if base else output.stem
    others = [
        path.name
        for path in sorted(output.parent.iterdir())
        if path not in written and path.suffix == ".json" and (path.stem == stem or _is_run(path.stem, stem))
    ]
    return [f"also there, not from this source: {grouped_names(others)}"] if others else []


def _is_run(stem: str, name: str) -> bool:
    match = _RUN.fullmatch(stem)
    return match is not None and match[1] == name
