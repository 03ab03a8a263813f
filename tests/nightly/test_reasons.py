"""Why a score or a rank changed: every reason by its cause, and by undoing it."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import stored
from cli import ROOT, Record, number, question, read_json, run, write

WEEKS: Final = ("250908", "250915", "250922")
SKILLS: Final = {"a": 7, "b": 5, "c": 3}  # right answers of eight
Changes = dict[tuple[str, str], str]


def rows_of(week: str) -> list[Record]:
    rows = [question(f"{week}-{n}", prompt="Which one?\nA. x\nB. y") for n in range(7)]
    return [*rows, {**number(f"{week}-7"), "Std": 10.0, "answer": None}]


def add_week(root: Path, week: str, names: str) -> None:
    write(root, {f"dataset/{week}.json": rows_of(week)})
    for name in names:
        right = SKILLS[name] - int(week) % 3
        answers = {f"{week}-{n}": "A" if n < right else "B" for n in range(7)}
        answers[f"{week}-7"] = str(100 + 3 * ord(name) % 7)
        write(root, {f"prediction/{week}-{name}.json": answers})


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three weeks, of which c took part in the last two."""
    root = tmp_path_factory.mktemp("first")
    for week in WEEKS:
        add_week(root, week, "ab" if week == WEEKS[0] else "abc")
    assert run(root, "nightly").code == 0
    return root


def night(root: Path, *options: str) -> Changes:
    """The reasons of a night by system and dataset, in which something changed."""
    done = run(root, "nightly", "--json", *options)
    assert done.code in (0, 3)
    return {
        (each["system"], each["dataset"].removesuffix(".json")): each["reason"]
        for each in json.loads(done.out)["changes"]
    }


def edit(root: Path, place: int, week: str = "250922", **values: Any) -> None:
    """Change a question of a week."""
    path = root / f"dataset/{week}.json"
    rows = read_json(path)
    rows[place].update(values)
    write(root, {f"dataset/{week}.json": rows})


def edit_all(root: Path, **values: Any) -> None:
    for place in range(8):
        edit(root, place, **values)


def remove(root: Path, *paths: str) -> None:
    for path in paths:
        for found in root.glob(path):
            found.unlink()


def add_weeks_without(root: Path) -> None:
    for week in ("250929", "251007"):
        add_week(root, week, "ab")


def add_question(root: Path) -> None:
    write(root, {"dataset/250922.json": [*rows_of("250922"), question("more", ground_truth="C")]})


def answer(root: Path, name: str) -> None:
    write(root, {f"prediction/{name}.json": {f"{name[:6]}-{n}": "B" for n in range(8)}})


def add_run(root: Path) -> None:
    answer(root, "250922-a@2")


def correct_two(root: Path) -> None:
    edit(root, 0, ground_truth="B")
    edit(root, 1, ground_truth="B")


def correct_and_void(root: Path) -> None:
    edit(root, 0, ground_truth="B")
    edit(root, 6, void=True)


# What happens, on which dataset, what is said there, and when it is undone.
OF_A_DATASET: Final[dict[str, tuple[Callable[[Path], None], str, str, str]]] = {
    "new week": (lambda root: add_week(root, "250929", "abc"), "250929", "new", "removed"),
    "truth": (
        lambda root: edit(root, 0, ground_truth="B"),
        "250922", "1 truth corrected", "1 truth corrected",
    ),
    "two truths": (correct_two, "250922", "2 truths corrected", "2 truths corrected"),
    "Std": (lambda root: edit(root, 7, Std=1.0), "250922", "1 Std changed", "1 Std changed"),
    "void": (
        lambda root: edit(root, 6, void=True),
        "250922", "1 question void", "1 question no longer void",
    ),
    "truth and void": (
        correct_and_void,
        "250922", "1 truth corrected, 1 question void",
        "1 truth corrected, 1 question no longer void",
    ),
    "new question": (
        add_question,
        "250922", "1 new question", "1 question removed",
    ),
    "prompt": (
        lambda root: edit(root, 7, prompt="How many more?"),
        "250922", "1 question changed", "1 question changed",
    ),
    "level": (
        lambda root: edit(root, 0, level=2), "250922", "1 question changed", "1 question changed",
    ),
    "truth withdrawn": (
        lambda root: edit(root, 0, ground_truth=None),
        "250922", "1 truth withdrawn, 7 of 8 known", "1 more truth, 8 of 8 known",
    ),
    "all truths withdrawn": (
        lambda root: edit_all(root, ground_truth=None),
        "250922", "all truths withdrawn", "8 questions to score again",
    ),
    "all void": (
        lambda root: edit_all(root, void=True),
        "250922", "all questions void", "8 questions to score again",
    ),
}  # fmt: skip


def undo(root: Path, first: Path) -> None:
    for name in ("dataset", "prediction"):
        shutil.rmtree(root / name)
        shutil.copytree(first / name, root / name)


def copy(first: Path, to: Path) -> Path:
    return shutil.copytree(first, to / "root")


@pytest.mark.parametrize("name", OF_A_DATASET)
def test_what_happens_to_a_dataset(first_night: Path, tmp_path: Path, name: str) -> None:
    cause, week, said, undone = OF_A_DATASET[name]
    root = copy(first_night, tmp_path)
    cause(root)
    for reason in (said, undone):
        reasons = night(root)
        assert {key: text for key, text in reasons.items() if key[1] == week} == {
            (system, week): reason for system in "abc"
        }
        assert {text for key, text in reasons.items() if key[1] not in (week, "all datasets")} <= {
            "others moved"
        }
        overall = {text for (_, of), text in reasons.items() if of == "all datasets"}
        assert overall == ({f"{week} {reason}"} if name != "prompt" else set())  # moves nothing
        assert night(root) == {}
        undo(root, first_night)


def test_a_removed_week(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    for reason in ("removed", "new"):
        remove(root, *["*/250908*"] * (reason == "removed"))
        reasons = night(root)
        assert {reasons["a", "all datasets"], reasons["b", "all datasets"]} == {f"250908 {reason}"}
        assert reasons["a", "250908"] == reason
        assert reasons.get(("c", "all datasets"), "others moved") == "others moved"
        undo(root, first_night)


def test_a_rank_that_is_lost(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    remove(root, "prediction/250922-c.json")
    assert night(root)["c", "all datasets"] == "250922 removed; in 1 of 3 datasets: no rank"
    undo(root, first_night)
    assert night(root)["c", "all datasets"] == "250922 new; in 2 of 3 datasets: ranked"
    add_weeks_without(root)
    reasons = night(root)
    assert reasons["c", "all datasets"] == "in 2 of 5 datasets: no rank"
    assert reasons["a", "all datasets"] == "250929, 251007 new"
    undo(root, first_night)
    reasons = night(root)
    assert reasons["c", "all datasets"] == "in 2 of 3 datasets: ranked"
    assert reasons["a", "all datasets"] == "250929, 251007 removed"


def test_a_new_system_without_a_rank(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    answer(root, "250922-d")
    reasons = night(root)
    assert reasons["d", "all datasets"] == "250922 new; in 1 of 3 datasets: no rank"
    assert {of for system, of in reasons if system != "d"} <= {"all datasets", "250922"}
    remove(root, "prediction/250922-d.json")
    assert night(root)["d", "all datasets"] == "250922 removed"


def test_no_table_any_more(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    remove(root, "*/250908*", "*/250915*")
    assert night(root)["a", "all datasets"] == "250908, 250915 removed; no table over all datasets"
    undo(root, first_night)
    assert night(root)["a", "all datasets"] == "250908, 250915 new; in 3 of 3 datasets: ranked"


@pytest.mark.parametrize("cause", [lambda root: answer(root, "250922-a"), add_run])
def test_new_answers(first_night: Path, tmp_path: Path, cause: Callable[[Path], None]) -> None:
    root = copy(first_night, tmp_path)
    cause(root)
    for _ in range(2):
        reasons = night(root)
        assert reasons.pop(("a", "250922")) == "new answers"
        assert reasons.pop(("a", "all datasets")) == "250922 new answers"
        assert {*reasons.values()} <= {"others moved"}
        undo(root, first_night)


def test_other_rules(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    for options in (["--rules", "official-2026"], []):
        reasons = night(root, *options)
        assert {text for (_, of), text in reasons.items() if of != "all datasets"} == {
            "other rules or version"
        }
        assert reasons["a", "all datasets"] == "3 datasets other rules or version"
        assert reasons["c", "all datasets"] == "250915, 250922 other rules or version"
    rules = "other rules or version"
    for options, said in ((["--min-datasets", "3"], "no rank"), ([], "ranked")):
        reasons = night(root, *options)
        assert reasons["c", "all datasets"] == f"{rules}, in 2 of 3 datasets: {said}"
        assert reasons["a", "all datasets"] == rules
        assert {of for _, of in reasons} == {"all datasets"}


def test_a_baseline(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    write(root, {"prediction/systems.json": {"b": {"baseline": True}}})
    reasons = night(root)
    assert reasons["b", "250922"] == "a baseline: no rank"
    assert reasons["b", "all datasets"] == "3 datasets a baseline: no rank"
    assert {text for key, text in reasons.items() if key[0] != "b"} == {"others moved"}
    add_week(root, "250929", "abc")
    assert night(root)["b", "all datasets"] == "250929 new"
    remove(root, "prediction/systems.json", "*/250929*")
    reasons = night(root)
    assert reasons["b", "250922"] == "no baseline any more: ranked"
    assert reasons["b", "all datasets"].startswith(
        "3 datasets no baseline any more: ranked; 250929 removed"
    )


def test_a_baseline_that_is_kept_has_lost_nothing(first_night: Path, tmp_path: Path) -> None:
    """It had no rank before, and stands among the others as it did."""
    root = copy(first_night, tmp_path)
    write(root, {"prediction/systems.json": {"b": {"baseline": True}}})
    night(root)
    write(root, {"prediction/250922-b.json": "["})
    assert night(root) == {}


def test_a_file_of_a_set_is_not_that_of_each_forecaster(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": (ROOT / "dataset/prophet-sample.json").read_bytes()})
    forecasts = read_json(ROOT / "prediction/prophet-sample.json")
    for name in ("early", "late"):
        rows = [row for row in forecasts if (row["username"] < "m") == (name == "early")]
        write(tmp_path, {f"prediction/p-{name}.json": rows})
    assert night(tmp_path) == {}
    write(tmp_path, {"prediction/p-late.json": [*rows[:40], *rows[80:]]})
    assert {*night(tmp_path).values()} == {"new answers in its set"}
    (tmp_path / "prediction/p-late.json").rename(tmp_path / "prediction/p-later.json")
    assert {*night(tmp_path).values()} == {"renamed in its set"}


def test_answers_that_are_taken_back_and_weeks_that_are_withdrawn(
    first_night: Path, tmp_path: Path
) -> None:
    root = copy(first_night, tmp_path)
    drop = ["--late-files", "drop"]
    night(root, *drop)
    remove(root, "prediction/250922-a.json")
    assert night(root, *drop)["a", "250922"] == "8 closed answers removed"
    answers = read_json(root / "prediction/250922-b.json")
    del answers["250922-0"]
    write(root, {"prediction/250922-b.json": answers})
    assert night(root, *drop)["b", "250922"] == "1 closed answer removed"
    write(root, {"prediction/systems.json": {"a": {"withdrawn": ["250922"]}}})
    reasons = night(root, *drop)
    assert reasons["a", "250922"] == "withdrawn by the owner of the board"
    assert reasons["a", "all datasets"] == "250922 withdrawn by the owner of the board"


def test_other_late_answers(first_night: Path, tmp_path: Path) -> None:
    """A question closes before a changed answer was first seen, and no more."""
    root = copy(first_night, tmp_path)
    drop = ["--late-files", "drop"]
    add_question(root)
    edit(root, 8, ground_truth=None)
    night(root, *drop)
    answers = read_json(root / "prediction/250922-a.json")
    write(root, {"prediction/250922-a.json": {**answers, "more": "A"}})
    assert night(root, *drop)["a", "250922"] == "new answers"
    edit(root, 8, ground_truth="A")
    assert night(root, *drop)["a", "250922"] == "1 more truth, 9 of 9 known"
    for closes in ("2020-01-01", None):
        edit(root, 8, closes=closes)
        reasons = night(root, *drop)
        assert reasons["a", "250922"] == "other late answers"
        assert reasons["a", "all datasets"] == "250922 other late answers"
        assert {text for key, text in reasons.items() if key[0] != "a"} <= {"others moved"}


def test_a_row_without_rank(first_night: Path, tmp_path: Path) -> None:
    """A broken file whose dataset has other truths; and both as they were, or only the file."""
    root = copy(first_night, tmp_path)
    whole = (root / "prediction/250922-a.json").read_bytes()
    edit(root, 0, ground_truth="B")
    write(root, {"prediction/250922-a.json": whole[:20]})
    reasons = night(root)
    assert (reasons["a", "250922"], reasons["b", "250922"]) == (
        "not scored: no rank", "1 truth corrected",
    )  # fmt: skip
    assert reasons["a", "all datasets"] == "250922 not scored: no rank"
    again = shutil.copytree(root, tmp_path / "again")
    undo(root, first_night)
    assert night(root)["a", "all datasets"] == "250922 scored again"
    write(again, {"prediction/250922-a.json": whole})
    assert night(again)["a", "all datasets"] == "250922 1 truth corrected"


def test_nothing_moves_for_a_broken_file(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    write(root, {"prediction/250922-a.json": ""})
    assert night(root) == {}
    undo(root, first_night)
    assert night(root) == {}


def page(root: Path) -> str:
    text = (root / "evaluation/leaderboard.html").read_text("utf-8")
    return html.unescape(re.sub("<[^>]*>", "", text.partition('class="lead"')[2]))


def test_names_of_strangers_are_text_on_the_first_screen(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/<b>d.json": rows_of("q"), "prediction/<b>d-a.json": {"q-0": "A"}})
    run(tmp_path, "nightly")
    write(tmp_path, {"prediction/<b>d-<i>.json": {"q-1": "A"}})
    run(tmp_path, "nightly", SOURCE_DATE_EPOCH="1800000000")
    raw = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "Last night (2027-01-15): &lt;b&gt;d new (&lt;i&gt;)" in raw


def test_the_first_screen_says_what_changed(first_night: Path, tmp_path: Path) -> None:
    root = copy(first_night, tmp_path)
    assert "Last night" not in page(root)
    add_week(root, "250929", "abc")
    answer(root, "250915-c")
    write(root, {"prediction/250922-a.json": {}})
    run(root, "nightly", SOURCE_DATE_EPOCH="1800000000")
    line = next(line for line in page(root).splitlines() if "Last night" in line)
    said = "Last night (2027-01-15): 250929 new (3 systems) and 250915 new answers (c)"
    assert said in line


# --- Fourteen nights ---


def scores(root: Path) -> dict[tuple[str, str], tuple[int | None, float]]:
    """Rank and score by dataset and system."""
    board = stored(root)
    return {
        (table.get("dataset", "all"), row["name"]): (row["rank"], row["overall_score"])
        for table in [*board["pooled"], *board["tables"]]
        for row in table["rows"]
    }


def test_fourteen_nights(tmp_path: Path) -> None:
    """What N1 and N3 of a review of 3.0.0 name, one after the other in one folder."""
    path, dataset = "prediction/250922-a.json", "dataset/250922.json"
    for week in WEEKS:
        add_week(tmp_path, week, "ab" if week == WEEKS[0] else "abc")
    assert night(tmp_path) == {}
    before, whole = scores(tmp_path), (tmp_path / path).read_bytes()
    questions = (tmp_path / dataset).read_bytes()
    for name, content in (
        (path, whole[:50]),  # an upload that is still running
        (path, b""),
        (path, None),  # that cannot be read
        (dataset, questions[:50]),
        ("dataset/250922.truths.csv", b"id,truthx\n250922-0,A\n"),
    ):
        (tmp_path / name).unlink(missing_ok=True)
        if content is None:
            (tmp_path / name).symlink_to(name)
        else:
            (tmp_path / name).write_bytes(content)
        done = run(tmp_path, "nightly", "--json")
        assert (done.code, json.loads(done.out)["changes"], scores(tmp_path)) == (3, [], before)
        (tmp_path / name).unlink()
        write(tmp_path, {path: whole, dataset: questions})
    assert (night(tmp_path), scores(tmp_path)) == ({}, before)

    add_week(tmp_path, "250929", "abc")
    assert night(tmp_path)["b", "all datasets"] == "250929 new"
    remove(tmp_path, "*/250908*")
    assert night(tmp_path)["b", "all datasets"] == "250908 removed"
    assert before.keys() - scores(tmp_path).keys() == {("250908.json", f"250908-{n}") for n in "ab"}
    remove(tmp_path, "prediction/2509??-c.json")
    add_week(tmp_path, "250929", "c")
    assert night(tmp_path)["c", "all datasets"] == (
        "250915, 250922 removed; in 1 of 3 datasets: no rank"
    )
    edit(tmp_path, 6, void=True)
    done = run(tmp_path, "nightly")
    assert "250922.json: 1 question void: 250922-6" in done.out
    assert "250922 1 question void" in done.out
    edit(tmp_path, 0, ground_truth="B")
    edit(tmp_path, 7, Std=2.0)
    assert night(tmp_path)["a", "250922"] == "1 truth corrected, 1 Std changed"
    history = tmp_path / "evaluation/history.jsonl"
    lines = history.read_bytes()
    history.write_bytes(lines + b'{"night": 11, "sys')
    assert "1 damaged line set aside" in run(tmp_path, "nightly").err
    done = run(tmp_path, "nightly", "--json")
    assert (done.code, done.err, done.json["changes"]) == (0, "", [])
    assert history.read_bytes() == lines
