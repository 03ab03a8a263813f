"""`-f NAME --unread FILE`: the answers that were not read, to be filled in and scored again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from cli import PROMPT, ROOT, Record, run, write

LONG = "The index was at 40, then at 50. " * 40 + "It may well end near 60, or 70."


def question(name: str, level: int, truth: str) -> Record:
    return {"id": name, "level": level, "prompt": PROMPT, "ground_truth": truth, "Std": None}


QUESTIONS = [question("q1", 1, "B"), question("q2", 4, "60"), question("q3", 1, "A")]
ANSWERS = [
    {"id": "q1", "answer": "Hard to tell, perhaps the second one."},
    {"id": "q2", "answer": LONG},
    {"id": "q3", "answer": r"\boxed{A}"},
]


def fill_in(path: Path, answers: dict[str, str]) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(row["answer"] is None for row in rows)
    filled = [{**row, "answer": answers[row["id"]]} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in filled), encoding="utf-8")


@pytest.mark.parametrize("beside", [True, False], ids=["dataset", "questions in the file"])
def test_what_was_unread_is_filled_in_and_scored(tmp_path: Path, beside: bool) -> None:
    if beside:
        write(tmp_path, {"dataset/w.json": QUESTIONS, "prediction/w-a.json": ANSWERS})
    else:
        rows = [q | a for q, a in zip(QUESTIONS, ANSWERS, strict=True)]
        write(tmp_path, {"prediction/w-a.json": rows})
    file = tmp_path / "unread.jsonl"
    done = run(tmp_path, "-f", "w-a", "--unread", str(file))
    assert done.code == 0
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["level"]) for row in rows] == [("q1", 1), ("q2", 4)]
    assert all(row["reason"] for row in rows)
    assert rows[1]["text"].endswith("or 70.")  # the end of a long answer
    fill_in(file, {"q1": "B", "q2": "60"})
    advice = shlex.split(done.err.partition("run python eval.py ")[2])
    again = run(tmp_path, *advice, "--json").json
    assert [(item["id"], item["score"]) for item in again["items"] if item["score"]] == [
        ("q1", 1.0),
        ("q2", 1.0),
    ]


def test_a_file_is_not_overwritten_and_two_files_have_no_one_list(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/w.json": QUESTIONS, "prediction/w-a.json": ANSWERS})
    write(tmp_path, {"prediction/w-b.json": ANSWERS, "mine.jsonl": ANSWERS})
    for words in (["-f", "w-a", "--unread", str(tmp_path / "mine.jsonl")],
                  ["-f", "w-a", "--unread", str(tmp_path / "new.csv")],
                  ["-f", "w-a", "-f", "w-b", "--unread", str(tmp_path / "new.jsonl")]):  # fmt: skip
        done = run(tmp_path, *words)
        assert done.code == 2
        assert "--unread" in done.err
        assert not [*tmp_path.glob("new.*")]


def test_nothing_is_written_where_all_was_read(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/w.json": QUESTIONS, "prediction/w-a.json": ANSWERS[2:]})
    done = run(tmp_path, "-f", "w-a", "--unread", str(tmp_path / "new.jsonl"))
    assert (done.code, "every answer was read" in done.err) == (0, True)
    assert not (tmp_path / "new.jsonl").exists()


def test_only_answers_in_words_can_be_unread(tmp_path: Path) -> None:
    words = ("-f", "prophet-sample", "--unread", str(tmp_path / "new.jsonl"))
    done = run(ROOT, "--output", str(tmp_path), *words)
    assert (done.code, "--unread: needs a file of FutureX or" in done.err) == (2, True)
    assert "--unread" not in run(ROOT, "-f", "prophet-sample", "--help").out
    assert not (tmp_path / "new.jsonl").exists()
