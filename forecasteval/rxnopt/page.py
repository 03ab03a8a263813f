"""What a page shows of a result: scores against a blind guess, references against controls, every question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Chart, insert_column
from forecasteval.common.errors import printable
from forecasteval.common.pages import (
    CHARTED,
    TEXT,
    Page,
    Record,
    Records,
    Section,
    choose_places,
    count_rows,
    make_keys,
    show_text,
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

from .datasets import read_records
from .items import ABSENT
from .kinds import METRICS, NAME, QUESTION_TYPES, find_twin
from .prompts import condition_lines, show_items
from .report import explain, report_parts

_RELATIVE: Final = METRICS[0]
_MOST: Final = 1500  # questions that a page shows: each has a table of its options
_GROUPS: Final = {  # of results, where they are there
    "by_target_key": ("keys", "By the condition asked about"),
    "by_option_count": ("options", "By the number of options"),
}
_COLUMNS: Final = (
    Column("Type", str, "choice"), Column("Outcome", str, "choice"), Column("Score", str, "number", "high"),
    Column("Question", str, "long"), Column("Why", str, "long"),
)  # fmt: skip


def make_page(results: Mapping[str, Any], sources: Iterable[Any] = ()) -> Page:
    """The page of a result of `RxnOptEvaluator`; `sources` are the datasets, whose questions are read once more."""
    items, signature = results["items"], results["signature"]
    figures = [
        ("Relative score", show_number(results[_RELATIVE]), show_interval(results["intervals"][_RELATIVE])),
        ("Uniform guess", show_number(results["uniform_guess"][_RELATIVE]), ""),
        ("Exact", show_number(results[METRICS[1]]), ""),
        ("Questions", str(results["n"]), ""),
        ("Missing", str(results["missing"]), ""),
        ("Illegal", str(results["illegal"]), ""),
    ]
    kinds, parts = results["by_question_type"], report_parts(results)
    rows = [*(kinds[kind] for kind in QUESTION_TYPES if kind in kinds), results]
    sections = [Section("Scores", [_score_chart(parts["scores"][0], rows), *parts["remarks"], *parts["warnings"]])]
    if parts["pairs"]:
        sections.append(Section("References against controls", [_pair_chart(parts["pairs"][0], results["pairs"])]))
    for key, (name, title) in _GROUPS.items():
        if len(results.get(key) or ()) > 1:
            groups = {group.strip(): row for group, row in results[key].items()}
            sections.append(Section(title, [_group_chart(name, title, groups)]))
    sections.append(Section("Questions", [_records(items, sources)]))
    against = printable(results.get("dataset") or "given questions", 120)
    name = printable(results.get("name", NAME), 120)
    lead = f"{NAME}, {results['n']} questions, {against}"
    return Page(name, lead, figures, sections, format_signature(signature))


_ABOUT: Final = (
    "Dots: the mean of effective score / best effective score, with 95% intervals; upright marks: what a uniform guess "
    "among the options expects."
)


def _mark(row: Mapping[str, Any]) -> Interval:
    guess = row["uniform_guess"]
    expected = guess[_RELATIVE] if isinstance(guess, Mapping) else guess
    return Interval(row[_RELATIVE], row.get("intervals", {}).get(_RELATIVE), expected)


def _score_chart(table: Any, rows: Sequence[Mapping[str, Any]]) -> Chart:
    marked = insert_column(table, "95% interval", "relative score", list(map(_mark, rows)))
    return Chart("scores", "Relative score by question type", _ABOUT, marked)


def _group_chart(name: str, title: str, groups: Mapping[str, Mapping[str, Any]]) -> Chart:
    """The mean relative score of each group, the most frequent ones of many."""
    shown = dict(sorted(groups.items(), key=lambda group: -group[1]["n"])[:CHARTED]) if name == "keys" else groups
    rows: list[Any] = [
        [printable(group, 60), _mark(row), show_number(row[_RELATIVE]), show_number(_mark(row).mark), str(row["n"])]
        for group, row in shown.items()
    ]
    description = _ABOUT.replace(", with 95% intervals", "")
    if len(shown) < len(groups):
        description += f" The {len(shown)} most frequent of {len(groups)}."
    header = ["Group", "relative score", "Relative", "Uniform guess", "n"]
    return Chart(name, title, description, plain_table(header, rows, "<<>>>"))


def _pair_chart(table: Any, pairs: Mapping[str, Any]) -> Chart:
    marks = [Interval(pair["mean_difference"], pair["interval"], 0.0) for pair in pairs.values() if pair["pairs"]]
    description = (
        "Score with references minus score of the same question without them, with 95% intervals; right of the line "
        "the references helped."
    )
    marked = insert_column(table, "95% interval", "reference − control", marks)
    return Chart("pairs", "References against controls, paired", description, marked)


# --- Questions ---


def _records(items: Sequence[Mapping[str, Any]], sources: Iterable[Any]) -> Records:
    """The questions, those with the lowest scores first."""
    places = choose_places(items, lambda item: item["score"], _MOST)
    chosen = [items[place] for place in places]
    names = {item["id"] for item in chosen}
    questions = {str(record["id"]): record for record in read_records(sources) if str(record["id"]) in names}
    keys = dict(zip([item["id"] for item in chosen], make_keys(item["id"] for item in chosen), strict=True))
    by_id = {item["id"]: item for item in items}
    records = [_record(item, questions.get(item["id"]), keys, by_id) for item in chosen]
    return Records("questions", "Questions", _COLUMNS, records, count_rows(items, len(records), "the lowest scores"))


def _record(
    item: Mapping[str, Any],
    question: Mapping[str, Any] | None,
    keys: Mapping[str, str],
    items: Mapping[str, Mapping[str, Any]],
) -> Record:
    details: list[tuple[str, Cell | Table]] = []
    if question:
        given = question.get("input")
        given = given if isinstance(given, Mapping) else {}
        details = [
            ("Reaction", f"{show_items(given.get('reactants'))} → {show_items(given.get('products'))}"),
            ("Constant", _conditions(given.get("constant_conditions"))),
            ("Fixed", _conditions(given.get("fixed_conditions"))),
        ]
        if isinstance(given.get("reference_conditions"), list):
            details.append(("References", _reference_table(given["reference_conditions"])))
        details.append(("Options", _option_table(question, item["read"])))
    twin = find_twin(item["id"])
    if twin in items:
        words = f"{show_number(items[twin]['score'])} in {printable(twin, 120)}"
        details.append(("Twin", Link(words, "", keys[twin]) if twin in keys else words))
    why = explain(item, question)
    details += [
        ("Answer", show_text(item["answer"])), ("Score", f"{show_number(item['score'])}: {why}"),
        ("Note", show_text(item["note"])), ("Id", show_text(item["id"])),
    ]  # fmt: skip
    cells = [
        item["question_type"].replace("_", " "), item["outcome"], show_number(item["score"], 3),
        show_text(item["id"], 120), why,
    ]  # fmt: skip
    return Record(keys[item["id"]], cells, [(label, text) for label, text in details if text], item["exact"] < 1)


def _conditions(conditions: object) -> str:
    return show_text(condition_lines(conditions, {}).removeprefix(f"- {ABSENT}"), TEXT)


def _one_line(conditions: object) -> str:
    return _conditions(conditions).removeprefix("- ").replace("\n- ", "; ")


def _option_table(question: Mapping[str, Any], read: object) -> Table:
    meta, words = question["meta"], {"picked": read if isinstance(read, list) else [read], "best": question["answer"]}
    rows: list[Any] = [
        [
            str(place), " ".join(word for word, places in words.items() if place in places), _one_line(option),
            Bar(meta["option_relative_scores"][place]), show_number(meta["option_relative_scores"][place], 3),
            f"{meta['yields'][place]:g}", f"{meta['effective_scores'][place]:g}",
        ]
        for place, option in enumerate(question["options"])
    ]  # fmt: skip
    return plain_table(["Option", "", "Conditions", "relative", "Relative", "Yield", "Effective"], rows, "><<<>>>")


def _reference_table(references: Sequence[Any]) -> Table:
    rows = [
        [_one_line(row.get("conditions")), show_text(as_text(row.get("yield")), 20)]
        for row in references
        if isinstance(row, Mapping)
    ]
    return plain_table(["Conditions", "Yield"], rows, "<>")
