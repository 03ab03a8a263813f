"""`convert --dataset`: FutureX-Past in both editions as a dataset that scores, its numbers without
sigma told.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from cli import assert_refused, read_json, run, write
from conversions import convert
from make_convert_samples import PAST, SAMPLES

SECOND: list[dict[str, Any]] = [  # its second edition
    {
        "id": row["question_id"], "prompt": row["prompt"], "end_time": row["end-time"],
        "level": row["level"],
        "title": row["question"], "ground_truth": row["answer"],
    }
    for row in PAST
]  # fmt: skip
QUESTIONS = [
    {key: value for key, value in {**row, "Std": None}.items() if key != "title"} for row in SECOND
]


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", PAST), ("a.json", PAST), ("a.csv", as_csv(PAST)),
        ("a.jsonl", SECOND), ("a.json", SECOND), ("a.csv", as_csv(SECOND)),
    ],
)  # fmt: skip
def test_both_editions_in_every_format(name: str, content: object, tmp_path: Path) -> None:
    done = convert(
        "--dataset",
        write(tmp_path, {name: content}) / name,
        "-o",
        tmp_path / "dataset" / "past.json",
    )
    assert done.code == 0, done.err
    assert read_json(tmp_path / "dataset" / "past.json") == QUESTIONS


@pytest.mark.extra("pyarrow")
def test_parquet(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow.parquet import write_table

    write_table(pyarrow.Table.from_pylist(PAST), tmp_path / "a.parquet")
    assert convert("--dataset", tmp_path / "a.parquet", "-o", tmp_path / "past.json").code == 0
    assert read_json(tmp_path / "past.json") == QUESTIONS


def test_what_is_told_of_a_dataset(tmp_path: Path) -> None:
    """The column of truths, and the command that looks for mistakes in it."""
    output = tmp_path / "past.json"
    done = convert("--dataset", SAMPLES / "futurex-past.jsonl", "-o", output)
    assert done.out == (
        f"{SAMPLES}/futurex-past.jsonl: rows of JSON\n  column of truths: answer\n{output}: 2 "
        f"questions\n"
        f"  python eval.py check {output} looks for mistakes\n"
    )


def test_sigmas_and_numbers_are_kept(tmp_path: Path) -> None:
    rows = [{**SECOND[1], "sigma": 0, "id": 7.0, "ground_truth": 4130}, "no object"]
    source = write(tmp_path, {"a.jsonl": rows}) / "a.jsonl"
    done = convert("--dataset", source, "-o", tmp_path / "x.json")
    assert "  left out, no object: 1 (record 2)\n" not in done.out
    assert "left out, no object: 1 (record 2 (not JSON" in done.out
    assert read_json(tmp_path / "x.json") == [
        {**QUESTIONS[1], "id": "7", "ground_truth": 4130, "Std": 0}
    ]


@pytest.mark.parametrize("column", ["id", "prompt", "level", "ground_truth"])
def test_a_column_that_is_not_there(column: str, tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != column} for row in SECOND]
    done = convert(
        "--dataset", write(tmp_path, {"a.json": rows}) / "a.json", "-o", tmp_path / "x.json"
    )
    assert_refused(done, f"a.json: expected a column {column}", "got")


def test_one_source_and_no_file_in_the_way(tmp_path: Path) -> None:
    root = write(
        tmp_path, {"a.json": SECOND, "b.json": SECOND, "x.json": "mine", "empty.json": "[]"}
    )
    assert_refused(
        convert("--dataset", root / "a.json", root / "b.json", "-o", root / "y.json"),
        "expected one source",
    )
    assert_refused(
        convert("--dataset", root / "a.json", "-o", root / "x.json"), "--force replaces it"
    )
    assert_refused(
        convert("--dataset", root / "empty.json", "-o", root / "y.json"), "expected a column id"
    )
    assert (root / "x.json").read_text() == "mine"


def test_from_past_questions_and_a_batch_to_a_score(tmp_path: Path) -> None:
    """The whole way of a new user; the truth stands in both files and is not taken for an
    answer.
    """
    replies = [
        {**row, "reply_text": text}
        for row, text in zip(PAST, (r"\\boxed{Yes}", r"\\boxed{9}"), strict=True)
    ]
    root = write(tmp_path, {"past.jsonl": PAST, "replies.jsonl": replies})
    steps = [
        ["--dataset", root / "past.jsonl", "-o", root / "dataset" / "past.json"],
        [
            "--id",
            "question_id",
            "--answer",
            "reply_text",
            root / "replies.jsonl",
            "-o",
            root / "prediction" / "past-me.json",
        ],
    ]
    assert [convert(*step).code for step in steps] == [0, 0]
    assert run(root, "-f", "past-me", "--json").json["level_scores"] == {
        "1": 1.0,
        "2": None,
        "3": None,
        "4": 0.0,
    }
