"""The page of a comparison: what is better and by how much, by level, and the questions that decide
it with both answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, islice
from math import fsum
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.display import pages
from forecasteval.display.charts import Chart
from forecasteval.display.html import (
    Head,
    Html,
    Line,
    Page,
    draw_fold,
    draw_section,
    draw_table,
    join,
    show_signed,
    soft,
    tag,
)
from forecasteval.display.marks import (
    Share,
    axis_head,
    draw_bar_of,
    draw_interval,
    draw_shares,
    interval_axis,
)
from forecasteval.display.pages import BYTES, MOST, show_text
from forecasteval.display.results import Item, Results
from forecasteval.display.rows import Choice, Row, draw_bar, draw_chips, draw_inside, draw_rows
from forecasteval.display.tables import (
    Cell,
    Column,
    Interval,
    format_signature,
    make_table,
    show_interval,
    show_p,
)
from forecasteval.ranking.names import split_name
from forecasteval.ranking.systems import ALPHA, question_key

from .board_charts import show_cell
from .standings import Row as BoardRow
from .standings import list_names, sign_of, unit_scale
from .tables import list_verdicts

_UNREAD: Final = ("missing", "unparsed", "padded")
_SHOWN: Final = 45  # pairs whose questions a page shows
Texts = Mapping[str, Mapping[str, Cell]]  # of a run's questions, by id and title
_TEXTS: Final = (("truth", "Truth"), ("answer", "Answer"))  # of an item without a page


class _Pair(NamedTuple):
    """A pair: its place among all, the names as they are shown, the items of both in one order."""

    number: int
    names: tuple[str, str]
    values: BoardRow
    items: tuple[Sequence[Item], Sequence[Item]]

    @property
    def title(self) -> str:
        return " − ".join(self.names)


class _View:
    """A comparison with the results that it compares."""

    def __init__(self, results: Sequence[Mapping[str, Any]], comparison: BoardRow) -> None:
        self.results, self.comparison = results, comparison
        self.unit = unit_scale(comparison)
        self.names = _shorten([system["name"] for system in comparison["systems"]], comparison)

    @cached_property
    def pairs(self) -> list[_Pair]:
        names = {name: place for place, name in enumerate(self.names)}
        items = [sorted(result["items"], key=question_key) for result in self.results]
        pairs = []
        for number, values in enumerate(self.comparison["pairs"], 1):
            a, b = names[values["a"]], names[values["b"]]
            shown = self.names[values["a"]], self.names[values["b"]]
            pairs.append(_Pair(number, shown, values, (items[a], items[b])))
        return pairs

    @cached_property
    def texts(self) -> dict[str, Texts]:
        """The texts of each system's questions, by the name that is shown."""
        copies = len(self.results) * (len(self.results) - 1)
        read = [_read_texts(result, copies) for result in self.results]
        return dict(zip(self.names.values(), read, strict=True))


def make_page(results: Sequence[Mapping[str, Any]], comparison: BoardRow) -> Page:
    """The page of `compare(results)`."""
    view = _View(results, comparison)
    benchmark, systems = comparison["systems"][0]["benchmark"], comparison["systems"]
    dataset = printable(comparison["dataset"] or "without a dataset", 120)
    facts = [benchmark, dataset, f"the same {comparison['n']} questions", *_count_unread(view)]
    names = list(view.names.values())
    is_pair = len(names) == 2
    return Page(
        " against ".join(names) if is_pair else f"Comparison of {len(names)} systems",
        " · ".join(facts),
        partial(_draw_summary, view),
        partial(_draw_body, view),
        partial(_list_charts, view),
        _say_pair(view) if is_pair else _say_first(view),
        signature=format_signature(
            {"evaluator": systems[0]["benchmark"], **comparison["signature"]}
        ),
    )


def _shorten(names: Sequence[str], comparison: BoardRow) -> dict[str, str]:
    """The names as they are shown: without the dataset's, where they differ without it."""
    systems = [split_name(name, comparison["dataset"]).system for name in names]
    if len(set(systems)) < len(names):
        systems = list(names)
    return {name: printable(system, 80) for name, system in zip(names, systems, strict=True)}


# --- The verdict ---


def _say_pair(view: _View) -> str:
    """The sentence of the report, with the names that the page shows."""
    comparison = view.comparison
    rename = view.names.__getitem__
    pairs = [
        {**pair, "a": rename(pair["a"]), "b": rename(pair["b"])} for pair in comparison["pairs"]
    ]
    return list_verdicts({**comparison, "pairs": pairs})[0]


def _say_first(view: _View) -> str:
    """Which systems the first one is better than, and which it cannot be told from."""
    sign = sign_of(view.comparison)
    sides: dict[str, list[str]] = {
        "is better than": [], "is worse than": [], "cannot be told apart from": [],
    }  # fmt: skip
    first = next(iter(view.names.values()))
    for pair in view.pairs[: len(view.names) - 1]:
        differs = pair.values["p_first"] < ALPHA
        better = sign * pair.values["difference"] > 0
        side = ("is better than" if better else "is worse than") if differs else None
        sides[side or "cannot be told apart from"].append(pair.names[1])
    said = [
        f"{verb} {''.join(map(str, list_names(names)))}" for verb, names in sides.items() if names
    ]
    return f"{first} {', '.join(said)} (p with Holm’s adjustment)."


def _count_unread(view: _View) -> Iterator[str]:
    """What was not answered or not read, of those that have any."""
    sides = "AB" if len(view.names) == 2 else list(view.names.values())
    for key in _UNREAD:
        counts = [system.get(key, 0) for system in view.comparison["systems"]]
        if any(counts):
            shown = (f"{side} {count}" for side, count in zip(sides, counts, strict=True) if count)
            yield f"{key}: {', '.join(shown)}"


# --- Differences ---


def _draw_summary(view: _View) -> Html:
    """The differences of a pair, or those of all pairs."""
    if len(view.pairs) == 1:
        return _draw_levels(view, view.pairs[0])
    rows = [
        row._replace(title=pair.title, remark=f"p (Holm) {show_p(pair.values['p_holm'])}")
        for pair in view.pairs[:MOST]
        for row in islice(_level_rows(view, pair), 1)
    ]
    return _draw_differences(view, "Pairs", rows, ("A", "B"))


def _draw_levels(view: _View, pair: _Pair) -> Html:
    """All questions, those that both answered readably, and the levels, on one axis."""
    return _draw_differences(view, "Questions", [*_level_rows(view, pair)], pair.names)


def _draw_differences(
    view: _View, title: str, rows: Sequence[_Level], names: tuple[str, str]
) -> Html:
    axis = interval_axis([row.mark for row in rows], 0.0)
    heads = [
        Head(title),
        Head("n", "n k"),
        Head("A", "c", names[0]),
        Head("B", "c", names[1]),
        Head("A − B", "n sc"),
        Head("", "g"),
        axis_head(axis, *_name_ends(view, names)),
        Head("", "g"),
        Head("A wins · ties · B wins", "w k"),
    ]
    lines = []
    for row in rows:
        chart = draw_interval(axis, row.mark, row.title, _side(view, row.values))
        scores = [show_cell(score, view.unit) if score is not None else "" for score in row.scores]
        name = join(row.title, *([" ", soft(row.remark)] if row.remark else []))
        tally = _draw_tally(row.tally) if row.tally else ""
        cells = [name, str(row.n), *scores, show_signed(row.mark.value), "", chart, "", tally]
        lines.append(Line(cells, "all" if row.title == _ALL else None))
    return draw_table(heads, lines, "rank")


_ALL: Final = "All questions"


class _Level(NamedTuple):
    """A row of differences; `values` have one with its interval, and wins, ties and losses."""

    title: str
    remark: str
    n: int
    scores: Sequence[float | None]
    values: BoardRow
    tally: Mapping[str, int] | None

    @property
    def mark(self) -> Interval:
        return _mark(self.values)


def _level_rows(view: _View, pair: _Pair) -> Iterator[_Level]:
    comparison, values = view.comparison, pair.values
    systems = {system["name"]: system["overall_score"] for system in comparison["systems"]}
    scores = [systems[values[side]] for side in "ab"]
    yield _Level(_ALL, "", comparison["n"], scores, values, _sum_tallies(values["levels"]))
    if both := values.get("both_read"):
        tally = _sum_tallies(both["levels"]) if "levels" in both else None
        yield _Level("Both answered readably", "", both["n"], (None, None), both, tally)
    weights = {str(level): weight for level, weight in _weights(comparison).items()}
    for level, difference in values["level_differences"].items():
        if level:
            means = [_mean_score(items, str(level)) for items in pair.items]
            remark = f"weight {weights[str(level)]:g}"
            count, tally = comparison["level_counts"][level], values["levels"][level]
            yield _Level(f"Level {level}", remark, count, means, difference, tally)


def _mean_score(items: Sequence[Item], level: str) -> float:
    scores = [
        item["score"]
        for item in items
        if str(item["level"]) == level and item["outcome"] != "pending"
    ]
    return fsum(scores) / len(scores)


def _sum_tallies(levels: Mapping[object, Mapping[str, int]]) -> dict[str, int]:
    """Wins, ties and losses over all levels."""
    return {key: sum(tally[key] for tally in levels.values()) for key in ("wins", "ties", "losses")}


def _draw_tally(tally: Mapping[str, int]) -> Html:
    """Three numbers above a bar of their shares."""
    total = sum(tally.values())
    kinds = (("wins", "e"), ("ties", "eq"), ("losses", "t1"))
    numbers = tag("span", *(tag("span", str(tally[key])) for key, _ in kinds), class_="ends")
    shares = [
        Share(tally[key] / total, kind, f"{key}: {tally[key]}") for key, kind in kinds if tally[key]
    ]
    return join(numbers, draw_shares(shares, "wtl"))


def _mark(values: BoardRow) -> Interval:
    return Interval(values["difference"], values["interval"], 0.0)


def _side(view: _View, values: BoardRow) -> str:
    """ "a" or "b" where an interval is on one side of 0."""
    interval = values["interval"]
    if interval is None or interval[0] <= 0 <= interval[1]:
        return ""
    return "a" if sign_of(view.comparison) * values["difference"] > 0 else "b"


def _name_ends(view: _View, names: tuple[str, str]) -> tuple[str, str]:
    """What the ends of the axis of A − B mean."""
    left, right = names[::-1] if sign_of(view.comparison) > 0 else names
    return f"← {left[:24]} better", f"{right[:24]} better →"


# --- Questions ---


class _Question(NamedTuple):
    """The items of A and B, and what the question adds to A − B."""

    a: Item
    b: Item
    adds: float


def _draw_body(view: _View) -> Iterator[Html]:
    """The questions that decide it, of each pair."""
    most = MOST // min(len(view.pairs), _SHOWN)
    for pair in view.pairs[:_SHOWN]:
        rows = _list_differing(view, pair)
        same = view.comparison["n"] - len(rows)
        note = f"{len(rows)} questions with different scores; {same} are equal."
        parts = [*_draw_questions(view, pair, rows[:most])]
        if len(rows) > most:
            note += f" The first {most}."
        if len(view.pairs) == 1:
            note += " Bars: what a question adds to A − B. A row opens to both answers."
            yield draw_section("The questions that decide it", *parts, note=note)
        else:
            name = f"p{pair.number}"
            yield draw_fold(pair.title, _draw_levels(view, pair), *parts, note=note, name=name)
    if len(view.pairs) > _SHOWN:
        left = len(view.pairs) - _SHOWN
        yield tag("p", f"The questions of {left} more pairs are not shown.", class_="cap")


def _list_differing(view: _View, pair: _Pair) -> list[_Question]:
    """The questions on which two scores differ, first those that add most to the difference."""
    weights = _question_weights(view.comparison)
    rows = [
        _Question(
            a, b, weights["" if "" in weights else str(a["level"])] * (a["score"] - b["score"])
        )
        for a, b in zip(*pair.items, strict=True)
        if a["outcome"] != "pending" and a["score"] != b["score"]
    ]
    return sorted(rows, key=lambda row: (-abs(row.adds), str(row.a["id"])))


def _weights(comparison: BoardRow) -> dict[Any, float]:
    return dict(comparison["signature"].get("weights") or {"": 1.0})


def _question_weights(comparison: BoardRow) -> dict[str, float]:
    """The weight of one question of each level in the overall score."""
    signature, counts = comparison["signature"], comparison["level_counts"]
    counts = {str(level): count for level, count in counts.items()}
    weights = {str(level): weight for level, weight in _weights(comparison).items()}
    total = fsum(
        weight
        for level, weight in weights.items()
        if level in counts or signature.get("fixed_weights")
    )
    return {level: weights[level] / total / count for level, count in counts.items()}


def _draw_questions(view: _View, pair: _Pair, rows: Sequence[_Question]) -> Iterator[Html]:
    if not rows:
        return
    name = f"pair{pair.number}"
    first = "" if pair.number == 1 else f"{name}."
    keys = pages.make_keys([row.a["id"] for row in rows], "q" if pair.number == 1 else name)
    levels = sorted({str(row.a["level"]) for row in rows if row.a.get("level")})
    chips = [Choice(level, f"L{level}", about=f"Level {level}") for level in levels]
    counts = {side: sum(_better(view, row) == side for row in rows) for side in "AB"}
    sides = [Choice(side, f"{side} better {count}") for side, count in counts.items() if count]
    filters = draw_chips(name, "level", chips, "seg"), draw_chips(name, "better", sides, "seg")
    yield draw_bar(name, "questions", *filters, first=first)
    titles = ("Adds to A − B", "", "Question", f"A {pair.names[0]}", f"B {pair.names[1]}")
    heads = [tag("span", title) for title in titles]
    most = max(abs(row.adds) for row in rows)
    shown = [
        _draw_question(view, pair, row, key, most) for row, key in zip(rows, keys, strict=True)
    ]
    yield draw_rows(name, heads, shown, "duo")


def _better(view: _View, row: _Question) -> str:
    return "A" if sign_of(view.comparison) * row.adds > 0 else "B"


def _draw_question(view: _View, pair: _Pair, row: _Question, key: str, most: float) -> Row:
    """A question: what it adds, its first line and truth, and both scores with what was read."""
    better, level = _better(view, row), row.a.get("level")
    title = show_text(str(row.a.get("prompt") or row.a["id"]), 200)
    truth = row.a.get("truth")
    of_truth = [tag("span", f"Truth: {show_text(truth, 80)}", class_="s tr")] if truth else []
    bar = draw_bar_of(abs(row.adds) / most, "a" if better == "A" else "")
    cells = [
        tag("span", show_signed(row.adds), bar, class_="co", title=f"{row.adds:.6f}"),
        tag("span", f"L{level}" if level else "", class_="lv"),
        tag("span", tag("span", title, class_="qt"), *of_truth),
        *(_draw_side(view, item) for item in (row.a, row.b)),
    ]
    texts = _list_texts(view, pair, row)
    facts = [("Truth", show_text(truth) if truth else "")]
    data = {"level": level or "", "better": better}
    foot = soft(f"id {show_text(row.a['id'], 200)}")
    return Row(key, cells, data, draw_inside(key, facts, texts, foot))


def _draw_side(view: _View, item: Item) -> Html:
    """The score of a system, and what was read of its answer."""
    read = pages.show_read(item) if "read" in item else ""
    chip = tag("span", show_cell(item["score"], view.unit), class_="chip")
    return tag("span", chip, tag("span", read, class_="why"), class_="side")


def _list_texts(view: _View, pair: _Pair, row: _Question) -> list[tuple[str, Cell]]:
    """What both runs' pages have of a question: once if it is the same, else side by side."""
    a, b = (
        view.texts[name].get(str(item["id"])) or _excerpt(item)
        for name, item in zip(pair.names, (row.a, row.b), strict=True)
    )
    texts: list[tuple[str, Cell]] = []
    for title in sorted({**a, **b}, key=lambda title: title not in ("Answer", "Picked")):
        parts = [side.get(title, "") for side in (a, b)]
        if title == "Truth":
            continue
        if parts[0] == parts[1]:
            texts.append((title, parts[0]))
        else:
            texts += [
                (f"{side} {name}: {title.lower()}", part or "–")
                for side, name, part in zip("AB", pair.names, parts, strict=True)
            ]
    return texts


def _excerpt(item: Item) -> dict[str, Cell]:
    """The texts that the item contains."""
    return {label: show_text(item[key]) for key, label in _TEXTS if key in item}  # type: ignore[literal-required]


def _read_texts(result: Mapping[str, object], copies: int) -> Texts:
    """The texts of questions on the page of a run, by id; {} without a page, or if `copies` of them
    are too long.
    """
    if not isinstance(result, Results):
        return {}
    try:
        page = result.page()
    except InputError:  # its benchmark has none
        return {}
    texts = page.texts() if isinstance(page, Page) else {}
    size = sum(len(str(text)) for text in chain.from_iterable(t.values() for t in texts.values()))
    return {} if copies * size > BYTES // 2 else {str(name): texts[name] for name in texts}


# --- For plot ---


def _list_charts(view: _View) -> dict[str, Chart]:
    """The differences of all pairs, and those of each pair by level."""
    drawn = Column("A − B", _ringed, "mark")
    interval = Column("95% interval", lambda row: show_interval(row["interval"]), "number")
    pairs = [{**pair.values, "title": pair.title} for pair in view.pairs]
    columns = [Column("Pair", lambda row: row["title"]), drawn, interval]
    charts = [Chart("differences", "Difference of the scores", "", make_table(columns, pairs))]
    for pair in view.pairs[:_DRAWN]:
        rows = [
            {"title": f"Level {level}", **difference}
            for level, difference in pair.values["level_differences"].items()
            if level
        ]
        name = "levels" if pair.number == 1 else f"levels{pair.number}"
        if rows:
            charts.append(Chart(name, pair.title, "", make_table(columns, rows)))
    return {chart.name: chart for chart in charts}


_DRAWN: Final = 10  # pairs with a chart by level


def _ringed(row: BoardRow) -> Interval:
    """A difference, a ring where its interval has 0."""
    interval = row["interval"]
    return _mark(row)._replace(group=int(interval is None or interval[0] <= 0 <= interval[1]))
