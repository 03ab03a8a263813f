"""`compare` over all weeks: systems by their names, with the scores of the leaderboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from boards_folders import stored
from cli import assert_refused, q, question, run, write
from eval import FutureXEvaluator
from forecasteval.boards.api import compare_over_weeks
from forecasteval.common.errors import InputError
from html_page import check_page
from season import make_season


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("season")
    make_season(root, weeks=4, questions=20, systems=4, runs=2, seed=3)
    return root


def test_with_all_systems_it_says_what_the_leaderboard_says(season: Path) -> None:
    assert run(season, "nightly").code == 0
    (table,) = stored(season)["pooled"]
    rows = {row["name"]: row for row in table["rows"]}
    leader = table["rows"][0]["name"]
    found = run(
        season, "compare", leader, *[name for name in rows if name != leader], "--json"
    ).json
    for system in found["systems"]:
        assert system == {key: rows[system["name"]][key] for key in system}
    for pair in found["pairs"]:  # of all systems: the same tests, adjusted alike
        first, second = rows[pair["a"]]["rank_interval"], rows[pair["b"]]["rank_interval"]
        assert not (first[1] < second[0] and pair["p_holm"] >= 0.05)
    assert found["design_effect"] == table["design_effect"]


def test_two_of_many_have_the_difference_of_the_leaderboard(season: Path) -> None:
    """The model holds the systems that are not named, too."""
    (table,) = run(season, "nightly", "--json").json["pooled"]
    leader, second = table["rows"][:2]
    names = leader["name"], second["name"]
    (pair,) = run(season, "compare", *names, "--json").json["pairs"]
    behind = leader["overall_score"] - second["overall_score"]
    assert pair["difference"] == pytest.approx(behind)
    assert pair["p"] == pytest.approx(pair["p_holm"])


def test_a_broken_file_of_another_system_is_left_out(tmp_path: Path) -> None:
    for week in ("w1", "w2"):
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(4)]})
        for name in "ab":
            answers = {f"{week}{n}": "AB"[n == ord(name) % 2] for n in range(4)}
            write(tmp_path, {f"prediction/{week}-{name}.json": answers})
    write(
        tmp_path, {"prediction/w1-c.json": b"[{", "prediction/systems.json": {"a": {"name": "Ay"}}}
    )
    done = run(tmp_path, "compare", "a", "b", "--html")
    assert (done.code, done.err.count("left out: ")) == (0, 1)
    assert done.out.startswith("Ay and b cannot be told apart")
    page = (tmp_path / "evaluation/compare.html").read_text("utf-8")
    check_page(page)
    assert "Ay against b" in page


def test_names_of_files_stand_for_their_systems(season: Path) -> None:
    plain = run(season, "compare", "harbor-9b", "quillon-2")
    assert "\nComparison over all weeks  FutureX, datasets 4, questions 80\n" in plain.out
    assert run(season, "compare", "250901-harbor-9b", "quillon-2", "--all-weeks").out == plain.out
    assert run(season, "compare", "250901-harbor-9b", "250901-quillon-2").out.count(
        "\nComparison on 20 questions"
    )


def test_the_gate(season: Path) -> None:
    rows = [row["name"] for row in run(season, "nightly", "--json").json["pooled"][0]["rows"]]
    best, worst = rows[0], rows[-1]
    assert run(season, "compare", worst, best, "--fail-if-worse").code == 0
    done = run(season, "compare", best, worst, "--fail-if-worse")
    assert (done.code, done.err.startswith(f"eval.py: worse than {best} (--fail-if-worse): ")) == (
        6,
        True,
    )


def test_shared_questions_are_counted(tmp_path: Path) -> None:
    for week, systems in (
        ("w1", {"a": "AAAB", "b": "ABBA"}),
        ("w2", {"a": "AAAA"}),
        ("w3", {"a": "AAAA", "b": "AAAB"}),
    ):
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(4)]})
        for name, text in systems.items():
            answers = {f"{week}{n}": letter for n, letter in enumerate(text)}
            write(tmp_path, {f"prediction/{week}-{name}.json": answers})
    (pair,) = run(tmp_path, "compare", "a", "b", "--json").json["pairs"]
    assert pair["levels"]["1"] == {"wins": 3, "ties": 4, "losses": 1}
    assert [row["n"] for row in run(tmp_path, "compare", "a", "b", "--json").json["systems"]] == [
        12,
        8,
    ]
    sentence = run(tmp_path, "compare", "a", "b").out.splitlines()[0]
    assert "on 12 questions of 3 datasets (both took part in 8)" in sentence


def test_systems_that_share_no_dataset_are_compared_through_others(tmp_path: Path) -> None:
    """Of the table over all weeks they have a difference, but no question that both answered."""
    for week, systems in (("w1", {"a": "AABA", "c": "ABAB"}), ("w2", {"b": "ABBB", "c": "AABA"})):
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(4)]})
        for name, text in systems.items():
            answers = {f"{week}{n}": letter for n, letter in enumerate(text)}
            write(tmp_path, {f"prediction/{week}-{name}.json": answers})
    done = run(tmp_path, "compare", "a", "b", "--html")
    assert (done.code, "both took part in 0" in done.out) == (0, True)
    (pair,) = run(tmp_path, "compare", "a", "b", "--json").json["pairs"]
    assert pair["difference"] > 0.2
    assert pair["levels"]["1"] == {"wins": 0, "ties": 0, "losses": 0}
    assert pair["both_read"] is None


def test_weeks_that_are_partial_are_named(tmp_path: Path) -> None:
    rows = [question("x0"), question("x1"), question("x2", ground_truth=None)]
    write(tmp_path, {"dataset/w1.json": rows})
    for name in "ab":
        write(tmp_path, {f"prediction/w1-{name}.json": {f"x{n}": "A" for n in range(3)}})
    done = run(tmp_path, "compare", "a", "b")
    assert done.out.splitlines()[0].endswith("on 2 questions of 1 dataset.")
    assert "w1.json (2 of 3 resolved)" in done.out


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            f"dataset/{week}.json": [question(f"{week}{n}") for n in range(3)]
            for week in ("w1", "w2")
        },
    )
    for name, week in (("a", "w1"), ("b", "w1"), ("c", "w2")):
        write(
            tmp_path,
            {f"prediction/{week}-{name}.json": {f"{week}{n}": "AB"[n == 1] for n in range(3)}},
        )
    write(tmp_path, {"prediction/own.json": [q("x")]})
    assert_refused(
        run(tmp_path, "compare", "a", "c"), "a, c", "connected by shared datasets", "none"
    )
    assert_refused(
        run(tmp_path, "compare", "a", "w1-a", "--all-weeks"), "expected two systems or more, got 1"
    )
    assert_refused(
        run(tmp_path, "compare", "a", "x", "--all-weeks"),
        "x: expected a system",
        "known: 3 (a, b, c)",
    )
    assert_refused(run(tmp_path, "compare", "a", "own", "--all-weeks"), "own: expected a system")
    assert_refused(run(tmp_path, "compare", "a", "x"), "x: expected a system", "known: 3 (a, b, c)")
    assert_refused(run(tmp_path, "compare", "w1-a", "x"), "no such file")
    assert_refused(
        run(tmp_path, "compare", "a", "b", "--all-weeks", "--dataset", "w1"),
        "--dataset",
        "--all-weeks",
    )
    write(tmp_path, {"prediction/w1-b.json": b"[{"})
    assert_refused(run(tmp_path, "compare", "a", "b"), "w1-b.json", "not JSON")


def test_parts_are_compared_on_one_dataset(season: Path) -> None:
    """The files that the message names are of both systems."""
    done = run(season, "compare", "harbor-9b", "quillon-2", "--by", "nope")
    assert_refused(done, "--by: expected the files of one dataset, such as ")
    files = done.err.split("such as ")[1].split(",")[0].split()
    compared = run(season, "compare", *files, "--by", "level", "--json")
    assert {row["value"] for row in compared.json["by"]["level"]} == {"1", "2", "3", "4"}
    assert_refused(run(season, "compare", *files, "--by", "level", "--all-weeks"), "--by: expected")


def test_forecasters_are_no_systems_of_weeks() -> None:
    result = FutureXEvaluator().evaluate_all([q("x")])
    forecasts = {**result, "name": "week1-x", "ranking": [], "n_events": 3}
    with pytest.raises(InputError, match="ranks forecasters in one table"):
        compare_over_weeks([forecasts], ["x", "y"])


def test_nothing_to_compare() -> None:
    with pytest.raises(InputError, match="connected by shared datasets"):
        compare_over_weeks([], ["a", "b"])
