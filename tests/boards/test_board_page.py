"""The leaderboard's page: ties with the leader, links to pages that are there, the history and its
breaks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from boards_folders import make_page, rows, score, stored, system
from cli import ROOT, q, question, run, write
from forecasteval.boards import rank
from forecasteval.display.html import render
from forecasteval.display.tables import IntervalCell
from html_page import Parsed, check_page
from prophet_data import sample_results
from season import make_season

LEADER = (True,) * 20


def board() -> Any:
    return rank(
        [
            system("leader", *LEADER),
            system("near", *LEADER[:19], False),
            system("far", *(False,) * 18, True, True),
        ]
    )


def test_ranks_are_those_that_no_pair_contradicts() -> None:
    assert [row["rank_interval"] for row in rows(board())] == [(1, 2), (1, 2), (3, 3)]


def test_systems_like_the_leader_are_told_from_those_behind_it() -> None:
    chart = make_page(board()).charts()["ranking1"]
    assert [row[0] for row in chart.table.rows] == ["leader", "near", "far"]
    assert [column.title for column in chart.table.columns if column.kind == "mark"] == ["Score"]
    assert filled(chart) == [True, True, False]


@pytest.mark.parametrize(
    ("rights", "sentence"),
    [
        (
            {"leader": 20, "near": 19, "far": 2},
            "leader leads with 1.000; near could be first, too.",
        ),
        ({"a": 20, "far": 2}, "a leads with 1.000; no other system could be first."),
        ({"a": 20, "b": 20, "far": 2}, "a and b lead together with 1.000; no other"),
        (
            dict.fromkeys("abcdef", 20) | {"far": 18},
            "a, b and 4 more lead together with 1.000; far",
        ),
    ],
)
def test_a_sentence_says_who_leads_and_who_cannot_be_told_apart(
    rights: dict[str, int], sentence: str
) -> None:
    results = [system(name, *(at < right for at in range(20))) for name, right in rights.items()]
    parsed = check_page(render(make_page(rank(results))))
    assert sentence in "".join(parsed.texts)


def test_facts_are_those_of_the_first_ranking() -> None:
    """14 systems stood below a sentence about a dataset with two."""
    first = [system(name, True, True) for name in ("a", "b")]
    other = [score([q(f"other{n}") for n in range(3)], name) for name in ("c", "d", "e")]
    facts = [make_page(rank(results)).facts for results in (first + other, first, first[:1])]
    assert facts == [
        "3 systems · 3 questions · 1 more ranking",
        "2 systems · 2 questions",
        "1 system · 2 questions",
    ]


def test_many_systems_are_folded() -> None:
    many = [system(f"s{n:03}", *(place >= n for place in range(9))) for n in range(101)]
    assert "Show all 101" in render(make_page(rank(many)))
    assert "Show all" not in render(make_page(rank(many[:100])))


def filled(chart: Any) -> list[bool]:
    """Tell of every row whether its dot is filled: the system could be first."""
    return [
        cell.kind == "a"
        for row in chart.table.rows
        for cell in row
        if isinstance(cell, IntervalCell)
    ]


def test_forecasters_are_tied_by_their_rank_intervals_where_there_are_some() -> None:
    results = {"name": "p", "prediction": "p.csv", **sample_results()}
    one: dict[str, Any] = rank([results, system("a", True)])
    (table,) = [table for table in one["tables"] if table["kind"] == "forecasters"]
    table["rows"] = table["rows"][:3]
    one["tables"] = [table]
    for intervals, told in (
        ((None, None, None), [False] * 3),
        (([1, 2], [1, 3], [2, 3]), [True, True, False]),
    ):
        for row, interval in zip(table["rows"], intervals, strict=True):
            row["rank_interval"] = interval
        assert filled(make_page(one).charts()["ranking1"]) == told


# --- Links ---


def linked_files(page: Path) -> list[str]:
    """The pages that a page links, not a place in them."""
    links = check_page(page.read_text(encoding="utf-8")).find("a")
    return [link["href"] for link in links if link["href"].endswith(".html")]


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
    for counts in ("1 file scored, 0 unchanged", "0 files scored, 1 unchanged"):
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
        done.err.count("no page could be made: compare: would overwrite another page"),
    ) == (0, 1)
    assert [row["name"] for row in rows(stored(tmp_path))] == ["b", "compare"]
    (tmp_path / "evaluation/b.html").unlink()
    (tmp_path / "evaluation/b.html").mkdir()  # cannot be written, and costs no score
    done = run(tmp_path, "nightly", "--html")
    assert (done.code, done.err.count("no page could be made: ")) == (0, 2)
    assert "b.html: cannot be written: Is a directory\n" in done.err


def test_who_is_like_the_leader_is_said_once(tmp_path: Path) -> None:
    """A leader that answered little cannot be told from many, which others beat."""
    board = season(tmp_path)
    rows = board["pooled"][0]["rows"]
    for row, interval in zip(rows, ([1, 4], [1, 4], [2, 4]), strict=True):
        row |= {"rank_interval": interval, "about": {"name": f"System {row['rank']}"}}
    chart = make_page(board).charts()["ranking1"]
    assert filled(chart) == [True, True, False]
    # As systems.json has them.
    assert [row[0] for row in chart.table.rows] == ["System 1", "System 2", "System 3"]


def test_failed_files_have_their_reasons(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [q("q1")], "prediction/b.json": b"[{"})
    assert run(tmp_path, "nightly").code == 3
    parsed = check_page((tmp_path / "evaluation/leaderboard.html").read_text(encoding="utf-8"))
    assert f"b.json: {stored(tmp_path)['failed'][0]['reason']}" in parsed.texts


# --- History ---


def test_history_follows_systems_over_datasets(tmp_path: Path) -> None:
    chart = make_page(season(tmp_path)).charts()["history1"]
    shown = {line.name: [x for x, _ in line.points] for line in chart.panels[0].lines}
    assert shown == {"a": [0, 1, 2], "b": [0, 1, 2], "c": [0, 2]}


def test_an_incomplete_week_is_named(tmp_path: Path) -> None:
    partial = season(tmp_path)
    partial["tables"][0]["pending"] = 2
    page = make_page(partial)
    chart = page.charts()["history1"]
    assert chart.description.endswith(f"Not complete: {partial['tables'][0]['dataset'][:-5]}.")


def season(root: Path) -> Any:
    """Three weeks; c misses the second one."""
    for name, systems in (("w1", "abc"), ("w9", "ab"), ("w10", "abc")):
        write(root, {f"dataset/{name}.json": [question(f"{name}{place}") for place in range(4)]})
        for place, who in enumerate(systems):
            answers = {f"{name}{n}": "AB"[n < place] for n in range(4)}
            write(root, {f"prediction/{name}-{who}.json": answers})
    assert run(root, "nightly").code == 0
    return stored(root)


# --- Rows ---


def opened(page: Any, name: str) -> str:
    """The HTML of a row and of what it opens."""
    [after] = render(page).split(f'id="s1-{name}"')[1:]
    return after.split('class="in"')[1].split("</tr>")[0]


def test_systems_are_linked_where_they_have_a_page() -> None:
    many = rank([system(f"s{n:02}", *(place >= n for place in range(60))) for n in range(50)])
    page = make_page(many, {"s03"})
    check_page(render(page))
    assert ["./s03.html" in opened(page, f"s{n:02}") for n in range(5)] == [
        n == 3 for n in range(5)
    ]


def test_what_is_missing_is_in_the_row() -> None:
    rows = [q("q1"), q("q2"), q("q3")]
    results = [score(rows, "a"), score([q("q1", answer=None), q("q2", answer="?"), rows[2]], "b")]
    parsed = check_page(render(make_page(rank(results))))
    at = parsed.rows[0].index("Missing")
    assert parsed.rows[0][at + 1] == "Unparsed"
    assert [row[at : at + 2] for row in parsed.rows[1:] if len(row) > at] == [
        ["0", "0"],
        ["1", "1"],
    ]
    assert "Missing" not in render(make_page(rank([score(rows, "a"), score(rows, "b")])))


def changed_rows(root: Path) -> dict[str, list[str]]:
    """Rank, score and reason in the table of what changed, by system and dataset."""
    text = (root / "evaluation/leaderboard.html").read_text("utf-8")
    after = text.split('id="changed"')[1].split("</section>")[0]
    return {row[0]: row[1:] for row in Parsed(after).rows}


def test_the_page_says_what_the_last_night_changed(tmp_path: Path) -> None:
    season(tmp_path)
    write(tmp_path, {"prediction/w9-c.json": {f"w9{n}": "B" for n in range(4)}})
    write(tmp_path, {"prediction/w10-d.json": {f"w10{n}": "A" for n in range(4)}})
    assert run(tmp_path, "nightly").code == 0
    changed = changed_rows(tmp_path)
    assert changed["d w10.json"] == ["– → 1", "– → 1.0000", "new"]
    assert "b w10.json" not in changed
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "w10: 2 others moved by 1 rank" in page


def test_a_second_table_over_all_datasets_has_a_history_of_its_own(tmp_path: Path) -> None:
    """Systems that share no dataset have tables of their own, which the history numbers."""
    for week, systems in {"v1": "ab", "v2": "ab", "w1": "cd", "w2": "cd"}.items():
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(4)]})
        for name in systems:
            answers = {f"{week}{n}": "AB"[n < "abcd".index(name) % 2] for n in range(4)}
            write(tmp_path, {f"prediction/{week}-{name}.json": answers})
    assert run(tmp_path, "nightly").code == 0
    write(tmp_path, {"prediction/w1-d.json": {f"w1{n}": "B" for n in range(4)}})
    assert run(tmp_path, "nightly").code == 0
    assert len(stored(tmp_path)["pooled"]) == 2
    assert changed_rows(tmp_path)["d all datasets (2)"] == [
        "2",
        "0.7500 → 0.3750",
        "w1 new answers",
    ]


def test_a_week_without_all_truths_is_pending_at_the_top(tmp_path: Path) -> None:
    rows = [question("q1"), question("q2"), question("q3", ground_truth=None)]
    write(tmp_path, {"dataset/d.json": rows, "prediction/d-a.json": {"q1": "A", "q2": "A"}})
    assert run(tmp_path, "nightly").code == 0
    text = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "d: 2 of 3 resolved" in text


def test_nothing_to_rank() -> None:
    check_page(render(make_page(rank([system("a", True)], min_questions=9))))


# --- Runs, and all datasets ---


def test_the_table_over_all_datasets_comes_first(tmp_path: Path) -> None:
    page = make_page(season(tmp_path))
    assert page.title == "FutureX leaderboard"
    charts = page.charts()
    assert [chart.title for chart in charts.values()] == ["FutureX, 3 weeks", "Score by week"]
    assert [row[0] for row in charts["ranking1"].table.rows] == ["a", "b", "c"]
    parsed = check_page(render(page))
    assert not any("≈" in text for text in parsed.texts)  # dots and rings have that meaning
    matrix = next(row for row in parsed.rows if row[0] == "questions")
    assert matrix == ["questions", "4", "4", "4"]


def test_two_weeks_of_the_same_questions_are_two(tmp_path: Path) -> None:
    for week in ("250901", "250908"):
        files = {f"prediction/{week}-{name}.json": {"q": name.upper()} for name in "ab"}
        write(tmp_path, {f"dataset/{week}.json": [question("q")], **files})
    assert run(tmp_path, "nightly").code == 0
    charts = make_page(stored(tmp_path)).charts()
    assert [chart.title for chart in charts.values()] == ["FutureX, 2 weeks", "Score by week"]


def test_runs_are_listed_and_linked_and_their_mean_is_not(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": [question("q")], "prediction/d-a.json": {"q": "A"}})
    write(tmp_path, {"prediction/d-a@2.json": {"q": "B"}, "prediction/d-b.json": {"q": "A"}})
    assert run(tmp_path, "nightly", "--html").code == 0
    page = make_page(stored(tmp_path), {"d-a", "d-a@2", "d-b"})
    links = {name: re.findall(r'href="([^"#]+)"', opened(page, name)) for name in "ab"}
    assert links == {"a": ["./d-a.html", "./d-a%402.html"], "b": ["./d-b.html"]}


def test_the_page_of_a_season_is_small(tmp_path: Path) -> None:
    """12 weeks of 50 questions and 20 systems take less than 300 kB: this is a third of the weeks
    and systems.
    """
    make_season(tmp_path, weeks=4, questions=16, systems=7, runs=3)
    assert run(tmp_path, "nightly", "--html").code == 0
    page = (tmp_path / "evaluation/leaderboard.html").read_bytes()
    assert b"250922-agent-06%403.html" in page
    assert len(page) < 100_000


@pytest.mark.parametrize(
    ("weeks", "labels"),
    [
        (("250901", "250908"), ["09-01", "09-08"]),
        (("spring_first", "spring_second"), ["first", "second"]),
        (("august", "autumn"), ["august", "autumn"]),
    ],
)
def test_weeks_are_headed_by_their_days_or_by_what_tells_them_apart(
    tmp_path: Path, weeks: tuple[str, str], labels: list[str]
) -> None:
    for week in weeks:
        write(tmp_path, {f"dataset/{week}.json": [question(f"{week}{n}") for n in range(3)]})
        for name, letters in (("a", "AAB"), ("b", "ABB")):
            answers = {f"{week}{n}": letter for n, letter in enumerate(letters)}
            write(tmp_path, {f"prediction/{week}-{name}.json": answers})
    assert run(tmp_path, "nightly").code == 0
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert ["System", *labels] in check_page(page).rows
