"""The page of a run: its score and the parts of it on one axis, what was lost by cause,
and every question, the costliest first. A benchmark gives the data of a `RunPage`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import JsonObject, group_by

from .breakdown import Part, breakdown_table, list_values
from .charts import Axis, Chart, interval_axis
from .html import (
    Head,
    Html,
    Page,
    TableLine,
    choose_digits,
    draw_scroll,
    draw_section,
    draw_table,
    join,
    show_heat,
    show_score,
    show_signed,
    soft,
    span,
    tag,
)
from .marks import Share, axis_head, draw_bar_of, draw_interval, draw_shares
from .pages import MAX_SHOWN, choose_shown, count_rows, make_keys, show_text
from .results import Results, list_warnings
from .rows import (
    Choice,
    OpenRow,
    draw_bar,
    draw_chips,
    draw_inside,
    draw_rows,
    show_marked,
)
from .tables import (
    Cell,
    Column,
    Heat,
    IntervalCell,
    Link,
    Table,
    format_signature,
    make_table,
    show_number,
)

_UNIT: Final = Axis("", [(part / 4, f"{part / 4:.2f}") for part in range(5)])
_MAX_CHIPS: Final = 40
_HIDDEN: Final = ("no", "soft")  # of `Column.page`: without a column of their own
_ORDERS: Final = (("-cost", "costliest first"), ("score", "lowest score first"))


class Details(NamedTuple):
    """What a benchmark shows of a question besides its score and what it costs.

    `why` is the reason of its score in one sentence. A comparison shows the texts by
    their titles, and those of `compared`.
    """

    title: Html
    why: str
    facts: Sequence[tuple[str, str]]
    texts: Sequence[tuple[str, Cell]]
    note: str = ""
    level: str = ""
    above: str = ""
    compared: Mapping[str, Cell] = MappingProxyType({})
    # What filters and orders read besides score, cost and cause.
    data: Mapping[str, object] = MappingProxyType({})


class ShownQuestion(NamedTuple):
    """A question as the page has it. `key` is its address, `cost` how much of the
    overall score it loses by `cause`.
    """

    key: str
    id: object
    score: float | None
    cost: float
    cause: str
    details: Details
    part: str = ""  # its value of the column of a breakdown


@dataclass(frozen=True)
class RunPage:
    """What the page of a run shows.

    `size` says how many questions there are. `causes` and `costs` are those of each
    item, and `details` makes what is shown of the items at some places. `filters` and
    `orders` are those of the questions besides causes. `charts` are those of `plot`:
    all but that of the scores stand below the questions. `share` is the share of the
    best score that a score is.
    """

    results: Results
    size: str
    score: float
    interval: Sequence[float] | None
    notes: Sequence[str]
    scores: Table
    causes: Sequence[str]
    costs: Sequence[float]
    details: Callable[[Sequence[int]], Sequence[Details]]
    charts: Mapping[str, Chart] = field(default_factory=dict)
    filters: Sequence[Html] = ()
    orders: Sequence[tuple[str, str]] = ()
    lead: str = ""
    share: Callable[[float], float] = float
    more: Callable[[], Iterable[Html]] = tuple  # further sections
    max_shown: int = MAX_SHOWN  # questions that the page shows

    @property
    def below(self) -> list[Chart]:
        return [chart for name, chart in self.charts.items() if name != "scores"]

    def page(self) -> Page:
        results = self.results
        benchmark = results["benchmark"]
        dataset = results.get("dataset")
        where = printable(dataset or "without a dataset", 120)
        return Page(
            printable(results.get("name") or benchmark, 120),
            f"{benchmark} · {where} · {self.size}",
            self._draw_summary,
            self._draw_body,
            self._list_charts,
            self.lead,
            [Link(chart.title, "", chart.name) for chart in self.below],
            format_signature(results["signature"], dataset),
            texts=self._list_texts,
        )

    def _list_charts(self) -> dict[str, Chart]:
        charts = (*self.charts.values(), _cause_chart(self._losses))
        return {chart.name: chart for chart in charts if chart.table.rows}

    def _draw_summary(self) -> Html:
        """Draw the score, beside it the parts on one axis, and the
        remarks below both.
        """
        bounds = "unknown"
        if self.interval:
            bounds = " – ".join(map(show_score, self.interval))
        about = span("s", "95% interval", tag("br"), bounds)
        hero = tag(
            "p", tag("b", show_score(self.score), class_="big"), about, class_="hero"
        )
        table = draw_marks(self.scores, _UNIT, "lvl")
        notes = [
            tag("li", note) for note in (*self.notes, *list_warnings(self.results))
        ]
        return join(
            tag("div", hero, table, class_="sum"), tag("ul", *notes, class_="notes")
        )

    @property
    def _losses(self) -> list[tuple[str, float]]:
        return list(zip(self.causes, self.costs, strict=True))

    def _list_questions(self) -> list[ShownQuestion]:
        """List the questions that are shown, the costliest first, those
        without a score last.
        """
        items = self.results["items"]
        groups = []
        order = []
        for item, cause, cost in zip(items, self.causes, self.costs, strict=True):
            groups.append((item.get("level"), item.get("question_type"), cause))
            if item["score"] is None:
                cost = -1.0
            order.append(cost)
        indexes = choose_shown(groups, order, self.max_shown)
        ids = ["(no id)" if item["id"] is None else item["id"] for item in items]
        keys = make_keys(ids)
        questions = []
        for index, details in zip(indexes, self.details(indexes), strict=True):
            item = items[index]
            cost = self.costs[index]
            cause = self.causes[index]
            question = ShownQuestion(
                keys[index], item["id"], item["score"], cost, cause, details
            )
            questions.append(question)
        return questions

    def _list_texts(self) -> dict[str, dict[str, Cell]]:
        """List the texts of the questions that have an id of their own."""
        questions = self._list_questions()
        counts = Counter(str(question.id) for question in questions)
        texts: dict[str, dict[str, Cell]] = {}
        for question in questions:
            if question.id is None or counts[str(question.id)] > 1:
                continue
            shown = {
                title.partition(",")[0]: text for title, text in question.details.texts
            }
            texts[str(question.id)] = {**shown, **question.details.compared}
        return texts

    def _draw_body(self) -> Iterator[Html]:
        """Draw the bar of what was lost, the filters, the questions, and
        the charts below.
        """
        questions = self._list_questions()
        for column, parts in self.results.get("by", {}).items():
            yield from _draw_breakdown(column, parts)
            questions = _tag_questions(questions, self.results["items"], column)
        shown = Counter(question.cause for question in questions)
        yield _draw_causes(self._losses, self.share(self.score), shown)
        yield draw_bar(
            "questions", "questions", *self.filters, orders=[*_ORDERS, *self.orders]
        )
        if len(questions) < len(self.costs):
            first = "of each level and cause what costs most"
            note = count_rows(len(questions), len(self.costs), first)
            yield tag("p", note, class_="cap")
        titles = ("Score", "", "Question", "Reason", "Costs")
        largest = max(self.costs, default=0.0) or 1.0
        digits = choose_digits(question.cost for question in questions)
        rows = [
            _draw_question(question, largest, digits, self.share)
            for question in questions
        ]
        yield draw_rows("questions", titles, rows, "cost")
        for chart in self.below:
            table = draw_scroll(chart.title, draw_marks(chart.table))
            yield draw_section(
                chart.title, table, note=chart.description, name=chart.name
            )
        yield from self.more()


# --- Scores ---


def draw_marks(
    table: Table,
    axis: Axis | None = None,
    kind: str | None = None,
    rows: Sequence[str | None] = (),
    line: float | None = None,
    ends: tuple[str, str] = ("", ""),
) -> Html:
    """Draw a table whose marks share an axis (`mark_lines`)."""
    heads, lines = mark_lines(table, axis, rows, line, ends)
    return draw_table(heads, lines, kind)


def mark_lines(
    table: Table,
    axis: Axis | None = None,
    rows: Sequence[str | None] = (),
    line: float | None = None,
    ends: tuple[str, str] = ("", ""),
) -> tuple[list[Head], list[TableLine]]:
    """Make the columns and rows of a table whose marks share an axis, by default one
    that holds them and 0.

    `rows` are the classes of its rows (`html.TableLine`), `line` is the value of a
    dotted line through all of them, `ends` say what the ends of the axis mean. Without
    `rows` one with a filled mark is that of everything. Marks have the name that is the
    first text of their row.
    """
    marks = [
        cell for row in table.rows for cell in row if isinstance(cell, IntervalCell)
    ]
    axis = axis or interval_axis(marks, 0.0)
    heads: list[Head] = []
    for column in table.columns:
        if column.kind == "mark":
            heads += [Head("", "g"), axis_head(axis, *ends), Head("", "g")]
        elif column.page not in _HIDDEN:
            heads.append(Head(column.title, column.page or _choose_side(column)))
    named = next(
        index for index, column in enumerate(table.columns) if column.kind == "text"
    )
    lines: list[TableLine] = []
    for row, style in zip_longest(table.rows, rows):
        is_filled = any(cell.kind for cell in row if isinstance(cell, IntervalCell))
        if is_filled and not rows:
            style = "all"
        cells: list[Html] = []
        for column, cell in zip(table.columns, row, strict=True):
            if column.page == "soft" and cell:
                cells[-1] = join(cells[-1], " ", soft(f"{column.head} {cell}".strip()))
            elif isinstance(cell, IntervalCell):
                cells += [
                    Html(),
                    draw_interval(axis, cell, str(row[named]), line),
                    Html(),
                ]
            elif column.page not in _HIDDEN:
                cells.append(_draw_cell(cell))
        lines.append(TableLine(cells, style))
    return heads, lines


def _choose_side(column: Column) -> str:
    """Choose the classes of a column that says none: numbers, and what a
    phone leaves out.
    """
    classes = ""
    if column.kind == "number":
        classes = "n"
    if column.spare > 1:
        classes += " o"
    return classes


def _draw_cell(cell: Cell) -> Html:
    if isinstance(cell, Heat):
        return show_heat(*cell)
    if cell == "0":
        return span("z", "0")
    return show_marked(cell)


# --- The values of a column ---


def _draw_breakdown(column: str, parts: Mapping[str, Part]) -> Iterator[Html]:
    """Draw the score of each value of a column, and the values as chips that filter
    the questions.

    There are no chips for more than `_MAX_CHIPS` values: those of a column with an
    author for every question would fill the screen.
    """
    table = draw_marks(breakdown_table(column, parts), _UNIT)
    yield draw_section(
        f"By {printable(column, 40)}", draw_scroll(column, table), name="by"
    )
    if len(parts) <= _MAX_CHIPS:
        yield draw_chips("questions", "by", [Choice(value, value) for value in parts])


def _tag_questions(
    questions: Sequence[ShownQuestion], items: Sequence[JsonObject], column: str
) -> list[ShownQuestion]:
    """Give each question its value of a column, which the chips read; by its id,
    if that is one.
    """
    values = dict(
        zip(
            (str(item["id"]) for item in items), list_values(items, column), strict=True
        )
    )
    return [
        question._replace(part=values.get(str(question.id), ""))
        for question in questions
    ]


# --- What was lost, by cause ---


def _sum_causes(costs: Iterable[tuple[str, float]]) -> list[tuple[str, float, int]]:
    """(cause, sum of the costs, number), the costliest first."""
    totals = []
    for cause, losses in group_by(costs, itemgetter(0)).items():
        total = math.fsum(cost for _, cost in losses)
        totals.append((cause, total, len(losses)))
    return sorted(totals, key=lambda total: (-total[1], total[0]))


def _draw_causes(
    costs: Iterable[tuple[str, float]], score: float, shown: Mapping[str, int]
) -> Html:
    """Draw what was earned, and what was lost by cause, as one bar. Below it stand the
    causes as chips that filter the questions; `shown` says how many of
    each the page has.
    """
    totals = _sum_causes(costs)
    earned = f"earned {show_score(score)}"
    shares = []
    choices = []
    for number, (cause, cost, count) in enumerate(totals):
        style = "t"
        lost = ""
        if cost:
            style = f"t{number % 3}"
            lost = show_signed(-cost)
            shares.append(Share(cost, style, f"{cause}: {count}, {lost}"))
        choices.append(
            Choice(cause, _count_cause(cause, shown[cause], count), lost, style)
        )
    if math.isnan(score):
        score = 0.0
    shares.insert(0, Share(score, "e", earned))
    lost_all = math.fsum(cost for _, cost, _ in totals)
    lost = tag("span", f"lost {show_score(lost_all)}, by cause")
    caption = tag("div", tag("span", earned), lost, class_="lostcap")
    return join(draw_shares(shares), caption, draw_chips("questions", "cause", choices))


def _count_cause(cause: str, shown: int, count: int) -> str:
    """Write how many questions a chip finds: fewer than there are where a
    page shows a part.
    """
    if shown == count:
        return f"{cause} {count}"
    return f"{cause} {shown} of {count} here"


def _cause_chart(costs: Iterable[tuple[str, float]]) -> Chart:
    """Return the same as a chart for `plot`."""
    rows = [row for row in _sum_causes(costs) if row[1]]
    description = "What is missing from an overall score of 1, by the kind of mistake."
    return Chart("costs", "What costs most", description, make_table(_CAUSES, rows))


_CAUSES: Final = (
    Column("", itemgetter(0)),
    Column("costs", lambda row: IntervalCell(row[1], (0.0, row[1]), None, "a"), "mark"),
    Column("Questions", itemgetter(2), "number"),
)


# --- Questions ---


def _draw_question(
    question: ShownQuestion,
    largest: float,
    digits: int,
    share: Callable[[float], float],
) -> OpenRow:
    """Draw a question; its cost has a bar for its share of the largest cost."""
    details = question.details
    score = question.score
    cost = question.cost
    data = {"cause": question.cause, **details.data}
    if question.part:
        data["by"] = question.part
    data["cost"] = f"{cost:.6f}"
    if score is None:
        chip = show_heat(None, kind="chip")
        data["score"] = 9  # behind all others
    else:
        chip = show_heat(score, share(score), kind="chip")
        data["score"] = f"{score:.4f}"
    lost = tag("span", "", class_="co")
    if cost:
        bar = draw_bar_of(cost / largest)
        lost = tag(
            "span", show_signed(-cost, digits), bar, class_="co", title=f"{cost:.6f}"
        )
    title = span("qt", details.title)
    why = span("why", show_text(details.why, 200))
    cells = [chip, span("lv", details.level), title, why, lost]
    reason = f"{show_number(score)}: {show_text(details.why)}"
    facts = [*details.facts, ("Score", reason), ("Note", show_text(details.note))]
    inside = draw_inside(question.key, facts, details.texts, question.id)
    return OpenRow(question.key, cells, data, join(details.above, inside))
