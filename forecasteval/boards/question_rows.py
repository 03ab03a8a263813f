"""The questions of the newest week on the page of a leaderboard, the hardest first, with their
prompts and the answers of all systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text
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
    show_link,
    show_score,
    tag,
)
from forecasteval.display.pages import TEXT, show_text
from forecasteval.display.rows import Choice, Row, draw_bar, draw_chips, draw_inside, draw_rows
from forecasteval.display.tables import Link
from forecasteval.ranking.names import BOARD, system_of_row

from .standings import (
    SHOWN,
    ReadItems,
    Standing,
    in_order,
    page_keys,
    runs_of,
    say_resolved,
    show_week,
    sign_of,
    unit_scale,
)
from .standings import Row as BoardRow

_CUT: Final = 200  # characters of a prompt in a row that is not open
_READINGS: Final = 3  # of a question that have a row each
_PROMPTS: Final = 60_000  # characters of all prompts of a dataset
_STRIPED: Final = 60  # systems that the bars of a question show
_LOOK: Final = "worth a look"
_Answers = Sequence[tuple[Link, Sequence[BoardRow]]]  # (run with its page, its items)


def draw_questions(
    standing: Standing, name: str, read_items: ReadItems | None, prompts: Mapping[str, str]
) -> Html:
    """The questions of a dataset, the hardest first; each opens to its prompt and to what every
    system read.
    """
    table = standing.newest
    sign, prefix = sign_of(table), name.replace("questions", "q")
    places = sorted(
        range(len(table["questions"])), key=lambda at: sign * table["questions"][at]["mean"]
    )
    answers = read_answers(standing, read_items) if read_items else []
    keys_on_pages = page_keys(table)
    limit = min(TEXT, _PROMPTS // max(1, len(places[:SHOWN])))
    rows = []
    shown = [table["questions"][place]["id"] for place in places[:SHOWN]]
    for place, key in zip(places, pages.make_keys(shown, prefix), strict=False):
        whole = prompts.get(as_text(table["questions"][place]["id"]), "")
        on_page = keys_on_pages[place]
        rows.append(_draw_question(standing, place, key, on_page, answers, whole, limit))
    heads = [
        tag("span", text, title=about)
        for text, about in (
            ("Mean", "of all systems"),
            ("", "Level"),
            ("Question", None),
            ("Truth", None),
            ("Runs by rank", None),
        )
    ]
    note = (
        "Hardest first. Bars: the score of each run, in the order of the ranking; orange is the "
        "worst. A row opens to every reading."
    )
    if len(places) > SHOWN:
        note += f" {SHOWN} of {len(places)} questions; all of them are in {BOARD}.json."
    wait = table.get("pending", 0)
    waits = [tag("p", f"{wait} questions wait for their truth.", class_="cap")] if wait else []
    title = f"Questions of {show_week(table)}: {say_resolved(table)}"
    parts = [_draw_filters(name, table), draw_rows(name, heads, rows, "ask"), *waits]
    if name != "questions1":
        return draw_fold(title, *parts, name=f"of-{name}")
    return draw_section(title, *parts, note=note, name=f"of-{name}")


def _draw_filters(name: str, table: BoardRow) -> Html:
    """Search, levels, and the questions that strong systems miss and weak ones hit."""
    questions = table["questions"]
    levels = sorted({question["level"] for question in questions} - {None, ""})
    chips = [Choice(str(level), f"L{level}", about=f"Level {level}") for level in levels]
    looks = sum(question["worth_a_look"] for question in questions)
    about = "Strong systems miss them and weak ones hit them: by chance, or the truth is wrong."
    look = [Choice(_LOOK, f"{_LOOK} {looks}", about=about)] if looks else []
    filters = draw_chips(name, "level", chips, "seg"), draw_chips(name, "look", look, "seg", 1)
    first = "" if name == "questions1" else f"{name}."
    return draw_bar(name, "questions", *filters, first=f"{first}q.")


def _draw_question(
    standing: Standing,
    place: int,
    key: str,
    on_page: str,
    answers: _Answers,
    whole: str,
    limit: int,
) -> Row:
    """A question: mean, level, its first line, truth, a bar for each system."""
    table = standing.newest
    question, unit = table["questions"][place], unit_scale(table)
    read = [(run, items[place]) for run, items in answers]
    item = read[0][1] if read else {}
    first, truth = str(item.get("prompt") or question["id"]), str(item.get("truth", ""))
    heat = None if unit is None else unit(question["mean"])
    cells = [
        show_heat(heat, show_score(question["mean"], 2), "chip"),
        tag("span", f"L{question['level']}" if question["level"] else "", class_="lv"),
        tag("span", show_text(first, _CUT), class_="qt"),
        tag("span", show_text(truth, 60), class_="why"),
        draw_strip([1.0 if unit is None else unit(each["score"]) for _, each in read[:_STRIPED]]),
    ]
    look = _LOOK if question["worth_a_look"] else ""
    answered = f"{question['answered']} of {question['systems']} systems"
    rest = show_score(question["item_rest"], 2)
    facts = [
        ("Truth", show_text(truth) if len(truth) > 60 else ""),
        ("Answered readably", answered),
        ("Correlation with the rest", "" if rest == "–" else f"{rest} {look}".rstrip()),
        ("Id", "" if key.endswith(f"-{question['id']}") else show_text(question["id"], 200)),
    ]
    texts = [
        (
            "Readings, the best first, and their runs by rank",
            _draw_readings(read, on_page, standing) if read else "",
        ),
        ("Question", _show_prompt(whole, first, limit)),
    ]
    data = {"level": question["level"] or "", "look": look}
    return Row(key, cells, data, draw_inside(key, facts, texts))


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


def read_answers(standing: Standing, read_items: ReadItems) -> list[tuple[Link, list[BoardRow]]]:
    """(run with its page, its items) of each system of the newest dataset, in the order of the
    ranking; without results of other questions.
    """
    table, read = standing.newest, []
    order = {system: place for place, (system, _) in enumerate(standing.systems)}
    rows = [(system_of_row(table, row), row) for row in table["rows"]]
    for system, row in sorted(rows, key=lambda pair: order.get(pair[0], len(order))):
        for run in runs_of(row):
            of_run = f"@{printable(run['run'], 20)}" if run.get("run") else ""
            file = f"{run['name']}.html" if run["name"] in standing.linked else ""
            link = Link(standing.names[system] + of_run, file)
            read.append((link, in_order(table, read_items(run["name"]))))
    return [(link, items) for link, items in read if len(items) == len(table["questions"])]


def _draw_readings(answers: Sequence[tuple[Link, BoardRow]], key: str, standing: Standing) -> Html:
    """The answers as they were read, the best first, each with its runs in the order of the
    ranking.

    The first run of a reading leads to the question on its page.
    """
    sign, unit = sign_of(standing.table), unit_scale(standing.table)
    runs: dict[tuple[float, str], list[Link]] = {}
    for run, item in answers:
        runs.setdefault((item["score"], pages.show_read(item)), []).append(run)
    ordered = sorted(runs.items(), key=lambda pair: (-sign * pair[0][0], -len(pair[1])))
    lines = [
        Line([_show_chip(score, unit), read, _list_runs(who, key)])
        for (score, read), who in ordered[:_READINGS]
    ]
    if rest := ordered[_READINGS:]:
        texts = [f"{', '.join(map(str, who))}: {read}" for (_, read), who in rest]
        lines.append(Line(["", "others", "; ".join(texts)]))
    heads = [Head("", "c"), Head(""), Head("", "w")]
    return draw_table(heads, lines, "few")


def _show_chip(score: float, unit: object) -> Html:
    share = unit(score) if callable(unit) else None
    return show_heat(share, show_score(score, 2))


def _list_runs(runs: Sequence[Link], key: str) -> Html:
    """The runs of a reading, of which the first that has a page is a link."""
    at = next((at for at, run in enumerate(runs) if run.file and key), None)
    parts: list[Html] = []
    for place, run in enumerate(runs):
        shown = show_link(run._replace(to=key)) if place == at else join(str(run))
        parts += [*([join(", ")] if place else []), shown]
    return join(*parts)
