"""The commands: what happens to a file, command by command.

`main` runs the command that the first word names, and without one `score`:
`score_names` finds each file and its dataset, the first of `list_benchmarks` that
recognises the file makes the result, and its report is printed.

Exit codes are declared in `common/exit_codes.py`, and explained in docs/scoring.md.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from forecasteval import futurex, prophet, rxnopt
from forecasteval.benchmark import (
    ITEMS,
    UNREAD,
    Files,
    Option,
    add_options,
    hide_options,
    list_benchmarks,
    whole_number,
)
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    PendingError,
    grouped_names,
    printable,
    run_command,
)
from forecasteval.common.exit_codes import ExitCode
from forecasteval.common.files import find_file, find_own_dataset, write_atomic
from forecasteval.common.records import dump_json, group_by
from forecasteval.common.settings import SETTINGS_FILE, FolderSettings, read_settings
from forecasteval.common.usage import Parser, command_line, describe, program_name
from forecasteval.common.version import __version__
from forecasteval.display.results import Results, list_unread, print_result
from forecasteval.display.tables import FORMS, Report, Table
from forecasteval.lookup import (
    NamedFile,
    connect_files,
    find_named,
    find_prediction,
    find_runs,
    is_file_name,
    list_datasets,
    list_predictions,
    name_files,
    require_no_clash,
)
from forecasteval.ranking.names import SYSTEMS_FILE, read_systems
from forecasteval.scoring import Scorer, group_runs, report_choice, score_names

if TYPE_CHECKING:
    from forecasteval.asking.commands import Run

DEFAULT_PREDICTION: Final = "250915-random"
# In the order in which they claim a file, behind those of other packages
BENCHMARKS: Final = (
    rxnopt.BENCHMARK,
    prophet.BENCHMARK,
    futurex.BENCHMARK,
)
CHECKOUT: Final = Path(__file__).resolve().parent.parent
OUTPUT: Final = "FORECASTEVAL_OUTPUT"
PROGRAM: Final = program_name(sys.argv[0])
_RANKING: Final = (  # options of `nightly` that a settings file may have
    Option(
        "--min-questions",
        "leave out levels with fewer questions (default: 0)",
        whole_number(0),
        "",
        "N",
    ),
    Option(
        "--min-datasets",
        "datasets that a system must answer for a rank over all datasets "
        "(default: half of them, at most 6)",
        whole_number(1),
        "",
        "N",
    ),
    Option(
        "--late-files",
        "what to do with answers that came after the truth or the deadline (default: "
        "keep)",
        ("keep", "mark", "drop"),
        "",
    ),
)
# eval.py works beside itself; `forecasteval` in the current folder, also after `pip
# install -e .`.
_BESIDE: Final = PROGRAM == "eval.py" and (CHECKOUT / "pyproject.toml").is_file()
ROOT: Final = CHECKOUT if _BESIDE else Path()
_BY_NAME: Final = "(default: found by the name of the prediction file)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code (`ExitCode`)."""
    words = sys.argv[1:] if argv is None else list(argv)
    # numpy adds in another order on each number of threads: the last digits would
    # depend on the number of processors.
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    os.environ |= dict.fromkeys(threads, "1")
    return run_command(PROGRAM, partial(_dispatch, words))


def _dispatch(words: Sequence[str]) -> int:
    """Run the command that the first word names; without one, score."""
    if not words or words[0].startswith("-"):
        return score(words)
    if words[0] in COMMANDS:
        return COMMANDS[words[0]](words[1:])
    import difflib  # here: it costs more than all the rest of the start-up

    near = difflib.get_close_matches(words[0], COMMANDS, n=1) or COMMANDS
    known = (
        f"no such command; there is {', '.join(near)}; a file to score is named with -f"
    )
    raise InputError(printable(words[0] or "''", 60), known)


# --- python eval.py -f NAME ---

_FILE_FLAGS: Final = ("-f", "--file")


def score(argv: Sequence[str]) -> int:
    """Score predictions: FutureX answers, Prophet Arena forecasts, RxnOptBench choices.

    Find each file and its dataset, score it by its benchmark, print a report. Files of
    one dataset that are one set of predictions have one report. A file that cannot be
    scored costs only itself.
    """
    parser, options = _make_score_parser()
    argv = _repeat_flags(argv)
    asked = [word for word in argv if word not in ("-h", "--help")]
    args, unknown = parser.parse_known_args(asked)
    if unknown and unknown[0] in COMMANDS and not args.file:  # which no command takes
        asked.remove(unknown[0])
        words = shlex.join([unknown[0], *asked])
        expected = f"run it as {command_line(PROGRAM)} {words}, the command first"
        raise InputError(unknown[0], expected)
    is_help = len(asked) < len(argv)
    if is_help and (shown := _find_benchmarks(args.file or (), args)):
        benchmarks = list_benchmarks(BENCHMARKS)
        reading = [
            benchmark.name for benchmark in benchmarks if UNREAD in benchmark.options
        ]
        if not set(shown).isdisjoint(reading):
            shown = [*shown, UNREAD.flag]
        hide_options(options, shown)
    return _score_files(_parse(parser, argv))


def _repeat_flags(argv: Sequence[str]) -> list[str]:
    """Write `-f a b` as `-f a -f b`: so a shell writes `-f prediction/week-*.json`."""
    words: list[str] = []
    takes_files = False
    for word in argv:
        is_file = (
            takes_files and not word.startswith("-") and words[-1] not in _FILE_FLAGS
        )
        if word in _FILE_FLAGS:
            takes_files = True
        elif word.startswith("-") and word != "-":
            takes_files = False
        if is_file and word not in COMMANDS:
            words.append("-f")
        words.append(word)
    return words


def _find_benchmarks(names: Sequence[str], args: argparse.Namespace) -> list[str]:
    """Find the benchmarks of the named files that are there."""
    scorer, found = _scorer(args), list[str]()
    with contextlib.suppress(InputError):
        datasets = _find_datasets(args)
        for name in chain(
            *find_named(names, args.root, scorer.has_questions, datasets)
        ):
            path = find_prediction(name, args.root / "prediction")
            own = find_own_dataset(path, args.root, _is_root_named(args))
            dataset = next(iter(datasets), own)
            found.append(scorer.recognise(path, dataset).name)
    return found


def _make_score_parser() -> tuple[Parser, dict[str, list[argparse.Action]]]:
    """Make the parser of `score`; the options of benchmarks come second."""
    parser = _parser(
        score, _SCORE, "scored", ExitCode.PARTLY_FAILED, ExitCode.GATE_NOT_PASSED
    )
    add = parser.add_argument
    add(
        "-f",
        "--file",
        metavar="NAME",
        action="append",
        help=f"file in prediction/, a path, or - for stdin; repeatable "
        f"(default: {DEFAULT_PREDICTION})",
    )
    add(
        "--prediction",
        metavar="FILE",
        action="append",
        type=_name_file,
        dest="file",
        help="another word for -f, which takes a file of the current folder first",
    )
    add(
        "--dataset",
        metavar="NAME",
        action="append",
        help=f"file in dataset/, or a path; repeatable for RxnOptBench {_BY_NAME}",
    )
    ITEMS.add_to(add)
    unread = UNREAD.add_to(add)
    add(
        "--by",
        metavar="COLUMN",
        help="also score each value of a column of the dataset",
    )
    add("--save", action="store_true", help="write the result, evaluation/NAME.json")
    add(
        "--html",
        action="store_true",
        help="write a page of the result, evaluation/NAME.html",
    )
    add(
        "--fail-under",
        metavar="SCORE",
        type=_parse_threshold,
        help="exit with 6 if a score is below SCORE",
    )
    actions = add_options(parser, reversed(list_benchmarks(BENCHMARKS)), ranked=False)
    return parser, {**actions, UNREAD.flag: [unread]}


def _name_file(word: str) -> str:
    """Name a file that is there by its path, since a name alone is one
    of prediction/.
    """
    if os.path.isfile(word):
        return _add_folder(Path(word))
    return word


def _add_folder(path: Path) -> str:
    """Write a path so that it is read as one: a name alone is one of prediction/."""
    if path.parent.name:
        return str(path)
    return f".{os.sep}{path}"


def _score_files(args: argparse.Namespace) -> int:
    """Score and report file by file; the exit code."""
    scorer = _scorer(args)
    saved: set[str] = set()
    breaches: list[str] = []
    failures: list[EvaluationError] = []
    is_degraded = False
    form = args.format
    if args.json:
        form = "json"
    given = args.file or [DEFAULT_PREDICTION]
    is_ranking = form == "csv" or (len(given) > 1 and form != "json")
    gate = ""
    if args.fail_under is not None:
        gate = "--fail-under"
    # Of several files the table below all of them has these columns.
    columns = args.columns
    if is_ranking:
        columns = ""
    ranked: list[Results] = []
    shown = 0

    def fail(error: EvaluationError) -> None:
        failures.append(error)
        print(f"{PROGRAM}: {error}", file=sys.stderr)

    datasets = _find_datasets(args)
    names = [*chain(*find_named(given, args.root, scorer.has_questions, datasets))]
    if args.unread:
        _require_new_list(args.unread, names)
    is_root_named = _is_root_named(args)
    for results in score_names(scorer, args.root, names, datasets, fail, is_root_named):
        try:
            report = _report_result(results, scorer, args.by)
            # After --llm-dry-run there is no score to be stored, compared or ranked.
            if "planned" in results:
                print_result(results, report, args.json, form)
                shown += 1
                continue
            if _warn_of_model([results], gate):
                is_degraded = True
            else:
                breaches += _find_breaches(results, args.fail_under)
            _write_files(results, args, scorer.output, saved, names[0])
        except EvaluationError as error:
            fail(error)
            continue
        if form != "csv":
            if shown and form != "json":
                print()
            print_result(results, report, args.json, form, columns)
        if is_ranking:
            ranked.append(results)
        shown += 1
    if ranked:
        _print_together(ranked, form, args)
    if breaches:
        from forecasteval.ranking.gate import GateError

        raise GateError(f"below --fail-under {args.fail_under}: {', '.join(breaches)}")
    return _choose_code(bool(failures), is_degraded, bool(shown))


def _find_breaches(results: Results, threshold: float | None) -> list[str]:
    """Find the scores of a result that are below a threshold."""
    if threshold is None:
        return []
    from forecasteval.ranking.gate import find_breach

    return find_breach(results, threshold)


def _choose_code(has_failed: bool, is_degraded: bool, has_result: bool) -> ExitCode:
    """Choose the exit code of scored files."""
    if has_failed and not has_result:
        return ExitCode.REFUSED
    if has_failed or is_degraded:
        return ExitCode.PARTLY_FAILED
    return ExitCode.DONE


def _require_new_list(path: Path, names: Sequence[str]) -> None:
    """Raise InputError unless the unread answers of one file can be
    written to a path.
    """
    is_new = path.suffix == ".jsonl" and not os.path.lexists(path)
    if len(names) > 1 or not is_new:
        expected = (
            "expected one file to score, and a name.jsonl that does not exist yet"
        )
        raise InputError(f"--unread {printable(path)}", expected)


def _report_result(results: Results, scorer: Scorer, by: str | None) -> Report:
    """Make the report of a result; with `by` it, and the result, have the scores
    of each value.
    """
    report = results.report(**scorer.report_options(results["benchmark"]))
    if by is None:
        return report
    breakdown = results.by(by)
    results["by"] = {by: dict(breakdown)}
    return [*report, "", *breakdown.report()]


def _print_together(
    ranked: Sequence[Results], form: str, args: argparse.Namespace
) -> None:
    """Print what stands below the reports of several files, or is a CSV of one."""
    if form == "csv" and args.items:
        if args.by:
            _warn_of_idle("--by", "--items --format csv, which prints all columns")
        _print_items(ranked, args.columns)
        return
    if form != "csv" or not args.by:
        _print_ranking(ranked, form, args)
    if args.by:
        print(end="" if form == "csv" else "\n")
        _print_breakdown(ranked, form, args)


def _write_files(
    results: Results, args: argparse.Namespace, folder: Path, saved: set[str], name: str
) -> None:
    """Write what options ask for of the result of a file; those that are
    `saved` get its name.
    """
    if args.save:
        from forecasteval.nightly import store

        store.save_results(results, folder, saved)
    if args.html:
        from forecasteval.nightly import pages

        pages.write_run(results, folder)
    if args.unread:
        _write_unread(results, args, name)


def _print_ranking(
    ranked: Sequence[Results], form: str, args: argparse.Namespace
) -> None:
    """Print the tables of several files; InputError unless a CSV is one table.

    A result that ranks forecasters itself is a table of its own. So is one without its
    missing answers, which is over other questions than those of others.
    """
    from forecasteval.boards.api import rank_files

    is_csv = form == "csv"
    own: list[Results] = []
    together: list[Results] = []
    for each in ranked:
        if "ranking" in each or each["signature"].get("missing") == "skip":
            own.append(each)
        else:
            together.append(each)
    report = rank_files(
        together, read_systems(args.root / "prediction"), with_single=is_csv
    )
    if is_csv:
        reports = [*(each.report() for each in own), report]
        tables = [
            block for each in reports for block in each if isinstance(block, Table)
        ]
        if len(tables) > 1:
            expected = (
                "prints one table: expected files of one dataset, and one horizon"
            )
            raise InputError("--format csv", expected, f"{len(tables)} tables")
        report = [*tables]
    if report:
        print_result({}, report, as_json=False, form=form, columns=args.columns)


def _print_items(ranked: Sequence[Results], columns: str) -> None:
    """Print the items of results as CSV, a row each; of several results
    with their System.
    """
    from forecasteval.display.formats import csv_cell, write_csv

    rows: list[dict[str, object]] = []
    for results in ranked:
        system: dict[str, object] = {}
        if len(ranked) > 1:
            system["System"] = results["name"]
        rows += [{**system, **item} for item in results.list_items()]
    titles = list(dict.fromkeys(chain.from_iterable(rows)))
    chosen = titles
    if columns:
        chosen = columns.split(",")
    for title in chosen:
        if title not in titles:
            expected = f"expected columns of the items: {', '.join(sorted(titles))}"
            raise InputError("--columns", expected, repr(title))
    cells = [[csv_cell(row.get(title)) for title in chosen] for row in rows]
    sys.stdout.write(write_csv([chosen, *cells]))


def _print_breakdown(
    ranked: Sequence[Results], form: str, args: argparse.Namespace
) -> None:
    """Print the scores of each value of a column: of one result, or of
    several side by side.

    Those of forecasters stand in the report of their result; InputError unless a
    CSV is one table.
    """
    parts = {str(results["name"]): results["by"][args.by] for results in ranked}
    has_forecasters = any("ranking" in results for results in ranked)
    report: Report = []
    if len(parts) == 1:
        report = ranked[0].by(args.by).report()
    elif not has_forecasters:
        from forecasteval.display.breakdown import systems_table

        report = [systems_table(args.by, parts)]
    elif form == "csv":
        expected = "expected one file of forecasters, as it prints one table"
        raise InputError("--format csv", expected, f"{len(parts)} files")
    if report:
        print_result({}, report, as_json=False, form=form, columns=args.columns)


def _write_unread(results: Results, args: argparse.Namespace, name: str) -> None:
    """Write the answers of a result that were not read, and say what
    to do with them.
    """
    if not (rows := list_unread(results)):
        print(f"{PROGRAM}: --unread: every answer was read", file=sys.stderr)
        return
    write_atomic(args.unread, "".join(dump_json(row) + "\n" for row in rows))
    datasets = _find_datasets(args)
    path = find_prediction(name, args.root / "prediction")
    if not datasets and results["dataset"]:
        own = find_own_dataset(path, args.root, _is_root_named(args))
        datasets = [*filter(None, [own])]
    # Predictions that have their questions are their own dataset.
    datasets = datasets or [path]
    options = [word for path in datasets for word in ("--dataset", str(path))]
    words = shlex.join(["-f", _add_folder(args.unread), *options])
    todo = (
        "fill in each answer, add the answers that were read (else they count as "
        "missing)"
    )
    todo += f", then run {command_line(PROGRAM)} {words}"
    print(printable(f"{len(rows)} in {args.unread}: {todo}"), file=sys.stderr)


def _warn_of_model(results: Iterable[Results], gate: str) -> bool:
    """Say how the language model failed in results, and that these do not pass a gate;
    whether it did.
    """
    is_degraded = False
    for result in results:
        if not (result.get("llm") or result.get("llm_names")):
            continue
        from forecasteval.ranking.files import model_failures

        failures = model_failures(result)
        if failures is None:
            continue
        is_degraded = True
        kinds = ", ".join(f"{kind} {count}" for kind, count in failures.items())
        line = f"{result['name']}: degraded: the language model failed: {kinds}"
        if gate:
            line += f"; {gate} is not passed"
        print(printable(f"{PROGRAM}: {line}"), file=sys.stderr)
    return is_degraded


def _parse_threshold(text: str) -> float:
    """Parse the number of --fail-under; InputError for any other text."""
    with contextlib.suppress(ValueError):
        if math.isfinite(value := float(text)):
            return value
    raise InputError("--fail-under", "expected a number", text or "''")


def _parse(parser: Parser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; what it does not say, the settings file of
    the folder may.

    `from_file` are the names of the benchmarks' options that the file has given.
    """
    root = parser.parse_args(argv).root
    settings = read_settings(root / SETTINGS_FILE, _find_problem)
    if settings.mistakes:
        raise settings.mistakes[0]
    for word in argv:  # which wins, also over a list
        settings.words.pop(word.partition("=")[0], None)
    # What only other commands have is unknown here.
    words = chain(*settings.words.values())
    args, _ = parser.parse_known_args([*words, f"--root={root}", *argv])
    args.root = root  # the default itself, if none was given
    options = _folder_options()
    args.from_file = {options[flag].name for flag in settings.words}
    try:
        _scorer(args).require_usable_options()
    except InputError as error:
        raise settings.place(error) from None
    if args.json and args.columns:
        _warn_of_idle("--columns", "--json, which prints all keys")
    return args


def _warn_of_idle(option: str, beside: str) -> None:
    """Warn of an option that does nothing beside those that choose what is printed."""
    print(f"{PROGRAM}: {option} does nothing with {beside}", file=sys.stderr)


def _find_problem(key: str, value: object) -> str:
    """Say what is wrong with a key of a settings file, or with its value;
    "" for nothing.
    """
    option = _folder_options().get(f"--{key}")
    if option is None:
        return "expected the name of an option that a folder can have"
    values = [value]
    if isinstance(value, list) and option.repeatable:
        values = value
    problems = map(option.find_problem, values)
    return next(filter(None, problems), "")


def _folder_options() -> dict[str, Option]:
    """List the options that a settings file may have, by flag. What commands that rank
    systems do not have, or not in that form, is none.
    """
    options = [
        option for wing in list_benchmarks(BENCHMARKS) for option in wing.options
    ]
    scopes = ("run", "file")
    return {
        option.flag: option
        for option in (*options, *_RANKING)
        if option.scope not in scopes
    }


def list_setting_mistakes(path: Path) -> list[str]:
    """List the mistakes in a settings file, of values that no evaluator
    takes the first.
    """
    settings, options = _read_folder_options(path)
    mistakes = settings.mistakes
    try:
        Scorer(list_benchmarks(BENCHMARKS), options, Path()).require_usable_options()
    except InputError as error:
        mistakes.append(settings.place(error))
    return [str(mistake).removeprefix(f"{printable(path)}: ") for mistake in mistakes]


def _read_folder_options(path: Path) -> tuple[FolderSettings, dict[str, Any]]:
    """Read the settings file of a folder, and the options that it gives
    by their names.
    """
    settings = read_settings(path, _find_problem)
    parser = argparse.ArgumentParser()
    declared = _folder_options()
    for option in declared.values():
        option.add_to(parser.add_argument)
    options = vars(parser.parse_args([*chain(*settings.words.values())]))
    options["from_file"] = {declared[flag].name for flag in settings.words}
    return settings, options


def _scorer(args: argparse.Namespace) -> Scorer:
    """Return the scorer for files of any benchmark with the options that were given."""
    output = (
        getattr(args, "output", None)
        or os.environ.get(OUTPUT)
        or args.root / "evaluation"
    )
    return Scorer(list_benchmarks(BENCHMARKS), vars(args), Path(output))


def evaluate_path(
    path: object, dataset: str | Path | None, options: Mapping[str, object]
) -> Results:
    """Score a prediction file by its benchmark, with options by their names in Python.

    Raises InputError for what is no path, and for an option that the benchmark
    does not have.
    """
    if not isinstance(path, str | os.PathLike):
        expected = (
            "expected the path of a prediction file; evaluate_all of a "
            "benchmark's class"
        )
        raise InputError("evaluate", f"{expected} takes records", type(path).__name__)
    benchmarks = list_benchmarks(BENCHMARKS)
    known = {option.name for benchmark in benchmarks for option in benchmark.options}
    for name in options.keys() - known:
        raise InputError(
            printable(name, 60), f"expected one of {', '.join(sorted(known))}"
        )
    datasets: list[Path] = []
    if dataset:
        datasets = rxnopt.find_datasets(str(dataset), Path("dataset"))
    scorer = Scorer(benchmarks, options, Path("evaluation"))
    (results,) = score_names(
        scorer, Path(), [str(Path(path))], datasets, _refuse, False
    )
    scorer.report_options(results["benchmark"])
    return results


def _find_datasets(args: argparse.Namespace) -> list[Path]:
    """Find the files that --dataset names."""
    return [
        path
        for name in args.dataset or ()
        for path in rxnopt.find_datasets(name, args.root / "dataset")
    ]


def _is_root_named(args: argparse.Namespace) -> bool:
    """Return whether --root was given, also as the folder that is its default."""
    return args.root is not ROOT


# --- The other commands ---


def nightly(argv: Sequence[str]) -> int:
    """Score every new or changed file of prediction/ and write evaluation/ with
    the leaderboard.
    """
    parser = _parser(
        nightly, _NIGHTLY, "scored", ExitCode.PARTLY_FAILED, ExitCode.LOCKED
    )
    add = parser.add_argument
    add("--force", action="store_true", help="score everything again")
    add(
        "--by",
        metavar="COLUMN",
        help="also rank by each value of a column of the datasets",
    )
    add(
        "--html",
        action="store_true",
        help="also write the pages of the runs, which leaderboard.html links",
    )
    add(
        "--begin-record",
        action="store_true",
        help="begin evaluation/seen.jsonl anew where it is missing or damaged",
    )
    # A cluster has as many processes as workers
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        metavar="N",
        type=whole_number(1),
        help="files scored at a time (default: the number of processors)",
    )
    where.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="score on a Dask cluster: tcp://HOST:PORT of its scheduler",
    )
    for option in _RANKING:
        option.add_to(parser.add_argument)
    add_options(parser, reversed(list_benchmarks(BENCHMARKS)), ranked=True)
    args = _parse(parser, argv)
    scorer = _scorer(args)
    from forecasteval.nightly.stamp import repeat_night

    code = repeat_night(args, scorer)
    if code is not None:
        return code
    from forecasteval.nightly import commands  # here: most of what a quiet night takes

    return commands.nightly(args, scorer, PROGRAM)


def compare(argv: Sequence[str]) -> int:
    """Test the differences of systems on the same questions, pair by pair."""
    parser, options = _make_compare_parser()
    asked = [word for word in argv if word not in ("-h", "--help")]
    if len(asked) < len(argv):
        without_names, _ = _make_compare_parser(least="*")
        args, _ = without_names.parse_known_args(asked)
        hide_options(options, _find_benchmarks(args.file, args) or options)
    args = _parse(parser, argv)
    from forecasteval.nightly import pages
    from forecasteval.ranking.gate import require_not_worse

    scorer = _scorer(args)
    if args.all_weeks or (
        not args.dataset and _are_systems(args.file, args.root, scorer)
    ):
        results, compared = _compare_weeks(args, scorer)
    else:
        results, compared = _compare_files(args, scorer)
    if args.html:
        pages.write_comparison(compared, scorer.output)
    report = compared.report()
    tables: Report = [block for block in report if isinstance(block, Table)]
    # A CSV is the pairs, which stand behind the systems, or their parts,
    # which come last.
    if args.format == "csv" and args.by:
        report = tables[-1:]
    elif args.format == "csv":
        report = tables[1:2]
    print_result(compared, report, args.json, args.format, args.columns)
    gate = ""
    if args.fail_if_worse:
        gate = "--fail-if-worse"
    if _warn_of_model(results, gate):
        return ExitCode.PARTLY_FAILED
    if gate:
        for line in require_not_worse(compared):
            print(printable(f"{PROGRAM}: {line}"), file=sys.stderr)
    return ExitCode.DONE


def _make_compare_parser(
    least: str = "+",
) -> tuple[Parser, dict[str, list[argparse.Action]]]:
    """Make the parser of `compare`; the options of benchmarks come second."""
    parser = _parser(
        compare, _COMPARE, "compared", ExitCode.PARTLY_FAILED, ExitCode.GATE_NOT_PASSED
    )
    add = parser.add_argument
    add(
        "file",
        metavar="NAME",
        nargs=least,
        help="file in prediction/, or a path, with all its runs NAME@RUN; two systems "
        "or more",
    )
    parser.set_defaults(items=True)
    over = parser.add_mutually_exclusive_group()
    over.add_argument(
        "--dataset",
        metavar="NAME",
        action="append",
        help=f"file in dataset/, or a path; repeatable for RxnOptBench {_BY_NAME}",
    )
    over.add_argument(
        "--all-weeks",
        action="store_true",
        help="compare the systems over all datasets; the default if no NAME is a file",
    )
    add(
        "--by",
        metavar="COLUMN",
        help="also compare by each value of a column of the dataset",
    )
    add(
        "--html",
        action="store_true",
        help="write a page of the comparison, evaluation/compare.html",
    )
    add(
        "--fail-if-worse",
        action="store_true",
        help="exit with 6 if a system is significantly worse than the first one",
    )
    benchmarks = list_benchmarks(BENCHMARKS)
    options = add_options(parser, reversed(benchmarks), ranked=True)
    # Forecasters are compared within their file, by its options.
    hide_options(options, [each.name for each in benchmarks if not each.ranks_together])
    return parser, options


def _compare_files(
    args: argparse.Namespace, scorer: Scorer
) -> tuple[list[Results], Results]:
    """Return the results of the named files, each with all its runs, and
    their comparison.
    """
    from forecasteval.boards import api

    folder = args.root / "prediction"
    datasets = _find_datasets(args)
    named = find_named(args.file, args.root, scorer.has_questions, datasets)
    runs = [
        [run for file in files for run in find_runs(file, folder)] for files in named
    ]
    names = [*chain(*runs)]
    is_root_named = _is_root_named(args)
    results = [*score_names(scorer, args.root, names, datasets, _refuse, is_root_named)]
    for result in results:  # an option that a benchmark has no use for is refused
        scorer.report_options(result["benchmark"])
    systems = read_systems(folder)
    return results, api.compare(group_runs(results, runs), systems, args.by)


def _compare_weeks(
    args: argparse.Namespace, scorer: Scorer
) -> tuple[list[Results], Results]:
    """Compare the named systems by the model of the table over all datasets; the
    results in it come first.

    The model holds all systems that datasets connect with these; a file of another
    system that cannot be scored is left out of it.
    """
    from forecasteval.boards import api

    files = name_files(args.root, scorer.has_questions)
    names = _find_systems(args.file, files)
    if args.by:
        _refuse_parts_of_weeks(names, files)
    results: list[Results] = []
    files = connect_files(files, names)
    for is_named, fail in ((True, _refuse), (False, _warn)):
        paths = [str(file.path) for file in files if (file.system in names) == is_named]
        results += score_names(scorer, args.root, paths, [], fail)
    # A file may have an alias of its system's name.
    systems = {file.path.name: file.system for file in files if not file.clash}
    for result in results:
        result["system"] = systems.get(result["prediction"], "")
    systems_file = read_systems(args.root / "prediction")
    return results, api.compare_over_weeks(results, names, systems_file)


def _refuse_parts_of_weeks(
    names: Sequence[str], files: Sequence[NamedFile]
) -> NoReturn:
    """Raise InputError for `--by` over all datasets, with files of the
    systems' last one.
    """
    by_dataset = group_by(files, attrgetter("dataset"))
    for group in reversed(by_dataset.values()):
        file_by_system = {file.system: file.path.stem for file in reversed(group)}
        if file_by_system.keys() >= {*names}:
            words = shlex.join(file_by_system[name] for name in names)
            expected = f"expected the files of one dataset, such as {words}"
            raise InputError("--by", expected, "systems over all datasets")
    raise InputError("--by", "expected systems with a dataset in common", "none")


def _warn(error: EvaluationError) -> None:
    print(printable(f"{PROGRAM}: left out: {error}"), file=sys.stderr)


def _refuse(error: EvaluationError) -> None:
    raise error


def _are_systems(names: Iterable[str], root: Path, scorer: Scorer) -> bool:
    """Return whether a name is that of a system in `root/prediction`. No name may be
    that of a file there, a path, or name a dataset, too.
    """
    folder = root / "prediction"
    if not folder.is_dir() or any(is_file_name(name, folder) for name in names):
        return False
    files = name_files(root, scorer.has_questions)
    systems = {name for file in files for name in file.system_names}
    whole = {name for file in files for name in file.file_names}
    return whole.isdisjoint(names) and not systems.isdisjoint(names)


def _find_systems(names: Sequence[str], files: Sequence[NamedFile]) -> list[str]:
    """Find the systems that are named, by themselves or by one of their files;
    InputError for one that has none.
    """
    named: dict[str, None] = {}
    for name in names:
        systems = [file.system for file in files if name in file.system_names]
        systems = systems or [file.system for file in files if name in file.file_names]
        if not systems:
            known = "none with a dataset"
            if files:
                known = grouped_names(sorted({file.system for file in files}))
            expected = "expected a system of prediction/"
            raise InputError(
                printable(name, 60), expected, f"another name; known: {known}"
            )
        require_no_clash(file for file in files if file.system == systems[0])
        named[systems[0]] = None
    if len(named) < 2:
        raise InputError("compare", "expected two systems or more", str(len(named)))
    return [*named]


def check(argv: Sequence[str]) -> int:
    """Find mistakes in datasets, settings and systems.json, or in predictions
    before a truth.
    """
    parser = _parser(check, _CHECK, "nothing found", ExitCode.FOUND)
    add = parser.add_argument
    add(
        "names",
        metavar="NAME",
        nargs="*",
        help=f"dataset, prediction file, {SETTINGS_FILE} or {SYSTEMS_FILE}, by name or "
        "path "
        "(default: all)",
    )
    add(
        "--dataset",
        metavar="NAME",
        action="append",
        help=f"dataset of a prediction file; repeatable for RxnOptBench {_BY_NAME}",
    )
    add(
        "--owner",
        metavar="LOGIN",
        help="allow only prediction files, given as paths, of systems that LOGIN owns",
    )
    add(
        "--base",
        metavar="DIR",
        type=Path,
        help="folder before the change, whose owners, datasets and settings count for "
        "--owner",
    )
    benchmarks = list_benchmarks(BENCHMARKS)
    for benchmark in benchmarks:
        for option in benchmark.options:
            if option.scope == "read":
                option.add_to(add)
    args = parser.parse_args(argv)
    if args.owner is not None and not args.names:
        parser.error("--owner: expected the files that LOGIN changes")
    _, options = _read_folder_options((args.base or args.root) / SETTINGS_FILE)
    given = {name: value for name, value in vars(args).items() if value is not None}
    scorer = Scorer(benchmarks, options | given, args.root)
    work = _check_file
    if args.owner is not None:
        work = _check_change
    operators = [SETTINGS_FILE, f"prediction/{SYSTEMS_FILE}"]
    files = [*list_datasets(args.root), *list_predictions(args.root)]
    codes: list[int] = [ExitCode.DONE]
    for name in args.names or [*operators, *map(str, files)]:
        try:
            codes.append(work(args, scorer, name))
        except InputError as error:  # which costs only its file
            print(f"{PROGRAM}: {error}", file=sys.stderr)
            codes.append(error.exit_code)
    return max(codes)


def _check_file(args: argparse.Namespace, scorer: Scorer, name: str) -> int:
    """Check a file, of settings and systems.json also one that is not there;
    the exit code.
    """
    from forecasteval.nightly import check

    predictions = args.root / "prediction"
    datasets = args.root / "dataset"
    places = {os.path.abspath(name), os.path.abspath(args.root / name)}
    if os.path.abspath(args.root / SETTINGS_FILE) in places:
        mistakes = list_setting_mistakes(args.root / SETTINGS_FILE)
        results = check.list_problems(SETTINGS_FILE, mistakes)
    elif os.path.abspath(predictions / SYSTEMS_FILE) in places:
        mistakes = check.find_name_mistakes(args.root, scorer)
        results = check.list_problems(SYSTEMS_FILE, mistakes)
    else:
        # A name that both folders have, or none, is that of a dataset.
        in_datasets = is_file_name(name, datasets) and not args.dataset
        in_predictions = is_file_name(name, predictions) and not in_datasets
        if name == "-" or in_predictions:
            path = find_prediction(name, predictions)
        else:
            path = find_file(name, datasets)
        is_root_named = _is_root_named(args)
        folder = path.resolve().parent
        is_in_a_board = folder.name == "prediction" and not is_root_named
        is_prediction = args.dataset or is_in_a_board or folder == predictions.resolve()
        if is_prediction and not scorer.has_questions(path):
            found = tuple(_find_datasets(args))
            if not found:
                own = find_own_dataset(path, args.root, is_root_named)
                report_choice(path, own, args.root)
                found = tuple(filter(None, [own]))
            results = scorer.check_answers(Files((path,), found, any_form=True))
        else:
            results = scorer.check(path)
    print_result(results, results.report(), args.json)
    if results["findings"]:
        return ExitCode.FOUND
    return ExitCode.DONE


def _check_change(args: argparse.Namespace, scorer: Scorer, name: str) -> int:
    """Check whether a person may change a file; the exit code."""
    from forecasteval.nightly.check import ProposedChange, find_refusal
    from forecasteval.nightly.clock import now

    settings = read_settings((args.base or args.root) / SETTINGS_FILE, _find_problem)
    keep = ["--late-files=keep"]
    truths_close = settings.words.get("--late-files", keep) != keep
    change = ProposedChange(args.root, args.base, args.owner, now(), truths_close)
    problem = find_refusal(Path(name), change, scorer)
    if not problem:
        return ExitCode.DONE
    print(printable(f"{PROGRAM}: {name}: {problem}", 300), file=sys.stderr)
    return ExitCode.FOUND


def init(argv: Sequence[str]) -> int:
    """Make a folder a new board: settings, a workflow, a page for entrants,
    and sample data.
    """
    parser = Parser(
        prog=f"{PROGRAM} init", **describe(PROGRAM, init.__doc__ or "", _INIT, "made")
    )
    parser.add_argument(
        "root", metavar="DIR", nargs="?", type=Path, help="folder (default: .)"
    )
    parser.add_argument(
        "--root",
        metavar="DIR",
        type=Path,
        default=Path(),
        dest="option",
        help="another way to name DIR",
    )
    parser.add_argument(
        "--no-samples",
        action="store_true",
        help="leave out the sample dataset and predictions",
    )
    args = parser.parse_args(argv)
    root = args.root or args.option
    from forecasteval.nightly import starter

    written, found = starter.make_board(root, not args.no_samples)
    for line in starter.describe_board(written, found):
        print(printable(line))
    words = shlex.join(["nightly", "--html", "--root", str(root)])
    print(
        printable(
            f"{command_line(PROGRAM)} {words} scores it; docs/ci.md says how "
            "it publishes"
        )
    )
    return ExitCode.DONE


def ask(argv: Sequence[str]) -> int:
    """Ask a model the questions of a dataset, and score its replies."""
    from forecasteval.asking.commands import Command, add_options

    parser = _parser(
        ask, _ASK, "asked and scored", ExitCode.PARTLY_FAILED, ExitCode.LOCKED
    )
    add_options(parser.add_argument)
    args = parser.parse_args(argv)
    settings, options = _read_folder_options(args.root / SETTINGS_FILE)
    if settings.mistakes:
        raise settings.mistakes[0]
    scorer = _scorer(argparse.Namespace(**options, root=args.root, output=args.output))
    datasets = rxnopt.find_datasets(args.dataset, args.root / "dataset")
    command = Command(
        args, argv, PROGRAM, datasets, lambda path: scorer.recognise(path, path)
    )
    asked = command.run()
    scored = [_score_run(run, scorer, args) for run in asked.runs]
    if asked.last_line:
        command.print_message(asked.last_line)
    if asked.has_failed or not all(scored):
        return ExitCode.PARTLY_FAILED
    return ExitCode.DONE


def _score_run(run: Run, scorer: Scorer, args: argparse.Namespace) -> bool:
    """Score the files of a run together, as `-f` does; whether they have a score,
    or are pending.
    """
    with run.show_files() as paths:
        if not paths:
            return False
        try:
            results = scorer.score(Files(paths, tuple(run.datasets)))
        except EvaluationError as error:
            problem = str(error).replace(f"{paths[0].parent}{os.sep}", "")
            print(f"{PROGRAM}: {problem}", file=sys.stderr)
            return isinstance(error, PendingError)
    if run.partial:
        results["warnings"].append(run.partial)
    report = results.report(**scorer.report_options(results["benchmark"]))
    print_result(results, report, args.json, args.format, args.columns)
    return not _warn_of_model([results], "")


def _rxnopt(argv: Sequence[str]) -> int:
    from forecasteval.rxnopt import commands

    return commands.run(argv, PROGRAM)


def _convert(argv: Sequence[str]) -> int:
    from forecasteval.convert import commands

    return commands.run(argv, PROGRAM)


COMMANDS: Final = {
    "ask": ask,
    "nightly": nightly,
    "compare": compare,
    "check": check,
    "init": init,
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
  {{0}} ask DATASET --model M   ask a model the questions, and score its replies
  {{0}} nightly             score new files in prediction/, \
write evaluation/leaderboard.md
  {{0}} compare A B [...]   test the differences of systems on the same questions
  {{0}} check [NAME ...]      look for mistakes in a folder, a dataset, or predictions
  {{0}} init [DIR]          make a new board, with sample data
  {{0}} rxnopt import|build|render   make questions from tables of reactions, \
and prompts
  {{0}} convert SOURCE -o FILE   convert logs of inspect_ai, batches, MiroFlow, tables \
to predictions"""
_ASK: Final = """\
  {0} ask 250915 --model gpt-4o-mini --dry-run
  {0} ask 250915 --model gpt-4o-mini --runs 3 --param temperature=1
  {0} ask questions --model qwen3:8b      a folder of `rxnopt build`, all files at once
  {0} ask prophet-sample --model m --batch input.jsonl

OPENAI_BASE_URL names the server (vLLM, Ollama, Azure, OpenRouter, a proxy of LiteLLM; \
without it OpenAI's), OPENAI_API_KEY its key. The same command again asks only what \
has no reply yet."""
_NIGHTLY: Final = """\
  {0} nightly                       score what has changed since the last run
  {0} nightly --min-questions 10    leave levels with fewer questions out of the ranking
  {0} nightly --root /data/futurex --json"""
_COMPARE: Final = """\
  {0} compare 250915-careful 250915-random
  {0} compare runs/a.json runs/b.json runs/c.json --dataset 250915 --json
  {0} compare 250915-released 250915-candidate --fail-if-worse    for CI: exit code 6"""
_CHECK: Final = """\
  {0} check                         settings, systems.json, all datasets and files
  {0} check 250915
  {0} check 250915-my-run           what cannot be read, or is missing
  {0} check drafts/251001.json --json
  {0} check --owner octocat --base ../main prediction/250915-a.json"""

_INIT: Final = """\
  {0} init my-board                 a board with sample data
  {0} init --no-samples             the current folder, without them"""


def _parser(
    command: Callable[..., int], examples: str, done: str, *codes: ExitCode
) -> Parser:
    """Return a parser of a command, described by its docstring, with the options that
    all commands have.

    The other parameters are those of `describe`.
    """
    what, _, _ = (command.__doc__ or "").partition("\n")
    texts = describe(PROGRAM, what, examples, done, *codes)
    name = PROGRAM
    if command is not score:
        name = f"{PROGRAM} {command.__name__}"
    parser = Parser(prog=name, **texts)
    add = parser.add_argument
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--json",
        action="store_true",
        help="print strict JSON, a line per result, and nothing else",
    )
    if command is not check:
        forms.add_argument(
            "--format",
            choices=FORMS,
            default=FORMS[0],
            help="form of the tables; csv prints one table of all files (default: "
            f"{FORMS[0]})",
        )
        add(
            "--columns",
            metavar="A,B",
            default="",
            help="print only these columns, by their names in the tables or in the CSV "
            "(default: all)",
        )
    add(
        "--root",
        metavar="DIR",
        type=Path,
        default=ROOT,
        help="folder of prediction/, dataset/ and evaluation/ (default: %(default)s)",
    )
    if command is not check:  # which writes nothing
        add(
            "--output",
            metavar="DIR",
            type=Path,
            help=f"folder of results (default: environment variable {OUTPUT}, else "
            "evaluation/)",
        )
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser
