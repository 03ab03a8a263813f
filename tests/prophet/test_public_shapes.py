"""Files in the shapes of other programs and sites, small: read as they are, or refused with a line
whose option makes them right.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from cli import Done, run, write
from forecasteval.prophet.entries import hash_forecasts
from prophet_forms import find_options

WON: Final = (1, 0, 1, 0, 0, 1)
P: Final = {"ada": (0.8, 0.3, 0.8, 0.3, 0.3, 0.8), "bob": (0.6,) * 6}
SCORES: Final = {"ada": 0.065, "bob": (3 * 0.16 + 3 * 0.36) / 6}
ROWS: Final = [(who, at, P[who][at], WON[at]) for who in P for at in range(6)]


def table(header: str, row: str, rows: Any = ROWS) -> str:
    """A CSV of a row per forecast: who, event, probability, result."""
    lines = [
        row.format(who=who, at=at, p=p, no=round(1 - p, 2), won=won, yes="yes" if won else "no")
        for who, at, p, won in rows
    ]
    return "\n".join([header, *lines]) + "\n"


def lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


class Shape(NamedTuple):
    files: dict[str, str]
    words: str  # of the command line
    roles: str = ""  # that a refusal says
    scores: dict[str, float] = SCORES


QUESTIONS: Final = "".join(
    f"{at},{'Yes' if won else 'No'},2025-02-01\n" for at, won in enumerate(WON)
)
GOVERNORS: Final = table(
    "branch,race,forecastdate,model,probwin,probwin_outcome", "G,S{at},2024-11-01,{who},{p},{won}"
)
BETS: Final = [
    {"id": f"b{who}{at}{n}", "userId": who, "contractId": f"c{at}", "amount": 10, "probBefore": 0.5,
     "probAfter": p if n else 0.5, "outcome": "YES", "createdTime": 1735689600000 + 1000 * n}
    for who, at, p, _ in ROWS for n in range(2)
]  # fmt: skip
MARKETS: Final = [
    {"id": f"c{at}", "question": f"Will {at}?", "closeTime": 1738368000000, "probability": 0.99,
     "resolution": "YES" if won else "NO"}
    for at, won in enumerate(WON)
]  # fmt: skip
API_HEADER: Final = (
    "question_id,question_title,created_at,probability_yes,probability_yes_per_category,"
    "forecast_timestamp,forecaster,resolution,actual_close_time,type,options"
)
API: Final = table(
    API_HEADER,
    "{at},T{at},2025-01-01 00:00:00+00,{p},,2025-01-1{at} 10:00:00+00,{who},{yes},"
    "2025-02-01 00:00:00+00,binary,",
) + (
    "99,T99,2025-01-01 00:00:00+00,,,2025-01-05 10:00:00+00,ada,130027.0,2025-02-01 00:00:00+00,"
    "numeric,\n"
)
SHAPES: Final = {
    "538": Shape({"gov.csv": GOVERNORS}, "-f ./gov.csv", "event=race"),
    "questions beside forecasts": Shape(
        {
            "q.csv": "question_id,resolution,close_time\n" + QUESTIONS,
            "q-all.csv": table("question_id,model,probability", "{at},{who},{p}"),
        },
        "-f ./q-all.csv --dataset ./q.csv",
    ),
    "a file per contestant": Shape(
        {
            "q.csv": "question_id,resolution,close_time\n" + QUESTIONS,
            **{
                f"q-{who}.csv": table(
                    "question_id,probability", "{at},{p}", [row for row in ROWS if row[0] == who]
                )
                for who in P
            },
        },
        "-f ./q-ada.csv -f ./q-bob.csv --dataset ./q.csv",
    ),
    "a table per contestant": Shape(
        {
            f"{who}.csv": table(
                "question,probability,resolution",
                "{at},{p},{yes}",
                [row for row in ROWS if row[0] == who],
            )
            for who in P
        },
        "-f ./ada.csv -f ./bob.csv",
    ),
    "tabs": Shape(
        {"t.tsv": table("question\tmodel\tp\tresult", "{at}\t{who}\t{p}\t{won}")}, "-f ./t.tsv"
    ),
    "lines of a log": Shape(
        {
            "log.jsonl": lines(
                {"questionId": at, "modelName": who, "probability": p, "outcome": bool(won)}
                for who, at, p, won in ROWS
            )
        },
        "-f ./log.jsonl",
    ),
    "KalshiBench": Shape(
        {
            "k.json": json.dumps(
                [
                    {
                        "market_ticker": f"KX-{at}",
                        "model": who,
                        "predicted_prob": p,
                        "ground_truth_label": "yes" if won else "no",
                    }
                    for who, at, p, won in ROWS
                ]
            )
        },
        "-f ./k.json",
        "result=ground_truth_label",
    ),
    "scoringutils": Shape(
        {"s.csv": table("target_id,model,predicted,observed", "{at},{who},{p},{won}")}, "-f ./s.csv"
    ),
    "Manifold": Shape(
        {"m.json": json.dumps(MARKETS), "m-bets.json": json.dumps(BETS)},
        "-f ./m-bets.json --dataset ./m.json",
    ),
    "Metaculus' API": Shape({"api.csv": API}, "-f ./api.csv"),
    "submission and actuals": Shape(
        {
            "a.json": json.dumps({f"KX-{at}": float(won) for at, won in enumerate(WON)}),
            **{
                f"a-{who}.json": json.dumps(
                    {
                        "timestamp": "2025-01-01T10:00:00Z",
                        "predictions": [
                            {"market_ticker": f"KX-{at}", "p_yes": p, "rationale": None}
                            for name, at, p, _ in ROWS
                            if name == who
                        ],
                    }
                )
                for who in P
            },
        },
        "-f ./a-ada.json -f ./a-bob.json --dataset ./a.json",
    ),
    "tasks": Shape(
        {
            "tasks.jsonl": lines(
                {
                    "task_id": f"KX-{at}",
                    "outcomes": ["A", "B"],
                    "predict_by": "2025-02-01",
                    "resolved_outcome": {
                        "value": ["A" if won else "B"],
                        "resolved_at": "2025-02-02",
                    },
                }
                for at, won in enumerate(WON)
            ),
            "tasks-m.jsonl": lines(
                {
                    "task_id": f"KX-{at}",
                    "predictor": who,
                    "probabilities": {"A": p, "B": 1 - p},
                    "submitted_at": "2025-01-05T10:00:00Z",
                }
                for who, at, p, _ in ROWS
            ),
        },
        "-f ./tasks-m.jsonl --dataset ./tasks.jsonl",
    ),
    "gpt-predictions": Shape(
        {"g.csv": table("id,question,llm,y_prob,y_true", "{at}{who},Q{at},{who},{p},{won}")},
        "-f ./g.csv",
    ),
    "runs": Shape(
        {
            "r.csv": table("question,model,run,p,resolution", "{at},{who},1,{p},{yes}")
            + table("", "{at},{who},2,{p},{yes}").lstrip("\n")
        },
        "-f ./r.csv",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read_or_its_refusal_leads_there(tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    for file, text in shape.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    words = [*shlex.split(shape.words.replace("./", f"{tmp_path}/")), "--min-events", "2", "--json"]
    if shape.roles:
        refused = run(tmp_path, *words)
        assert refused.code == 2
        assert tuple(shape.roles.split("=")) in find_options(refused.err)
        words += ["--column", shape.roles]
    done = run(tmp_path, *words)
    assert done.code == 0, done.err
    forecasters = done.json["forecasters"]
    assert {who: row["brier"] for who, row in forecasters.items()} == pytest.approx(shape.scores)


def test_the_rounds_of_the_site(tmp_path: Path) -> None:
    """The last round counts, by its number or by the time that the submissions give it."""

    def quote(value: object) -> str:
        return '"' + json.dumps(value).replace('"', '""') + '"'

    rows = ["predictor_name,event_ticker,submission_count,prediction,market_outcome"]
    rows += [
        ",".join(
            [
                who,
                f"KX-{at}",
                str(count),
                quote(
                    {
                        "probabilities": [
                            {"market": "A", "probability": p if count == 2 else 0.5},
                            {"market": "B", "probability": 1 - p if count == 2 else 0.5},
                        ]
                    }
                ),
                quote({"A": won, "B": 1 - won}),
            ]
        )
        for who, at, p, won in ROWS
        for count in (2, 1)
    ]
    submissions = ["event_ticker,submission_count,market_data,snapshot_time"]
    submissions += [
        f"KX-{at},{count},{quote({name: {'yes_ask': 52, 'no_ask': 50} for name in 'AB'})},"
        f"2025-01-0{count}T10:00:00Z"
        for at in range(6)
        for count in (1, 2)
    ]
    (tmp_path / "p.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text("\n".join(submissions) + "\n", encoding="utf-8")
    for more in ((), ("--dataset", f"{tmp_path}/s.csv")):
        done = run(tmp_path, "-f", f"{tmp_path}/p.csv", *more, "--min-events", "2", "--json")
        forecasters = done.json["forecasters"]
        assert {who: row["brier"] for who, row in forecasters.items()} == pytest.approx(SCORES)
        assert forecasters["ada"]["n_priced"] == (6 if more else 0)


MISREAD: Final = {
    "picks beside a confidence": ("question,model,prediction,confidence,resolution", "confidence"),
    "picks in words": ("question,model,pick,confidence,resolution", "confidence"),
    "row numbers": ("question_id,title,model,p,resolution", "event=title"),
    "two forecasters": ("question,agent,model,p,resolution", "forecaster=agent"),
    "an unknown forecaster": ("question,who,p,resolution", "forecaster=who"),
    "two times": ("question,model,p,resolution,timestamp,updated_at", "time=updated_at"),
}


@pytest.mark.parametrize("name", MISREAD)
def test_a_table_that_would_be_misread_is_refused(tmp_path: Path, name: str) -> None:
    """Each with the options that may help."""
    header, option = MISREAD[name]
    rows = {
        "picks beside a confidence": "Q{at},{who},{won},{p},{yes}",
        "picks in words": "Q{at},{who},{yes},{p},{yes}",
        "row numbers": "{who}{at},Will {at}?,{who},{p},{yes}",
        "two forecasters": "Q{at},{who},m{at},{p},{yes}",
        "an unknown forecaster": "Q{at},{who},{p},{yes}",
        "two times": "Q{at},{who},{p},{yes},2025-01-01T00:00:0{at}Z,2025-01-02T{who_at}:00Z",
    }
    text = rows[name].replace("{who_at}", "0{at}:0{won}")
    lines = table(header, text)
    if name == "two times":
        lines += lines.split("\n", 1)[1].replace("2025-01-0", "2025-02-0")
    (tmp_path / "t.csv").write_text(lines, encoding="utf-8")
    refused = run(tmp_path, "-f", f"{tmp_path}/t.csv")
    assert refused.code == 2
    assert "expected" in refused.err
    assert any(option in "=".join(pair) for pair in find_options(refused.err)), refused.err


def test_hashes_are_of_what_is_read(tmp_path: Path) -> None:
    """By forecaster, event and time: another probability or run is another forecast."""
    (dataset := tmp_path / "q.csv").write_text(
        "question_id,resolution,close_time\n" + QUESTIONS, encoding="utf-8"
    )

    def hashes(p: str, time: str = "2025-01-01", name: str = "q-ada.csv") -> dict[str, Any]:
        text = f"question_id,p,submitted_at\n0,{p},{time}\n1,0.3,2025-01-01\n"
        (path := tmp_path / name).write_text(text, encoding="utf-8")
        return hash_forecasts(path, dataset, {})

    given = hashes("0.8")
    assert given.keys() == {"ada"}
    assert given["ada"].keys() == {("0", "2025-01-01"), ("1", "2025-01-01")}
    assert hashes("0.80") == given
    assert hashes("0.9")["ada"]["0", "2025-01-01"] != given["ada"]["0", "2025-01-01"]
    assert hashes("0.8", "2025-01-02")["ada"].keys() != given["ada"].keys()
    assert hashes("0.8", name="q-ada@2.csv")["ada"] != given["ada"]


def test_records_with_ids_and_names_take_the_option(tmp_path: Path) -> None:
    """The columns of problem_id and username need no role, which is no reason to ignore one."""
    problems = [
        {"problem_id": at, "options": ["Yes", "No"], "correct_answer": "Yes" if won else "No"}
        for at, won in enumerate(WON)
    ]
    rows = [
        {"problem_id": at, "username": who, "prediction": 0.5, "raw": [p, 1 - p]}
        for who, at, p, _ in ROWS
    ]
    write(tmp_path, {"dataset/d.json": problems, "prediction/d-all.json": rows})
    words = ("-f", "d-all", "--min-events", "1", "--json", "--column", "probabilities=raw")
    shown = run(tmp_path, *words).json["forecasters"]
    assert {who: shown[who]["brier"] for who in SCORES} == pytest.approx(SCORES)


def test_an_option_that_names_no_column_is_refused(tmp_path: Path) -> None:
    """Else the column that its role has by name would be scored, in silence."""
    write(tmp_path, {"t.csv": table("question,model,p,raw,result", "{at},{who},0.5,{p},{won}")})
    words = ("-f", str(tmp_path / "t.csv"), "--min-events", "1", "--json")
    refused = run(tmp_path, *words, "--column", "probability=rwa")
    assert refused.code == 2
    assert "--column probability=rwa: expected a column of the files, and 'rwa' is" in refused.err
    assert "got model, p, question, raw, result" in refused.err
    shown = run(tmp_path, *words, "--column", "probability=raw").json["forecasters"]
    assert {who: shown[who]["brier"] for who in SCORES} == pytest.approx(SCORES)


def test_an_index_of_a_table_counts_from_0(tmp_path: Path) -> None:
    questions = [{"id": at, "options": ["B", "A"], "correct_option_idx": won + 1}
                 for at, won in enumerate(WON)]  # fmt: skip
    rows = [{"id": at, "model": who, "probs": [1 - p, p]} for who, at, p, _ in ROWS]
    write(tmp_path, {"dataset/d.json": questions, "prediction/d-all.json": rows})
    words = ("-f", "d-all", "--min-events", "1", "--json")
    assert "count from 0: subtract 1, got as many" in run(tmp_path, *words).err
    for question in questions:
        question["correct_option_idx"] -= 1
    write(tmp_path, {"dataset/d.json": questions})
    shown = run(tmp_path, *words).json["forecasters"]
    assert {who: shown[who]["brier"] for who in SCORES} == pytest.approx(SCORES)


@pytest.mark.parametrize("keys", ["id,model,probs", "problem_id,username,prediction"])
@pytest.mark.parametrize("header", ["id,resolution", "id,option,won"])
def test_probabilities_by_place_need_a_list_of_the_options(
    keys: str, header: str, tmp_path: Path
) -> None:
    """Nobody knows whether [0.9, 0.1] begins with Yes."""
    lines_of_questions = [f"{at},{'Yes' if won else 'No'}" for at, won in enumerate(WON)]
    if "option" in header:
        lines_of_questions = [
            f"{at},{name},{int((name == 'Yes') == won)}"
            for at, won in enumerate(WON)
            for name in ("Yes", "No")
        ]
    (tmp_path / "q.csv").write_text("\n".join([header, *lines_of_questions]) + "\n", "utf-8")

    def score(by_place: bool) -> Done:
        rows = []
        for who, at, p, _ in ROWS:
            given: object = [p, 1 - p] if by_place else {"Yes": p, "No": 1 - p}
            rows.append(dict(zip(keys.split(","), (at, who, given), strict=True)))
        write(tmp_path, {"q-all.json": rows})
        words = ("-f", str(tmp_path / "q-all.json"), "--dataset", str(tmp_path / "q.csv"))
        return run(tmp_path, *words, "--min-events", "1", "--json")

    refused = score(by_place=True)
    assert "no forecast can be scored: expected probabilities by option, since" in refused.err
    shown = score(by_place=False).json["forecasters"]
    assert {who: shown[who]["brier"] for who in SCORES} == pytest.approx(SCORES)


def test_check_takes_the_option_that_it_prints(tmp_path: Path) -> None:
    events = [{"problem_id": "q", "options": ["Yes", "No"]}]
    write(tmp_path, {"dataset/d.json": events})
    (file := tmp_path / "prediction/d-ada.csv").parent.mkdir()
    file.write_text("question,p_raw\nq,0.8\n", encoding="utf-8")
    refused = run(tmp_path, "check", "d-ada.csv")
    assert refused.code == 2
    (option,) = find_options(refused.err)
    words = ("check", "d-ada.csv", "--column", "=".join(option))
    assert run(tmp_path, *words).out.splitlines()[1] == "ada: 1 read"

    (tmp_path / "forecasteval.toml").write_text('column = "probability=p_raw"\n')
    assert run(tmp_path, "check", "d-ada.csv").out.splitlines()[1] == "ada: 1 read"
