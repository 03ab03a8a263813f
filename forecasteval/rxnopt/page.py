"""The page of a result: the score against a blind guess, what was lost by cause, and
every question with its reaction and the conditions of its options, the costliest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from forecasteval.common.records import JsonObject, as_text
from forecasteval.display.html import (
    Head,
    Html,
    Page,
    TableLine,
    draw_table,
    join,
    show_heat,
    show_score,
    tag,
)
from forecasteval.display.pages import TEXT, show_text
from forecasteval.display.results import Results
from forecasteval.display.rows import Choice, draw_chips
from forecasteval.display.run_page import Details, RunPage
from forecasteval.display.tables import Cell, Table

from .build.chemicals import ABSENT
from .build.prompts import condition_lines, find_input, reference_blocks, show_items
from .datasets import QUESTION_TYPES, ChoiceItem
from .report import (
    RELATIVE,
    describe_size,
    explain,
    find_asked,
    list_notes,
    make_charts,
    name_cause,
)

Record = JsonObject
# Questions that a page shows: each has a table of its options
_MAX_QUESTIONS: Final = 1500
_HEADS: Final = (
    Head("", "n"),
    Head("Conditions"),
    Head(""),
    Head("Score", "c"),
    Head("Yield", "n o"),
    Head("Effective", "n"),
)


def make_page(results: Results, records: Callable[[], Iterable[Record]]) -> Page:
    """Make the page of a result. `records` reads the questions of its datasets, without
    which it has neither reactions nor options.
    """
    items = results["items"]
    charts = make_charts(results)
    notes = ["Upright marks: what a uniform guess expects.", *list_notes(results)]
    costs = [(1 - item["score"]) / len(items) for item in items]
    kinds = [kind for kind in QUESTION_TYPES if kind in results["by_question_type"]]
    chips = [Choice(kind, _name_kind(kind)) for kind in kinds]
    page = RunPage(
        results,
        describe_size(results),
        results[RELATIVE],
        results["intervals"][RELATIVE],
        notes=notes,
        scores=_name_scores(charts["scores"].table),
        causes=[*map(name_cause, items)],
        costs=costs,
        details=partial(_read_details, items, records),
        charts=charts,
        filters=[draw_chips("questions", "type", chips, "seg")],
        lead=_describe_verdict(results),
        max_shown=_MAX_QUESTIONS,
    )
    return page.page()


# --- Scores ---


def _describe_verdict(results: Results) -> str:
    """Compare the score with that of a uniform guess."""
    guess, bounds = results["uniform_guess"][RELATIVE], results["intervals"][RELATIVE]
    text = f"A uniform guess among the options expects {show_score(guess)}"
    if not bounds:
        return f"{text}."
    low, high = bounds
    if guess < low:
        return f"{text}, below the 95% interval: better than guessing."
    if guess > high:
        return f"{text}, above the 95% interval: worse than guessing."
    return f"{text}, within the 95% interval: this run is not told apart from guessing."


def _name_scores(scores: Table) -> Table:
    """Short names of the types of questions; the overall score alone if
    there is one type.
    """
    named = [[_name_kind(str(kind)), *cells] for kind, *cells in scores.rows]
    *kinds, overall = named
    return scores._replace(rows=[overall, *kinds] if len(kinds) > 1 else [overall])


def _name_kind(kind: str) -> str:
    """Shorten the name of a type of questions: `all, with results`."""
    short = kind.replace("_reference_control", ", control").replace(
        "_reference", ", with results"
    )
    return short.replace("_varying", "")


# --- Questions ---


def _read_details(
    items: Sequence[ChoiceItem],
    records: Callable[[], Iterable[Record]],
    places: Sequence[int],
) -> list[Details]:
    """Read the questions of the items at some places, and what is shown of them."""
    shown = [items[place] for place in places]
    names = {item["id"] for item in shown}
    by_id = {
        name: record for record in records() if (name := str(record["id"])) in names
    }
    return [_make_details(item, by_id.get(item["id"], {})) for item in shown]


def _make_details(item: ChoiceItem, record: Record) -> Details:
    """Show what was picked and what is best, the conditions and the options
    of a question.
    """
    reaction = _show_reaction(record)
    title = join(tag("b", _name_asked(item, record)), " ", show_text(reaction))
    picked = as_text(item["read"]) or show_text(item["answer"], 60) or "nothing"
    best = ", ".join(map(str, record.get("answer", ())))
    all_texts = _list_texts(item, record)
    shown_elsewhere = {"Options", "Picked"}
    texts = [
        (name, text)
        for name, text in all_texts.items()
        if name not in shown_elsewhere and text != reaction
    ]
    return Details(
        title,
        explain(item, record),
        facts=[("Picked", picked), ("Best", best)],
        texts=texts,
        note=item["note"],
        above=_draw_options(record, item["read"]),
        compared=all_texts,
        data={"type": item["question_type"]},
    )


def _name_asked(item: ChoiceItem, record: Record) -> str:
    """Name the condition that a question asks about, or all that vary."""
    base = as_text(record.get("target_key")) or "all that vary"
    asked = show_text(base, 60)
    _, reference, control = item["question_type"].partition("_reference")
    if control:
        return f"{asked}, control"
    if reference:
        return f"{asked}, with results"
    return asked


# --- Reactions and conditions ---


def _list_texts(item: ChoiceItem, record: Record) -> dict[str, Cell]:
    """List the texts of a question: reaction, conditions, results, options, answer."""
    given = find_input(record)
    references = "\n".join(reference_blocks(given.get("reference_conditions"), {}))
    texts = {
        "Reaction": _show_reaction(record),
        "In all experiments": _list_conditions(given.get("constant_conditions")),
        "In this question": _list_conditions(given.get("fixed_conditions")),
        "Results of the same table": references.replace(":\n- ", ": ").replace(
            "\n- ", "; "
        ),
        "Picked": as_text(item["read"]),
    }
    if item["answer"] != texts["Picked"]:
        texts["Answer"] = item["answer"]
    cells: dict[str, Cell] = {
        name: show_text(text, TEXT) for name, text in texts.items() if text
    }
    if record:
        cells["Options"] = _draw_options(record, None)
    return cells


def _show_reaction(record: Record) -> str:
    given = find_input(record)
    if not given:
        return ""
    sides = [show_items(given.get(side)) for side in ("reactants", "products")]
    return " → ".join(sides).replace("; ", " + ")


def _list_conditions(conditions: object) -> str:
    """Write a line for each condition."""
    lines = condition_lines(conditions, {}).removeprefix(f"- {ABSENT}")
    return lines.replace("\n- ", "\n").removeprefix("- ")


def _draw_options(record: Record, read: object) -> Html:
    """Draw the options with their scores, the best ones shaded, and which of
    them was picked.
    """
    if not record:
        return Html()
    meta = record["meta"]
    lines = []
    for index, option in enumerate(record["options"]):
        conditions = _list_conditions(option).replace("\n", "; ")
        # Of a question about one condition its value is enough.
        items = find_asked(record, index)
        if items is not None:
            conditions = show_items(items)
        is_best = index in record["answer"]
        words = ["picked"] * (index == read) + ["best"] * is_best
        mark = tag("b", ", ".join(words)) if words else ""
        cells = [str(index), join(show_text(conditions, TEXT)), mark]
        cells.append(show_heat(meta["option_relative_scores"][index]))
        cells.append(f"{meta['yields'][index]:g}")
        cells.append(f"{meta['effective_scores'][index]:g}")
        lines.append(TableLine(cells, "tie" if is_best else None))
    return draw_table(_HEADS, lines, "opts")
