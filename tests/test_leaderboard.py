r"""Ranking, and `python eval.py --all` over a folder: what is reused, what a bad file costs, what a kill leaves.

The same things through the library where a race or a dead process has to be staged, else through the command line.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import leaderboard
from common import EvaluationError, InputError, LockedError, format_html, format_text, write_atomic
from eval import FutureXEvaluator, evaluate_file
from leaderboard import board_report, evaluate_folder, format_csv, format_markdown, lock_folder, rank, score_unchanged
from llm_server import LlmServer, error, honest
from test_cli import EVIL, RAW_CONTROL, ROOT, Done, Record, assert_refused, number, q, question, run, write

BOARD_FILES: Final = ["leaderboard.csv", "leaderboard.json", "leaderboard.md"]
Stamp = tuple[bytes, int, int]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def score(records: list[Record], name: str, **policies: Any) -> Record:
    return {"name": name, **FutureXEvaluator(**policies).evaluate_all(records)}


def system(name: str, *right: bool, level: int = 1) -> Record:
    """A system with these answers, right or wrong, at one level."""
    return score([q(f"q{n:02}", level=level, answer="A" if yes else "B") for n, yes in enumerate(right)], name)


def rows(board: Mapping[str, Any]) -> list[Record]:
    """The rows of the only table."""
    assert len(board["tables"]) == 1
    return list(board["tables"][0]["rows"])


def column(board: Mapping[str, Any], key: str) -> list[Any]:
    return [row[key] for row in rows(board)]


def snapshot(root: Path) -> dict[str, Stamp]:
    """Bytes, time and identity of every file of evaluation/, and the folder's own time."""
    folder = root / "evaluation"
    taken = {p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.iterdir()}
    return {**taken, ".": (b"", folder.stat().st_mtime_ns, folder.stat().st_ino)}


def contents(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "evaluation").iterdir()}


def stored(root: Path, name: str = "leaderboard") -> Any:
    record = json.loads((root / "evaluation" / f"{name}.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert re.fullmatch("[0-9a-f]{64}", record.pop("result_sha256"))
    return record


def counts(done: Done) -> tuple[int, int, int]:
    """(scored, unchanged, failed) as the last line of a run says."""
    match = re.fullmatch(r"(\d+) files scored, (\d+) unchanged, (\d+) failed(; not read.*)?", done.out.splitlines()[-1])
    assert match, done.out + done.err
    return int(match[1]), int(match[2]), int(match[3])


def folder_of(root: Path, **answers: str) -> Path:
    """A dataset d of four questions, and a prediction d-NAME for each text of answers."""
    write(root, {"dataset/d.json": [question(f"q{place}") for place in range(4)]})
    return write(root, {
        f"prediction/d-{name}.json": {f"q{place}": letter for place, letter in enumerate(text)}
        for name, text in answers.items()
    })  # fmt: skip


def evaluate(root: Path, score: leaderboard.Score | None = None, **options: Any) -> Record:
    evaluator = FutureXEvaluator()
    score = score or partial(evaluate_file, evaluator)
    return evaluate_folder(root, score, lambda benchmark: evaluator.settings(), **options)


def failures(done: Done, code: int = 3) -> list[str]:
    """The lines on stderr of a run in which files failed."""
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert not RAW_CONTROL.search(done.out + done.err)
    lines = done.err.splitlines()
    assert all(line.startswith("eval.py: ") for line in lines)
    return [line.removeprefix("eval.py: ") for line in lines]


# --- Ranking ---


def test_ties_share_a_rank() -> None:
    answers = {"c": "AAAB", "a": "AAAA", "d": "ABBB", "b": "BAAA"}
    board = rank([system(name, *(letter == "A" for letter in text)) for name, text in answers.items()])
    assert [(row["rank"], row["name"], row["overall_score"]) for row in rows(board)] == [
        (1, "a", 1.0), (2, "b", 0.75), (2, "c", 0.75), (4, "d", 0.25),
    ]  # fmt: skip
    assert column(board, "difference_above") == [None, 0.25, 0.0, 0.5]


def test_ties_of_sums_that_differ_in_the_last_digit() -> None:
    """0.1 + 0.2·0.5 and 0.3·(2/3) of one weight sum: equal on paper, not in every order of addition."""
    levels = [(1, "A"), (2, "A"), (2, "B"), (3, "A"), (3, "A"), (3, "B")]
    first = [q(f"{n}", level=level, answer=answer) for n, (level, answer) in enumerate(levels)]
    second = [q(f"{n}", level=level, answer="A" if level == 2 else "B") for n, (level, _) in enumerate(levels)]
    second[0]["answer"] = "A"
    second[3]["answer"] = "A"
    a, b = score(first, "a"), score(second, "b")
    # 0.1 + 0.1 + 0.2 = 0.4 and 0.1 + 0.2 + 0.1 = 0.4, over 0.6
    board = rank([b, a])
    assert column(board, "rank") == [1, 1]
    assert column(board, "name") == ["a", "b"]
    assert column(board, "overall_score") == pytest.approx([2 / 3, 2 / 3])


def test_a_row_says_it_all() -> None:
    records = [q("q1"), q("q2", answer=""), q("q3", answer="I wonder"), number("q4", Std=4, answer="102")]
    row = rows(rank([score(records, "a")]))[0]
    assert row["overall_score"] == pytest.approx((0.1 / 3 + 0.4 * 0.75) / 0.5)
    assert {key: row[key] for key in ("rank", "n", "missing", "unparsed", "degraded", "significant")} == {
        "rank": 1, "n": 4, "missing": 1, "unparsed": 1, "degraded": False, "significant": None,
    }  # fmt: skip
    assert row["level_scores"]["1"] == pytest.approx(1 / 3)
    assert math.isnan(row["level_scores"]["2"])
    assert row["level_scores"]["4"] == 0.75


def test_interval_of_a_row_is_that_of_the_result() -> None:
    result = system("a", True, False, True, True)
    assert column(rank([result]), "overall_interval") == [result["overall_interval"]]


def with_scores(name: str, scores: list[float]) -> Record:
    """Numbers at level 4 that score just that."""
    return score([
        number(f"q{n:02}", ground_truth="1000", Std=100, answer=f"{1000 + 100 * math.sqrt(1 - value):.9f}")
        for n, value in enumerate(scores)
    ], name)  # fmt: skip


def test_significant_although_the_intervals_overlap() -> None:
    """Every question is answered a little better: paired, that is beyond doubt; the intervals are wide and alike."""
    low = [n / 24 for n in range(20)]
    board = rank([with_scores("low", low), with_scores("high", [value + 0.1 for value in low])])
    above, below = rows(board)
    assert above["name"] == "high"
    assert below["overall_interval"][1] > above["overall_score"] > below["overall_score"] > above["overall_interval"][0]
    assert below["significant"] is True
    assert below["p_above"] == pytest.approx(1 / 10_001, rel=3)
    assert "≈" not in format_text(board_report(board))


def test_not_significant_although_the_intervals_are_apart() -> None:
    """One stratum decides the difference and its four questions all say so, but 2 / 2⁴ is the smallest p there is."""
    board = rank([with_scores("high", [0.9, 0.91, 0.92, 0.93]), with_scores("low", [0.1, 0.11, 0.12, 0.13])])
    above, below = rows(board)
    assert above["overall_interval"][0] > below["overall_interval"][1]
    assert below["p_above"] == 2 / 2**4
    assert below["significant"] is False
    report = format_text(board_report(board))
    assert re.search(r"^ *2  low .*≈$", report, re.M)
    assert "not significant" in report


def test_one_table_per_dataset_and_per_questions() -> None:
    a, b, c = system("a", True), system("b", True, False), system("c", False)
    board = rank([{**a, "dataset": "x.json"}, {**b, "dataset": "y.json"}, {**c, "dataset": "x.json"}, c, b])
    tables = [(table["dataset"], [row["name"] for row in table["rows"]]) for table in board["tables"]]
    assert sorted(tables[:2], key=str) == [(None, ["b (5)"]), (None, ["c (4)"])]
    assert tables[2:] == [("x.json", ["a", "c"]), ("y.json", ["b"])]


def test_order_of_the_results_changes_nothing() -> None:
    results = [system(name, *(random.Random(name).random() < 0.5 for _ in range(20))) for name in "abcdef"]
    boards = {json.dumps(rank(order)) for order in itertools.islice(itertools.permutations(results), 0, 720, 60)}
    assert len(boards) == 1


def test_order_of_the_questions_changes_no_score_and_no_p() -> None:
    def board(seed: int) -> list[Any]:
        results = []
        for name in "ab":
            records = [q(f"{n}", answer=random.Random(f"{name}{n}").choice("AB")) for n in range(30)]
            random.Random(seed).shuffle(records)
            results.append(score(records, name))
        return [(row["name"], row["overall_score"], row["p_above"]) for row in rows(rank(results))]

    assert board(0) == board(1)


LEVELS: Final = {1: 3, 2: 4, 4: 5}  # questions by level


def three_levels(name: str, right: Mapping[int, int]) -> Record:
    records = [
        q(f"{level}-{place}", level=level, answer="A" if place < right[level] else "B", **TRUTH.get(level, {}))
        for level, count in LEVELS.items()
        for place in range(count)
    ]
    return score(records, name)


TRUTH: Final[dict[int, Record]] = {4: {"prompt": "Who?", "ground_truth": "A"}}


@pytest.mark.parametrize(
    ("least", "overall", "shown"),
    [
        (0, (0.1 * 1 / 3 + 0.2 * 2 / 4 + 0.4 * 4 / 5) / 0.7, "124"),
        (3, (0.1 * 1 / 3 + 0.2 * 2 / 4 + 0.4 * 4 / 5) / 0.7, "124"),
        (4, (0.2 * 2 / 4 + 0.4 * 4 / 5) / 0.6, "24"),
        (5, 4 / 5, "4"),
    ],
)
def test_min_questions_renormalises(least: int, overall: float, shown: str) -> None:
    board = rank([three_levels("a", {1: 1, 2: 2, 4: 4})], least)
    row = rows(board)[0]
    assert row["overall_score"] == pytest.approx(overall)
    assert [level for level, value in row["level_scores"].items() if not math.isnan(value)] == list(shown)
    assert list(board["tables"][0]["weights"]) == list(shown)
    assert board["leaderboard"]["min_questions"] == least
    assert row["n"] == sum(board["tables"][0]["level_counts"][level] for level in shown)
    cells = next(line for line in format_text(board_report(board)).splitlines() if " a " in line).split()
    assert cells.count("–") == 4 - len(shown) + 1 + (row["overall_interval"] is None)  # and p above


def test_min_questions_may_turn_the_order() -> None:
    a, b = three_levels("a", {1: 3, 2: 4, 4: 3}), three_levels("b", {1: 0, 2: 0, 4: 4})
    assert column(rank([a, b]), "name") == ["a", "b"]
    board = rank([a, b], 5)
    assert column(board, "name") == ["b", "a"]
    assert rows(board)[1]["difference_above"] == pytest.approx(1 / 5)
    assert rows(board)[1]["p_above"] == 1.0  # one question differs: 2 / 2¹


def test_no_level_counts() -> None:
    board = rank([system("b", True), system("a", False)], 25)
    assert column(board, "rank") == [None, None]
    assert column(board, "name") == ["a", "b"]
    assert all(math.isnan(value) for value in column(board, "overall_score"))
    assert format_csv(board).count("nan") == 0


def test_missing_counts_zero_and_skip_is_refused() -> None:
    records = [q("q1"), q("q2", answer="")]
    assert column(rank([score(records, "a")]), "overall_score") == [0.5]
    with pytest.raises(InputError, match=r"^a: missing answers must score 0: .*, got missing skip$"):
        rank([score(records, "a", missing="skip")])


def test_rank_of_nothing() -> None:
    assert rank([])["tables"] == []
    assert format_text(board_report(rank([]))) == ""


# --- Hostile names in CSV, Markdown, HTML and on the screen ---

HOSTILE: Final = [
    "=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", " =1", "＝1", '"a",b', "|a|",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))", "![x](http://h)", "`a`", "**a**", "_a_", "# a", "https:x", "www.a.com", "a@b.c", "&lt;",
    "a\\|b", EVIL, "甲\u200b", "$x$", "~~a~~", "$(id)", "%s{0}",
]  # fmt: skip


@pytest.fixture
def hostile_board() -> Record:
    board = dict(rank([{**system(name, True, False), "name": name} for name in HOSTILE]))
    board["failed"] = [{"file": name, "reason": f"expected {name}", "fault": False} for name in HOSTILE]
    return board


def test_no_cell_of_the_csv_is_a_formula(hostile_board: Record) -> None:
    text = format_csv(hostile_board)
    assert not RAW_CONTROL.search(text)
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == len(HOSTILE)
    for row in table:
        assert None not in row
        for cell in row.values():
            assert not re.match(r"\s*[-=+@＝＋－＠|%\t\r]", cell), cell
    names = {row["name"] for row in table}
    assert {"'=cmd|'/c calc'!A1", "'-2+3", '"a",b', "a@b.c"} <= names  # nothing else changes


def test_csv_says_what_the_board_says(hostile_board: Record) -> None:
    first = next(csv.DictReader(io.StringIO(format_csv(hostile_board))))
    row = rows(hostile_board)[0]
    assert (first["rank"], first["score"], first["n"], first["level_2"]) == ("1", "0.5", "2", "")
    assert float(first["low"]) == row["overall_interval"][0]


def test_markdown_of_hostile_names(hostile_board: Record) -> None:
    text = format_markdown(hostile_board)
    assert not RAW_CONTROL.search(text)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    plain = re.sub(r"\\[!-/:-@\[-`{-~]", "", "\n".join(lines))  # without what is escaped
    bars = [len(re.findall(r"\|", line)) for line in plain.splitlines()]
    header = bars[0]
    assert set(bars[: len(HOSTILE) + 2]) == {header}  # one row each, no cell more
    assert set(bars[len(HOSTILE) + 2 :]) == {3}
    for forbidden in ("<", "](", "`", "**", "_", "&", "www.", "http:", "https:", "@", "$", "~"):
        assert forbidden not in plain


def test_html_and_screen_of_hostile_names(hostile_board: Record) -> None:
    html = format_html(board_report(hostile_board))
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert not RAW_CONTROL.search(html + format_text(board_report(hostile_board)))


# --- A night's run ---


def test_first_and_second_run(tmp_path: Path) -> None:
    folder_of(tmp_path, best="AAAA", worst="BBBB", half="AABB")
    write(tmp_path, {"prediction/own.jsonl": [q("x")]})
    done = run(tmp_path, "--all")
    assert (done.code, done.err, counts(done)) == (0, "", (4, 0, 0))
    assert sorted(contents(tmp_path)) == sorted(
        [".lock", "d-best.json", "d-half.json", "d-worst.json", "own.json", *BOARD_FILES]
    )
    board = stored(tmp_path)
    tables = {table["dataset"]: [(row["rank"], row["name"]) for row in table["rows"]] for table in board["tables"]}
    assert tables == {"d.json": [(1, "d-best"), (2, "d-half"), (3, "d-worst")], None: [(1, "own")]}
    for name in ("d-best", "d-half", "own"):
        assert stored(tmp_path, name) == run(tmp_path, "-f", name, "--json").json
    before = snapshot(tmp_path)
    again = run(tmp_path, "--all")
    assert (again.code, counts(again)) == (0, (0, 4, 0))
    assert snapshot(tmp_path) == before
    assert again.out.splitlines()[:-1] == done.out.splitlines()[:-1]


def test_second_run_calls_nothing(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    first = evaluate(tmp_path)

    def refuse(path: Path, dataset: Path | None) -> Record:
        raise AssertionError(path)

    second = evaluate(tmp_path, refuse)
    assert (second["evaluated"], second["reused"], second["failed"]) == (0, 2, [])
    assert second["tables"] == first["tables"]


def test_json_board_is_what_is_stored(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    printed = run(tmp_path, "--all", "--json").json
    assert {key: printed[key] for key in stored(tmp_path)} == stored(tmp_path)
    assert (printed["evaluated"], printed["reused"]) == (2, 0)


def test_force_redoes_all_and_writes_the_same(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "--all")
    before = contents(tmp_path)
    write(tmp_path, {"evaluation/d-a.json": contents(tmp_path)["d-a.json"].replace(b"1.0", b"0.5")})
    assert counts(run(tmp_path, "--all", "--force")) == (2, 0, 0)
    assert contents(tmp_path) == before


def test_what_save_wrote_is_reused(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "-f", "d-a", "--save")
    assert counts(run(tmp_path, "--all")) == (1, 1, 0)
    before = snapshot(tmp_path)
    run(tmp_path, "-f", "d-a", "--save")
    assert counts(run(tmp_path, "--all")) == (0, 2, 0)
    assert {name for name, stamp in snapshot(tmp_path).items() if stamp != before[name]} == {".", "d-a.json"}


def test_changed_prediction_is_scored_again_alone(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "--all")
    status = (tmp_path / "prediction/d-a.json").stat()
    folder_of(tmp_path, a="AAAB")  # of the same size
    os.utime(tmp_path / "prediction/d-a.json", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts(run(tmp_path, "--all")) == (1, 1, 0)
    assert column(stored(tmp_path), "overall_score") == [0.75, 0.5]


def test_touched_prediction_is_not_scored_again(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    run(tmp_path, "--all")
    before = snapshot(tmp_path)
    os.utime(tmp_path / "prediction/d-a.json", (1, 1))
    assert counts(run(tmp_path, "--all")) == (0, 1, 0)
    assert snapshot(tmp_path) == before


def test_changed_dataset(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    write(tmp_path, {"prediction/own.json": [q()]})
    run(tmp_path, "--all")
    write(tmp_path, {"dataset/d.json": [question(f"q{place}", ground_truth="B") for place in range(4)]})
    assert counts(run(tmp_path, "--all")) == (2, 1, 0)
    assert [row["overall_score"] for row in stored(tmp_path)["tables"][1]["rows"]] == [0.5, 0.0]


@pytest.mark.parametrize("change", ["dataset appears", "longer name", "dataset goes", "prediction renamed"])
def test_other_files_under_the_same_name(tmp_path: Path, change: str) -> None:
    write(tmp_path, {"prediction/d-a.json": [q()]})
    if change != "dataset appears":
        write(tmp_path, {"dataset/d.json": [question()]})
    run(tmp_path, "--all")
    if change == "dataset goes":
        (tmp_path / "dataset/d.json").unlink()
    elif change == "prediction renamed":
        write(tmp_path, {"prediction/d-a.jsonl": [q()]})
        (tmp_path / "prediction/d-a.json").unlink()
    else:
        write(tmp_path, {f"dataset/{'d-a' if change == 'longer name' else 'd'}.json": [question(ground_truth="B")]})
    done = run(tmp_path, "--all")
    if change == "dataset goes":  # its own questions may carry older truths
        assert failures(done, 2) == ["d-a.json: expected its dataset, d.json, as before (or --force), got none"]
        done = run(tmp_path, "--all", "--force")
    assert counts(done) == (1, 0, 0)
    expected = run(tmp_path, "-f", "d-a", "--json").json
    assert stored(tmp_path, "d-a") == expected
    assert stored(tmp_path)["tables"][0]["dataset"] == expected["dataset"]


def test_deleted_prediction_leaves_the_board(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "--all")
    old = contents(tmp_path)["d-a.json"]
    (tmp_path / "prediction/d-a.json").unlink()
    assert counts(run(tmp_path, "--all")) == (0, 1, 0)
    assert column(stored(tmp_path), "name") == ["d-b"]
    assert contents(tmp_path)["d-a.json"] == old  # whoever paid for it keeps it


def test_another_policy(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [number(answer="102")]})
    run(tmp_path, "--all")
    for sigma, overall in (("0.04", 0.75), ("0.1", 0.96)):
        assert counts(run(tmp_path, "--all", "--relative-sigma", sigma)) == (1, 0, 0)
        assert column(stored(tmp_path), "overall_score") == pytest.approx([overall])
        assert counts(run(tmp_path, "--all", "--relative-sigma", sigma)) == (0, 1, 0)
    assert counts(run(tmp_path, "--all")) == (1, 0, 0)
    assert column(stored(tmp_path), "overall_score") == [0.0]


def test_another_version(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    evaluator = FutureXEvaluator()
    evaluate(tmp_path)
    newer = {**evaluator.settings(), "evaluator": "FutureX 99"}
    board = evaluate_folder(tmp_path, partial(evaluate_file, evaluator), lambda benchmark: newer)
    assert (board["evaluated"], board["reused"]) == (1, 0)


def test_min_questions_ranks_anew_without_scoring(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "--all")
    done = run(tmp_path, "--all", "--min-questions", "5")
    assert counts(done) == (0, 2, 0)
    assert column(stored(tmp_path), "rank") == [None, None]
    assert counts(run(tmp_path, "--all")) == (0, 2, 0)
    assert column(stored(tmp_path), "rank") == [1, 2]


def _set(*path: Any, to: Any = ...) -> Any:
    def change(value: Any) -> Any:
        inner = value
        for key in path[:-1]:
            inner = inner[key]
        if to is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = to
        return value

    return change


DAMAGES: Final = {
    "empty": lambda raw: b"",
    "torn": lambda raw: raw[: len(raw) // 2],
    "last byte": lambda raw: raw[:-3],
    "NUL bytes": lambda raw: b"\0" * len(raw),
    "no UTF-8": lambda raw: raw.replace(b"A", b"\xff"),
    "a list": lambda raw: b"[]",
    "null": lambda raw: b"null",
    "deep": lambda raw: b"[" * 100_000,
}
RESULT_DAMAGES: Final = {
    **DAMAGES,
    "no items": _set("items"),
    "items null": _set("items", to=None),
    "item a number": _set("items", 0, to=3),
    "score text": _set("items", 0, "score", to="1"),
    "score null": _set("items", 0, "score", to=None),
    "another score": _set("items", 0, "score", to=0.25),
    "level 9": _set("items", 0, "level", to=9),
    "no warnings": _set("warnings"),
    "no checksum": _set("signature", "questions_sha256"),
    "no signature": _set("signature"),
    "signature text": _set("signature", to="x"),
}
BOARD_DAMAGES: Final = {
    **DAMAGES,
    "tables a number": _set("tables", to=3),
    "no tables": _set("tables"),
    "table a number": _set("tables", 0, to=3),
    "row null": _set("tables", 0, "rows", 0, to=None),
    "no failed": _set("failed"),
    "no signature": _set("leaderboard"),
    "signature text": _set("leaderboard", to="x"),
    "another score": _set("tables", 0, "rows", 0, "overall_score", to=0.99),
}


def damage(path: Path, change: Any) -> None:
    raw = path.read_bytes()
    if change in DAMAGES.values():
        path.write_bytes(change(raw))
    else:
        path.write_text(json.dumps(change(json.loads(raw))), encoding="utf-8")


@pytest.mark.parametrize("board", [True, False], ids=["with board", "without board"])
@pytest.mark.parametrize("change", RESULT_DAMAGES.values(), ids=RESULT_DAMAGES)
def test_damaged_result_is_made_anew(tmp_path: Path, change: Any, board: bool) -> None:
    if not board and change is RESULT_DAMAGES["another score"]:
        pytest.skip("nothing left tells")
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    before = contents(tmp_path)
    damage(tmp_path / "evaluation/d-a.json", change)
    if not board:
        (tmp_path / "evaluation/leaderboard.json").unlink()
    again = evaluate(tmp_path)
    assert (again["evaluated"], again["reused"], again["failed"]) == (1, 1, [])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("change", BOARD_DAMAGES.values(), ids=BOARD_DAMAGES)
def test_damaged_board_is_made_anew_without_scoring(tmp_path: Path, change: Any) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    before = contents(tmp_path)
    damage(tmp_path / "evaluation/leaderboard.json", change)
    again = evaluate(tmp_path)
    assert (again["evaluated"], again["reused"], again["failed"]) == (0, 2, [])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["d-a.json", *BOARD_FILES])
def test_deleted_file_is_made_anew(tmp_path: Path, name: str) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    before = contents(tmp_path)
    (tmp_path / "evaluation" / name).unlink()
    assert evaluate(tmp_path)["evaluated"] == (name == "d-a.json")
    assert contents(tmp_path) == before


def test_degraded_result_is_not_reused(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": [number(answer=r"\boxed{101 then, after 90 now}", Std=5)]})

    def night(model: str | None = "m") -> tuple[int, int, bool, float]:
        evaluator = FutureXEvaluator("key", server.url, model=model) if model else FutureXEvaluator()
        board = evaluate_folder(tmp_path, partial(evaluate_file, evaluator), lambda benchmark: evaluator.settings())
        row = rows(board)[0]
        return board["evaluated"], board["reused"], row["degraded"], row["overall_score"]

    with LlmServer(lambda asked: error(401)) as server:
        assert night() == (1, 0, True, 0.0)  # the grammar takes 90, 2 sigma off
        assert "degraded" in (tmp_path / "evaluation/leaderboard.md").read_text("utf-8")
        server.script = honest  # the next night it is up
        assert night() == (1, 0, False, pytest.approx(0.96))
        asked = len(server.requests)
        assert night() == (0, 1, False, pytest.approx(0.96))
        assert len(server.requests) == asked
        assert night("other") == (1, 0, False, pytest.approx(0.96))
        assert night(None) == (1, 0, False, 0.0)


# --- A bad file costs only itself ---


def break_folder(root: Path) -> dict[str, str]:
    """Put every kind of bad file into prediction/: name and a piece of the reason."""
    predictions = root / "prediction"
    write(root, {
        "prediction/torn.json": '[{"id": "q1"', "prediction/empty.json": b"", "prediction/latin.json": b'["\xe9"]',
        "prediction/noid.json": [{"id": "q0", "prediction": "A"}], "prediction/d-other.json": {"x": "A"},
        "prediction/level.json": [q(level=9)], "prediction/leaderboard.json": [q()],
        "prediction/twice.json": [q()], "prediction/twice.jsonl": [q()],
        f"prediction/evil{EVIL[:5]}.json": "{",
    })  # fmt: skip
    (predictions / "folder.json").mkdir()
    (predictions / "broken.json").symlink_to("nowhere")
    (predictions / "loop.json").symlink_to("loop.json")
    os.mkfifo(predictions / "fifo.json")
    return {
        "torn.json": "not JSON", "empty.json": "an empty file", "latin.json": "not UTF-8", "noid.json": "--dataset",
        "d-other.json": "none with an id of it", "level.json": "'level' must be 1–4",
        "leaderboard.json": "another name",
        "twice.json": "twice.json, twice.jsonl", "twice.jsonl": "twice.json, twice.jsonl",
        "evil\\x1b[2J\\x1b.json": "not JSON", "folder.json": "regular file", "fifo.json": "regular file",
        "broken.json": "No such file", "loop.json": "symbolic links",
    }  # fmt: skip


def test_bad_files_cost_only_themselves(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    write(tmp_path, {"prediction/.hidden.json": "{", "prediction/.d-c.json": {"q0": "A"}, "prediction/notes.txt": "{"})
    expected = break_folder(tmp_path)
    (tmp_path / "prediction/linked.json").symlink_to("d-a.json")
    write(tmp_path, {"dataset/linked.json": [question(f"q{n}") for n in range(4)]})
    done = run(tmp_path, "--all")
    lines = failures(done)
    assert {line.split(":")[0] for line in lines} == set(expected)
    for name, reason in expected.items():
        line = [line for line in lines if line.startswith(f"{name}: ")]
        assert len(line) == 1
        assert reason in line[0]
        assert str(tmp_path) not in line[0]
        assert len(line[0]) < 300
    assert counts(done) == (3, 0, len(expected))
    board = stored(tmp_path)
    assert [[row["name"] for row in table["rows"]] for table in board["tables"]] == [["d-a", "d-b"], ["linked"]]
    assert len(board["failed"]) == len(expected)
    assert sorted(contents(tmp_path)) == sorted([".lock", "d-a.json", "d-b.json", "linked.json", *BOARD_FILES])
    assert not RAW_CONTROL.search((tmp_path / "evaluation/leaderboard.md").read_text("utf-8"))
    before = snapshot(tmp_path)
    again = run(tmp_path, "--all")
    assert (failures(again), counts(again)) == (lines, (0, 3, len(expected)))
    assert snapshot(tmp_path) == before


def test_bad_dataset_costs_only_its_predictions(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    write(tmp_path, {"prediction/e-x.json": {"q0": "A"}, "dataset/e.json": "{", "prediction/g-x.json": {"q0": "A"}})
    write(tmp_path, {"dataset/g.json": [question()], "dataset/g.jsonl": [question()]})
    lines = failures(run(tmp_path, "--all"))
    assert [line.split(":")[0] for line in lines] == ["e-x.json", "g-x.json"]
    assert "dataset/e.json: not JSON" in lines[0]
    assert "g.json and g.jsonl" in lines[1]


def test_unreadable_file(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    path = tmp_path / "prediction/d-a.json"
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")
    assert failures(run(tmp_path, "--all")) == ["d-a.json: cannot be read: Permission denied"]


def test_a_file_that_turns_bad_keeps_its_old_result(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    run(tmp_path, "--all")
    old = contents(tmp_path)["d-a.json"]
    write(tmp_path, {"prediction/d-a.json": "{"})
    assert failures(run(tmp_path, "--all"))[0].startswith("d-a.json: not JSON")
    assert column(stored(tmp_path), "name") == ["d-b"]
    assert contents(tmp_path)["d-a.json"] == old
    folder_of(tmp_path, a="AAAA")
    assert counts(run(tmp_path, "--all")) == (0, 2, 0)
    assert column(stored(tmp_path), "name") == ["d-a", "d-b"]


def test_all_files_bad(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/a.json": "{", "prediction/b.json": ""})
    done = run(tmp_path, "--all")
    assert len(failures(done, 2)) == 2
    assert counts(done) == (0, 0, 2)


@pytest.mark.parametrize("folder", ["empty", "hidden only", "none", "a file"])
def test_no_predictions(tmp_path: Path, folder: str) -> None:
    if folder == "hidden only":
        write(tmp_path, {"prediction/.a.json": [q()]})
    elif folder == "empty":
        (tmp_path / "prediction").mkdir()
    elif folder == "a file":
        write(tmp_path, {"prediction": ""})
    words = ["prediction", "cannot be read"] if folder in ("none", "a file") else ["expected prediction files", "none"]
    assert_refused(run(tmp_path, "--all"), *words)
    assert not (tmp_path / "evaluation/leaderboard.json").exists()


def test_root_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    assert_refused(run(tmp_path, "--all", "--root", str(tmp_path / "typo")), "typo")
    assert list(tmp_path.iterdir()) == []


def test_internal_fault_in_one_file(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")

    def faulty(path: Path, dataset: Path | None) -> Mapping[str, Any]:
        if path.stem == "d-a":
            raise ZeroDivisionError("float division by zero")
        return evaluate_file(FutureXEvaluator(), path, dataset)

    board = evaluate(tmp_path, faulty)
    assert board["failed"] == [{
        "file": "d-a.json", "fault": True,
        "reason": "internal fault, please report it: ZeroDivisionError: float division by zero",
    }]  # fmt: skip
    assert column(board, "name") == ["d-b"]


def test_strange_names_are_scored_and_reused(tmp_path: Path) -> None:
    names = ["run.v2", "模型 一", "x" * 250, "a.json", "=1+1", "-f", "a\nb", os.fsdecode(b"\xff")]
    write(tmp_path, {f"prediction/{name}.json": [q()] for name in names})
    done = run(tmp_path, "--all")
    assert (done.code, counts(done)) == (0, (len(names), 0, 0))
    assert not RAW_CONTROL.search(done.out)
    before = snapshot(tmp_path)
    assert counts(run(tmp_path, "--all")) == (0, len(names), 0)
    assert snapshot(tmp_path) == before


# --- Usage ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--all", "--dataset", "d"], ["--all", "--dataset"]),
        (["--all", "--items"], ["--all", "--items"]),
        (["--all", "--save"], ["--all", "--save"]),
        (["--all", "--missing", "skip"], ["--all", "--missing must be zero", "got skip"]),
        (["--all", "--min-questions", "-1"], ["--min-questions", "got -1"]),
        (["--all", "--min-questions", "many"], ["--min-questions", "many"]),
        (["--force"], ["--force", "needs --all"]),
        (["--force", "-f", "a"], ["--force", "needs --all"]),
        (["--min-questions", "25"], ["--min-questions", "needs --all"]),
        (["--compare", "a", "b", "--min-questions", "0"], ["--min-questions", "needs --all"]),
        (["--all", "-f", "a"], ["--all", "not allowed with"]),
        (["--all", "--compare", "a", "b"], ["--all", "not allowed with"]),
        (["--all", "--check", "d"], ["--all", "not allowed with"]),
        (["--compare", "a", "b", "-f", "a"], ["--compare", "not allowed with"]),
        (["--compare", "a", "b", "--check", "d"], ["--compare", "not allowed with"]),
        (["--check", ""], ["file"]),
    ],
)
def test_usage_errors(tmp_path: Path, options: list[str], words: list[str]) -> None:
    write(tmp_path, {"prediction/a.json": [q()], "prediction/250915-random.json": [q()]})
    write(tmp_path, {"dataset/d.json": [question()]})
    assert_refused(run(tmp_path, *options), *words)
    assert not (tmp_path / "evaluation").exists()


# --- Processes ---

WORKER: Final = """
import os, signal, sys
from pathlib import Path
from eval import FutureXEvaluator, evaluate_file

def score(path, dataset):
    once = path.parent / ".killed"
    if path.stem.startswith("always") or (path.stem.startswith("once") and not once.exists()):
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if path.stem.startswith("fault"):
        raise KeyError(path.stem)
    return evaluate_file(FutureXEvaluator(), path, dataset)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A score function that a process can import, and that kills its process for files named `always…` and `once…`."""
    (tmp_path / "module").mkdir()
    (tmp_path / "module/worker_for_test.py").write_text(WORKER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "module"))
    monkeypatch.setattr(leaderboard, "POOL_BYTES", 0)
    monkeypatch.delitem(sys.modules, "worker_for_test", raising=False)
    import worker_for_test  # type: ignore[import-not-found]

    return worker_for_test.score


def many(root: Path) -> Path:
    for number_ in range(12):
        rng = random.Random(number_)
        records = [q(f"q{n}", answer=rng.choice(["A", "B", ""])) for n in range(12)]
        write(root, {f"prediction/m{number_:02}.json": records})
    return write(root, {"prediction/bad.json": "{", "prediction/m20.json": [q(level=7)]})


def test_one_process_or_two_on_any_hash_seed(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys
        from functools import partial
        from pathlib import Path
        import leaderboard
        from eval import FutureXEvaluator, evaluate_file

        if __name__ == "__main__":
            leaderboard.POOL_BYTES = 0
            evaluator = FutureXEvaluator()
            leaderboard.evaluate_folder(Path(sys.argv[1]), partial(evaluate_file, evaluator),
                                        lambda benchmark: evaluator.settings(), processes=int(sys.argv[2]))
    """)
    outcomes = []
    for folder, processes, seed in (("a", "1", "1"), ("b", "2", "2")):
        root = many(tmp_path / folder)
        script = write(tmp_path, {"program.py": program}) / "program.py"
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, str(script), str(root), processes], env=env, check=True, timeout=60)
        outcomes.append(contents(root))
    assert len(outcomes[0]) == 12 + 4
    assert outcomes[0] == outcomes[1]


def test_small_folders_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "_start_pool", lambda processes: pytest.fail("a process"))
    assert evaluate(many(tmp_path), processes=8)["evaluated"] == 12


@pytest.mark.parametrize("victim", ["always", "once"])
def test_killed_process_costs_at_most_its_file(tmp_path: Path, worker: Any, victim: str) -> None:
    names = ["a1", "a2", "a3", "a4", victim, "y1", "y2", "fault"]
    write(tmp_path, {f"prediction/{name}.json": [q()] for name in names})
    board = evaluate(tmp_path, worker, processes=2)
    reasons = {entry["file"]: entry["reason"] for entry in board["failed"]}
    fault = {"fault.json": "internal fault, please report it: KeyError: 'fault'"}
    if victim == "always":
        assert reasons == {"always.json": "the process that scored it was killed (out of memory?)", **fault}
    else:  # it was innocent, or is well again
        assert reasons == fault
    assert column(board, "name") == ["a1", "a2", "a3", "a4", *(["once"] if victim == "once" else []), "y1", "y2"]


# --- Files that change while they are read ---


def changing(path: Path, changes: list[Any]) -> Any:
    """A score function that changes the file after reading it, once for every entry of `changes`."""
    calls: list[Path] = []

    def score(prediction: Path, dataset: Path | None) -> Mapping[str, Any]:
        calls.append(prediction)
        todo = changes[len(calls) - 1] if len(calls) <= len(changes) else None
        if todo == "gone first":
            path.unlink()
        results = evaluate_file(FutureXEvaluator(), prediction, dataset)
        if isinstance(todo, list):
            write(path.parent, {path.name: todo})
        elif todo == "gone":
            path.unlink()
        elif todo == "replaced":
            status = path.stat()
            path.rename(path.with_suffix(".old"))
            path.write_bytes(path.with_suffix(".old").read_bytes())
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        elif todo == "touched":
            os.utime(path, (1, 1))
        return results

    score.calls = calls  # type: ignore[attr-defined]
    return score


@pytest.mark.parametrize("change", [[q("q1"), q("q2")], "replaced", "touched"], ids=["longer", "replaced", "touched"])
@pytest.mark.parametrize("which", ["prediction", "dataset"])
def test_changed_once_is_read_again(tmp_path: Path, change: Any, which: str) -> None:
    write(tmp_path, {"p.json": [q("q1")], "d.json": [question("q1")]})
    watched = tmp_path / ("p.json" if which == "prediction" else "d.json")
    score = changing(watched, [change])
    results = score_unchanged(score, tmp_path / "p.json", tmp_path / "d.json")
    assert len(score.calls) == 2
    assert len(results["items"]) == (2 if isinstance(change, list) and which == "dataset" else 1)
    assert results == evaluate_file(FutureXEvaluator(), tmp_path / "p.json", tmp_path / "d.json")


def test_changed_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"p.json": [q("q1")]}) / "p.json"
    score = changing(path, [[q("q1"), q("q2")], [q("q1")]])
    with pytest.raises(InputError) as told:
        score_unchanged(score, path, None)
    assert str(told.value) == f"{path}: expected files that stay as they are, got a change while it was read, twice"
    assert len(score.calls) == 2


def test_torn_while_it_was_written_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, {"p.json": '[{"id": '}) / "p.json"

    def score(prediction: Path, dataset: Path | None) -> Mapping[str, Any]:
        try:
            return evaluate_file(FutureXEvaluator(), prediction, dataset)
        except EvaluationError:
            write(tmp_path, {"p.json": [q()]})  # the writer goes on meanwhile
            raise

    assert score_unchanged(score, path, None)["overall_score"] == 1.0


def test_a_bad_file_that_stays_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path, {"p.json": "{"}) / "p.json"
    score = changing(path, [])
    with pytest.raises(InputError, match="not JSON"):
        score_unchanged(score, path, None)
    assert len(score.calls) == 1


@pytest.mark.parametrize("moment", ["gone first", "gone"])
def test_vanished_file_costs_only_itself(tmp_path: Path, moment: str) -> None:
    folder_of(tmp_path, a="AAAA", b="ABAB")
    evaluate(tmp_path)
    old = contents(tmp_path)["d-a.json"]
    folder_of(tmp_path, a="AAAB")
    board = evaluate(tmp_path, changing(tmp_path / "prediction/d-a.json", [moment]))
    assert [(entry["file"], entry["reason"]) for entry in board["failed"]] == [
        ("d-a.json", "cannot be read: No such file or directory")
    ]
    assert column(board, "name") == ["d-b"]
    assert contents(tmp_path)["d-a.json"] == old


# --- The lock ---


@contextlib.contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of a folder."""
    code = (
        "import sys, time; from pathlib import Path; from leaderboard import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_second_run_stops_at_once_and_a_killed_one_frees_the_lock(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    run(tmp_path, "--all")
    folder_of(tmp_path, b="ABAB")
    before = snapshot(tmp_path)
    with holder(tmp_path / "evaluation") as process:
        done = run(tmp_path, "--all")
        assert_refused(done, "another run is at work here", "evaluation", code=5)
        assert done.out == ""
        assert snapshot(tmp_path) == before
        assert run(tmp_path, "-f", "d-a").code == 0  # scoring one file needs no lock
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert counts(run(tmp_path, "--all")) == (1, 1, 0)


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), lock_folder(tmp_path):
        raise KeyError
    with lock_folder(tmp_path), pytest.raises(LockedError) as told, lock_folder(tmp_path):
        pass
    assert told.value.exit_code == 5
    with lock_folder(tmp_path):
        pass


# --- Kills, strays, full disks ---


def test_kill_at_any_moment_leaves_whole_files(tmp_path: Path) -> None:
    """A run that rewrites everything is killed at random; what is there is whole, and the next run mends the rest."""
    dataset = [question(f"q{n}") for n in range(40)]
    write(tmp_path, {"dataset/d.json": dataset})
    for name in range(30):
        rng = random.Random(name)
        write(tmp_path, {f"prediction/d-{name:02}.json": {f"q{n}": rng.choice("AB") for n in range(40)}})
    run(tmp_path, "--all")
    expected = contents(tmp_path)
    command = [sys.executable, str(ROOT / "eval.py"), "--all", "--force", "--root", str(tmp_path)]
    rng = random.Random(4)
    killed = 0
    for attempt in range(8):
        if attempt % 2:  # also from nothing
            for name in expected:
                (tmp_path / "evaluation" / name).unlink(missing_ok=True)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        folder = tmp_path / "evaluation"
        start = time.time_ns()
        while process.poll() is None and not any(
            path.stat().st_mtime_ns >= start for path in folder.glob("d-*.json") if path.exists()
        ):
            time.sleep(0.002)
        time.sleep(rng.random() * 0.06)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        for path in folder.glob("*.json"):
            assert path.read_bytes() == expected[path.name]
        assert not [path for path in folder.iterdir() if path.suffix in (".csv", ".md") and not path.stat().st_size]
    assert killed >= 4
    done = run(tmp_path, "--all")
    assert (done.code, done.err) == (0, "")
    assert sum(counts(done)) == 30
    assert contents(tmp_path) == expected


@pytest.mark.parametrize("options", [["--all"], ["-f", "d-a", "--save"]])
def test_strays_are_swept(tmp_path: Path, options: list[str]) -> None:
    folder_of(tmp_path, a="AAAA")
    gone = [".1-0123abcd.tmp", f".{os.getpid()}-00000000.tmp"]  # nobody writes there without the lock
    kept = [".notes.tmp", "x.tmp", ".1.tmp", ".1-0123.tmp"]
    write(tmp_path, {f"evaluation/{name}": "{" for name in [*gone, *kept]})
    assert run(tmp_path, *options).code == 0
    names = os.listdir(tmp_path / "evaluation")
    assert sorted(name for name in names if name.endswith(".tmp")) == sorted(kept)


def test_save_waits_for_the_lock(tmp_path: Path) -> None:
    folder_of(tmp_path, a="AAAA")
    with lock_folder(tmp_path / "evaluation"):
        command = [sys.executable, str(ROOT / "eval.py"), "-f", "d-a", "--save", "--root", str(tmp_path)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        assert process.poll() is None
        assert not (tmp_path / "evaluation/d-a.json").exists()
    assert process.wait(timeout=60) == 0
    assert stored(tmp_path, "d-a")["overall_score"] == 1


def test_full_disk_leaves_the_old_results(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: writing fails half-way."""
    folder_of(tmp_path, a="AAAA")
    write(tmp_path, {"prediction/big.json": [q(str(n)) for n in range(60)]})
    run(tmp_path, "--all")
    before = contents(tmp_path)
    command = [sys.executable, str(ROOT / "eval.py"), "--all", "--force", "--root", str(tmp_path)]

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))

    done = subprocess.run(command, capture_output=True, encoding="utf-8", preexec_fn=limit, timeout=60, check=False)
    words = ["evaluation/big.json", "cannot be written", "too large"]
    assert_refused(Done(done.returncode, done.stdout, done.stderr), *words)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("kind", ["a file", "read-only"])
def test_folder_that_cannot_be_written(tmp_path: Path, kind: str) -> None:
    folder_of(tmp_path, a="AAAA")
    if kind == "a file":
        write(tmp_path, {"evaluation": ""})
        assert_refused(run(tmp_path, "--all"), "evaluation", "cannot be written")
        return
    run(tmp_path, "--all")
    before = snapshot(tmp_path)
    folder = tmp_path / "evaluation"
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("root writes everywhere")
        assert_refused(run(tmp_path, "--all", "--force"), "evaluation", "denied")
        assert snapshot(tmp_path) == before
    finally:
        folder.chmod(0o700)


def test_write_fails_as_on_a_read_only_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for root, who may write anywhere: every writing fails, as EROFS does."""
    folder_of(tmp_path, a="AAAA")
    evaluate(tmp_path)
    before = snapshot(tmp_path)

    def open_nothing(*args: object, **options: object) -> None:
        raise OSError(30, "Read-only file system")

    def refuse(path: Path, text: str) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", open_nothing)
            write_atomic(path, text)

    monkeypatch.setattr(leaderboard, "write_atomic", refuse)
    with pytest.raises(EvaluationError, match=r"evaluation/d-a\.json: cannot be written: Read-only file system$"):
        evaluate(tmp_path, force=True)
    assert snapshot(tmp_path) == before


def test_nothing_goes_to_stderr_when_all_is_well(tmp_path: Path) -> None:
    """cron mails what comes there."""
    folder_of(tmp_path, a="AAAA", b="BBBB")
    for _ in range(2):
        assert run(tmp_path, "--all").err == ""
