"""The views of a result: scores against a blind guess, references against controls, items, their
page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text
from forecasteval.display import pages
from forecasteval.display.charts import Chart
from forecasteval.display.pages import Page, Records, Section, show_text
from forecasteval.display.results import Results
from forecasteval.display.tables import (
    Bar,
    Column,
    Interval,
    Link,
    Report,
    Table,
    make_table,
    show_number,
    show_p,
)

from .chemicals import ABSENT
from .datasets import METRICS, QUESTION_TYPES, Item, find_twin
from .prompts import condition_lines, show_items

MOST_PARTS: Final = 10  # rows of a breakdown
_RELATIVE: Final = METRICS[0]
_ABOUT: Final = (
    "Dots: the mean of effective score / best effective score, with 95% intervals where there are "
    "any; upright marks: what a uniform guess among the options expects."
)
_MOST: Final = 1500  # questions that a page shows: each has a table of its options


def report_blocks(results: Results, items: bool = False) -> Report:
    """The report's lines and tables; with `items` also a row per question."""
    rows = [Section("Items", [make_table(_ITEMS, results["items"])])] if items else []
    return make_overview(results).with_sections(*rows).report()


def make_overview(results: Results) -> Page:
    """The scores by question type and overall, pairs with and without references, breakdowns with
    several parts.
    """
    size = f"{results['n']} questions of {results['tables']} table{'s' * (results['tables'] != 1)}"
    figures = {
        "Relative score": (results[_RELATIVE], results["intervals"][_RELATIVE]),
        "Uniform guess": results["uniform_guess"][_RELATIVE],
        "Exact": results[METRICS[1]],
        "Questions": results["n"],
        "Missing": results["missing"],
        "Illegal": results["illegal"],
    }
    answered = results["answered_only"][_RELATIVE]
    over_answered = f"Over answered questions only: {show_number(answered)}."
    remarks = [f"Missing and illegal answers score 0. {over_answered}"]
    if results["coerced"]:
        remarks.append(f"Read from text or fractions: {results['coerced']}.")
    remarks += [f"warning: {printable(warning)}" for warning in results["warnings"]]
    sections = [
        Section("Scores", [_score_chart(results), "", *remarks]),
        *_list_pairs(results["pairs"]),
    ]
    sections += _list_parts("keys", "Condition asked about", results["by_target_key"])
    sections += _list_parts("options", "Options", results["by_option_count"])
    return pages.make_overview(results, size, figures, sections)


def _score_chart(results: Results) -> Chart:
    kinds = results["by_question_type"]
    rows = [
        *((kind, kinds[kind]) for kind in QUESTION_TYPES if kind in kinds),
        ("Overall", results),
    ]
    columns = [
        Column("", lambda row: row[0]),
        Column("Relative", lambda row: row[1][_RELATIVE], "number"),
        Column(
            "relative score", lambda row: _mark(row[1], row[1]["uniform_guess"][_RELATIVE]), "mark"
        ),
        Column("95% interval", lambda row: row[1]["intervals"][_RELATIVE], "number"),
        Column("Uniform", lambda row: row[1]["uniform_guess"][_RELATIVE], "number", spare=2),
        Column("Exact", lambda row: row[1][METRICS[1]], "number", spare=4),
        Column("Yield ratio", lambda row: row[1][METRICS[2]], "number", spare=5),
        Column("n", lambda row: row[1]["n"], "number", spare=1),
        Column("Missing", lambda row: row[1]["missing"], "number"),
        Column("Illegal", lambda row: row[1]["illegal"], "number", spare=3),
    ]
    return Chart("scores", "Relative score by question type", _ABOUT, make_table(columns, rows))


def _mark(summary: Mapping[str, Any], guess: float | None) -> Interval:
    return Interval(summary[_RELATIVE], summary.get("intervals", {}).get(_RELATIVE), guess)


def _list_parts(name: str, title: str, parts: Mapping[str, Any]) -> list[Section]:
    """The largest parts of the questions, in their order; nothing where there is one part."""
    if len(parts) < 2:
        return []
    least = sorted((part["n"] for part in parts.values()), reverse=True)[:MOST_PARTS][-1]
    rows = [row for row in parts.items() if row[1]["n"] >= least][:MOST_PARTS]
    columns = [
        Column(title, lambda row: printable(row[0].strip(), 40)),
        Column("relative score", lambda row: _mark(row[1], row[1]["uniform_guess"]), "mark"),
        Column("Relative", lambda row: row[1][_RELATIVE], "number"),
        Column("Uniform", lambda row: row[1]["uniform_guess"], "number"),
        Column("n", lambda row: row[1]["n"], "number"),
    ]
    remark = f" The {len(rows)} most frequent of {len(parts)}." if len(rows) < len(parts) else ""
    return [Section(title, [Chart(name, title, _ABOUT + remark, make_table(columns, rows))])]


def _list_pairs(pairs: Mapping[str, Any]) -> list[Section]:
    """References against controls by the type of question; nothing without pairs."""
    columns = [
        Column("Reference against control", lambda row: row[0]),
        Column("Reference", lambda row: row[1]["reference_mean"], "number"),
        Column("Control", lambda row: row[1]["control_mean"], "number"),
        Column("Difference", lambda row: row[1]["mean_difference"], "number"),
        Column(
            "reference − control",
            lambda row: Interval(row[1]["mean_difference"], row[1]["interval"], 0.0),
            "mark",
        ),
        Column("95% interval", lambda row: row[1]["interval"], "number"),
        Column("p", lambda row: show_p(row[1]["p_value"]), "number"),
        Column("Pairs", lambda row: row[1]["pairs"], "number"),
        Column(
            "W/T/L",
            lambda row: "/".join(str(row[1][key]) for key in ("wins", "ties", "losses")),
            "number",
        ),
    ]
    description = (
        "Score with references minus score of the same question without them, with 95% intervals; "
        "right of the line the references helped."
    )
    rows = [row for row in pairs.items() if row[1]["pairs"]]
    chart = Chart("pairs", "References against controls", description, make_table(columns, rows))
    return [Section(chart.title, [chart])] if rows else []


# --- Items ---


def name_cause(item: Item) -> str:
    """Why an item scores less than 1: "missing", "illegal", "option without yield", "not the best
    option"; or "right".

    >>> name_cause({"outcome": "scored", "exact": 0, "score": 0.25})
    'not the best option'
    """
    if item["outcome"] != "scored":
        return str(item["outcome"])
    if item["exact"] >= 1:
        return "right"
    return "not the best option" if item["score"] else "option without yield"


def explain(item: Item, question: Mapping[str, Any] | None = None) -> str:
    """The reason of an item's score in one sentence; with its question it has the effective
    scores.
    """
    if item["outcome"] != "scored":
        return "no answer" if item["outcome"] == "missing" else "no index of an option"
    read = item["read"]
    if isinstance(read, list):
        return f"the mean over {len(read)} orders"
    if item["exact"]:
        return f"option {read} is the best"
    if not question:
        return f"option {read} has {item['score']:.3g} of the best effective score"
    effective, best = (
        question["meta"]["effective_scores"],
        " and ".join(map(str, question["answer"])),
    )
    return f"option {read} has {effective[read]:g}, the best {best} has {max(effective):g}"


def _shown_index(read: int | Sequence[int | None] | None) -> str:
    """`2`, or `2, –, 0` for several orders of the options."""
    if isinstance(read, list):
        return ", ".join("–" if i is None else str(i) for i in read)
    return "" if read is None else str(read)


_ITEMS: Final = (
    Column("Id", lambda item: printable(item["id"], 60)),
    Column("Type", lambda item: item["question_type"], spare=3),
    Column("Score", lambda item: item["score"], "number"),
    Column("Outcome", lambda item: item["outcome"], spare=1),
    Column("Read", lambda item: _shown_index(item["read"]), "number", spare=2),
    Column("Answer", lambda item: printable(item["answer"], 20), spare=5),
    Column("Note", lambda item: item["note"], spare=4),
    Column("Why", explain),
)


# --- The page ---


def make_page(results: Results, records: Iterable[Mapping[str, Any]] = ()) -> Page:
    """The page of a result of `RxnOptEvaluator`; `records` are the questions of its datasets."""
    items = results["items"]
    causes = pages.list_causes(
        (name_cause(item), (1 - item["score"]) / len(items)) for item in items
    )
    return make_overview(results).with_sections(
        *causes, Section("Questions", [_list_questions(items, records)])
    )


def _list_questions(items: Sequence[Item], records: Iterable[Mapping[str, object]]) -> Records:
    """The questions, those with the lowest scores first."""
    shown = sorted(items, key=lambda item: item["score"])[:_MOST]
    names = [item["id"] for item in shown]
    wanted, by_id = set(names), {item["id"]: item for item in items}
    questions = {str(record["id"]): record for record in records if str(record["id"]) in wanted}
    keys = dict(zip(names, pages.make_keys(names), strict=True))

    def given(item: Item) -> Mapping[str, object]:
        """The input of the question, {} if there is none."""
        found = questions.get(item["id"], {}).get("input")
        return found if isinstance(found, Mapping) else {}

    def why(item: Item) -> str:
        return explain(item, questions.get(item["id"]))

    columns = [
        Column("Type", lambda item: item["question_type"].replace("_", " "), "choice"),
        Column("Outcome", name_cause, "choice"),
        Column("Score", lambda item: item["score"], "number", "high", digits=3),
        Column(
            "Question",
            lambda item: show_text(f"{item['id']} {_reaction(given(item))}", 160),
            "long",
        ),
        Column("Why", why, "long"),
        Column("Reaction", lambda item: _reaction(given(item)), "inside"),
        Column(
            "Constant", lambda item: _conditions(given(item).get("constant_conditions")), "inside"
        ),
        Column("Fixed", lambda item: _conditions(given(item).get("fixed_conditions")), "inside"),
        Column(
            "References",
            lambda item: _reference_table(given(item).get("reference_conditions")),
            "inside",
        ),
        Column(
            "Options", lambda item: _option_table(questions.get(item["id"]), item["read"]), "inside"
        ),
        Column("Twin", lambda item: _show_twin(by_id.get(find_twin(item["id"])), keys), "inside"),
        Column("Answer", lambda item: show_text(item["answer"]), "inside"),
        Column("Score", lambda item: f"{show_number(item['score'])}: {why(item)}", "inside"),
        Column("Note", lambda item: show_text(item["note"]), "inside"),
        Column("Id", lambda item: show_text(item["id"]), "inside"),
    ]
    note = pages.count_rows(len(shown), len(items), "the lowest scores")
    return pages.make_records(
        "questions", "Questions", columns, shown, names, note, lambda item: item["exact"] < 1
    )


def _show_twin(twin: Item | None, keys: Mapping[str, str]) -> Link | str:
    """The score of the same question with references, or without them."""
    if twin is None:
        return ""
    text = f"{show_number(twin['score'])} in {printable(twin['id'], 120)}"
    return Link(text, "", keys[twin["id"]]) if twin["id"] in keys else text


def _reaction(given: Mapping[str, object]) -> str:
    return (
        f"{show_items(given.get('reactants'))} → {show_items(given.get('products'))}"
        if given
        else ""
    )


def _conditions(conditions: object) -> str:
    return show_text(condition_lines(conditions, {}).removeprefix(f"- {ABSENT}"), pages.TEXT)


def _one_line(conditions: object) -> str:
    return _conditions(conditions).removeprefix("- ").replace("\n- ", "; ")


def _option_table(question: Mapping[str, Any] | None, read: object) -> Table | None:
    if not question:
        return None
    meta, words = (
        question["meta"],
        {"picked": read if isinstance(read, list) else [read], "best": question["answer"]},
    )
    columns = [
        Column("Option", str, "number"),
        Column(
            "", lambda place: " ".join(word for word, places in words.items() if place in places)
        ),
        Column("Conditions", lambda place: _one_line(question["options"][place])),
        Column("relative", lambda place: Bar(meta["option_relative_scores"][place]), "mark"),
        Column("Relative", lambda place: meta["option_relative_scores"][place], "number", digits=3),
        Column("Yield", lambda place: f"{meta['yields'][place]:g}", "number"),
        Column("Effective", lambda place: f"{meta['effective_scores'][place]:g}", "number"),
    ]
    return make_table(columns, range(len(question["options"])))


def _reference_table(references: object) -> Table | None:
    if not isinstance(references, list):
        return None
    columns = [
        Column("Conditions", lambda row: _one_line(row.get("conditions"))),
        Column("Yield", lambda row: show_text(as_text(row.get("yield")), 20), "number"),
    ]
    return make_table(columns, [row for row in references if isinstance(row, Mapping)])
