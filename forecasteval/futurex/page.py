"""What a page shows of a result: scores by level, numbers in sigmas, and every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Span, draw_bars, draw_counts
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    MOST,
    Cell,
    Chart,
    Column,
    Page,
    Panel,
    Records,
    Section,
    mark,
    show_text,
    signature_key,
)
from forecasteval.common.report import Table, format_signature, show_interval, show_number

from .answers import read_answer
from .report import report_blocks
from .rules import LEVELS

_COLUMNS: Final = (
    Column("Level", "choice"), Column("Kind", "choice"), Column("Outcome", "choice"), Column("Score", "number"),
    Column("Question", "long"), Column("Truth"), Column("Read"), Column("Answer", "long"), Column("Note"),
    Column("Id"),
)  # fmt: skip
_BINS: Final = 4  # bars per sigma
_EDGE: Final = 3  # sigmas; what is farther away is in the outermost bars


def make_page(results: Mapping[str, Any]) -> Page:
    """The page of a result of `FutureXEvaluator`."""
    items, signature = results["items"], results["signature"]
    figures = [
        ("Overall score", show_number(results["overall_score"]), show_interval(results["overall_interval"])),
        ("Questions", str(len(items)), ""),
        ("Missing", str(results["missing_count"]), ""),
        ("Unparsed", str(results["unparsed_count"]), ""),
        ("Read without a box", str(results["unboxed_count"]), ""),
        ("Numbers without σ", str(results["no_sigma_count"]), ""),
    ]
    sections = [Section("Scores", [_score_chart(results), *(block for block in report_blocks(results)[3:-1] if block)])]
    if any(item["sigmas"] is not None for item in items):
        sections.append(Section("Numbers", [_sigma_chart(items)]))
    sections.append(Section("Questions", [_records(items)]))
    against = printable(results.get("dataset") or "its own questions", 120)
    lead = f"FutureX, {len(items)} questions, {against}, rule set {signature['rules']}"
    name = printable(results.get("name", "FutureX"), 120)
    return Page(name, lead, figures, sections, format_signature(signature), signature_key(signature))


def _score_chart(results: Mapping[str, Any]) -> Chart:
    points: dict[int, list[float]] = {level: [] for level in LEVELS}
    for item in results["items"]:
        if item["score"] is not None:
            points[item["level"]].append(item["score"])
    means, intervals = results["level_scores"], results["level_intervals"]
    spans = [Span(f"Level {level}", means[level], intervals[level]) for level in LEVELS]
    spans.append(Span("Overall", results["overall_score"], results["overall_interval"], 1))
    shown = [*points.values(), []]
    rows = [
        [span.name, show_number(span.value), show_interval(span.interval), *map(str, _thirds(row))]
        for span, row in zip(spans, [*points.values(), [x for row in points.values() for x in row]], strict=True)
    ]
    description = (
        "Bars: the mean of each level, and their weighted mean; lines: 95% intervals. "
        "Dots: the scores of the questions; the larger a dot, the more questions have that score."
    )
    return Chart(
        "scores", "Scores by level", description, [Panel("", lambda ax: draw_bars(ax, spans, shown, "score"))],
        Table(["", "Score", "95% interval", "Questions with 0", "Between 0 and 1", "With 1"], rows, "<>>>>>"),
        margin=0.8,
    )  # fmt: skip


def _thirds(scores: Sequence[float]) -> tuple[int, int, int]:
    none, full = sum(score <= 0 for score in scores), sum(score >= 1 for score in scores)
    return none, len(scores) - none - full, full


def _sigma_chart(items: Sequence[Mapping[str, Any]]) -> Chart:
    sigmas = [item["sigmas"] for item in items if item["sigmas"] is not None]
    last = _EDGE * _BINS
    counts = Counter(int(min(last - 1, max(-last, x * _BINS // 1))) for x in sigmas)
    bars = [(place / _BINS, counts[place]) for place in range(-last, last)]
    rows = [
        ["within half a σ", "at least 0.75", sum(abs(x) <= 0.5 for x in sigmas)],
        ["half a σ to 1 σ", "0 to 0.75", sum(0.5 < abs(x) <= 1 for x in sigmas)],
        ["1 to 3 σ", "0", sum(1 < abs(x) <= _EDGE for x in sigmas)],
        ["beyond 3 σ", "0", sum(abs(x) > _EDGE for x in sigmas)],
    ]
    low, high = sum(x < 0 for x in sigmas), sum(x > 0 for x in sigmas)
    description = (
        f"How far {len(sigmas)} numbers lie from the truth, in units of the question's σ: {low} are too low, {high} "
        "too high. Between the dashed lines an answer scores. The outermost bars hold all that is farther away."
    )
    return Chart(
        "sigmas", "Numbers, in σ from the truth", description,
        [Panel("", lambda ax: draw_counts(ax, bars, 1 / _BINS, (-1.0, 1.0), ("σ from the truth", "numbers")))],
        Table(["Distance", "Score", "Numbers"], [[a, b, str(n)] for a, b, n in rows], "<>>"),
        height=1.6, margin=0.8,
    )  # fmt: skip


# --- Questions ---


def _records(items: Sequence[Mapping[str, Any]]) -> Records:
    """The questions; of very many those from which there is most to learn: not read, wrong, then partly right."""
    order = sorted(range(len(items)), key=lambda place: (_interest(items[place]), place))
    shown = [items[place] for place in sorted(order[:MOST])]
    told = f"All {len(items)} questions. What counts of an answer is marked."
    if len(items) > MOST:
        told = (
            f"{MOST} of {len(items)} questions: first those that were not read, then those with the lowest scores. "
            "All of them are in the JSON that --save writes. What counts of an answer is marked."
        )
    return Records("Questions", _COLUMNS, list(map(_row, shown)), told)


def _interest(item: Mapping[str, Any]) -> tuple[int, float]:
    return ("unparsed", "scored", "missing").index(item["outcome"]), item["score"] or 0.0


def _row(item: Mapping[str, Any]) -> list[Cell]:
    return [
        str(item["level"]), item["kind"], item["outcome"], show_number(item["score"]), show_text(item["prompt"], 200),
        show_text(item["truth"], 120), show_text(item["read"], 120), _answer(item["answer"]), show_text(item["note"]),
        show_text("" if item["id"] is None else item["id"], 60),
    ]  # fmt: skip


def _answer(text: str) -> Cell:
    """The answer with the part marked that counts, as `read_answer` finds it."""
    answer = read_answer(text)
    return mark(text, answer.text, answer.find_in(text)) if answer and answer.boxed else show_text(text)
