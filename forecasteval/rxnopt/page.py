"""What a page shows of a result: scores against a blind guess, references against controls, every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Span, forest_chart
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    CHARTED,
    Block,
    Cell,
    Chart,
    Column,
    Page,
    Records,
    Section,
    choose_rows,
    show_text,
)
from forecasteval.common.report import Table, format_signature, show_interval, show_number

from .kinds import METRICS, NAME, QUESTION_TYPES
from .report import report_blocks

_RELATIVE: Final = METRICS[0]
_GROUPS: Final = {  # of results, where they are there
    "by_target_key": ("keys", "By the condition asked about"),
    "by_option_count": ("options", "By the number of options"),
}
_COLUMNS: Final = (
    Column("Type", "choice"), Column("Outcome", "choice"), Column("Score", "number"), Column("Exact", "number"),
    Column("Read", "number"), Column("Answer"), Column("Note"), Column("Id", "long"),
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
    kinds = results["by_question_type"]
    rows = {**{kind: kinds[kind] for kind in QUESTION_TYPES if kind in kinds}, "overall": results}
    told = [block for block in report_blocks(results, parts=False)[3:-1] if block]
    sections = [Section("Scores", [_score_chart("scores", "Relative score by question type", rows), *told])]
    if results["pairs"]["overall"]["pairs"]:
        sections.append(Section("References against controls", [_pair_chart(results["pairs"])]))
    for key, (name, title) in _GROUPS.items():
        if results.get(key):
            groups = {group.strip(): row for group, row in results[key].items()}
            sections.append(Section(title, [_score_chart(name, title, groups)]))
    sections.append(Section("Questions", _records(items)))
    against = printable(results.get("dataset") or "given questions", 120)
    name = printable(results.get("name", NAME), 120)
    lead = f"{NAME}, {results['n']} questions, {against}"
    return Page(name, lead, figures, sections, format_signature(signature))


def _score_chart(name: str, title: str, groups: Mapping[str, Mapping[str, Any]]) -> Chart:
    """The mean relative score of each group, against what a blind guess expects."""
    shown = dict(sorted(groups.items(), key=lambda group: -group[1]["n"])[:CHARTED]) if name == "keys" else groups
    spans = [Span(group, row[_RELATIVE], row.get("intervals", {}).get(_RELATIVE)) for group, row in shown.items()]
    guesses = [_guess(row) for row in shown.values()]
    cells = [
        [printable(span.name, 60), show_number(span.value), show_interval(span.interval), show_number(guess),
         str(row["n"])]
        for span, guess, row in zip(spans, guesses, shown.values(), strict=True)
    ]  # fmt: skip
    told = "Dots: the mean of effective score / best effective score"
    told += ", with 95% intervals" if any(span.interval for span in spans) else ""
    told += "; upright marks: what a uniform guess among the options expects."
    if len(shown) < len(groups):
        told += f" The {len(shown)} most frequent of {len(groups)}."
    table = Table(["Group", "Relative", "95% interval", "Uniform guess", "n"], cells, "<>>>>")
    return forest_chart(name, title, told, spans, "relative score", table, marks=guesses)


def _guess(row: Mapping[str, Any]) -> float | None:
    guess = row["uniform_guess"]
    value: float | None = guess[_RELATIVE] if isinstance(guess, Mapping) else guess
    return value


def _pair_chart(pairs: Mapping[str, Any]) -> Chart:
    shown = {kind: pair for kind, pair in pairs.items() if pair["pairs"]}
    spans = [Span(kind, pair["mean_difference"], pair["interval"]) for kind, pair in shown.items()]
    cells = [
        [kind, *(show_number(pair[key]) for key in ("reference_mean", "control_mean", "mean_difference")),
         show_interval(pair["interval"]), str(pair["pairs"]),
         "/".join(str(pair[key]) for key in ("wins", "ties", "losses"))]
        for kind, pair in shown.items()
    ]  # fmt: skip
    told = (
        "Score with references minus score of the same question without them, with 95% intervals; right of the line "
        "the references helped."
    )
    table = Table(["Form", "Reference", "Control", "Difference", "95% interval", "Pairs", "W/T/L"], cells, "<>>>>>>")
    title = "References against controls, paired"
    return forest_chart("pairs", title, told, spans, "reference − control", table, reference=0.0)


def _records(items: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The questions; of very many those from which there is most to learn: illegal answers, then low scores."""
    rows = choose_rows(items, _interest, _row)
    told = f"All {len(items)} questions."
    if len(rows) < len(items):
        told = (
            f"{len(rows)} of {len(items)} questions: first those with an illegal answer, then those with the lowest "
            "scores. All of them are in the JSON that --save writes."
        )
    return [Records("Questions", _COLUMNS, rows, told)]


def _interest(item: Mapping[str, Any]) -> tuple[bool, bool, float]:
    return item["outcome"] == "missing", item["read"] is not None, item["score"]


def _row(item: Mapping[str, Any]) -> list[Cell]:
    return [
        item["question_type"], item["outcome"], show_number(item["score"]), show_number(item["exact"], 0),
        "" if item["read"] is None else str(item["read"]), show_text(item["answer"], 200), show_text(item["note"]),
        show_text(item["id"], 120),
    ]  # fmt: skip
