"""The leaderboard's page: ties with the leader, links to pages that are there, the history and its
breaks.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from boards_folders import rows, stored, system
from cli import ROOT, q, question, run, write
from forecasteval.boards import rank
from forecasteval.boards.board_page import make_page
from forecasteval.boards.report import board_report
from forecasteval.display.blocks import render
from forecasteval.display.pages import Records
from forecasteval.display.tables import Interval, Link, Links, format_text
from forecasteval.nightly.history import read_history
from forecasteval.ranking.significance import holm, sign_flip_test
from html_page import check_page
from season import make_season

LEADER = (True,) * 20


def board() -> Any:
    return rank([
        system("leader", *LEADER), system("near", *LEADER[:19], False), system("far", *(False,) * 18, True, True)
    ])  # fmt: skip


def test_p_leader_is_holms_of_the_paired_tests_with_the_first() -> None:
    found = [row["p_leader"] for row in rows(board())]
    differences = [[0.0] * 19 + [1 / 20], [1 / 20] * 18 + [0.0] * 2]
    assert found[0] is None
    assert found[1:] == pytest.approx(holm(sign_flip_test(differences, seed=0)))
    assert found[1] >= 0.05 > found[2]


def test_systems_like_the_leader_are_told_from_those_behind_it() -> None:
    chart = make_page(board()).charts()["table1"]
    assert [row[1] for row in chart.table.rows] == ["leader", "near", "far"]
    assert behind(chart) == [0, 0, 1]
    assert "1 of 2" in chart.description


def behind(chart: Any) -> list[int]:
    """1 for every row whose dot is a ring: a system behind the leader."""
    return [cell.group for row in chart.table.rows for cell in row if isinstance(cell, Interval)]


def test_forecasters_are_tied_by_their_rank_intervals_where_there_are_some() -> None:
    table = {
        "kind": "forecasters",
        "benchmark": "Prophet Arena", "dataset": None, "name": "p", "prediction": "p.csv", "warnings": 0,
        "degraded": False, "signature": {"evaluator": "x"}, "n_events": 9,
        "rows": [{"rank": n, "name": f"f{n}", "score": 0.1 * n, "interval": [0.0, 0.9], "n": 9} for n in (1, 2, 3)],
    }  # fmt: skip
    one: dict[str, Any] = {"tables": [table], "leaderboard": {"version": "1", "min_questions": 0}}
    assert behind(make_page(one).charts()["table1"]) == [0] * 3
    for row, interval in zip(table["rows"], ([1, 2], [1, 3], [2, 3]), strict=True):
        row["rank_interval"] = interval
    chart = make_page(one).charts()["table1"]
    assert behind(chart) == [0, 0, 1]
    assert "rank interval includes 1: 1 of 2" in chart.description


# --- Links ---


def linked_files(page: Path) -> list[str]:
    """The files that a page links, not a place in them."""
    links = check_page(page.read_text(encoding="utf-8")).find("a")
    return [link["href"] for link in links if "#" not in link["href"]]


def test_nightly_links_the_pages_that_show_the_stored_results(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": [question("q1")], "prediction/d-a.json": [q("q1")]})
    page = tmp_path / "evaluation" / "leaderboard.html"
    assert run(tmp_path, "nightly").code == 0
    assert not linked_files(page)
    before = page.stat()
    assert run(tmp_path, "nightly").code == 0
    assert page.stat().st_mtime_ns == before.st_mtime_ns  # it shows just that already
    assert run(tmp_path, "-f", "d-a", "--html").code == 0
    assert run(tmp_path, "nightly").code == 0
    assert linked_files(page) == ["./d-a.html"]
    write(tmp_path, {"prediction/d-a.json": [q("q1", answer="C")]})
    assert run(tmp_path, "nightly").code == 0
    assert not linked_files(page)  # the page is that of another answer


def test_nightly_makes_the_pages_of_the_runs_if_asked(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": [question("q1")], "prediction/d-a.json": [q("q1")]})
    folder = tmp_path / "evaluation"
    assert run(tmp_path, "nightly").code == 0
    alone = (folder / "d-a.json").read_bytes()
    assert not (folder / "d-a.html").exists()
    for counts in ("1 files scored, 0 unchanged", "0 files scored, 1 unchanged"):
        assert counts in run(tmp_path, "nightly", "--html").out
    assert (folder / "d-a.json").read_bytes() == alone
    check_page((folder / "leaderboard.html").read_text(encoding="utf-8"))
    page = (folder / "d-a.html").read_bytes()
    assert run(tmp_path, "-f", "d-a", "--html").code == 0
    assert (folder / "d-a.html").read_bytes() == page
    assert "0 files scored" in run(tmp_path, "nightly", "--html").out
    assert linked_files(folder / "leaderboard.html") == ["./d-a.html"]
    (folder / "d-a.html").write_text("an old page", encoding="utf-8")
    assert run(tmp_path, "nightly", "--html").code == 0
    assert (folder / "d-a.html").read_bytes() == page


@pytest.mark.parametrize(
    "name", ["250915-careful", "prophet-sample", "multiple_choice_single_varying_reference-random"]
)
def test_the_page_that_nightly_makes_is_that_of_the_run(tmp_path: Path, name: str) -> None:
    dataset = name.rpartition("-")[0] if name != "prophet-sample" else name
    for path in (f"dataset/{dataset}.json", f"prediction/{name}.json"):
        write(tmp_path, {path: (ROOT / path).read_bytes()})
    assert run(tmp_path, "-f", name, "--html").code == 0
    page = (tmp_path / "evaluation" / f"{name}.html").read_bytes()
    assert not linked_files(tmp_path / "evaluation" / f"{name}.html")
    (tmp_path / "evaluation" / f"{name}.html").unlink()
    assert run(tmp_path, "nightly", "--html").code == 0
    found = [*(tmp_path / "evaluation").glob("*.html")]
    [made] = [path.read_bytes() for path in found if path.stem != "leaderboard"]
    only = rb'<a href="./leaderboard.html">Leaderboard</a>'
    link = rb"<(p|nav)[^>]*>" + only + rb"</(p|nav)>\n?|" + only
    assert re.subn(link, b"", made) == (page, 1)


def test_a_run_cannot_have_the_page_of_a_comparison(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/compare.json": [q("q1")], "prediction/b.json": [q("q1")]})
    done = run(tmp_path, "nightly", "--html")
    assert (
        done.code,
        done.err.count("no page could be made, or not under this name: 1 (compare)\n"),
    ) == (0, 1)
    assert [row["name"] for row in rows(stored(tmp_path))] == ["b", "compare"]
    (tmp_path / "evaluation/b.html").unlink()
    (tmp_path / "evaluation/b.html").mkdir()  # cannot be written, and costs no score
    done = run(tmp_path, "nightly", "--html")
    assert (done.code, done.err.count("under this name: 2 (b, compare)\n")) == (0, 1)


def test_who_is_like_the_leader_is_said_once() -> None:
    """A leader that answered little cannot be told from many, which others beat."""
    table = {
        "kind": "pooled",
        "benchmark": "FutureX", "datasets": [{}, {}], "level_counts": {"1": 4}, "weights": {"1": 0.1}, "apart": [],
        "signature": {"evaluator": "x"}, "design_effect": None,
        "rows": [
            {"rank": n, "behind": None, "behind_interval": None,
             "name": f"s{n}", "overall_score": 1 - n / 9, "overall_interval": None, "rank_interval": [n, 4],
             "tied_with_best": n != 3, "p_leader": None if n == 1 else 0.9 if n != 3 else 0.01, "p_best": 0.3,
             "datasets": 1, "n_runs": 1, "n": 4, "own_score": 0.5, "missing": 0, "unparsed": 0, "warnings": 0,
             "degraded": False, "about": {"name": f"System {n}"}}
            for n in (1, 2, 3)
        ],
    }  # fmt: skip
    page = make_page(
        {"tables": [], "pooled": [table], "leaderboard": {"version": "1", "min_questions": 0}}
    )
    chart = page.charts()["pooled1"]
    assert behind(chart) == [0, 0, 1]
    assert [row[1] for row in chart.table.rows] == [
        "System 1",
        "System 2",
        "System 3",
    ]  # as systems.json has it


def test_failed_files_have_their_reasons(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [q("q1")], "prediction/b.json": b"[{"})
    assert run(tmp_path, "nightly").code == 3
    parsed = check_page((tmp_path / "evaluation/leaderboard.html").read_text(encoding="utf-8"))
    assert ["b.json", stored(tmp_path)["failed"][0]["reason"]] in parsed.rows


# --- History ---


def weeks() -> Any:
    one = board()
    for table in one["tables"]:
        table["dataset"] = "w1.json"
    for week, keep in (("w2", (0, 1)), ("w3", (1, 2))):
        table = copy.deepcopy(one["tables"][0])
        table.update(dataset=f"{week}.json", rows=[table["rows"][place] for place in keep])
        one["tables"].append(table)
    for table in one["tables"]:
        for row in table["rows"]:
            row["dataset"] = table["dataset"]
            row["name"] = f"{table['dataset'].removesuffix('.json')}-{row['name']}"
    return one


def test_history_follows_systems_over_datasets() -> None:
    chart = make_page(weeks()).charts()["history1"]
    scores = {row[0]: row[1:] for row in chart.table.rows}
    assert chart.table.header == ["System", "w1", "w2", "w3"]
    assert {name: [value != "–" for value in found] for name, found in scores.items()} == {
        "near": [True, True, True], "leader": [True, True, False], "far": [True, False, True]
    }  # fmt: skip
    assert "same version and rules" in chart.description


def test_history_breaks_where_rules_change() -> None:
    changed = weeks()
    changed["tables"][2]["signature"] = {
        **changed["tables"][2]["signature"],
        "rules": "official-2026",
    }
    page = make_page(changed)
    assert "broken where" in page.charts()["history1"].description
    whole, broken = (render(make_page(one)) for one in (weeks(), changed))
    assert len(broken) != len(whole)
    check_page(broken)


def test_history_follows_systems_over_the_nights_that_changed_a_score(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "dataset/d.json": [question(f"q{n}") for n in range(4)],
            "prediction/d-a.json": {"q0": "A"},
        },
    )
    write(tmp_path, {"prediction/d-b.json": {"q0": "A", "q1": "A"}})
    for answers in ({"q0": "A"}, {"q0": "A"}, {"q0": "B"}, None, {f"q{n}": "A" for n in range(4)}):
        (tmp_path / "prediction/d-a.json").unlink(missing_ok=True)
        write(tmp_path, {"prediction/d-a.json": answers} if answers else {})
        assert run(tmp_path, "nightly").code == 0
    chart = make_page(stored(tmp_path), history=read_history(tmp_path / "evaluation")).charts()[
        "nights1"
    ]
    assert chart.title == "FutureX, d.json: 4 nights"
    assert chart.table.rows == [
        ["a", "0.2500", "0.0000", "–", "1.0000"],
        ["b", "0.5000", "0.5000", "0.5000", "0.5000"],
    ]
    assert "<h2>History</h2>" in (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")


def test_systems_are_linked_where_they_have_a_page() -> None:
    many = rank([system(f"s{n:02}", *(place >= n for place in range(60))) for n in range(50)])
    records = standings(make_page(many, {"s03"}), "table1")
    pages = [dict(row.details).get("Pages") for row in records.rows]
    assert pages[:5] == [None, None, None, Links([Link("page", "s03.html")]), None]
    assert len(records.rows) == 50


def standings(page: Any, name: str) -> Any:
    return next(block for block in page.blocks(Records) if block.name == name)


def test_nothing_to_rank() -> None:
    check_page(render(make_page(rank([system("a", True)], min_questions=9))))


# --- Runs, and all datasets ---


def test_the_table_over_all_datasets_comes_first(tmp_path: Path) -> None:
    for name, systems in (("w1", "ab"), ("w2", "bc")):
        write(
            tmp_path, {f"dataset/{name}.json": [question(f"{name}{place}") for place in range(4)]}
        )
        for place, who in enumerate(systems):
            answers = {f"{name}{n}": "AB"[n <= place] for n in range(4)}
            write(
                tmp_path,
                {
                    f"prediction/{name}-{who}.json": answers,
                    f"prediction/{name}-{who}@2.json": answers,
                },
            )
    assert run(tmp_path, "nightly").code == 0
    page = make_page(stored(tmp_path))
    assert page.figures[:2] == [
        ("Leads FutureX, 2 datasets", "a", "0.8017; not significantly different: 2 (b, c)"),
        ("Systems", "3", ""),
    ]
    titles = [section.title for section in page.sections]
    assert titles[0] == "FutureX, all 2 datasets, 8 questions"
    assert [section.title for section in page.sections if section.folded] == [
        "FutureX, w1.json, 4 questions"
    ]
    assert titles.index("FutureX, w2.json, 4 questions") < titles.index(
        "FutureX, w1.json, 4 questions"
    )
    chart = page.charts()["pooled1"]
    assert [row[1] for row in chart.table.rows] == ["a", "b", "c"]
    assert "adjusted over all pairs" in chart.description
    assert "adjusted over all pairs" not in page.charts()["table1"].description
    assert "≈ best" in format_text(board_report(stored(tmp_path)))
    assert "≈" not in render(page)  # dots and rings are explained there, and no row has the mark
    check_page(render(page))


def test_runs_are_listed_and_linked_and_their_mean_is_not(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": [question("q")], "prediction/d-a.json": {"q": "A"}})
    write(tmp_path, {"prediction/d-a@2.json": {"q": "B"}, "prediction/d-b.json": {"q": "A"}})
    assert run(tmp_path, "nightly", "--html").code == 0
    page = make_page(stored(tmp_path), {"d-a", "d-a@2", "d-b"})
    rows = {row.cells[1]: dict(row.details)["Pages"] for row in standings(page, "table1").rows}
    assert rows == {
        "b": Links([Link("page", "d-b.html")]),
        "a": Links([Link("1: 1.000", "d-a.html"), Link("2: 0.000", "d-a@2.html")]),
    }
    text = (tmp_path / "evaluation" / "leaderboard.html").read_text("utf-8")
    assert [text.count(f'href="{name}.html"') for name in ("./d-a", "./d-a%402", "./d-b")] == [
        1,
        1,
        1,
    ]


def test_the_page_of_a_season_is_small(tmp_path: Path) -> None:
    """12 weeks of 50 questions and 20 systems take less than 300 kB: this is a third of the weeks
    and systems.
    """
    make_season(tmp_path, weeks=4, questions=16, systems=7, runs=3)
    assert run(tmp_path, "nightly", "--html").code == 0
    page = (tmp_path / "evaluation/leaderboard.html").read_bytes()
    assert b"250922-agent-06%403.html" in page
    assert len(page) < 96_000
