"""The tables of worked cases, through the library and through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from cli import CASES, Record, read_json, run, write
from eval import FutureXEvaluator
from forecasteval.common.records import dump_json

SMALLEST: Final = {
    "choices": 348, "rankings": 320, "names": 87, "numbers": 445, "boxes": 115, "refusals": 84,
    "spanish": 42, "plain_lines": 54,
}  # fmt: skip
TABLES: Final = {name: read_json(CASES / f"{name}.json") for name in SMALLEST}
ROWS: Final = [
    pytest.param(table, index, id=f"{table}-{case['name']}")
    for table, cases in TABLES.items()
    for index, case in enumerate(cases)
]


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_whole(table: str) -> None:
    """A table that lost its rows would make every case below pass."""
    cases = TABLES[table]
    assert len(cases) >= SMALLEST[table]
    assert len({case["name"] for case in cases}) == len(cases)
    for case in cases:
        told = {
            "name",
            "origin",
            "why",
            "level",
            "prompt",
            "ground_truth",
            "Std",
            "answer",
            "score",
        }
        assert told <= case.keys()
        assert 0 <= case["score"] <= 1
        assert case.get("outcome", "scored") in ("scored", "missing", "unparsed")
        assert case["score"] == 0 or case.get("outcome", "scored") == "scored"


def check(case: Record, item: Record) -> None:
    told = (
        f"{case['answer']!r} against {case['ground_truth']!r}: read {item['read']!r}, "
        f"{item['outcome']} ({case['why']})"
    )
    assert item["score"] == pytest.approx(case["score"], abs=1e-4), told
    assert item["outcome"] == case.get("outcome", item["outcome"]), told


@pytest.mark.parametrize(("table", "index"), ROWS)
def test_case_in_python(table: str, index: int) -> None:
    case = TABLES[table][index]
    evaluator = FutureXEvaluator()
    (item,) = evaluator.evaluate_all([{**case, "id": "case"}])["items"]
    check(case, item)
    assert evaluator.evaluate_prediction(case["answer"], case) == item["score"]


def test_all_cases_on_the_command_line(tmp_path: Path) -> None:
    """Each table scored by one run of the command line: its items are those of the library."""
    for table, cases in TABLES.items():
        rows = [{"id": f"{table} {number}", **case} for number, case in enumerate(cases)]
        write(tmp_path, {f"prediction/{table}.json": rows})
        items = run(tmp_path, "-f", table, "--json").json["items"]
        assert items == json.loads(dump_json(FutureXEvaluator().evaluate_all(rows)["items"]))
