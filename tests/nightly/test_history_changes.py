"""What a night changed: who came and went, which scores moved, and why."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from boards_folders import evaluate, folder_of, snapshot
from cli import EVIL, RAW_CONTROL, ROOT, Record, number, question, run, write
from eval import FutureXEvaluator
from forecasteval.benchmark import Files
from forecasteval.nightly import run as nightly_run


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


def short(changes: list[Record]) -> list[tuple[str, str, float | None, float | None]]:
    return [(c["system"], c["reason"], *c["score"]) for c in changes]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """After the first night, of which there is nothing to tell."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    assert night(tmp_path) == []
    return tmp_path


def test_unchanged(root: Path) -> None:
    before = snapshot(root)
    assert night(root) == []
    assert "What changed" not in run(root, "nightly").out
    page = (root / "evaluation/leaderboard.html").read_text("utf-8")
    assert "Nothing has changed since the first night." in page
    assert snapshot(root) == before


def test_new_and_gone(root: Path) -> None:
    folder_of(root, c="AAAB")
    assert short(night(root)) == [
        ("b", "others moved", 0.5, 0.5), ("c", "new", None, 0.75),
    ]  # fmt: skip
    raw = (root / "prediction/d-b.json").read_bytes()
    (root / "prediction/d-b.json").unlink()
    assert short(night(root)) == [("b", "removed", 0.5, None)]
    write(root, {"prediction/d-b.json": raw})
    assert short(night(root)) == [("b", "new", None, 0.5)]


def test_a_system_that_left_its_file_is_no_longer_ranked(tmp_path: Path) -> None:
    """Its forecaster is not in the file any more, which is there."""
    for name in ("dataset", "prediction"):
        write(tmp_path, {f"{name}/p.json": (ROOT / name / "prophet-sample.json").read_bytes()})
    run(tmp_path, "nightly")
    forecasts = json.loads((ROOT / "prediction/prophet-sample.json").read_bytes())
    left = [row for row in forecasts if row["username"] != "quillon-1"]
    write(tmp_path, {"prediction/p.json": left})
    changes = {change["system"]: change["reason"] for change in night(tmp_path)}
    assert changes["quillon-1"] == "no longer in its file"
    assert {*changes.values()} == {"no longer in its file", "new answers"}
    write(tmp_path, {"prediction/p.json": forecasts})
    assert {"quillon-1": "new answers, in its file again"}.items() <= {
        change["system"]: change["reason"] for change in night(tmp_path)
    }.items()


def correct(root: Path, truths: Sequence[str], **changes: Any) -> None:
    """The dataset d with these truths."""
    rows = [question(f"q{n}", ground_truth=t, **changes) for n, t in enumerate(truths)]
    write(root, {"dataset/d.json": rows})


def test_a_corrected_truth(root: Path) -> None:
    correct(root, "AAAB")
    done = run(root, "nightly")
    lines = [re.sub(" +", " ", line) for line in done.out.splitlines()]
    at = lines.index("What changed last")
    assert lines[at : at + 6] == [
        "What changed last",
        "d.json: 1 truth corrected: q3 (A → B)",
        "",
        "System Dataset Rank Score Why",
        "b d.json 2 → 1 0.5000 → 0.7500 1 truth corrected",
        "a d.json 1 1.0000 → 0.7500 1 truth corrected",
    ]
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    assert "| b | d.json | 2 → 1 | 0.5000 → 0.7500 | 1 truth corrected |" in text
    page = html.unescape((root / "evaluation/leaderboard.html").read_text("utf-8"))
    changed = re.sub(
        "<[^>]*>", " ", page[page.index("What changed on") :].partition("</section>")[0]
    )
    assert "d.json: 1 truth corrected: q3 (A → B)" in changed
    assert "b d.json 2 → 1 0.5000 → 0.7500 1 truth corrected" in " ".join(changed.split())


@pytest.mark.parametrize("option", ["", "--force"])
def test_ten_corrected_truths_are_named(tmp_path: Path, option: str) -> None:
    write(tmp_path, {"prediction/d-a.json": {"q0": "A"}})
    correct(tmp_path, "A" * 12)
    run(tmp_path, "nightly")
    correct(tmp_path, "B" * 12)
    done = run(tmp_path, "nightly", *filter(None, [option]))
    assert "d.json: 12 truths corrected: q0 (A → B), q1 (A → B)" in done.out
    assert "q9 (A → B) and 2 more" in done.out


@pytest.mark.parametrize(("key", "shown"), [({}, "(no id)"), ({"id": "q"}, "q")])
def test_questions_that_share_an_id_or_have_none(tmp_path: Path, key: Record, shown: str) -> None:
    """Each is corrected by itself, in a file that has its questions."""

    def answer(*truths: str) -> None:
        rows = [
            {
                **key,
                "level": 1,
                "prompt": f"Which? {n}\nA. x\nB. y",
                "ground_truth": truth,
                "prediction": "A",
            }
            for n, truth in enumerate(truths)
        ]
        write(tmp_path, {"prediction/own.json": rows})

    answer("A", "A", "A")
    run(tmp_path, "nightly")
    answer("B", "A", "B")
    (change,) = night(tmp_path)
    assert change["reason"] == "new answers, 2 truths corrected"
    assert change["corrections"] == f"2 truths corrected: {shown} (A → B), {shown} (A → B)"


def test_questions_that_change_otherwise(root: Path) -> None:
    """Another prompt is no corrected truth, nor is a question that goes."""
    correct(root, "AAAA", prompt="Which one?\nA. x\nB. y")
    assert [change["reason"] for change in night(root)] == ["4 questions changed"] * 2
    correct(root, "AAA", prompt="Which one?\nA. x\nB. y")
    (change, _) = night(root)
    assert (change["reason"], change["corrections"]) == (
        "1 question removed", "1 question removed: q3",
    )  # fmt: skip


def test_an_interrupted_night_names_no_truths(tmp_path: Path) -> None:
    """All results are stored, the history is not: which truths were others is not known then, and
    nothing else is said.
    """
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    correct(tmp_path, "ABAA")

    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nightly_run, "append_night", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluate(tmp_path)
    assert [change["reason"] for change in night(tmp_path)] == ["other questions or truths"] * 2


def test_hostile_ids_and_truths_are_text(tmp_path: Path) -> None:
    """Results hold the first characters of a truth: what differs behind them is not named."""
    texts = [EVIL, "<script>alert(1)</script>|`x`", "=1+1", "x" * 99_999]

    def records(end: str) -> list[Record]:
        return [
            {
                **question(f"{n}{text}"[:500]),
                "level": 3,
                "prompt": "Who?",
                "ground_truth": text + end,
            }
            for n, text in enumerate(texts)
        ]

    write(tmp_path, {"dataset/d.json": records(""), "prediction/d-a.json": {f"0{EVIL}": "A"}})
    assert run(tmp_path, "nightly").code == 0
    write(tmp_path, {"dataset/d.json": records(" y")})
    done = run(tmp_path, "nightly")
    history = (tmp_path / "evaluation/history.jsonl").read_text("utf-8")
    (said,) = (json.loads(line)["corrections"] for line in history.splitlines()[1:])
    assert said.startswith("3 truths corrected: ")
    assert said.endswith("; 1 question changed: 3" + "x" * 58 + "…")
    assert len(said) < 4 * 200
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    markdown = (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")
    assert not RAW_CONTROL.search(done.out + markdown + page + history)
    assert "<script>alert" not in page
    assert "<script>" not in markdown


def test_a_dataset_that_says_the_same_in_other_bytes_is_no_change(root: Path) -> None:
    records = json.loads((root / "dataset/d.json").read_bytes())
    write(root, {"dataset/d.json": json.dumps(records, indent=1)})
    assert night(root) == []


def test_new_answers(root: Path) -> None:
    folder_of(root, b="AAAA")
    assert short(night(root)) == [("b", "new answers", 0.5, 1.0)]
    folder_of(root, **{"b@2": "AAAA"})
    assert [change["reason"] for change in night(root)] == ["new answers"]


def test_rules_and_settings(root: Path) -> None:
    for options in (["--rules", "official-2026"], [], ["--min-questions", "5"]):
        changes = night(root, *options)
        assert [change["reason"] for change in changes] == ["other rules or version"] * 2


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
        ("x", "other rules or version", 0.0, pytest.approx(0.75))
    ]


def test_all_reasons_are_named(root: Path) -> None:
    folder_of(root, b="AAAA")
    correct(root, "BBBB")
    assert short(night(root)) == [
        ("a", "4 truths corrected", 1.0, 0.0),
        ("b", "new answers, 4 truths corrected", 0.5, 0.0),
    ]  # fmt: skip


def predict(root: Path, **scores: float) -> None:
    """Answers with these scores to the one question of d."""
    dataset = number("q0", ground_truth="1000", Std=100, answer=...)
    texts = {name: f"{1000 + 100 * math.sqrt(1 - score):.9f}" for name, score in scores.items()}
    write(root, {"dataset/d.json": [dataset]})
    write(root, {f"prediction/d-{name}.json": {"q0": text} for name, text in texts.items()})


def told(root: Path) -> tuple[list[str], list[str]]:
    """The systems in the table of what changed, and the lines below it."""
    out = run(root, "nightly").out.partition("What changed last\n")[2]
    rows = out.partition("Why\n")[2].partition("\n\n")[0].splitlines()
    below = [line for line in rows if line.startswith("and ") or " other" in line]
    return [line.split()[0] for line in rows if line not in below], below


def test_best_ranks_come_first_and_many_are_cut(tmp_path: Path) -> None:
    predict(tmp_path, gone=0.001, up=0.9, down=0.95, **{f"s{n:02}": n / 100 for n in range(1, 36)})
    run(tmp_path, "nightly")
    (tmp_path / "prediction/d-gone.json").unlink()
    predict(tmp_path, new=0.001, up=0.96, **{f"s{n:02}": n / 90 for n in range(1, 36)})
    systems, below = told(tmp_path)
    assert systems == ["up", "gone", "new", *(f"s{n:02}" for n in range(35, 8, -1))]
    assert below == ["and 8 more", "d: 1 other moved by 1 rank"]
    predict(tmp_path, **{f"s{n:02}": n / 80 for n in range(6, 36)})  # as many as the table holds
    systems, below = told(tmp_path)
    assert (len(systems), below) == (30, [])


def test_who_comes_or_goes_stands_before_those_that_it_moves(tmp_path: Path) -> None:
    """A newcomer that enters first, and a leader that leaves, over all datasets and single ones."""
    weeks = [f"w{n}" for n in range(7)]
    for week in weeks:
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(8)]})

    def enter(system: str, right: int) -> None:
        for week in weeks:
            answers = {f"{week}{n}": "A" if n < right else "B" for n in range(8)}
            write(tmp_path, {f"prediction/{week}-{system}.json": answers})

    for right, system in enumerate("abcdef", 1):
        enter(system, right)
    run(tmp_path, "nightly")
    enter("best", 8)
    systems, below = told(tmp_path)
    assert systems == ["best"] * 8
    moved = [f"{week}: 6 others moved by 1 rank" for week in ["all datasets", *reversed(weeks)]]
    assert sorted(below) == sorted(moved)
    for path in (tmp_path / "prediction").glob("*-best.json"):
        path.unlink()
    systems, below = told(tmp_path)
    assert systems == ["best"] * 8
    assert sorted(below) == sorted(moved)


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
