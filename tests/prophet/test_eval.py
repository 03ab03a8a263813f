"""Prophet Arena through `eval.py`: recognised by its records, reported, stored, ranked beside other
files.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from cli import EVIL, RAW_CONTROL, Record, assert_refused, q, run, run_process, write
from forecasteval.boards import rank
from forecasteval.prophet.evaluator import ProphetArenaEvaluator

PROBLEMS: Final[list[Record]] = [
    {
        "problem_id": "e1",
        "options": ["Ada", "Bea", "Cy"],
        "correct_answer": "Ada",
        "end_date": "2025-09-18T00:00:00Z",
    },
    {
        "problem_id": "e2",
        "options": ["Yes", "No"],
        "correct_answer": "No",
        "end_date": "2025-09-19T00:00:00Z",
    },
]
FORECASTS: Final[list[Record]] = [
    {
        "problem_id": name,
        "username": who,
        "timestamp": "2025-09-11T09:00:00Z",
        "prediction": p,
        "odds": odds,
    }
    for name, who, p, odds in (
        ("e1", "good", [0.7, 0.2, 0.1], [0.5, 0.3, 0.2]),
        ("e2", "good", [0.1, 0.9], [0.5, 0.5]),
        ("e1", "poor", [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]),
        ("e2", "poor", [0.8, 0.2], [0.5, 0.5]),
    )
]


FEW: Final = ("--min-events", "1")  # rank them all the same


def folder(root: Path, suffix: str = "json") -> Path:
    return write(
        root, {"dataset/arena.json": PROBLEMS, f"prediction/arena-week1.{suffix}": FORECASTS}
    )


def read_results(root: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in (root / "evaluation").rglob("*") if path.is_file()
    }


def as_csv(rows: list[tuple[str, str, list[float]]]) -> str:
    """Rows (event, who, p of A and B) in the Prophet Arena form; A wins."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        [
            "event_ticker",
            "predictor_name",
            "submission_id",
            "category",
            "close_time",
            "market_info",
            "market_outcome",
            "prediction",
        ]
    )
    for event, who, p in rows:
        market = {name: {"yes_ask": "52", "yes_bid": "48"} for name in "AB"}
        said = {
            "probabilities": [
                {"market": name, "probability": x} for name, x in zip("AB", p, strict=True)
            ]
        }
        outcome = str({"A": 1, "B": 0})  # a Python literal, as the original files have it
        writer.writerow(
            [
                event,
                who,
                "s",
                "Sports",
                "2025-09-18T00:00:00Z",
                json.dumps(market),
                outcome,
                str(said),
            ]
        )
    return text.getvalue()


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_file_is_recognised_and_scored_as_in_python(tmp_path: Path, suffix: str) -> None:
    folder(tmp_path, suffix)
    printed = run(tmp_path, "-f", "arena-week1", *FEW, "--json").json
    results = ProphetArenaEvaluator(min_events=1).evaluate_all(FORECASTS, PROBLEMS)
    assert printed["forecasters"] == json.loads(json.dumps(results["forecasters"]))
    assert (printed["benchmark"], printed["name"], printed["dataset"]) == (
        "Prophet Arena",
        "arena-week1",
        "arena.json",
    )
    assert printed["forecasters"]["good"]["brier"] == pytest.approx((0.14 / 3 + 0.01) / 2)


def test_report_and_sort(tmp_path: Path) -> None:
    folder(tmp_path)
    done = run(tmp_path, "-f", "arena-week1", *FEW)
    assert (done.code, done.err) == (0, "")
    assert "Ranked by Brier: all have all events, so that adjusted Brier is the same" in done.out
    lines = run(tmp_path, "-f", "arena-week1", *FEW, "--sort", "return_0").out.splitlines()
    assert lines[2] == "Ranked by Return 0"
    rows = [["1", "good", "2", "100%", "2.0000"], ["2", "poor", "2", "100%", "0.0000"]]
    assert [line.split()[:5] for line in (lines[5], lines[9])] == rows
    baselines = [["(market)", "2", "100%", "1.0000"], ["(crowd)", "2", "100%", "1.0000"]]
    assert [line.split()[:4] for line in lines[6:8]] == baselines  # in their place, without rank


def test_gamma(tmp_path: Path) -> None:
    folder(tmp_path)
    printed = run(tmp_path, "-f", "arena-week1", *FEW, "--gamma", "0.25", "--json").json
    assert printed["signature"]["gammas"] == [0.25]
    assert "return_0.25" in printed["forecasters"]["good"]
    assert "return_0" not in printed["forecasters"]["good"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["-f", "arena-week1", *FEW, "--sort", "fame"],
            ["--sort", "expected one of brier, adjusted_brier, log", "fame"],
        ),
        (["-f", "arena-week1", "--gamma", "1.5"], ["gamma", "must be a number in [0, 1]"]),
        (["-f", "arena-week1", "--min-events", "0"], ["min_events: must be an integer >= 1"]),
        (["-f", "plain", "--full"], ["--full: needs a file of Prophet Arena, got FutureX"]),
        (
            ["-f", "arena-week1", *FEW, "--missing", "skip"],
            ["--missing: needs a file of FutureX, got Prophet Arena"],
        ),
        (["-f", "plain", "--sort", "log"], ["--sort: needs a file of Prophet Arena, got FutureX"]),
        (["-f", "lost"], ["expected a dataset of problems"]),
        (
            ["-f", "broken.csv"],
            ["expected a column for the event and the probability and the result", "got a, b"],
        ),
        (["compare", "arena-week1", "plain"], ["ranks forecasters in one table"]),
        (["nightly", "--sort", "log"], ["unrecognized arguments: --sort log"]),
    ],
)
def test_refused(tmp_path: Path, options: list[str], words: list[str]) -> None:
    folder(tmp_path)
    write(tmp_path, {"prediction/plain.json": [q()], "prediction/lost.json": FORECASTS})
    write(tmp_path, {"prediction/broken.csv": "a,b\n1,2\n"})
    assert_refused(run(tmp_path, *options), *words)


def test_csv_needs_no_dataset(tmp_path: Path) -> None:
    rows = [
        ("e1", "a", [0.9, 0.1]),
        ("e1", "b", [0.4, 0.6]),
        ("e2", "a", [0.8, 0.2]),
        ("e2", "b", [0.5, 0.5]),
    ]
    write(tmp_path, {"prediction/arena.csv": as_csv(rows).encode(), "dataset/arena.json": [q("x")]})
    printed = run(tmp_path, "-f", "arena", *FEW, "--json").json
    assert printed["dataset"] is None
    assert printed["forecasters"]["a"]["brier"] == pytest.approx((0.01 + 0.04) / 2)
    assert printed["forecasters"]["a"]["return_0"] == pytest.approx(1 / 0.52)


def test_all_ranks_files_of_every_kind_and_reuses_them(tmp_path: Path) -> None:
    folder(tmp_path)
    rows = [("e1", "a", [0.9, 0.1]), ("e1", EVIL, [0.4, 0.6])]
    write(tmp_path, {"prediction/plain.json": [q()], "prediction/other.csv": as_csv(rows).encode()})
    done = run(tmp_path, "nightly", *FEW)
    assert (done.code, done.err) == (0, "")
    board = json.loads((tmp_path / "evaluation/leaderboard.json").read_text("utf-8"))
    names = [
        (table["benchmark"], [row["name"] for row in table["rows"]]) for table in board["tables"]
    ]
    assert names == [
        ("FutureX", ["plain"]), ("Prophet Arena", ["good", "poor"]), ("Prophet Arena", ["a", EVIL]),
    ]  # fmt: skip
    table = list(
        csv.DictReader(io.StringIO((tmp_path / "evaluation/leaderboard.csv").read_text("utf-8")))
    )
    assert [row["rank"] for row in table] == ["1", "1", "2", "1", "2"]
    files = ["plain.json", *["arena-week1.json"] * 2, *["other.csv"] * 2]
    assert [row["prediction"] for row in table] == files
    assert table[-1]["metric"] == "adjusted_brier (lower is better)"
    for text in (done.out, (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")):
        assert not RAW_CONTROL.search(text)
    before = read_results(tmp_path)
    assert (
        run(tmp_path, "nightly", *FEW).out.splitlines()[-1]
        == "0 files scored, 3 unchanged, 0 failed"
    )
    assert read_results(tmp_path) == before
    again = run(tmp_path, "nightly", *FEW, "--gamma", "0.5").out.splitlines()[-1]
    assert again == "2 files scored, 1 unchanged, 0 failed"


def test_results_show_themselves_and_rank() -> None:
    hostile = [
        {**forecast, "username": "<script>alert(1)</script>"} for forecast in FORECASTS[:2]
    ] + FORECASTS[2:]
    results: Any = ProphetArenaEvaluator(min_events=1).evaluate_all(hostile, PROBLEMS)
    page = results._repr_html_()
    assert "<table" in page
    assert "<script>" not in page
    assert [row["rank"] for row in rank([results])["tables"][0]["rows"]] == [1, 2]


def test_a_table_of_the_current_folder(tmp_path: Path) -> None:
    """`-f table.csv` is that of prediction/ if there is one, else the one beside you."""
    (tmp_path / "prediction").mkdir()
    head = "question,model,probability,resolution\n"
    (tmp_path / "table.csv").write_text(f"{head}Q,ada,0.5,Yes\n")
    for p, name in (("0.2500", "table.csv"), ("0.2500", "./table.csv"), ("0.0000", "table.csv")):
        if p == "0.0000":
            (tmp_path / "prediction/table.csv").write_text(f"{head}Q,ada,1,Yes\n")
        result = run_process(tmp_path, "-f", name, "--min-events", "1", cwd=tmp_path)
        assert f"100%  {p}" in result.out, result
    assert run_process(tmp_path, "-f", "table", cwd=tmp_path).out.count("0.0000")
    assert run_process(tmp_path, "-f", "other.csv", cwd=tmp_path).code == 2


def test_the_number_of_processors_changes_no_digit(tmp_path: Path) -> None:
    """On two threads the fit of Bradley–Terry ends elsewhere in its seventh digit."""
    for folder in ("dataset", "prediction"):
        (tmp_path / folder).mkdir()
    rng = np.random.default_rng(1)
    problems: list[Record] = []
    forecasts: list[Record] = []
    for event in range(200):
        truth = rng.dirichlet(np.ones(int(rng.integers(2, 31))))
        options, winner = (
            [str(at) for at in range(len(truth))],
            int(rng.choice(truth.size, p=truth)),
        )
        problems += [{"problem_id": event, "options": options, "correct_option_idx": winner}]
        for who in range(20):
            p = truth * np.exp(rng.normal(0, 0.2 + who / 10, truth.size))
            row = {"problem_id": event, "username": f"f{who}", "prediction": (p / p.sum()).tolist()}
            forecasts.append(row)
    (tmp_path / "dataset/arena.json").write_text(json.dumps(problems))
    (tmp_path / "prediction/arena-x.json").write_text(json.dumps(forecasts))
    results = [
        run_process(tmp_path, "-f", "arena-x", "--json", OMP_NUM_THREADS=threads)
        for threads in ("1", "2")
    ]
    assert results[0].code == 0
    assert results[0].out == results[1].out
