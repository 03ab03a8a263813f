"""Files as ForecastBench and Metaculus let one download them, read by their form."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli import assert_refused, run
from make_forecast_samples import DUE, MODELS, SAMPLES, make_files

BENCH = SAMPLES / "forecastbench"
FORECASTS = SAMPLES / "metaculus" / "forecast_data.csv"
SETS = ["-f", f"{DUE}.Harbour-9b", "-f", f"{DUE}.Quillon-2"]


def test_samples_are_what_their_script_writes() -> None:
    files = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()}
    assert files == make_files().keys()
    for name, text in make_files().items():
        assert (SAMPLES / name).read_bytes() == text.encode(), name


def named(results: Any) -> dict[tuple[str, str], list[str]]:
    return {(entry["what"], entry["reason"]): entry["names"] for entry in results["excluded"]}


def copy(tmp_path: Path) -> Path:
    shutil.copytree(BENCH, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_forecast_sets_are_scored_beside_their_resolution_set(tmp_path: Path) -> None:
    """A question at a date is an event, its dates are a series; a market has its only date."""
    results = run(copy(tmp_path), *SETS, "--json").json
    found = {name: (row["brier"], row["n_events"]) for name, row in results["forecasters"].items()}
    assert found == {name: (pytest.approx((1 - p) ** 2), 19 - 1) for name, p in MODELS.items()}
    assert (results["n_events"], results["n_clusters"], results["n_pending"]) == (18, 4 + 6, 1)
    assert results["problems"].keys() > {"fred/DGS10 2025-04-01", "manifold/ferry 2025-05-20"}
    share = "resolved to a share, neither Yes nor No"
    assert named(results) == {
        ("event", share): ["manifold/tunnel 2025-05-20"],
        ("forecast", "of an event that is excluded"): [
            f"{name} on manifold/tunnel 2025-05-20" for name in MODELS
        ],
    }
    assert results["warnings"] == []
    assert results["by_category"].keys() == {"fred", "manifold"}


def test_nights_and_checks_take_forecast_sets(tmp_path: Path) -> None:
    root = copy(tmp_path)
    (table,) = run(root, "nightly", "--json").json["tables"]
    assert [(row["name"], row["n"]) for row in table["rows"]] == [
        ("Harbour-9b", 18), ("Quillon-2", 18),
    ]  # fmt: skip
    assert run(root, "nightly", "--json").json["reused"] == 1
    found = json.loads(run(root, "check", DUE, "--json").out)["findings"]
    assert [finding["kind"] for finding in found] == ["resolved to a share, neither Yes nor No"]
    done = run(root, "check", f"{DUE}.Quillon-2")
    assert "Quillon-2: 19 read, 1 not read" in done.out


def edit(root: Path, name: str, change: Any) -> None:
    path = root / name
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def test_rows_of_forecast_sets_that_do_not_count_are_named(tmp_path: Path) -> None:
    """Of another date, of a pair of questions, without a number, of a market on two dates."""

    def forecasts(value: Any) -> None:
        rows = value["forecasts"]
        rows[0]["resolution_date"] = "2025-12-31"
        rows[1]["forecast"] = None
        rows[2]["forecast"] = 80
        rows.append({**rows[3], "id": ["UNRATE", "DGS10"], "direction": [1, -1]})
        rows.append(5)

    def resolutions(value: Any) -> None:
        rows = value["resolutions"]
        rows.append({**rows[12], "resolution_date": "2025-05-21"})
        rows.append({**rows[3], "id": ["UNRATE", "DGS10"], "direction": [1, -1]})
        rows.append({**rows[3], "resolution_date": "2026-01-01", "resolved_to": None})

    root = copy(tmp_path)
    edit(root, f"prediction/{DUE}.Quillon-2.json", forecasts)
    edit(root, f"dataset/{DUE}.json", resolutions)
    results = run(root, *SETS, "--json").json
    file = f"{root}/prediction/{DUE}.Quillon-2.json"
    left_out = named(results)
    assert left_out["forecast", "no object"] == [f"{file} record 22"]
    bad = "probabilities must be numbers in [0, 1]"
    assert left_out["forecast", bad] == [
        "Quillon-2 on fred/DGS10 2025-04-01", "Quillon-2 on fred/DGS10 2025-06-01",
    ]  # fmt: skip
    assert left_out["forecast", "unknown problem id"] == [
        "Harbour-9b on manifold/ferry", "Quillon-2 on fred/DGS10 2025-12-31",
        "Quillon-2 on manifold/ferry",
    ]  # fmt: skip
    assert left_out["event", "the result of a question must be Yes or No"] == [
        "fred/UNRATE 2026-01-01"
    ]
    pair = 'fred/["UNRATE", "DGS10"]/[1, -1] 2025-03-09'
    assert results["problems"][pair]["n_forecasts"] == 1


def test_metaculus_is_scored_with_its_questions() -> None:
    """Binary and multiple choice; ada's last forecast counts, and bob's last one before closing."""
    results = run(FORECASTS.parent, "-f", str(FORECASTS), "--min-events", "1", "--json").json
    scores = {name: row["brier"] for name, row in results["forecasters"].items()}
    several = {p: (p - 1) ** 2 / 2 for p in (0.9, 0.6)}  # of three options
    assert scores == {
        "ada": pytest.approx((2 * 0.01 + several[0.9]) / 3),
        "bob": pytest.approx((2 * 0.16 + several[0.6]) / 3),
    }
    assert (results["n_events"], results["n_pending"]) == (3, 1)
    assert results["warnings"] == []
    left_out = named(results)
    assert left_out["event", "question of numbers or dates, not scored"] == ["104"]
    assert left_out["event", "void, neither Yes nor No"] == ["105"]
    assert left_out["forecast", "after the event closed"] == ["bob on 101"]


def test_metaculus_without_its_questions_is_refused(tmp_path: Path) -> None:
    shutil.copy(FORECASTS, tmp_path)
    done = run(tmp_path, "-f", str(tmp_path / FORECASTS.name))
    assert_refused(done, "expected the questions of the same download beside it, question_data.csv")
    shutil.copy(FORECASTS.with_name("question_data.csv"), tmp_path)
    assert run(tmp_path, "-f", str(tmp_path / FORECASTS.name), "--min-events", "1").code == 0
    assert run(tmp_path, "check", str(tmp_path / FORECASTS.name)).code == 4
    words = ("-f", str(tmp_path / FORECASTS.name), "--min-events", "1", "--column")
    assert run(tmp_path, *words, "result=Resolution").code == 0


def test_metaculus_joined_by_its_user_is_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    questions = pandas.read_csv(FORECASTS.with_name("question_data.csv"))
    path = tmp_path / "joined.csv"
    pandas.read_csv(FORECASTS).merge(questions, on="Question ID").to_csv(path, index=False)
    joined, given = (
        run(tmp_path, "-f", str(file), "--min-events", "1", "--json").json["forecasters"]
        for file in (path, FORECASTS)
    )
    assert joined == given


def test_annulled_questions_change_nothing_for_the_others(tmp_path: Path) -> None:
    """Even if there are more of them than resolved ones."""
    header, *rows = FORECASTS.read_text(encoding="utf-8").splitlines()
    asked = FORECASTS.with_name("question_data.csv").read_text(encoding="utf-8").splitlines()
    for at in range(201, 205):
        void = [row.replace("103,", f"{at},", 1) for row in rows if row.startswith("103,")]
        rows += void
        asked += [
            row.replace("103,", f"{at},", 1).replace(",Bree,", ",annulled,")
            for row in asked
            if row.startswith("103,")
        ]
    for name, lines in ((FORECASTS.name, [header, *rows]), ("question_data.csv", asked)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    given, more = (
        run(tmp_path, "-f", str(file), "--min-events", "1", "--json").json
        for file in (FORECASTS, tmp_path / FORECASTS.name)
    )
    assert more["forecasters"] == given["forecasters"]
    reason = "void, neither Yes nor No"
    assert named(more)["event", reason] == ["105", "201", "202", "203", "204"]
