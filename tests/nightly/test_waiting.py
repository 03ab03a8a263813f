"""A week whose truths come one by one: what nights say of it, and what they keep."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import contents, counts, failures, stored
from cli import ROOT, assert_refused, question, read_json, run, write
from forecasteval.boards.changes import OVERALL, format_reason

NAMES: Final = [f"q{n}" for n in range(8)]
PROMPTS: Final = [f"Which {what}?\nA. one\nB. two" for what in ("first", "second")]
ANSWERS: Final = {"a": "AAAAAAAA", "b": "AAAABBBB"}


def week(root: Path, truths: str, name: str = "250922", **files: str) -> Path:
    """A dataset with a truth per character, `.` for one that is not known; and two predictions."""
    rows = [
        question(key, ground_truth=None if truth == "." else truth)
        for key, truth in zip(NAMES, truths, strict=True)
    ]
    predictions = {
        f"prediction/{name}-{system}.json": dict(zip(NAMES, letters, strict=True))
        for system, letters in (files or ANSWERS).items()
    }
    return write(root, {f"dataset/{name}.json": rows, **predictions})


def test_no_truth_yet_is_no_failure(tmp_path: Path) -> None:
    done = run(week(tmp_path, "........"), "nightly")
    assert (done.code, done.err) == (0, "")  # cron mails what comes there
    assert "250922.json: no truth yet, 2 files wait" in done.out.splitlines()
    assert counts(done) == (0, 0, 0)
    board = stored(tmp_path)
    assert board["waiting"] == {"250922.json": ["250922-a.json", "250922-b.json"]}
    for page in ("leaderboard.md", "leaderboard.html"):
        text = (tmp_path / "evaluation" / page).read_text("utf-8")
        assert "no truth yet, 2 files wait" in text
    before = contents(tmp_path)
    assert run(tmp_path, "nightly").out == done.out
    assert contents(tmp_path) == before


def test_beside_other_weeks(tmp_path: Path) -> None:
    week(week(tmp_path, "AAAAAAAA", "250915"), "........", a="AAAAAAAA")
    done = run(tmp_path, "nightly")
    assert (done.code, done.err, counts(done)) == (0, "", (2, 0, 0))
    assert "250922.json: no truth yet, 1 file waits" in done.out.splitlines()


def test_truths_that_arrive_are_scored(tmp_path: Path) -> None:
    run(week(tmp_path, "........"), "nightly")
    truths = tmp_path / "dataset/250922.truths.csv"
    truths.write_text("id,ground_truth\nq0,A\nq4,A\n", "utf-8")
    done = run(tmp_path, "nightly")
    assert (done.code, counts(done)) == (0, (2, 0, 0))
    assert "no truth yet" not in done.out
    assert counts(run(tmp_path, "nightly")) == (0, 2, 0)
    truths.write_text("id,ground_truth\nq0,A\nq4,B\n", "utf-8")
    assert counts(run(tmp_path, "nightly")) == (2, 0, 0)
    truths.unlink()
    assert "2 files wait" in run(tmp_path, "nightly").out


def test_events_without_an_outcome_wait(tmp_path: Path) -> None:
    """Some of them: the page shows how many, too."""
    forecasts = (ROOT / "prediction/prophet-sample.json").read_bytes()
    events = read_json(ROOT / "dataset/prophet-sample.json")
    for event in events[::2]:
        event["correct_answer"] = None
    files = {"dataset/prophet-sample.json": events, "prediction/prophet-sample.json": forecasts}
    done = run(write(tmp_path, files), "nightly")
    told = f"{len(events) // 2} of {len(events)} resolved"
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert (done.code, done.err, told in done.out, told in page) == (0, "", True, True)


def test_truths_beside_a_dataset_of_another_benchmark(tmp_path: Path) -> None:
    for name in ("dataset", "prediction"):
        path = f"{name}/prophet-sample.json"
        write(tmp_path, {path: (ROOT / path).read_bytes()})
    write(tmp_path, {"dataset/prophet-sample.truths.csv": "id,ground_truth\nx,1\n"})
    (line,) = failures(run(tmp_path, "nightly"), 2)
    assert "expected no truths beside this dataset" in line


# --- Truths that come, are corrected, and go ---


def changed(root: Path) -> list[tuple[str, str]]:
    """The system and the reason of each change of tonight, as the report has them."""
    done = run(root, "nightly", "--json")
    assert done.code == 0
    return [(change["system"], format_reason(change)) for change in done.json["changes"]]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("AAAA....", "AAAABB..", "2 more truths, 6 of 8 known"),
        ("AAAA....", "BAAABB..", "1 truth corrected, 2 more truths, 6 of 8 known"),
        ("AAAABBBB", "BAAABBBB", "1 truth corrected"),
        ("AAAABBBB", "AAAABB..", "2 truths withdrawn, 6 of 8 known"),
        ("AAAA....", "AAA.B...", "1 truth withdrawn, 1 more truth"),
    ],
)
def test_more_truths_are_no_corrected_truths(
    tmp_path: Path, before: str, after: str, reason: str
) -> None:
    run(week(tmp_path, before), "nightly")
    assert changed(week(tmp_path, after)) == [("a", reason), ("b", reason)]


def test_a_truth_that_goes_is_named_one_that_comes_is_not(tmp_path: Path) -> None:
    run(week(tmp_path, "AAAA...."), "nightly")
    done = run(week(tmp_path, "BAA.B..."), "nightly")
    said = "250922.json: 1 truth corrected: q0 (A → B); 1 truth withdrawn: q3 (A → –)"
    assert said in done.out.splitlines()


def test_a_result_that_is_too_large_to_compare(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("forecasteval.nightly.history._MAX_BYTES", 100)
    run(week(tmp_path, "AAAA...."), "nightly")
    reason = "other questions or truths, 6 of 8 known"
    assert changed(week(tmp_path, "AAAABB..")) == [("a", reason), ("b", reason)]


def test_all_truths_go_and_come_back(tmp_path: Path) -> None:
    run(week(tmp_path, "AAAA...."), "nightly")
    done = run(week(tmp_path, "........"), "nightly")
    assert done.out.count("all truths withdrawn") == 2
    assert done.code == 0
    done = run(week(tmp_path, "AAAA...."), "nightly")
    assert done.out.count("4 questions to score again") == 2


def test_truths_after_a_night_without_a_result(tmp_path: Path) -> None:
    """All files of a dataset failed in the last night, or waited: the stored results still say
    what is corrected.
    """
    run(week(tmp_path, "AAAA...."), "nightly")
    beside = tmp_path / "dataset/250922.truths.csv"
    beside.write_text("id,truthx\nq0,A\n")  # a mistake
    assert run(tmp_path, "nightly").code == 3
    beside.unlink()
    reason = "1 truth corrected, 2 more truths, 6 of 8 known"
    assert changed(week(tmp_path, "BAAABB..")) == [("a", reason), ("b", reason)]


@pytest.mark.parametrize(
    ("first", "then", "reason"),
    [
        ("A", "AB", "1 new question"),
        ("AB", "A", "1 question removed"),
        ("A.", "AB", "1 more truth, 2 of 2 known"),
        ("AB", "A.", "1 truth withdrawn, 1 of 2 known"),
    ],
)
def test_questions_with_one_id(tmp_path: Path, first: str, then: str, reason: str) -> None:
    """A truth that comes to an id that has one corrects none."""
    for truths in (first, then):
        rows = [
            question("q0", ground_truth=None if truth == "." else truth, prompt=PROMPTS[n])
            for n, truth in enumerate(truths)
        ]
        answers = [{"id": "q0", "prompt": prompt, "answer": "A"} for prompt in PROMPTS]
        write(tmp_path, {"dataset/d.json": rows, "prediction/d-a.json": answers})
        changes = run(tmp_path, "nightly", "--json").json["changes"]
    assert list(map(format_reason, changes)) == [reason]


def test_boards_say_how_many_questions_are_resolved(tmp_path: Path) -> None:
    run(week(week(tmp_path, "AAAABB..", "250922"), "AAAAAAAA", "250915"), "nightly")
    for page, sentences in (
        (
            "leaderboard.md",
            ("FutureX, 250922.json, 6 of 8 resolved", "FutureX, all 2 datasets, 14 questions"),
        ),
        ("leaderboard.html", ("250922: 6 of 8 resolved", "2 weeks · 14 questions")),
    ):
        text = (tmp_path / "evaluation" / page).read_text("utf-8").replace("\\", "")
        assert all(sentence in text for sentence in sentences)
        assert "counted by their resolved questions: 250922.json (6 of 8 resolved)" in text
    (pooled,) = stored(tmp_path)["pooled"]
    assert [(each["n"], each.get("pending")) for each in pooled["datasets"]] == [(8, None), (6, 2)]


# --- Systems with other names ---


def rename(root: Path, aliases: dict[str, list[str]]) -> None:
    systems = {name: {"aliases": others} for name, others in aliases.items()}
    write(root, {"prediction/systems.json": systems})


def test_an_alias_goes_on_with_the_history_of_its_system(tmp_path: Path) -> None:
    """Nothing is new or gone, and nothing need be written; nor if the alias is taken back."""
    run(week(week(tmp_path, "AAAAAAAA", "250922"), "AAAABBBB", "250915"), "nightly")
    before = (tmp_path / "evaluation/history.jsonl").read_bytes()
    rename(tmp_path, {"new": ["a"]})
    done = run(tmp_path, "nightly")
    assert (tmp_path / "evaluation/history.jsonl").read_bytes() == before
    assert "What changed last" not in done.out
    reason = "250922 1 truth corrected"
    assert changed(week(tmp_path, "BAAAAAAA", "250922"))[-1] == ("new", reason)


def test_a_system_that_is_renamed_has_no_new_answers(tmp_path: Path) -> None:
    run(week(tmp_path, "AAAAAAAA", "250922"), "nightly")
    (tmp_path / "prediction/250922-a.json").rename(tmp_path / "prediction/250922-new.json")
    rename(tmp_path, {"new": ["a"]})
    assert changed(tmp_path) == [("new", "renamed")]
    (tmp_path / "prediction/250922-new.json").rename(tmp_path / "prediction/250922-a.json")
    assert dict(changed(week(tmp_path, "BAAAAAAA", "250922", b="AAAAAAAA"))) == {
        "new": "renamed, 1 truth corrected", "b": "new answers, 1 truth corrected",
    }  # fmt: skip


def test_another_file_name_is_another_system(tmp_path: Path) -> None:
    """Whatever is in the file."""
    run(week(tmp_path, "AAAAAAAA", a="AAAAAAAA"), "nightly")
    (tmp_path / "prediction/250922-a.json").rename(tmp_path / "prediction/250922-c.json")
    assert changed(tmp_path) == [("a", "removed"), ("c", "new")]


# --- Over all weeks ---


def test_a_system_that_is_in_no_table_over_all_weeks_has_not_gone(tmp_path: Path) -> None:
    run(week(week(tmp_path, "AAAAAAAA", "250922"), "AAAABBBB", "250915"), "nightly")
    for name in "ab":
        (tmp_path / f"prediction/250922-{name}.json").unlink()
    changes = run(tmp_path, "nightly", "--json").json["changes"]
    assert {(change["dataset"], change["reason"]) for change in changes} == {
        ("250922.json", "removed"), (OVERALL, "250922 removed; no table over all datasets"),
    }  # fmt: skip
    assert run(tmp_path, "nightly", "--json").json["changes"] == []


def test_cells_of_weeks_lead_to_pages_only_where_there_are_some(tmp_path: Path) -> None:
    week(week(tmp_path, "AAAAAABA", "250915"), "AAAABBBB", "250922")
    for options in ((), ("--html",)):
        run(tmp_path, "nightly", *options)
        page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
        assert "Every system in every week" in page
        assert ("a cell leads to the page of the run" in page) == bool(options)


def test_each_nights_scores_over_all_weeks_are_in_the_history(tmp_path: Path) -> None:
    run(week(week(tmp_path, "AAAAAABA", "250915"), "AAAA....", "250922"), "nightly")
    done = run(week(tmp_path, "AAAABBBB", "250922"), "nightly")
    shown = done.out.splitlines()
    at = shown.index("What changed last")
    first = [line for line in shown[at + 1 :] if line[:2] in ("a ", "b ")][:2]
    assert [line.split()[:6] for line in first] == [
        ["a", "all", "datasets", "1", "→", "2"], ["b", "all", "datasets", "2", "→", "1"],
    ]  # fmt: skip
    lines = (tmp_path / "evaluation/history.jsonl").read_text("utf-8").splitlines()
    overall = [line for line in map(json.loads, lines) if line["dataset"] == OVERALL]
    assert [(line["night"], line["system"], line["rank"]) for line in overall] == [
        (1, "a", 1), (1, "b", 2), (2, "a", 2), (2, "b", 1),
    ]  # fmt: skip
    (pooled,) = stored(tmp_path)["pooled"]
    assert {line["system"]: line["score"] for line in overall[2:]} == {
        row["name"]: row["overall_score"] for row in pooled["rows"]
    }
    assert run(tmp_path, "nightly", "--json").json["changes"] == []


# --- What is gone ---


def names(root: Path) -> set[str]:
    folder = root / "evaluation"
    return {path.name for path in folder.iterdir() if path.name.startswith("2509")}


def test_what_a_night_wrote_for_a_prediction_that_is_gone_goes_too(tmp_path: Path) -> None:
    week(tmp_path, "AAAAAAAA")
    run(tmp_path, "nightly", "--html")
    assert names(tmp_path) == {f"250922-{s}.{end}" for s in "ab" for end in ("json", "html")}
    (tmp_path / "prediction/250922-a.json").unlink()
    run(tmp_path, "nightly", "--html")
    assert names(tmp_path) == {"250922-b.json", "250922-b.html"}


def test_every_other_file_stays(tmp_path: Path) -> None:
    week(tmp_path, "AAAAAAAA")
    run(tmp_path, "nightly")
    run(tmp_path, "-f", "250922-a", "--missing", "skip", "--save", "--html")  # in its place
    saved = (tmp_path / "evaluation/250922-a.json").read_bytes()
    write(tmp_path, {"evaluation/mine.json": "{}", "evaluation/250922-c.json": "{}"})
    (tmp_path / "prediction/250922-a.json").unlink()
    run(tmp_path, "nightly")
    assert names(tmp_path) == {
        "250922-a.json", "250922-a.html", "250922-b.json", "250922-c.json",
    }  # fmt: skip
    assert (tmp_path / "evaluation/250922-a.json").read_bytes() == saved


def test_a_prediction_whose_dataset_is_gone_is_not_gone(tmp_path: Path) -> None:
    """Nor are the files of a set, whose result has the name of their dataset."""
    week(tmp_path, "AAAAAAAA")
    for path in (ROOT / "prediction").glob("prophet-sample*"):
        write(tmp_path, {f"prediction/{path.name}": path.read_bytes()})
    sample = (ROOT / "dataset/prophet-sample.json").read_bytes()
    write(tmp_path, {"dataset/prophet-sample.json": sample})
    run(tmp_path, "nightly")
    before = set(contents(tmp_path))
    for path in (tmp_path / "dataset").iterdir():
        path.unlink()
    run(tmp_path, "nightly")
    assert set(contents(tmp_path)) == before


def test_small_levels_left_out_do_not_wait(tmp_path: Path) -> None:
    """In the table over all weeks; `7 of 8 resolved` would count levels that are not in it."""
    for name in ("250915", "250922"):
        week(tmp_path, "AAAAAAAA", name)
        rows = [question(key, level=1 + (n == 7)) for n, key in enumerate(NAMES)]
        write(tmp_path, {f"dataset/{name}.json": rows})
    write(tmp_path, {"dataset/250922.json": [*rows, question("w", level=2, ground_truth=None)]})
    assert "Partial, and counted" in run(tmp_path, "nightly").out
    assert "Partial, and counted" not in run(tmp_path, "nightly", "--min-questions", "5").out


def test_a_comparison_is_on_the_resolved_questions(tmp_path: Path) -> None:
    done = run(week(tmp_path, "AAAABB.."), "compare", "250922-a", "250922-b")
    lines = done.out.splitlines()
    at = lines.index("Comparison on 6 questions, 250922.json")
    assert lines[at + 1] == "Pending, without a truth yet: 2 more"


# --- Void questions ---


def without(root: Path, *void: str) -> Path:
    """The questions of these names are void."""
    path = root / "dataset/250922.json"
    rows = [{**row, "void": row["id"] in void} for row in read_json(path)]
    return write(root, {"dataset/250922.json": rows})


def test_void_questions_are_counted_beside_pending_ones(tmp_path: Path) -> None:
    done = run(without(week(tmp_path, "AAAAA..."), "q0", "q5"), "nightly")
    assert "4 of 6 resolved, 2 void left out" in done.out
    (table,) = stored(tmp_path)["tables"]
    assert (table["pending"], table["void"]) == (2, 2)
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "4 of 6 resolved, 2 void left out" in page


def test_the_csv_has_what_is_pending_and_void(tmp_path: Path) -> None:
    run(without(week(tmp_path, "AAAAA..."), "q0", "q5"), "nightly")
    with (tmp_path / "evaluation/leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["n"], row["pending"], row["void"]) for row in csv.DictReader(file)]
    assert rows == [("4", "2", "2")] * 2


def test_a_dataset_that_is_wholly_void_is_no_failure(tmp_path: Path) -> None:
    root = without(week(tmp_path, "AAAAAAAA"), *NAMES)
    done = run(root, "nightly")
    assert (done.code, done.err) == (0, "")
    assert "250922.json: no question to score, 2 files wait" in done.out.splitlines()
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "no question to score" in page
    before = contents(tmp_path)
    assert run(root, "nightly").out == done.out
    assert contents(tmp_path) == before
    assert_refused(run(root, "-f", "250922-a"), "no question to score: 8 questions, all void")
