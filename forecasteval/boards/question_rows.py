"""The questions of a dataset on a leaderboard: how hard each was, and what every system read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.pages import Record, Records, make_keys, show_text
from forecasteval.common.report import Cell, Column, Table, plain_table, show_number

from .names import system_of_row
from .store import BOARD
from .systems import question_key, read_scale

Row = Mapping[str, Any]
ReadItems = Callable[[str], Sequence[Row]]
_SHOWN: Final = 200  # questions of a dataset that a page shows
_READINGS: Final = 4  # of a question that have a row each
_OLDER: Final = 3  # questions of an older dataset
_COLUMNS: Final = (
    Column("Level", str, "choice", "low"),
    Column("Mean", str, "number", "low"),
    Column("Answered", str, "number", "low"),
    Column("Item–rest", str, "number", "low"),
    Column("Look", str, "choice"),
    Column("Question", str, "long"),
    Column("Truth", str, "text"),
)


def show_questions(table: Row, name: str, names: Mapping[str, str], read_items: ReadItems | None) -> Records | None:
    """The questions of a dataset, the hardest first; each opens to what every system read."""
    measured = table.get("questions", [])
    if not measured:
        return None
    read = _read(table, names, read_items, len(measured)) if read_items else {}
    sign = read_scale(table).sign
    order = sorted(range(len(measured)), key=lambda place: (sign * measured[place]["mean"], place))[:_SHOWN]
    prefix = name.replace("questions", "q")
    keys = make_keys((measured[place]["id"] for place in order), prefix)
    records = []
    for place, key in zip(order, keys, strict=True):
        item = read[place][0][1] if place in read else {}
        prompt, truth = item.get("prompt") or measured[place]["id"], item.get("truth", "")
        cells: list[Cell] = [*_numbers(measured[place]), show_text(prompt, 200), show_text(truth, 60)]
        details: list[tuple[str, Cell | Table]] = [
            ("Question", show_text(prompt) if len(str(prompt)) > 200 else ""),
            ("Truth", show_text(truth) if len(str(truth)) > 60 else ""),
            ("Id", "" if key == f"{prefix}-{measured[place]['id']}" else show_text(measured[place]["id"], 200)),
        ]  # fmt: skip
        if place in read:
            details.append(("Read", _readings(read[place], sign)))
        records.append(Record(key, cells, [(label, content) for label, content in details if content]))
    looks = sum(question["worth_a_look"] for question in measured)
    note = (
        f"The hardest first. Mean: over {len(table['rows'])} systems. Item–rest: the correlation of a question's score "
        f"with the score of the rest. {looks} are worth a look: strong systems miss them and weak ones hit them, by "
        "chance or because the truth is wrong."
    )
    if len(measured) > len(order):
        note += f" {len(order)} of {len(measured)}; all of them are in {BOARD}.json."
    title = f"Questions of {printable(table['dataset'] or 'one file', 60)}"
    return Records(name, title, _COLUMNS, records, note)


def show_hardest(table: Row) -> list[str | Table]:
    """The hardest questions of a dataset as a small table."""
    sign = read_scale(table).sign
    measured = sorted(table.get("questions", []), key=lambda question: sign * question["mean"])
    header = [column.title for column in _COLUMNS[:5]]
    rows = [[show_text(question["id"], 40), *_numbers(question)] for question in measured[:_OLDER]]
    told = f"The {len(rows)} hardest of {len(measured)} questions; all of them are in {BOARD}.json."
    return [told, plain_table(["Question", *header], rows, "<>>>><")] if rows else []


def _numbers(question: Row) -> list[str]:
    return [
        question["level"] or "", show_number(question["mean"], 3), f"{question['answered']} of {question['systems']}",
        show_number(question["item_rest"], 2), "worth a look" if question["worth_a_look"] else "",
    ]  # fmt: skip


def _read(table: Row, names: Mapping[str, str], read_items: ReadItems, count: int) -> dict[int, list[tuple[str, Row]]]:
    """By a question's place: (system or run, item) of all, in the order of the table; without those of other files."""
    read: dict[int, list[tuple[str, Row]]] = {}
    for row in table["rows"]:
        called = names.get(system_of_row(table, row), row["name"])
        for run in row.get("runs", (row,)):
            label = f"{called}@{printable(run['run'], 20)}" if run.get("run") else called
            for place, item in enumerate(_in_order(table, read_items(run["name"]), count)):
                read.setdefault(place, []).append((label, item))
    return read


def _in_order(table: Row, items: Sequence[Row], count: int) -> list[Row]:
    """The items of a result as `measure_questions` has them; none if these are not the questions of the table."""
    levels: dict[str, list[Row]] = {level: [] for level in table["weights"]}
    for item in items:
        levels.get(str(item["level"]) if "weights" in table["signature"] else "", []).append(item)
    ordered = [item for level in levels.values() for item in sorted(level, key=question_key)]
    return ordered if len(ordered) == count else []


def _readings(answers: Sequence[tuple[str, Row]], sign: int) -> Table:
    """What was read, the best first, with the systems that gave it in the order of the ranking."""
    given: dict[tuple[float, str], list[str]] = {}
    for label, item in answers:
        text = (
            show_text(item.get("read", item["score"]), 120) if item["outcome"] == "scored" else f"({item['outcome']})"
        )
        given.setdefault((item["score"], text), []).append(label)
    ordered = sorted(given.items(), key=lambda pair: (-sign * pair[0][0], -len(pair[1])))
    rows = [
        [text, show_number(score, 2), str(len(systems)), ", ".join(systems)]
        for (score, text), systems in ordered[:_READINGS]
    ]
    if ordered[_READINGS:]:
        others = [f"{', '.join(systems)}: {text}" for (_, text), systems in ordered[_READINGS:]]
        best = f"{'≤' if sign > 0 else '≥'} {show_number(ordered[_READINGS][0][0], 2)}"
        rows.append(["others", best, str(sum(len(systems) for _, systems in ordered[_READINGS:])), "; ".join(others)])
    return plain_table(["Read", "Score", "Systems", "Which, the best first"], rows, "<>><")
