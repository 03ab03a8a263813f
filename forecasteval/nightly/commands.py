"""The command lines of the nightly run and of comparisons."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from forecasteval.boards import api
from forecasteval.boards.report import board_report
from forecasteval.common.errors import EvaluationError, InputError, grouped_names, printable
from forecasteval.common.files import SUFFIXES
from forecasteval.display.results import print_result
from forecasteval.nightly.tasks import Options
from forecasteval.ranking import gate
from forecasteval.ranking.names import SYSTEMS_FILE, split_name, without_run
from forecasteval.scoring import Scorer, find_runs, find_tasks, group_runs, score_names

from . import pages
from .run import evaluate_folder
from .workers import require_cluster


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `nightly` alone."""
    add = parser.add_argument
    add("--force", action="store_true", help="score everything again")
    add(
        "--html",
        action="store_true",
        help="also write the pages of the runs, which leaderboard.html links",
    )
    add(
        "--min-questions",
        metavar="N",
        type=int,
        default=0,
        help="leave out levels with fewer questions",
    )
    least = (
        "datasets that a system must answer for a rank over all datasets (half of them, at most 6)"
    )
    add("--min-datasets", metavar="N", type=int, help=least)
    add(
        "--jobs",
        metavar="N",
        type=int,
        help="number of files scored at a time (the number of processors)",
    )
    add(
        "--cluster",
        metavar="ADDRESS",
        help="score on a Dask cluster: tcp://HOST:PORT of its scheduler",
    )


def nightly(args: argparse.Namespace, scorer: Scorer, program: str) -> int:
    """Score what is new; the exit code."""
    if args.min_questions < 0:
        raise InputError("--min-questions", "expected a number >= 0", str(args.min_questions))
    if args.min_datasets is not None and args.min_datasets < 1:
        raise InputError("--min-datasets", "expected a number >= 1", str(args.min_datasets))
    processes = _read_processes(args)
    if args.cluster:  # its workers are in other folders
        args.root, scorer.output = args.root.absolute(), scorer.output.absolute()
    options = Options(
        args.force, args.html, args.min_questions, args.min_datasets, processes, args.cluster
    )
    board = evaluate_folder(args.root, scorer, options)
    failed = board["failed"]
    _warn(
        program,
        [*map("{file}: {reason}".format_map, failed), *_list_model_failures(board["llm_failures"])],
    )
    _warn(program, board["notes"])
    counts = f"{board['evaluated']} files scored, {board['reused']} unchanged, {len(failed)} failed"
    if board["ignored"]:
        ignored = grouped_names(board["ignored"])
        counts += f"; not read, because they are not {', '.join(SUFFIXES)}: {ignored}"
    report = board_report(board)
    if board["without_result"]:
        report.append(f"{SYSTEMS_FILE}: without a result: {grouped_names(board['without_result'])}")
    print_result(board, [*report, counts], args.json)
    if any(entry["fault"] for entry in failed):
        return 1
    if not board["evaluated"] + board["reused"]:
        return 2
    return 3 if failed or board["llm_failures"] else 0


def _read_processes(args: argparse.Namespace) -> int:
    """How many processes score; InputError for what does not go with them or with a cluster."""
    if args.jobs is not None and args.jobs < 1:
        raise InputError("--jobs", "expected 1 or more", str(args.jobs))
    # Calls of a language model run in threads; all files share a deadline and a count of failures.
    # The key stays here.
    if args.llm and (args.cluster or (args.jobs or 1) > 1):
        given = "--cluster" if args.cluster else f"--jobs {args.jobs}"
        raise InputError("--llm", "scores in one process: cannot be combined", given)
    if args.cluster is not None:
        if args.jobs is not None:
            raise InputError(
                "--cluster", "has as many processes as workers: cannot be combined", "--jobs"
            )
        require_cluster(args.cluster)
    return 1 if args.llm else args.jobs or os.cpu_count() or 1


def _warn(program: str, lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(f"{program}: {line}"), file=sys.stderr)


def _list_model_failures(failures: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line per kind of failure of a language model, and what becomes of the results."""
    lines = [
        f"the language model failed: {kind}: questions {sum(files.values())}, "
        f"files {grouped_names(sorted(files))}"
        for kind, files in sorted(failures.items())
    ]
    if degraded := sorted({name for files in failures.values() for name in files}):
        lines.append(f"degraded results, which the next run makes again: {grouped_names(degraded)}")
    return lines


# --- compare ---


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """The files and options of `compare` alone."""
    add = parser.add_argument
    file = "file in prediction/, or a path, with all its runs NAME@RUN; two systems or more"
    add("file", metavar="NAME", nargs="+", help=file)
    parser.set_defaults(items=True)
    dataset = "file in dataset/, or a path; repeatable for RxnOptBench (by the files' names)"
    add("--dataset", metavar="NAME", action="append", help=dataset)
    weeks = "compare the systems over all datasets; the default if no NAME is a file"
    add("--all-weeks", action="store_true", help=weeks)
    add(
        "--html",
        metavar="PATH",
        nargs="?",
        const=True,
        help="write a page (evaluation/compare.html)",
    )
    gate.add_comparison(parser)


def compare(
    args: argparse.Namespace, scorer: Scorer, datasets: Sequence[Path], program: str
) -> int:
    """Score the named files and print how they differ; GateError if that is asked and a system is
    worse.
    """
    pages.require_usable(args.html)
    if args.all_weeks or (not args.dataset and _are_systems(args.file, args.root)):
        for option, given in (("--dataset", args.dataset), ("--html", args.html is not None)):
            if given:
                raise InputError(
                    option, "cannot be combined", "a comparison over all weeks (--all-weeks)"
                )
        files = _find_systems(args.file, args.root)
        paths = [str(path) for of_system in files.values() for path in of_system]
        results = list(score_names(scorer, args.root, paths, [], _refuse))
        gate.require_baseline(args, results)
        compared = api.compare_over_weeks(results, [*files])
    else:
        runs = [find_runs(name, args.root / "prediction") for name in args.file]
        names = [name for of_system in runs for name in of_system]
        results = list(score_names(scorer, args.root, names, datasets, _refuse))
        for result in results:
            scorer.report_options(
                result["benchmark"]
            )  # an option that it has no use for is refused
        gate.require_baseline(args, results)
        compared = api.compare(group_runs(results, runs))
        if args.html is not None:
            pages.write_comparison(compared, scorer.output, args.html)
    print_result(compared, compared.report(), args.json)
    _warn(program, gate.require_not_worse(args, compared))
    return 0


def _refuse(error: EvaluationError) -> None:
    raise error


def _are_systems(names: Iterable[str], root: Path) -> bool:
    """Whether a name is that of a system in `root/prediction`, and none that of a file there, or a
    path.
    """
    folder = root / "prediction"
    for name in names:
        if "/" in name or os.sep in name or find_runs(name, folder) != [name]:
            return False
        if any((folder / f"{name}{end}").exists() for end in ("", *SUFFIXES)):
            return False
    return folder.is_dir() and not _list_systems(root)[0].keys().isdisjoint(names)


def _find_systems(names: Sequence[str], root: Path) -> dict[str, list[Path]]:
    """The files of each system that is named, by itself or by one of its files; InputError for one
    that has none.
    """
    files, systems = _list_systems(root)
    named: dict[str, list[Path]] = {}
    for name in names:
        system = name if name in files else systems.get(name, "")
        if not system:
            known = grouped_names(sorted(files)) if files else "none with a dataset"
            raise InputError(
                printable(name, 60),
                "expected a system of prediction/",
                f"another name; there is {known}",
            )
        named[system] = files[system]
    if len(named) < 2:
        raise InputError("compare", "expected two systems or more", str(len(named)))
    return named


def _list_systems(root: Path) -> tuple[dict[str, list[Path]], dict[str, str]]:
    """The files of every system, and the system of each file's name, with and without its run."""
    files: dict[str, list[Path]] = defaultdict(list)
    systems: dict[str, str] = {}
    for path, dataset, _ in find_tasks(root)[0]:
        if dataset:
            system = split_name(path.stem, dataset.name).system
            files[system].append(path)
            systems |= {path.stem: system, without_run(path.stem, dataset.name): system}
    return files, systems
