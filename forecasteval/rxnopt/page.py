"""The page of a result: the score against a blind guess, what was lost by cause, and every
question with its reaction and the conditions of its options, the costliest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.records import JsonObject, as_text
from forecasteval.display import pages
from forecasteval.display.charts import Axis, Chart
from forecasteval.display.html import (
    Head,
    Html,
    Line,
    Page,
    draw_section,
    draw_table,
    join,
    show_heat,
    show_link,
    show_score,
    soft,
    tag,
)
from forecasteval.display.marks import axis_head, draw_interval, interval_axis
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
from forecasteval.display.tables import Cell, Interval, Link, format_signature, show_number

from .chemicals import ABSENT, SELECTIVITIES
from .datasets import METRICS, QUESTION_TYPES, Item, find_twin
from .prompts import condition_lines, show_items
from .report import (
    RELATIVE,
    describe_size,
    explain,
    find_asked,
    list_notes,
    make_charts,
    mark_score,
    name_cause,
    score_rows,
    show_index,
)

Record = JsonObject
_MOST: Final = 1500  # questions that a page shows: each has a table of its options
_AXIS: Final = Axis("", [(part / 4, f"{part / 4:.2f}") for part in range(5)])
_ORDERS: Final = (
    ("-cost", "costliest first"),
    ("score", "lowest score first"),
    ("type", "by type"),
)


def make_page(results: Results, records: Callable[[], Iterable[Record]]) -> Page:
    """The page of a result of `RxnOptEvaluator`; `records` reads the questions of its datasets,
    without which it has neither reactions nor options.
    """
    dataset = printable(results.get("dataset") or "without a dataset", 120)
    charts = make_charts(results)
    parts = [Link(chart.title, "", name) for name, chart in charts.items() if name != "scores"]
    read = partial(_read_questions, results["items"], records)
    return Page(
        title=printable(results.get("name") or results["benchmark"], 120),
        lead=_say_verdict(results),
        facts=f"{results['benchmark']} · {dataset} · {describe_size(results)}",
        summary=partial(_draw_summary, results),
        body=partial(_draw_body, results, charts, read),
        charts=partial(_add_causes, results["items"], charts),
        parts=parts,
        signature=format_signature(results["signature"], results.get("dataset")),
        texts=lambda: {item["id"]: _list_texts(item, record) for item, record in read()},
    )


def _add_causes(items: Sequence[Item], charts: Mapping[str, Chart]) -> dict[str, Chart]:
    causes = cause_chart(_list_costs(items))
    return {**charts, "costs": causes} if causes.table.rows else dict(charts)


def _list_costs(items: Sequence[Item]) -> list[tuple[str, float]]:
    """(cause, how much of the overall score it loses) of each question."""
    return [(name_cause(item), (1 - item["score"]) / len(items)) for item in items]


# --- Scores ---


def _say_verdict(results: Results) -> str:
    """The score beside that of a uniform guess."""
    guess, bounds = results["uniform_guess"][RELATIVE], results["intervals"][RELATIVE]
    text = f"A uniform guess among the options expects {show_score(guess)}"
    if not bounds:
        return f"{text}."
    low, high = bounds
    place = "below" if guess < low else "above" if guess > high else "within"
    verdict = {"below": "better than guessing", "above": "worse than guessing"}
    end = verdict.get(place, "this run is not told apart from guessing")
    return f"{text}, {place} the 95% interval: {end}."


def _draw_summary(results: Results) -> Html:
    """The score with its remarks, beside it the types of questions on one axis."""
    notes = ["Upright marks: what a uniform guess expects.", *list_notes(results)]
    total = show_total(results[RELATIVE], results["intervals"][RELATIVE], notes)
    *kinds, overall = score_rows(results)
    shown = [overall, *kinds] if len(kinds) > 1 else [overall]
    heads = [
        Head("Questions"),
        Head("Score", "c"),
        Head("", "g"),
        axis_head(_AXIS),
        Head("", "g"),
        Head("Exact", "n o", "Share of picks among the best options"),
        Head("n", "n"),
        Head("Missing", "n"),
        Head("Illegal", "n o"),
    ]
    lines = [_draw_kind(*row) for row in shown]
    return tag("div", total, draw_table(heads, lines, "lvl"), class_="sum")


def _draw_kind(name: str, summary: JsonObject) -> Line:
    overall = name == "Overall"
    shown = _name_kind(name)
    counts = [str(summary[key]) for key in ("n", "missing", "illegal")]
    cells = [
        tag("span", shown, class_="rk"),
        show_heat(summary[RELATIVE]),
        "",
        draw_interval(_AXIS, mark_score(summary), shown, "a" if overall else ""),
        "",
        show_score(summary[METRICS[1]], 2),
        *(tag("span", count, class_="z") if count == "0" else count for count in counts),
    ]
    return Line(cells, "all" if overall else None)


def _name_kind(kind: str) -> str:
    """The short name of a type of questions: `all, with results`."""
    short = kind.replace("_reference_control", ", control").replace("_reference", ", with results")
    return short.replace("_varying", "")


def _draw_chart(chart: Chart, name: str) -> Html:
    """A section with the table of a chart, whose marks share an axis."""
    heads, columns = [], []
    for column, cells in zip(chart.table.columns, zip(*chart.table.rows, strict=True), strict=True):
        marks = [cell for cell in cells if isinstance(cell, Interval)]
        if marks:
            axis = _AXIS if name != "pairs" else interval_axis(marks, 0.0)
            heads.append(axis_head(axis))
            columns.append([draw_interval(axis, mark, chart.title) for mark in marks])
        else:
            kind = "n" if column.side == ">" else ""
            heads.append(Head(column.title, f"{kind} o" if column.spare else kind))
            columns.append([join(str(cell)) for cell in cells])
    lines = [Line(cells) for cells in zip(*columns, strict=True)]
    table = tag("div", draw_table(heads, lines), class_="scroll")
    return draw_section(chart.title, table, note=chart.description, name=name)


# --- Questions ---

Questions = list[tuple[Item, Record]]  # items with their records, {} where there is none


def _read_questions(items: Sequence[Item], records: Callable[[], Iterable[Record]]) -> Questions:
    """The questions, those with the lowest scores first."""
    shown = sorted(items, key=lambda item: item["score"])[:_MOST]
    names = {item["id"] for item in shown}
    by_id = {name: record for record in records() if (name := str(record["id"])) in names}
    return [(item, by_id.get(item["id"], {})) for item in shown]


def _draw_body(
    results: Results, charts: Mapping[str, Chart], read: Callable[[], Questions]
) -> Iterable[Html]:
    """The bar of what was lost, the filters, the questions, and the breakdowns."""
    items, questions = results["items"], read()
    yield draw_causes("questions", _list_costs(items), results[RELATIVE])
    kinds = [kind for kind in QUESTION_TYPES if kind in results["by_question_type"]]
    chips = [Choice(kind, _name_kind(kind)) for kind in kinds]
    filters = draw_chips("questions", "type", chips, "seg")
    yield draw_bar("questions", "questions", filters, orders=_ORDERS)
    if len(questions) < len(items):
        note = pages.count_rows(len(questions), len(items), "the lowest scores")
        yield tag("p", note, class_="cap")
    keys = pages.make_keys(item["id"] for item, _ in questions)
    anchors = {item["id"]: key for (item, _), key in zip(questions, keys, strict=True)}
    twins = {item["id"]: item for item in items}
    rows = [
        _draw_question(item, record, anchors, twins.get(find_twin(item["id"])), len(items))
        for item, record in questions
    ]
    heads = [tag("span", text) for text in ("Score", "", "Question", "Reason", "Costs")]
    yield draw_rows("questions", heads, rows, "cost")
    for name, chart in charts.items():
        if name != "scores":
            yield _draw_chart(chart, name)


def _draw_question(
    item: Item, record: Record, anchors: Mapping[str, str], twin: Item | None, count: int
) -> Row:
    key, why = anchors[item["id"]], explain(item, record)
    asked, reaction = _name_asked(item, record), _show_reaction(record)
    cost = (1 - item["score"]) / count
    cells = [
        show_heat(item["score"], kind="chip"),
        tag("span", "", class_="lv"),
        tag("span", tag("b", asked), " ", show_text(reaction), class_="qt"),
        tag("span", show_text(why, 200), class_="why"),
        draw_cost(cost, 1 / count),
    ]
    data = {
        "cause": name_cause(item),
        "type": item["question_type"],
        "cost": f"{cost:.6f}",
        "score": f"{item['score']:.4f}",
    }
    note = "" if item["note"] in why else item["note"]
    facts = [
        ("Picked", show_index(item["read"]) or show_text(item["answer"], 60) or "nothing"),
        ("Best", ", ".join(map(str, record.get("answer", ())))),
        ("Score", f"{show_number(item['score'])}: {show_text(why)}"),
        (_name_twin(item), _show_twin(twin, anchors)),
        ("Note", show_text(note)),
    ]
    texts: list[tuple[str, Cell]] = [
        (title, text)
        for title, text in _list_texts(item, record).items()
        if title not in ("Options", "Picked") and text != reaction
    ]
    inside = draw_inside(key, facts, texts, soft(f"id {show_text(item['id'], 200)}"))
    return Row(key, cells, data, join(_draw_options(record, item["read"]), inside))


def _name_asked(item: Item, record: Record) -> str:
    """What a question asks about: the name of a condition, or all that vary."""
    base = as_text(record.get("target_key")) or "all that vary"
    kind = item["question_type"]
    side = ", control" if kind.endswith("_control") else ", with results"
    return show_text(base, 60) + side * ("_reference" in kind)


def _name_twin(item: Item) -> str:
    is_control = item["question_type"].endswith("_control")
    return "The same with results" if is_control else "The same without results"


def _show_twin(twin: Item | None, anchors: Mapping[str, str]) -> str:
    """The score of the same question with references, or without them."""
    if twin is None:
        return ""
    text = f"{show_number(twin['score'])} in {printable(twin['id'], 120)}"
    return show_link(Link(text, "", anchors[twin["id"]])) if twin["id"] in anchors else text


# --- Reactions and conditions ---


def _list_texts(item: Item, record: Record) -> dict[str, Cell]:
    """The texts of a question: reaction, conditions, results to learn from, options, answer."""
    given = _find_input(record)
    references = given.get("reference_conditions")
    shown = [
        f"{_show_values(row)}: {_show_conditions(row.get('conditions'))}"
        for row in (references if isinstance(references, list) else ())
        if isinstance(row, Mapping)
    ]
    options = [
        f"{place}: {_show_option(record, place)} · score {show_score(score, 2)}"
        for place, score in enumerate(record["meta"]["option_relative_scores"] if record else ())
    ]
    picked = show_index(item["read"])
    texts = {
        "Reaction": _show_reaction(record),
        "In all experiments": _list_conditions(given.get("constant_conditions")),
        "In this question": _list_conditions(given.get("fixed_conditions")),
        "Results of the same table": "\n".join(shown),
        "Options": "\n".join(options),
        "Picked": picked,
        "Answer": "" if item["answer"] == picked else item["answer"],
    }
    return {title: show_text(text, pages.TEXT) for title, text in texts.items() if text}


def _find_input(record: Record) -> JsonObject:
    given = record.get("input")
    return given if isinstance(given, Mapping) else {}


def _show_reaction(record: Record) -> str:
    given = _find_input(record)
    sides = [show_items(given.get(side)) for side in ("reactants", "products")]
    return " → ".join(sides).replace("; ", " + ") if given else ""


def _list_conditions(conditions: object) -> str:
    """A line for each condition."""
    return (
        condition_lines(conditions, {})
        .removeprefix(f"- {ABSENT}")
        .replace("\n- ", "\n")
        .removeprefix("- ")
    )


def _show_conditions(conditions: object) -> str:
    return _list_conditions(conditions).replace("\n", "; ")


def _show_option(record: Record, place: int) -> str:
    """The conditions of an option; only its value where the question asks about one of them."""
    items = find_asked(record, place)
    return _show_conditions(record["options"][place]) if items is None else show_items(items)


def _show_values(reference: JsonObject) -> str:
    """The results of a reference: `59% yield, 90% ee`."""
    known = [f"{as_text(reference.get('yield'))}% yield"]
    known += [f"{as_text(reference[name])} {name}" for name in SELECTIVITIES if name in reference]
    return show_text(", ".join(known), 100)


def _draw_options(record: Record, read: object) -> Html:
    """The options with their scores, the best ones shaded, and which of them was picked."""
    if not record:
        return Html()
    meta, best = record["meta"], record["answer"]
    picked = read if isinstance(read, list) else [read]
    heads = [
        Head("", "n"),
        Head("Conditions"),
        Head(""),
        Head("Score", "c"),
        Head("Yield", "n o"),
        Head("Effective", "n"),
    ]
    lines = []
    for place in range(len(record["options"])):
        words = ["picked"] * (place in picked) + ["best"] * (place in best)
        cells = [
            str(place),
            join(show_text(_show_option(record, place), pages.TEXT)),
            tag("b", ", ".join(words)) if words else "",
            show_heat(meta["option_relative_scores"][place]),
            f"{meta['yields'][place]:g}",
            f"{meta['effective_scores'][place]:g}",
        ]
        lines.append(Line(cells, "tie" if place in best else None))
    return draw_table(heads, lines, "opts")
