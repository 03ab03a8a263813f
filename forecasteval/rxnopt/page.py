"""What a page shows of a result besides its summary: what costs most, and every question to open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    TEXT,
    Page,
    Records,
    Section,
    chart_causes,
    count_rows,
    make_keys,
    make_records,
    show_text,
)
from forecasteval.common.records import as_text
from forecasteval.common.report import Bar, Column, Link, Table, make_table, show_number

from .datasets import read_records
from .items import ABSENT
from .kinds import find_twin
from .prompts import condition_lines, show_items
from .report import explain, name_cause, summarise

_MOST: Final = 1500  # questions that a page shows: each has a table of its options


def make_page(results: Mapping[str, Any], sources: Iterable[Any] = ()) -> Page:
    """The page of a result of `RxnOptEvaluator`; `sources` are the datasets, whose questions are read once more."""
    items = results["items"]
    costs = chart_causes((name_cause(item), (1 - item["score"]) / len(items)) for item in items)
    sections = [Section("What costs most", [costs])] if costs.table.rows else []
    return summarise(results).with_sections(*sections, Section("Questions", [_records(items, sources)]))


def _records(items: Sequence[Mapping[str, Any]], sources: Iterable[Any]) -> Records:
    """The questions, those with the lowest scores first."""
    shown = sorted(items, key=lambda item: item["score"])[:_MOST]
    names = [item["id"] for item in shown]
    wanted, by_id = set(names), {item["id"]: item for item in items}
    questions = {str(record["id"]): record for record in read_records(sources) if str(record["id"]) in wanted}
    keys = dict(zip(names, make_keys(names), strict=True))

    def given(item: Mapping[str, Any]) -> Mapping[str, Any]:
        """The input of the question, {} if there is none."""
        found = questions.get(item["id"], {}).get("input")
        return found if isinstance(found, Mapping) else {}

    def why(item: Mapping[str, Any]) -> str:
        return explain(item, questions.get(item["id"]))

    columns = [
        Column("Type", lambda item: item["question_type"].replace("_", " "), "choice"),
        Column("Outcome", name_cause, "choice"),
        Column("Score", lambda item: show_number(item["score"], 3), "number", "high"),
        Column("Question", lambda item: show_text(item["id"], 120), "long"),
        Column("Why", why, "long"),
        Column("Reaction", lambda item: _reaction(given(item)), "inside"),
        Column("Constant", lambda item: _conditions(given(item).get("constant_conditions")), "inside"),
        Column("Fixed", lambda item: _conditions(given(item).get("fixed_conditions")), "inside"),
        Column("References", lambda item: _reference_table(given(item).get("reference_conditions")), "inside"),
        Column("Options", lambda item: _option_table(questions.get(item["id"]), item["read"]), "inside"),
        Column("Twin", lambda item: _show_twin(by_id.get(find_twin(item["id"])), keys), "inside"),
        Column("Answer", lambda item: show_text(item["answer"]), "inside"),
        Column("Score", lambda item: f"{show_number(item['score'])}: {why(item)}", "inside"),
        Column("Note", lambda item: show_text(item["note"]), "inside"),
        Column("Id", lambda item: show_text(item["id"]), "inside"),
    ]
    note = count_rows(len(shown), len(items), "the lowest scores")
    return make_records("questions", "Questions", columns, shown, names, note, lambda item: item["exact"] < 1)


def _show_twin(twin: Mapping[str, Any] | None, keys: Mapping[str, str]) -> Link | str:
    """The score of the same question with references, or without them."""
    if twin is None:
        return ""
    text = f"{show_number(twin['score'])} in {printable(twin['id'], 120)}"
    return Link(text, "", keys[twin["id"]]) if twin["id"] in keys else text


def _reaction(given: Mapping[str, Any]) -> str:
    return f"{show_items(given.get('reactants'))} → {show_items(given.get('products'))}" if given else ""


def _conditions(conditions: object) -> str:
    return show_text(condition_lines(conditions, {}).removeprefix(f"- {ABSENT}"), TEXT)


def _one_line(conditions: object) -> str:
    return _conditions(conditions).removeprefix("- ").replace("\n- ", "; ")


def _option_table(question: Mapping[str, Any] | None, read: object) -> Table | None:
    if not question:
        return None
    meta, words = question["meta"], {"picked": read if isinstance(read, list) else [read], "best": question["answer"]}
    columns = [
        Column("Option", str, "number"),
        Column("", lambda place: " ".join(word for word, places in words.items() if place in places)),
        Column("Conditions", lambda place: _one_line(question["options"][place])),
        Column("relative", lambda place: Bar(meta["option_relative_scores"][place]), "mark"),
        Column("Relative", lambda place: show_number(meta["option_relative_scores"][place], 3), "number"),
        Column("Yield", lambda place: f"{meta['yields'][place]:g}", "number"),
        Column("Effective", lambda place: f"{meta['effective_scores'][place]:g}", "number"),
    ]
    return make_table(columns, range(len(question["options"])))


def _reference_table(references: object) -> Table | None:
    if not isinstance(references, list):
        return None
    columns = [
        Column("Conditions", lambda row: _one_line(row.get("conditions"))),
        Column("Yield", lambda row: show_text(as_text(row.get("yield")), 20), "number"),
    ]
    return make_table(columns, [row for row in references if isinstance(row, Mapping)])
