"""Folders of small predictions, and what their evaluation holds, for the tests of the boards."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from cli import RAW_CONTROL, Done, Record, q, question, run, write
from eval import FutureXEvaluator
from forecasteval import futurex
from forecasteval.benchmark import Files
from forecasteval.boards import board_page, report, tables
from forecasteval.common.forms import from_record
from forecasteval.display.html import Page
from forecasteval.display.tables import Report
from forecasteval.nightly.run import run_night
from forecasteval.nightly.tasks import NightOptions
from forecasteval.ranking.board import Board, Comparison, SeasonComparison, read_board
from forecasteval.scoring import Scorer

BOARD_FILES: Final = [
    "history.jsonl",
    "leaderboard.csv",
    "leaderboard.html",
    "leaderboard.json",
    "leaderboard.md",
]
DAY: Final = 86_400
Score = Callable[[Files], Any]
Stamp = tuple[bytes, int, int]


def score(records: list[Record], name: str = "", **policies: Any) -> Record:
    results = FutureXEvaluator(**policies).evaluate_all(records)
    return {"name": name, **results} if name else dict(results)


def system(name: str, *right: bool, level: int = 1) -> Record:
    """A system with these answers, right or wrong, at one level."""
    return score(
        [q(f"q{n:02}", level=level, answer="A" if yes else "B") for n, yes in enumerate(right)],
        name,
    )


# --- Views of records, in which tests may have changed something ---


def typed(record: Mapping[str, Any]) -> Board:
    known = {field.name for field in fields(Board)}
    return read_board({key: value for key, value in record.items() if key in known})


def board_report(record: Mapping[str, Any]) -> Report:
    return report.board_report(typed(record), record.get("changes", ()))


def format_csv(record: Mapping[str, Any]) -> str:
    return report.format_csv(typed(record))


def format_markdown(record: Mapping[str, Any]) -> str:
    return report.format_markdown(typed(record))


def make_page(record: Mapping[str, Any], *more: Any, **options: Any) -> Page:
    return board_page.make_page(typed(record), *more, **options)


def typed_comparison(record: Mapping[str, Any]) -> Comparison | SeasonComparison:
    kind = SeasonComparison if "datasets" in record else Comparison
    comparison: Comparison | SeasonComparison = from_record(kind, dict(record))
    return comparison


def comparison_report(record: Mapping[str, Any]) -> Report:
    return report.comparison_report(typed_comparison(record))


def list_verdicts(record: Mapping[str, Any]) -> list[str]:
    return tables.list_verdicts(typed_comparison(record))


# --- Folders ---


def night(root: Path, day: int, policy: str = "drop", *options: str) -> Done:
    """Run a night that many days after 1970-01-01, under a policy of late files."""
    clock = {"SOURCE_DATE_EPOCH": str(day * DAY)}
    return run(root, "nightly", "--late-files", policy, *options, **clock)


def rows(board: Mapping[str, Any]) -> list[Record]:
    """The rows of the only table."""
    assert len(board["tables"]) == 1
    return list(board["tables"][0]["rows"])


def column(board: Mapping[str, Any], key: str) -> list[Any]:
    return [row[key] for row in rows(board)]


def import_worker(root: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> Score:
    """`score` of a module that other processes can import, too."""
    write(root, {f"module/{name}.py": source})
    monkeypatch.syspath_prepend(str(root / "module"))
    monkeypatch.delitem(sys.modules, name, raising=False)
    found: Score = importlib.import_module(name).score
    return found


def snapshot(root: Path) -> dict[str, Stamp]:
    """Bytes, time and identity of every file of evaluation/ but the lock, whose time some systems
    change, and the stamp, which holds times of others.
    """
    folder = root / "evaluation"
    own = (".lock", ".stamp")
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in own]
    return {
        path.relative_to(folder).as_posix(): (
            path.read_bytes(),
            path.stat().st_mtime_ns,
            path.stat().st_ino,
        )
        for path in paths
    }


def contents(root: Path) -> dict[str, bytes]:
    """The files of evaluation/ but hidden ones."""
    return {
        path.name: path.read_bytes()
        for path in (root / "evaluation").iterdir()
        if path.name[0] != "."
    }


def stored(root: Path, name: str = "leaderboard") -> Any:
    record = json.loads(
        (root / "evaluation" / f"{name}.json").read_text("utf-8"), parse_constant=pytest.fail
    )
    assert re.fullmatch("[0-9a-f]{64}", record.pop("result_sha256"))
    return record


def counts(done: Done) -> tuple[int, int, int]:
    """(scored, unchanged, failed) as the last line of a run says."""
    match = re.fullmatch(
        r"(\d+) files? scored, (\d+) unchanged, (\d+) failed(; not read.*)?",
        done.out.splitlines()[-1],
    )
    assert match, done.out + done.err
    return int(match[1]), int(match[2]), int(match[3])


def folder_of(root: Path, **answers: str) -> Path:
    """A dataset d of four questions, and a prediction d-NAME for each text of answers."""
    write(root, {"dataset/d.json": [question(f"q{place}") for place in range(4)]})
    return write(root, {
        f"prediction/d-{name}.json": {f"q{place}": letter for place, letter in enumerate(text)}
        for name, text in answers.items()
    })  # fmt: skip


def evaluate(
    root: Path,
    score: Score | None = None,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Record:
    """A night that scores with a function, and with settings of its own."""
    evaluator = FutureXEvaluator()
    found = evaluator.settings() if settings is None else settings
    scorer: Any = Scorer([futurex.BENCHMARK], {}, root / "evaluation")
    scorer.score, scorer.settings = score or evaluator.evaluate_files, lambda benchmark: found
    board, _ = run_night(root, scorer, NightOptions(**options))
    return board


def failures(done: Done, code: int = 3) -> list[str]:
    """The lines on stderr of a run in which files failed."""
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert not RAW_CONTROL.search(done.out + done.err)
    lines = done.err.splitlines()
    assert all(line.startswith("eval.py: ") for line in lines)
    return [line.removeprefix("eval.py: ") for line in lines]
