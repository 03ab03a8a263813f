"""The table over all datasets: who is in it, what it says, and that nothing but the data changes
it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from boards_folders import (
    board_report,
    contents,
    counts,
    format_csv,
    format_markdown,
    score,
    stored,
)
from cli import Record, assert_refused, number, q, question, run, write
from forecasteval.boards import rank
from forecasteval.display.tables import format_text
from forecasteval.nightly.store import result_pieces


def week(dataset: str, **answers: str) -> list[Record]:
    """A result of each system named, right where its text has an A."""
    return [
        {
            **score(
                [q(f"{dataset}{n}", answer=letter) for n, letter in enumerate(text)],
                f"{dataset}-{name}",
            ),
            "dataset": f"{dataset}.json",
        }
        for name, text in answers.items()
    ]


def pooled(results: list[Record], min_questions: int = 0) -> Any:
    return rank(results, min_questions)["pooled"]


def scores(table: Any) -> dict[str, float]:
    return {row["name"]: pytest.approx(row["overall_score"]) for row in table["rows"]}


FIRST = week("w1", a="AAAB", b="AABB")
SECOND = week("w2", b="AAAA", c="AAAB")


def test_systems_of_different_weeks_are_ranked() -> None:
    """a is better than b in a hard week, c worse in an easy one: c's plain score is a's."""
    (table,) = pooled(FIRST + SECOND)
    found = {row["name"]: row["overall_score"] for row in table["rows"]}
    assert 1 > found["a"] > found["b"] == 0.75 > found["c"] > 0
    assert [
        (row["rank"], row["own_score"], row["datasets"], row["n"]) for row in table["rows"]
    ] == [
        (1, 0.75, 1, 4),
        (2, 0.75, 2, 8),
        (3, 0.75, 1, 4),
    ]
    assert [(one["dataset"], one["n"], one["systems"]) for one in table["datasets"]] == [
        ("w1.json", 4, 2), ("w2.json", 4, 2),
    ]  # fmt: skip


def test_a_complete_season_is_like_one_file() -> None:
    """Levels weigh as over all questions, not as in each week."""
    rng = random.Random(3)
    weeks: dict[str, list[Record]] = {}
    for name, size in (("w1", 12), ("w2", 20)):
        for who in "abc":
            records = [
                q(f"{name}{n}", level=1 + n % 2, answer=rng.choice("AB"))
                if n % 3
                else number(f"{name}{n}", Std=9, answer=str(rng.randint(90, 110)))
                for n in range(size)
            ]
            weeks.setdefault(who, []).extend(records)
    whole = {who: score(records, who) for who, records in weeks.items()}
    parts = [
        {
            **score([r for r in records if r["id"].startswith(name)], f"{name}-{who}"),
            "dataset": f"{name}.json",
        }
        for who, records in weeks.items()
        for name in ("w1", "w2")
    ]
    (table,) = pooled(parts)
    for row in table["rows"]:
        assert row["overall_score"] == pytest.approx(whole[row["name"]]["overall_score"], abs=1e-12)
        low, high = whole[row["name"]]["overall_interval"]
        assert (
            row["overall_interval"][0] <= low + 1e-12 < high - 1e-12 <= row["overall_interval"][1]
        )
        if (table["design_effect"] or 0) <= 1:
            assert row["overall_interval"] == pytest.approx([low, high])
        assert row["own_score"] == pytest.approx(row["overall_score"])


def test_one_dataset_or_one_system_needs_no_such_table(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pooled(week("w1", a="AB") + week("w2", b="AA")) == []  # nothing shared
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)  # nor scipy, for most nights
    assert pooled(FIRST) == []
    assert pooled(week("w1", a="AB") + week("w2", a="AA")) == []


def test_who_shares_no_question_is_listed_apart() -> None:
    rest = week("w3", d="AB", e="AA") + week("w4", f="AAA")
    (table,) = pooled(FIRST + SECOND + rest)
    assert table["apart"] == ["d", "e", "f"]
    assert [row["name"] for row in table["rows"]] == ["a", "b", "c"]
    told = "Apart, as they share no dataset with these: d, e, f"
    board = {**rank(FIRST + SECOND + rest), "failed": []}
    assert told in format_text(board_report(board))
    assert "share no dataset with these: d, e, f" in format_markdown(board).replace("\\", "")


def test_two_groups_have_a_table_each() -> None:
    rest = week("w3", d="AB", e="AA") + week("w4", d="AAA", f="AAB")
    first, second = pooled(FIRST + SECOND + rest)
    assert (first["apart"], second["apart"]) == (["d", "e", "f"], ["a", "b", "c"])


def test_rule_sets_are_pooled_apart() -> None:
    lax = [
        {**one, "signature": {**one["signature"], "relative_sigma": 0.1}}
        for one in week("w3", a="AB", b="BB")
    ]
    (table,) = pooled(FIRST + SECOND + lax)
    assert len(table["datasets"]) == 2
    assert table["signature"]["relative_sigma"] is None


def test_runs_enter_as_their_means() -> None:
    (table,) = pooled([*FIRST, *week("w2", **{"b@1": "AAAA", "b@2": "ABBA", "c": "AAAB"})])
    rows = {row["name"]: row for row in table["rows"]}
    assert rows["b"]["overall_score"] == pytest.approx(0.625)
    assert {name: row["n_runs"] for name, row in rows.items()} == {"a": 1, "b": 3, "c": 1}
    assert rows["a"]["rank"] == 1


def test_two_files_of_one_system_on_a_dataset_stay_two() -> None:
    """`w1-a` and `w1_a` would both be `a`."""
    twin = {**FIRST[1], "name": "w1_a"}
    (table,) = pooled([*FIRST, twin, *SECOND])
    assert sorted(row["name"] for row in table["rows"]) == ["b", "c", "w1-a", "w1_a"]


def test_a_question_of_two_weeks_counts_twice() -> None:
    again = [
        {**one, "name": one["name"].replace("w1", "w2"), "dataset": "w2.json"} for one in FIRST
    ]
    (table,) = pooled(FIRST + again)
    assert {row["n"] for row in table["rows"]} == {8}


def test_small_levels_are_left_out_by_their_number_in_all_weeks() -> None:
    def one(dataset: str, name: str, right: bool) -> Record:
        records = [q(f"{dataset}{n}", answer="A" if right else "B") for n in range(3)]
        records.append(number(f"{dataset}n", Std=9, answer="100"))
        return {**score(records, f"{dataset}-{name}"), "dataset": f"{dataset}.json"}

    results = [one(dataset, name, name == "a") for dataset in ("w1", "w2") for name in "ab"]
    (table,) = pooled(results, 3)
    assert table["weights"] == {1: 0.1}
    assert {row["n"] for row in table["rows"]} == {6}
    assert pooled(results, 7) == []


def test_fixed_weights_keep_their_share() -> None:
    """Under official-2026 a level without questions keeps its weight: all right is 0.1 of 1.0
    here.
    """
    results = [
        {
            **score(
                [q(f"{dataset}{n}") for n in range(3)], f"{dataset}-{name}", rules="official-2026"
            ),
            "dataset": f"{dataset}.json",
        }
        for dataset in ("w1", "w2")
        for name in "ab"
    ]
    (table,) = pooled(results)
    share = results[0]["overall_score"]
    assert share < 1
    assert [
        row[key] for row in table["rows"] for key in ("overall_score", "own_score")
    ] == pytest.approx([share] * 4)


def test_order_of_the_results_changes_no_byte() -> None:
    results = FIRST + SECOND + week("w3", a="ABAB", c="BBAA", d="AAAA")
    texts = set()
    for seed in range(5):
        random.Random(seed).shuffle(results)
        texts.add(json.dumps(rank(results)))
    assert len(texts) == 1


def test_the_row_says_what_is_known_of_ranks() -> None:
    """The first is never wrong, the others often: only the last is told apart."""
    rng = random.Random(5)
    answers = {name: (0.97, 0.9, 0.2)[place] for place, name in enumerate("abc")}
    results = [
        one for dataset in ("w1", "w2", "w3")
        for one in week(dataset, **{n: "".join("A" if rng.random() < p else "B" for _ in range(15))
                                    for n, p in answers.items()})
    ]  # fmt: skip
    (table,) = pooled(results)
    a, b, c = table["rows"]
    assert [row["rank_interval"] for row in (a, b, c)] == [(1, 2), (1, 2), (3, 3)]


def test_files_that_bring_their_own_questions_are_no_weeks() -> None:
    """The same questions with a word changed would be counted again and again."""
    own = [{**score([q(f"q{n}", prompt=f"{run} Who?") for n in range(4)], f"{who}@{run}")}
           for who in "ab" for run in range(3)]  # fmt: skip
    assert pooled(own) == []
    (table,) = pooled(FIRST + SECOND + own)
    assert table["level_counts"][1] == 8
    assert table["apart"] == []


def test_a_level_of_one_question_leaves_errors_unmeasured() -> None:
    """As in one file of the same questions."""
    records = {
        who: [q(f"a{n}", level=1 if n == 0 else 4, answer=letter) for n, letter in enumerate(text)]
        for who, text in (("x", "AAABA"), ("y", "ABABB"))
    }
    later = {who: [q(f"b{n}", level=4, answer=letter) for n, letter in enumerate(text)]
             for who, text in (("x", "AABA"), ("y", "BABB"))}  # fmt: skip
    results = [
        {**score(rows[who], f"{week}-{who}"), "dataset": f"{week}.json"}
        for week, rows in (("w1", records), ("w2", later)) for who in "xy"
    ]  # fmt: skip
    (table,) = pooled(results)
    whole = score(records["x"] + later["x"])
    assert whole["overall_interval"] is None
    first, second = table["rows"]
    assert first["overall_score"] == pytest.approx(whole["overall_score"])
    assert (first["overall_interval"], first["rank_interval"]) == (None, (1, 2))
    assert second["rank_interval"] == (1, 2)
    format_text(board_report({**rank(results), "failed": []}))


def test_numbers_are_told_to_twelve_digits() -> None:
    """What the processor makes of the others is not in a file."""
    for row in pooled(FIRST + SECOND)[0]["rows"]:
        for value in (row["overall_score"], row["own_score"]):
            assert value is None or value == round(value, 12)
        assert math.copysign(1, row["overall_score"]) == 1


def test_reports_begin_with_it() -> None:
    board = {**rank(FIRST + SECOND), "failed": []}
    for text in (format_text(board_report(board)), format_markdown(board)):
        assert text.index("all 2 datasets, 8 questions") < text.index("w1.json")
    lines = list(csv.DictReader(io.StringIO(format_csv(board))))
    first = lines[0]
    assert (first["metric"], first["dataset"], first["name"], first["datasets"]) == (
        "pooled",
        "2 datasets",
        "a",
        "1",
    )
    assert float(first["own_score"]) == 0.75
    assert {line["metric"] for line in lines[3:]} == {"overall"}
    without = rank(FIRST)
    assert "own_score" not in format_csv(without)


def test_names_are_text() -> None:
    hostile = week("w1", **{"<b>|x\x1b[2J": "AA", "y": "AB"}) + week(
        "w2", **{"<b>|x\x1b[2J": "AA", "y": "AB"}
    )
    board = {**rank(hostile), "failed": []}
    assert "\x1b" not in format_text(board_report(board)) + format_csv(board) + format_markdown(
        board
    )
    assert "<b>" not in format_markdown(board)


def test_a_night_stores_it_and_the_next_leaves_it(tmp_path: Path) -> None:
    root = tmp_path
    for name, systems in (("w1", "ab"), ("w2", "bc")):
        write(root, {f"dataset/{name}.json": [question(f"{name}{place}") for place in range(4)]})
        for place, who in enumerate(systems):
            write(
                root,
                {
                    f"prediction/{name}-{who}.json": {
                        f"{name}{n}": "AB"[n <= place] for n in range(4)
                    }
                },
            )
    assert counts(run(root, "nightly")) == (4, 0, 0)
    before = contents(root)
    (table,) = stored(root)["pooled"]
    assert [row["name"] for row in table["rows"]] == ["a", "b", "c"]
    assert counts(run(root, "nightly")) == (0, 4, 0)
    assert contents(root) == before
    path = root / "evaluation" / "leaderboard.json"
    forged = stored(root)
    forged["pooled"][0]["rows"][0]["overall_score"] = 0.125
    path.write_text("".join(result_pieces(forged)), encoding="utf-8")
    assert run(root, "nightly", "--force").code == 0
    assert path.read_bytes() == before["leaderboard.json"]


def season(shown: dict[str, tuple[float, str]]) -> list[Record]:
    """Results of systems that are right with a chance, in the weeks that are named by letters."""
    rng = random.Random(5)
    return [
        one
        for place in "abcdefgh"
        for one in week(f"w{place}", **{
            name: "".join("A" if rng.random() < chance else "B" for _ in range(12))
            for name, (chance, weeks) in shown.items() if place in weeks
        })
    ]  # fmt: skip


def test_a_newcomer_is_provisional() -> None:
    """Below all others, without rank, and nobody is tested against it, however good it is."""
    systems = {"old": (0.6, "abcdefgh"), "half": (0.4, "aceg"), "new": (1.0, "ab")}
    results = season(systems)
    (table,) = pooled(results)
    assert [(row["name"], row["rank"], row["provisional"]) for row in table["rows"]] == [
        ("old", 1, False), ("half", 2, False), ("new", None, True),
    ]  # fmt: skip
    new = table["rows"][2]
    assert new["overall_score"] > 0.9
    assert new["rank_interval"] is None
    assert [row["rank_interval"][1] <= 2 for row in table["rows"][:2]] == [True, True]
    assert (new["overall_interval"], table["signature"]["min_datasets"]) == (
        None,
        4,
    )  # its scores never vary
    board = {**rank(results), "failed": []}
    for text in (format_text(board_report(board)), format_markdown(board).replace("\\", "")):
        assert (
            "provisional: in fewer than 4 datasets, and therefore without rank (--min-datasets)."
            in text
        )
    (table,) = rank(results, min_datasets=2)["pooled"]
    assert [row["name"] for row in table["rows"]] == ["new", "old", "half"]
    (table,) = rank(results, min_datasets=9)["pooled"]
    assert {row["rank"] for row in table["rows"]} == {None}


def test_blank_systems_change_no_row() -> None:
    systems = {"a": (0.6, "abcdefgh"), "b": (0.5, "acefgh"), "c": (0.3, "abdfgh")}
    (plain,) = pooled(season(systems))
    blank = [
        {**one, "name": one["name"].replace("-a", f"-none{n}")}
        for place in "abcdefgh"
        for n in range(5)
        for one in week(f"w{place}", a="B" * 12)
    ]
    (table,) = pooled(season(systems) + blank)
    kept = [row for row in table["rows"] if row["name"] in systems]
    ranks = [row.pop("rank_interval")[0] for row in kept]
    assert [row.pop("rank_interval")[0] for row in plain["rows"]] == ranks
    assert kept == plain["rows"]
    assert {(row["overall_score"], row["overall_interval"]) for row in table["rows"][3:]} == {
        (0, None)
    }


def test_weeks_without_a_readable_answer_move_nobody_else() -> None:
    """An API was down: the files hold no answer, which says nothing of how hard the weeks were."""
    systems = {"a": (0.8, "abcdefgh"), "b": (0.7, "abcdef"), "c": (0.5, "abcdefgh")}
    whole = season({**systems, "d": (0.6, "abcdefgh")})
    absent = [one for one in whole if one["name"] not in ("wa-d", "wb-d")]
    blank = [one for place in "ab" for one in week(f"w{place}", d="?" * 12)]
    (without,), (table,) = pooled(absent), pooled(absent + blank)
    found = {row["name"]: row for row in table["rows"]}
    for row in without["rows"]:
        if row["name"] == "d":  # it has 0 there, not what would be expected of it
            lost = row["overall_score"] - found["d"]["overall_score"]
            assert 0.05 < lost < 0.25
            assert found["d"]["n"] == row["n"] + 24
        else:
            assert found[row["name"]]["overall_score"] == row["overall_score"]
            assert found[row["name"]]["overall_interval"] == pytest.approx(row["overall_interval"])


def test_min_datasets_of_a_night(tmp_path: Path) -> None:
    for place in "abc":
        write(tmp_path, {f"dataset/w{place}.json": [question(f"w{place}{n}") for n in range(4)]})
        for name in "xy" if place == "a" else "x" if place == "b" else "xyz":
            answers = {f"w{place}{n}": "AB"[n > "xyz".index(name) + 1] for n in range(4)}
            write(tmp_path, {f"prediction/w{place}-{name}.json": answers})
    assert run(tmp_path, "nightly").code == 0
    assert [row["rank"] for row in stored(tmp_path)["pooled"][0]["rows"]] == [1, 2, None]
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "provisional: in fewer than 2 datasets" in page
    assert run(tmp_path, "nightly", "--min-datasets", "1").code == 0
    assert None not in [row["rank"] for row in stored(tmp_path)["pooled"][0]["rows"]]
    assert_refused(
        run(tmp_path, "nightly", "--min-datasets", "0"), "--min-datasets", "expected a number >= 1"
    )
