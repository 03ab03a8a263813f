"""The page of a comparison: what is better and by how much, by level, and the questions that decide
it with both answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, combinations
from math import fsum
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.records import group_by
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
    span,
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
from forecasteval.display.pages import BYTES, MOST, make_keys, show_read, show_text
from forecasteval.display.results import Item, Results
from forecasteval.display.rows import (
    Choice,
    Row,
    draw_bar,
    draw_chips,
    draw_inside,
    draw_levels,
    draw_rows,
)
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
from .standings import list_names, sign_of, unit_scale
from .tables import Row as BoardRow
from .tables import list_verdicts

_UNREAD: Final = ("missing", "unparsed", "padded")
_SHOWN: Final = 45  # pairs whose questions a page shows
_ALL: Final = "All questions"
Texts = Mapping[str, Mapping[str, Cell]]  # of a run's questions, by id and title


class _Side:
    """A system of a comparison: its name as it is shown, its row, its items in one order, and the
    texts of its questions, of which a page has so many `copies`.
    """

    def __init__(self, name: str, row: BoardRow, result: Mapping[str, Any], copies: int) -> None:
        self.name, self.row, self._result, self._copies = name, row, result, copies

    @cached_property
    def items(self) -> list[Item]:
        return sorted(self._result["items"], key=question_key)

    @cached_property
    def texts(self) -> Texts:
        """The texts on the page of the run, by id; {} without a page, or if they are too long."""
        if not isinstance(self._result, Results):
            return {}
        try:
            texts = self._result.page().texts()
        except InputError:  # its benchmark has no pages
            return {}
        values = chain.from_iterable(of_question.values() for of_question in texts.values())
        size = sum(len(str(text)) for text in values)
        return texts if self._copies * size <= BYTES // 2 else {}


class _Pair(NamedTuple):
    """A pair, its place among all, and what the comparison says of it."""

    number: int
    a: _Side
    b: _Side
    values: BoardRow

    @property
    def title(self) -> str:
        return f"{self.a.name} − {self.b.name}"


class _View:
    """A comparison with the results that it compares."""

    def __init__(self, results: Sequence[Mapping[str, Any]], comparison: BoardRow) -> None:
        self.comparison, self.unit = comparison, unit_scale(comparison)
        self.sign, copies = sign_of(comparison), len(results) * (len(results) - 1)
        names = _shorten([row["name"] for row in comparison["systems"]], comparison["dataset"])
        rows = zip(names, comparison["systems"], results, strict=True)
        self.sides = [_Side(*row, copies) for row in rows]
        pairs = zip(combinations(self.sides, 2), comparison["pairs"], strict=True)
        self.pairs = [
            _Pair(number, *sides, values) for number, (sides, values) in enumerate(pairs, 1)
        ]

    def better(self, difference: float) -> str:
        """Which of A and B a difference is in favour of."""
        return "A" if self.sign * difference > 0 else "B"


def make_page(results: Sequence[Mapping[str, Any]], comparison: BoardRow) -> Page:
    """The page of `compare(results)`."""
    view, benchmark = _View(results, comparison), comparison["systems"][0]["benchmark"]
    dataset = printable(comparison["dataset"] or "without a dataset", 120)
    facts = [benchmark, dataset, f"the same {comparison['n']} questions", _count_unread(view)]
    names = [side.name for side in view.sides]
    is_pair = len(names) == 2
    return Page(
        " against ".join(names) if is_pair else f"Comparison of {len(names)} systems",
        " · ".join(facts),
        partial(_draw_summary, view),
        partial(_draw_body, view),
        partial(_list_charts, view),
        _say_pair(view) if is_pair else _say_first(view),
        signature=format_signature({"evaluator": benchmark, **comparison["signature"]}),
    )


def _shorten(names: Sequence[str], dataset: str | None) -> list[str]:
    """The names as they are shown: without the dataset's, where they differ without it."""
    systems = [split_name(name, dataset).system for name in names]
    shown = systems if len(set(systems)) == len(names) else names
    return [printable(name, 80) for name in shown]


# --- The verdict ---


def _say_pair(view: _View) -> str:
    """The sentence of the report, with the names that the page shows."""
    (pair,) = view.pairs
    shown = {**pair.values, "a": pair.a.name, "b": pair.b.name}
    return list_verdicts({**view.comparison, "pairs": [shown]})[0]


def _say_first(view: _View) -> str:
    """Which systems the first one is better than, and which it cannot be told from."""

    def verb(pair: _Pair) -> str:
        if pair.values["p_first"] >= ALPHA:
            return "cannot be told apart from"
        better = view.better(pair.values["difference"]) == "A"
        return "is better than" if better else "is worse than"

    groups = group_by(view.pairs[: len(view.sides) - 1], verb)
    said = [
        f"{verb} {''.join(map(str, list_names([pair.b.name for pair in groups[verb]])))}"
        for verb in ("is better than", "is worse than", "cannot be told apart from")
        if verb in groups
    ]
    return f"{view.sides[0].name} {', '.join(said)} (p with Holm’s adjustment)."


def _count_unread(view: _View) -> str:
    """How many answers of each system are missing or could not be read."""
    is_pair = len(view.sides) == 2
    names = "AB" if is_pair else [side.name for side in view.sides]
    counts = [sum(side.row.get(key, 0) for key in _UNREAD) for side in view.sides]
    named = zip(names, counts, strict=True)
    shown = [f"{name} {count}" for name, count in named if count or is_pair]
    return f"missing or unreadable: {', '.join(shown) if any(counts) else 'none'}"


# --- Differences ---


class _Line(NamedTuple):
    """A line of differences: `values` have the scores of both, their difference, its interval."""

    title: str
    remark: str
    n: int
    values: BoardRow
    tallies: Mapping[object, Mapping[str, int]]  # by level

    @property
    def mark(self) -> Interval:
        """A ring where the interval has 0."""
        low, high = self.values["interval"] or (0, 0)
        value, bounds = self.values["difference"], self.values["interval"]
        return Interval(value, bounds, 0.0, int(low <= 0 <= high))


def _list_lines(view: _View, pair: _Pair) -> Iterator[_Line]:
    """All questions, those that both answered readably, and the levels."""
    comparison, values = view.comparison, pair.values
    scores = [side.row["overall_score"] for side in (pair.a, pair.b)]
    yield _Line(_ALL, "", comparison["n"], {**values, "scores": scores}, values["levels"])
    if both := values["both_read"]:
        yield _Line("Both answered readably", "", both["n"], both, both["levels"])
    for level, difference in values["level_differences"].items():
        if level:
            remark = f"weight {comparison['signature']['weights'][level]:g}"
            tallies, count = {level: values["levels"][level]}, comparison["level_counts"][level]
            yield _Line(f"Level {level}", remark, count, difference, tallies)


def _draw_summary(view: _View) -> Html:
    """The differences of a pair by level, or those of all pairs."""
    if len(view.pairs) == 1:
        return _draw_levels(view, view.pairs[0])
    return _draw_lines(view, "Pairs", _list_pairs(view), ("A", "B"))


def _list_pairs(view: _View) -> list[_Line]:
    return [
        next(_list_lines(view, pair))._replace(
            title=pair.title, remark=f"p (Holm) {show_p(pair.values['p_holm'])}"
        )
        for pair in view.pairs[:MOST]
    ]


def _draw_levels(view: _View, pair: _Pair) -> Html:
    names = pair.a.name, pair.b.name
    return _draw_lines(view, "Questions", [*_list_lines(view, pair)], names)


def _draw_lines(view: _View, title: str, lines: Sequence[_Line], names: tuple[str, str]) -> Html:
    axis = interval_axis([line.mark for line in lines], 0.0)
    left, right = (name[:24] for name in names[:: -view.sign])
    heads = [
        Head(title),
        Head("n", "n k"),
        Head("A", "c", names[0]),
        Head("B", "c", names[1]),
        Head("A − B", "n sc"),
        Head("", "g"),
        axis_head(axis, f"← {left} better", f"{right} better →"),
        Head("", "g"),
        Head("A wins · ties · B wins", "w k"),
    ]
    rows = []
    for line in lines:
        mark, remark = line.mark, [" ", soft(line.remark)] if line.remark else []
        side = "" if mark.group else view.better(line.values["difference"]).lower()
        cells = [
            join(line.title, *remark),
            str(line.n),
            *(show_cell(score, view.unit) for score in line.values["scores"]),
            show_signed(mark.value),
            "",
            draw_interval(axis, mark, line.title, side),
            "",
            _draw_tally(line.tallies),
        ]
        rows.append(Line(cells, "all" if line.title == _ALL else None))
    return draw_table(heads, rows, "rank")


def _draw_tally(tallies: Mapping[object, Mapping[str, int]]) -> Html:
    """Wins, ties and losses over the levels, above a bar of their shares."""
    sums = {key: sum(tally[key] for tally in tallies.values()) for key in _TALLY}
    numbers = span("ends", *(tag("span", str(count)) for count in sums.values()))
    total = sum(sums.values())
    shares = [
        Share(count / total, _TALLY[key], f"{key}: {count}") for key, count in sums.items() if count
    ]
    return join(numbers, draw_shares(shares, "wtl"))


_TALLY: Final = {"wins": "e", "ties": "eq", "losses": "t1"}


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
        note += f" The first {most}." * (len(rows) > most)
        questions = _draw_questions(view, pair, rows[:most]) if rows else Html()
        if len(view.pairs) == 1:
            note += " Bars: what a question adds to A − B. A row opens to both answers."
            yield draw_section("The questions that decide it", questions, note=note)
        else:
            levels, name = _draw_levels(view, pair), f"p{pair.number}"
            yield draw_fold(pair.title, levels, questions, note=note, name=name)
    if len(view.pairs) > _SHOWN:
        left = len(view.pairs) - _SHOWN
        yield tag("p", f"The questions of {left} more pairs are not shown.", class_="cap")


def _list_differing(view: _View, pair: _Pair) -> list[_Question]:
    """The questions on which two scores differ, first those that add most to the difference."""
    shares = _share_questions(view.comparison)
    rows = [
        _Question(a, b, (shares.get("") or shares[str(a["level"])]) * (a["score"] - b["score"]))
        for a, b in zip(pair.a.items, pair.b.items, strict=True)
        if a["outcome"] != "pending" and a["score"] != b["score"]
    ]
    return sorted(rows, key=lambda row: (-abs(row.adds), str(row.a["id"])))


def _share_questions(comparison: BoardRow) -> dict[str, float]:
    """The share of one question of each level in the overall score."""
    signature, counts = comparison["signature"], comparison["level_counts"]
    weights = signature.get("weights") or {"": 1.0}
    is_fixed = signature.get("fixed_weights")
    total = fsum(weight for level, weight in weights.items() if is_fixed or level in counts)
    return {str(level): weights[level] / total / count for level, count in counts.items()}


def _draw_questions(view: _View, pair: _Pair, rows: Sequence[_Question]) -> Html:
    name = f"pair{pair.number}"
    first, prefix = ("", "q") if pair.number == 1 else (f"{name}.", name)
    keys = make_keys((row.a["id"] for row in rows), prefix)
    levels = {row.a["level"] or 0 for row in rows if row.a.get("level")}
    sides = group_by(rows, lambda row: view.better(row.adds))
    better = [Choice(side, f"{side} better {len(sides[side])}") for side in sorted(sides)]
    filters = draw_levels(name, levels), draw_chips(name, "better", better, "seg")
    titles = ("Adds to A − B", "", "Question", f"A {pair.a.name}", f"B {pair.b.name}")
    most = max(abs(row.adds) for row in rows)
    shown = [
        _draw_question(view, pair, row, key, most) for row, key in zip(rows, keys, strict=True)
    ]
    bar = draw_bar(name, "questions", *filters, first=first)
    return join(bar, draw_rows(name, titles, shown, "duo"))


def _draw_question(view: _View, pair: _Pair, row: _Question, key: str, most: float) -> Row:
    """A question: what it adds, its first line and truth, and both scores with what was read."""
    better, level = view.better(row.adds), row.a.get("level")
    title = show_text(str(row.a.get("prompt") or row.a["id"]), 200)
    truth = row.a.get("truth") or ""
    reaction = pair.a.texts.get(str(row.a["id"]), {}).get("Reaction", "")
    below = f"Truth: {show_text(truth, 80)}" if truth else show_text(reaction, 120)
    bar = draw_bar_of(abs(row.adds) / most, "a" if better == "A" else "")
    cells = [
        tag("span", show_signed(row.adds), bar, class_="co", title=f"{row.adds:.6f}"),
        span("lv", f"L{level}" if level else ""),
        tag("span", span("qt", title), span("s tr", below) if below else ""),
        *(_draw_side(view, item) for item in (row.a, row.b)),
    ]
    facts = [("Truth", show_text(truth))]
    inside = draw_inside(key, facts, _list_texts(pair, row), row.a["id"])
    return Row(key, cells, {"level": level or "", "better": better}, inside)


def _draw_side(view: _View, item: Item) -> Html:
    """The score of a system, and what was read of its answer."""
    read = show_read(item) if "read" in item else ""
    return span("side", span("chip", show_cell(item["score"], view.unit)), span("why", read))


def _list_texts(pair: _Pair, row: _Question) -> list[tuple[str, Cell]]:
    """What both runs' pages have of a question: once if it is the same, else side by side."""
    sides = (("A", pair.a, row.a), ("B", pair.b, row.b))
    a, b = (side.texts.get(str(item["id"])) or _excerpt(item) for _, side, item in sides)
    texts: list[tuple[str, Cell]] = []
    for title in sorted({**a, **b}, key=lambda title: title not in ("Answer", "Picked")):
        if a.get(title) == b.get(title):
            texts.append((title, a[title]))
        else:
            texts += [
                (f"{letter} {side.name}: {title.lower()}", of_side.get(title) or "–")
                for (letter, side, _), of_side in zip(sides, (a, b), strict=True)
            ]
    return texts


def _excerpt(item: Item) -> dict[str, Cell]:
    """The texts that the item contains."""
    return {"Answer": show_text(item["answer"])} if "answer" in item else {}


def _list_charts(view: _View) -> dict[str, Chart]:
    """What `plot` draws: the differences of all pairs."""
    columns = [
        Column("Pair", lambda line: line.title),
        Column("A − B", lambda line: line.mark, "mark"),
        Column("95% interval", lambda line: show_interval(line.values["interval"]), "number"),
    ]
    table = make_table(columns, _list_pairs(view))
    return {"differences": Chart("differences", "Difference of the scores", "", table)}
