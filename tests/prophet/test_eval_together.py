"""Several files of one dataset, single scores, comparison and check of Prophet Arena, through the
command line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from cli import RAW_CONTROL, Record, assert_refused, q, run, write
from prophet_data import csv_row, write_csv

PROBLEMS: Final[list[Record]] = [
    {
        "problem_id": n,
        "options": ["Yes", "No"],
        "correct_answer": "Yes" if n % 3 else "No",
        "category": "odd" * (n % 2),
        "end_date": "2025-09-18T00:00:00Z",
    }
    for n in range(12)
]


def rows(name: str, shift: float, events: range = range(12)) -> list[Record]:
    return [
        {"problem_id": n, "username": name, "timestamp": "2025-09-11T09:00:00Z",
         "prediction": [round(0.3 + 0.05 * n - shift, 3), round(0.7 - 0.05 * n + shift, 3)],
         "odds": [0.5, 0.52]}
        for n in events
    ]  # fmt: skip


FILES: Final = {
    "dataset/week1.json": PROBLEMS,
    "prediction/week1-a.json": rows("ada", 0.1),
    "prediction/week1-b.jsonl": rows("bob", 0.0),
}


def test_files_of_one_dataset_are_one_board(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    printed = run(tmp_path, "-f", "week1-a", "-f", "week1-b", "--json", "--save").json
    assert (printed["name"], printed["prediction"]) == ("week1", "week1-a.json, week1-b.jsonl")
    one = write(
        tmp_path / "one", {**FILES, "prediction/week1.json": rows("ada", 0.1) + rows("bob", 0.0)}
    )
    assert printed["forecasters"] == run(one, "-f", "week1", "--json").json["forecasters"]
    assert (tmp_path / "evaluation/week1.json").is_file()
    turned = run(tmp_path, "-f", "week1-b", "-f", "week1-a", "--json").json
    assert {**turned, "prediction": None} == {**printed, "prediction": None}


def test_one_bad_file_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "prediction/week1-c.json": "[1,", "prediction/plain.json": [q()]})
    done = run(tmp_path, "-f", "week1-a", "-f", "week1-b", "-f", "week1-c", "--json")
    assert (done.code, list(json.loads(done.out)["forecasters"])) == (3, ["ada", "bob"])
    assert done.err.count("\n") == 1
    assert "week1-c.json: not JSON" in done.err
    board = json.loads(run(tmp_path, "nightly", "--json").out)
    assert [entry["file"] for entry in board["failed"]] == ["week1-c.json"]
    assert [[row["name"] for row in table["rows"]] for table in board["tables"]] == [
        ["plain"],
        ["bob", "ada"],
    ]


LOST: Final = "forecaster in several files or spellings, none counts"


def test_forecaster_in_two_files_loses_the_name_and_only_that(tmp_path: Path) -> None:
    """All others of both files stay."""
    both = rows("Ada", 0.2) + rows("cid", 0.1)
    write(tmp_path, {**FILES, "prediction/week1-c.json": both})
    found = run(tmp_path, "-f", "week1-a", "-f", "week1-b", "-f", "week1-c", "--json").json
    assert list(found["forecasters"]) == ["bob", "cid"]
    assert found["warnings"] == [f"{LOST}: 2 ('Ada' in week1-c.json, 'ada' in week1-a.json)"]
    (entry,) = found["excluded"]
    assert (entry["what"], entry["count"]) == ("forecast", 24)
    alone = run(tmp_path, "-f", "week1-b", "-f", "week1-c", "--json").json
    assert list(alone["forecasters"]) == ["Ada", "bob", "cid"]
    done = run(tmp_path, "-f", "week1-a", "-f", "week1-a", "-f", "week1-c")
    assert done.code == 0  # cid is left
    write(tmp_path, {"prediction/week1-c.json": rows("ada", 0.2)})
    done = run(tmp_path, "-f", "week1-a", "-f", "week1-c")
    text = "no forecast can be scored: of a forecaster in several files or spellings: 24 ('ada' in"
    assert_refused(done, text, "week1-a.json, 'ada' in week1-c.json")


def test_who_had_a_name_on_an_earlier_night_keeps_it(tmp_path: Path) -> None:
    """Whatever files come later, in any order of names; also where the first night had one file."""
    files = {**FILES, "prediction/week1-b.jsonl": rows("bob", 0.0) + rows("eve", 0.3)}
    write(tmp_path, files)
    run(tmp_path, "nightly", "--json")
    rivals = rows("bob", -0.3) + rows("EVE", -0.3) + rows("ada", -0.3) + rows("dee", 0.2)
    write(tmp_path, {"prediction/week1-A.json": rivals, "prediction/week1-c.json": rivals})
    night = run(tmp_path, "nightly", "--json").json
    found = {row["name"]: (row["file"], row["score"]) for row in night["tables"][0]["rows"]}
    assert {name: file for name, (file, _) in found.items()} == {
        "ada": "week1-a.json", "bob": "week1-b.jsonl", "eve": "week1-b.jsonl",
    }  # fmt: skip
    alone = write(tmp_path / "alone", files)
    before = run(alone, "nightly", "--json").json["tables"][0]["rows"]
    assert {row["name"]: row["score"] for row in before} == pytest.approx(
        {name: score for name, (_, score) in found.items()}, abs=1e-12
    )
    (tmp_path / "prediction/week1-b.jsonl").unlink()
    (tmp_path / "prediction/week1-A.json").unlink()
    rows_left = run(tmp_path, "nightly", "--force", "--json").json["tables"][0]["rows"]
    assert {row["name"]: row["file"] for row in rows_left} == {
        "ada": "week1-a.json", **dict.fromkeys(("bob", "EVE", "dee"), "week1-c.json"),
    }  # fmt: skip


def test_one_file_on_the_first_night_keeps_its_names(tmp_path: Path) -> None:
    write(tmp_path, {name: text for name, text in FILES.items() if "week1-b" not in name})
    run(tmp_path, "nightly")
    write(tmp_path, {"prediction/week1-0.json": rows("ada", -0.3) + rows("cid", 0.1)})
    (table,) = run(tmp_path, "nightly", "--json").json["tables"]
    files = {row["name"]: row["file"] for row in table["rows"]}
    assert files == {"ada": "week1-a.json", "cid": "week1-0.json"}


def test_a_dataset_most_of_whose_events_fall_is_told_once(tmp_path: Path) -> None:
    problems = [
        {**row, "correct_answer": "Maybe"} if row["problem_id"] < 7 else row for row in PROBLEMS
    ]
    write(tmp_path, {**FILES, "dataset/week1.json": problems})
    text = "7 of 12 events cannot be scored: a winner is not among the options"
    for names in (["-f", "week1-a"], ["-f", "week1-a", "-f", "week1-b"]):
        assert_refused(run(tmp_path, *names), f"week1.json: {text}")
    failed = json.loads(run(tmp_path, "nightly", "--json").out)["failed"]
    assert {entry["file"]: entry["reason"] for entry in failed} == dict.fromkeys(
        ("week1-a.json", "week1-b.jsonl"), f"dataset/week1.json: {text}"
    )


def test_a_file_most_of_whose_forecasts_fall_costs_only_itself(tmp_path: Path) -> None:
    percent = [
        {**row, "prediction": [100 * p for p in row["prediction"]]} for row in rows("cid", 0.1)
    ]
    write(tmp_path, {**FILES, "prediction/week1-c.json": percent})
    done = run(tmp_path, "-f", "week1-a", "-f", "week1-b", "-f", "week1-c", "--json")
    assert (done.code, list(json.loads(done.out)["forecasters"])) == (3, ["ada", "bob"])
    assert "week1-c.json: 12 of 12 forecasts cannot be scored: probabilities must be" in done.err
    assert "percent? divide by 100" in done.err
    assert done.err.count("\n") == 1


def test_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    twice = run(tmp_path, "-f", "week1-a", "-f", "week1-a", "--json").json
    assert twice == run(tmp_path, "-f", "week1-a", "--json").json


def test_nightly_ranks_the_files_of_a_dataset_together_and_reuses_them(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    first = run(tmp_path, "nightly", "--json").json
    (table,) = first["tables"]
    assert (table["name"], [row["name"] for row in table["rows"]]) == ("week1", ["bob", "ada"])
    assert run(tmp_path, "nightly", "--json").json["reused"] == 1
    write(tmp_path, {"prediction/week1-c.json": rows("cid", 0.2)})
    again = run(tmp_path, "nightly", "--json").json
    assert (again["evaluated"], [row["name"] for row in again["tables"][0]["rows"]]) == (
        1,
        ["bob", "ada", "cid"],
    )
    write(tmp_path, {"prediction/week1-c.json": rows("cid", -0.3)})
    assert run(tmp_path, "nightly", "--json").json["evaluated"] == 1


def test_dataset_named_like_the_leaderboard(tmp_path: Path) -> None:
    write(tmp_path, {name.replace("week1", "leaderboard"): value for name, value in FILES.items()})
    (failed,) = json.loads(run(tmp_path, "nightly", "--json").out)["failed"]
    assert failed["file"] == "leaderboard-a.json, leaderboard-b.jsonl"
    assert failed["reason"].startswith("expected another name")


def test_missing_dataset_is_told_once(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    done = run(tmp_path, "-f", "week1-a", "-f", "week1-b", "--dataset", "week9")
    assert_refused(done, "week9: no such file")


def test_file_under_another_name_is_told(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    text = "\n".join(map(json.dumps, rows("cid", 0.2)))
    (tmp_path / "prediction/week1-c.json").write_text(text, encoding="utf-8")
    results = run(tmp_path, "-f", "week1-c", "--json").json
    assert results["warnings"][0] == "week1-c.json: read as JSON Lines, despite its name"


def test_name_of_a_dataset_is_taken(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    good = {"A": 1, "B": 0}
    write_csv(tmp_path / "prediction/week1.csv", [csv_row("E", "ada", {"A": 0.5, "B": 0.5}, good)])
    (failed,) = json.loads(run(tmp_path, "nightly", "--json").out)["failed"]
    assert (failed["file"], failed["reason"].partition(":")[0]) == (
        "week1.csv",
        "expected another name",
    )


def test_items(tmp_path: Path) -> None:
    """A row per forecast and event, with all scores; only when they are asked for."""
    write(tmp_path, FILES)
    assert "items" not in run(tmp_path, "-f", "week1-a", "--json").json
    items = run(tmp_path, "-f", "week1-a", "--items", "--json").json["items"]
    assert [(item["id"], item["forecaster"]) for item in items] == [
        (n, "ada") for n in sorted(map(str, range(12)))
    ]
    item = next(item for item in items if item["id"] == "4")  # 0.4 on the winner
    assert (item["brier"], item["score"], item["return_1"]) == pytest.approx((0.36, 0.64, 0.8))
    assert {"log", "spherical", "return_0", "return_0.5", "category", "time"} <= item.keys()
    shown = run(tmp_path, "-f", "week1-a", "--items").out
    assert sum(line.split()[:2] == ["4", "ada"] for line in shown.splitlines()) == 1


def test_forecasters_are_compared_in_their_table(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    done = run(tmp_path, "compare", "week1-a", "week1-b")
    assert_refused(done, "`-f` ranks forecasters in one table", "got week1")


def findings(root: Path, *words: str) -> dict[str, list[str]]:
    done = run(root, "check", *words, "--json")
    found: dict[str, list[str]] = {}
    for finding in json.loads(done.out)["findings"]:
        found.setdefault(finding["kind"], []).append(finding["id"])
    assert done.code == (4 if found else 0)
    return found


def test_check(tmp_path: Path) -> None:
    good: Any = PROBLEMS[0]
    bad = [
        *[{**good, "problem_id": "twice"}] * 2, {**good, "problem_id": "\x1b[2J", "options": []},
        {**good, "problem_id": "open", "correct_answer": None},
        {**good, "problem_id": "none", "correct_answer": []},
        {**good, "problem_id": "two", "correct_answer": ["Yes", "No"]},
        {**good, "problem_id": "apart", "correct_answer": ["Yes", "No"], "exclusive": False},
        {**good, "problem_id": "other", "correct_answer": "Maybe"},
        {**good, "problem_id": "late", "end_date": "soon"},
        {**good, "problem_id": "one", "options": ["Yes"], "correct_answer": "Yes"},
        {"options": ["Yes"]}, 5,
        {**good, "problem_id": "endless", "end_date": None},
    ]  # fmt: skip
    write(tmp_path, {"dataset/good.json": PROBLEMS, "dataset/bad.json": bad})
    assert findings(tmp_path, "good") == {}
    assert findings(tmp_path, "bad") == {
        "id used more than once": ["twice"], "'options' must be a list of names": ["\x1b[2J"],
        "no winner": ["none"],
        'several winners, not declared "exclusive": false': ["two"],
        "a winner is not among the options": ["other"],
        "closing time that is no time, treated as unknown": ["late"],
        "one option": ["one"],
        "no object with 'problem_id'": ["", ""], "no closing time": ["endless"],
    }  # fmt: skip
    assert not RAW_CONTROL.search(run(tmp_path, "check", "bad").out)


def test_check_of_a_csv(tmp_path: Path) -> None:
    good, p = {"A": 1, "B": 0}, {"A": 0.5, "B": 0.5}
    table = [
        csv_row("E1", "ada", p, good),
        csv_row("E1", "bob", p, good),
        csv_row(
            "E2",
            "ada",
            p,
            good,
            {"A": {"yes_ask": 0, "yes_bid": 0}, "B": {"yes_ask": 40, "yes_bid": 41}},
        ),
        csv_row(
            "E3",
            "ada",
            p,
            {"A": 1},
            {"A": {"yes_ask": 60, "yes_bid": 1}, "B": {"yes_ask": 40, "yes_bid": 1}},
        ),
        csv_row("E4", "ada", p, {"A": 0, "B": 0}),
        csv_row("", "ada", p, good),
        csv_row("E1", "cid", {"A": 50, "B": 50}, good),
    ]
    path = write_csv(tmp_path / "x.csv", table)
    assert findings(tmp_path, str(path)) == {
        "no id of an event ('problem_id') or no name of a forecaster ('username')": ["line 7"],
        "probabilities must be numbers in [0, 1]": ["E1"],
        "an option without an outcome": ["E3"], "no winner": ["E4"],
        "odds are not a number in (0, 1] for every option, not used": ["E2"],
        "bids are not a number in [0, odds] for every option, not used": ["E2"],
    }  # fmt: skip
