"""What there is to see of a result: scores against a blind guess, references against controls, the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Chart
from forecasteval.common.errors import printable
from forecasteval.common.pages import Page, Section, name_result
from forecasteval.common.report import (
    Column,
    Interval,
    Report,
    format_signature,
    make_table,
    show_interval,
    show_number,
)

from .kinds import METRICS, QUESTION_TYPES

MOST_PARTS: Final = 10  # rows of a breakdown
_RELATIVE: Final = METRICS[0]
_ABOUT: Final = (
    "Dots: the mean of effective score / best effective score, with 95% intervals where there are any; upright marks: "
    "what a uniform guess among the options expects."
)


def report_blocks(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report's lines and tables; with `items` also a row per question."""
    summary = summarise(results)
    if items:
        summary = summary.with_sections(Section("", [make_table(_ITEMS, results["items"])]))
    return summary.report()


def summarise(results: Mapping[str, Any]) -> Page:
    """The scores by question type and overall, pairs with and without references, breakdowns with several parts."""
    title, lead = name_result(
        results, f"{results['n']} questions of {results['tables']} table{'s' * (results['tables'] != 1)}"
    )
    figures = [
        ("Relative score", show_number(results[_RELATIVE]), show_interval(results["intervals"][_RELATIVE])),
        ("Uniform guess", show_number(results["uniform_guess"][_RELATIVE]), ""),
        ("Exact", show_number(results[METRICS[1]]), ""),
        ("Questions", str(results["n"]), ""),
        ("Missing", str(results["missing"]), ""),
        ("Illegal", str(results["illegal"]), ""),
    ]
    answered = results["answered_only"][_RELATIVE]
    remarks = [f"Missing and illegal answers score 0. Over answered questions only: {show_number(answered)}."]
    if results["coerced"]:
        remarks.append(f"Read from text or fractions: {results['coerced']}.")
    remarks += [f"warning: {printable(warning)}" for warning in results["warnings"]]
    sections = [Section("Scores", [_score_chart(results), "", *remarks])]
    if results["pairs"]["overall"]["pairs"]:
        sections.append(Section("References against controls", [_pair_chart(results["pairs"])]))
    if len(results["by_target_key"]) > 1:
        keys = _part_chart("keys", "Condition asked about", results["by_target_key"])
        sections.append(Section("By the condition asked about", [keys]))
    if len(results["by_option_count"]) > 1:
        options = _part_chart("options", "Options", results["by_option_count"])
        sections.append(Section("By the number of options", [options]))
    return Page(title, lead, figures, sections, format_signature(results["signature"]))


def _score_chart(results: Mapping[str, Any]) -> Chart:
    kinds = results["by_question_type"]
    rows = [*((kind, kinds[kind]) for kind in QUESTION_TYPES if kind in kinds), ("Overall", results)]
    columns = [
        Column("", lambda row: row[0]),
        Column("Relative", lambda row: show_number(row[1][_RELATIVE]), "number"),
        Column("relative score", lambda row: _mark(row[1], row[1]["uniform_guess"][_RELATIVE]), "mark"),
        Column("95% interval", lambda row: show_interval(row[1]["intervals"][_RELATIVE]), "number"),
        Column("Uniform", lambda row: show_number(row[1]["uniform_guess"][_RELATIVE]), "number", spare=2),
        Column("Exact", lambda row: show_number(row[1][METRICS[1]]), "number", spare=4),
        Column("Yield ratio", lambda row: show_number(row[1][METRICS[2]]), "number", spare=5),
        Column("n", lambda row: str(row[1]["n"]), "number", spare=1),
        Column("Missing", lambda row: str(row[1]["missing"]), "number"),
        Column("Illegal", lambda row: str(row[1]["illegal"]), "number", spare=3),
    ]
    return Chart("scores", "Relative score by question type", _ABOUT, make_table(columns, rows))


def _mark(summary: Mapping[str, Any], guess: float | None) -> Interval:
    return Interval(summary[_RELATIVE], summary.get("intervals", {}).get(_RELATIVE), guess)


def _part_chart(name: str, title: str, parts: Mapping[str, Any]) -> Chart:
    """The largest parts of the questions, in their order."""
    least = sorted((part["n"] for part in parts.values()), reverse=True)[:MOST_PARTS][-1]
    rows = [row for row in parts.items() if row[1]["n"] >= least][:MOST_PARTS]
    columns = [
        Column(title, lambda row: printable(row[0].strip(), 40)),
        Column("relative score", lambda row: _mark(row[1], row[1]["uniform_guess"]), "mark"),
        Column("Relative", lambda row: show_number(row[1][_RELATIVE]), "number"),
        Column("Uniform", lambda row: show_number(row[1]["uniform_guess"]), "number"),
        Column("n", lambda row: str(row[1]["n"]), "number"),
    ]
    remark = f" The {len(rows)} most frequent of {len(parts)}." if len(rows) < len(parts) else ""
    return Chart(name, title, _ABOUT + remark, make_table(columns, rows))


def _pair_chart(pairs: Mapping[str, Any]) -> Chart:
    columns = [
        Column("Reference against control", lambda row: row[0]),
        Column("Reference", lambda row: show_number(row[1]["reference_mean"]), "number"),
        Column("Control", lambda row: show_number(row[1]["control_mean"]), "number"),
        Column("Difference", lambda row: show_number(row[1]["mean_difference"]), "number"),
        Column("reference − control", lambda row: Interval(row[1]["mean_difference"], row[1]["interval"], 0.0), "mark"),
        Column("95% interval", lambda row: show_interval(row[1]["interval"]), "number"),
        Column("p", lambda row: show_number(row[1]["p_value"]), "number"),
        Column("Pairs", lambda row: str(row[1]["pairs"]), "number"),
        Column("W/T/L", lambda row: "/".join(str(row[1][key]) for key in ("wins", "ties", "losses")), "number"),
    ]
    description = (
        "Score with references minus score of the same question without them, with 95% intervals; right of the line "
        "the references helped."
    )
    rows = [row for row in pairs.items() if row[1]["pairs"]]
    return Chart("pairs", "References against controls, paired", description, make_table(columns, rows))


# --- Items ---


def name_cause(item: Mapping[str, Any]) -> str:
    """Why an item scores less than 1: "missing", "illegal", "option without yield", "not the best option"; or "right".

    >>> name_cause({"outcome": "scored", "exact": 0, "score": 0.25})
    'not the best option'
    """
    if item["outcome"] != "scored":
        return str(item["outcome"])
    if item["exact"] >= 1:
        return "right"
    return "not the best option" if item["score"] else "option without yield"


def explain(item: Mapping[str, Any], question: Mapping[str, Any] | None = None) -> str:
    """The reason of an item's score in one sentence; with its question it has the effective scores."""
    if item["outcome"] != "scored":
        return "no answer" if item["outcome"] == "missing" else "no index of an option"
    read = item["read"]
    if isinstance(read, list):
        return f"the mean over {len(read)} orders"
    if item["exact"]:
        return f"option {read} is the best"
    if not question:
        return f"option {read} has {item['score']:.3g} of the best effective score"
    effective, best = question["meta"]["effective_scores"], " and ".join(map(str, question["answer"]))
    return f"option {read} has {effective[read]:g}, the best {best} has {max(effective):g}"


def _shown_index(read: int | Sequence[int | None] | None) -> str:
    """`2`, or `2, –, 0` for several orders of the options."""
    if isinstance(read, list):
        return ", ".join("–" if i is None else str(i) for i in read)
    return "" if read is None else str(read)


_ITEMS: Final = (
    Column("Id", lambda item: printable(item["id"], 60)),
    Column("Type", lambda item: item["question_type"], spare=3),
    Column("Score", lambda item: show_number(item["score"]), "number"),
    Column("Outcome", lambda item: item["outcome"], spare=1),
    Column("Read", lambda item: _shown_index(item["read"]), "number", spare=2),
    Column("Answer", lambda item: printable(item["answer"], 20), spare=5),
    Column("Note", lambda item: item["note"], spare=4),
    Column("Why", explain),
)
