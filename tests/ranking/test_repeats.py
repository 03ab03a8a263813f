"""Runs of one system are one row, one side of a comparison, and never averaged where they do not
belong together.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boards_folders import (
    board_report,
    contents,
    counts,
    folder_of,
    format_csv,
    format_markdown,
    rows,
    score,
    stored,
    system,
)
from cli import Record, box, number, q, run, write
from drawn_seasons import cover_repeats
from forecasteval.boards import compare, rank
from forecasteval.common.errors import InputError
from forecasteval.common.statistics import (
    clustered_error,
    stratified_error,
    t_quantile,
    t_tail,
)
from forecasteval.display.tables import format_text
from forecasteval.lookup import find_runs
from forecasteval.ranking.datasets import combine_runs
from forecasteval.ranking.reading import read_system
from forecasteval.ranking.repeats import add_run_luck, measure_runs

Runs = dict[str, tuple[bool, ...]]
FIRST, SECOND, OTHER = (
    (True, True, False, False, True),
    (True, False, True, False, True),
    (True, False, False, False, False),
)


def board_of(answers: Runs) -> Any:
    return rank([{**system(name, *right), "dataset": "d.json"} for name, right in answers.items()])


def test_runs_are_one_row_with_their_mean() -> None:
    board = board_of({"d-a@1": FIRST, "d-a@2": SECOND, "d-a": OTHER, "d-b": FIRST})
    b, a = rows(board)
    assert (a["name"], a["rank"], a["n"]) == ("d-a", 2, 5)
    assert a["overall_score"] == pytest.approx((3 + 3 + 1) / 15)
    means = [3 / 3, 1 / 3, 1 / 3, 0, 2 / 3]  # by question
    half = (
        2.7764451051977987 * statistics.stdev(means) / math.sqrt(5)
    )  # t at 0.975 with 4 degrees of freedom
    assert a["overall_interval"] == pytest.approx((max(0, 7 / 15 - half), 7 / 15 + half))
    assert a["run_deviation"] == pytest.approx(statistics.stdev([0.6, 0.6, 0.2]))
    assert [(one["run"], one["score"]) for one in a["runs"]] == [("", 0.2), ("1", 0.6), ("2", 0.6)]
    assert "runs" not in b


def test_a_single_run_changes_nothing() -> None:
    named, plain = (rows(board_of({name: FIRST, "d-b": OTHER})) for name in ("d-a@1", "d-a"))
    for row in (*named, *plain):
        del row["name"], row["signature"]
    assert named == plain


def test_missing_answers_of_a_run_keep_their_place() -> None:
    full = score([q("q1"), q("q2")], "a@1")
    holes = score([q("q1"), q("q2", answer="")], "a@2")
    row = rows(rank([full, holes]))[0]
    assert (row["overall_score"], row["missing"], row["n"]) == (0.75, 1, 2)
    assert [one["missing"] for one in row["runs"]] == [0, 1]


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=9))
def test_the_error_is_the_one_clustered_by_question(scores: list[list[float]]) -> None:
    """Of all n·R scores, by the formula for any clusters."""
    results = []
    for place in range(3):
        lines = [
            number(
                f"q{n}", ground_truth="100", Std=1, answer=f"{100 + math.sqrt(1 - row[place])!r}"
            )
            for n, row in enumerate(scores)
        ]
        results.append(score(lines, f"a@{place}"))
    runs = [read_system(result) for result in results]
    level = next(level for level, columns in runs[0].questions.items() if columns.ids)
    values = [value for one in runs for value in one.questions[level].scores]
    expected = clustered_error(values, [*runs[0].questions[level].ids] * 3)
    found = stratified_error(combine_runs(runs).strata([level]))
    assert found == (pytest.approx(expected, rel=1e-6) if expected else None)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """The cheap version of tests/drawn_seasons.py; three runs as independent answers fail
    here.
    """
    clustered, independent = cover_repeats(400, 3)
    assert 0.92 < clustered < 0.98
    assert independent < 0.9


def test_a_system_is_unread_if_no_run_of_it_could_be_read() -> None:
    def note(*texts: str) -> bool:
        runs = [
            score([q(f"q{n}", answer=text) for n in range(2)], f"a@{number}")
            for number, text in enumerate(texts)
        ]
        return "no readable answer" in format_text(board_report(rank([*runs, system("b", True)])))

    assert note("I wonder", "I wonder")
    assert not note("I wonder", "A")


def test_order_of_the_runs_changes_nothing() -> None:
    results = [{**system(name, *right), "dataset": "d.json"} for name, right in
               {"d-a@1": FIRST, "d-a@2": SECOND, "d-a": OTHER, "d-b": FIRST}.items()]  # fmt: skip
    assert len({json.dumps(rank(order)) for order in itertools.permutations(results)}) == 1


def test_runs_that_differ_as_wholes_are_told() -> None:
    """0.2 of the questions change in either direction: fine. All of them in one: no wobble of
    single answers.
    """
    steady = [tuple((place + shift) % 5 > 0 for place in range(20)) for shift in (0, 1)]
    wholes = [(True,) * 18 + (False,) * 2, (False,) * 18 + (True,) * 2]
    for answers, told in ((steady, False), (wholes, True)):
        board = board_of({f"d-a@{place}": right for place, right in enumerate(answers)})
        assert rows(board)[0]["runs_differ"] is told
        assert ("differ as wholes" in format_text(board_report(board))) is told


def test_runs_on_other_questions_are_never_averaged() -> None:
    board = rank(
        [system("a@1", True, False), system("a@2", True, True, True), system("a@3", False, False)]
    )
    assert board["remarks"] == [
        "a: its runs have different questions and are not averaged: a@1, a@3; a@2"
    ]
    assert [[row["name"] for row in table["rows"]] for table in board["tables"]] in (
        [["a"], ["a@2"]],
        [["a@2"], ["a"]],
    )
    assert board["remarks"][0] in format_text(board_report(board))
    assert "are not averaged" in format_markdown({**board, "failed": []})
    assert board["remarks"][0] in "".join(map(str, board.page().body()))


def test_runs_of_other_policies_are_refused() -> None:
    lines = [number(f"n{n}", answer="101") for n in range(3)]
    results = [
        score(lines, name, relative_sigma=sigma) for name, sigma in (("a@1", None), ("a@2", 0.05))
    ]
    for judge in (lambda: rank(results), lambda: compare([results, results[0]])):
        with pytest.raises(
            InputError, match=r"^a@1, a@2: expected results of the same version and policies"
        ):
            judge()


def test_reports_have_columns_for_runs_only_where_there_are_some() -> None:
    repeated = board_of({"d-a@1": FIRST, "d-a@2": SECOND, "d-b": FIRST})
    single = board_of({"d-a@1": FIRST, "d-b": FIRST})
    for board, shown in ((repeated, True), (single, False)):
        for text in (format_text(board_report(board)), format_markdown({**board, "failed": []})):
            assert ("Run SD" in text) is shown
        assert ("run_deviation" in format_csv(board)) is shown
    line = next(line for line in format_csv(repeated).splitlines() if ",d-a," in line)
    assert ",2,0.0," in line


# --- Comparison ---


def test_compare_pairs_the_means() -> None:
    a = [system("d-a@1", *FIRST), system("d-a@2", *SECOND)]
    found = compare([a, system("d-b", *OTHER)])
    assert [one["name"] for one in found["systems"]] == ["d-a", "d-b"]
    assert found["pairs"][0]["difference"] == pytest.approx(0.6 - 0.2)
    assert found["pairs"][0]["levels"][1] == {"wins": 3, "ties": 2, "losses": 0}
    assert len(found["systems"][0]["runs"]) == 2
    assert "Run SD" in format_text(found.report())


def test_runs_have_the_name_of_the_first() -> None:
    first = {**system("week@1-a", *FIRST), "dataset": "week@1.json"}
    second = {key: value for key, value in system("", *SECOND).items() if key != "name"}
    found = compare([[first, second], system("b", *OTHER)])
    assert [one["name"] for one in found["systems"]] == ["week@1-a", "b"]


def test_compare_refuses_runs_on_other_questions() -> None:
    with pytest.raises(
        InputError, match=r"^a@1, a@2: expected the same questions, got only in a@2: q02"
    ):
        compare(
            [
                [system("a@1", True, False), system("a@2", True, True, True)],
                system("b", True, False),
            ]
        )


def test_compare_refuses_a_system_without_runs() -> None:
    with pytest.raises(
        InputError, match=r"^compare: expected the results of a system's runs, got none$"
    ):
        compare([[], system("b", True, False)])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("d-a", ["d-a", "d-a@1", "d-a@2"]),
        ("d-a@1", ["d-a@1"]),
        ("d-a@2", ["d-a@2"]),
        ("d-b", ["d-b@1"]),
        ("d-c", ["d-c"]),
        ("d-a.json", ["d-a.json"]),
        ("none", ["none"]),
    ],
)
def test_find_runs(tmp_path: Path, name: str, found: list[str]) -> None:
    for file in (
        "d-a.json",
        "d-a@1.jsonl",
        "d-a@2.json",
        "d-a@1@x.json",
        "d-ab@1.json",
        "d-b@1.json",
        "d-c.json",
        "d-c@1.txt",
        ".d-c@1.json",
        "d-c@.json",
    ):
        (tmp_path / file).touch()
    assert [Path(one).name for one in find_runs(name, tmp_path)] == found
    assert [Path(one).name for one in find_runs(str(tmp_path / name), Path("elsewhere"))] == found


def names_and_scores(done: Any) -> list[tuple[str, float]]:
    return [(one["name"], one["overall_score"]) for one in done.json["systems"]]


def test_compare_reads_all_runs_of_a_name(tmp_path: Path) -> None:
    root = folder_of(tmp_path, **{"a": "AAAA", "a@1": "AABB", "b": "ABBB"})
    assert names_and_scores(run(root, "compare", "d-a", "d-b", "--json")) == [
        ("d-a", 0.75),
        ("d-b", 0.25),
    ]
    assert names_and_scores(run(root, "compare", "d-a@1", "d-b", "--json")) == [
        ("d-a@1", 0.5),
        ("d-b", 0.25),
    ]
    assert names_and_scores(run(root, "compare", "d-a", "d-a@1", "d-a.json", "--json")) == [
        ("d-a", 0.75), ("d-a@1", 0.5), ("d-a (3)", 1.0),
    ]  # fmt: skip


# --- The nightly run ---


def test_nightly_keeps_a_file_of_every_run_and_ranks_one_row(tmp_path: Path) -> None:
    root = folder_of(tmp_path, **{"a@1": "AAAA", "a@2": "AABB", "b": "ABBB"})
    assert counts(run(root, "nightly")) == (3, 0, 0)
    assert {"d-a@1.json", "d-a@2.json"} <= contents(root).keys()
    before = contents(root)
    assert counts(run(root, "nightly")) == (0, 3, 0)
    assert contents(root) == before
    table = stored(root)["tables"][0]
    assert [(row["name"], row["overall_score"]) for row in table["rows"]] == [
        ("d-a", 0.75),
        ("d-b", 0.25),
    ]
    assert [one["file_sha256"] != "" for one in table["rows"][0]["runs"]] == [True, True]
    assert "file_sha256" not in table["rows"][0]  # a mean of runs is no file


def test_a_run_more_is_scored_alone(tmp_path: Path) -> None:
    root = folder_of(tmp_path, **{"a@1": "AAAA", "b": "ABBB"})
    run(root, "nightly")
    more: Record = {f"q{place}": "B" for place in range(4)}
    write(root, {"prediction/d-a@2.json": more})
    assert counts(run(root, "nightly")) == (1, 2, 0)
    assert [row["overall_score"] for row in stored(root)["tables"][0]["rows"]] == [0.5, 0.25]
    (root / "prediction" / "d-a@1.json").unlink()
    assert counts(run(root, "nightly")) == (0, 2, 0)
    assert [row["name"] for row in stored(root)["tables"][0]["rows"]] == ["d-b", "d-a@2"]


# --- A run's own luck ---


def lucky(name: str, *shares: int) -> dict[str, tuple[bool, ...]]:
    """Runs that are right on so many of 20 questions, all of them the first ones."""
    return {
        f"d-{name}@{number}": tuple(place < share for place in range(20))
        for number, share in enumerate(shares)
    }


def test_luck_of_runs_is_in_a_difference_of_two_systems_with_runs() -> None:
    steady = {**lucky("a", 18, 18), **lucky("b", 8, 8)}
    unsteady = {**lucky("a", 20, 10), **lucky("b", 20, 0)}
    single = {**lucky("a", 20, 10), **lucky("b", 8)}
    ranges = [
        [row["rank_interval"] for row in rows(board_of(answers))]
        for answers in (steady, unsteady, single)
    ]
    apart = [(1, 1), (2, 2)]
    assert ranges == [apart, [(1, 2), (1, 2)], apart]


def test_a_comparison_has_the_variance_of_runs() -> None:
    """By the formula: d of both systems' runs, its variance, Satterthwaite's degrees of freedom."""
    answers = {"a": [(1, 1, 1, 1, 1, 0), (1, 0, 0, 1, 0, 0)],
               "b": [(1, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 0)]}  # fmt: skip
    results = [
        [
            {**system(f"d-{name}@{run}", *map(bool, right)), "dataset": "d.json"}
            for run, right in enumerate(runs)
        ]
        for name, runs in answers.items()
    ]
    (pair,) = compare(results)["pairs"]
    whole = within = of_means = 0.0
    means = {}
    for name, runs in answers.items():
        means[name] = [statistics.mean(column) for column in zip(*runs, strict=True)]
        scores = [statistics.mean(run) for run in runs]
        whole += statistics.variance(scores) * (len(runs) - 1)
        variances = [statistics.variance(column) for column in zip(*runs, strict=True)]
        own = statistics.mean(variances) / 6
        within += own * (len(runs) - 1)
        of_means += own / len(runs)
    effect = whole / within
    assert effect > 1
    differences = [a - b for a, b in zip(means["a"], means["b"], strict=True)]
    square, added = statistics.variance(differences) / 6, (effect - 1) * of_means
    freedom = (square + added) ** 2 / (square**2 / 5 + added**2 / (3 * (1 - 1 / effect) ** 2))
    half = t_quantile(0.975, freedom) * math.sqrt(square + added)
    difference = statistics.mean(differences)
    low, high = pair["interval"]
    assert pair["difference"] == pytest.approx(difference)
    assert (low, high) == pytest.approx((max(-1, difference - half), min(1, difference + half)))
    assert pair["p"] >= t_tail(difference / math.sqrt(square + added), freedom) - 1e-12


def test_runs_of_one_side_add_nothing() -> None:
    """Nothing measures the other side's."""
    both = board_of({**lucky("a", 20, 10), "d-b": (False,) * 20})
    assert [row["rank_interval"] for row in rows(both)] == [(1, 1), (2, 2)]


def test_luck_is_measured_by_series_where_questions_hang_together() -> None:
    """Three answers that change together are one change, and no luck of the run."""
    spreads = []
    for series in (None, "event"):
        runs = [
            read_system(score([q(f"q{n}", answer=box(x), series=series) for n in range(3)], name))
            for name, x in (("a@1", "A"), ("a@2", "B"))
        ]
        spreads.append(measure_runs(combine_runs(runs), [1]))
    alone, together = spreads
    assert alone.whole == pytest.approx(3 * alone.within)
    assert together.whole == pytest.approx(together.within)
    assert add_run_luck(alone, alone)[0] > 0
    assert add_run_luck(together, together)[0] <= 1e-12
