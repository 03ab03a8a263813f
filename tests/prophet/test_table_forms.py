"""Tables as other people write them: right, or refused in words that lead to the right scores."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from cli import run
from forecasteval.common.errors import InputError, PendingError
from prophet_data import Row, evaluate, evaluate_csv
from prophet_forms import FORMS, Cells, Form, find_options


def write(path: Path, table: Cells) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    return path


def read(path: Path) -> Cells:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def assert_right(path: Path, form: Form, *roles: tuple[str, str]) -> None:
    board = evaluate_csv(path, roles=roles)
    found = {name: board["forecasters"][name]["brier"] for name in form.scores}
    assert found == pytest.approx(form.scores), board["excluded"]


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_a_table_is_right_or_its_refusal_leads_there(form: Form, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", form.table())
    if not (form.words or form.roles):
        assert_right(path, form)
        return
    with pytest.raises(InputError) as caught:
        evaluate_csv(path)
    message = str(caught.value)
    assert form.words in message
    if form.roles:
        role, _, column = form.roles.partition("=")
        assert (role, column) in find_options(message)
        assert_right(path, form, (role, column))
    if form.advice:
        assert_right(write(path, form.advice(form.table())), form)


LEFT_OUT = {
    "a row that is not resolved": [],
    "a share": [("event", "resolved to a share, neither Yes nor No", ["Q7"])],
    "one is void": [("event", "void, neither Yes nor No", ["Q7"])],
    "one cell with a sign": [
        ("forecast", "probabilities must be numbers in [0, 1]", ["cid on Q1"])
    ],
    "one forecast twice, unlike": [
        ("forecast", "several forecasts without a time that tells them apart", ["cid on Q1"])
    ],
    "every row twice": [],
    "the day of closing": [],
    "the day of closing, a date": [("forecast", "after the event closed", ["cid on Q1"])],
    "an option of one": [
        ("forecast", "an option that most forecasts of the event lack: Other", ["cid on R1"])
    ],
    "an option missing": [("forecast", "expected a probability for every option", ["cid on R1"])],
    "options twice": [],
    "an option twice, unlike": [
        ("forecast", "several forecasts without a time that tells them apart", ["cid on R1"])
    ],
    "a blank series": [],
    "one result of another kind": [("event", "an outcome is neither 0 nor 1", ["R7"])],
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_named(name: str, tmp_path: Path) -> None:
    [form] = [form for form in FORMS if form.name == name]
    board = evaluate_csv(write(tmp_path / "x.csv", form.table()))
    found = [
        (entry["what"], entry["reason"], entry["names"])
        for entry in board["excluded"]
        if entry["reason"] != "of an event that is excluded"
    ]
    assert found == LEFT_OUT[name]
    assert board["n_pending"] == (name == "a row that is not resolved")
    if name == "a blank series":
        assert board["n_clusters"] == 1
    if name == "one cell with a sign":
        reason = "probabilities must be numbers in [0, 1], got '70%' (cid on Q1): write 0.7 for 70%"
        assert board["excluded"][0]["example"] == reason


def problem(at: int, **change: object) -> Row:
    return {"problem_id": at, "options": ["Red", "Blue"], "correct_answer": "Blue", **change}


def forecast(at: int, p: object = (0.25, 0.75), **change: object) -> Row:
    return {"problem_id": at, "username": "ada", "prediction": p, **change}


RECORDS = {
    "another case": ({"correct_answer": "BLUE "}, {}),
    "a float index": ({"correct_answer": None, "correct_option_idx": 1.0}, {}),
    "an index as text": ({"correct_answer": None, "correct_option_idx": "1"}, {}),
    "names": ({}, {"prediction": {"Red": 0.25, "Blue": 0.75}}),
    "texts": ({}, {"prediction": ["0.25", "0.75"]}),
    "the day of closing": ({"end_date": "2025-07-01"}, {"timestamp": "2025-07-01T23:59:59Z"}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_what_they_plainly_are(name: str) -> None:
    of_problem, of_forecast = RECORDS[name]
    rows = [forecast(at, **of_forecast) for at in range(4)]
    board = evaluate([*rows, *rows], [problem(at, **of_problem) for at in range(4)])
    assert board["forecasters"]["ada"]["brier"] == 0.0625
    assert [(entry["reason"], entry["count"]) for entry in board["excluded"]] == [
        ("one of the same time counts", 4)
    ]


@pytest.mark.parametrize(
    ("p", "words"),
    [
        ([25, 75], "got '25' (ada on 0): 25 is above 1: percent? divide by 100"),
        (["25%", "75%"], "got '25%' (ada on 0): write 0.25 for 25%"),
        (["0,25", "0,75"], "got '0,25' (ada on 0): write 0.25 for 0,25"),
        (["low", "high"], "got 'low' (ada on 0)"),
        ([0.75], "2 of 3 forecasts cannot be scored: expected a probability for every option"),
        ({"Red": 0.5, "Grey": 0.5}, "expected a probability for every option"),
        (0.75, "expected a probability for every option, got '0.75' (ada on 0)"),
        ({"red": 0.25, "blue": 0.75}, """got '{"red": 0.25, "blue": 0.75}' (ada on 0)"""),
        ("[0.25, 0.75]", "expected a probability for every option, got '[0.25, 0.75]' (ada on 0)"),
    ],
)
def test_a_file_of_which_most_falls_for_one_reason_is_refused(p: object, words: str) -> None:
    rows = [forecast(0, p), forecast(1, p), forecast(2)]
    with pytest.raises(InputError) as caught:
        evaluate(rows, [problem(at) for at in range(3)])
    assert words in str(caught.value)
    half = [*rows, forecast(3)]  # no more than half
    assert evaluate(half, [problem(at) for at in range(4)])["n_forecasts"] == 2


def test_percents_that_are_mostly_0_and_1_are_refused() -> None:
    """1 of them is no certainty, and only what is above 1 would be left out."""
    rows = [forecast(at, p) for at, p in enumerate([(0, 1), (1, 0), (0, 1), (0, 100)])]
    problems = [problem(at) for at in range(5)]
    with pytest.raises(InputError, match=re.escape("100 is above 1: percent? divide by 100")):
        evaluate(rows, problems)
    assert evaluate([*rows, forecast(4)], problems)["n_forecasts"] == 4
    sure = [forecast(at, p) for at, p in enumerate([(0, 1), (1, 0)])]
    assert evaluate(sure, problems)["forecasters"]["ada"]["brier"] == 0.5


@pytest.mark.parametrize("order", [1, -1])
def test_percents_of_one_forecaster_leave_out_only_theirs(
    order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the order of the rows, and wherever a piece of them that is read at once ends."""
    monkeypatch.setattr("forecasteval.prophet.forecasts.CHUNK", 2)
    theirs = [forecast(at, p) for at, p in enumerate([(0, 1), (1, 0), (0, 100)])]
    sure = [forecast(at, p, username="eve") for at, p in enumerate([(0, 1), (1, 0), (0, 1)])]
    typed = [forecast(at, p, username="bob") for at, p in enumerate([(0, 1), (0.5, 0.5), (2, 0)])]
    board = evaluate([*theirs, *sure, *typed][::order], [problem(at) for at in range(3)])
    counts = {name: row["n_events"] for name, row in board["provisional"].items()}
    assert counts | {name: row["n_events"] for name, row in board["forecasters"].items()} == {
        "eve": 3,
        "bob": 2,
    }
    with pytest.raises(InputError, match="4 of 5 forecasts cannot be scored: probabilities must"):
        evaluate([*theirs, *typed[1:]][::order], [problem(at) for at in range(3)])
    sure, above = board["excluded"]
    assert sure["reason"] == "0 and 1 of a forecaster of percents"
    assert (sure["names"], above["names"]) == (["ada on 0", "ada on 1"], ["ada on 2", "bob on 2"])
    assert "got '100' (ada on 2): 100 is above 1: percent? divide by 100" in above["example"]


@pytest.mark.parametrize("name", ["winner", "resolution"])
def test_an_outcome_under_another_name_is_named(name: str, tmp_path: Path) -> None:
    """The events are pending, and nothing else would say why."""
    given = [{**problem(at, correct_answer=None), name: "Blue"} for at in range(2)]
    with pytest.raises(PendingError, match=f"outcome called '{name}', not read: call it 'corr"):
        evaluate([forecast(at) for at in range(2)], given)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    done = run(tmp_path, "check", str(path))
    assert f"outcome called '{name}', not read: call it 'correct_answer': 2" in done.out
    path.write_text(json.dumps(given[:1] * 2), encoding="utf-8")
    assert "\n0 resolved, 2 pending\n" in run(tmp_path, "check", str(path)).out
    fixed = [{**row, "correct_answer": row[name]} for row in given]
    assert evaluate([forecast(at) for at in range(2)], fixed)["n_events"] == 2


def test_pending_and_late_events_refuse_no_file() -> None:
    closed = {"end_date": "2025-07-01T00:00Z"}
    problems = [problem(0), problem(1, correct_answer=None), problem(2, correct_answer="")]
    problems += [problem(at, **closed) for at in (3, 4)]
    rows = [forecast(at, timestamp="2025-07-02T00:00Z") for at in range(5)]
    assert evaluate(rows, problems)["n_forecasts"] == 1


def test_problems_of_which_most_fall_are_refused() -> None:
    problems = [problem(at, correct_answer="blau") for at in range(2)] + [problem(2)]
    with pytest.raises(InputError, match="2 of 3 events cannot be scored: a winner is not among"):
        evaluate([forecast(at) for at in range(3)], problems)
