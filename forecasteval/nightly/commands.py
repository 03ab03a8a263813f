"""The command line of the nightly run."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from forecasteval.boards.report import BoardResults, format_csv
from forecasteval.boards.tables import list_failed
from forecasteval.common.errors import InputError, grouped_names, printable, show_count
from forecasteval.common.exit_codes import ExitCode
from forecasteval.display.results import print_result
from forecasteval.nightly.tasks import NightOptions
from forecasteval.ranking.board import Board
from forecasteval.ranking.names import SYSTEMS_FILE
from forecasteval.scoring import Scorer

from .run import run_night
from .stamp import Quiet, write_stamp
from .workers import require_cluster

# sha256 of the datasets that ship with the program, whose contents are invented.
SAMPLES: Final = (
    "6c409e63121a78750d91da9d082b29c565cdba5adac77443173b9273209e2a7a",
    "a587a6225160fab8d0a6bbdb2d53633df7e8802c0affc85314cf2d2f5545822e",
    "a51b2ac7a3c85ab5b07518790c71d4d868375e4f41ec35f68733b19ed52a14aa",
    "daf5a1ce16a664f997296fd1c9b9103322a90cf451e690acf504ea12bca57d26",
    "3b9df399e2520365cc1a77cf1bdc767260d9d340c3a05d2771c4ee2e696b8403",
    "86226a0ff6ec92d7e9dc2c4a307a14657bc3e36933a40a06fe44d9e4abf81d3b",
    "647e9febb318e9df5ba8371a8597f54f75a08dbfb60bfb784836b3b18bd2b824",
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
        args.by or "",
    )
    board, files = run_night(args.root, scorer, options)
    _warn(program, map(": ".join, list_failed(board.board)))
    _warn(program, _list_model_failures(board["llm_failures"]))
    _warn(program, [*board["record_notes"], *board["notes"]])
    _print_board(board, args)
    code = _find_exit_code(board)
    has_notes = board["record_notes"] or board["notes"]
    if code == ExitCode.DONE and not has_notes:
        quiet = _make_quiet(board)
        write_stamp(args, scorer, files, Quiet(_capture_board(quiet, args), code))
    return code


def _make_quiet(board: BoardResults) -> BoardResults:
    """Make the board that the next night has if nothing changes."""
    keys = ("ignored", "twins", "llm_failures", "notes", "record_notes")
    more = {key: board[key] for key in keys}
    more |= {
        "evaluated": 0,
        "reused": board["evaluated"] + board["reused"],
        "changes": [],
    }
    return BoardResults(board.board, more)


class _Copy(io.StringIO):
    """What is printed, in the width of the terminal."""

    def isatty(self) -> bool:
        return sys.__stdout__ is not None and sys.__stdout__.isatty()


def _capture_board(board: BoardResults, args: argparse.Namespace) -> str:
    with contextlib.redirect_stdout(_Copy()) as copy:
        _print_board(board, args)
    return copy.getvalue()


def _print_board(board: BoardResults, args: argparse.Namespace) -> None:
    failed = board["failed"]
    scored = show_count(board["evaluated"], "file")
    counts = f"{scored} scored, {board['reused']} unchanged, {len(failed)} failed"
    if board["ignored"]:
        counts += f"; not read: {grouped_names(board['ignored'])}"
    report = board.report()
    if board["without_result"]:
        report.append(
            f"{SYSTEMS_FILE}: without a result: "
            f"{grouped_names(board['without_result'])}"
        )
    report += [*board["twins"], *_name_samples(board.board)]
    if args.format == "csv":
        sys.stdout.write(format_csv(board.board, args.columns))
    else:
        print_result(board, [*report, counts], args.json, args.format, args.columns)


def _find_exit_code(board: BoardResults) -> int:
    failed = board["failed"]
    if any(entry["fault"] for entry in failed):
        return ExitCode.FAULT
    has_result = bool(board.board.files or board.get("waiting"))
    if not has_result and (failed or board["notes"]):
        return ExitCode.REFUSED
    is_carried_over = any(file.kept for file in board.board.files)
    if failed or is_carried_over or board["llm_failures"]:
        return ExitCode.PARTLY_FAILED
    return ExitCode.DONE


def _read_processes(args: argparse.Namespace) -> int:
    """Find how many processes score; InputError for options that do
    not go with them.
    """
    # Calls of a language model run in threads; all files share a deadline and a count
    # of failures. The key stays here.
    has_several = args.cluster or (args.jobs or 1) > 1
    if args.llm and has_several:
        given = "--cluster" if args.cluster else f"--jobs {args.jobs}"
        raise InputError("--llm", "scores in one process: cannot be combined", given)
    if args.cluster is not None:
        require_cluster(args.cluster)
    if args.llm:
        return 1
    return args.jobs or os.cpu_count() or 1


def _name_samples(board: Board) -> list[str]:
    """Name the invented samples among the datasets, if others stand beside them."""
    samples = set()
    datasets = {*board.waiting}
    for file in board.files:
        datasets.add(str(file.dataset))
        if file.signature.get("dataset_sha256") in SAMPLES:
            samples.add(str(file.dataset))
    are_alone = samples >= datasets
    if not samples or are_alone:
        return []
    return [
        f"invented samples: {grouped_names(sorted(samples))}; "
        "delete their files, or keep yours in a folder of their own (--root DIR)"
    ]


def _warn(program: str, lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(f"{program}: {line}"), file=sys.stderr)


def _list_model_failures(failures: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Say how a language model failed, a line per kind, and what becomes
    of the results.
    """
    lines = []
    for kind, files in sorted(failures.items()):
        counts = (
            f"questions {sum(files.values())}, files {grouped_names(sorted(files))}"
        )
        lines.append(f"the language model failed: {kind}: {counts}")
    if degraded := sorted({name for files in failures.values() for name in files}):
        lines.append(
            "degraded results, which the next run makes again: "
            f"{grouped_names(degraded)}"
        )
    return lines
