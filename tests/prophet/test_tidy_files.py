"""A CSV with a row per option: what columns mean, and the same numbers as from JSON."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from cli import run
from forecasteval.common.errors import InputError
from forecasteval.prophet.columns import Table, find_roles
from prophet_data import SAMPLE, evaluate, evaluate_csv

EITHER = "its outcome may be the name of an option, or 1 or 0 of each: call that 'won'"
WINNERS = "question,option,model,prob,resolution"
COLUMNS = "event_id,option,forecaster,probability,outcome,price,time,category"
ROWS = [
    "E1,A,ada,0.75,1,0.6,2025-06-01T00:00Z,Sports",
    "E1,B,ada,0.25,0,0.5,2025-06-01T00:00Z,Sports",
    "E1,B,bob,0.5,0,,,Sports",
    "E1,A,bob,0.5,1,,,Sports",
    "E2,A,ada,0.9,,,,Sports",
    "E2,B,ada,0.1,,,,Sports",
]


def write(path: Path, rows: list[str], columns: str = COLUMNS) -> Path:
    path.write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("question,market,model,prob", {"event": "question", "option": "market"}),
        ("market,choice,model,prob", {"event": "market", "option": "choice"}),
        ("event_ticker,outcome,result,model,p", {"option": "outcome", "result": "result"}),
        ("event_id,option,outcome,model,p", {"option": "option", "result": "outcome"}),
        ("Event ID,Option,Model,Probability", {"event": "Event ID", "probability": "Probability"}),
        ("event_id,question,option,user,p", {"event": "event_id", "forecaster": "user"}),
    ],
)
def test_columns_have_the_names_that_users_have(columns: str, expected: dict[str, str]) -> None:
    names = columns.split(",")
    table = Table("x.csv", names, [dict.fromkeys(names, cell) for cell in "AB"])
    assert find_roles(table, {}).items() >= expected.items()


def test_scores_of_rows(tmp_path: Path) -> None:
    """In any order of rows; an event without outcome is pending; prices are of the row's time."""
    forward, backward = (
        evaluate_csv(write(tmp_path / "x.csv", rows)) for rows in (ROWS, ROWS[::-1])
    )
    assert forward["forecasters"] == backward["forecasters"]
    assert (forward["n_events"], forward["n_pending"], forward["n_pending_forecasts"]) == (1, 1, 1)
    assert forward["forecasters"]["ada"]["brier"] == 0.0625
    assert forward["forecasters"]["ada"]["return_1"] == pytest.approx(0.75 / 0.6)
    assert forward["forecasters"]["bob"]["n_priced"] == 1
    assert forward["excluded"] == []
    assert list(forward["by_category"]) == ["Sports"]


FAULTS = {
    "probability": ("E1,A,ada,much,1,,,", "forecast", "probabilities must be numbers in [0, 1]"),
    "missing option": ("", "forecast", "expected a probability for every option"),
    "twice": (
        "E1,A,ada,0.5,1,,,\nE1,A,ada,0.6,1,,,",
        "forecast",
        "several forecasts without a time that tells them apart",
    ),
    "long": ("E1,A,ada,0.5,1,,,,more", "forecast", "more cells than columns"),
    "outcome": ("E1,A,ada,0.75,2,,,", "event", "an outcome is neither 0 nor 1"),
    "both": ("E1,A,ada,0.75,0,,,", "event", "its rows differ in options or outcome"),
    "no name": (
        "E1,A,,0.75,1,,,",
        "forecast",
        "no id of an event ('problem_id') or no name of a forecaster ('username')",
    ),
    "no event": (
        ",A,ada,0.75,1,,,",
        "forecast",
        "no id of an event ('problem_id') or no name of a forecaster ('username')",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_read_is_counted(tmp_path: Path, name: str) -> None:
    row, what, reason = FAULTS[name]
    rest = ["E1,B,ada,0.25,0,,,", "E1,A,bob,0.5,1,,,", "E1,B,bob,0.5,0,,,"]
    others = ["E3,A,cid,1,1,,,", "E3,B,cid,0,0,,,"]
    rows = [text for text in [*row.split("\n"), *rest] if text]
    results = evaluate_csv(write(tmp_path / "x.csv", [*rows, *others]))
    found = {(entry["what"], entry["reason"]) for entry in results["excluded"]}
    assert (what, reason) in found
    assert results["forecasters"]["cid"]["n_events"] == 1


def binary(
    path: Path, rows: list[str], columns: str = "question,option,model,prob,resolution"
) -> Any:
    return evaluate_csv(write(path / "x.csv", rows, columns))


@pytest.mark.parametrize(
    ("options", "results", "winner"),
    [
        ("Yes No", "Yes Yes", "Yes"),  # the winner's name on every row
        ("Yes No", "no NO", "No"),
        ("True False", "false false", "False"),
        ("Yes No", "1 1", "Yes"),  # the question came true
        ("Yes No", "0 0", "No"),
        ("Yes No", "Yes No", "Yes"),  # whether each option came true
        ("Yes No", "no yes", "No"),
        ("Ada Bob", "Bob bob", "Bob"),
        ("0 1 2", "2 2 2", "2"),
        ("0 1 2", "0 1 0", "1"),
    ],
)
def test_winners_by_name(tmp_path: Path, options: str, results: str, winner: str) -> None:
    pairs = list(zip(options.split(), results.split(), strict=True))
    rows = [f"Q,{option},ada,{int(option == winner)},{result}" for option, result in pairs]
    assert binary(tmp_path, rows)["forecasters"]["ada"]["brier"] == 0


@pytest.mark.parametrize(
    ("options", "result", "winner"),
    [("0 1 2", "1", "1"), ("1 0", "yes", "1"), ("Yes No Both", "Yes", "Yes")],
)
def test_a_flag_that_may_be_a_name_is_one_beside_names(
    tmp_path: Path, options: str, result: str, winner: str
) -> None:
    rows = [f"Q,{option},ada,{int(option == winner)},{result}" for option in options.split()]
    with pytest.raises(InputError, match=EITHER):
        binary(tmp_path, rows)
    names = [f"R,{option},ada,{int(option == 'Bob')},Bob" for option in ("Ada", "Bob")]
    assert binary(tmp_path, rows + names)["forecasters"]["ada"]["brier"] == 0


@pytest.mark.parametrize(
    ("options", "results", "reason"),
    [
        ("No", "No", EITHER),
        ("Yes", "0", EITHER),
        ("Ada", "Bob", EITHER),
        ("Ada Bob", "Ada Bob", "its rows name different winners"),
        ("Ada Bob", "Cid Cid", "a winner is not among the options"),
        ("Ada Bob", "1 1", "a winner is not among the options"),
        ("Ada Bob", "1 0", "its rows name different winners"),
        ("Ada ada", "ADA ADA", "its winner's name is that of several options"),
    ],
)
def test_names_of_no_winner_are_refused(
    tmp_path: Path, options: str, results: str, reason: str
) -> None:
    rows = [f"{event},{option},ada,{option == 'A':d},A" for event in "RST" for option in "AB"]
    assert_left_out(tmp_path, options, results, reason, rows)


@pytest.mark.parametrize(
    ("options", "results", "reason"),
    [
        ("Ada Bob", "Ada Ada", "an outcome is neither 0 nor 1"),
        ("Ada Bob", "Ada 0", "an outcome is neither 0 nor 1"),
        ("Yes No", "1 1", "Yes and No have the same outcome"),
        ("Yes No", "1 ", "an option without an outcome"),
        ("0 1 2", "1 1 1", EITHER),
        ("1 0", "yes yes", EITHER),
    ],
)
def test_flags_of_no_winner_are_refused(
    tmp_path: Path, options: str, results: str, reason: str
) -> None:
    rows = [f"{event},{option},ada,1,{option == 'A':d}" for event in "RST" for option in "AB"]
    assert_left_out(tmp_path, options, results, reason, rows)


def assert_left_out(
    tmp_path: Path, options: str, results: str, reason: str, others: list[str]
) -> None:
    pairs = zip(options.split(), results.split(" "), strict=True)
    rows = [f"Q,{option},ada,0.5,{result}" for option, result in pairs]
    found = binary(tmp_path, [*rows, *others])
    [entry] = [entry for entry in found["excluded"] if entry["what"] == "event"]
    assert (entry["reason"], entry["names"]) == (reason, ["Q"])
    assert found["n_events"] == 3


def test_flags_that_are_alike_are_read_as_those_of_the_other_events(tmp_path: Path) -> None:
    """Of an event that nobody won, or of which all came true."""
    rows = [f"Q,{option},ada,0,0" for option in ("Ada", "Bob")]
    found = binary(tmp_path, [*rows, "R,A,ada,1,1", "R,B,ada,0,0"])
    assert found["event_classes"]["no winner"] == 1
    assert found["forecasters"]["ada"]["brier"] == 0


def test_won_is_of_the_option(tmp_path: Path) -> None:
    """`won` says nothing of the question: both cannot win, and none may have lost yet."""
    for flag in "01":
        rows = [f"Q,{option},ada,0.5,{flag}" for option in ("Yes", "No")]
        found = binary(
            tmp_path, [*rows, "R,A,ada,1,1", "R,B,ada,0,0"], "question,option,model,p,won"
        )
        [entry] = [entry for entry in found["excluded"] if entry["what"] == "event"]
        assert (entry["reason"], entry["names"]) == ("Yes and No have the same outcome", ["Q"])
    named = [f"Q,{option},ada,{int(option == 'Bob')},Bob" for option in ("Ada", "Bob")]
    assert (
        binary(tmp_path, named, "question,option,model,p,won")["forecasters"]["ada"]["brier"] == 0
    )


def test_a_flag_under_won_is_one_whatever_other_events_say(tmp_path: Path) -> None:
    """Else a name that somebody typed there would make names of all flags that are alike."""
    rows = ["Q,Ada,ada,0.5,1", "Q,Bob,ada,0.5,1", "R,Ada,ada,0.5,Bob", "R,Bob,ada,0.5,Bob"]
    rows += [f"{event},{option},ada,0.5,{option == 'A':d}" for event in "ST" for option in "AB"]
    found = binary(tmp_path, [*rows, "U,A,ada,1,1", "U,B,ada,1,1"], "question,option,model,p,won")
    assert found["event_classes"]["several winners"] == 2
    [entry] = [entry for entry in found["excluded"] if entry["what"] == "event"]
    assert (entry["reason"], entry["names"]) == ("an outcome is neither 0 nor 1", ["R"])


def test_prices_in_cents_are_named(tmp_path: Path) -> None:
    """Of a question, too, whose No would cost 1 - 50."""
    text = "odds are all above 1, not used: write cents / 100, or 1 / decimal odds"
    for rows, columns in (
        (["Q,ada,0.75,Yes,50"], "question,model,prob,result,price"),
        (["Q,A,ada,0.75,1,50", "Q,B,ada,0.25,0,51"], "question,option,model,prob,result,price"),
    ):
        results = binary(tmp_path, rows, columns)
        assert f"{text}: 1 (ada on Q)" in results["warnings"]
        assert results["forecasters"]["ada"]["n_priced"] == 0


@pytest.mark.parametrize("name", ["Close Date", "closing_time", "closing date"])
def test_closing_times_by_the_names_that_people_give(name: str, tmp_path: Path) -> None:
    rows = ["Q1,ada,0.75,Yes,2025-03-01,2025-02-01", "Q2,ada,0.5,No,2025-01-01,2025-02-01"]
    [entry] = [
        entry
        for entry in binary(tmp_path, rows, f"question,model,prob,result,date,{name}")["excluded"]
        if entry["what"] == "forecast"
    ]
    assert (entry["reason"], entry["names"]) == ("after the event closed", ["ada on Q1"])


def test_columns_without_a_name_are_not_read(tmp_path: Path) -> None:
    """As a spreadsheet saves them beside its table."""
    rows = ["0,Q1,ada,0.75,Yes,,", "1,Q2,ada,0.25,No,,"]
    found = binary(tmp_path, rows, ",question,model,prob,result,,")
    assert found["forecasters"]["ada"]["brier"] == 0.0625


@pytest.mark.parametrize("names", ["yes_price,no_price", "Yes,No", "ada,bob"])
def test_columns_that_add_up_to_1_are_options(names: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a row per option, with columns 'option' and"):
        binary(tmp_path, ["0,Q1,0.75,0.25,Yes", "1,Q2,0.5,0.5,No"], f",question,{names},result")


def test_several_probabilities_of_named_forecasters_are_no_forecasters(tmp_path: Path) -> None:
    rows = ["Q1,ada,0.75,0.5,Yes", "Q2,ada,0.5,0.25,No"]
    with pytest.raises(InputError, match=r"name it with --column probability=NAME\)"):
        binary(tmp_path, rows, "question,model,first,second,result")


def test_a_result_that_may_be_of_the_forecast_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column for the option that 'correct' is about"):
        binary(tmp_path, ["Q,ada,0.75,1"], "question,model,prob,correct")


def test_a_row_per_question_has_the_probability_of_yes(tmp_path: Path) -> None:
    """No has the complement, and costs 1 less the bid for Yes."""
    rows = ["Q1,ada,0.75,Yes,0.5,0.25", "Q2,ada,0.25,0,0.5,", "Q3,ada,0.5,,,", "Q1,bob,1.5,1,,"]
    found = binary(tmp_path, rows, "question,model,prob,resolution,price,bid")
    ada = found["forecasters"]["ada"]
    assert (found["n_events"], found["n_pending"], ada["n_exclusive"]) == (2, 1, 2)
    assert ada["brier"] == 0.0625
    assert ada["return_1"] == pytest.approx((0.75 / 0.5 + 0.75 / 0.5) / 2)
    [entry] = found["excluded"]
    assert entry["reason"] == "probabilities must be numbers in [0, 1]"
    told = binary(tmp_path, ["Q1,ada,0.75,1"], "question,model,prob,outcome")["warnings"]
    assert told == ["one forecaster only: no IRT, no Bradley–Terry, no rank agreement"]


@pytest.mark.parametrize(
    ("won", "lost"), [("1", "0"), ("1.0", "0.0"), ("true", "FALSE"), ("Yes", "no")]
)
def test_outcomes_as_tables_write_them(tmp_path: Path, won: str, lost: str) -> None:
    rows = [f"E1,A,ada,1,{won},,,", f"E1,B,ada,0,{lost},,,"]
    assert evaluate_csv(write(tmp_path / "x.csv", rows))["forecasters"]["ada"]["brier"] == 0


def test_columns_that_could_mean_the_same_are_named(tmp_path: Path) -> None:
    """A title beside an id is none of them."""
    columns = "event_id,question,option,model,system,prob,winner,resolution"
    path = write(tmp_path / "x.csv", ["1,t,A,m,s,1,true,A", "1,t,B,m,s,0,true,A"], columns)
    results = evaluate_csv(path)
    assert results["forecasters"]["m"]["brier"] == 0
    assert results["warnings"][0] == "column 'winner' is not read: 'resolution' is the result"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            "event_id,model,p_raw,resolution",
            "expected a column for the probability (name it with --column probability=p_raw), got "
            "event_id, model, p_raw, resolution",
        ),
        (
            "question,model,prediction,probability",  # 0.9 may be that of No
            "expected one column for the probability (choose it with --column "
            "probability=probability or --column probability=prediction), got probability, "
            "prediction",
        ),
    ],
)
def test_missing_and_doubtful_columns_are_named(
    tmp_path: Path, columns: str, expected: str
) -> None:
    path = write(tmp_path / "x.csv", ["1,a,0.5,0.9"], columns)
    with pytest.raises(InputError) as caught:
        evaluate_csv(path)
    assert str(caught.value).endswith(expected)


def test_command_line_and_check(tmp_path: Path) -> None:
    (tmp_path / "prediction").mkdir()
    path = write(tmp_path / "prediction" / "week.csv", ROWS)
    done = run(tmp_path, "-f", "week", "--min-events", "1")
    assert (done.code, "1 event (1 exclusive), 1 pending, 2 forecasters" in done.out) == (0, True)
    checked = run(tmp_path, "check", str(path))
    assert "1 resolved, 1 pending" in checked.out
    assert "no closing time: 1" in checked.out
    odd = write(tmp_path / "odd.csv", [*ROWS, ROWS[0].replace("ada", "eve") + ",more"])
    assert "in 1 forecast\n" in run(tmp_path, "check", str(odd)).out
    late = write(path, [row.replace("ada", "bob") for row in ROWS if row.startswith("E2")])
    done = run(tmp_path, "-f", "week")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"{late.name}: no truth yet: 1 question, all pending\n")
    done = run(tmp_path, "-f", str(write(path, ["Q,A,ada,1,A"], "event,option,user,p,came")))
    assert done.err.endswith("all pending; no column is called 'resolution' or 'winner'\n")


def test_the_sample_as_a_table_has_the_same_scores(tmp_path: Path) -> None:
    problems, forecasts = SAMPLE
    known = {problem["problem_id"]: problem for problem in problems}
    path, rows = tmp_path / "x.csv", list[dict[str, Any]]()
    for row in forecasts:
        problem = known[row["problem_id"]]
        won = problem["correct_answer"] if problem["correct_answer"] else []
        won = won if isinstance(won, list) else [won]
        for place, option in enumerate(problem["options"]):
            rows.append(
                {
                    "question": row["problem_id"],
                    "market": option,
                    "model": row["username"],
                    "prob": row["prediction"][place],
                    "won": int(option in won),
                    "odds": row["odds"][place] if row.get("odds") else "",
                    "yes_bid": row["bids"][place] if row.get("bids") else "",
                    "timestamp": row.get("timestamp", ""),
                    "end_date": problem["end_date"],
                    "category": problem.get("category", ""),
                }
            )
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    free = [{**problem, "exclusive": None} for problem in problems]
    table, records = evaluate_csv(path), evaluate(forecasts, free)
    assert table["n_forecasts"] == records["n_forecasts"]
    for name, record in records["forecasters"].items():
        for metric in ("brier", "adjusted_brier", "log", "return_0.5", "ece", "irt_ability"):
            assert table["forecasters"][name][metric] == pytest.approx(record[metric], abs=1e-9)
