"""The questions of the newest week on the page of a leaderboard, the hardest first, with their
prompts and the answers of all systems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text, group_by
from forecasteval.display import pages
from forecasteval.display.html import (
    Head,
    Html,
    Line,
    draw_fold,
    draw_section,
    draw_table,
    join,
    show_heat,
    show_score,
    span,
    tag,
)
from forecasteval.display.pages import TEXT, show_text
from forecasteval.display.rows import (
    Choice,
    Row,
    draw_bar,
    draw_chips,
    draw_inside,
    draw_levels,
    draw_rows,
)
from forecasteval.ranking.names import BOARD

from .standings import (
    SHOWN,
    Standing,
    page_keys,
    read_week,
    say_resolved,
    show_week,
    sign_of,
    unit_scale,
)
from .tables import Row as BoardRow

_CUT: Final = 200  # characters of a prompt in a row that is not open
_READINGS: Final = 3  # of a question that have a row each
_PROMPTS: Final = 60_000  # characters of all prompts of a dataset
_STRIPED: Final = 60  # systems that the bars of a question show
_LOOK: Final = "worth a look"
_WHY_LOOK: Final = "Strong systems miss it and weak ones hit it: by chance, or the truth is wrong."


def draw_questions(standing: Standing, name: str) -> Html:
    """The questions of a dataset, the hardest first; each opens to its prompt and to what every
    system read.
    """
    table = standing.newest
    sign, prefix = sign_of(table), name.replace("questions", "q")
    places = sorted(
        range(len(table["questions"])), key=lambda at: sign * table["questions"][at]["mean"]
    )
    answers, prompts = _read_answers(standing), standing.reads.prompts(table)
    keys_on_pages = page_keys(table)
    limit = min(TEXT, _PROMPTS // max(1, len(places[:SHOWN])))
    rows = []
    shown = [table["questions"][place]["id"] for place in places[:SHOWN]]
    for place, key in zip(places, pages.make_keys(shown, prefix), strict=False):
        whole = prompts.get(as_text(table["questions"][place]["id"]), "")
        on_page = keys_on_pages[place]
        rows.append(_draw_question(standing, place, key, on_page, answers, whole, limit))
    titles = ("Mean", "", "Question", "Truth", "Runs by rank")
    note = (
        "Hardest first. Bars: the score of each run, in the order of the ranking; orange is the "
        "worst. A row opens to every reading."
    )
    if len(places) > SHOWN:
        note += f" {SHOWN} of {len(places)} questions; all of them are in {BOARD}.json."
    title = f"Questions of {show_week(table)}: {say_resolved(table)}"
    parts = [_draw_filters(name, table), draw_rows(name, titles, rows, "ask")]
    if name != "questions1":
        return draw_fold(title, *parts, name=f"of-{name}")
    return draw_section(title, *parts, note=note, name=f"of-{name}")


def _draw_filters(name: str, table: BoardRow) -> Html:
    """Search, levels, and the questions that strong systems miss and weak ones hit."""
    questions = table["questions"]
    levels = {question["level"] for question in questions} - {None, ""}
    looks = sum(question["worth_a_look"] for question in questions)
    look = [Choice(_LOOK, f"{_LOOK} {looks}", about=_WHY_LOOK)] if looks else []
    filters = draw_levels(name, levels), draw_chips(name, "look", look, "seg", 1)
    first = "" if name == "questions1" else f"{name}."
    return draw_bar(name, "questions", *filters, first=f"{first}q.")


def _draw_question(
    standing: Standing,
    place: int,
    key: str,
    on_page: str,
    answers: Sequence[_Answer],
    whole: str,
    limit: int,
) -> Row:
    """A question: mean, level, its first line, truth, a bar for each system."""
    question, unit = standing.newest["questions"][place], unit_scale(standing.newest)
    item = answers[0].items[place] if answers else {}
    first, truth = str(item.get("prompt") or question["id"]), str(item.get("truth", ""))
    level, look = question["level"] or "", _LOOK * question["worth_a_look"]
    scores = [answer.items[place]["score"] for answer in answers[:_STRIPED]]
    cells = [
        _show_chip(question["mean"], unit, "chip"),
        span("lv", f"L{level}" if level else ""),
        span("qt", show_text(first, _CUT)),
        span("why", show_text(truth, 60)),
        draw_strip([1.0 if unit is None else unit(score) for score in scores]),
    ]
    facts = [
        ("Truth", show_text(truth) if len(truth) > 60 else ""),
        ("Answered readably", f"{question['answered']} of {question['systems']} systems"),
        ("Worth a look", _WHY_LOOK if look else ""),
        ("Id", "" if key.endswith(f"-{question['id']}") else show_text(question["id"], 200)),
    ]
    readings = _draw_readings(answers, place, on_page, standing) if answers else ""
    texts = [
        ("Readings, the best first, and their runs by rank", readings),
        ("Question", _show_prompt(whole, first, limit)),
    ]
    return Row(key, cells, {"level": level, "look": look}, draw_inside(key, facts, texts))


def draw_strip(shares: Sequence[float]) -> Html:
    """A bar for each share of 1; those of 0 are short and have the colour of what is lost."""
    paths = [
        tag("path", class_=style, d="".join(marks))
        for style, marks in (
            (
                "e",
                [f"M{at} 20V{20 - 18 * share:.0f}" for at, share in enumerate(shares) if share],
            ),
            ("z", [f"M{at} 20v-2" for at, share in enumerate(shares) if not share]),
        )
        if marks
    ]
    box = {"viewBox": f"-.5 0 {max(16, len(shares))} 20", "preserveAspectRatio": "none"}
    return tag("svg", *paths, class_="strip", aria_hidden="true", **box)


def _show_prompt(whole: str, first: str, limit: int) -> str:
    """A prompt from its first line of a question on; "" where it has no more than a row shows."""
    begin = whole.find(first.rstrip("…"))
    text = whole[begin:] if begin >= 0 else first
    return show_text(text, limit) if len(text) > _CUT or text.strip() != first else ""


# --- What every system read ---


class _Answer(NamedTuple):
    """A run with its name on the page, and its items in the order of the questions."""

    name: str
    run: BoardRow
    items: Sequence[BoardRow]


def _read_answers(standing: Standing) -> list[_Answer]:
    """The runs of the newest dataset in the order of the ranking."""
    order = {system: place for place, (system, _) in enumerate(standing.systems)}
    answers = []
    read = read_week(standing.newest, standing.reads.items) if standing.reads.items else []
    for system, run, items in sorted(read, key=lambda each: order.get(each[0], len(order))):
        of_run = f"@{printable(run['run'], 20)}" if run.get("run") else ""
        answers.append(_Answer(standing.names[system] + of_run, run, items))
    return answers


def _draw_readings(answers: Sequence[_Answer], place: int, key: str, standing: Standing) -> Html:
    """The answers as they were read, the best first, each with its runs in the order of the
    ranking.

    The first run of a reading that has a page leads to the question there.
    """
    sign, unit = sign_of(standing.table), unit_scale(standing.table)

    def read(answer: _Answer) -> tuple[float, str]:
        return answer.items[place]["score"], pages.show_read(answer.items[place])

    groups = group_by(answers, read).items()
    ordered = sorted(groups, key=lambda group: (-sign * group[0][0], -len(group[1])))
    lines = []
    for (score, text), same in ordered[:_READINGS]:
        first = next((each for each in same if each.run["name"] in standing.reads.linked), same[0])
        names = [
            standing.link(each.run, each.name, key) if each is first else join(each.name)
            for each in same
        ]
        runs = join(names[0], *(join(", ", name) for name in names[1:]))
        lines.append(Line([_show_chip(score, unit), text, runs]))
    if rest := ordered[_READINGS:]:
        texts = [f"{', '.join(each.name for each in same)}: {text}" for (_, text), same in rest]
        lines.append(Line(["", "others", "; ".join(texts)]))
    return draw_table([Head("", "c"), Head(""), Head("", "w")], lines, "few")


def _show_chip(score: float, unit: Callable[[float], float] | None, kind: str = "") -> Html:
    return show_heat(None if unit is None else unit(score), show_score(score, 2), kind)
