"""The questions of the newest week on the page of a leaderboard, the hardest first."""

from __future__ import annotations

from typing import Final

from forecasteval.common.markup import show_truth
from forecasteval.common.records import as_text
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
from forecasteval.ranking.board import Ranking
from forecasteval.ranking.names import BOARD

from .standings import ShownRanking, draw_score, files_of
from .tables import format_size

_SHOWN: Final = 200  # questions of a dataset that a page shows


def draw_questions(standing: ShownRanking, table: Ranking, name: str) -> Html:
    """List the questions of a dataset with their mean scores, the hardest first."""
    sign = table.scale.sign
    shown = sorted(table.questions, key=lambda question: sign * question.mean)[:_SHOWN]
    files = [file for row in table.rows for file in files_of(table, row)]
    items = next(filter(None, (standing.items(file.name) for file in files)), ())
    by_id = {as_text(item["id"]): item for item in items}
    page = next(filter(None, map(standing.page_of, files)), None)
    has_truths = any("truth" in item for item in items)
    lines = []
    for question, key in zip(
        shown, make_keys(question.id for question in shown), strict=True
    ):
        item = by_id.get(as_text(question.id), {})
        text = show_text(str(item.get("prompt") or question.id), 200)
        link = tag("a", text, href=f"{page}#{key}") if page else text
        level = soft(f"L{question.level}" if question.level else "")
        cells = [draw_score(question.mean, table.scale), join(link, " ", level)]
        if has_truths:
            cells.append(soft(show_text(show_truth(item.get("truth", "")), 60)))
        lines.append(TableLine(cells))
    note = "Hardest first: the mean score of all systems."
    if len(table.questions) > _SHOWN:
        note += (
            f" {_SHOWN} of {len(table.questions)} questions; all of them are in "
            f"{BOARD}.json."
        )
    title = f"Questions of {table.label}: {format_size(table)}"
    heads = [
        Head("Mean", "c"),
        Head("Question"),
        *([Head("Truth", "k")] if has_truths else []),
    ]
    drawn = [draw_table(heads, lines, "few", name=name), draw_more(len(lines))]
    draw = draw_section if name == "questions1" else draw_fold
    return draw(title, *drawn, note=note, name=f"of-{name}")
