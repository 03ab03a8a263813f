"""The questions of the newest week on the page of a leaderboard, the hardest first."""

from __future__ import annotations

from typing import Final

from forecasteval.display.html import (
    Head,
    Html,
    Line,
    draw_fold,
    draw_section,
    draw_table,
    join,
    soft,
)
from forecasteval.display.pages import make_keys, show_text
from forecasteval.display.rows import draw_more
from forecasteval.ranking.names import BOARD

from .board_charts import show_cell
from .standings import (
    SHOWN,
    Standing,
    page_keys,
    runs_of,
    say_resolved,
    show_week,
    sign_of,
    unit_scale,
)

_CUT: Final = 200  # characters of a prompt


def draw_questions(standing: Standing, name: str) -> Html:
    """List the questions of a dataset with their mean scores, the hardest first."""
    table, unit = standing.newest, unit_scale(standing.newest)
    questions, sign = table["questions"], sign_of(table)
    on_pages = page_keys(table)
    order = sorted(range(len(questions)), key=lambda place: sign * questions[place]["mean"])[:SHOWN]
    keys = make_keys((questions[place]["id"] for place in order), name.replace("questions", "q"))
    runs = [run for row in table["rows"] for run in runs_of(table, row)]
    run = next((run for run in runs if standing.page_of(run)), None)
    lines = []
    for place, key in zip(order, keys, strict=True):
        question, item = questions[place], standing.text_of(place)
        text = show_text(str(item.get("prompt") or question["id"]), _CUT)
        shown = standing.link(run, text, on_pages[place]) if run else join(text)
        level = f"L{question['level']}" if question["level"] else ""
        truth = soft(show_text(str(item.get("truth", "")), 60))
        mean = show_cell(question["mean"], unit)
        lines.append(Line([mean, soft(level), shown, truth], name=key))
    heads = [Head("Mean", "c"), Head("Level", "c k"), Head("Question"), Head("Truth", "k")]
    note = "Hardest first: the mean score of all systems."
    if len(questions) > SHOWN:
        note += f" {SHOWN} of {len(questions)} questions; all of them are in {BOARD}.json."
    title = f"Questions of {show_week(table)}: {say_resolved(table)}"
    drawn = [draw_table(heads, lines, "few", name=name), draw_more(len(lines))]
    if name != "questions1":
        return draw_fold(title, *drawn, note=note, name=f"of-{name}")
    return draw_section(title, *drawn, note=note, name=f"of-{name}")
