"""Rows with an id and an answer: which columns count, what of a table is refused."""

from __future__ import annotations

import datetime
import decimal
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from cli import assert_refused, write
from conversions import convert, converted
from forecasteval.convert import rows as rooms

ROWS = [{"id": "a", "answer": "A, B"}, {"id": "b", "answer": "1"}]


@pytest.mark.parametrize(
    ("files", "answers"),
    [
        ({"a.json": ROWS}, {"a": "A, B", "b": "1"}),
        ({"a.jsonl": ROWS}, {"a": "A, B", "b": "1"}),
        ({"a.txt": {"data": ROWS}}, {"a": "A, B", "b": "1"}),
        ({"a.csv": {"data": ROWS}}, {"a": "A, B", "b": "1"}),
        ({"a.eval": json.dumps(ROWS)}, {"a": "A, B", "b": "1"}),
        ({"a.parquet": "\n".join(map(json.dumps, ROWS))}, {"a": "A, B", "b": "1"}),
        ({"a.parquet": "id,answer\na,A\n"}, {"a": "A"}),
        ({"org-a-agent-b-model-c.jsonl": {"data": ROWS}}, {"a": "A, B", "b": "1"}),
        ({"a.jsonl": '{\n "predictions": [\n  {"id": "a", "prediction": 1.5}]}'}, {"a": 1.5}),
        ({"a.json": {"a": ["A", "B"], "b": 2}}, {"a": ["A", "B"], "b": 2}),
        ({"a.json": [{"Question_ID": 7, "Completion": "x"}]}, {"7": "x"}),
        ({"a.json": [{"id": 7.0, "answer": "x"}, {"id": 7.5, "answer": "y"}]}, {"7": "x", "7.5": "y"}),
        ({"a.csv": 'id,answer\na,"A, B"\nb,1\n'}, {"a": "A, B", "b": "1"}),
        ({"a.txt": b"\xef\xbb\xbfid;answer\r\na;A, B\r\nb;1\r\n"}, {"a": "A, B", "b": "1"}),
        ({"a.tsv": "answer\tid\nA, B\ta\n1\tb\n"}, {"a": "A, B", "b": "1"}),
        ({"a.csv": 'id,answer\na,"two\nlines"\n'}, {"a": "two\nlines"}),
        ({"a.csv": f"id,answer\na,{'x' * 200_000}\n"}, {"a": "x" * 200_000}),
        ({"a.json": [{"id": "a", "answer": "  \\boxed{ A } "}]}, {"a": "  \\boxed{ A } "}),
    ],
)
def test_answers_are_kept_as_they_are_written(files: dict[str, Any], answers: object, tmp_path: Path) -> None:
    assert converted(tmp_path, write(tmp_path, files) / next(iter(files))) == {"x.json": answers}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "b", "answer": None}, "left out, without an answer: 1 (b)"),
        ({"id": "b", "answer": " \n"}, "left out, without an answer: 1 (b)"),
        ({"id": "b", "answer": []}, "left out, without an answer: 1 (b)"),
        ('{"id": "b", "answer": NaN}', "left out, without an answer: 1 (b)"),
        ('{"id": "b", "answer": -Infinity}', "left out, without an answer: 1 (b)"),
        ({"id": "b"}, "left out, without an answer: 1 (b)"),
        ({"answer": "A"}, "left out, without an id: 1 (record 2)"),
        ({"id": True, "answer": "A"}, "left out, without an id: 1 (record 2)"),
        ({"id": " ", "answer": "A"}, "left out, without an id: 1 (record 2)"),
        ('{"id": NaN, "answer": "A"}', "left out, without an id: 1 (record 2)"),
        ('{"id": -Infinity, "answer": "A"}', "left out, without an id: 1 (record 2)"),
        ('{"id": "b", "answer": "A", "answer": "B"}', "left out, with a key that is given twice: 1 (b)"),
        ('["id"]', "left out, no object: 1 (record 2)"),
        ("{", "left out, no object: 1 (record 2 (not JSON: column 1: Exp"),
    ],
)
def test_a_row_that_is_no_answer_is_left_out_and_told(row: object, told: str, tmp_path: Path) -> None:
    root = write(tmp_path, {"a.jsonl": [{"id": "a", "answer": "A"}, row]})
    done = convert(root / "a.jsonl", "-o", root / "x.json")
    assert f"x.json: 1 answer\n  {told}" in done.out


# --- Which columns ---


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            ["id", "answer", "prediction"],
            ["one column of answers", "or its name with --answer, got answer, prediction"],
        ),
        (["id", "task_id", "answer"], ["one column of ids", "or its name with --id, got id, task_id"]),
        (["id", "ground_truth"], ["one column of answers", "got id, ground_truth"]),
    ],
)
def test_what_is_not_clear_is_asked(keys: list[str], words: list[str], tmp_path: Path) -> None:
    """A column "answer" may hold the truth, beside the model's."""
    root = write(tmp_path, {"a.json": [dict.fromkeys(keys, "x")], "a.csv": ",".join(keys) + "\nx\n"})
    for name in ("a.json", "a.csv"):
        assert_refused(convert(root / name, "-o", root / "x.json"), *words)


def test_the_columns_that_are_named_count(tmp_path: Path) -> None:
    row = {"id": "row 1", "task_id": "q", "answer": "the truth", "prediction": "mine", "model_boxed_answer": "no"}
    root = write(tmp_path, {"a.json": [row], "a.csv": ",".join(row) + "\n" + ",".join(row.values()) + "\n"})
    for name in ("a.json", "a.csv"):
        done = convert(root / name, "--id", "task_id", "--answer", "prediction", "-o", root / "x.json", "--force")
        assert "column of answers: prediction\n" in done.out
        assert (root / "x.json").read_text() == '{\n "q": "mine"\n}\n'
    assert_refused(convert(root / "a.csv", "--id", "reply", "-o", root / "y.json"), "expected a column reply, got id,")


def test_a_name_that_two_columns_have(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.csv": "id,answer,answer\na,A,B\n"})
    assert_refused(convert(root / "a.csv", "-o", root / "x.json"), "got answer, answer")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,answer\na,A\nb,A, B\n", ["a.csv: line 3", "expected 2 cells", "got 3"]),
        ('id,answer\na,"A\n', ["not CSV"]),
    ],
)
def test_tables_that_would_lose_something(text: str, words: list[str], tmp_path: Path) -> None:
    """`b,A, B` would become the answer A."""
    root = write(tmp_path, {"a.csv": text})
    assert_refused(convert(root / "a.csv", "-o", root / "x.json"), *words)


# --- Parquet ---


def parquet(path: Path, columns: dict[str, list[Any]]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pyarrow.table(columns), path)
    return path


def test_parquet_is_read(tmp_path: Path) -> None:
    source = parquet(tmp_path / "answers.bin", {
        "id": [1, 2, 3, None], "answer": ["A", None, "B, C", "D"], "trace": ["t"] * 4,
    })  # fmt: skip
    done = convert(source, "-o", tmp_path / "x.json")
    assert "answers.bin: Parquet, 1 run\n" in done.out
    assert (
        "x.json: 2 answers\n  left out, without an answer: 1 (2)\n  left out, without an id: 1 (record 4)" in done.out
    )
    assert (tmp_path / "x.json").read_text() == '{\n "1": "A",\n "3": "B, C"\n}\n'


def test_parquet_of_other_types(tmp_path: Path) -> None:
    day, amount = datetime.date(2025, 9, 21), decimal.Decimal("1.50")
    for values, written in (
        ([day], "2025-09-21"), ([amount], "1.50"), ([1.5], 1.5), ([[day, day]], ["2025-09-21"] * 2),
        (["é".encode()], "é"), ([[b"A", b"B"]], ["A", "B"]),
    ):  # fmt: skip
        source = parquet(tmp_path / "a.parquet", {"id": ["a"], "Answer": values})
        assert converted(tmp_path, source, "--force") == {"x.json": {"a": written}}
    pyarrow = pytest.importorskip("pyarrow")
    pairs = pyarrow.array([[("k", "v")]], pyarrow.map_(pyarrow.string(), pyarrow.string()))
    source = parquet(tmp_path / "a.parquet", {"id": ["a"], "answer": pairs})
    assert converted(tmp_path, source, "--force") == {"x.json": {"a": [["k", "v"]]}}


def test_parquet_that_is_none_or_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    root = write(tmp_path, {"bad.parquet": b"PAR1" + b"\0" * 30 + b"PAR1"})
    assert_refused(convert(root / "bad.parquet", "-o", root / "x.json"), "bad.parquet: not Parquet")
    monkeypatch.setattr(rooms, "MAX_ROWS", 2)
    for ids, answers in ((["a", "b", "c"], ["A", "B", "C"]), (["a"], [["A", "B", "C"]])):
        source = parquet(tmp_path / "a.parquet", {"id": ids, "answer": answers})
        assert_refused(convert(source, "-o", root / "x.json"), "expected 2 rows or values at most, got 3")


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("dictionary", [False, True])
def test_parquet_that_holds_more_than_its_size(
    nested: bool, dictionary: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that is there once may stand in every row."""
    monkeypatch.setattr(rooms, "FREE_BYTES", 10_000)
    monkeypatch.setattr(rooms, "_BATCH", 7)
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    text = "x" * 10_000
    for rows in (2, 1500):
        answers: Any = [[{"a": text}] * rows, None] if nested else [text] * rows
        table = pyarrow.table({"id": list(map(str, range(len(answers)))), "answer": answers})
        write_table(table, tmp_path / "a.parquet", compression="zstd", use_dictionary=dictionary)
        done = convert(tmp_path / "a.parquet", "-o", tmp_path / "x.json", "--force")
        if rows == 2:
            assert f"x.json: {1 if nested else 2} answer" in done.out
    assert_refused(done, "a.parquet: expected answers of", "bytes at most, got more")


@pytest.mark.parametrize("kind", ["timestamp", "duration", "binary"])
def test_parquet_of_what_cannot_be_read(kind: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    values = (
        pyarrow.array([b"a", b"\xff"]) if kind == "binary" else pyarrow.array([1, 2**62], getattr(pyarrow, kind)("ms"))
    )
    source = parquet(tmp_path / "a.parquet", {"id": ["a", "b"], "answer": values})
    assert_refused(convert(source, "-o", tmp_path / "x.json"), "a.parquet: not Parquet that can be read: ")


def test_damaged_parquet_is_one_line(tmp_path: Path) -> None:
    source = parquet(tmp_path / "a.parquet", {"id": list(map(str, range(50))), "answer": [["A"], ["B", "A"]] * 25})
    whole, rng = source.read_bytes(), random.Random(7)
    for _ in range(300):
        torn = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            torn[rng.randrange(4, len(torn) - 4)] = rng.randrange(256)
        source.write_bytes(torn)
        done = convert(source, "-o", tmp_path / "x.json", "--force")
        if done.code:
            assert_refused(done, "a.parquet: ")


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    root = write(tmp_path, {"a.parquet": b"PAR1" + b"\0" * 30})
    done = convert(root / "a.parquet", "-o", root / "x.json")
    assert_refused(done, "a.parquet: reading Parquet needs pyarrow, which is not installed")
