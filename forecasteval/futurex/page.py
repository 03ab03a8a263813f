"""The page of a result: score and levels, and every question with its
prompt and answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, filterfalse, repeat
from operator import itemgetter
from statistics import median
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.markup import show_truth
from forecasteval.common.records import JsonObject, as_text
from forecasteval.display.charts import Chart, fenced_axis
from forecasteval.display.html import (
    Head,
    Html,
    Page,
    TableLine,
    draw_fold,
    draw_scroll,
    draw_section,
    draw_table,
    join,
    show_signed,
)
from forecasteval.display.marks import axis_head, draw_dots
from forecasteval.display.pages import mark, show_text, text_limit
from forecasteval.display.results import Results
from forecasteval.display.rows import draw_levels
from forecasteval.display.run_page import Details, RunPage, draw_marks
from forecasteval.display.tables import Cell, Column, make_table
from forecasteval.questions.join import is_void, raw_answer

from .questions import Truth, parse_record
from .reading.answers import parse_answer
from .report import describe_size, explain, list_notes, name_cause, score_table
from .results import AnswerItem
from .rules import WEIGHTS, Rules, total_weight

Rows = Callable[[], Iterable[JsonObject] | None]
Texts = tuple[str, str, Truth | None]  # prompt, answer, and the truth as it was read
_DOTS: Final = (
    "Rings: the mean of each level; filled: their weighted mean; lines: 95% intervals."
)


def make_page(
    results: Results, rows: Rows | None = None, rules: Rules | None = None
) -> Page:
    """Make the page of a result of `FutureXEvaluator`; `rows` reads the questions with
    their answers once more.

    Without rows the page shows what the items keep: the first line of a prompt, and an
    excerpt of an answer.
    """
    items, scores = results["items"], score_table(results)
    *levels, overall = scores.rows
    renormalised = results["signature"]["fixed_weights"] is not True
    levels_shown = {item["level"] for item in items}
    page = RunPage(
        results,
        describe_size(results),
        results["overall_score"],
        results["overall_interval"],
        list_notes(results, zeros=False),
        scores._replace(rows=[overall, *levels]),
        causes=list(map(name_cause, items)),
        costs=list_costs(items, renormalised),
        details=partial(_read_details, items, rows, rules),
        charts={"scores": Chart("scores", "Scores by level", _DOTS, scores)},
        filters=[draw_levels("questions", levels_shown)],
        orders=[("level", "by level")],
        more=partial(_draw_errors, items),
    )
    return page.page()


def list_costs(items: Sequence[AnswerItem], renormalised: bool) -> list[float]:
    """List how much of the overall score each question loses: its share of the weights
    times 1 − its score.
    """
    counts = Counter(item["level"] for item in items if item["score"] is not None)
    pending = {item["level"] for item in items if item["outcome"] == "pending"}
    total = total_weight(counts.keys(), pending, renormalised)
    shares = {level: WEIGHTS[level] / total / count for level, count in counts.items()}
    costs = []
    for item in items:
        score = item["score"]
        costs.append(0.0 if score is None else shares[item["level"]] * (1 - score))
    return costs


# --- Errors of numbers ---


def _draw_errors(items: Sequence[AnswerItem]) -> Iterator[Html]:
    """Draw how far numbers lie from their truths, in σ: all on one side are a bias."""
    numbers = [item for item in items if item["sigmas"] is not None]
    errors = [(printable(item["id"], 60), item["sigmas"] or 0.0) for item in numbers]
    if len(errors) < 2:
        return
    errors.sort(key=itemgetter(1))
    sizes = [error for _, error in errors]
    axis = fenced_axis(sizes, [-1.0, 0.0, 1.0])
    heads = [
        Head("Numbers"),
        axis_head(axis, "← too low", "too high →"),
        Head("n", "n"),
    ]
    dots = draw_dots(axis, errors, median(sizes))
    line = TableLine([join("all"), dots, join(str(len(errors)))])
    strip = draw_table(heads, [line], "lvl")
    too_high = sum(error > 0 for error in sizes)
    note = (
        f"{too_high} of {len(errors)} are too high; the median (diamond) is "
        f"{show_signed(median(sizes), 2)} σ. Beyond 1 σ nothing scores."
    )
    table = draw_marks(make_table(_ERRORS, errors))
    fold = draw_fold("Errors in numbers", draw_scroll("Errors in numbers", table))
    yield draw_section("Errors of numbers, in σ", strip, fold, note=note, name="errors")


_ERRORS: Final = (
    Column("Question", itemgetter(0)),
    Column("Error, σ", itemgetter(1), "number"),
)


# --- Questions ---


def _read_details(
    items: Sequence[AnswerItem],
    rows: Rows | None,
    rules: Rules | None,
    places: Sequence[int],
) -> list[Details]:
    """Read the texts of the items at some places, and what is shown of them."""
    wanted = set(places)
    records = filterfalse(is_void, (rows() if rows else None) or ())
    pairs = zip(items, chain(records, repeat(None)), strict=False)
    texts = {
        place: _read_texts(*pair, rules)
        for place, pair in enumerate(pairs)
        if place in wanted
    }
    shown = [text for prompt, answer, _ in texts.values() for text in (prompt, answer)]
    limit = text_limit(shown)
    return [_make_details(items[place], texts[place], limit) for place in places]


def _read_texts(item: AnswerItem, record: object, rules: Rules | None) -> Texts:
    """Read the texts of the item's record, or its excerpts if the files have another
    answer by now.
    """
    raw = raw_answer(record) if isinstance(record, Mapping) else None
    answer = raw if isinstance(raw, str) else as_text(raw)
    if not isinstance(record, Mapping) or item["answer"] not in answer:
        return item["prompt"], item["answer"], None
    truth = None  # the reasons of other kinds need none
    if rules and item["kind"] == "number":
        truth = parse_record(record, "", 1, rules).truth
    return str(record.get("prompt") or ""), answer, truth


def _make_details(item: AnswerItem, texts: Texts, limit: int) -> Details:
    """Truth, reading, score; the answer beside the prompt."""
    prompt, answer, truth = texts
    why, shown = explain(item, truth), _show_answer(answer, prompt, limit)
    how = "without a box" if item["unboxed"] else ""
    if item["decided_by"] == "model":
        how = "by the model"
    truth_text = show_text(show_truth(item["truth"])) or "none yet"
    read = show_text(item["read"]) or "nothing"
    facts = [("Truth", truth_text), (f"Read from the answer {how}".strip(), read)]
    is_marked = not isinstance(shown, str)
    answer_title = "Answer, the part that counts marked" if is_marked else "Answer"
    is_matched = item["matched"] is not None and not item["padded"]
    is_said = is_matched or item["note"] in why
    return Details(
        join(show_text(item["prompt"], 200)),
        why,
        facts,
        texts=[(answer_title, shown), ("Question", show_text(prompt, limit))],
        note="" if is_said else item["note"],
        level=f"L{item['level']}",
        data={"level": item["level"], "read": how},
    )


def _show_answer(text: str, prompt: str, limit: int) -> Cell:
    """Show the answer with the part marked that counts, as `parse_answer` finds it."""
    if not text:
        return "no answer"
    answer = parse_answer(text, prompt)
    return mark(text, answer.find_in(text) if answer else None, limit)
