"""A small season, as `season.py` writes them, through the nightly run, comparisons and gates."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from boards_folders import counts, snapshot, stored
from cli import read_json, run
from season import GAPS, correct_truth, make_season, system_names

SIZE = {"weeks": 3, "questions": 8, "systems": 4, "runs": 2}


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_season(tmp_path / name, **SIZE, seed=seed)
    a, b, c = (files(tmp_path / name) for name in "abc")
    assert a == b
    assert a != c


def test_what_a_season_holds(tmp_path: Path) -> None:
    """Levels, languages, missing and refused answers, gaps and runs: all of them occur."""
    make_season(tmp_path, weeks=4, questions=50, systems=6, runs=3)
    questions = [row for path in (tmp_path / "dataset").glob("*.json") for row in read_json(path)]
    assert len(questions) == 200
    shares = [statistics.mean(row["level"] == level for row in questions) for level in (1, 2, 3, 4)]
    assert shares == pytest.approx([0.22, 0.2, 0.18, 0.4], abs=0.001)
    assert 0.2 < statistics.mean("最后一行" in row["prompt"] for row in questions) < 0.5
    assert 0.1 < statistics.mean(row["Std"] is not None for row in questions) < 0.5
    board = run(tmp_path, "nightly", "--json").json
    rows = [row for table in board["tables"] for row in table["rows"]]
    assert {len(row.get("runs", [row])) for row in rows} == {1, 2, 3}
    assert 4 * 3 <= len(rows) < 4 * 6
    answers = sum(row["n"] * len(row.get("runs", [row])) for row in rows)
    assert 0.01 < sum(row["missing"] for row in rows) / answers < 0.06
    assert 0.005 < sum(row["unparsed"] for row in rows) / answers < 0.04
    assert 0 < GAPS < 1


def test_better_systems_score_higher(tmp_path: Path) -> None:
    skills = make_season(tmp_path, weeks=2, questions=60, systems=5, runs=3, seed=3)
    board = run(tmp_path, "nightly", "--json").json
    scores: dict[str, list[float]] = {name: [] for name in skills}
    for table in board["tables"]:
        for row in table["rows"]:
            scores[row["name"].partition("-")[2]].append(row["overall_score"])
    means = {name: statistics.mean(values) for name, values in scores.items() if values}
    assert statistics.correlation([skills[name] for name in means], [*means.values()]) > 0.9


def test_nights_of_a_season(tmp_path: Path) -> None:
    make_season(tmp_path, **SIZE)
    names = system_names(4)
    done = run(tmp_path, "nightly")
    scored = counts(done)[0]
    assert (done.code, done.err, counts(done)) == (0, "", (scored, 0, 0))
    rows = {
        (row["dataset"], row["name"]): row["overall_score"]
        for t in stored(tmp_path)["tables"]
        for row in t["rows"]
    }
    before = snapshot(tmp_path)
    assert counts(run(tmp_path, "nightly")) == (0, scored, 0)
    assert snapshot(tmp_path) == before

    correct_truth(tmp_path)
    changes = run(tmp_path, "nightly", "--json").json["changes"]
    assert {change["dataset"] for change in changes} == {"250901.json", "all datasets"}
    assert {change["system"] for change in changes} == {*names}
    assert {change["reason"] for change in changes} == {
        "1 truth corrected", "250901 1 truth corrected",
    }  # fmt: skip
    changes = [change for change in changes if change["dataset"] == "250901.json"]
    assert {f"250901-{change['system']}": change["score"][0] for change in changes} == {
        name: score for (dataset, name), score in rows.items() if dataset == "250901.json"
    }
    text = (tmp_path / "evaluation/history.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    over_weeks = [line for line in lines if line["metric"] == "pooled"]
    assert {line["night"] for line in over_weeks} == {1, 2}
    assert len(lines) - len(over_weeks) == len(rows) + len(changes)
    assert {line["system"] for line in lines} == {*names}


def test_comparison_and_gates(tmp_path: Path) -> None:
    skills = make_season(tmp_path, weeks=1, questions=60, systems=2, runs=2, seed=4)
    worst, best = (f"250901-{name}" for name in sorted(skills, key=skills.__getitem__))
    assert run(tmp_path, "compare", worst, best, "--fail-if-worse").code == 0
    done = run(tmp_path, "compare", best, worst, "--fail-if-worse")
    assert (done.code, done.err.startswith(f"eval.py: worse than {best} (--fail-if-worse): ")) == (
        6,
        True,
    )
    score = run(tmp_path, "-f", best, "--json").json["overall_score"]
    assert run(tmp_path, "-f", best, "--fail-under", str(score)).code == 0
    assert run(tmp_path, "-f", best, "--fail-under", str(score + 0.01)).code == 6
