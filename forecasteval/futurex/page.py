"""What a page shows of a result: scores by level, what costs most, numbers in sigmas, and every question to open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.charts import Chart, insert_column
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    Page,
    Record,
    Records,
    Section,
    choose_places,
    count_rows,
    make_keys,
    mark,
    show_text,
    text_limit,
)
from forecasteval.common.records import as_text
from forecasteval.common.report import (
    Bar,
    Cell,
    Column,
    Interval,
    Link,
    Table,
    format_signature,
    plain_table,
    show_interval,
    show_number,
)

from .answers import read_answer
from .explanations import explain, name_cause
from .questions import read_record
from .report import report_parts
from .rows import raw_answer
from .rules import LEVELS, WEIGHTS, Rules
from .truths import Truth

_COLUMNS: Final = (
    Column("Level", str, "choice", "low"),
    Column("Score", str, "number", "high"),
    Column("Costs", str, "number", "high"),
    Column("Outcome", str, "choice"),
    Column("Question", str, "long"),
    Column("Why", str, "long"),
)
_BINS: Final = (
    (-3, "more than 3 σ too low"), (-1, "1 to 3 σ too low"), (-0.5, "0.5 to 1 σ too low"), (0.5, "within 0.5 σ"),
    (1, "0.5 to 1 σ too high"), (3, "1 to 3 σ too high"), (float("inf"), "more than 3 σ too high"),
)  # fmt: skip
Rows = Callable[[], Iterable[Mapping[str, Any]] | None]


def make_page(results: Mapping[str, Any], rows: Rows | None = None, rules: Rules | None = None) -> Page:
    """The page of a result of `FutureXEvaluator`; `rows` reads the questions with their answers once more.

    Without rows the page shows what the items keep: the first line of a prompt, and an excerpt of an answer.
    """
    items, signature, parts = results["items"], results["signature"], report_parts(results)
    figures = [
        ("Overall score", show_number(results["overall_score"]), show_interval(results["overall_interval"])),
        ("Questions", str(len(items)), ""),
        ("Missing", str(results["missing_count"]), ""),
        ("Unparsed", str(results["unparsed_count"]), ""),
        ("Read without a box", str(results["unboxed_count"]), ""),
        ("Numbers without σ", str(results["no_sigma_count"]), ""),
        *([("Padded", str(results["padded_count"]), "")] if results["padded_count"] else []),
    ]
    costs = _costs(items, signature["fixed_weights"] is True)
    sections = [Section("Scores", [_score_chart(results, parts["scores"][0]), *parts["remarks"]])]
    if any(costs):
        sections.append(Section("What costs most", [_cost_chart(items, costs)]))
    if any(item["sigmas"] is not None for item in items):
        sections.append(Section("Numbers", [_sigma_chart(items)]))
    sections.append(Section("Questions", [_records(items, costs, rows, rules)]))
    against = printable(results.get("dataset") or "its own questions", 120)
    lead = f"FutureX, {len(items)} questions, {against}, rule set {signature['rules']}"
    name = printable(results.get("name", "FutureX"), 120)
    return Page(name, lead, figures, sections, format_signature(signature))


def _costs(items: Iterable[Mapping[str, Any]], fixed: bool) -> list[float]:
    """What each question takes from the overall score: its share of the weights times what its score lacks of 1."""
    counts = Counter(item["level"] for item in items if item["score"] is not None)
    total = sum(WEIGHTS.values()) if fixed else sum(WEIGHTS[level] for level in counts)
    return [
        0.0 if item["score"] is None else WEIGHTS[item["level"]] / total / counts[item["level"]] * (1 - item["score"])
        for item in items
    ]


# --- Charts ---


def _score_chart(results: Mapping[str, Any], table: Any) -> Chart:
    means, intervals = results["level_scores"], results["level_intervals"]
    marks = [Interval(means[level], intervals[level]) for level in LEVELS]
    marks.append(Interval(results["overall_score"], results["overall_interval"], None, 1))
    description = "Dots: the mean of each level; ring: their weighted mean; lines: 95% intervals."
    return Chart("scores", "Scores by level", description, insert_column(table, "95% interval", "score", marks))


def _cost_chart(items: Sequence[Mapping[str, Any]], costs: Sequence[float]) -> Chart:
    """Mistakes by their kind, what costs most first; each leads to its questions."""
    totals: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for item, cost in zip(items, costs, strict=True):
        if cost:
            cause = name_cause(item)
            totals[cause] += cost  # type: ignore[assignment]
            counts[cause] += 1
    rows: list[Any] = [
        [Link(cause, "", f"outcome={cause.replace(' ', '+')}"), Bar(cost), show_number(cost), str(counts[cause])]
        for cause, cost in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    description = (
        "What is missing from an overall score of 1, by the kind of mistake: the weight of each question times what "
        "its score lacks."
    )
    table = plain_table(["Outcome", "", "Costs", "Questions"], rows, "<<>>")
    return Chart("costs", "What costs most", description, table)


def _sigma_chart(items: Iterable[Mapping[str, Any]]) -> Chart:
    sigmas = [item["sigmas"] for item in items if item["sigmas"] is not None]
    counts = Counter(next(title for edge, title in _BINS if x < edge or x == edge > 0) for x in sigmas)
    rows: list[Any] = [[title, Bar(counts[title]), str(counts[title])] for _, title in _BINS]
    low, high = sum(x < 0 for x in sigmas), sum(x > 0 for x in sigmas)
    description = (
        f"How far {len(sigmas)} numbers lie from the truth, in units of the question's σ: {low} are too low, {high} "
        "too high. Within 1 σ an answer scores."
    )
    return Chart(
        "sigmas", "Numbers, in σ from the truth", description, plain_table(["Distance", "", "Numbers"], rows, "<<>")
    )


# --- Questions ---


class _Texts(NamedTuple):
    """What is shown of a question besides its item: the whole prompt and answer, the truth as it was read."""

    prompt: str
    answer: str
    truth: Truth | None


def _read_texts(
    items: Iterable[Mapping[str, Any]], places: set[int], rows: Rows | None, rules: Rules | None
) -> dict[int, _Texts]:
    """The texts of the items at these places; those of the item if the files hold another answer by now."""
    given = iter((rows() if rows else None) or ())
    texts = {}
    for place, item in enumerate(items):
        row = next(given, None)
        if place not in places:
            continue
        raw = raw_answer(row) if isinstance(row, Mapping) else None
        answer = raw if isinstance(raw, str) else as_text(raw)
        if row is None or item["answer"] not in answer:
            texts[place] = _Texts(item["prompt"], item["answer"], None)
        else:
            truth = read_record(row, "", place, rules).truth if rules else None
            texts[place] = _Texts(str(row.get("prompt") or ""), answer, truth)
    return texts


def _records(
    items: Sequence[Mapping[str, Any]], costs: Sequence[float], rows: Rows | None, rules: Rules | None
) -> Records:
    """The questions, what costs most first."""
    order = iter(costs)
    places = choose_places(items, lambda item: -next(order))
    texts = _read_texts(items, set(places), rows, rules)
    limit = text_limit(text for found in texts.values() for text in found[:2])
    chosen = {place: item for place, item in enumerate(items) if place in texts}
    repeated = Counter(item["id"] for item in items)
    keys = make_keys(chosen[place]["id"] for place in places)
    records = [
        _record(chosen[place], texts[place], costs[place], key, repeated[chosen[place]["id"]], limit)
        for place, key in zip(places, keys, strict=True)
    ]
    note = count_rows(items, len(records), "what costs most") + " A row opens; what counts of a box is marked."
    return Records("questions", "Questions", _COLUMNS, records, note)


def _record(item: Mapping[str, Any], texts: _Texts, cost: float, key: str, count: int, limit: int) -> Record:
    why = explain(item, texts.truth)
    details: list[tuple[str, Cell | Table]] = [
        ("Question", show_text(texts.prompt, limit)),
        ("Truth", show_text(item["truth"])),
        ("Answer", _show_answer(texts.answer, limit)),
        ("Read", show_text(item["read"])),
        ("Score", f"{show_number(item['score'])}: {why}"),
        ("Note", "; ".join(filter(None, (item["note"], f"{count} rows have this id" if count > 1 else "")))),
        ("Decided by", "" if item["decided_by"] == "grammar" else item["decided_by"]),
        ("Id", show_text("" if item["id"] is None else item["id"], 200)),
    ]
    cells = [
        str(item["level"]), show_number(item["score"], 3), show_number(cost), name_cause(item),
        show_text(item["prompt"], 200), show_text(why, 200),
    ]  # fmt: skip
    return Record(key, cells, [(label, text) for label, text in details if text], not item["score"])


def _show_answer(text: str, limit: int) -> Cell:
    """The answer with the part marked that counts, as `read_answer` finds it."""
    answer = read_answer(text)
    return mark(text, answer.find_in(text) if answer and answer.boxed else None, limit)
