"""What is said before a score is: files whose answers or ids are called otherwise, wrapped, packed,
or half empty.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from cli import Record, assert_refused, box, item, number, q, question, run, warning, write
from eval import FutureXEvaluator

DATASET: Final = [
    question("68bd01"),
    question("68bd02", ground_truth="B"),
    question("68bd03", ground_truth="C"),
]
ANSWERS: Final = {"68bd01": "A", "68bd02": "B", "68bd03": "A"}  # 2 of 3 right


def rows(key: str = "answer", ids: str = "id") -> list[Record]:
    return [{ids: name, key: box(letter)} for name, letter in ANSWERS.items()]


def own(key: str) -> list[Record]:
    """The same as a file with questions of its own."""
    return [{**asked, key: row["answer"]} for asked, row in zip(DATASET, rows(), strict=True)]


def folder(root: Path, content: object, name: str = "d-x.json", dataset: bool = True) -> Path:
    return write(
        root, {f"prediction/{name}": content, **({"dataset/d.json": DATASET} if dataset else {})}
    )


def scores(results: Record) -> list[float]:
    return [entry["score"] for entry in results["items"]]


# --- Answers under another key ---


@pytest.mark.parametrize(("key", "name"), [("Answer", "d-x.jsonl"), ("甲", "d-x.json")])
def test_answers_under_another_key_are_an_error_that_names_it(
    tmp_path: Path, key: str, name: str
) -> None:
    folder(tmp_path, own(key), name, dataset=False)
    words = ("expected 'answer' or 'prediction'", repr(key), f"prediction/{name}")
    assert_refused(run(tmp_path, "-f", "d-x"), *words)


def test_a_reply_under_another_key_is_read_where_somebody_asks_for_it(tmp_path: Path) -> None:
    folder(tmp_path, rows("response"))
    results = run(tmp_path, "-f", "d-x", "--json").json
    assert scores(results) == [1, 1, 0]
    warning(results, "d-x.json: read as rows of JSON; ids: id; answers: response")


def test_answers_under_another_key_cost_their_file_only_at_night(tmp_path: Path) -> None:
    write(folder(tmp_path, rows("response")), {"prediction/d-y.json": rows()})
    done = run(tmp_path, "nightly")
    assert (done.code, "d-x.json" in done.err, "answers: response" in done.err) == (3, True, True)
    assert "0.0000" not in done.out.splitlines()[0]


def test_an_error_names_no_more_keys_than_a_reader_reads(tmp_path: Path) -> None:
    row = {"id": "68bd01", **{f"key{n}": "A" for n in range(500)}, "x" * 900: 1}
    assert_refused(run(folder(tmp_path, [row]), "-f", "d-x"), "key0 (A)")


def test_in_python_it_is_the_same_error() -> None:
    with pytest.raises(
        Exception, match="data: expected 'answer' or 'prediction' in the records, got 'response'"
    ):
        FutureXEvaluator().evaluate_all(own("response"))


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_answer_is_an_answer(tmp_path: Path, empty: object) -> None:
    """Nobody answered, but the key is there: a table of zeros is then what the file says."""
    results = run(
        folder(tmp_path, [{"id": name, "answer": empty} for name in ANSWERS]), "-f", "d-x", "--json"
    ).json
    assert (results["missing_count"], results["overall_score"], results["warnings"]) == (3, 0, [])


@pytest.mark.parametrize("dataset", [True, False])
def test_some_rows_lack_both_keys(tmp_path: Path, dataset: bool) -> None:
    given = rows() if dataset else own("answer")
    given[1]["response"] = given[1].pop("answer")
    results = run(folder(tmp_path, given, dataset=dataset), "-f", "d-x", "--json").json
    assert scores(results) == [1, 0, 0]
    assert item(results, "68bd02")["outcome"] == "missing"
    assert warning(results, "neither 'answer' nor 'prediction'").endswith(": 1 (68bd02)")
    assert "warning: record with neither" in run(tmp_path, "-f", "d-x").out


def test_questions_that_a_file_leaves_out_lack_no_key(tmp_path: Path) -> None:
    results = run(folder(tmp_path, rows()[:1]), "-f", "d-x", "--json").json
    assert (results["missing_count"], results["warnings"]) == (2, [])


# --- Answers that are objects ---


@pytest.mark.parametrize(
    ("key", "inner", "dataset"),
    [("answer", "prediction", True), ("prediction", "answer", False), ("answer", "answer", True)],
)
def test_an_object_around_an_answer(tmp_path: Path, key: str, inner: str, dataset: bool) -> None:
    wrapped: list[Record] = [
        {**row, key: {inner: box(letter), "confidence": 0.8}}
        for row, letter in zip(DATASET, ANSWERS.values(), strict=True)
    ]
    results = run(folder(tmp_path, wrapped, dataset=dataset), "-f", "d-x", "--json").json
    assert scores(results) == [1, 1, 0]
    assert warning(results, "answer is an object").endswith(": 3 (68bd01, 68bd02, 68bd03)")


@pytest.mark.parametrize(
    "value", [{"text": "A"}, {}, {"answer": {"answer": "A"}}, {"answer": None}]
)
def test_an_object_without_an_answer_is_unparsed(tmp_path: Path, value: object) -> None:
    given = [*rows()[:2], {"id": "68bd03", "answer": value}]
    results = run(folder(tmp_path, given), "-f", "d-x", "--json").json
    assert (scores(results), item(results, "68bd03")["outcome"]) == ([1, 1, 0], "unparsed")
    assert warning(results, "answer is an object").endswith(": 1 (68bd03)")


# --- Ids that match nothing ---


# --- Wrappers, and names that lie ---


@pytest.mark.parametrize(
    "wrapped",
    [{"data": []}, {"data": {"a": 1}}, {"a": [{"id": "68bd01"}], "b": [{"answer": "A"}]}],
)
def test_other_wrappers_are_refused_not_scored_as_zero(tmp_path: Path, wrapped: object) -> None:
    assert_refused(run(folder(tmp_path, wrapped), "-f", "d-x"), "d-x.json")


def lines(records: list[Record]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_lying_names_change_no_score_and_no_checksum_of_what_was_asked(tmp_path: Path) -> None:
    honest = run(folder(tmp_path / "a", rows()), "-f", "d-x", "--json").json
    lying = run(folder(tmp_path / "b", lines(rows())), "-f", "d-x", "--json").json
    assert honest["items"] == lying["items"]
    assert honest["signature"]["data_sha256"] == lying["signature"]["data_sha256"]
    assert honest["warnings"] == []
    warning(lying, "d-x.json", "read as JSON Lines")


def test_a_dataset_in_lines_is_read_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": lines(DATASET), "prediction/d-x.json": rows()})
    results = run(tmp_path, "-f", "d-x", "--json").json
    assert scores(results) == [1, 1, 0]
    warning(results, "d.json", "read as JSON Lines")
    assert run(tmp_path, "check", "d").code in (0, 4)


def test_a_torn_line_in_a_json_file_costs_its_row(tmp_path: Path) -> None:
    text = lines(rows()[:2]) + '{"id": "68bd03", "answer'
    results = run(folder(tmp_path, text), "-f", "d-x", "--json").json
    assert scores(results) == [1, 1, 0]
    assert warning(results, "damaged line, not used") == "damaged line, not used: 1 (record 3)"
    assert results["damaged_lines"] == 1


def test_damaged_lines_are_named_night_after_night(tmp_path: Path) -> None:
    folder(tmp_path, lines(rows()) + '{"id": "68bd03", "answer', "d-x.jsonl")
    for _ in range(2):
        done = run(tmp_path, "nightly")
        assert (done.code, "d-x.jsonl: scored without its damaged lines" in done.err) == (3, True)
        assert "d-x" in done.out


def test_a_file_without_any_line_of_json_says_so(tmp_path: Path) -> None:
    folder(tmp_path, "id: 68bd01\nanswer: A\n", "d-x.jsonl")
    assert_refused(run(tmp_path, "-f", "d-x"), "no line is JSON", "line 1")


def test_blanks_around_ids_do_not_matter(tmp_path: Path) -> None:
    given = [{**row, "id": f" {row['id']}\t"} for row in rows()]
    results = run(folder(tmp_path, given), "-f", "d-x", "--json").json
    assert scores(results) == [1, 1, 0]
    warning(results, "id with blanks around it", "68bd01, 68bd02, 68bd03")


# --- CSV ---


@pytest.mark.parametrize("key", ["question_id", "ID", "编号"])
def test_the_dataset_tells_which_column_has_the_ids(tmp_path: Path, key: str) -> None:
    folder(tmp_path, table(rows(ids=key)), "d-x.csv")
    results = run(tmp_path, "-f", "d-x", "--json").json
    assert scores(results) == [1, 1, 0]
    warning(results, f"d-x.csv: read as CSV; ids: {key}; answers: answer")


def table(records: list[Record], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


@pytest.mark.parametrize(("key", "mark"), [("answer", "\ufeff"), ("prediction", "")])
def test_csv_of_ids_and_answers_is_joined_to_a_futurex_dataset(
    tmp_path: Path, key: str, mark: str
) -> None:
    folder(tmp_path, mark + table([{"note": "x, y", **row} for row in rows(key)]), "d-x.csv")
    results = run(tmp_path, "-f", "d-x", "--json").json
    assert (results["benchmark"], results["dataset"], scores(results)) == (
        "FutureX",
        "d.json",
        [1, 1, 0],
    )
    named = run(
        tmp_path, "-f", str(tmp_path / "prediction/d-x.csv"), "--dataset", "d", "--json"
    ).json
    assert scores(named) == [1, 1, 0]


def test_csv_of_ids_and_answers_is_ranked_with_others(tmp_path: Path) -> None:
    write(folder(tmp_path, table(rows()), "d-x.csv"), {"prediction/d-y.json": rows()})
    board = run(tmp_path, "nightly", "--json").json
    assert [row["overall_score"] for row in board["tables"][0]["rows"]] == pytest.approx(
        [2 / 3, 2 / 3]
    )


def test_csv_with_an_empty_answer_is_missing(tmp_path: Path) -> None:
    folder(tmp_path, table([{"id": "68bd01", "answer": ""}, *rows()[1:]]), "d-x.csv")
    results = run(tmp_path, "-f", "d-x", "--json").json
    assert [entry["outcome"] for entry in results["items"]] == ["missing", "scored", "scored"]


def test_a_csv_row_with_too_many_cells_has_no_answer(tmp_path: Path) -> None:
    folder(tmp_path, "id,answer\n68bd01,A, B\n68bd02,B,\n68bd03,C\n", "d-x.csv")
    results = run(tmp_path, "-f", "d-x", "--json").json
    assert (scores(results), results["damaged_lines"]) == ([0, 1, 1], 1)
    assert warning(results, "damaged line, not used").endswith(": 1 (record 1)")


# --- What is no file of records ---


def test_gz_is_unpacked_where_somebody_asks_for_it(tmp_path: Path) -> None:
    folder(tmp_path, gzip.compress(json.dumps(rows()).encode()), "d-x.json.gz")
    for name in ("d-x", "d-x.json.gz", str(tmp_path / "prediction/d-x.json.gz")):
        results = run(tmp_path, "-f", name, "--json").json
        assert (results["name"], scores(results)) == ("d-x", [1, 1, 0])
    assert "not read: 1 (d-x.json.gz)" in run(tmp_path, "nightly").out


# --- Numbers without sigma ---


def told(results: Record, report: str) -> tuple[int, list[str]]:
    return results["no_sigma_count"], [
        line for line in report.splitlines() if line.startswith("Numbers without a sigma")
    ]


def test_numbers_without_sigma_are_counted(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [
        number("a"), number("b", Std=2.0), number("c", Std=0), number("d", answer=""),
        number("e", level=3),
        q("f"), q("g", level=3, prompt="Who?", ground_truth="Red, Blue", answer="Red, Blue"),
        number("h", Std=""),
    ]  # fmt: skip
    write(tmp_path, {"prediction/p.json": asked})
    results = run(tmp_path, "-f", "p", "--json").json
    count, told_lines = told(results, run(tmp_path, "-f", "p").out)
    assert (count, len(told_lines)) == (4, 1)  # a, d, e, h: whether they were answered or not
    assert told_lines[0].startswith("Numbers without a sigma: 4")
    assert "--relative-sigma" in told_lines[0]
    assert told(run(tmp_path, "-f", "p", "--relative-sigma", "0.05", "--json").json, "") == (0, [])
    assert told(run(tmp_path, "-f", "p", "--rules", "official-2026", "--json").json, "") == (0, [])
    assert "Numbers without a sigma: 0." in run(tmp_path, "-f", "p", "--relative-sigma", "0.05").out


def test_the_remedy_is_one_that_the_rule_set_takes(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [number("a")]})
    _, (line,) = told(
        run(tmp_path, "-f", "p", "--rules", "paper", "--json").json,
        run(tmp_path, "-f", "p", "--rules", "paper").out,
    )
    assert "--relative-sigma" not in line


def test_the_count_is_of_questions_not_of_answers(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "dataset/d.json": [number("a", answer=...), number("b", answer=...)],
            "prediction/d-x.json": {"a": "100"},
        },
    )
    assert run(tmp_path, "-f", "d-x", "--json").json["no_sigma_count"] == 2
