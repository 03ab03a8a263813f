"""The questions of the newest week on the page of a leaderboard, the hardest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from forecasteval.common.markup import show_truth
from forecasteval.common.records import JsonObject, as_text, group_by
from forecasteval.display.html import (
    Head,
    Html,
    TableLine,
    draw_fold,
    draw_section,
    draw_table,
    join,
    soft,
    tag,
)
from forecasteval.display.pages import make_keys, show_text
from forecasteval.display.rows import draw_more
from forecasteval.ranking.board import RankedTable
from forecasteval.ranking.names import BOARD

from .standings import ReadItems, ShownRanking, files_of, say_resolved, show_cell

_SHOWN: Final = 200  # questions of a dataset that a page shows


def draw_questions(standing: ShownRanking, table: RankedTable, name: str) -> Html:
    """List the questions of a dataset with their mean scores, the hardest first."""
    sign = table.scale.sign
    often = Counter(str(question.id) for question in table.questions)
    shown = sorted(table.questions, key=lambda question: sign * question.mean)[:_SHOWN]
    keys, anchors = (
        make_keys((question.id for question in shown), prefix)
        for prefix in (name.replace("questions", "q"), "q")
    )
    files = [file for row in table.rows for file in files_of(table, row)]
    items = _read_items([file.name for file in files], standing.items)
    page = next(filter(None, map(standing.page_of, files)), None)
    has_truths = any("truth" in item for item in items.values())
    lines = []
    for question, key, anchor in zip(shown, keys, anchors, strict=True):
        item = items.get(as_text(question.id), {})
        text = show_text(str(item.get("prompt") or question.id), 200)
        # The address of several questions leads to none of them.
        is_one = page and often[str(question.id)] == 1
        link = tag("a", text, href=f"{page}#{anchor}") if is_one else text
        level = soft(f"L{question.level}" if question.level else "")
        truths = [soft(show_text(show_truth(item.get("truth", "")), 60))] * has_truths
        score = show_cell(question.mean, table.scale)
        lines.append(TableLine([score, join(link, " ", level), *truths], name=key))
    note = "Hardest first: the mean score of all systems."
    if len(table.questions) > _SHOWN:
        note += f" {_SHOWN} of {len(table.questions)} questions; all of them are in {BOARD}.json."
    title = f"Questions of {table.label}: {say_resolved(table)}"
    heads = [Head("Mean", "c"), Head("Question"), *[Head("Truth", "k")] * has_truths]
    drawn = [draw_table(heads, lines, "few", name=name), draw_more(len(lines))]
    if name != "questions1":
        return draw_fold(title, *drawn, note=note, name=f"of-{name}")
    return draw_section(title, *drawn, note=note, name=f"of-{name}")


def _read_items(names: Sequence[str], read: ReadItems | None) -> dict[str, JsonObject]:
    """Read the items of the first result that has some, by those ids that are unique."""
    items = next(filter(None, map(read, names)), ()) if read else ()
    by_id = group_by(items, lambda item: as_text(item["id"])).items()
    return {name: same[0] for name, same in by_id if len(same) == 1}
