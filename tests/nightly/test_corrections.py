"""Which questions of a dataset a night found corrected: in the history, the report and the page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from boards_folders import evaluate, folder_of, stored
from cli import EVIL, RAW_CONTROL, ROOT, Record, question, run, write
from forecasteval.nightly import corrections
from forecasteval.nightly import run as nightly_run

TITLE = ["Question", "Dataset", "Changed", "Truth before", "Truth now"]


def correct(root: Path, truths: Sequence[str], **changes: Any) -> None:
    """The dataset d with these truths."""
    write(
        root,
        {
            "dataset/d.json": [
                question(f"q{n}", ground_truth=t, **changes) for n, t in enumerate(truths)
            ]
        },
    )


def corrected(root: Path) -> list[tuple[str, Record]]:
    """The systems of the history whose lines name corrected questions."""
    text = (root / "evaluation/history.jsonl").read_text("utf-8")
    lines = map(json.loads, text.splitlines())
    return [(line["system"], line["corrected"]) for line in lines if "corrected" in line]


def named(root: Path) -> list[tuple[str, ...]]:
    keys = ("id", "what", "before", "after")
    return [
        tuple(entry[key] for key in keys)
        for _, part in corrected(root)
        for entry in part["questions"]
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """After the first night."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    assert run(tmp_path, "nightly").code == 0
    return tmp_path


@pytest.mark.parametrize("options", [[], ["--force"]])
def test_a_corrected_truth_is_named_everywhere(tmp_path: Path, options: list[str]) -> None:
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    correct(tmp_path, "AABA")
    done = run(tmp_path, "nightly", *options)
    truth = {"id": "q2", "what": "truth", "before": "A", "after": "B"}
    assert corrected(tmp_path) == [
        ("a", {"count": 1, "questions": [truth]})
    ]  # once, not for every system
    lines = [line.split() for line in done.out.splitlines()]
    at = lines.index(" ".join(TITLE).split())
    assert lines[at + 1] == ["q2", "d.json", "truth", "A", "B"]
    markdown = (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")
    assert "| q2 | d.json | truth | A | B |" in markdown
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    changed = page.partition(">What changed<")[2].partition("</section>")[0]
    assert "Corrected truths in d" in changed
    assert re.search('>q2</a> <span class="s">A</span> → B</li>', changed)
    assert not (tmp_path / "evaluation/.replaced").exists()


def test_in_json(root: Path) -> None:
    correct(root, "BAAA")
    first, second = run(root, "nightly", "--json").json["changes"]
    assert [q["id"] for q in first["corrected"]["questions"]] == ["q0"]
    assert "corrected" not in second


def test_other_changes_of_questions(root: Path) -> None:
    """A question that is new, one that has gone, one with another prompt; truths stand first."""
    records = [question(f"q{n}", ground_truth="A") for n in (0, 2, 3, 5)]
    records[1]["ground_truth"] = "C"
    records[2]["prompt"] += " Today?"
    write(root, {"dataset/d.json": records})
    run(root, "nightly")
    assert named(root) == [
        ("q2", "truth", "A", "C"),
        ("q3", "question", "A", "A"),
        ("q5", "new", "", "A"),
        ("q1", "gone", "A", ""),
    ]


def test_other_changes_name_no_question(root: Path) -> None:
    records = json.loads((root / "dataset/d.json").read_bytes())
    write(root, {"dataset/d.json": json.dumps(records, indent=1)})
    folder_of(root, b="AAAA")
    write(root, {"dataset/d.json": json.dumps(records, indent=1)})
    run(root, "nightly")
    run(root, "nightly", "--rules", "official-2026")
    assert corrected(root) == []


def test_results_without_truths_name_the_questions(tmp_path: Path) -> None:
    name = "multiple_choice_all_varying"
    for path in (f"dataset/{name}.json", f"prediction/{name}-random.json"):
        write(tmp_path, {path: (ROOT / path).read_bytes()})
    run(tmp_path, "nightly")
    records = json.loads((tmp_path / f"dataset/{name}.json").read_bytes())
    meta = records[0]["meta"]
    meta["effective_scores"][0], meta["option_relative_scores"][0] = 9.0, 0.1
    write(tmp_path, {f"dataset/{name}.json": records})
    run(tmp_path, "nightly")
    assert named(tmp_path) == [(records[0]["id"], "question", "", "")]


@pytest.mark.parametrize("stage", ["rank_results", "append_night"])
def test_an_interrupted_night_loses_nothing(tmp_path: Path, stage: str) -> None:
    """All results are stored, the history is not; in the next night nothing is left to score."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    run(tmp_path, "nightly")
    correct(tmp_path, "ABAA")

    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nightly_run, stage, interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluate(tmp_path)
    assert stored(tmp_path, "d-a")["items"][1]["truth"] == "B"
    assert corrected(tmp_path) == []
    correct(tmp_path, "ABAC")  # once more: both corrections are named
    run(tmp_path, "nightly")
    assert named(tmp_path) == [("q1", "truth", "A", "B"), ("q3", "truth", "A", "C")]
    assert not (tmp_path / "evaluation/.replaced").exists()


def test_the_first_of_many_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/d-a.json": {"q0": "A"}})
    correct(tmp_path, "A" * 30)
    run(tmp_path, "nightly")
    correct(tmp_path, "B" * 30)
    done = run(tmp_path, "nightly")
    ((_, part),) = corrected(tmp_path)
    assert (part["count"], len(part["questions"])) == (30, 20)
    assert "and 10 more of d.json" in done.out


def test_hostile_ids_and_truths_are_text(tmp_path: Path) -> None:
    """Cut, too: a question of which the whole differs behind the cut has another truth all the
    same.
    """
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
    ((_, part),) = corrected(tmp_path)
    assert part["count"] == len(texts)
    assert max(len(text) for q in part["questions"] for text in q.values()) <= 60
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    markdown = (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")
    assert not RAW_CONTROL.search(
        done.out + markdown + page + (tmp_path / "evaluation/history.jsonl").read_text()
    )
    assert "<script>alert" not in page
    assert "<script>" not in markdown


def test_large_results_are_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "_LARGEST", 100)
    correct(root, "AABA")
    done = run(root, "nightly")
    assert "other questions or truths: results 2, scores moved 2" in done.out
    assert corrected(root) == []


def test_a_kept_result_of_other_questions_is_not_used(root: Path) -> None:
    """Such as one that was left behind, or is damaged."""
    for text in (
        "{",
        (root / "evaluation/d-a.json").read_text("utf-8").replace("questions_sha256", "x"),
    ):
        write(root, {"evaluation/.replaced/d-a.json": text, "evaluation/.replaced/d-b.json": text})
        before = json.loads((root / "dataset/d.json").read_bytes())
        before[0]["ground_truth"] = "B" if before[0]["ground_truth"] == "A" else "A"
        write(root, {"dataset/d.json": before})
        assert run(root, "nightly").code == 0
        assert corrected(root) == []
        assert not (root / "evaluation/.replaced").exists()


def test_events_are_not_named(tmp_path: Path) -> None:
    """Results of Prophet Arena hold neither items nor outcomes: nothing is kept of them, nothing
    read.
    """
    name = "prophet-sample"
    for path in [
        f"dataset/{name}.json",
        *(f"prediction/{p.name}" for p in (ROOT / "prediction").glob(f"{name}*")),
    ]:
        write(tmp_path, {path: (ROOT / path).read_bytes()})
    run(tmp_path, "nightly")
    write(
        tmp_path,
        {f"dataset/{name}.json": json.loads((tmp_path / f"dataset/{name}.json").read_bytes())[:-1]},
    )
    done = run(tmp_path, "nightly")
    assert "other questions or truths (200 → 199 of 199)" in done.out
    assert corrected(tmp_path) == []


def test_a_corrected_question_leads_to_its_row_or_to_the_page_of_a_run(tmp_path: Path) -> None:
    def weeks(truth: str) -> None:
        for week in ("w1", "w2"):
            records = [question(f"{week}q{place}", ground_truth=truth) for place in range(4)]
            write(tmp_path, {f"dataset/{week}.json": records})
            for name in ("a", "b"):
                write(
                    tmp_path,
                    {
                        f"prediction/{week}-{name}.json": {
                            f"{week}q{place}": "A" for place in range(4)
                        }
                    },
                )

    def links() -> set[str]:
        page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
        changed = page[page.index("What changed on") :].partition("</section>")[0]
        return set(re.findall('href="([^"]*q0)"', changed))

    weeks("A")
    assert run(tmp_path, "nightly").code == 0
    weeks("B")
    assert run(tmp_path, "nightly").code == 0
    assert links() == {"#q1-w2q0"}
    assert run(tmp_path, "nightly", "--html").code == 0
    assert links() == {"#q1-w2q0", "./w1-a.html#q-w1q0"}
    assert 'id="q-w1q0"' in (tmp_path / "evaluation/w1-a.html").read_text("utf-8")
