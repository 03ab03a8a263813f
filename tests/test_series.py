"""Questions that hang together, wherever their `series` counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cli import Done, Record, box, q, question, read_json, run, strict, warning, write
from forecasteval import FutureXEvaluator, compare, rank
from forecasteval.common.statistics import cluster_values, clustered_interval, stratified_interval
from forecasteval.custom import QuestionEvaluator, Score
from forecasteval.questions.series import find_likely_series

SERIES: Final = ["cup", "cup", "cup", "", "rates", "rates", "rates", None, "cup", "rates"]
ANSWERS: Final = "AAAABBBAAB"
OTHERS: Final = "AABBAABABA"


def make_records(
    answers: str, series: Sequence[object] = SERIES, levels: Sequence[int] = (1,) * 10
) -> list[Record]:
    """Questions with answers: A is right."""
    rows = zip(answers, series, levels, strict=True)
    return [
        q(f"q{number}", level=level, answer=box(answer), series=name)
        for number, (answer, name, level) in enumerate(rows)
    ]


def evaluate(answers: str, name: str, **options: Any) -> Any:
    results = FutureXEvaluator().evaluate_all(make_records(answers, **options))
    return {**results, "name": name, "dataset": "week.json"}


def make_folder(root: Path, weeks: dict[str, Sequence[object]]) -> Path:
    files: dict[str, Any] = {}
    for week, series in weeks.items():
        rows = [question(f"{week}-{number}", series=name) for number, name in enumerate(series)]
        files[f"dataset/{week}.json"] = rows
        for system, answers in (("a", ANSWERS), ("b", OTHERS)):
            files[f"prediction/{week}-{system}.json"] = [
                {"id": row["id"], "prediction": box(answer)}
                for row, answer in zip(rows, answers, strict=True)
            ]
    return write(root, files)


def clusters_of(series: Sequence[object]) -> list[object]:
    return [name or number for number, name in enumerate(series)]


def right(answers: str) -> list[float]:
    return [float(answer == "A") for answer in answers]


# --- One result ---


def test_interval_is_of_series() -> None:
    results = evaluate(ANSWERS, "a")
    expected = clustered_interval(right(ANSWERS), clusters_of(SERIES))
    assert results["overall_interval"] == pytest.approx(expected)
    assert results["level_intervals"][1] == pytest.approx(expected)
    assert results["overall_score"] == 0.6
    assert [item.get("cluster") or "" for item in results["items"]] == [x or "" for x in SERIES]


def test_series_counts_within_levels() -> None:
    levels = [1, 2] * 5
    results = evaluate(ANSWERS, "a", levels=levels)
    strata = []
    for level, weight in ((1, 1 / 3), (2, 2 / 3)):
        at = [place for place, own in enumerate(levels) if own == level]
        values = [right(ANSWERS)[place] for place in at]
        strata.append((weight, cluster_values(values, [clusters_of(SERIES)[x] for x in at])))
    plain = evaluate(ANSWERS, "a", levels=levels, series=[None] * 10)
    assert results["overall_score"] == plain["overall_score"]
    assert results["overall_interval"] != plain["overall_interval"]
    assert results["overall_interval"] == pytest.approx(stratified_interval(strata))


def test_series_of_single_questions_change_no_number() -> None:
    alone = evaluate(ANSWERS, "a", series=[f"s{number}" for number in range(10)])
    plain = evaluate(ANSWERS, "a", series=[None] * 10)
    assert alone["overall_interval"] == pytest.approx(plain["overall_interval"])


@pytest.mark.parametrize("blank", [None, "", "  ", float("nan")])
def test_blank_series_are_none(blank: object) -> None:
    blanks = FutureXEvaluator().evaluate_all(make_records(ANSWERS, [blank] * 10))
    without = [{**record, "series": ...} for record in make_records(ANSWERS)]
    plain = FutureXEvaluator().evaluate_all(
        [{key: value for key, value in record.items() if value is not ...} for record in without]
    )
    assert blanks["signature"] == plain["signature"]
    assert blanks["overall_interval"] == plain["overall_interval"]
    assert not any("cluster" in item for item in blanks["items"])


def test_number_is_a_series_and_a_list_is_named() -> None:
    results = evaluate(ANSWERS, "a", series=[7, "7", 7, ["cup"], *[None] * 6])
    assert [item.get("cluster") for item in results["items"][:4]] == ["7", "7", "7", None]
    assert warning(results, "'series' is no text or number, not used", "q3")


def test_another_series_makes_another_question() -> None:
    """Else two results on the same questions would have different errors."""
    a, b = evaluate(ANSWERS, "a"), evaluate(OTHERS, "b", series=[None] * 10)
    assert a["signature"]["questions_sha256"] != b["signature"]["questions_sha256"]


# --- Reports ---


def test_report_counts_series(tmp_path: Path) -> None:
    root = make_folder(tmp_path, {"w1": SERIES})
    done = run(root, "-f", "w1-a")
    assert "10 questions in 4 series, dataset w1.json" in done.out
    parts = run(root, "-f", "w1-a", "--by", "level").out.split("signature")[1]
    interval = clustered_interval(right(ANSWERS), clusters_of(SERIES))
    assert interval
    assert f"[{interval[0]:.4f}, {interval[1]:.4f}]" in parts


def test_boards_and_comparisons_are_of_series(tmp_path: Path) -> None:
    root = make_folder(tmp_path, {"w1": SERIES, "w2": [None] * 10})
    assert run(root, "nightly").code == 0
    board = read_json(root / "evaluation" / "leaderboard.json")
    rows = {row["name"]: row for table in board["tables"] for row in table["rows"]}
    clustered = clustered_interval(right(ANSWERS), clusters_of(SERIES))
    plain = stratified_interval([(1.0, right(ANSWERS))])
    assert rows["w1-a"]["overall_interval"] == pytest.approx(clustered)
    assert rows["w2-a"]["overall_interval"] == pytest.approx(plain)

    (pair,) = compared(run(root, "compare", "w1-a", "w1-b", "--json"))["pairs"]
    differences = [a - b for a, b in zip(right(ANSWERS), right(OTHERS), strict=True)]
    expected = clustered_interval(differences, clusters_of(SERIES), (-1.0, 1.0))
    assert pair["interval"] == pytest.approx(expected)
    assert pair["p"] >= 2 / 2**4  # four clusters have so many signs

    # Questions differ by 2 in "cup" and by −3 in "rates", and one without a series does.
    assert pair["n_differing"] == 3

    season = compared(run(root, "compare", "a", "b", "--all-weeks", "--json"))
    by_dataset = {row["dataset"]: row["interval"] for row in season["by_dataset"]}
    assert by_dataset["w1.json"] == pytest.approx(expected)
    assert by_dataset["w2.json"] == pytest.approx(
        stratified_interval([(1.0, differences)], (-1.0, 1.0))
    )


def test_model_over_datasets_counts_series_of_some_weeks(tmp_path: Path) -> None:
    """A week without series has as many clusters as questions, beside one that has some."""
    widths = []
    for name, weeks in (
        ("plain", {"w1": [None] * 10, "w2": [None] * 10}),
        ("one", {"w1": SERIES, "w2": [None] * 10}),
        ("same", {"w1": ["x"] * 5 + [None] * 5, "w2": ["x"] * 5 + [None] * 5}),
    ):
        root = make_folder(tmp_path / name, weeks)
        assert run(root, "nightly").code == 0
        board = read_json(root / "evaluation" / "leaderboard.json")
        low, high = board["pooled"][0]["rows"][0]["overall_interval"]
        widths.append(high - low)
    assert len(set(widths)) == 3


def test_runs_keep_their_series() -> None:
    runs = [[evaluate(ANSWERS, "a@1"), evaluate(OTHERS, "a@2")], [evaluate("B" * 10, "b")]]
    (pair,) = compare(runs)["pairs"]
    means = [(a + b) / 2 for a, b in zip(right(ANSWERS), right(OTHERS), strict=True)]
    expected = clustered_interval(means, clusters_of(SERIES), (-1.0, 1.0))
    assert pair["interval"] == pytest.approx(expected)


def test_ranks_of_hanging_questions_are_wider() -> None:
    """Nine wins of which eight are one event are two wins."""
    together = ["event"] * 8 + [None] * 2
    narrow, wide = (
        rank([evaluate("A" * 10, "a", series=series), evaluate("B" * 9 + "A", "b", series=series)])
        for series in ([None] * 10, together)
    )
    ranges = [
        [row["rank_interval"] for row in board["tables"][0]["rows"]] for board in (narrow, wide)
    ]
    assert ranges == [[(1, 1), (2, 2)], [(1, 2), (1, 2)]]


def test_boards_say_how_many_series(tmp_path: Path) -> None:
    """A series that both weeks name is one; a week without any says nothing."""
    root = make_folder(tmp_path, {"w1": SERIES, "w2": ["cup"] * 4 + [None] * 6, "w3": [None] * 10})
    out = run(root, "nightly").out
    assert "all 3 datasets, 30 questions in 20 series\n" in out
    assert "w1.json, 10 questions in 4 series\n" in out
    assert "w2.json, 10 questions in 7 series\n" in out
    assert "w3.json, 10 questions\n" in out
    assert "10 questions in 4 series" in run(root, "compare", "w1-a", "w1-b").out
    assert "in 20 series of 3 datasets" in run(root, "compare", "a", "b", "--all-weeks").out


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([None] * 12, ""),
        (["one", "two", "three"] * 4, "it differs in 3 series only"),
        (["one", "two"] * 6, "it differs in 2 series only"),
    ],
)
def test_gate_counts_series(tmp_path: Path, series: Sequence[object], message: str) -> None:
    """Twelve questions of three events cannot have a p below 0.05."""
    rows = [question(f"q{number}", series=name) for number, name in enumerate(series)]
    files: dict[str, Any] = {"dataset/w.json": rows}
    for system, letter in (("a", "B"), ("b", "A")):
        answers = [{"id": row["id"], "prediction": box(letter)} for row in rows]
        files[f"prediction/w-{system}.json"] = answers
    root = write(tmp_path, files)
    done = run(root, "compare", "w-a", "w-b", "--fail-if-worse")
    assert done.code == 0
    assert done.err == (
        f"eval.py: --fail-if-worse shows nothing of w-b: {message}\n" if message else ""
    )


def compared(done: Done) -> Any:
    assert done.code == 0, done.err
    return strict(done.out)


# --- One's own benchmarks ---


class Near(QuestionEvaluator):
    """A benchmark of one's own."""

    benchmark = "Near"
    version = "1"

    def score_answer(self, question: Any, answer: object) -> Score:
        return Score(float(answer == question["value"]))


def test_own_benchmark_has_series(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{number}", "value": "A", "series": name} for number, name in enumerate(SERIES)
    ]
    answers = [{"id": row["id"], "prediction": x} for row, x in zip(rows, ANSWERS, strict=True)]
    root = write(tmp_path, {"week.json": rows, "week-a.json": answers})
    results = Near().evaluate_file(root / "week-a.json", root / "week.json")
    expected = clustered_interval(right(ANSWERS), clusters_of(SERIES))
    assert results["overall_interval"] == pytest.approx(expected)
    assert "10 questions in 4 series" in str(results)


# --- What a dataset may have left out ---

TEXTS: Final = {
    "p1": "Will the price of Bitcoin close above 90,000 on January 5, 2026?",
    "p2": "Will the price of Bitcoin close above 95,000 on February 12, 2026?",
    "p3": "Will the price of Ether close above 4,000 on January 5, 2026?",
    "p4": "Will the price of Old Mill Coin close above 3.5 on 2026-01-05?",
    "cup": "Who will win the cup final?",
    "rain": "How much rain will fall in May 2026?",
    "rain too": "How much rain will fall in June 2026?",
    "short": "Cup Winner",
    "shorter": "League Winner",
    "empty": "",
    "blank": " ",
}


def test_likely_series_differ_in_numbers_dates_or_one_name() -> None:
    assert find_likely_series(TEXTS.items()) == [["p1", "p2", "p3"], ["rain", "rain too"]]


def test_check_names_likely_series(tmp_path: Path) -> None:
    prompt = 'Predict. The event to be predicted: "{}\nA.  up\nB.  down"\nEnd so.'
    rows = [
        question(name, prompt=prompt.format(text)) for name, text in TEXTS.items() if text.strip()
    ]
    done = run(write(tmp_path, {"dataset/w.json": rows}), "check", "w")
    assert done.code == 0
    assert (
        "5 questions may hang together, their texts differ in numbers, dates or one name only: "
        "give those of a group one 'series': 3 (p1, p2, p3); 2 (rain, rain too)"
    ) in done.out
    named = [{**row, "series": "weather" if row["id"][0] == "r" else "coins"} for row in rows]
    done = run(write(tmp_path, {"dataset/w.json": named}), "check", "w")
    assert "hang together" not in done.out


def test_check_finds_a_series_that_is_none(tmp_path: Path) -> None:
    rows = [question("q1", series=["a"]), question("q2", series=1)]
    done = run(write(tmp_path, {"dataset/w.json": rows}), "check", "w")
    assert done.code == 4
    assert "'series' is no text or number, not used: 1" in done.out
