"""The questions of the newest week on the page of a leaderboard, the hardest first."""

from __future__ import annotations

from forecasteval.display.html import Head, Html, draw_fold, draw_section, draw_table
from forecasteval.display.pages import make_keys
from forecasteval.display.rows import draw_more
from forecasteval.ranking.board import RankedTable
from forecasteval.ranking.names import BOARD

from .standings import SHOWN, ShownRanking, files_of, say_resolved


def draw_questions(standing: ShownRanking, table: RankedTable, name: str) -> Html:
    """List the questions of a dataset with their mean scores, the hardest first."""
    sign = table.scale.sign
    questions = table.questions
    order = sorted(range(len(questions)), key=lambda place: sign * questions[place].mean)[:SHOWN]
    keys = make_keys((questions[place].id for place in order), name.replace("questions", "q"))
    files = [file for row in table.rows for file in files_of(table, row)]
    file = next((file for file in files if standing.page_of(file)), files[0])
    lines = [
        standing.draw_question(table, place, file, questions[place].mean, name=key)
        for place, key in zip(order, keys, strict=True)
    ]
    note = "Hardest first: the mean score of all systems."
    if len(questions) > SHOWN:
        note += f" {SHOWN} of {len(questions)} questions; all of them are in {BOARD}.json."
    title = f"Questions of {table.label}: {say_resolved(table)}"
    heads = [Head("Mean", "c"), Head("Question"), Head("Truth", "k")]
    drawn = [draw_table(heads, lines, "few", name=name), draw_more(len(lines))]
    if name != "questions1":
        return draw_fold(title, *drawn, note=note, name=f"of-{name}")
    return draw_section(title, *drawn, note=note, name=f"of-{name}")
