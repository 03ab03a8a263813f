"""The questions of the newest week on the page of a leaderboard, the hardest first."""

from __future__ import annotations

from typing import Final

from forecasteval.display.html import Head, Html, Line, draw_fold, draw_section, draw_table, soft
from forecasteval.display.pages import make_keys, show_text
from forecasteval.display.rows import draw_more
from forecasteval.ranking.board import Table
from forecasteval.ranking.names import BOARD

from .board_charts import show_cell
from .standings import SHOWN, Standing, files_of, say_resolved

_CUT: Final = 200  # characters of a prompt


def draw_questions(standing: Standing, table: Table, name: str) -> Html:
    """List the questions of a dataset with their mean scores, the hardest first."""
    sign, questions = table.scale.sign, table.questions
    order = sorted(range(len(questions)), key=lambda place: sign * questions[place].mean)[:SHOWN]
    keys = make_keys((questions[place].id for place in order), name.replace("questions", "q"))
    files = [file for row in table.rows for file in files_of(table, row)]
    file = next((file for file in files if standing.page_of(file)), files[0])
    lines = []
    for place, key in zip(order, keys, strict=True):
        question, item = questions[place], standing.text_of(table, place)
        text = show_text(str(item.get("prompt") or question.id), _CUT)
        cells = [
            show_cell(question.mean, standing.unit),
            soft(f"L{question.level}" if question.level else ""),
            standing.link(file, text, table, place),
            soft(show_text(str(item.get("truth", "")), 60)),
        ]
        lines.append(Line(cells, name=key))
    heads = [Head("Mean", "c"), Head("Level", "c k"), Head("Question"), Head("Truth", "k")]
    note = "Hardest first: the mean score of all systems."
    if len(questions) > SHOWN:
        note += f" {SHOWN} of {len(questions)} questions; all of them are in {BOARD}.json."
    title = f"Questions of {table.label}: {say_resolved(table)}"
    drawn = [draw_table(heads, lines, "few", name=name), draw_more(len(lines))]
    if name != "questions1":
        return draw_fold(title, *drawn, note=note, name=f"of-{name}")
    return draw_section(title, *drawn, note=note, name=f"of-{name}")
