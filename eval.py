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
Prophet Arena and RxnOptBench are told by their records and scored by their own evaluators. Results go to stdout, and
to `evaluation/` with --save or nightly.

Exit codes: 0 scored, 1 internal fault, 2 usage or unreadable input, 3 scored but some files failed,
4 a check found something, 5 another run holds the lock, 130 interrupted.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval import __version__, futurex, prophet, rxnopt
from forecasteval.boards import store
from forecasteval.common.benchmark import Benchmark, Scorer
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    grouped_warning,
    run_command,
)
from forecasteval.common.files import find_dataset, find_file, score_unchanged
from forecasteval.common.joins import join
from forecasteval.common.records import RecordFile, dump_json, number_text
from forecasteval.common.report import Results, format_text
from forecasteval.futurex.items import Scoring
from forecasteval.futurex.questions import FIELDS, require_questions
from forecasteval.futurex.report import report_blocks
from forecasteval.futurex.rules import LLM_POLICIES, MISSING_POLICIES, RULE_SETS, WEIGHTS
from forecasteval.futurex.summary import summarise

if TYPE_CHECKING:
    from forecasteval.futurex.llm_readers import Reader

DEFAULT_PREDICTION: Final = "250915-random"
DEFAULT_MODEL: Final = "gpt-4o-mini"
DEFAULT_SERVER: Final = "https://api.openai.com/v1"
HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE if (HERE / "pyproject.toml").is_file() else Path()  # installed, it works in the current folder
PROGRAM: Final = "forecasteval" if Path(sys.argv[0]).stem == "forecasteval" else "eval.py"


# --- FutureX ---


class FutureXEvaluator:
    """Scores FutureX predictions; one evaluator serves any number of files.

    rules: a rule set, "readme" (default), "official-2026" or "paper" (docs/scoring.md); the next two go with readme.
    missing: "zero" scores a missing answer 0, "skip" leaves it out of the means.
    relative_sigma: sigma as a share of |truth| for numbers without Std; None asks for equality there.

    With an `api_key`, a language model (`model` at `base_url`, or OPENAI_BASE_URL, or OpenAI) reads numbers:
    llm_policy "unsure" asks about those that the grammar cannot settle, "always" about all of them. `llm_names` lets it
    also match names that the rules leave, for which it is sent true names. `workers` calls run at a time, replies are
    kept in the SQLite file `cache` (none by default), `deadline` seconds bound a run: a call of evaluate_all, or with
    `one_run` all that the evaluator does.
    """

    one_run = False

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        missing: str | None = None,
        relative_sigma: float | None = None,
        rules: str = "readme",
        model: str = DEFAULT_MODEL,
        llm_policy: str = "unsure",
        llm_names: bool = False,
        workers: int = 8,
        cache: str | Path | None = None,
        deadline: float = 900.0,
    ) -> None:
        if rules not in RULE_SETS:
            raise InputError("rules", f"must be one of {', '.join(RULE_SETS)}", repr(rules))
        if missing not in (None, *MISSING_POLICIES):
            raise InputError("missing", "must be zero or skip", repr(missing))
        if relative_sigma is not None and not (number_text(relative_sigma) and relative_sigma > 0):
            raise InputError("relative_sigma", "must be a positive number", repr(relative_sigma))
        if llm_policy not in LLM_POLICIES:
            raise InputError("llm_policy", "must be unsure or always", repr(llm_policy))
        if llm_names and not api_key:
            raise InputError("llm_names", "needs a language model: expected an api_key", "none")
        own = {"missing": missing, "relative_sigma": relative_sigma}
        given: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
        if given and rules != "readme":
            raise InputError(", ".join(given), f"settled by the rule set {rules}: can only be given with readme")
        self.rule_set, self.rules = rules, RULE_SETS[rules]._replace(**given)
        self._readers: dict[str, Reader] = {}
        if api_key:
            from forecasteval.futurex.llm_readers import make_readers

            server = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_SERVER
            self._readers = make_readers(api_key, server, model, llm_policy, llm_names, workers, cache, deadline)

    def evaluate_prediction(self, answer: object, question: Mapping[str, Any]) -> float:
        """The score of one answer to one question of the dataset, in [0, 1]; missing and unparsed score 0.

        Raises InputError if the question has no usable level, truth or Std.
        """
        results = self.evaluate_all([{**question, "answer": answer, "prediction": None}], "question")
        return float(results["items"][0]["score"] or 0)

    def evaluate_all(self, data: Iterable[Mapping[str, Any]], where: str = "data") -> Results:
        """Score questions that carry "answer" (or "prediction"); docs/python.md has every key of the result, a dict.

        overall_score = Σ w·mean over the levels that have questions, w renormalised; a level without questions
        is nan. Intervals: `common.statistics.stratified_interval`. `where` names the data in errors. Raises
        InputError if a record cannot be scored at all.
        """
        collecting = gc.isenabled()
        gc.disable()  # nothing here makes cycles, and walking a million records again and again costs a third
        try:
            return self._evaluate(data, where)
        finally:
            if collecting:
                gc.enable()

    def _evaluate(self, data: Iterable[Mapping[str, Any]], where: str) -> Results:
        if not self.one_run:
            for reader in self._readers.values():
                reader.client.begin()
        scoring = Scoring(self.rules, where, review=bool(self._readers))
        scoring.add_all(data)
        asked = {name: reader.decide(scoring.answered, scoring.items) for name, reader in self._readers.items()}
        warnings = [grouped_warning(text, names) for text, names in scoring.notes.items()]
        warnings += [line for name, reader in self._readers.items() for line in reader.warnings(asked[name])]
        values = {
            "benchmark": "FutureX",
            **summarise(scoring.items, self.rules.renormalised),
            "unboxed_count": scoring.unboxed_count,
            "no_sigma_count": scoring.no_sigma_count,
            "warnings": warnings,
            "llm": asked.get("llm"),
            "llm_names": asked.get("llm_names"),
            "signature": {**self.settings(), **scoring.checksums()},
            "items": scoring.items,
        }
        return Results(values, report_blocks)

    def evaluate_file(self, path: Path, datasets: Sequence[Path] = ()) -> Results:
        """The results of one prediction file, against the questions of its dataset where there is one."""
        if len(datasets) > 1:
            raise InputError("--dataset", "several need RxnOptBench questions", "FutureX")
        predictions, dataset = RecordFile(path), next(iter(datasets), None)
        if dataset:
            questions = RecordFile(dataset)
            rows, notes = join(list(questions), predictions, FIELDS, str(path))
            results = self.evaluate_all(rows, str(dataset))
            results["warnings"] = questions.warnings + notes + results["warnings"]
            results["signature"]["dataset_sha256"] = questions.sha256
        else:
            results = self.evaluate_all(require_questions(predictions, path), str(path))
        results["warnings"] = predictions.warnings + results["warnings"]
        results["signature"]["prediction_sha256"] = predictions.sha256
        files = {"name": path.stem, "prediction": path.name, "dataset": dataset.name if dataset else None}
        return Results({**files, **results}, report_blocks)

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the data."""
        settings: dict[str, Any] = dict.fromkeys(("llm_model", "llm_server", "llm_policy", "llm_prompt", "llm_names"))
        for reader in self._readers.values():
            settings.update(reader.settings())
        return {
            "evaluator": f"FutureX {__version__}",
            "weights": dict(WEIGHTS),
            "rules": self.rule_set,
            "fixed_weights": None if self.rules.renormalised else True,
            "missing": self.rules.missing,
            "relative_sigma": self.rules.relative_sigma,
            **settings,
        }


def _futurex(root: Path, llm: str | None = None, no_cache: bool = False, **options: Any) -> FutureXEvaluator:
    """An evaluator of the command line's options."""
    if llm is None:
        return FutureXEvaluator(**options)
    if not llm:
        raise InputError("--llm", "expected the name of a model")
    # A server of one's own may need no key.
    key = os.environ.get("OPENAI_API_KEY") or ("none" if os.environ.get("OPENAI_BASE_URL") else None)
    if not key:
        raise InputError("--llm", "expected a key in the environment variable OPENAI_API_KEY", "none")
    cache = None if no_cache else root / "evaluation" / "llm-cache.sqlite3"
    evaluator = FutureXEvaluator(api_key=key, model=llm, cache=cache, **options)
    evaluator.one_run = True
    return evaluator


# --- Benchmarks ---


def _scorer(args: argparse.Namespace) -> Scorer:
    for name in ("llm_policy", "llm_names", "workers", "no_cache"):
        if getattr(args, name, None) is not None and getattr(args, "llm", None) is None:
            raise InputError(f"--{name}".replace("_", "-"), "needs --llm MODEL")
    if getattr(args, "workers", None) is not None and args.workers < 1:
        raise InputError("--workers", "expected 1 or more", str(args.workers))
    options = frozenset({"rules", "missing", "relative_sigma", "llm", "llm_policy", "llm_names", "workers", "no_cache"})
    own = Benchmark("FutureX", futurex.recognises, partial(_futurex, args.root), options, frozenset({"items"}))
    return Scorer((rxnopt.BENCHMARK, prophet.BENCHMARK, own), vars(args))


# --- Command line ---

_EXIT_CODES: Final = """

exit codes: 0 scored, 1 internal fault, 2 usage or unreadable input, 3 scored but some files failed,
4 a check found something, 5 another run holds the lock, 130 interrupted"""
_SCORE: Final = f"""\
examples:
  {PROGRAM}                              score prediction/{DEFAULT_PREDICTION}.json
  {PROGRAM} -f 250915-careful --items    and show how every answer was read
  {PROGRAM} -f my-run -f other-run       one report each
  {PROGRAM} -f runs/x.jsonl --dataset 250915 --json

other commands, each with its own --help:
  {PROGRAM} nightly             score what is new in prediction/, write evaluation/leaderboard.md
  {PROGRAM} compare A B [...]   test the differences of systems on the same questions
  {PROGRAM} check DATASET       look for mistakes in a dataset
  {PROGRAM} rxnopt import|build|render|parse   make questions from tables of reactions, ask them, read replies"""
_NIGHTLY: Final = f"""\
examples:
  {PROGRAM} nightly                       what did not change since the last run is not scored again
  {PROGRAM} nightly --min-questions 10    leave levels with fewer questions out of the ranking
  {PROGRAM} nightly --verify              score all again: is what is stored what comes out?
  {PROGRAM} nightly --root /data/futurex --json"""
_COMPARE: Final = f"""\
examples:
  {PROGRAM} compare 250915-careful 250915-random
  {PROGRAM} compare runs/a.json runs/b.json runs/c.json --dataset 250915 --json"""
_CHECK: Final = f"""\
examples:
  {PROGRAM} check 250915
  {PROGRAM} check drafts/251001.json --json"""


# Rule sets by which systems can be ranked: they are judged on the same questions.
_RANKED: Final = tuple(name for name, rules in RULE_SETS.items() if rules.missing == "zero")


def _parser(command: str, description: str, epilog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} {command}".rstrip(),
        description=description,
        epilog=epilog + _EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--json", action="store_true", help="print strict JSON, a line per result, and nothing else")
    add("--root", metavar="DIR", type=Path, default=ROOT, help="folder of prediction/, dataset/ and evaluation/")
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _add_policies(parser: argparse.ArgumentParser, rules: Iterable[str]) -> None:
    """The options that a score depends on; None where they were not given."""
    futurex = parser.add_argument_group("FutureX").add_argument
    futurex("--rules", choices=rules, help="rule set (readme); see docs/scoring.md")
    futurex("--relative-sigma", metavar="X", type=float, help="sigma = X * |truth| where a number has no Std")
    futurex("--llm", metavar="MODEL", help="ask a language model about unclear numbers (key: OPENAI_API_KEY)")
    futurex("--llm-policy", choices=LLM_POLICIES, help="which numbers: the unsure ones (default) or all")
    futurex("--llm-names", action="store_true", default=None, help="let it match names, too: sends it true names")
    futurex("--workers", metavar="N", type=int, help="calls to the language model at a time (8)")
    futurex("--no-cache", action="store_true", default=None, help="keep no replies in evaluation/llm-cache.sqlite3")
    arena = parser.add_argument_group("Prophet Arena").add_argument
    arena(
        "--gamma", dest="gammas", metavar="G", type=float, action="append", help="risk aversion of a return (0 0.5 1)"
    )


def _score_parser() -> argparse.ArgumentParser:
    described = "Score predictions: FutureX answers, Prophet Arena forecasts, RxnOptBench choices."
    parser = _parser("", described, _SCORE)
    add = parser.add_argument
    add("-f", "--file", metavar="NAME", action="append", help=f"file in prediction/, or a path ({DEFAULT_PREDICTION})")
    add("--dataset", metavar="NAME", action="append", help="file in dataset/, or a path (found by the file's name)")
    add("--items", action="store_true", default=None, help="show a line per question (FutureX, RxnOptBench)")
    add("--save", action="store_true", help="write evaluation/NAME.json")
    add("--missing", choices=MISSING_POLICIES, help="FutureX: missing answers score 0 (default) or are left out")
    add("--sort", metavar="METRIC", help="Prophet Arena: the metric that orders the leaderboard (brier)")
    _add_policies(parser, RULE_SETS)
    return parser


def score(argv: Sequence[str]) -> int:
    """Score the named files, one report each."""
    args = _score_parser().parse_args(argv)
    scorer = _scorer(args)
    saved: set[str] = set()
    names = args.file or [DEFAULT_PREDICTION]
    failed = 0
    for number, name in enumerate(names):
        try:
            results = _score_name(args, scorer, name)
            report = results.report(**scorer.views(results["benchmark"]))
            if args.save:
                store.save_results(results, args.root / "evaluation", saved)
        except EvaluationError as error:
            failed += 1
            print(f"{PROGRAM}: {error}", file=sys.stderr)
            continue
        print(dump_json(results, ascii_only=True) if args.json else ("\n" if number else "") + format_text(report))
    return _exit_code(failed, len(names) - failed)


def _score_name(args: argparse.Namespace, scorer: Scorer, name: str) -> Results:
    path, folder = find_file(name, args.root / "prediction"), args.root / "dataset"
    named: list[Path | None] = [p for dataset in args.dataset or () for p in rxnopt.find_datasets(dataset, folder)]
    dataset, *more = named or [find_dataset(path, folder)]
    return score_unchanged(lambda path, dataset: scorer.score(path, dataset, *more), path, dataset)


def _exit_code(failed: int, scored: int) -> int:
    return 0 if not failed else 3 if scored else 2


def nightly(argv: Sequence[str]) -> int:
    """Score what is new in prediction/, write results and leaderboard to evaluation/."""
    from forecasteval.boards import commands

    described = "Score every file of prediction/ that is new or changed, write evaluation/ and its leaderboard."
    parser = _parser("nightly", described, _NIGHTLY)
    commands.add_options(parser)
    _add_policies(parser, _RANKED)
    args = parser.parse_args(argv)
    scorer = _scorer(args)
    if (args.root / "prediction").is_dir():  # a mistyped root is told first
        scorer.require_usable_options()
    return commands.nightly(args, scorer, PROGRAM)


def compare(argv: Sequence[str]) -> int:
    """Test the differences of systems on the same questions."""
    from forecasteval.boards import comparison

    parser = _parser("compare", "Test the differences of systems on the same questions, pair by pair.", _COMPARE)
    parser.add_argument("file", metavar="NAME", nargs="+", help="file in prediction/, or a path; two or more")
    parser.add_argument("--dataset", metavar="NAME", action="append", help="file in dataset/, or a path")
    _add_policies(parser, _RANKED)
    args = parser.parse_args(argv)
    scorer = _scorer(args)
    results = [_score_name(args, scorer, name) for name in args.file]
    for one in results:
        scorer.views(one["benchmark"])  # an option that it has no use for is refused
    compared = comparison.compare(results)
    print(dump_json(compared, ascii_only=True) if args.json else format_text(compared.report()))
    return 0


def check(argv: Sequence[str]) -> int:
    """Look for mistakes in a dataset."""
    from forecasteval.futurex.check import check_dataset, check_report

    parser = _parser("check", "Look for mistakes in a FutureX dataset before anyone predicts on it.", _CHECK)
    parser.add_argument("dataset", metavar="DATASET", help="file in dataset/, or a path")
    args = parser.parse_args(argv)
    path = find_file(args.dataset, args.root / "dataset")
    benchmark = _scorer(args).recognise(path, path)
    if benchmark.name != "FutureX":
        raise InputError(str(path), "expected FutureX questions, the only ones that are checked", benchmark.name)
    dataset = RecordFile(path)
    found = check_dataset(dataset)
    if args.json:
        findings = {"findings": [finding._asdict() for finding in found.findings], "notes": found.notes}
        file = {"dataset": path.name, "dataset_sha256": dataset.sha256, "count": found.records}
        print(dump_json({**file, **findings}, ascii_only=True))
    else:
        print(format_text(check_report(path, found)))
    return 4 if found.findings else 0


def _rxnopt(argv: Sequence[str]) -> int:
    from forecasteval.rxnopt import commands

    return commands.run(argv, PROGRAM)


COMMANDS: Final[Mapping[str, Callable[[Sequence[str]], int]]] = {
    "nightly": nightly, "compare": compare, "check": check, "rxnopt": _rxnopt,
}  # fmt: skip
_MOVED: Final = {"--all": "nightly", "--compare": "compare", "--check": "check"}  # flags of version 1.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is documented in the module's docstring."""
    words = sys.argv[1:] if argv is None else list(argv)
    return run_command(PROGRAM, partial(_dispatch, words))


def _dispatch(words: Sequence[str]) -> int:
    for word in words:
        if word.partition("=")[0] in _MOVED:
            raise InputError(word, f"this is a command now: {PROGRAM} {_MOVED[word.partition('=')[0]]} --help")
    if words and words[0] in COMMANDS:
        return COMMANDS[words[0]](words[1:])
    return score(words)


if __name__ == "__main__":
    from eval import main as run  # under its own name, by which other processes know what they are sent

    sys.exit(run())
