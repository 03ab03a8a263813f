"""The command line of the nightly run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from forecasteval.boards.report import format_csv
from forecasteval.boards.tables import list_failed
from forecasteval.common.errors import InputError, grouped_names, printable, show_count
from forecasteval.common.exit_codes import ExitCode
from forecasteval.display.results import print_result
from forecasteval.nightly.tasks import NightOptions
from forecasteval.ranking.board import Board
from forecasteval.ranking.names import SYSTEMS_FILE
from forecasteval.scoring import Scorer

from .run import evaluate_folder
from .workers import require_cluster

# sha256 of the datasets that ship with the program, whose contents are invented.
SAMPLES: Final = (
    "6c409e63121a78750d91da9d082b29c565cdba5adac77443173b9273209e2a7a",
    "7d23b9635fec73e412c8a2ce67cbbefea85b30c829fa2ece0ef13c5f30178857",
    "27337e16ed035cefd352eb46d26aae24e3dd38dd5e09688337960080f3883d01",
    "6c0b93a9f98e4c1723f73869e4537db269081e2d6fe3e18031752dde9fc4b6b8",
    "7cc8f81fa62a4f605d235d1d69c5e0425094797412c62897ccea48e60a0ee66c",
    "6ad2dde913e09e00f50834ad5ef54cc10221476da75f46c9e8279d08ff4578cb",
    "775b5f5d24494df1ac16e1916be350cb4150538aab54e2d915dbd0ac232749cc",
    "b664ee8dc5b9c3ea14a4920802be5a47f2d047909f0ea5bf96636e438b8e50ef",
    "2e9ae60758d0d1c9369618c7f8d647b0e0ae287a3bbc3e9bbe45ba96f19abff3",  # of init
)


def nightly(args: argparse.Namespace, scorer: Scorer, program: str) -> int:
    """Score what is new; the exit code."""
    processes = _read_processes(args)
    if args.cluster:  # its workers are in other folders
        args.root = args.root.absolute()
        scorer.output = scorer.output.absolute()
    options = NightOptions(
        args.force,
        args.html,
        args.min_questions or 0,
        args.min_datasets,
        args.late_files or "keep",
        args.begin_record,
        processes,
        args.cluster,
    )
    board = evaluate_folder(args.root, scorer, options)
    failed = board["failed"]
    _warn(
        program,
        [*map(": ".join, list_failed(board.board)), *_list_model_failures(board["llm_failures"])],
    )
    _warn(program, [*board["record_notes"], *board["notes"]])
    scored = show_count(board["evaluated"], "file")
    counts = f"{scored} scored, {board['reused']} unchanged, {len(failed)} failed"
    if board["ignored"]:
        counts += f"; not read: {grouped_names(board['ignored'])}"
    report = board.report()
    if board["without_result"]:
        report.append(f"{SYSTEMS_FILE}: without a result: {grouped_names(board['without_result'])}")
    report += [*board["twins"], *_name_samples(board.board)]
    if args.format == "csv" and not args.columns:
        sys.stdout.write(format_csv(board.board))
    else:
        print_result(board, [*report, counts], args.json, args.format, args.columns)
    if any(entry["fault"] for entry in failed):
        return ExitCode.FAULT
    if not (board.board.files or board.get("waiting")) and (failed or board["notes"]):
        return ExitCode.REFUSED
    is_kept = any(file.kept for file in board.board.files)
    is_partial = bool(failed or is_kept or board["llm_failures"])
    return ExitCode.PARTLY_FAILED if is_partial else ExitCode.DONE


def _read_processes(args: argparse.Namespace) -> int:
    """Find how many processes score; InputError for options that do not go with them."""
    # Calls of a language model run in threads; all files share a deadline and a count of failures.
    # The key stays here.
    if args.llm and (args.cluster or (args.jobs or 1) > 1):
        given = "--cluster" if args.cluster else f"--jobs {args.jobs}"
        raise InputError("--llm", "scores in one process: cannot be combined", given)
    if args.cluster is not None:
        require_cluster(args.cluster)
    return 1 if args.llm else args.jobs or os.cpu_count() or 1


def _name_samples(board: Board) -> list[str]:
    """Name the invented samples among the datasets, if others stand beside them."""
    samples = {f.dataset for f in board.files if f.signature.get("dataset_sha256") in SAMPLES}
    if not samples or samples >= {*board.waiting, *(file.dataset for file in board.files)}:
        return []
    return [
        f"invented samples: {grouped_names(sorted(map(str, samples)))}; "
        "delete their files, or keep yours in a folder of their own (--root DIR)"
    ]


def _warn(program: str, lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(f"{program}: {line}"), file=sys.stderr)


def _list_model_failures(failures: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Say how a language model failed, a line per kind, and what becomes of the results."""
    lines = [
        f"the language model failed: {kind}: questions {sum(files.values())}, "
        f"files {grouped_names(sorted(files))}"
        for kind, files in sorted(failures.items())
    ]
    if degraded := sorted({name for files in failures.values() for name in files}):
        lines.append(f"degraded results, which the next run makes again: {grouped_names(degraded)}")
    return lines
