"""The questions of a dataset on a leaderboard: how hard each was, and what every system read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.pages import Records, make_keys, make_records, show_text
from forecasteval.common.report import Column, Table, make_table, show_number

from .names import system_of_row
from .store import BOARD
from .systems import question_key, read_scale

Row = Mapping[str, Any]
Names = Mapping[str, str]
ReadItems = Callable[[str], Sequence[Row]]
_SHOWN: Final = 200  # questions of a dataset that a page shows
_CUT: Final = 200  # characters of a prompt in a row that is not open
_READINGS: Final = 4  # of a question that have a row each
_OLDER: Final = 3  # questions of an older dataset
_DIFFICULTY: Final = (
    Column("Level", lambda row: row["level"] or "", "choice", "low"),
    Column("Mean", lambda row: show_number(row["mean"], 3), "number", "low"),
    Column("Answered", lambda row: f"{row['answered']} of {row['systems']}", "number", "low"),
    Column("Item–rest", lambda row: show_number(row["item_rest"], 2), "number", "low"),
    Column("Look", lambda row: "worth a look" if row["worth_a_look"] else "", "choice"),
)
_QUESTION: Final = (
    *_DIFFICULTY,
    Column("Question", lambda row: show_text(row["prompt"], _CUT), "long"),
    Column("Truth", lambda row: show_text(row["truth"], 60)),
    Column("Question", lambda row: show_text(row["prompt"]) if len(str(row["prompt"])) > _CUT else "", "inside"),
    Column("Truth", lambda row: show_text(row["truth"]) if len(str(row["truth"])) > 60 else "", "inside"),
    Column("Id", lambda row: "" if row["key"].endswith(f"-{row['id']}") else show_text(row["id"], 200), "inside"),
    Column("Read", lambda row: _readings(row["answers"], row["sign"]) if row["answers"] else "", "inside"),
)


def _by_difficulty(table: Row) -> list[Row]:
    """The questions of a table with their places, the hardest first."""
    sign = read_scale(table).sign
    questions = [{**question, "place": place} for place, question in enumerate(table.get("questions", ()))]
    return sorted(questions, key=lambda question: sign * question["mean"])


def show_hardest(table: Row) -> list[str | Table]:
    """The hardest questions of a dataset as a small table."""
    hardest = _by_difficulty(table)[:_OLDER]
    if not hardest:
        return []
    count = f"The {len(hardest)} hardest of {len(table['questions'])} questions; all of them are in {BOARD}.json."
    return [count, make_table([Column("Question", lambda row: show_text(row["id"], 40)), *_DIFFICULTY], hardest)]


def show_questions(table: Row, name: str, names: Names, read_items: ReadItems | None) -> Records:
    """The questions of a dataset, the hardest first; each opens to what every system read."""
    questions, sign = _by_difficulty(table), read_scale(table).sign
    read = _read_answers(table, names, read_items, len(questions)) if read_items else {}
    prefix, ids = name.replace("questions", "q"), [question["id"] for question in questions[:_SHOWN]]
    rows = []
    for key, question in zip(make_keys(ids, prefix), questions, strict=False):
        answers = read.get(question["place"], [])
        item = answers[0][1] if answers else {}
        shown = {"prompt": item.get("prompt") or question["id"], "truth": item.get("truth", "")}
        rows.append({**question, **shown, "key": key, "answers": answers, "sign": sign})
    looks = sum(question["worth_a_look"] for question in questions)
    note = (
        f"The hardest first. Mean: over {len(table['rows'])} systems. Item–rest: the correlation of a question's score "
        f"with the score of the rest. Worth a look: {looks}, which strong systems miss and weak ones hit, by chance or "
        "because the truth is wrong."
    )
    if len(questions) > len(rows):
        note += f" {len(rows)} of {len(questions)}; all of them are in {BOARD}.json."
    title = f"Questions of {printable(table['dataset'] or 'one file', 60)}"
    return make_records(name, title, _QUESTION, rows, ids, note, prefix=prefix)


def _read_answers(table: Row, names: Names, read_items: ReadItems, count: int) -> dict[int, list[tuple[str, Row]]]:
    """By a question's place: (system or run, item) of all, in the order of the table; without those of other files."""
    answers: dict[int, list[tuple[str, Row]]] = {}
    for row in table["rows"]:
        system = names[system_of_row(table, row)]
        for run in row.get("runs", (row,)):
            label = f"{system}@{printable(run['run'], 20)}" if run.get("run") else system
            for place, item in enumerate(_in_order(table, read_items(run["name"]), count)):
                answers.setdefault(place, []).append((label, item))
    return answers


def _in_order(table: Row, items: Sequence[Row], count: int) -> list[Row]:
    """The items of a result as `measure_questions` has them; none if these are not the questions of the table."""
    levels: dict[str, list[Row]] = {level: [] for level in table["weights"]}
    for item in items:
        levels.get(str(item["level"]) if "weights" in table["signature"] else "", []).append(item)
    ordered = [item for level in levels.values() for item in sorted(level, key=question_key)]
    return ordered if len(ordered) == count else []


def _readings(answers: Sequence[tuple[str, Row]], sign: int) -> Table:
    """The answers as they were read, the best first, each with its systems in the order of the ranking."""
    systems: dict[tuple[float, str], list[str]] = {}
    for label, item in answers:
        read = (
            show_text(item.get("read", item["score"]), 120) if item["outcome"] == "scored" else f"({item['outcome']})"
        )
        systems.setdefault((item["score"], read), []).append(label)
    ordered = sorted(systems.items(), key=lambda pair: (-sign * pair[0][0], -len(pair[1])))
    rows = [(read, show_number(score, 2), len(who), ", ".join(who)) for (score, read), who in ordered[:_READINGS]]
    if rest := ordered[_READINGS:]:
        best = f"{'≤' if sign > 0 else '≥'} {show_number(rest[0][0][0], 2)}"
        texts = [f"{', '.join(who)}: {read}" for (_, read), who in rest]
        rows.append(("others", best, sum(len(who) for _, who in rest), "; ".join(texts)))
    return make_table(_READ, rows)


_READ: Final = (
    Column("Read", itemgetter(0)),
    Column("Score", itemgetter(1), "number"),
    Column("Systems", lambda row: str(row[2]), "number"),
    Column("Which, the best first", itemgetter(3)),
)
