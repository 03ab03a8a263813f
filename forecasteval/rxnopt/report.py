"""The views of a result: scores against a blind guess, references against controls,
breakdowns, items with the reason of each score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.errors import printable, show_count
from forecasteval.common.records import JsonObject, as_text
from forecasteval.display.charts import Chart
from forecasteval.display.results import Results, list_warnings, make_report
from forecasteval.display.tables import (
    Column,
    Heat,
    IntervalCell,
    Report,
    make_table,
    show_number,
    show_p,
)

from .build.chemicals import read_items
from .datasets import METRICS, QUESTION_TYPES, ChoiceItem

MAX_PARTS: Final = 10  # rows of a breakdown
RELATIVE: Final = METRICS[0]
OVERALL: Final = "Overall"
_GUESS: Final = "uniform_guess"
_CONDITION: Final = "Condition asked about"
_ABOUT: Final = (
    "Rings: the mean of effective score / best effective score, with 95% intervals "
    "where there are "
    "any; upright marks: what a uniform guess among the options expects."
)
_ABOUT_PAIRS: Final = (
    "Score with references minus score of the same question without them, with 95% "
    "intervals; "
    "right of the line the references helped."
)


def report_blocks(results: Results, items: bool = False) -> Report:
    """Make the report's lines and tables; with `items` also a row per question."""
    scores, *others = make_charts(results).values()
    blocks: Report = [scores.table, "", *list_notes(results), *list_warnings(results)]
    for chart in others:
        blocks += ["", chart.table]
    blocks += _count_rest(results["by_target_key"])
    if items:
        blocks += ["", make_table(_ITEMS, results["items"])]
    return make_report(results, [describe_size(results)], blocks)


def describe_size(results: Results) -> str:
    """Say how many questions there are, and of how many tables."""
    questions = show_count(results["n"], "question")
    return f"{questions} of {show_count(results['tables'], 'table')}"


def list_notes(results: Results) -> list[str]:
    """Remarks on the scores."""
    answered = show_number(results["answered_only"][RELATIVE])
    notes = [
        "Missing and illegal answers score 0. Over answered questions only: "
        f"{answered}."
    ]
    if results["coerced"]:
        notes.append(f"Read from text or fractions: {results['coerced']}.")
    return notes


def make_charts(results: Results) -> dict[str, Chart]:
    """Make the charts of `plot`, whose tables are those of the report. Pairs and
    breakdowns only where there are any.
    """
    charts = (
        _score_chart(results),
        _pair_chart(results["pairs"]),
        _condition_chart(results["by_target_key"]),
    )
    return {chart.name: chart for chart in charts if chart.table.rows}


def _name_rows(parts: Iterable[tuple[str, JsonObject]]) -> list[JsonObject]:
    return [{**part, "name": printable(name.strip(), 40)} for name, part in parts]


def _score_chart(results: Results) -> Chart:
    kinds = results["by_question_type"]
    rows = [(kind, kinds[kind]) for kind in QUESTION_TYPES if kind in kinds]
    table = make_table(_SCORES, _name_rows([*rows, (OVERALL, results)]))
    return Chart("scores", "Relative score by question type", _ABOUT, table)


def _mark_score(row: JsonObject) -> IntervalCell:
    """Mark the relative score with its interval, and the score of a uniform guess."""
    cell = IntervalCell(
        row[RELATIVE], row["intervals"][RELATIVE], row[_GUESS][RELATIVE]
    )
    if row["name"] == OVERALL:
        return cell._replace(kind="a")
    return cell


def _condition_chart(parts: JsonObject) -> Chart:
    """Chart the conditions most often asked about, by name; no rows
    where there is one.
    """
    largest = sorted(parts, key=lambda name: -parts[name]["n"])[:MAX_PARTS]
    rows = [(name, part) for name, part in parts.items() if name in largest]
    about = _ABOUT
    if len(rows) < len(parts):
        about += f" The {len(rows)} most frequent of {len(parts)}."
    if len(parts) == 1:
        rows = []
    return Chart("keys", _CONDITION, about, make_table(_CONDITIONS, _name_rows(rows)))


def _count_rest(parts: JsonObject) -> list[str]:
    """Count the conditions that are too rare for the table, and the
    questions about them.
    """
    rest = sorted(part["n"] for part in parts.values())[:-MAX_PARTS]
    if not rest:
        return []
    values = show_count(len(rest), "more value")
    return [
        f"{values} with {show_count(sum(rest), 'question')}: --by target_key has all."
    ]


def _pair_chart(pairs: JsonObject) -> Chart:
    """Chart references against controls by the type of question."""
    rows = [row for row in _name_rows(pairs.items()) if row["pairs"]]
    return Chart(
        "pairs", "References against controls", _ABOUT_PAIRS, make_table(_PAIRS, rows)
    )


# --- Items ---


def name_cause(item: ChoiceItem) -> str:
    """Say why an item scores less than 1: "missing", "illegal", "option without yield",
    "not the best option"; or "right".

    >>> name_cause({"outcome": "scored", "exact": 0, "score": 0.25})
    'not the best option'
    """
    if item["outcome"] != "scored":
        return str(item["outcome"])
    if item["exact"] >= 1:
        return "right"
    if not item["score"]:
        return "option without yield"
    return "not the best option"


def explain(item: ChoiceItem, question: JsonObject | None = None) -> str:
    """Explain an item's score in one sentence; with its question by the
    effective scores.
    """
    if item["outcome"] == "missing":
        return "no answer"
    if item["outcome"] != "scored":
        return "no index of an option"
    read = item["read"]
    if item["exact"]:
        return f"option {read} is the best"
    if not question:
        return f"option {read} has {item['score']:.3g} of the best effective score"
    effective = question["meta"]["effective_scores"]
    picked = _name_option(question, read)
    right = " and ".join(_name_option(question, place) for place in question["answer"])
    return (
        f"option {picked} has {effective[read]:g}, the best {right} has "
        f"{max(effective):g}"
    )


def _name_option(question: JsonObject, place: Any) -> str:
    """Name an option by its index, and in brackets its value of the
    condition in question.
    """
    items = read_items(find_asked(question, place))
    shown = "; ".join(item["content"] or item["SMILES"] for item in items)
    if not shown:
        return str(place)
    return f"{place} ({printable(shown, 40)})"


def find_asked(question: JsonObject, place: int) -> object:
    """Find the value that an option has of the condition that its question asks about.
    None where it asks about all, or where the option is none of ours.
    """
    option, key = question["options"][place], question.get("target_key")
    if isinstance(option, Mapping) and isinstance(key, str):
        return option.get(key)
    return None


# --- Columns ---


def _mark_difference(row: JsonObject) -> IntervalCell:
    return IntervalCell(row["mean_difference"], row["interval"], 0.0)


_SCORES: Final = (
    Column("", itemgetter("name")),
    Column("Relative", lambda row: Heat(row[RELATIVE]), "number", page="c"),
    Column("relative score", _mark_score, "mark"),
    Column("95% interval", lambda row: row["intervals"][RELATIVE], "number", page="no"),
    Column("Uniform", lambda row: row[_GUESS][RELATIVE], "number", spare=2, page="no"),
    Column("Exact", itemgetter(METRICS[1]), "number", spare=4),
    Column("Yield ratio", itemgetter(METRICS[2]), "number", spare=5, page="no"),
    Column("n", itemgetter("n"), "number", spare=1),
    Column("Missing", itemgetter("missing"), "number"),
    Column("Illegal", itemgetter("illegal"), "number", spare=3),
)
_CONDITIONS: Final = (
    Column(_CONDITION, itemgetter("name")),
    Column(
        "relative score",
        lambda row: IntervalCell(row[RELATIVE], None, row[_GUESS]),
        "mark",
    ),
    Column("Relative", itemgetter(RELATIVE), "number"),
    Column("Uniform", itemgetter(_GUESS), "number", spare=2),
    Column("n", itemgetter("n"), "number"),
)
_PAIRS: Final = (
    Column("Reference against control", itemgetter("name")),
    Column("Reference", itemgetter("reference_mean"), "number", spare=2),
    Column("Control", itemgetter("control_mean"), "number", spare=2),
    Column("Difference", itemgetter("mean_difference"), "number"),
    Column("reference − control", _mark_difference, "mark"),
    Column("95% interval", itemgetter("interval"), "number", spare=3),
    Column("p", lambda row: show_p(row["p_value"]), "number"),
    Column("Pairs", itemgetter("pairs"), "number"),
    Column("W/T/L", "{wins}/{ties}/{losses}".format_map, "number", spare=2),
)
_ITEMS: Final = (
    Column("Id", lambda item: printable(item["id"], 60)),
    Column("Type", itemgetter("question_type"), spare=3),
    Column("Score", itemgetter("score"), "number"),
    Column("Outcome", itemgetter("outcome"), spare=1),
    Column("Read", lambda item: as_text(item["read"]), "number", spare=2),
    Column("Answer", lambda item: printable(item["answer"], 20), spare=5),
    Column("Note", itemgetter("note"), spare=4),
    Column("Why", explain),
)
