"""The page of a result: score and levels on one axis, what was lost by cause, and every question,
the costliest first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, filterfalse, repeat
from typing import Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import JsonObject, as_text
from forecasteval.display import pages
from forecasteval.display.charts import Axis, Chart
from forecasteval.display.html import (
    Head,
    Html,
    Line,
    Page,
    draw_table,
    join,
    show_heat,
    soft,
    tag,
)
from forecasteval.display.marks import axis_head, draw_interval
from forecasteval.display.pages import show_text
from forecasteval.display.results import Results
from forecasteval.display.rows import (
    Choice,
    Row,
    cause_chart,
    draw_bar,
    draw_causes,
    draw_chips,
    draw_cost,
    draw_inside,
    draw_rows,
    show_total,
)
from forecasteval.display.tables import Cell, Interval, format_signature, show_number

from .answers import parse_answer
from .join import is_void, raw_answer
from .questions import Truth, parse_record
from .report import describe_size, explain, level_rows, list_notes, name_cause, score_table
from .results import Item
from .rules import WEIGHTS, Rules, total_weight

Rows = Callable[[], Iterable[JsonObject] | None]
_AXIS: Final = Axis("", [(part / 4, f"{part / 4:.2f}") for part in range(5)])
_ORDERS: Final = (
    ("-cost", "costliest first"),
    ("score", "lowest score first"),
    ("level", "by level"),
)
_BOXLESS: Final = "without a box"
_BY_MODEL: Final = "by the model"


def make_page(results: Results, rows: Rows | None = None, rules: Rules | None = None) -> Page:
    """The page of a result of `FutureXEvaluator`; `rows` reads the questions with their answers
    once more.

    Without rows the page shows what the items keep: the first line of a prompt, and an excerpt of
    an answer.
    """
    costs = list_costs(results["items"], results["signature"]["fixed_weights"] is not True)
    read = partial(_read_questions, results["items"], costs, rows, rules)
    dataset = printable(results.get("dataset") or "without a dataset", 120)
    name = printable(results.get("name") or results["benchmark"], 120)
    return Page(
        title=name,
        facts=f"{results['benchmark']} · {dataset} · {describe_size(results)}",
        summary=partial(_draw_summary, results),
        body=partial(_draw_body, results, costs, read),
        charts=partial(_make_charts, results, costs),
        signature=format_signature(results["signature"], results.get("dataset")),
        texts=partial(_list_texts, read),
    )


def list_costs(items: Sequence[Item], renormalised: bool) -> list[float]:
    """How much of the overall score each question loses: its share of the weights times 1 − its
    score.
    """
    counts = Counter(item["level"] for item in items if item["score"] is not None)
    pending = {item["level"] for item in items if item["outcome"] == "pending"}
    total = total_weight(counts.keys(), pending, renormalised)
    return [
        0.0
        if item["score"] is None
        else WEIGHTS[item["level"]] / total / counts[item["level"]] * (1 - item["score"])
        for item in items
    ]


def _make_charts(results: Results, costs: Sequence[float]) -> dict[str, Chart]:
    causes = cause_chart(zip(map(name_cause, results["items"]), costs, strict=True))
    description = "Dots: the mean of each level; ring: their weighted mean; lines: 95% intervals."
    chart = Chart("scores", "Scores by level", description, score_table(results))
    charts = {"scores": chart}
    return {**charts, "costs": causes} if causes.table.rows else charts


# --- Score and levels ---


def _draw_summary(results: Results) -> Html:
    """The score with its remarks, beside it the levels on one axis."""
    notes = [note for note in list_notes(results) if not note.endswith(": 0.")]
    total = show_total(results["overall_score"], results["overall_interval"], notes)
    rows = level_rows(results)
    counts = [title for title in rows[0]["counts"] if title != "n" and rows[-1]["counts"][title]]
    titles = ["n", *dict.fromkeys((*counts, "Missing", "Unparsed"))]
    heads = [
        Head("Level"),
        Head("Score", "c"),
        Head("", "g"),
        axis_head(_AXIS),
        Head("", "g"),
        *(Head(title, "n") for title in titles),
    ]
    lines = [_draw_level(row, titles) for row in (rows[-1], *rows[:-1])]
    return tag("div", total, draw_table(heads, lines, "lvl"), class_="sum")


def _draw_level(row: JsonObject, titles: Sequence[str]) -> Line:
    overall = not row["weight"]
    name = row["name"] if overall else join(f"{row['name']} ", soft(f"weight {row['weight']}"))
    mark = Interval(row["score"], row["interval"])
    chart = draw_interval(_AXIS, mark, row["name"], "a" if overall else "")
    counts = [
        str(count) if (count := row["counts"][title]) else tag("span", "0", class_="z")
        for title in titles
    ]
    cells = [name, show_heat(row["score"]), "", chart, "", *counts]
    return Line(cells, "all" if overall else None)


# --- Questions ---


class _Question(NamedTuple):
    """An item with what it costs, the whole prompt and answer, the truth as it was read, how many
    items have its id.
    """

    item: Item
    cost: float
    prompt: str
    answer: str
    truth: Truth | None
    same_id: int

    @property
    def how(self) -> str:
        """How the answer was read, where that was not from a box by the grammar."""
        if self.item["decided_by"] == "model":
            return _BY_MODEL
        return _BOXLESS if self.item["unboxed"] else ""


_Read = Callable[[], list[_Question]]


def _draw_body(results: Results, costs: Sequence[float], read: _Read) -> Iterable[Html]:
    """The bar of what was lost, the filters, and the questions."""
    items, questions = results["items"], read()
    causes = zip(map(name_cause, items), costs, strict=True)
    yield draw_causes("questions", causes, results["overall_score"])
    yield _draw_filters(questions)
    if len(questions) < len(items):
        note = pages.count_rows(len(questions), len(items), "what costs most")
        yield tag("p", note, class_="cap")
    titles = ("Score", "", "Question", "Reason", "Costs")
    heads = [tag("span", text, title=text or "Level") for text in titles]
    keys = pages.make_keys(question.item["id"] for question in questions)
    limit, most = _limit_texts(questions), max(costs, default=0.0) or 1.0
    rows = [
        _draw_question(question, key, most, limit)
        for question, key in zip(questions, keys, strict=True)
    ]
    yield draw_rows("questions", heads, rows, "cost")


def _draw_filters(questions: Sequence[_Question]) -> Html:
    """Search and order, and the levels and ways of reading as filters."""
    hows = Counter(question.how for question in questions)
    levels = sorted({question.item["level"] for question in questions})
    chips = [Choice(str(level), f"L{level}", about=f"Level {level}") for level in levels]
    ways = [Choice(how, f"read {how} {hows[how]}") for how in (_BOXLESS, _BY_MODEL) if hows[how]]
    return draw_bar(
        "questions",
        "questions",
        draw_chips("questions", "level", chips, "seg"),
        draw_chips("questions", "read", ways, "seg", least=1),
        orders=_ORDERS,
    )


def _limit_texts(questions: Iterable[_Question]) -> int:
    return pages.text_limit(
        text for question in questions for text in (question.prompt, question.answer)
    )


def _list_texts(read: _Read) -> dict[str, dict[str, Cell]]:
    """The texts of the questions that have an id of their own."""
    questions = [question for question in read() if question.same_id == 1]
    limit = _limit_texts(questions)
    return {
        str(question.item["id"]): {
            "Question": show_text(question.prompt, limit),
            "Truth": show_text(question.item["truth"]),
            "Answer": _show_answer(question.answer, limit),
            "Read": show_text(question.item["read"]),
        }
        for question in questions
    }


def _read_questions(
    items: Sequence[Item], costs: Sequence[float], rows: Rows | None, rules: Rules | None
) -> list[_Question]:
    """The questions, what costs most first; pending ones last."""
    records = filterfalse(is_void, (rows() if rows else None) or ())
    order = sorted(
        range(len(items)), key=lambda place: (items[place]["score"] is None, -costs[place])
    )
    places = set(order[: pages.MOST])
    count = Counter(str(item["id"]) for item in items if item["id"] is not None)
    read = {
        place: _read_question(item, costs[place], count[str(item["id"])], record, rules)
        for place, (item, record) in enumerate(
            zip(items, chain(records, repeat(None)), strict=False)
        )
        if place in places
    }
    return [read[place] for place in order if place in places]


def _read_question(
    item: Item, cost: float, same_id: int, record: object, rules: Rules | None
) -> _Question:
    """The item with the texts of its record, or with its excerpts if the files have another answer
    by now.
    """
    raw = raw_answer(record) if isinstance(record, Mapping) else None
    answer = raw if isinstance(raw, str) else as_text(raw)
    if not isinstance(record, Mapping) or item["answer"] not in answer:
        return _Question(item, cost, item["prompt"], item["answer"], None, same_id)
    truth = None  # the reasons of other kinds need none
    if rules and item["kind"] == "number":
        truth = parse_record(record, "", 1, rules).truth
    return _Question(item, cost, str(record.get("prompt") or ""), answer, truth, same_id)


def _draw_question(question: _Question, key: str, most: float, limit: int) -> Row:
    item, why = question.item, explain(question.item, question.truth)
    cells = [
        show_heat(item["score"], kind="chip"),
        tag("span", f"L{item['level']}", class_="lv"),
        tag("span", show_text(item["prompt"], 200), class_="qt"),
        tag("span", show_text(why, 200), class_="why"),
        draw_cost(question.cost, most),
    ]
    data = {
        "cause": name_cause(item),
        "level": item["level"],
        "read": question.how,
        "cost": f"{question.cost:.6f}",
        "score": 9 if item["score"] is None else f"{item['score']:.4f}",
    }
    return Row(key, cells, data, _draw_inside(question, key, why, limit))


def _draw_inside(question: _Question, key: str, why: str, limit: int) -> Html:
    """Truth, reading, score; the answer beside the prompt."""
    item = question.item
    same = f"{question.same_id} rows have this id" * (question.same_id > 1)
    is_said = item["note"].replace("matched", "names") in why  # 2 of 3 matched
    note = "" if is_said else item["note"]
    facts = [
        ("Truth", show_text(item["truth"]) or "none yet"),
        (f"Read from the answer {question.how}".strip(), show_text(item["read"]) or "nothing"),
        ("Score", f"{show_number(item['score'])}: {show_text(why)}"),
        ("Note", "; ".join(filter(None, (note, same)))),
    ]
    answer = _show_answer(question.answer, limit)
    texts = [
        ("Answer" if isinstance(answer, str) else "Answer, the part that counts marked", answer),
        ("Question", show_text(question.prompt, limit)),
    ]
    name = [] if item["id"] is None else [soft(f"id {show_text(item['id'], 200)}")]
    return draw_inside(key, facts, texts, *name)


def _show_answer(text: str, limit: int) -> Cell:
    """The answer with the part marked that counts, as `parse_answer` finds it."""
    if not text:
        return "no answer"
    answer = parse_answer(text)
    found = answer.find_in(text) if answer and (answer.boxed or answer.stated) else None
    return pages.mark(text, found, limit)
