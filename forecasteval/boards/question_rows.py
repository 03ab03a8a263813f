"""The questions on the page of a leaderboard, the hardest first, with their prompts and the answers
of all systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text
from forecasteval.display import pages
from forecasteval.display.pages import TEXT, Records, show_text
from forecasteval.display.tables import Column, Link, Links, Table, make_table, show_number
from forecasteval.ranking.names import BOARD, system_of_row
from forecasteval.ranking.systems import question_key, read_scale

from .board_charts import Names

Row = Mapping[str, Any]
ReadItems = Callable[[str], Sequence[Row]]  # the items of a stored result by its name
SHOWN: Final = 200  # questions of a dataset that a page shows
_CUT: Final = 200  # characters of a prompt in a row that is not open
_READINGS: Final = 3  # of a question that have a row each
_OLDER: Final = 3  # questions of an older dataset
_PROMPTS: Final = 60_000  # characters of all prompts of a dataset
_DIFFICULTY: Final = (
    Column("Level", lambda row: str(row["level"] or ""), "choice", "low"),
    Column("Mean", lambda row: show_number(row["mean"], 3), "number", "low"),
    Column("Answered", lambda row: f"{row['answered']} of {row['systems']}", "number", "low"),
    Column("Item–rest", lambda row: show_number(row["item_rest"], 2), "number", "low"),
    Column("Look", lambda row: "worth a look" if row["worth_a_look"] else "", "choice"),
)
_QUESTION: Final = (
    *_DIFFICULTY,
    Column("Question", lambda row: show_text(row["prompt"], _CUT), "long"),
    Column("Truth", lambda row: show_text(row["truth"], 60)),
    Column("Question", lambda row: row["whole"], "inside"),
    Column(
        "Truth",
        lambda row: show_text(row["truth"]) if len(str(row["truth"])) > 60 else "",
        "inside",
    ),
    Column(
        "Id",
        lambda row: "" if row["key"].endswith(f"-{row['id']}") else show_text(row["id"], 200),
        "inside",
    ),
    Column("Read", lambda row: _readings(row) if row["answers"] else "", "inside"),
)


def by_difficulty(table: Row) -> list[Row]:
    """The questions of a table with their places, the hardest first."""
    sign = read_scale(table).sign
    questions = [
        {**question, "place": place} for place, question in enumerate(table.get("questions", ()))
    ]
    return sorted(questions, key=lambda question: sign * question["mean"])


def show_hardest(table: Row) -> list[str | Table]:
    """The hardest questions of a dataset as a small table."""
    hardest = by_difficulty(table)[:_OLDER]
    if not hardest:
        return []
    count = f"The {len(hardest)} hardest of {len(table['questions'])} questions; all of them are in {BOARD}.json."
    return [
        count,
        make_table(
            [Column("Question", lambda row: show_text(row["id"], 40)), *_DIFFICULTY], hardest
        ),
    ]


def show_questions(
    table: Row, name: str, read: Sequence[tuple[Link, Sequence[Row]]], prompts: Mapping[str, str]
) -> Records:
    """The questions of a dataset, the hardest first; each opens to its prompt and to what every
    system read.
    """
    questions, sign = by_difficulty(table), read_scale(table).sign
    prefix, ids = name.replace("questions", "q"), [question["id"] for question in questions[:SHOWN]]
    keys_on_pages = page_keys([question["id"] for question in questions])
    limit = min(TEXT, _PROMPTS // max(1, len(ids)))
    rows = []
    for key, page_key, question in zip(
        pages.make_keys(ids, prefix), keys_on_pages, questions, strict=False
    ):
        answers = [(run, items[question["place"]]) for run, items in read]
        item = answers[0][1] if answers else {}
        prompt = str(item.get("prompt") or question["id"])
        whole = _show_prompt(prompts.get(as_text(question["id"]), ""), prompt, limit)
        shown = {"prompt": prompt, "whole": whole, "truth": item.get("truth", "")}
        rows.append(
            {
                **question,
                **shown,
                "key": key,
                "answers": answers,
                "sign": sign,
                "page_key": page_key,
            }
        )
    looks = sum(question["worth_a_look"] for question in questions)
    note = (
        f"The hardest first. Mean: over {len(table['rows'])} systems. Item–rest: the correlation of a question's score "
        f"with the score of the rest. Worth a look: {looks}, which strong systems miss and weak ones hit, by chance or "
        "because the truth is wrong."
    )
    if len(questions) > len(rows):
        note += f" {len(rows)} of {len(questions)}; all of them are in {BOARD}.json."
    title = f"Questions of {printable(table['dataset'] or 'one file', 60)}"
    return pages.make_records(name, title, _QUESTION, rows, ids, note, prefix=prefix)


def _show_prompt(whole: str, first: str, limit: int) -> str:
    """A prompt from its first line of a question on; "" where it has no more than a row shows."""
    begin = whole.find(first.rstrip("…"))
    text = whole[begin:] if begin >= 0 else first
    return show_text(text, limit) if len(text) > _CUT or text.strip() != first else ""


def read_answers(
    table: Row, names: Names, linked: Collection[str], read_items: ReadItems
) -> list[tuple[Link, list[Row]]]:
    """(run with its page, its items) of each, in the order of the table; without results of other
    questions.
    """
    read = []
    for row in table["rows"]:
        for run in row.get("runs", (row,)):
            label = names[system_of_row(table, row)] + (
                f"@{printable(run['run'], 20)}" if run.get("run") else ""
            )
            link = Link(label, f"{run['name']}.html" if run["name"] in linked else "")
            read.append((link, _in_order(table, read_items(run["name"]))))
    return [(link, items) for link, items in read if len(items) == len(table["questions"])]


def _in_order(table: Row, items: Sequence[Row]) -> list[Row]:
    """The items of a result as `measure_questions` has them."""
    levels: dict[str, list[Row]] = {str(level): [] for level in table["weights"]}
    for item in (item for item in items if item["outcome"] != "pending"):
        levels.get(str(item["level"]) if "weights" in table["signature"] else "", []).append(item)
    return [item for level in levels.values() for item in sorted(level, key=question_key)]


def _readings(question: Row) -> Table:
    """The answers as they were read, the best first, each with its systems in the order of the
    ranking.

    The first run of a reading leads to the question on its page.
    """
    sign, key = question["sign"], question["page_key"]
    systems: dict[tuple[float, str], list[Link]] = {}
    for run, item in question["answers"]:
        systems.setdefault((item["score"], pages.show_read(item)), []).append(run)
    ordered = sorted(systems.items(), key=lambda pair: (-sign * pair[0][0], -len(pair[1])))
    rows: list[tuple[str, str, int, Links | str]] = [
        (read, show_number(score, 2), len(who), _link_first(who, key))
        for (score, read), who in ordered[:_READINGS]
    ]
    if rest := ordered[_READINGS:]:
        best = f"{'≤' if sign > 0 else '≥'} {show_number(rest[0][0][0], 2)}"
        texts = [f"{', '.join(map(str, who))}: {read}" for (_, read), who in rest]
        rows.append(("others", best, sum(len(who) for _, who in rest), "; ".join(texts)))
    return make_table(_READ, rows)


def _link_first(runs: Sequence[Link], key: str) -> Links | str:
    """The runs of a reading, of which the first that has a page is a link."""
    at = next((at for at, run in enumerate(runs) if run.file and key), None)
    if at is None:
        return ", ".join(map(str, runs))
    before, after = (
        [Link(", ".join(map(str, part)), "")] if part else []
        for part in (runs[:at], runs[at + 1 :])
    )
    return Links([*before, runs[at]._replace(to=key), *after])


_READ: Final = (
    Column("Read", itemgetter(0)),
    Column("Score", itemgetter(1), "number"),
    Column("Runs", lambda row: str(row[2]), "number"),
    Column("Which, the best first", itemgetter(3)),
)


def page_keys(ids: Sequence[object]) -> list[str]:
    """The addresses of questions on the pages of runs, "" where several would have the same."""
    keys = [pages.make_keys([each])[0] for each in ids]
    often = Counter(keys)
    return [key if often[key] == 1 else "" for key in keys]
