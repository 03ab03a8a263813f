"""research/reading: 300 adjudicated answers, and how many of them readers get right."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any, Final

from cli import ROOT
from eval import FutureXEvaluator
from pages import read_table

sys.path.insert(0, str(ROOT / "research" / "reading"))
import compare

ROWS: Final[list[Any]] = json.loads(
    (ROOT / "research" / "reading" / "answers.json").read_text(encoding="utf-8")
)


def test_answers_are_balanced_and_scorable() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 300
    assert set(Counter(row["kind"] for row in ROWS).values()) == {50}
    boxes = [rf"\boxed{{{as_text(row['means'])}}}" for row in ROWS]
    rows = [{**row, "answer": box} for row, box in zip(ROWS, boxes, strict=True) if row["means"]]
    items = FutureXEvaluator().evaluate_all(rows)["items"]
    for row, item in zip(rows, items, strict=True):  # what it means, in a box, earns its score
        assert abs(item["score"] - row["score"]) < 1e-3, row["id"]


def as_text(means: object) -> str:
    return ", ".join(means) if isinstance(means, list) else str(means)


def test_the_table_of_the_docs_is_what_is_counted() -> None:
    """Nothing is too high; a reading that was right may not be lost."""
    shown = {row[0]: row[1:] for row in read_table("research/README.md", "Reader")}
    results = {
        "this project": compare.judge_ours(ROWS),
        "the last box, by regex": compare.judge_reader(ROWS, compare.last_box),
        "one box and nothing else": compare.judge_reader(ROWS, compare.whole_box),
    }
    for name, verdicts in results.items():
        counts = Counter(verdicts)
        cells = [str(counts[key]) for key in ("right", "too high", "wrong", "unread")]
        assert list(shown[name][-4:]) == cells
    assert "too high" not in results["this project"]
