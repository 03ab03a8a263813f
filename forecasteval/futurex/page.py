"""What a page shows of a result: scores by level, what costs most, numbers in sigmas, and every question to open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.charts import Chart
from forecasteval.common.pages import (
    MOST,
    Page,
    Records,
    Section,
    chart_causes,
    count_rows,
    make_records,
    mark,
    show_text,
    text_limit,
)
from forecasteval.common.records import as_text
from forecasteval.common.report import Bar, Cell, Column, make_table, show_number

from .answers import read_answer
from .questions import Truth, read_record
from .report import explain, name_cause, summarise
from .rows import raw_answer
from .rules import WEIGHTS, Rules

_BINS: Final = (
    (-3, "more than 3 σ too low"),
    (-1, "1 to 3 σ too low"),
    (-0.5, "0.5 to 1 σ too low"),
    (0.5, "within 0.5 σ"),
    (1, "0.5 to 1 σ too high"),
    (3, "1 to 3 σ too high"),
    (float("inf"), "more than 3 σ too high"),
)
Rows = Callable[[], Iterable[Mapping[str, Any]] | None]


def make_page(results: Mapping[str, Any], rows: Rows | None = None, rules: Rules | None = None) -> Page:
    """The page of a result of `FutureXEvaluator`; `rows` reads the questions with their answers once more.

    Without rows the page shows what the items keep: the first line of a prompt, and an excerpt of an answer.
    """
    items = results["items"]
    costs = _costs(items, results["signature"]["fixed_weights"] is True)
    sections = []
    if any(costs):
        sections.append(Section("What costs most", [chart_causes(zip(map(name_cause, items), costs, strict=True))]))
    if any(item["sigmas"] is not None for item in items):
        sections.append(Section("Numbers", [_sigma_chart(items)]))
    return summarise(results).with_sections(*sections, Section("Questions", [_records(items, costs, rows, rules)]))


def _costs(items: Iterable[Mapping[str, Any]], fixed: bool) -> list[float]:
    """What each question takes from the overall score: its share of the weights times what its score lacks of 1."""
    counts = Counter(item["level"] for item in items if item["score"] is not None)
    total = sum(WEIGHTS.values()) if fixed else sum(WEIGHTS[level] for level in counts)
    return [
        0.0 if item["score"] is None else WEIGHTS[item["level"]] / total / counts[item["level"]] * (1 - item["score"])
        for item in items
    ]


def _sigma_chart(items: Iterable[Mapping[str, Any]]) -> Chart:
    sigmas = [item["sigmas"] for item in items if item["sigmas"] is not None]
    counts = Counter(next(title for edge, title in _BINS if x < edge or x == edge > 0) for x in sigmas)
    low, high = sum(x < 0 for x in sigmas), sum(x > 0 for x in sigmas)
    description = (
        f"How far {len(sigmas)} numbers lie from the truth, in units of the question's σ: {low} are too low, {high} "
        "too high. Within 1 σ an answer scores."
    )
    columns = [
        Column("Distance", str),
        Column("", lambda title: Bar(counts[title]), "mark"),
        Column("Numbers", lambda title: str(counts[title]), "number"),
    ]
    table = make_table(columns, [title for _, title in _BINS])
    return Chart("sigmas", "Numbers, in σ from the truth", description, table)


# --- Questions ---


class _Row(NamedTuple):
    """An item with what it costs, the whole prompt and answer, the truth as it was read, how many items have its id."""

    item: Mapping[str, Any]
    cost: float
    prompt: str
    answer: str
    truth: Truth | None
    same_id: int

    @property
    def why(self) -> str:
        return explain(self.item, self.truth)

    @property
    def note(self) -> str:
        return "; ".join(filter(None, (self.item["note"], f"{self.same_id} rows have this id" * (self.same_id > 1))))


def _read_rows(
    items: Sequence[Mapping[str, Any]], costs: Sequence[float], rows: Rows | None, rules: Rules | None
) -> list[_Row]:
    """What costs most first; with the texts of the item if the files hold another answer by now."""
    places = sorted(range(len(items)), key=lambda place: -costs[place])[:MOST]
    shown, repeated, given = set(places), Counter(item["id"] for item in items), iter((rows() if rows else None) or ())
    read = {}
    for place, item in enumerate(items):
        record = next(given, None)
        if place not in shown:
            continue
        raw = raw_answer(record) if isinstance(record, Mapping) else None
        prompt, answer, truth = item["prompt"], raw if isinstance(raw, str) else as_text(raw), None
        if record is None or item["answer"] not in answer:
            answer = item["answer"]
        else:
            prompt = str(record.get("prompt") or "")
            truth = read_record(record, "", place, rules).truth if rules else None
        read[place] = _Row(item, costs[place], prompt, answer, truth, repeated[item["id"]])
    return [read[place] for place in places]


def _records(
    items: Sequence[Mapping[str, Any]], costs: Sequence[float], rows: Rows | None, rules: Rules | None
) -> Records:
    """The questions, what costs most first."""
    shown = _read_rows(items, costs, rows, rules)
    limit = text_limit(text for row in shown for text in (row.prompt, row.answer))
    columns = [
        Column("Level", lambda row: str(row.item["level"]), "choice", "low"),
        Column("Score", lambda row: show_number(row.item["score"], 3), "number", "high"),
        Column("Costs", lambda row: show_number(row.cost), "number", "high"),
        Column("Outcome", lambda row: name_cause(row.item), "choice"),
        Column("Question", lambda row: show_text(row.item["prompt"], 200), "long"),
        Column("Why", lambda row: show_text(row.why, 200), "long"),
        Column("Question", lambda row: show_text(row.prompt, limit), "inside"),
        Column("Truth", lambda row: show_text(row.item["truth"]), "inside"),
        Column("Answer", lambda row: _show_answer(row.answer, limit), "inside"),
        Column("Read", lambda row: show_text(row.item["read"]), "inside"),
        Column("Score", lambda row: f"{show_number(row.item['score'])}: {row.why}", "inside"),
        Column("Note", lambda row: row.note, "inside"),
        Column("Decided by", lambda row: row.item["decided_by"].replace("grammar", ""), "inside"),
        Column("Id", lambda row: "" if row.item["id"] is None else show_text(row.item["id"], 200), "inside"),
    ]
    note = count_rows(len(shown), len(items), "what costs most") + " A row opens; what counts of a box is marked."
    ids = [row.item["id"] for row in shown]
    return make_records("questions", "Questions", columns, shown, ids, note, lambda row: not row.item["score"])


def _show_answer(text: str, limit: int) -> Cell:
    """The answer with the part marked that counts, as `read_answer` finds it."""
    answer = read_answer(text)
    return mark(text, answer.find_in(text) if answer and answer.boxed else None, limit)
