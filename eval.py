#!/usr/bin/env python3
r"""Score predictions of future events: `python eval.py -f 250915-random`.

FutureX (arXiv 2508.11987) asks questions of four levels. A model ends its answer with a box, `\boxed{B}`; when
the truth is known, this module reads the answers, scores every question in [0, 1] and combines the level means
with weights 0.1/0.2/0.3/0.4:

    level 1    single choice    1 if the picks are exactly the truth, else 0
    level 2    multiple choice  F1 of the picks
    level 3/4  ranking          1 if the lists agree item by item, else 0.8 * matched / k
    level 3/4  number           max(0, 1 - ((Y - Y') / sigma)^2), sigma = Std of the question

Files: `dataset/*.json` holds questions (id, prompt, level, ground_truth, Std), `prediction/*.json` the same rows
with "answer", or the submission form: `{"id", "prediction"}` rows or `{"id": answer}`. JSONL works for both. Files of
Prophet Arena and RxnOptBench are recognised by their records. Results go to stdout, and
to `evaluation/` with --save or nightly.

Exit codes: 0 scored, 1 internal fault, 2 usage or unreadable input, 3 scored but some files failed,
4 a check found something, 5 another run holds the lock, 6 a gate is not passed, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

if (
    __name__ == "__main__"
):  # Ctrl-C ends the imports below without a traceback, and then the program with code 130
    sys.excepthook = lambda kind, *rest: (
        None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)
    )

from forecasteval import futurex, prophet, rxnopt
from forecasteval.benchmark import ITEMS, add_options
from forecasteval.common.errors import EvaluationError, InputError, printable, run_command
from forecasteval.common.files import find_file
from forecasteval.common.usage import Parser, describe, program_name
from forecasteval.common.version import __version__
from forecasteval.display.results import print_result
from forecasteval.futurex.evaluator import FutureXEvaluator
from forecasteval.nightly import store
from forecasteval.ranking import gate
from forecasteval.scoring import Scorer, score_names

__all__ = ["FutureXEvaluator", "main"]

DEFAULT_PREDICTION: Final = "250915-random"
BENCHMARKS: Final = (
    rxnopt.BENCHMARK,
    prophet.BENCHMARK,
    futurex.BENCHMARK,
)  # the benchmarks, in the order in which they claim a file
HERE: Final = Path(__file__).resolve().parent
ROOT: Final = (
    HERE if (HERE / "pyproject.toml").is_file() else Path()
)  # installed, it works in the current folder
OUTPUT: Final = "FORECASTEVAL_OUTPUT"
PROGRAM: Final = program_name(sys.argv[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is documented in the module's docstring."""
    words = sys.argv[1:] if argv is None else list(argv)
    # numpy adds in another order on each number of threads: the last digits would depend on the number of processors.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return run_command(PROGRAM, partial(_dispatch, words))


def _dispatch(words: Sequence[str]) -> int:
    """Run the command that the first word names; without one, score."""
    if not words or words[0].startswith("-"):
        return score(words)
    if words[0] in COMMANDS:
        return COMMANDS[words[0]](words[1:])
    import difflib  # here: it costs more than all the rest of the start-up

    near = difflib.get_close_matches(words[0], COMMANDS, n=1) or COMMANDS
    known = f"no such command; there is {', '.join(near)}; a file to score is named with -f"
    raise InputError(printable(words[0] or "''", 60), known)


# --- python eval.py -f NAME ---


def score(argv: Sequence[str]) -> int:
    """Score predictions: FutureX answers, Prophet Arena forecasts, RxnOptBench choices.

    Find each file and its dataset, score it by its benchmark, print a report. Files of one dataset that are one set of
    predictions have one report. A file that cannot be scored costs only itself.
    """
    parser = _parser(score, _SCORE, "scored", 3, 6)
    add = parser.add_argument
    file = f"file in prediction/, or a path; repeatable ({DEFAULT_PREDICTION})"
    add("-f", "--file", metavar="NAME", action="append", help=file)
    dataset = "file in dataset/, or a path; repeatable for RxnOptBench (by the file's name)"
    add("--dataset", metavar="NAME", action="append", help=dataset)
    ITEMS.add_to(add)
    add("--save", action="store_true", help="write evaluation/NAME.json")
    add("--html", action="store_true", help="write the page evaluation/NAME.html")
    gate.add_threshold(parser)
    add_options(parser, reversed(BENCHMARKS), ranked=False)
    return _score_files(parser.parse_args(argv))


def _score_files(args: argparse.Namespace) -> int:
    """Score and report file by file; the exit code.

    `score_names` finds each file and its dataset. `Scorer.score` recognises the benchmark, the first of `BENCHMARKS` that
    claims the file, and has its evaluator make the result (`Evaluator.evaluate`): read the files, score every question,
    summarise the scores. The report is the result as lines and tables.
    """
    scorer = _scorer(args)
    saved: set[str] = set()
    breaches: list[str] = []
    failures: list[EvaluationError] = []
    shown = 0

    def fail(error: EvaluationError) -> None:
        failures.append(error)
        print(f"{PROGRAM}: {error}", file=sys.stderr)

    for results in score_names(
        scorer, args.root, args.file or [DEFAULT_PREDICTION], _find_datasets(args), fail
    ):
        try:
            report = results.report(**scorer.report_options(results["benchmark"]))
            breaches += gate.find_breach(results, args.fail_under)
            if args.save:
                store.save_results(results, scorer.output, saved)
            if args.html:
                from forecasteval.nightly import pages

                pages.write_run(results, scorer.output)
        except EvaluationError as error:
            fail(error)
            continue
        if shown and not args.json:
            print()
        print_result(results, report, args.json)
        shown += 1
    gate.require_none(breaches, args.fail_under)
    return 0 if not failures else 3 if shown else 2


def _scorer(args: argparse.Namespace) -> Scorer:
    """The scorer for files of any benchmark with the options that were given."""
    output = getattr(args, "output", None) or os.environ.get(OUTPUT) or args.root / "evaluation"
    return Scorer(BENCHMARKS, vars(args), Path(output))


def _find_datasets(args: argparse.Namespace) -> list[Path]:
    """The files that --dataset names."""
    return [
        path
        for name in args.dataset or ()
        for path in rxnopt.find_datasets(name, args.root / "dataset")
    ]


# --- The other commands ---


def nightly(argv: Sequence[str]) -> int:
    """Score every new or changed file of prediction/ and write evaluation/ with the leaderboard."""
    from forecasteval.nightly import commands

    parser = _parser(nightly, _NIGHTLY, "scored", 3, 4, 5)
    commands.add_options(parser)
    add_options(parser, reversed(BENCHMARKS), ranked=True)
    args = parser.parse_args(argv)
    scorer = _scorer(args)
    if (args.root / "prediction").is_dir():  # otherwise the error is about the root
        scorer.require_usable_options()
    return commands.nightly(args, scorer, PROGRAM)


def compare(argv: Sequence[str]) -> int:
    """Test the differences of systems on the same questions, pair by pair."""
    from forecasteval.nightly import commands

    parser = _parser(compare, _COMPARE, "compared", 6)
    commands.add_comparison(parser)
    add_options(parser, reversed(BENCHMARKS), ranked=True)
    args = parser.parse_args(argv)
    return commands.compare(args, _scorer(args), _find_datasets(args), PROGRAM)


def check(argv: Sequence[str]) -> int:
    """Find mistakes in a dataset (FutureX, Prophet Arena) before anyone predicts on it."""
    parser = _parser(check, _CHECK, "nothing found", 4)
    parser.add_argument(
        "dataset", metavar="DATASET", help="file in dataset/, or a path (or a CSV of Prophet Arena)"
    )
    args = parser.parse_args(argv)
    results = _scorer(args).check(find_file(args.dataset, args.root / "dataset"))
    print_result(results, results.report(), args.json)
    return 4 if results["findings"] else 0


def _rxnopt(argv: Sequence[str]) -> int:
    from forecasteval.rxnopt import commands

    return commands.run(argv, PROGRAM)


def _convert(argv: Sequence[str]) -> int:
    from forecasteval.convert import commands

    return commands.run(argv, PROGRAM, futurex.find_mistakes)


COMMANDS: Final = {
    "nightly": nightly,
    "compare": compare,
    "check": check,
    "rxnopt": _rxnopt,
    "convert": _convert,
}


# --- Options and help ---

_SCORE: Final = f"""\
  {{0}}                              score prediction/{DEFAULT_PREDICTION}.json
  {{0}} -f 250915-careful --items    also show how every answer was read
  {{0}} -f my-run -f other-run       a report for each
  {{0}} -f runs/x.jsonl --dataset 250915 --json
  {{0}} -f my-run --fail-under 0.2   for CI: exit code 6 if the score is lower

other commands (each has a --help):
  {{0}} nightly             score new files in prediction/, write evaluation/leaderboard.md
  {{0}} compare A B [...]   test the differences of systems on the same questions
  {{0}} check DATASET       look for mistakes in a dataset
  {{0}} rxnopt import|build|render|parse   make questions from tables of reactions, write prompts, read replies
  {{0}} convert SOURCE -o FILE   convert logs of inspect_ai, batches, MiroFlow, tables to predictions"""
_NIGHTLY: Final = """\
  {0} nightly                       score what has changed since the last run
  {0} nightly --min-questions 10    leave levels with fewer questions out of the ranking
  {0} nightly --root /data/futurex --json"""
_COMPARE: Final = """\
  {0} compare 250915-careful 250915-random
  {0} compare runs/a.json runs/b.json runs/c.json --dataset 250915 --json
  {0} compare 250915-released 250915-candidate --fail-if-worse    for CI: exit code 6"""
_CHECK: Final = """\
  {0} check 250915
  {0} check drafts/251001.json --json"""


def _parser(
    command: Callable[..., int], examples: str, done: str, *codes: int
) -> argparse.ArgumentParser:
    """A parser of a command, which its docstring describes, with the options that all have; see `describe`."""
    texts = describe(PROGRAM, (command.__doc__ or "").partition("\n")[0], examples, done, *codes)
    parser = Parser(prog=PROGRAM if command is score else f"{PROGRAM} {command.__name__}", **texts)
    add = parser.add_argument
    add(
        "--json", action="store_true", help="print strict JSON, a line per result, and nothing else"
    )
    add(
        "--root",
        metavar="DIR",
        type=Path,
        default=ROOT,
        help="folder of prediction/, dataset/ and evaluation/",
    )
    output = f"folder of results, in place of evaluation/ (or environment variable {OUTPUT})"
    if command is not check:  # which writes nothing
        add("--output", metavar="DIR", type=Path, help=output)
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
