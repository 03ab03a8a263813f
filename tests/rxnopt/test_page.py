"""The page of a run: its score beside that of a guess, and the options of every question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli import ROOT
from forecasteval.display.html import Page, render
from forecasteval.rxnopt.page import make_page
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from html_page import Parsed, check_page
from rxnopt_tables import build, question, simple, table

KINDS = ("single_varying", "single_varying_reference", "single_varying_reference_control")
PATHS = [ROOT / f"dataset/multiple_choice_{kind}.json" for kind in KINDS]
RECORDS = {q["id"]: q for path in PATHS for q in json.loads(path.read_text(encoding="utf-8"))}
SHORT = ("Overall", "single", "single, with results", "single, control")
EVIL = "</script><b>\x1b[2J\u202e"


@pytest.fixture
def results() -> Any:
    """The first option of every question, but for two answers that are no index."""
    picks: dict[str, Any] = dict.fromkeys(RECORDS, 0)
    first, second, *_ = sorted(RECORDS)
    return RxnOptEvaluator(PATHS).evaluate_all({**picks, first: EVIL, second: 99})


def parse(page: Page) -> Parsed:
    return check_page(render(page))


def rows(parsed: Parsed) -> list[dict[str, str]]:
    """The attributes of the rows that open."""
    return [attributes for attributes in parsed.find("details") if "data-cause" in attributes]


def test_every_question_is_there_the_costliest_first(results: Any) -> None:
    parsed = parse(results.page())
    shown = rows(parsed)
    costs = [float(row["data-cost"]) for row in shown]
    assert {row["id"] for row in shown} == {f"q-{name}" for name in RECORDS}
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(1 - results["avg_relative_score"], abs=1e-4)
    assert [row["data-cause"] for row in shown].count("illegal") == 2
    assert any("</script><b>" in text for text in parsed.texts)


@pytest.mark.parametrize(
    ("pick", "verdict"),
    [
        (
            lambda answer, size: answer[0] if size != 4 else 0,
            "below the 95% interval: better than guessing.",
        ),
        (
            lambda answer, size: min(set(range(size)) - {*answer}),
            "above the 95% interval: worse than guessing.",
        ),
        (lambda answer, size: size - 1,
         "within the 95% interval: this run is not told apart from guessing."),
    ],
)  # fmt: skip
def test_the_verdict_names_what_a_guess_expects(pick: Any, verdict: str) -> None:
    evaluator = RxnOptEvaluator(list(RECORDS.values()))
    picks = {name: pick(q["answer"], len(q["options"])) for name, q in RECORDS.items()}
    found = evaluator.evaluate_all(picks)
    guess = found["uniform_guess"]["avg_relative_score"]
    begin = f"A uniform guess among the options expects {guess:.3f}, "
    assert found.page().lead == begin + verdict


def test_one_table_has_no_interval_and_no_verdict() -> None:
    one = RxnOptEvaluator([question("t_q1", [1.0, 2.0])]).evaluate_all({"t_q1": 0})
    assert one.page().lead == "A uniform guess among the options expects 0.750."


def test_types_of_questions_stand_below_the_overall_score(results: Any) -> None:
    parsed = parse(results.page())
    names = [row[0] for row in parsed.rows if row and row[0] in SHORT]
    assert names == list(SHORT)
    chips = [chip["data-v"] for chip in parsed.find("button") if chip.get("data-k") == "type"]
    assert chips == list(KINDS)
    alone = parse(RxnOptEvaluator(PATHS[:1]).evaluate_all({}).page())
    assert [row[0] for row in alone.rows if row[0] in SHORT] == ["Overall"]
    assert not [chip for chip in alone.find("button") if chip.get("data-k") == "type"]


def test_a_question_opens_to_its_reaction_and_all_its_options() -> None:
    cells = [({"base": f"K{n}", "acid": f"A{n % 2}"}, {"yield_ratio": 20 * n}) for n in range(4)]
    made = build(table("t", cells)).questions
    (record,) = [q for q in made if q["id"] == "t_q3"]
    found = RxnOptEvaluator([record]).evaluate_all({"t_q3": record["meta"]["yields"].index(20)})
    parsed = parse(found.page())
    options = [row for row in parsed.rows if len(row) == 6 and row[0].isdigit()]
    shown = {row[1]: row[2:] for row in options}
    assert shown == {
        "acid: A0; base: K0": ["", "0.00", "0", "0"],
        "acid: A1; base: K1": ["picked", "0.33", "20", "20"],
        "acid: A0; base: K2": ["", "0.67", "40", "40"],
        "acid: A1; base: K3": ["best", "1.00", "60", "60"],
    }
    picked, best = (record["meta"]["yields"].index(value) for value in (20, 60))
    facts = dict(parsed.facts)
    assert (facts["Picked"], facts["Best"]) == (str(picked), str(best))
    assert facts["Score"] == f"0.3333: option {picked} has 20, the best {best} has 60"


def test_the_reason_names_the_values_of_the_condition_in_question() -> None:
    made = build(simple("t", [10, 20, 40])).questions
    (record,) = [q for q in made if q["id"] == "t_q1"]
    places = [record["meta"]["yields"].index(value) for value in (10, 40)]
    found = RxnOptEvaluator([record]).evaluate_all({"t_q1": places[0]})
    low, best = (f"{at} ({record['options'][at]['base'][0]['content']})" for at in places)
    assert dict(parse(found.page()).facts)["Score"] == (
        f"0.2500: option {low} has 10, the best {best} has 40"
    )


def test_a_reference_shows_the_results_that_it_gives(results: Any) -> None:
    name = "aldol_proline_q1_ref"
    page = render(results.page())
    inside = page.partition(f'id="q-{name}"')[2].partition("</details>")[0]
    assert "Results of the same table" in inside
    assert "Reference 1 (yield=" in inside


def test_texts_of_a_question_for_comparisons(results: Any) -> None:
    name = "aldol_proline_q1"
    texts = results.page().texts()[name]
    assert " → " in texts["Reaction"]
    assert texts["Options"].count("<tr") == len(RECORDS[name]["options"]) + 1
    score = RECORDS[name]["meta"]["option_relative_scores"][0]
    assert f">{score:.2f}<" in texts["Options"]
    assert texts["Picked"] == "0"


def test_a_result_without_its_datasets_has_rows_all_the_same(results: Any) -> None:
    parsed = parse(make_page(results, lambda: ()))
    assert len(rows(parsed)) == results["n"]
    assert not [row for row in parsed.rows if row[-1:] == ["Effective"]]


def test_charts_of_the_page(results: Any) -> None:
    assert list(results.page().charts()) == ["scores", "pairs", "keys", "costs"]
    right = {name: q["answer"][0] for name, q in RECORDS.items()}
    perfect = RxnOptEvaluator(list(RECORDS.values())).evaluate_all(right)
    assert "costs" not in perfect.page().charts()


@pytest.mark.parametrize("options", [["a", "b"], [None, 1], [{"base": 7}, {"base": [[]]}]])
@pytest.mark.parametrize("key", ["base", None, ["base"], EVIL])
def test_options_that_are_none_of_ours_are_shown_all_the_same(options: Any, key: Any) -> None:
    record = {**question("t_q1", [1.0, 2.0]), "options": options, "target_key": key, "input": "?"}
    found = RxnOptEvaluator([record]).evaluate_all({"t_q1": 0})
    parsed = parse(found.page())
    assert [row[2:] for row in parsed.rows if row[0] in ("0", "1")] == [
        ["picked", "0.50", "1", "1"],
        ["best", "1.00", "2", "2"],
    ]
    assert "Options" in found.page().texts()["t_q1"]


@pytest.mark.parametrize(
    ("end", "asked"),
    [
        ("", "additive"),
        ("_ref", "additive, with results"),
        ("_ref_control", "additive, control"),
    ],
)
def test_a_row_says_what_is_asked_and_whether_with_results(
    results: Any, end: str, asked: str
) -> None:
    page = render(results.page())
    row = page.partition(f'id="q-aldol_proline_q1{end}"')[2].partition("</summary>")[0]
    assert f"<b>{asked}</b>" in row
