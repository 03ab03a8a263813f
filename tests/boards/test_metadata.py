"""`prediction/systems.json`: what is told of systems is shown and kept; mistakes in it cost only
it.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from boards_folders import contents, counts, failures, folder_of, snapshot, stored
from cli import EVIL, RAW_CONTROL, ROOT, Done, assert_refused, q, question, run, write
from forecasteval.ranking.names import read_systems

FULL: Final = {"name": "Alpha", "organisation": "ACME", "cost": 0.25}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return folder_of(tmp_path, a="AAAA", b="AABB")


def tell(root: Path, about: Any) -> Done:
    write(root, {"prediction/systems.json": about})
    return run(root, "nightly")


def rows(root: Path) -> list[dict[str, Any]]:
    return [row for table in stored(root)["tables"] for row in table["rows"]]


def test_name_organisation_and_cost_are_kept_and_shown(root: Path) -> None:
    """Other keys are ignored."""
    done = tell(root, {"a": {**FULL, "model": "m", "x": {}}, "b": {"organisation": "Bravo"}})
    assert (done.code, done.err, counts(done)) == (0, "", (2, 0, 0))
    assert [row.get("about") for row in rows(root)] == [FULL, {"organisation": "Bravo"}]
    assert [row["name"] for row in rows(root)] == ["d-a", "d-b"]
    header, first, second = done.out.splitlines()[2:5]
    assert header.endswith("Notes  Organisation  Cost per question")
    assert [first.split()[1], second.split()[1]] == ["Alpha", "d-b"]
    assert first.endswith("ACME                      $0.25")
    records = list(
        csv.DictReader(io.StringIO((root / "evaluation/leaderboard.csv").read_text("utf-8")))
    )
    assert [record["about_name"] for record in records] == ["Alpha", ""]
    assert records[0]["about_cost"] == "0.25"
    assert (records[0]["name"], records[1]["about_organisation"]) == ("d-a", "Bravo")
    assert "| Alpha |" in (root / "evaluation/leaderboard.md").read_text("utf-8")


USAGE: Final = {"prompt_tokens": 2000, "completion_tokens": 100, "total_tokens": 2100}


def replies(answers: str, usage: object = USAGE) -> list[dict[str, Any]]:
    """Rows as `ask` writes them."""
    return [
        {"id": f"q{n}", "answer": answer, "usage": usage} for n, answer in enumerate(answers, 1)
    ]


def test_prices_give_a_cost_by_what_the_replies_took(root: Path) -> None:
    """2,000 tokens at $2 and 100 at $10, a million each, are half a cent; of two runs the mean."""
    thrice = {"prompt_tokens": 6000, "completion_tokens": 300}
    files = {
        "prediction/d-c.jsonl": replies("AAAA"),
        "prediction/d-e@1.jsonl": replies("AABB"),
        "prediction/d-e@2.jsonl": replies("AABB", thrice),
        "prediction/d-f.jsonl": replies("AABB", {"prompt_tokens": "many"}),
        "prediction/d-g.jsonl": replies("AAAA"),
    }
    write(root, files)
    prices = {"prompt": 2, "completion": 10}
    about = {name: {"prices": prices} for name in "acef"}
    done = tell(root, {**about, "g": {"prices": prices, "cost": 7}})
    assert (done.code, done.err) == (0, "")
    costs = {row["name"]: row.get("about", {}).get("cost") for row in rows(root)}
    assert costs == {"d-a": None, "d-b": None, "d-c": 0.005, "d-e": 0.01, "d-f": 0.0, "d-g": 7}
    assert "$0.005" in done.out
    again = run(root, "nightly")
    assert (again.code, counts(again)) == (0, (0, 7, 0))


def test_a_file_that_has_both_rows_with_usage_and_without(root: Path) -> None:
    others = ['{"id": "q3", "answer": "A"}', '{"id": "q4", "answer": "A", "usage": 7}']
    mixed = [*replies("AA"), *others]
    write(root, {"prediction/d-c.jsonl": mixed})
    results = run(root, "-f", "d-c", "--json").json
    assert results["usage"] == {
        "replies": 2, "prompt_tokens": 4000, "completion_tokens": 200,
    }  # fmt: skip
    assert "usage" not in run(root, "-f", "d-a", "--json").json


def test_only_columns_that_are_given(root: Path) -> None:
    plain = run(root, "nightly").out
    done = tell(root, {"a": {"organisation": "m"}})
    header = next(line for line in done.out.splitlines() if line.startswith("Rank"))
    assert header.split("Notes")[1].split() == ["Organisation"]
    (root / "prediction/systems.json").unlink()
    assert run(root, "nightly").out == plain.replace("2 files scored, 0 un", "0 files scored, 2 un")


def test_a_change_of_it_scores_nothing_anew_and_is_no_history(root: Path) -> None:
    run(root, "nightly")
    before = contents(root)
    assert counts(tell(root, {"a": FULL})) == (0, 2, 0)
    after = contents(root)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"leaderboard.json", "leaderboard.csv", "leaderboard.html", "leaderboard.md"}
    taken = snapshot(root)
    assert counts(run(root, "nightly")) == (0, 2, 0)
    assert snapshot(root) == taken
    write(root, {"prediction/systems.json": {"a": {**FULL, "name": "Other"}}})


def test_runs_and_datasets_of_one_system(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a@1": "AAAA", "a@2": "AAAB", "b@x": "AAAA"})
    write(tmp_path, {"dataset/e.json": [q("x", answer=...)], "prediction/e_a.json": {"x": "A"}})
    write(tmp_path, {"prediction/a.json": [q()]})
    tell(tmp_path, {"a": {"organisation": "m"}, "b": {"organisation": "n"}})
    found = {(row["dataset"], row["name"]): row["about"]["organisation"] for row in rows(tmp_path)}
    assert found == {
        ("d.json", "d-a"): "m",
        ("d.json", "d-b@x"): "n",
        ("e.json", "e_a"): "m",
        (None, "a"): "m",
    }


def test_forecasters(tmp_path: Path) -> None:
    for name in ("dataset", "prediction"):
        write(
            tmp_path,
            {f"{name}/prophet-sample.json": (ROOT / name / "prophet-sample.json").read_bytes()},
        )
    done = tell(tmp_path, {"harbor-9b": {"organisation": "ACME", "name": "Harbour"}})
    assert done.code == 0
    assert [row.get("about") for row in rows(tmp_path)][:2] == [
        {"organisation": "ACME", "name": "Harbour"},
        None,
    ]
    assert "   1  Harbour " in done.out


def test_the_table_over_all_datasets_and_the_page(tmp_path: Path) -> None:
    """Both have the columns; on the page a name has its organisation, and nothing is markup."""
    folder_of(tmp_path, a="AAAA", b="AABB")
    write(tmp_path, {"dataset/e.json": [q(f"x{n}", answer=...) for n in range(4)]})
    for name, text in (("a", "AABA"), ("b", "BBAA")):
        write(
            tmp_path,
            {f"prediction/e-{name}.json": {f"x{n}": letter for n, letter in enumerate(text)}},
        )
    plain = run(tmp_path, "nightly")
    done = tell(
        tmp_path,
        {"a": {"organisation": "<b>ACME</b>", "cost": 0.5}, "b": {"organisation": "Bravo"}},
    )
    assert done.out.count("Organisation") == 3
    assert "Organisation" not in plain.out
    (pooled,) = stored(tmp_path)["pooled"]
    assert {row["name"]: row["about"]["organisation"] for row in pooled["rows"]} == {
        "a": "<b>ACME</b>",
        "b": "Bravo",
    }
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert 'a <span class="s">&lt;b&gt;ACME&lt;/b&gt;</span></summary>' in page
    assert page.count('scope="col">Cost</th>') == 1
    assert "<b>ACME" not in page


def test_a_baseline_has_no_rank_and_a_line_through_all_rows(tmp_path: Path) -> None:
    """The ranks of the others are those without it, on a dataset and over all; it may be best."""
    folder_of(tmp_path, a="AAAA", b="AABB", coin="AAAA")
    write(tmp_path, {"dataset/e.json": [q(f"x{n}", answer=...) for n in range(4)]})
    answers = {"a": "AABA", "b": "BBAA", "coin": "ABAB"}
    for name, text in answers.items():
        values = {f"x{n}": letter for n, letter in enumerate(text)}
        write(tmp_path, {f"prediction/e-{name}.json": values})
    done = tell(tmp_path, {"coin": {"name": "A coin", "baseline": True}})
    assert done.code == 0

    def ranks(is_season: bool) -> dict[str, Any]:
        tables = stored(tmp_path)["pooled" if is_season else "tables"]
        return {
            row["name"]: (row["rank"], row["rank_interval"])
            for table in tables
            for row in table["rows"]
        }

    season, weeks = ranks(True), ranks(False)
    assert [season["coin"], weeks["d-coin"], weeks["e-coin"]] == [(None, None)] * 3
    for name in ("d-coin", "e-coin"):
        (tmp_path / f"prediction/{name}.json").unlink()
    assert tell(tmp_path, {}).code == 0
    assert ranks(False) == {name: rank for name, rank in weeks.items() if "coin" not in name}
    write(tmp_path, {"prediction/d-coin.json": {f"q{n}": "A" for n in range(4)}})
    done = tell(tmp_path, {"coin": {"name": "A coin", "baseline": True}})
    row = next(line for line in done.out.splitlines() if " A coin " in line)
    assert (row.split()[0], row.split()[-1]) == ("–", "baseline")
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    assert "Upright line: the baseline." in page
    body = page.split('<tbody id="ranking1">')[1].split("</tbody>")[0]
    assert body.count('<tr class="ref"><td class="rk"><b>–</b></td>') == 1
    assert body.count('<line class="zero"') == body.count('role="img"') > 2


def test_a_blind_guess_is_a_row_of_the_page(tmp_path: Path) -> None:
    """That of RxnOptBench, which every result says; on several datasets their mean by question."""
    for folder in ("dataset", "prediction"):
        for kind in ("single", "all"):
            name = f"multiple_choice_{kind}_varying"
            end = "" if folder == "dataset" else "-random"
            data = (ROOT / folder / f"{name}{end}.json").read_bytes()
            write(tmp_path, {f"{folder}/{name}{end}.json": data})
            if end:
                write(tmp_path, {f"{folder}/{name}-second.json": data})
    done = run(tmp_path, "nightly")
    assert done.code == 0
    board = stored(tmp_path)
    guesses = {table["dataset"]: table["guess"] for table in board["tables"]}
    counts_of = {table["dataset"]: table["rows"][0]["n"] for table in board["tables"]}
    means = sum(guesses[name] * counts_of[name] for name in guesses) / sum(counts_of.values())
    assert board["pooled"][0]["guess"] == pytest.approx(means)
    assert done.out.count("A uniform guess: ") == 3
    page = (tmp_path / "evaluation/leaderboard.html").read_text("utf-8")
    body = page.split('<tbody id="ranking1">')[1].split("</tbody>")[0]
    (row,) = [line for line in body.splitlines() if '<tr class="ref">' in line]
    assert "A uniform guess" in row
    assert f">{means:.3f}<" in row


def test_a_system_without_a_result_is_told(root: Path) -> None:
    done = tell(root, {"a": {}, "c": {"cost": 1}, "e": {"cost": 0}})
    assert (done.code, done.err) == (0, "")  # cron mails what comes there
    assert "systems.json: without a result: 2 (c, e)" in done.out.splitlines()
    assert run(root, "nightly", "--json").json["without_result"] == ["c", "e"]


def test_a_system_that_waits_for_a_truth_is_not(root: Path) -> None:
    rows = {"q0": "A"}
    write(
        root, {"dataset/w.json": [question("q0", ground_truth=None)], "prediction/w-n.json": rows}
    )
    done = tell(root, {"a": {}, "n": {"cost": 1, "aliases": ["m"]}, "c": {"cost": 1}})
    assert "systems.json: without a result: 1 (c)" in done.out.splitlines()
    (root / "prediction/w-n.json").rename(root / "prediction/w-m.json")
    assert run(root, "nightly", "--json").json["without_result"] == ["c"]


def test_long_values_are_cut_in_a_cell_only(root: Path) -> None:
    done = tell(root, {"a": {"organisation": "x" * 300}})
    assert "x" * 59 + "…" in done.out
    assert "x" * 60 not in done.out
    assert rows(root)[0]["about"]["organisation"] == "x" * 300


# --- It is no prediction ---


def test_it_is_no_prediction(root: Path) -> None:
    tell(root, {"a": FULL})
    for name in ("systems", "systems.json", str(root / "prediction/systems.json")):
        assert_refused(run(root, "-f", name), "systems.json", "expected predictions")
        assert_refused(run(root, "compare", "d-a", name), "systems.json", "expected predictions")
    assert not (root / "evaluation/systems.json").exists()
    write(root, {"prediction/systems.jsonl": [q()]})  # which is one
    assert counts(run(root, "nightly")) == (1, 2, 0)
    write(root, {"runs/systems.json": [q()]})
    assert run(root, "-f", str(root / "runs/systems.json")).code == 0


def test_nothing_else_in_the_folder(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/systems.json": {"a": FULL}})
    assert_refused(run(tmp_path, "nightly"), "expected prediction files", "none")
    write(tmp_path, {"dataset/d.json": [q()]})  # nobody has answered yet (issue 52, 5)
    done = run(tmp_path, "nightly")
    assert (done.code, "systems.json: without a result: 1 (a)" in done.out) == (0, True)


# --- Mistakes ---


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ("{", "not JSON: line 1 column 2"),
        ("", "expected JSON, got an empty file"),
        (b"\xff\xfe{\x00", "not UTF-8"),
        ("[" * 99_999, "expected records, got JSON nested too deeply"),
        ([], "expected an object of systems, got a list"),
        ("3", "expected an object of systems, got 3"),
        ({"a": []}, "system a: expected an object, got a list"),
        ({"a": "x"}, "system a: expected an object, got 'x'"),
        ({"a": {"baseline": "yes"}}, "system a: 'baseline' must be true or false, got 'yes'"),
        ({"a": {"cost": "1"}}, "system a: 'cost' must be a number >= 0, got '1'"),
        ({"a": {"cost": -1}}, "system a: 'cost' must be a number >= 0, got -1"),
        ({"a": {"prices": {"prompt": 1}}},
         "system a: 'prices' must be the prices of a million tokens, as "),
        ({"a": {"prices": {"prompt": 1, "completion": -1}}},
         "system a: 'prices' must be the prices of a million tokens, as "),
        ({"a": {"prices": 3}}, "system a: 'prices' must be the prices of a million tokens, as "),
        ({"a": {"cost": True}}, "system a: 'cost' must be a number >= 0, got True"),
        ('{"a": {"cost": NaN}}', "system a: 'cost' must be a number >= 0, got nan"),
        ('{"a": {"cost": 1' + "0" * 5000 + "}}",
         "system a: 'cost' must be a number >= 0, got '1000"),
        ({"a": {"name": ""}}, "system a: 'name' must be text, got ''"),
        ({"a": {"organisation": ["m"]}}, "system a: 'organisation' must be text, got a list"),
        ('{"a": {"cost": 1, "cost": 2}}', "system a: 'cost' is given twice"),
        ('{"a": {"cost": 1}, "a": {"cost": 2}}', "system a: given twice"),
        ({"": 1}, "system '': expected an object, got 1"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_costs_no_score(root: Path, about: Any, told: str) -> None:
    done = tell(root, about)
    (line,) = failures(done)
    assert line.startswith(f"systems.json: {told}"), line
    assert len(line) < 300
    assert counts(done) == (2, 0, 1)
    before = snapshot(root)
    assert failures(run(root, "nightly")) == [line]
    assert snapshot(root) == before


@pytest.mark.parametrize("shown", ["b", "d-b", "B ", "\uff42", "\u200bb", "b\u3164", "b\ufe0f"])
def test_nobody_is_shown_by_the_name_of_another(root: Path, shown: str) -> None:
    done = tell(root, {"a": {"name": shown, "cost": 1}, "b": {"name": "b"}})
    (line,) = failures(done)
    assert line.startswith(
        "systems.json: system a: 'name' must not be that of another system, got "
    ), line
    assert [row["about"] for row in rows(root)] == [{"cost": 1}, {"name": "b"}]
    before = snapshot(root)
    assert failures(run(root, "nightly")) == [line]
    assert snapshot(root) == before


def test_mistakes_are_told_together_and_the_rest_counts(root: Path) -> None:
    about = {
        "a": {"cost": -1, "name": 3, "organisation": "ACME"},
        "b": 7,
        **{f"x{n}": n for n in range(5)},
    }
    (line,) = failures(tell(root, about))
    assert line.split("; ") == [
        "systems.json: system a: 'name' must be text, got 3",
        "system a: 'cost' must be a number >= 0, got -1",
        "system b: expected an object, got 7", "system x0: expected an object, got 0",
        "system x1: expected an object, got 1", "and 3 more",
    ]  # fmt: skip
    assert rows(root)[0]["about"] == {"organisation": "ACME"}


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nowhere"])
def test_what_is_no_file(root: Path, kind: str) -> None:
    path = root / "prediction/systems.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    (line,) = failures(run(root, "nightly"))
    assert line.startswith("systems.json: ")
    assert str(root) not in line


def test_hostile_text(root: Path) -> None:
    evil = EVIL + "|<script>`[x](y)"
    done = tell(
        root,
        {
            "a": {"name": evil, "organisation": evil, evil: evil, "=k\t=1+1": "=1+1"},
            evil: {"cost": -1},
        },
    )
    assert done.code == 3
    text = (root / "evaluation/leaderboard.md").read_text("utf-8")
    table = (root / "evaluation/leaderboard.csv").read_text("utf-8")
    assert not RAW_CONTROL.search(done.out + done.err + text + table)
    assert "<script>" not in text
    cells = (
        text.splitlines()[4].replace(r"\|", "").count("|"),
        text.splitlines()[6].replace(r"\|", "").count("|"),
    )
    assert cells[0] == cells[1]
    header, first, *_ = csv.reader(io.StringIO(table))
    assert len(header) == len(first)
    assert not [cell for cell in header + first if cell.startswith(("=", "\t="))]
    assert json.loads((root / "evaluation/leaderboard.json").read_text("utf-8"))


def test_no_file_says_nothing() -> None:
    assert read_systems(Path("nowhere")).entries == {}
