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
from forecasteval.source import tables
from make_convert_samples import NO_BOX

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
        ({"a.json": [{"id": "a", "answer": ["A", "B"]}]}, {"a": ["A", "B"]}),
        (
            {"a.json": [{"id": 7.0, "answer": "x"}, {"id": 7.5, "answer": "y"}]},
            {"7": "x", "7.5": "y"},
        ),
        ({"a.csv": "id,answer\n7.0,x\n7.5,y\nv7.0,z\n"}, {"7": "x", "7.5": "y", "v7.0": "z"}),
        ({"a.json": [{"id": "7.0", "answer": "x"}]}, {"7.0": "x"}),
        ({"a.csv": "id;answer\na;Müller\n".encode("cp1252")}, {"a": "Müller"}),
        (
            {"a.csv": "id,answer\na,上海市\nb,北京市\n".encode("gbk")},
            {"a": "上海市", "b": "北京市"},
        ),
        ({"a.csv": 'id,answer\na,"A, B"\nb,1\n'}, {"a": "A, B", "b": "1"}),
        ({"a.txt": b"\xef\xbb\xbfid;answer\r\na;A, B\r\nb;1\r\n"}, {"a": "A, B", "b": "1"}),
        ({"a.tsv": "answer\tid\nA, B\ta\n1\tb\n"}, {"a": "A, B", "b": "1"}),
        ({"a.csv": 'id,answer\na,"two\nlines"\n'}, {"a": "two\nlines"}),
        ({"a.csv": f"id,answer\na,{'x' * 200_000}\n"}, {"a": "x" * 200_000}),
        ({"a.json": [{"id": "a", "answer": "  \\boxed{ A } "}]}, {"a": "  \\boxed{ A } "}),
    ],
)
def test_answers_are_kept_as_they_are_written(
    files: dict[str, Any], answers: object, tmp_path: Path
) -> None:
    source = write(tmp_path, files) / next(iter(files))
    assert converted(tmp_path, source, "--answer", "answer") == {"x.json": answers}


@pytest.mark.parametrize(
    "content",
    [
        [{"id": "a", "prediction": 1.5}],
        {"data": [{"id": "a", "prediction": 1.5}]},
        '{\n "predictions": [\n  {"id": "a", "prediction": 1.5}]}',
    ],
)
def test_submissions_need_no_names(content: object, tmp_path: Path) -> None:
    source = write(tmp_path, {"a.json": content}) / "a.json"
    assert converted(tmp_path, source) == {"x.json": {"a": 1.5}}


def test_a_prediction_is_not_converted(tmp_path: Path) -> None:
    """The object of another program looks the same: {"evalId": "e", "results": []}."""
    source = write(tmp_path, {"a.json": {"a": "A", "b": 2}}) / "a.json"
    assert_refused(convert(source, "-o", tmp_path / "x.json"), "a prediction already")


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
        (
            '{"id": "b", "answer": "A", "answer": "B"}',
            "left out, with a key that is given twice: 1 (b)",
        ),
        ('["id"]', "left out, no object: 1 (record 2)"),
        ("{", "left out, no object: 1 (record 2 (not JSON: column 1: Exp"),
        (
            {"id": "b", "answer": {"role": "assistant", "content": "A"}},
            "left out, an object, neither text nor a number: 1 (b with role, content)",
        ),
        (
            {"id": "b", "answer": [{"label": "A"}]},
            "left out, an object, neither text nor a number: 1 (b with label)",
        ),
        ({"id": "b", "answer": True}, "left out, neither text nor a number: 1 (b: true)"),
        ({"id": "b", "answer": ["A", ["B"]]}, 'left out, neither text nor a number: 1 (b: ["B"])'),
    ],
)
def test_a_row_that_is_no_answer_is_left_out_and_told(
    row: object, told: str, tmp_path: Path
) -> None:
    root = write(tmp_path, {"a.jsonl": [{"id": "a", "answer": "A"}, row]})
    done = convert(root / "a.jsonl", "-o", root / "x.json", "--answer", "answer")
    assert f"x.json: 1 answer\n  {told}" in done.out


def test_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, {"a.csv": "id;answer\na;Müller\n".encode("cp1252")}) / "a.csv"
    done = convert(source, "-o", tmp_path / "x.json", "--answer", "answer")
    assert "  a.csv: not UTF-8, read as cp1252\n" in done.out


# --- Which columns ---


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["id", "ground_truth"], ["--answer", "answer"]),
        (["id", "answer"], ["--answer", "Answer"]),
        (["id", "prediction"], ["--id", "task_id"]),
        (["task_id", "answer"], ["--answer", "answer"]),
        (["id", "answer", "output"], []),
        (["id", "level", "answer"], []),
    ],
)
def test_columns_are_named_where_they_are_not_clear(
    keys: list[str], options: list[str], tmp_path: Path
) -> None:
    """Beside a question a column may hold the truth, one called answer, too."""
    files = {"a.json": [{key: key for key in keys}], "a.csv": f"{','.join(keys)}\n" * 2}
    root = write(tmp_path, files)
    for name in files:
        done = convert(root / name, "-o", root / "x.json", *options)
        assert_refused(done, "expected --answer COLUMN", "--id COLUMN", *keys)


@pytest.mark.parametrize("keys", [["id", "answer"], ["id", "prompt", "prediction"]])
def test_plain_columns_need_no_names(keys: list[str], tmp_path: Path) -> None:
    text = ",".join(keys) + "\na" + ",A" * (len(keys) - 1) + "\n"
    source = write(tmp_path, {"a.csv": text}) / "a.csv"
    assert converted(tmp_path, source) == {"x.json": {"a": "A"}}


def test_the_columns_that_are_named_count(tmp_path: Path) -> None:
    row = {
        "id": "row 1",
        "task_id": "q",
        "answer": "the truth",
        "prediction": "mine",
        "model_boxed_answer": "no",
    }
    root = write(
        tmp_path, {"a.json": [row], "a.csv": ",".join(row) + "\n" + ",".join(row.values()) + "\n"}
    )
    for name in ("a.json", "a.csv"):
        done = convert(
            root / name,
            "--id",
            "task_id",
            "--answer",
            "prediction",
            "-o",
            root / "x.json",
            "--force",
        )
        assert "ids: task_id; answers: prediction\n" in done.out
        assert (root / "x.json").read_text() == '{\n "q": "mine"\n}\n'


BATCH: list[dict[str, Any]] = [
    {"custom_id": "a", "result": {"message": {"content": [{"type": "text", "text": "Yes"}]}}},
    {"custom_id": "b", "result": {"message": {"content": [{"type": "text", "text": "B"}]}}},
    {"custom_id": "c", "result": {"type": "errored"}},
]
GEMINI: list[dict[str, Any]] = [
    {"key": "a", "response": {"candidates": [{"content": {"parts": [{"text": "Yes"}]}}]}},
]


@pytest.mark.parametrize(
    ("content", "options", "answers"),
    [
        (
            BATCH,
            ["--id", "custom_id", "--answer", "result.message.content.0.text"],
            {"a": "Yes", "b": "B"},
        ),
        (
            GEMINI,
            ["--id", "key", "--answer", "response.candidates.0.content.parts.0.text"],
            {"a": "Yes"},
        ),
        ({"a": {"answer": "Yes", "why": "x"}, "b": {"answer": 2}}, ["--answer", "answer"], None),
        ({"a": {"reply": {"text": "Yes"}}}, ["--answer", "reply.text"], {"a": "Yes"}),
        ([{"id": "a", "p.q": "Yes", "p": {"q": "No"}}], ["--answer", "p.q"], {"a": "Yes"}),
        ([{"id": "a", "p": ["No", "Yes"]}], ["--answer", "p.1"], {"a": "Yes"}),
        ("id,m.answer,m\na,Yes,No\n", ["--answer", "m.answer"], {"a": "Yes"}),
    ],
)
def test_answers_at_a_path(
    content: object, options: list[str], answers: object, tmp_path: Path
) -> None:
    """A column of that very name counts before a path."""
    source = write(tmp_path, {"a.json": content}) / "a.json"
    assert converted(tmp_path, source, *options) == {"x.json": answers or {"a": "Yes", "b": 2}}


@pytest.mark.parametrize(
    ("content", "options", "unknown"),
    [
        (BATCH, ["--id", "custom_id", "--answer", "result.mesage.content.0.text"], None),
        (BATCH, ["--id", "custom_id", "--answer", "result.message.content.1.text"], None),
        ({"a": {"answer": "Yes"}}, ["--answer", "anser"], None),
        ([{"id": "a", "answer": "A"}], ["--answer", "Answer"], None),
        ([{"id": "a", "answer": None}], ["--answer", "answer"], None),
        ([{"id": "a", "answer": "A"}], ["--answer", "answer", "--id", "Id"], "Id"),
        ("id,answer,answer\na,A,B\n", ["--answer", "answer"], None),
    ],
)
def test_a_mistyped_column_is_named_first(
    content: object, options: list[str], unknown: str | None, tmp_path: Path
) -> None:
    source = write(tmp_path, {"a.json": content}) / "a.json"
    done = convert(source, "-o", tmp_path / "x.json", *options)
    assert_refused(done, f"a.json: no single column {unknown or options[-1]} with values: expected")


def test_a_key_that_is_given_twice_within_a_path_is_no_answer(tmp_path: Path) -> None:
    text = '{"a": {"answer": "A", "answer": "B"}, "b": {"answer": "B"}}'
    source = write(tmp_path, {"a.json": text}) / "a.json"
    done = convert(source, "-o", tmp_path / "x.json", "--answer", "answer")
    assert "left out, without an answer: 1 (a)" in done.out


def test_a_name_that_two_columns_have(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.csv": "id,answer,answer\na,A,B\n"})
    done = convert(root / "a.csv", "-o", root / "x.json", "--answer", "answer")
    assert_refused(done, "no single column answer with values")


def test_a_row_that_would_lose_something_is_left_out(tmp_path: Path) -> None:
    """`b,A, B` would become the answer A."""
    root = write(tmp_path, {"a.csv": "id,answer\na,A\nb,A, B\n", "b.csv": 'id,answer\na,"A\n'})
    done = convert(root / "a.csv", "-o", root / "x.json", "--answer", "answer")
    assert "left out, no object: 1 (record 2 (expected 2 cells" in done.out
    assert_refused(convert(root / "b.csv", "-o", root / "y.json", "--answer", "answer"), "not CSV")


# --- The truth is never taken for the answer ---

PAST: dict[str, Any] = {
    "question_id": "a",
    "question": "?",
    "answer": "A",
    "options": [],
    "end-time": "",
    "prompt": "?",
}


@pytest.mark.parametrize("column", ["raw_text", "generation", "prediction"])
def test_the_truth_of_futurex_past_is_no_answer(column: str, tmp_path: Path) -> None:
    """Its column `answer` is the truth, and a file of replies carries it along."""
    root = write(tmp_path, {"a.jsonl": [{**PAST, "level": 1, column: "I say B"}]})
    done = convert(root / "a.jsonl", "-o", root / "x.json", "--id", "question_id")
    assert_refused(done, "--answer", "answer (A)", column)
    named = "--id", "question_id", "--answer", column
    assert converted(root, root / "a.jsonl", *named) == {"x.json": {"a": "I say B"}}


@pytest.mark.parametrize("column", ["candidate_answer", "gpt-4o", "final_answer", "provider"])
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_an_answer_beside_other_texts_may_be_the_truth(
    column: str, suffix: str, tmp_path: Path
) -> None:
    """`candidate_answer` looked like a date, and the truth was converted."""
    rows = [
        {"id": name, "question": f"{name}?", "answer": name.upper(), column: said}
        for name, said in (("a", "I say B"), ("b", "I say C"))
    ]
    cells = "\n".join(",".join(row.values()) for row in rows)
    files = {"a.jsonl": rows, "a.csv": f"{','.join(rows[0])}\n{cells}\n"}
    source = write(tmp_path, files) / f"a.{suffix}"
    assert_refused(convert(source, "-o", tmp_path / "x.json"), "--answer", column)
    assert converted(tmp_path, source, "--answer", column) == {
        "x.json": {"a": "I say B", "b": "I say C"}
    }


# --- Batches, and what is not read ---


def chat(content: object, **more: Any) -> dict[str, Any]:
    return {
        "status_code": 200,
        "body": {"choices": [{"message": {"role": "assistant", "content": content}}]},
        **more,
    }


def test_openai_batches(tmp_path: Path) -> None:
    """Chat completions and the Responses API; `id` is the batch's own, `custom_id` the
    question's.
    """
    said = [{"type": "output_text", "text": "\\boxed{"}, {"type": "output_text", "text": "C}"}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": said}]
    replies: list[tuple[str, Any]] = [
        ("a", chat("A")),
        ("b", chat([{"type": "text", "text": "\\boxed"}, {"type": "text", "text": "{B}"}])),
        ("c", {"status_code": 200, "body": {"output": output}}), ("d", chat("no", status_code=500)),
        ("e", chat(None)), ("f", {"status_code": 200, "body": {"choices": []}}),
    ]  # fmt: skip
    rows = [
        {"id": f"batch_req_{name}", "custom_id": name, "response": reply, "error": None}
        for name, reply in replies
    ]
    rows.append(
        {
            "id": "batch_req_g",
            "custom_id": "g",
            "response": None,
            "error": {"code": "batch_expired"},
        }
    )
    source = write(tmp_path, {"out.jsonl": rows}) / "out.jsonl"
    done = convert(source, "-o", tmp_path / "x.json")
    assert "out.jsonl: OpenAI batch output, 1 run\n" in done.out
    assert "  left out, failed: 2 (d, g)\n  left out, without an answer: 2 (e, f)\n" in done.out
    assert json.loads((tmp_path / "x.json").read_text()) == {
        "a": "A",
        "b": "\\boxed{B}",
        "c": "\\boxed{C}",
    }


def test_choices_of_a_batch_are_runs(tmp_path: Path) -> None:
    """With `n` above 1 a reply has several; a request that failed has none in any run."""
    choices = [{"message": {"content": text}} for text in "AB"]
    rows = [
        {"custom_id": "a", "response": {"status_code": 200, "body": {"choices": choices}}},
        {"custom_id": "b", "response": None, "error": {"code": "batch_expired"}},
    ]
    source = write(tmp_path, {"out.jsonl": rows}) / "out.jsonl"
    assert converted(tmp_path, source) == {"x@1.json": {"a": "A"}, "x@2.json": {"a": "B"}}


@pytest.mark.parametrize(
    "content",
    [
        [{"custom_id": "a", "result": {"type": "succeeded"}}],
        [{"key": "a", "response": {"candidates": []}}],
        {"evalId": "e", "results": {"version": 3, "results": []}, "config": {}},
        [{"doc_id": 0, "doc": {}, "target": "A", "resps": [["A"]], "filtered_resps": ["A"]}],
        {"testCases": [{"name": "a", "actualOutput": "A"}]},
        {"task_id": ["a", "b"], "reply": ["A", "B"]},
        {"task_id": {"0": "a"}, "reply": {"0": "a"}},
    ],
)
def test_files_of_other_programs_are_refused(content: object, tmp_path: Path) -> None:
    name = "a.jsonl" if isinstance(content, list) else "a.json"
    source = write(tmp_path, {name: content}) / name
    assert_refused(convert(source, "-o", tmp_path / "x.json"), "expected")


# --- Parquet ---


def parquet(path: Path, columns: dict[str, list[Any]]) -> Path:
    import pyarrow
    from pyarrow.parquet import write_table

    write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.extra("pyarrow")
def test_parquet_is_read(tmp_path: Path) -> None:
    source = parquet(tmp_path / "answers.bin", {
        "id": [1, 2, 3, None], "answer": ["A", None, "B, C", "D"], "trace": ["t"] * 4,
    })  # fmt: skip
    done = convert(source, "-o", tmp_path / "x.json", "--answer", "answer")
    assert "answers.bin: Parquet, 1 run\n" in done.out
    assert (
        "x.json: 2 answers\n  left out, without an answer: 1 (2)\n  left out, without an id: 1 "
        "(record 4)" in done.out
    )
    assert (tmp_path / "x.json").read_text() == '{\n "1": "A",\n "3": "B, C"\n}\n'


@pytest.mark.extra("pyarrow")
def test_parquet_of_other_types(tmp_path: Path) -> None:
    day, amount = datetime.date(2025, 9, 21), decimal.Decimal("1.50")
    for values, written in (
        ([day], "2025-09-21"), ([amount], "1.50"), ([1.5], 1.5), ([[day, day]], ["2025-09-21"] * 2),
        (["é".encode()], "é"), ([[b"A", b"B"]], ["A", "B"]),
    ):  # fmt: skip
        source = parquet(tmp_path / "a.parquet", {"id": ["a"], "Answer": values})
        assert converted(tmp_path, source, "--force", "--answer", "Answer") == {
            "x.json": {"a": written}
        }


@pytest.mark.extra("pyarrow")
def test_parquet_that_is_none_or_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path, {"bad.parquet": b"PAR1" + b"\0" * 30 + b"PAR1"})
    assert_refused(convert(root / "bad.parquet", "-o", root / "x.json"), "bad.parquet: not Parquet")
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    source = parquet(tmp_path / "a.parquet", {"id": ["a", "b", "c"], "answer": ["A", "B", "C"]})
    assert_refused(
        convert(source, "-o", root / "x.json"), "expected 2 rows at most; split it, got 3"
    )


def test_files_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path, {"a.csv": "id,answer\na,A\nb,B\n"})
    monkeypatch.setattr(tables, "MAX_BYTES", 10)
    assert_refused(
        convert(root / "a.csv", "-o", root / "x.json"),
        "a.csv: expected 10 bytes at most; split it, got 18",
    )


@pytest.mark.extra("pyarrow")
@pytest.mark.parametrize("kind", ["timestamp", "duration", "binary"])
def test_parquet_of_what_cannot_be_read(kind: str, tmp_path: Path) -> None:
    import pyarrow

    values = (
        pyarrow.array([b"a", b"\xff"])
        if kind == "binary"
        else pyarrow.array([1, 2**62], getattr(pyarrow, kind)("ms"))
    )
    source = parquet(tmp_path / "a.parquet", {"id": ["a", "b"], "answer": values})
    assert_refused(
        convert(source, "-o", tmp_path / "x.json"), "a.parquet: not Parquet that can be read: "
    )


@pytest.mark.extra("pyarrow")
def test_damaged_parquet_is_one_line(tmp_path: Path) -> None:
    source = parquet(
        tmp_path / "a.parquet",
        {"id": list(map(str, range(50))), "answer": [["A"], ["B", "A"]] * 25},
    )
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
    assert_refused(done, "a.parquet: needs pyarrow: pip install pyarrow, or write it as CSV")


# --- MiroFlow ---


def attempt(answer: str, **more: Any) -> dict[str, Any]:
    return {"status": "completed", "model_boxed_answer": answer, **more}


def row(*attempts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "task_id": "q",
        "task_question": "Q?",
        "model_boxed_answer": "chosen",
        "attempts": [*attempts],
        **more,
    }


def test_the_answer_of_a_row_that_has_attempts_is_not_taken(tmp_path: Path) -> None:
    """pass@k shows the right one of them, whichever it was."""
    root = write(
        tmp_path, {"r.jsonl": [row(attempt("wrong", attempt_id=1), attempt("right", attempt_id=2))]}
    )
    assert converted(root, root / "r.jsonl") == {
        "x@1.json": {"q": "wrong"},
        "x@2.json": {"q": "right"},
    }


@pytest.mark.parametrize(
    ("numbers", "answers"),
    [
        ((2, 1), {"x@1.json": {"q": "b"}, "x@2.json": {"q": "a"}}),
        ((0, 1), {"x@0.json": {"q": "a"}, "x@1.json": {"q": "b"}}),
        ((1, 1), {"x.json": {"q": "b"}}),  # a retry
        ((None, "2"), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),
        ((2, None), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),  # the second is no retry
        ((True, 10**12), {"x@1.json": {"q": "a"}, "x@2.json": {"q": "b"}}),
    ],
)
def test_attempts_keep_numbers_that_are_some(
    numbers: tuple[Any, Any], answers: object, tmp_path: Path
) -> None:
    first, second = numbers
    rows = [row(attempt("a", attempt_id=first), attempt("b", attempt_id=second))]
    assert converted(tmp_path, write(tmp_path, {"r.jsonl": rows}) / "r.jsonl") == answers


def test_retries_are_no_runs(tmp_path: Path) -> None:
    """The official results number attempts and, within each, retries from 0: the last retry
    counts.
    """
    attempts = [
        attempt("late", attempt_number=1, retry_id=1),
        attempt("early", attempt_number=1, retry_id=0),
        attempt("second", attempt_number=2, retry_id=0),
    ]  # fmt: skip
    source = write(tmp_path, {"r.jsonl": [row(*attempts)]}) / "r.jsonl"
    assert converted(tmp_path, source) == {"x@1.json": {"q": "late"}, "x@2.json": {"q": "second"}}
    for one in attempts:
        one["attempt_id"] = one.pop("attempt_number")
    source = write(tmp_path, {"r.jsonl": [row(*attempts[:2])]}) / "r.jsonl"
    assert converted(tmp_path / "b", source) == {"x.json": {"q": "late"}}


@pytest.mark.parametrize(
    "attempts", [{}, {"attempts": []}, {"attempts": None}, {"attempts": ["x"]}]
)
def test_a_row_without_attempts_is_one_run(attempts: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"task_id": "q", "model_boxed_answer": "A", "status": "success", **attempts}]
    assert converted(tmp_path, write(tmp_path, {"r.jsonl": rows}) / "r.jsonl") == {
        "x.json": {"q": "A"}
    }


def test_why_an_answer_is_none(tmp_path: Path) -> None:
    attempts = [
        ("a", attempt("A")), ("b", attempt(NO_BOX)), ("c", attempt("", status="failed")),
        ("d", attempt("")),
        ("e", attempt("kept", status="failed")), (None, attempt("A")),
    ]  # fmt: skip
    rows = [row(one, task_id=name) for name, one in attempts]
    root = write(tmp_path, {"r.jsonl": [*rows, "[]", "{"]})
    done = convert(root / "r.jsonl", "-o", root / "x.json")
    assert [line for line in done.out.splitlines() if line.startswith("  ")] == [
        "  left out, no box in the reply: 1 (b)",
        "  left out, failed: 1 (c)",
        "  left out, without an answer: 1 (d)",
        "  left out, without an id: 1 (record 6)",
        "  left out, no object: 2 (record 7, record 8 (not JSON: column 1: Expecting…)",
    ]
    assert (root / "x.json").read_text() == '{\n "a": "A",\n "e": "kept"\n}\n'


def test_a_key_that_is_named_is_taken_from_the_rows_themselves(tmp_path: Path) -> None:
    root = write(tmp_path, {"r.jsonl": [row(attempt("A"), model_response="I say A")]})
    named = "--id", "task_id", "--answer", "model_response"
    assert converted(root, root / "r.jsonl", *named) == {"x.json": {"q": "I say A"}}
