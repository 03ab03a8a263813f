"""The page of a result: the score against a blind guess, what was lost by cause, and every
question with its reaction and the conditions of its options, the costliest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from .build.prompts import condition_lines, reference_blocks, show_items
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
_MOST: Final = 1500  # questions that a page shows: each has a table of its options


def make_page(results: Results, records: Callable[[], Iterable[Record]]) -> Page:
    """Make the page of a result. `records` reads the questions of its datasets, without which it
    has neither reactions nor options.
    """
    items, charts = results["items"], make_charts(results)
    kinds = [kind for kind in QUESTION_TYPES if kind in results["by_question_type"]]
    chips = [Choice(kind, _name_kind(kind)) for kind in kinds]
    return RunPage(
        results,
        describe_size(results),
        results[RELATIVE],
        results["intervals"][RELATIVE],
        notes=["Upright marks: what a uniform guess expects.", *list_notes(results)],
        scores=_name_scores(charts["scores"].table),
        causes=[name_cause(item) for item in items],
        costs=[(1 - item["score"]) / len(items) for item in items],
        details=partial(_read_details, items, records),
        charts=charts,
        filters=[draw_chips("questions", "type", chips, "seg")],
        lead=_say_verdict(results),
        most=_MOST,
    ).page()


# --- Scores ---


def _say_verdict(results: Results) -> str:
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
    """Short names of the types of questions; the overall score alone if there is one type."""
    named = [[_name_kind(str(kind)), *cells] for kind, *cells in scores.rows]
    *kinds, overall = named
    return scores._replace(rows=[overall, *kinds] if len(kinds) > 1 else [overall])


def _name_kind(kind: str) -> str:
    """Shorten the name of a type of questions: `all, with results`."""
    short = kind.replace("_reference_control", ", control").replace("_reference", ", with results")
    return short.replace("_varying", "")


# --- Questions ---


def _read_details(
    items: Sequence[ChoiceItem], records: Callable[[], Iterable[Record]], places: Sequence[int]
) -> list[Details]:
    """Read the questions of the items at some places, and what is shown of them."""
    names = {items[place]["id"] for place in places}
    by_id = {name: record for record in records() if (name := str(record["id"])) in names}
    return [
        _make_details(item, by_id.get(item["id"], {}))
        for item in (items[place] for place in places)
    ]


def _make_details(item: ChoiceItem, record: Record) -> Details:
    """Show what was picked and what is best, the conditions and the options of a question."""
    reaction = _show_reaction(record)
    all_texts = _list_texts(item, record)
    texts = [
        (title, text)
        for title, text in all_texts.items()
        if title not in ("Options", "Picked") and text != reaction
    ]
    return Details(
        join(tag("b", _name_asked(item, record)), " ", show_text(reaction)),
        explain(item, record),
        facts=[
            ("Picked", as_text(item["read"]) or show_text(item["answer"], 60) or "nothing"),
            ("Best", ", ".join(map(str, record.get("answer", ())))),
        ],
        texts=texts,
        note=item["note"],
        above=_draw_options(record, item["read"]),
        compared=all_texts,
        data={"type": item["question_type"]},
    )


def _name_asked(item: ChoiceItem, record: Record) -> str:
    """Name the condition that a question asks about, or all that vary."""
    base = as_text(record.get("target_key")) or "all that vary"
    kind = item["question_type"]
    side = ", control" if kind.endswith("_control") else ", with results"
    return show_text(base, 60) + side * ("_reference" in kind)


# --- Reactions and conditions ---


def _list_texts(item: ChoiceItem, record: Record) -> dict[str, Cell]:
    """List the texts of a question: reaction, conditions, results, options, answer."""
    given = _find_input(record)
    picked = as_text(item["read"])
    texts = {
        "Reaction": _show_reaction(record),
        "In all experiments": _list_conditions(given.get("constant_conditions")),
        "In this question": _list_conditions(given.get("fixed_conditions")),
        "Results of the same table": "\n".join(
            block.replace(":\n- ", ": ").replace("\n- ", "; ")
            for block in reference_blocks(given.get("reference_conditions"), {})
        ),
        "Picked": picked,
        "Answer": "" if item["answer"] == picked else item["answer"],
    }
    known: dict[str, Cell] = {title: show_text(text, TEXT) for title, text in texts.items() if text}
    return {**known, "Options": _draw_options(record, None)} if record else known


def _find_input(record: Record) -> JsonObject:
    given = record.get("input")
    return given if isinstance(given, Mapping) else {}


def _show_reaction(record: Record) -> str:
    given = _find_input(record)
    sides = [show_items(given.get(side)) for side in ("reactants", "products")]
    return " → ".join(sides).replace("; ", " + ") if given else ""


def _list_conditions(conditions: object) -> str:
    """Write a line for each condition."""
    return (
        condition_lines(conditions, {})
        .removeprefix(f"- {ABSENT}")
        .replace("\n- ", "\n")
        .removeprefix("- ")
    )


def _draw_options(record: Record, read: object) -> Html:
    """Draw the options with their scores, the best ones shaded, and which of them was picked."""
    if not record:
        return Html()
    meta, best = record["meta"], record["answer"]
    heads = [
        Head("", "n"),
        Head("Conditions"),
        Head(""),
        Head("Score", "c"),
        Head("Yield", "n o"),
        Head("Effective", "n"),
    ]
    lines = []
    for place, option in enumerate(record["options"]):
        items = find_asked(record, place)  # of the one condition that is asked about
        conditions = _list_conditions(option).replace("\n", "; ")
        words = ["picked"] * (place == read) + ["best"] * (place in best)
        cells = [
            str(place),
            join(show_text(conditions if items is None else show_items(items), TEXT)),
            tag("b", ", ".join(words)) if words else "",
            show_heat(meta["option_relative_scores"][place]),
            f"{meta['yields'][place]:g}",
            f"{meta['effective_scores'][place]:g}",
        ]
        lines.append(TableLine(cells, "tie" if place in best else None))
    return draw_table(heads, lines, "opts")
