"""What a night changed: who came and went, which scores moved, and why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from boards_folders import evaluate, folder_of, snapshot
from cli import EVIL, RAW_CONTROL, Record, number, question, run, write
from eval import FutureXEvaluator
from forecasteval.benchmark import Files
from forecasteval.boards.changes import MOVES, changes_report
from forecasteval.display.tables import Table, format_text


def night(root: Path, *options: str) -> list[Record]:
    """The changes that a run tells, which text and Markdown tell too."""
    before = (
        (root / "evaluation/leaderboard.md").read_text("utf-8")
        if (root / "evaluation").exists()
        else ""
    )
    changes: list[Record] = run(root, "nightly", "--json", *options).json["changes"]
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert bool(changes) == ("## What changed last" in text and text != before)
    return changes


def short(changes: list[Record]) -> list[tuple[str, str, float | None, float | None, str]]:
    return [
        (c["system"], c["kind"], c["before"], c["after"], " ".join(c["causes"])) for c in changes
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """After the first night, of which there is nothing to tell."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    assert night(tmp_path) == []
    return tmp_path


def test_unchanged(root: Path) -> None:
    before = snapshot(root)
    assert night(root) == []
    assert "Changed" not in run(root, "nightly").out
    assert snapshot(root) == before


def test_new_gone_back(root: Path) -> None:
    folder_of(root, c="AAAB")
    assert short(night(root)) == [("c", "new", None, 0.75, "")]
    raw = (root / "prediction/d-a.json").read_bytes()
    (root / "prediction/d-a.json").unlink()
    assert short(night(root)) == [("a", "gone", 1.0, None, "")]
    write(root, {"prediction/d-a.json": raw})
    assert short(night(root)) == [("a", "back", 1.0, 1.0, "")]
    (root / "prediction/d-a.json").unlink()
    night(root)
    folder_of(root, a="BAAA")
    assert short(night(root)) == [("a", "back", 1.0, 0.75, "prediction")]


def test_a_corrected_truth(root: Path) -> None:
    write(
        root,
        {
            "dataset/d.json": [
                question(f"q{n}", ground_truth="B" if n == 3 else "A") for n in range(4)
            ]
        },
    )
    done = run(root, "nightly")
    lines = [re.sub(" +", " ", line) for line in done.out.splitlines()]
    at = lines.index("What changed last")
    assert lines[at : at + 6] == [
        "What changed last",
        "d.json: corrected truths: results 2, scores moved 2",
        "",
        "System Dataset Before Now Change Why",
        "a d.json 1.0000 0.7500 -0.2500 corrected truths",
        "b d.json 0.5000 0.7500 +0.2500 corrected truths",
    ]
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert "| a | d.json | 1.0000 | 0.7500 | -0.2500 | corrected truths |" in text


def test_a_dataset_that_says_the_same_in_other_bytes(root: Path) -> None:
    records = json.loads((root / "dataset/d.json").read_bytes())
    write(root, {"dataset/d.json": json.dumps(records, indent=1)})
    assert short(night(root)) == [
        ("a", "changed", 1.0, 1.0, "dataset"),
        ("b", "changed", 0.5, 0.5, "dataset"),
    ]
    change = {"dataset": "d.json", "kind": "changed", "before": 1.0, "after": 1.0}
    report = changes_report([{"system": name, **change, "causes": ["dataset"]} for name in "ab"])
    assert "dataset rewritten, the same resolved questions: results 2, scores moved 0" in report


def test_another_prediction(root: Path) -> None:
    folder_of(root, b="AAAA")
    assert short(night(root)) == [("b", "changed", 0.5, 1.0, "prediction")]


def test_another_run_is_no_other_prediction(root: Path) -> None:
    folder_of(root, **{"b@2": "AAAA"})
    assert [c[-1] for c in short(night(root))] == ["runs"]
    (root / "prediction" / "d-b@2.json").write_text("[{", encoding="utf-8")
    done = run(root, "nightly", "--json")
    assert (done.code, [change["causes"] for change in json.loads(done.out)["changes"]]) == (
        3,
        [["runs"]],
    )


def test_rules_and_settings(root: Path) -> None:
    assert [c["causes"] for c in night(root, "--rules", "official-2026")] == [
        ["rules", "settings"]
    ] * 2
    assert [c["causes"] for c in night(root)] == [["rules", "settings"]] * 2
    changes = night(root, "--min-questions", "5")
    assert short(changes) == [
        ("a", "changed", 1.0, None, "settings"),
        ("b", "changed", 0.5, None, "settings"),
    ]


def test_a_score_that_changed_with_the_version(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/x.json": [number(answer="102")]})

    def run_version(version: str, **options: float) -> Record:
        evaluator = FutureXEvaluator(**options)  # type: ignore[arg-type]
        settings = {**FutureXEvaluator().settings(), "evaluator": version}

        def score(files: Files) -> Record:
            results = evaluator.evaluate_files(files)
            results["signature"].update(settings)
            return results

        return evaluate(tmp_path, score, settings)

    run_version("FutureX 98")
    assert short(run_version("FutureX 99", relative_sigma=0.04)["changes"]) == [
        ("x", "changed", 0.0, pytest.approx(0.75), "version")
    ]


def test_several_causes_are_all_named(root: Path) -> None:
    folder_of(root, b="AAAA")
    write(root, {"dataset/d.json": [question(f"q{n}", ground_truth="B") for n in range(4)]})
    assert short(night(root)) == [
        ("a", "changed", 1.0, 0.0, "corrected"), ("b", "changed", 0.5, 0.0, "corrected prediction"),
    ]  # fmt: skip


def test_many_moves_are_cut_the_largest_first() -> None:
    changes = [
        {
            "system": f"s{n:02}",
            "dataset": "d",
            "kind": "changed",
            "before": 0.0,
            "after": n / 100,
            "causes": [],
        }
        for n in range(MOVES + 6)
    ]
    report = changes_report(changes)
    (table,) = [block for block in report if isinstance(block, Table)]
    assert [row[0] for row in table.rows] == [f"s{n:02}" for n in range(MOVES + 5, 5, -1)]
    assert "and 5 smaller ones: --json" in report
    assert f"no known cause: results {MOVES + 6}, scores moved {MOVES + 5}" in report


def test_the_last_changes_stay_in_the_markdown(root: Path) -> None:
    folder_of(root, c="AAAB")
    night(root)
    before = snapshot(root)
    assert night(root) == []  # which is what changed since the last run
    (root / "evaluation/leaderboard.md").unlink()
    run(root, "nightly")
    assert (root / "evaluation/leaderboard.md").read_bytes() == before["leaderboard.md"][0]


def test_hostile_names_are_text(root: Path) -> None:
    names = [EVIL[:5], "|x|", "<b>", "=1+1", "`x`", "[a](b)"]
    write(root, {f"prediction/d-{name}.json": {"q0": "A"} for name in names})
    done = run(root, "nightly")
    for name in names:
        write(root, {f"prediction/d-{name}.json": {f"q{n}": "A" for n in range(4)}})
    done = run(root, "nightly")
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert not RAW_CONTROL.search(done.out + text)
    part = text.partition("## What changed last")[2]
    for raw in ("|x|", "<b>", "`x`", "[a]"):
        assert raw not in part
    assert r"\|x\|" in part


def test_no_score_is_no_move() -> None:
    change = {
        "system": "x",
        "dataset": "",
        "kind": "changed",
        "before": None,
        "after": 1.0,
        "causes": ["model"],
    }
    assert format_text(changes_report([change])).splitlines()[0] == (
        "the language model's server: results 1, scores moved 0"
    )
