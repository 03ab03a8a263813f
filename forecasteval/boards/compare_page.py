"""The page of a comparison: what is better and by how much, by level, and the questions that decide
it with both answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain, combinations
from math import fsum
from operator import attrgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, printable, show_count
from forecasteval.common.markup import show_truth
from forecasteval.common.records import JsonObject, group_by
from forecasteval.display.charts import Chart
from forecasteval.display.html import (
    Html,
    Page,
    draw_fold,
    draw_section,
    join,
    show_signed,
    span,
    tag,
)
from forecasteval.display.marks import (
    Share,
    draw_bar_of,
    draw_shares,
)
from forecasteval.display.pages import BYTES, MOST, make_keys, show_read, show_text
from forecasteval.display.results import Item, Results
from forecasteval.display.rows import (
    Choice,
    OpenRow,
    draw_bar,
    draw_chips,
    draw_inside,
    draw_levels,
    draw_rows,
)
from forecasteval.display.run_page import draw_marks
from forecasteval.display.tables import (
    Cell,
    Column,
    IntervalCell,
    Table,
    cut_middle,
    format_signature,
    make_table,
    show_p,
)
from forecasteval.ranking.board import (
    BothRead,
    Comparison,
    LevelDifference,
    Pair,
    PairedDifference,
    ScoredRow,
    SeasonRow,
    Tally,
)
from forecasteval.ranking.files import read_weights
from forecasteval.ranking.reading import question_key
from forecasteval.ranking.scale import Level
from forecasteval.ranking.systems import ALPHA

from .standings import heat_of, list_names, show_cell
from .tables import AnyComparison, list_verdicts, season_remarks

_SHOWN: Final = 45  # pairs whose questions a page shows
_ALL: Final = "All questions"
_LEGEND: Final = (
    f"Filled in the colour of the better system: decided (p < {ALPHA} with Holm’s adjustment; of "
    "levels, an interval without 0). Lines: 95% intervals, not adjusted."
)
Texts = Mapping[str, Mapping[str, Cell]]  # of a run's questions, by id and title


class _ComparedSystem:
    """A system of a comparison: its row, its items in one order, and the texts of its questions. A
    page has so many `copies` of these.
    """

    def __init__(self, row: ScoredRow | SeasonRow, result: JsonObject, copies: int) -> None:
        self.name = printable(row.name, 80)
        self.row = row
        self._result = result
        self._copies = copies

    @cached_property
    def items(self) -> list[Item]:
        return sorted(self._result["items"], key=question_key)

    @cached_property
    def texts(self) -> Texts:
        """Read the texts on the run's page, by id; {} without a page, or if they are too long."""
        if not isinstance(self._result, Results):
            return {}
        try:
            texts = self._result.page().texts()
        except InputError:  # its benchmark has no pages
            return {}
        values = chain.from_iterable(of_question.values() for of_question in texts.values())
        size = sum(len(str(text)) for text in values)
        return texts if self._copies * size <= BYTES // 2 else {}


class _ShownPair(NamedTuple):
    """A pair, its place among all, and what the comparison says of it."""

    number: int
    a: _ComparedSystem
    b: _ComparedSystem
    values: Pair

    @property
    def title(self) -> str:
        return f"{self.a.name} − {self.b.name}"


class _ComparisonView:
    """A comparison with the results that it compares; none over all weeks."""

    def __init__(self, comparison: AnyComparison, results: Sequence[JsonObject]) -> None:
        self.comparison = comparison
        rows: Sequence[ScoredRow | SeasonRow] = comparison.systems
        copies = len(rows) * (len(rows) - 1)
        of_rows = results or [{"items": []} for _ in rows]
        self.sides = [_ComparedSystem(*each, copies) for each in zip(rows, of_rows, strict=True)]
        pairs = zip(combinations(self.sides, 2), comparison.pairs, strict=True)
        self.pairs = [
            _ShownPair(number, *sides, values) for number, (sides, values) in enumerate(pairs, 1)
        ]

    def better(self, difference: float) -> str:
        """Say which of A and B a difference is in favour of."""
        return "A" if self.comparison.scale.sign * difference > 0 else "B"


def make_page(comparison: AnyComparison, results: Sequence[JsonObject] = ()) -> Page:
    """Make the page of a comparison, with the questions of the `results` that it compares."""
    view = _ComparisonView(comparison, results)
    names = [printable(row.name, 80) for row in comparison.systems]
    if isinstance(comparison, Comparison):
        benchmark = comparison.systems[0].benchmark
        where = printable(comparison.dataset or "without a dataset", 120)
        size = f"the same {show_count(view.comparison.resolved, 'question')}"
    else:
        benchmark = comparison.benchmark
        where = show_count(len(comparison.datasets), "dataset")
        size = show_count(view.comparison.resolved, "question")
    is_pair = len(names) == 2
    return Page(
        " against ".join(names) if is_pair else f"Comparison of {len(names)} systems",
        " · ".join([benchmark, where, size, *_count_unread(view)]),
        partial(_draw_summary, view),
        partial(_draw_body, view),
        partial(_list_charts, view),
        list_verdicts(comparison)[0] if is_pair else _say_first(view),
        signature=format_signature({"evaluator": benchmark, **comparison.signature}),
    )


# --- The verdict ---


def _say_first(view: _ComparisonView) -> str:
    """Say which systems the first one is better than, and which it cannot be told from."""

    def verb(pair: _ShownPair) -> str:
        if pair.values.p_holm >= ALPHA:
            return "cannot be told apart from"
        better = view.better(pair.values.difference) == "A"
        return "is better than" if better else "is worse than"

    groups = group_by(view.pairs[: len(view.sides) - 1], verb)
    said = [
        join(f"{verb} ", list_names([pair.b.name for pair in groups[verb]]))
        for verb in ("is better than", "is worse than", "cannot be told apart from")
        if verb in groups
    ]
    first = view.sides[0].name
    return join(first, " ", Html(", ".join(said)), " (p with Holm’s adjustment).")


def _count_unread(view: _ComparisonView) -> list[str]:
    """Count the answers of each system that are missing or could not be read, and padded lists."""
    is_pair = len(view.sides) == 2
    names = "AB" if is_pair else [side.name for side in view.sides]
    said = []
    for what, counts in (
        ("missing or unreadable", [side.row.missing + side.row.unparsed for side in view.sides]),
        ("padded", [side.row.padded for side in view.sides]),
    ):
        named = zip(names, counts, strict=True)
        shown = [f"{name} {count}" for name, count in named if count or is_pair]
        if any(counts) or what != "padded":
            said.append(f"{what}: {', '.join(shown) if any(counts) else 'none'}")
    return said


# --- Differences ---


class _DifferenceLine(NamedTuple):
    """A line of differences: `values` have the difference and its interval; `tallies` count wins,
    ties and losses, of which there may be fewer than `n`.
    """

    title: str
    remark: str
    n: int
    scores: Sequence[float]  # of A and B
    values: Pair | BothRead | LevelDifference
    tallies: Sequence[Tally]


def _list_lines(view: _ComparisonView, pair: _ShownPair) -> Iterator[_DifferenceLine]:
    """List all questions, those that both answered readably, and the levels."""
    comparison = view.comparison
    values = pair.values
    scores = [side.row.score for side in (pair.a, pair.b)]
    tallies = [*values.levels.values()]
    is_part = values.n_shared != comparison.resolved
    shared = f"both took part in {values.n_shared}, whose wins are counted" if is_part else ""
    yield _DifferenceLine(_ALL, shared, comparison.resolved, scores, values, tallies)
    if both := values.both_read:
        title = "Both answered readably"
        yield _DifferenceLine(title, "", both.n, both.scores, both, [*both.levels.values()])
    weights = read_weights(comparison.signature)
    for level, difference in _list_levels(pair).items():
        if level:
            yield _DifferenceLine(
                f"Level {level}",
                f"weight {weights[level]:g}",
                comparison.level_counts[level],
                difference.scores,
                difference,
                [values.levels[level]],
            )


def _list_levels(pair: _ShownPair) -> Mapping[Level, LevelDifference]:
    """List the differences by level; over all weeks those of the estimated scores, which have no
    intervals.
    """
    if isinstance(pair.values, PairedDifference):
        return pair.values.level_differences
    rows = [side.row for side in (pair.a, pair.b)]
    a, b = (row.level_scores if isinstance(row, SeasonRow) else {} for row in rows)
    return {
        level: LevelDifference(
            scores=[a[level], b[level]], difference=a[level] - b[level], interval=None
        )
        for level in pair.values.levels
        if level in a and level in b
    }


def _draw_summary(view: _ComparisonView) -> Html:
    """Draw the differences of a pair by level, or those of all pairs."""
    if len(view.pairs) == 1:
        return _draw_levels(view, view.pairs[0])
    return _draw_lines(view, "Pairs", _list_pairs(view), ("A", "B"))


def _list_pairs(view: _ComparisonView) -> list[_DifferenceLine]:
    return [
        next(_list_lines(view, pair))._replace(
            title=pair.title, remark=f"p (Holm) {show_p(pair.values.p_holm)}"
        )
        for pair in view.pairs[:MOST]
    ]


def _draw_levels(view: _ComparisonView, pair: _ShownPair) -> Html:
    names = pair.a.name, pair.b.name
    return _draw_lines(view, "Questions", [*_list_lines(view, pair)], names)


def _draw_lines(
    view: _ComparisonView, title: str, lines: Sequence[_DifferenceLine], names: tuple[str, str]
) -> Html:
    better = [
        span(kind, cut_middle(name, 24), " better")
        for kind, name in zip(("la", "lb"), names, strict=True)
    ]
    left, right = better[:: -view.comparison.scale.sign]
    styles = ["all" if line.title == _ALL else None for line in lines]
    ends = join("←\u00a0", left), join(right, "\u00a0→")
    table = draw_marks(_tabulate(view, title, lines), None, "rank", styles, ends=ends)
    return join(table, tag("p", _LEGEND, class_="cap"))


def _tabulate(view: _ComparisonView, title: str, lines: Sequence[_DifferenceLine]) -> Table:
    """Make the table of differences that the page and `plot` draw."""
    scale = view.comparison.scale
    columns = [
        Column(title, attrgetter("title")),
        Column("", attrgetter("remark"), page="soft"),
        Column("n", attrgetter("n"), "number", page="n k"),
        Column("A", lambda line: heat_of(line.scores[0], scale), page="c la"),
        Column("B", lambda line: heat_of(line.scores[1], scale), page="c lb"),
        Column("A − B", lambda line: show_signed(line.values.difference), page="n sc"),
        Column("A − B", partial(_mark, view), "mark"),
        Column("A wins · ties · B wins", lambda line: _draw_tally(line.tallies), page="w k"),
    ]
    return make_table(columns, lines)


def _mark(view: _ComparisonView, line: _DifferenceLine) -> IntervalCell:
    """Fill the mark of a decided difference, in the colour of the better system."""
    values = line.values
    low, high = values.interval or (0, 0)
    is_decided = not low <= 0 <= high
    if isinstance(values, Pair):  # adjusted, unlike its interval
        is_decided = values.p_holm < ALPHA
    kind = view.better(values.difference).lower() * is_decided
    return IntervalCell(values.difference, values.interval, 0.0, kind)


_TALLY: Final = {"wins": "e", "ties": "eq", "losses": "t1"}


def _draw_tally(tallies: Sequence[Tally]) -> Html:
    """Wins, ties and losses over the levels, above a bar of their shares."""
    sums = {key: sum(getattr(tally, key) for tally in tallies) for key in _TALLY}
    numbers = span("ends", *(tag("span", str(count)) for count in sums.values()))
    total = sum(sums.values())
    shares = [
        Share(count / total, _TALLY[key], f"{key}: {count}") for key, count in sums.items() if count
    ]
    return join(numbers, draw_shares(shares, "wtl"))


# --- Questions ---


class _ComparedQuestion(NamedTuple):
    """The items of A and B, and what the question adds to A − B."""

    a: Item
    b: Item
    adds: float


def _draw_body(view: _ComparisonView) -> Iterator[Html]:
    """Draw the questions that decide it, of each pair; over all weeks how the model is made."""
    if not isinstance(view.comparison, Comparison):
        remarks = [tag("p", remark) for remark in season_remarks(view.comparison)]
        yield draw_section("How weeks are compared", *remarks, note=_MODEL)
        return
    most = MOST // min(len(view.pairs), _SHOWN)
    for pair in view.pairs[:_SHOWN]:
        rows = _list_differing(view.comparison, pair)
        same = view.comparison.resolved - len(rows)
        note = f"{show_count(len(rows), 'question')} with different scores; "
        note += f"{same} {'is' if same == 1 else 'are'} equal."
        note += _say_half(rows)
        note += f" The first {most}." if len(rows) > most else ""
        questions = _draw_questions(view, pair, rows[:most]) if rows else Html()
        if len(view.pairs) == 1:
            note += " Bars: what a question adds to A − B. A row opens to both answers."
            yield draw_section("The questions that decide it", questions, note=note)
        else:
            levels = _draw_levels(view, pair)
            yield draw_fold(pair.title, levels, questions, note=note, name=f"p{pair.number}")
    left = len(view.pairs) - _SHOWN
    if left > 0:
        yield tag("p", f"The questions of {left} more pairs are not shown.", class_="cap")


_MODEL: Final = (
    "The difference is that of the table over all weeks: its model estimates how hard each week is "
    "from all systems."
)


def _say_half(rows: Sequence[_ComparedQuestion]) -> str:
    """Say how many questions make up half of all that differs."""
    sums = list(accumulate(abs(row.adds) for row in rows))
    if len(sums) < 3:
        return ""
    count = sum(each < sums[-1] / 2 for each in sums) + 1
    return f" The first {count} make up half of all differences." if count > 1 else ""


def _list_differing(comparison: Comparison, pair: _ShownPair) -> list[_ComparedQuestion]:
    """List the questions on which two scores differ, first those that add most to the
    difference.
    """
    shares = _share_questions(comparison)
    rows = [
        _ComparedQuestion(
            a,
            b,
            shares[(a.get("level") if "" not in shares else "") or ""] * (a["score"] - b["score"]),
        )
        for a, b in zip(pair.a.items, pair.b.items, strict=True)
        if a["outcome"] != "pending" and a["score"] != b["score"]
    ]
    return sorted(rows, key=lambda row: (-abs(row.adds), str(row.a["id"])))


def _share_questions(comparison: Comparison) -> dict[Level, float]:
    """Compute the share of one question of each level in the overall score."""
    weights = read_weights(comparison.signature)
    counts = comparison.level_counts
    is_fixed = comparison.signature.get("fixed_weights")
    total = fsum(weight for level, weight in weights.items() if is_fixed or level in counts)
    return {level: weights[level] / total / count for level, count in counts.items()}


def _draw_questions(
    view: _ComparisonView, pair: _ShownPair, rows: Sequence[_ComparedQuestion]
) -> Html:
    name = f"pair{pair.number}"
    first, prefix = ("", "q") if pair.number == 1 else (f"{name}.", name)
    keys = make_keys((row.a["id"] for row in rows), prefix)
    levels = {row.a["level"] or 0 for row in rows if row.a.get("level")}
    sides = group_by(rows, lambda row: view.better(row.adds))
    better = [Choice(side, f"{side} better {len(sides[side])}") for side in sorted(sides)]
    filters = draw_levels(name, levels), draw_chips(name, "better", better, "seg")
    sides_of = span("la", f"A {pair.a.name}"), span("lb", f"B {pair.b.name}")
    titles = ("Adds to A − B", "", "Question", *sides_of)
    most = max(abs(row.adds) for row in rows)
    shown = [
        _draw_question(view, pair, row, key, most) for row, key in zip(rows, keys, strict=True)
    ]
    bar = draw_bar(name, "questions", *filters, first=first)
    return join(bar, draw_rows(name, titles, shown, "duo"))


def _draw_question(
    view: _ComparisonView, pair: _ShownPair, row: _ComparedQuestion, key: str, most: float
) -> OpenRow:
    """Draw a question: what it adds, its first line and truth, and both scores with what
    was read.
    """
    better = view.better(row.adds)
    level = row.a.get("level")
    title = show_text(str(row.a.get("prompt") or row.a["id"]), 200)
    truth = show_truth(row.a.get("truth") or "")
    reaction = pair.a.texts.get(str(row.a["id"]), {}).get("Reaction", "")
    below = f"Truth: {show_text(truth, 80)}" if truth else show_text(reaction, 120)
    bar = draw_bar_of(abs(row.adds) / most, "a" if better == "A" else "")
    cells = [
        tag("span", show_signed(row.adds), bar, class_="co", title=f"{row.adds:.6f}"),
        span("lv", f"L{level}" if level else ""),
        tag("span", span("qt", title), span("s tr", below) if below else ""),
    ]
    for item in (row.a, row.b):
        chip = span("chip", show_cell(item["score"], view.comparison.scale))
        cells.append(span("side", chip, span("why", show_read(item) if "read" in item else "")))
    facts = [("Truth", show_text(truth))]
    inside = draw_inside(key, facts, _list_texts(pair, row), row.a["id"])
    return OpenRow(key, cells, {"level": level or "", "better": better}, inside)


def _list_texts(pair: _ShownPair, row: _ComparedQuestion) -> list[tuple[str, Cell]]:
    """List what both runs' pages have of a question: once if it is the same, else side by side."""
    sides = (("A", pair.a, row.a), ("B", pair.b, row.b))
    a, b = (
        side.texts.get(str(item["id"]))
        or ({"Answer": show_text(item["answer"])} if "answer" in item else {})
        for _, side, item in sides
    )
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


def _list_charts(view: _ComparisonView) -> dict[str, Chart]:
    """List what `plot` draws: the differences of all pairs."""
    table = _tabulate(view, "Pair", _list_pairs(view))
    return {"differences": Chart("differences", "Difference of the scores", _LEGEND, table)}
