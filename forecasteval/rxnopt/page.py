"""What a page shows of a result: scores against a blind guess, references against controls, every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Chart, Interval, insert_column
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    CHARTED,
    Column,
    Page,
    Record,
    Records,
    Section,
    choose_places,
    count_rows,
    make_keys,
    show_text,
)
from forecasteval.common.report import Table, format_signature, show_interval, show_number

from .kinds import METRICS, NAME, QUESTION_TYPES
from .report import report_parts

_RELATIVE: Final = METRICS[0]
_GROUPS: Final = {  # of results, where they are there
    "by_target_key": ("keys", "By the condition asked about"),
    "by_option_count": ("options", "By the number of options"),
}
_COLUMNS: Final = (
    Column("Type", "choice"), Column("Outcome", "choice"), Column("Score", "number", "high"),
    Column("Question", "long"), Column("Why", "long"),
)  # fmt: skip


def make_page(results: Mapping[str, Any]) -> Page:
    """The page of a result of `RxnOptEvaluator`."""
    items, signature = results["items"], results["signature"]
    figures = [
        ("Relative score", show_number(results[_RELATIVE]), show_interval(results["intervals"][_RELATIVE])),
        ("Uniform guess", show_number(results["uniform_guess"][_RELATIVE]), ""),
        ("Exact", show_number(results[METRICS[1]]), ""),
        ("Questions", str(results["n"]), ""),
        ("Missing", str(results["missing"]), ""),
        ("Illegal", str(results["illegal"]), ""),
    ]
    kinds, parts = results["by_question_type"], report_parts(results)
    rows = [*(kinds[kind] for kind in QUESTION_TYPES if kind in kinds), results]
    sections = [Section("Scores", [_score_chart(parts["scores"][0], rows), *parts["remarks"], *parts["warnings"]])]
    if parts["pairs"]:
        sections.append(Section("References against controls", [_pair_chart(parts["pairs"][0], results["pairs"])]))
    for key, (name, title) in _GROUPS.items():
        if results.get(key):
            groups = {group.strip(): row for group, row in results[key].items()}
            sections.append(Section(title, [_group_chart(name, title, groups)]))
    sections.append(Section("Questions", [_records(items)]))
    against = printable(results.get("dataset") or "given questions", 120)
    name = printable(results.get("name", NAME), 120)
    lead = f"{NAME}, {results['n']} questions, {against}"
    return Page(name, lead, figures, sections, format_signature(signature))


_ABOUT: Final = (
    "Dots: the mean of effective score / best effective score, with 95% intervals; upright marks: what a uniform guess "
    "among the options expects."
)


def _mark(row: Mapping[str, Any]) -> Interval:
    guess = row["uniform_guess"]
    expected = guess[_RELATIVE] if isinstance(guess, Mapping) else guess
    return Interval(row[_RELATIVE], row.get("intervals", {}).get(_RELATIVE), expected)


def _score_chart(table: Any, rows: Sequence[Mapping[str, Any]]) -> Chart:
    marked = insert_column(table, "95% interval", "relative score", list(map(_mark, rows)))
    return Chart("scores", "Relative score by question type", _ABOUT, marked)


def _group_chart(name: str, title: str, groups: Mapping[str, Mapping[str, Any]]) -> Chart:
    """The mean relative score of each group, the most frequent ones of many."""
    shown = dict(sorted(groups.items(), key=lambda group: -group[1]["n"])[:CHARTED]) if name == "keys" else groups
    rows: list[Any] = [
        [printable(group, 60), _mark(row), show_number(row[_RELATIVE]), show_number(_mark(row).mark), str(row["n"])]
        for group, row in shown.items()
    ]
    description = _ABOUT.replace(", with 95% intervals", "")
    if len(shown) < len(groups):
        description += f" The {len(shown)} most frequent of {len(groups)}."
    header = ["Group", "relative score", "Relative", "Uniform guess", "n"]
    return Chart(name, title, description, Table(header, rows, "<<>>>"))


def _pair_chart(table: Any, pairs: Mapping[str, Any]) -> Chart:
    marks = [Interval(pair["mean_difference"], pair["interval"], 0.0) for pair in pairs.values() if pair["pairs"]]
    description = (
        "Score with references minus score of the same question without them, with 95% intervals; right of the line "
        "the references helped."
    )
    marked = insert_column(table, "95% interval", "reference − control", marks)
    return Chart("pairs", "References against controls, paired", description, marked)


def _records(items: Sequence[Mapping[str, Any]]) -> Records:
    """The questions, those with the lowest scores first."""
    places = set(choose_places(items, lambda item: item["score"]))
    chosen = sorted((item for place, item in enumerate(items) if place in places), key=lambda item: item["score"])
    keys = make_keys(item["id"] for item in chosen)
    records = [_record(item, key) for item, key in zip(chosen, keys, strict=True)]
    return Records("questions", "Questions", _COLUMNS, records, count_rows(items, len(records), "the lowest scores"))


def _record(item: Mapping[str, Any], key: str) -> Record:
    cells = [
        item["question_type"], item["outcome"], show_number(item["score"], 3), show_text(item["id"], 120),
        show_text(item["note"]),
    ]  # fmt: skip
    details = [("Answer", show_text(item["answer"])), ("Read", "" if item["read"] is None else str(item["read"]))]
    return Record(key, cells, [(label, text) for label, text in details if text], item["exact"] < 1)
