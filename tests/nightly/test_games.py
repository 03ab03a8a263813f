"""Games of contestants under `--late-files drop`: nobody gains a rank once truths are known."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import crps_wing
from boards_folders import DAY, night, stored
from cli import question, read_json, run, write
from forecasteval import cli, custom

WEEKS: Final = [f"w{n:02}" for n in range(12)]
SIZE: Final = 6  # questions of a week
# How many answers of a week are right, by system; s is the one that plays.
RIGHT: Final = {"a": [5] * 12, "b": [4] * 12, "c": [3] * 12, "s": [1, 6] * 6, "t": [2] * 12}


def answers(week: str, right: int) -> dict[str, str]:
    return {f"{week}{n}": "A" if n < right else "B" for n in range(SIZE)}


def make_season(root: Path) -> Path:
    """Open weeks with all answers on the first night, and their truths on the second."""
    for week in WEEKS:
        rows = [question(f"{week}{n}", ground_truth=None) for n in range(SIZE)]
        write(root, {f"dataset/{week}.json": rows})
    for system, counts in RIGHT.items():
        for week, right in zip(WEEKS, counts, strict=True):
            write(root, {f"prediction/{week}-{system}.json": answers(week, right)})
    for n in range(20):
        write(root, {f"prediction/w00-runs@{n}.json": answers("w00", n % 7)})
    for n in range(10):
        write(root, {f"prediction/w00-puppet{n}.json": answers("w00", n % 7)})
    assert night(root, 1).code == 0
    resolve(root)
    assert night(root, 2).code == 0
    return root


def resolve(root: Path) -> None:
    for week in WEEKS:
        rows = "".join(f"{week}{n},A\n" for n in range(SIZE))
        write(root, {f"dataset/{week}.truths.csv": f"id,ground_truth\n{rows}"})


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_season(tmp_path_factory.mktemp("games"))


def honest_above(root: Path, system: str) -> list[int]:
    """How many of the systems that do not play are above it, in all tables that have it."""
    board = stored(root)
    counts = []
    for table in [*board.get("pooled", []), *board["tables"]]:
        scores = {
            row["name"].rpartition("-")[2].partition("@")[0]: row["overall_score"]
            for row in table["rows"]
        }
        if system in scores:
            honest = [scores[name] for name in "abct" if name in scores]
            counts.append(sum(score > scores[system] + 1e-9 for score in honest))
    return counts


def ranks(root: Path, system: str) -> tuple[list[float], list[int]]:
    """Scores and ranks of a system on all tables."""
    board = stored(root)
    rows = [
        row
        for table in [*board.get("pooled", []), *board["tables"]]
        for row in table["rows"]
        if row["name"] == system or row["name"].partition("-")[2].partition("@")[0] == system
    ]
    scores = [row.get("overall_score", row.get("score")) for row in rows]
    return scores, [row["rank"] for row in rows if row["rank"] is not None]


def delete_weeks(root: Path) -> None:
    for week in WEEKS[::2]:
        (root / f"prediction/{week}-s.json").unlink()


def delete_runs(root: Path) -> None:
    for n in [*range(6), *range(7, 20)]:
        (root / f"prediction/w00-runs@{n}.json").unlink()


def rename_puppet(root: Path) -> None:
    (root / "prediction/w00-s.json").unlink()
    (root / "prediction/w00-puppet6.json").rename(root / "prediction/w00-s.json")


def copy_puppet_as_run(root: Path) -> None:
    (root / "prediction/w00-puppet6.json").rename(root / "prediction/w00-s@2.json")


def rename_best_run_twice(root: Path) -> None:
    text = (root / "prediction/w00-runs@6.json").read_bytes()
    (root / "prediction/w00-runs@6.json").unlink()
    for name in ("x", "y", "z"):
        (root / f"prediction/w00-runs@{name}.json").write_bytes(text)


def add_large_file(root: Path) -> None:
    right = {f"w00{n}": "A" for n in range(SIZE)}
    rows = [
        {"id": name, "answer": answer, "reasoning": "x" * 2_000_000}
        for name, answer in right.items()
    ]
    write(root, {"prediction/w00-s.json": rows})


def append_to_record(root: Path) -> None:
    with (root / "evaluation/seen.jsonl").open("a") as file:
        file.write("x")
    write(root, {"prediction/w00-s.json": answers("w00", SIZE)})


def change_with_old_times(root: Path) -> None:
    path = root / "prediction/w00-s.json"
    status = path.stat()
    size = status.st_size
    write(root, {"prediction/w00-s.json": answers("w00", SIZE)})
    assert path.stat().st_size == size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def take_back_wrong_answers(root: Path) -> None:
    write(root, {"prediction/w00-s.json": {"w000": "A"}})


GAMES: Final[dict[str, tuple[str, Callable[[Path], None]]]] = {
    "six of twelve weeks deleted": ("s", delete_weeks),
    "nineteen of twenty runs deleted": ("runs", delete_runs),
    "the best of ten puppets renamed": ("s", rename_puppet),
    "a puppet as a second run": ("s", copy_puppet_as_run),
    "the best run under three names": ("runs", rename_best_run_twice),
    "a file above 10 MB": ("s", add_large_file),
    "one byte appended to the record": ("s", append_to_record),
    "time and size set back": ("s", change_with_old_times),
    "wrong answers taken back": ("s", take_back_wrong_answers),
}


@pytest.mark.parametrize(("system", "play"), GAMES.values(), ids=GAMES)
def test_nobody_gains_a_rank(
    season: Path, tmp_path: Path, system: str, play: Callable[[Path], None]
) -> None:
    root = copy_folder(season, tmp_path)
    before, before_scores = honest_above(root, system), ranks(root, system)[0]
    assert before
    play(root)
    for day in (3, 4):
        assert night(root, day).code in (0, 3)
        after, scores = honest_above(root, system), ranks(root, system)[0]
        assert all(new >= old for old, new in zip(before, after, strict=True))
        assert max(scores[0] - before_scores[0], scores[-1] - before_scores[-1]) <= 1e-9


def copy_folder(root: Path, target: Path) -> Path:
    import shutil

    return Path(shutil.copytree(root, target / "root"))


def test_a_truncated_file_that_is_put_back(season: Path, tmp_path: Path) -> None:
    root = copy_folder(season, tmp_path)
    path = root / "prediction/w00-s.json"
    text, before = path.read_bytes(), ranks(root, "s")
    for day, content in enumerate((b"", text[:30], b"{}", text), 3):
        path.write_bytes(content)
        night(root, day)
    assert ranks(root, "s") == before


def test_weeks_that_are_kept_away_until_their_scores_are_known(tmp_path: Path) -> None:
    root = tmp_path
    for system in "ab":
        write(root, {f"prediction/w00-{system}.json": answers("w00", 3)})
    rows = [question(f"w00{n}", ground_truth=None) for n in range(SIZE)]
    write(root, {"dataset/w00.json": rows, "prediction/w00-s.json": answers("w00", SIZE)})
    night(root, 1)
    (root / "prediction/w00-s.json").unlink()
    night(root, 2)
    write(root, {"dataset/w00.truths.csv": "id,ground_truth\nw000,A\nw001,A\n"})
    night(root, 3)
    assert ranks(root, "s") == ([], [])  # it was withdrawn while it was open
    write(root, {"prediction/w00-s.json": answers("w00", SIZE)})
    night(root, 4)
    assert ranks(root, "s") == ([0.0], [3])


@pytest.mark.parametrize("content", [b"", b"{}", b"not JSON", b'[{"id": "q"}]'])
def test_a_bad_run_that_is_broken_before_more_truths_come(tmp_path: Path, content: bytes) -> None:
    """Its row stays as it was until then, and is a missing run afterwards."""
    rows = [question(f"w00{n}", ground_truth=None) for n in range(SIZE)]
    write(tmp_path, {"dataset/w00.json": rows})
    for system, right in {"a": 4, "s@1": 6, "s@2": 1}.items():
        write(tmp_path, {f"prediction/w00-{system}.json": answers("w00", right)})
    night(tmp_path, 1)
    for day, known in enumerate((3, 3, 6), 2):
        truths = "".join(f"w00{n},A\n" for n in range(known))
        write(tmp_path, {"dataset/w00.truths.csv": f"id,ground_truth\n{truths}"})
        assert night(tmp_path, day).code in (0, 3)
        (table,) = stored(tmp_path)["tables"]
        scores = {row["name"]: round(row["overall_score"], 4) for row in table["rows"]}
        expected = {2: 0.6667, 3: 0.6667, 4: 0.5}[day]
        assert scores["w00-s"] == expected
        (tmp_path / "prediction/w00-s@2.json").write_bytes(content)


def test_the_record_deleted(season: Path, tmp_path: Path) -> None:
    root = copy_folder(season, tmp_path)
    (root / "evaluation/seen.jsonl").unlink()
    before = ranks(root, "s")
    write(root, {"prediction/w00-s.json": answers("w00", SIZE)})
    assert night(root, 3).code == 2
    assert ranks(root, "s") == before


# --- What stays possible ---


def test_an_alias_brings_the_times_back(season: Path, tmp_path: Path) -> None:
    root = copy_folder(season, tmp_path)
    before, _ = ranks(root, "s")
    for week in WEEKS:
        (root / f"prediction/{week}-s.json").rename(root / f"prediction/{week}-new.json")
    done = night(root, 3)
    said = 'w00-new has the answers of w00-s, which is gone: if they are one system, list "s" '
    assert said + 'under "aliases" of "new" in systems.json' in done.err
    assert ranks(root, "new")[0][0] == 0
    assert ranks(root, "s")[0][0] == 0
    write(root, {"prediction/systems.json": {"new": {"aliases": ["s"]}}})
    night(root, 4)
    assert ranks(root, "new")[0] == pytest.approx(before)
    assert ranks(root, "s") == ([], [])


def test_withdrawn_by_the_owner_of_the_board(season: Path, tmp_path: Path) -> None:
    root = copy_folder(season, tmp_path)
    entries = {"s": {"withdrawn": ["w00", "w02"]}, "runs": {"withdrawn": ["w00@0", "w00@1"]}}
    write(root, {"prediction/systems.json": entries})
    (root / "prediction/w02-s.json").unlink()
    done = night(root, 3)
    assert (done.code, "Withdrawn" in done.out) == (0, True)
    pooled = {row["name"]: row for row in stored(root)["pooled"][0]["rows"]}
    assert (pooled["s"]["withdrawn"], pooled["s"]["datasets"]) == (2, 10)
    rows = {row["name"]: row for table in stored(root)["tables"] for row in table["rows"]}
    assert rows["w00-runs"]["withdrawn"] == 2
    assert len(rows["w00-runs"]["runs"]) == 18
    assert "w00-s" not in rows
    assert stored(root)["withdrawn"][0] == {"system": "s", "name": "w00", "is_after_truth": True}
    said = "s: w00 (after its first truth), w02 (after its first truth)"
    assert f"withdrawn by the owner of the board: {said}\n" in done.out
    assert said in (root / "evaluation/leaderboard.html").read_text(encoding="utf-8")
    write(root, {"prediction/systems.json": {"s": {"withdrawn": ["w99", "w00@7"]}}})
    done = night(root, 4)
    assert done.code == 3
    assert "'withdrawn' must name datasets or runs, got 'w99'" in done.err
    assert "got 'w00@7'" in done.err
    assert "w99 (" not in done.out


def test_keep_counts_and_moves_nothing(season: Path, tmp_path: Path) -> None:
    root = copy_folder(season, tmp_path)
    run(root, "nightly", SOURCE_DATE_EPOCH=str(3 * DAY))
    before = {row["name"]: row["overall_score"] for row in stored(root)["pooled"][0]["rows"]}
    (root / "prediction/w00-s.json").unlink()
    write(root, {"prediction/w01-s.json": {**answers("w01", 6), "w010": "B"}})
    done = run(root, "nightly", SOURCE_DATE_EPOCH=str(4 * DAY))
    assert (done.code, done.err, "Removed" in done.out) == (0, "", True)
    rows = {row["name"]: row for row in stored(root)["pooled"][0]["rows"]}
    counts = rows["s"]["removed"], rows["s"]["late"], rows["s"]["missing"], rows["s"]["datasets"]
    assert counts == (6, 1, 0, 11)
    assert "removed after the questions closed: s: w00 (6 answers)" in done.out
    page = (root / "evaluation/leaderboard.html").read_text(encoding="utf-8")
    assert "Removed after the questions closed" in page
    (root / "prediction/w00-runs@3.json").unlink()
    run(root, "nightly", SOURCE_DATE_EPOCH=str(5 * DAY))
    w00 = next(table for table in stored(root)["tables"] if table["dataset"] == "w00.json")
    assert {row["name"]: row.get("removed", 0) for row in w00["rows"]}["w00-runs"] == 6
    assert rows["a"]["overall_score"] == pytest.approx(before["a"], abs=0.01)


# --- Forecasts ---

CLOSES: Final = "1970-01-03T12:00:00Z"


def make_arena(root: Path) -> Path:
    events = [{"problem_id": f"e{n}", "options": ["x", "y"], "end_date": CLOSES} for n in range(12)]
    write(root, {"dataset/arena.json": events})
    for place, name in enumerate("abcs"):
        forecasts(root, name, [0.9 - 0.1 * place] * 11 + [0.2])
    assert night(root, 1).code == 0
    assert night(root, 2).code == 0
    known = [{**event, "correct_option_idx": 0} for event in events]
    write(root, {"dataset/arena.json": known})
    assert night(root, 3).code == 0
    return root


def forecasts(root: Path, name: str, chances: list[float | None], **more: Any) -> None:
    rows = [
        {
            "problem_id": f"e{n}",
            "username": name,
            "timestamp": "1970-01-01T00:00:00Z",
            "prediction": [p, round(1 - p, 4)],
            **more,
        }
        for n, p in enumerate(chances)
        if p is not None
    ]
    rows = [{key: value for key, value in row.items() if value is not ...} for row in rows]
    write(root, {f"prediction/arena-{name}.json": rows})


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_arena(tmp_path_factory.mktemp("arena"))


SURE: Final[list[float | None]] = [0.99] * 12
PROPHETS: Final[dict[str, tuple[list[float | None], dict[str, Any]]]] = {
    "rewritten, own time before": (SURE, {}),
    "rewritten, another time before": (SURE, {"timestamp": "1970-01-01T01:00:00Z"}),
    "rewritten, time missing": (SURE, {"timestamp": None}),
    "rewritten, absent column": (SURE, {"timestamp": ...}),
    "the worst changed": ([0.6] * 11 + [0.9], {}),
    "the worst removed": ([0.6] * 11 + [None], {}),
}


@pytest.mark.parametrize(("chances", "more"), PROPHETS.values(), ids=PROPHETS)
def test_no_forecaster_gains_a_rank(
    arena: Path, tmp_path: Path, chances: list[float | None], more: dict[str, Any]
) -> None:
    root = copy_folder(arena, tmp_path)
    assert ranks(root, "s") == ([pytest.approx(0.2, abs=0.2)], [4])
    forecasts(root, "s", chances, **more)
    reasons = []
    for day in (4, 5):
        done = night(root, day, "drop", "--json")
        assert done.code in (0, 3)
        changes = json.loads(done.out)["changes"]
        reasons += [change["reason"] for change in changes if change["system"] == "s"]
    (table,) = stored(root)["tables"]
    rows = {row["name"]: row for row in table["rows"]}
    assert ("s" in rows) != ("all its forecasts came late" in reasons)
    assert [rows[name]["rank"] for name in "abc"] == [1, 2, 3]
    assert "s" not in rows or rows["s"]["rank"] is None
    out = night(root, 5).out
    assert "s" not in rows or "changed or removed, and therefore no rank: 1 (s)." in out
    forecasts(root, "s", [0.6] * 11 + [0.2])
    night(root, 6)
    assert ranks(root, "s")[1] == [4]


def test_a_forecast_after_the_outcome_is_late_by_its_night(arena: Path, tmp_path: Path) -> None:
    """Whatever time it says of itself; the others of its forecaster count."""
    root = copy_folder(arena, tmp_path)
    forecasts(root, "new", SURE)
    assert night(root, 4).code == 0
    (table,) = stored(root)["tables"]
    assert [row["name"] for row in table["rows"]] == [*"abcs"]
    warnings = stored(root, "arena")["warnings"]
    assert "forecasters of whom no forecast is scored: 1 (new)" in warnings


def test_closed_forecasts_that_the_owner_withdraws(arena: Path, tmp_path: Path) -> None:
    root = copy_folder(arena, tmp_path)
    forecasts(root, "s", [0.6] * 11 + [None])
    night(root, 4)
    night(root, 5)
    (table,) = stored(root)["tables"]
    row = next(row for row in table["rows"] if row["name"] == "s")
    assert (row["rank"], row["removed"]) == (None, 1)
    write(root, {"prediction/systems.json": {"s": {"withdrawn": ["arena/e11"]}}})
    night(root, 6)
    assert ranks(root, "s")[1] != []
    write(root, {"prediction/systems.json": {"s": {"withdrawn": ["arena"]}}})
    changes = night(root, 7, "drop", "--json").json["changes"]
    assert [change["reason"] for change in changes if change["system"] == "s"] == [
        "withdrawn by the owner of the board"
    ]
    assert ranks(root, "s") == ([], [])


def test_forecasts_that_came_after_their_own_closing_time(arena: Path, tmp_path: Path) -> None:
    """They are in the file, and no nightly run has to say that they are late."""
    root = copy_folder(arena, tmp_path)
    forecasts(root, "s", [0.5] * 12, timestamp="1970-01-04T00:00:00Z")
    keep = run(root, "nightly", "--json", SOURCE_DATE_EPOCH=str(4 * DAY))
    reasons = {change["system"]: change["reason"] for change in keep.json["changes"]}
    assert reasons["s"] == "none of its forecasts counts"


def test_a_column_of_the_settings_is_what_is_hashed(tmp_path: Path) -> None:
    """Not the column that would be read without it, beside which the scored one could change."""
    event = {"options": ["Yes", "No"], "end_date": CLOSES}
    events = [{"problem_id": f"e{n}", **event} for n in range(6)]
    write(tmp_path, {"dataset/arena.json": events})
    (tmp_path / "forecasteval.toml").write_text('column = "probability=calibrated"\n')

    def forecast(name: str, chance: float) -> str:
        rows = [f"e{n},{name},1970-01-01T00:00:00Z,0.5,{chance}\n" for n in range(6)]
        text = "question,model,submitted_at,probability,calibrated\n" + "".join(rows)
        path = tmp_path / f"prediction/arena-{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return f"prediction/{path.name}"

    forecast("a", 0.7)
    file = forecast("s", 0.4)
    assert night(tmp_path, 1).code == 0
    assert night(tmp_path, 2).code == 0
    write(tmp_path, {"dataset/arena.json": [{**each, "correct_option_idx": 0} for each in events]})
    assert night(tmp_path, 3).code == 0
    assert ranks(tmp_path, "s")[1] == [2]

    base = copy_folder(tmp_path, tmp_path / "base")
    forecast("s", 0.99)
    write(tmp_path, {"prediction/systems.json": {"s": {"owner": "sam"}}})
    write(base, {"prediction/systems.json": {"s": {"owner": "sam"}}})
    words = ("check", "--owner", "sam", "--base", str(base), str(tmp_path / file))
    refused = run(tmp_path, *words, SOURCE_DATE_EPOCH=str(4 * DAY))
    assert refused.code == 4
    assert "has new or changed answers to questions that are closed" in refused.err
    assert night(tmp_path, 4).code in (0, 3)
    assert ranks(tmp_path, "s")[1] == []
    assert stored(tmp_path, "arena")["forecasters"].keys() == {"a"}


# --- A benchmark of one's own ---


@pytest.mark.parametrize(("worst", "missing"), [(None, -1), (-0.75, -0.75)])
def test_a_benchmark_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worst: float | None, missing: float
) -> None:
    monkeypatch.setattr(crps_wing.CrpsEvaluator, "worst", worst)
    own = crps_wing.BENCHMARK._replace(
        list_deadlines=partial(custom.list_deadlines, truth_key="value"),
        hash_answers=custom.hash_answers,
    )
    monkeypatch.setattr(cli, "BENCHMARKS", (own, *cli.BENCHMARKS))
    names = ["q0", "q1", "q2"]
    rows = [{"id": name, "value": 5, "scale": 20, "closes": "1970-01-03"} for name in names]
    write(tmp_path, {"dataset/w.json": rows})
    for system in "sa":
        write(tmp_path, {f"prediction/w-{system}.json": {name: [15.0] for name in names}})
    night(tmp_path, 1)
    write(tmp_path, {"prediction/w-s.json": {"q0": [5.0], "q1": [15.0]}})
    assert "Late" in night(tmp_path, 4).out
    _, other = sorted(stored(tmp_path)["tables"][0]["rows"], key=lambda row: row["name"])
    assert (other["overall_score"], other["late"], other["removed"]) == (
        pytest.approx((2 * missing - 0.5) / 3),
        1,
        1,
    )
    (tmp_path / "prediction/w-s.json").unlink()
    night(tmp_path, 5)
    rows = {row["name"]: row["overall_score"] for row in stored(tmp_path)["tables"][0]["rows"]}
    assert rows == {"w-a": pytest.approx(-0.5), "w-s": missing}


def test_lines_are_only_added(season: Path) -> None:
    lines = (season / "evaluation/seen.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert {record["night"] for record in records} == {0, 1}
    assert read_json(season / "evaluation/leaderboard.json")["record"] == "seen.jsonl"
