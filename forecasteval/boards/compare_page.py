"""The page of a comparison: what is better and by how much, by level, and the questions that decide
it with both answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from itertools import chain
from math import fsum
from operator import attrgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import InputError, printable, show_count
from forecasteval.common.markup import show_truth
from forecasteval.common.records import JsonObject, group_by, question_key
from forecasteval.display.charts import Chart
from forecasteval.display.html import (
    Head,
    Html,
    Page,
    TableLine,
    choose_digits,
    draw_fold,
    draw_scroll,
    draw_section,
    draw_table,
    heat_class,
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
    LevelDifference,
    Pair,
    ScoredRow,
    SeasonRow,
    Tally,
)
from forecasteval.ranking.files import read_weights
from forecasteval.ranking.scale import Level
from forecasteval.ranking.systems import ALPHA

from .standings import heat_of, list_names, show_cell
from .tables import AnyComparison, compared_datasets, in_series, list_verdicts, season_remarks

_MAX_SYSTEMS: Final = 4  # of more the page shows no questions: they would be of ten pairs
_LEGEND: Final = (
    f"Filled in the colour of the better system: decided (p < {ALPHA} with Holm’s adjustment; of "
    "levels, an interval without 0). Lines: 95% intervals, not adjusted."
)
Texts = Mapping[str, Mapping[str, Cell]]  # of a run's questions, by id and title


def make_page(comparison: AnyComparison, results: Sequence[JsonObject] = ()) -> Page:
    """Make the page of a comparison, with the questions of the `results` that it compares."""
    names = [_cut(row.name) for row in comparison.systems]
    size = show_count(comparison.resolved, "question") + in_series(comparison.n_series)
    where = f"{printable(comparison.dataset or 'without a dataset', 120)} · the same {size}"
    if comparison.datasets:
        where = f"{show_count(len(comparison.datasets), 'dataset')} · {size}"
    is_pair = len(names) == 2
    unread = _count_unread(comparison, "AB" if is_pair else names)
    return Page(
        " against ".join(names) if is_pair else f"Comparison of {len(names)} systems",
        " · ".join([comparison.benchmark, where, unread]),
        partial(_draw_summary, comparison),
        partial(_draw_body, comparison, results),
        partial(_list_charts, comparison),
        list_verdicts(comparison)[0] if is_pair else _say_first(comparison),
        signature=format_signature({"evaluator": comparison.benchmark, **comparison.signature}),
    )


def _cut(name: str) -> str:
    return printable(name, 80)


def _title(pair: Pair) -> str:
    return f"{_cut(pair.a)} − {_cut(pair.b)}"


def _better(comparison: AnyComparison, difference: float) -> str:
    """Say which of A and B a difference is in favour of."""
    return "A" if comparison.scale.sign * difference > 0 else "B"


# --- The verdict ---


def _say_first(comparison: AnyComparison) -> str:
    """Say which systems the first one is better than, and which it cannot be told from."""
    verbs = {"A": "is better than", "B": "is worse than", "": "cannot be told apart from"}
    pairs = comparison.pairs[: len(comparison.systems) - 1]
    groups = group_by(pairs, partial(_decide, comparison))
    said = [
        join(f"{verb} ", list_names([_cut(pair.b) for pair in groups[side]]))
        for side, verb in verbs.items()
        if side in groups
    ]
    first = _cut(comparison.systems[0].name)
    return join(first, " ", Html(", ".join(said)), " (p with Holm’s adjustment).")


def _decide(comparison: AnyComparison, pair: Pair) -> str:
    """Say which of A and B is better; "" if they cannot be told apart."""
    return _better(comparison, pair.difference) if pair.p_holm < ALPHA else ""


def _count_unread(comparison: AnyComparison, names: Sequence[str]) -> str:
    """Count the answers of each system that are missing or could not be read, and padded lists."""
    systems: Sequence[ScoredRow | SeasonRow] = comparison.systems
    unread = _show_counts(names, [row.missing + row.unparsed for row in systems])
    padded = _show_counts(names, [row.padded for row in systems])
    more = f" · padded: {padded}" if padded else ""
    return f"missing or unreadable: {unread or 'none'}{more}"


def _show_counts(names: Sequence[str], counts: Sequence[int]) -> str:
    named = zip(names, counts, strict=True)
    return ", ".join(f"{name} {count}" for name, count in named if count)


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


def _list_lines(comparison: AnyComparison, pair: Pair) -> Iterator[_DifferenceLine]:
    """List all questions, those that both answered readably, and the levels."""
    by_name = {row.name: row.score for row in comparison.systems}
    scores = by_name[pair.a], by_name[pair.b]
    is_part = pair.n_shared != comparison.resolved
    shared = f"both took part in {pair.n_shared}, whose wins are counted" if is_part else ""
    tallies = [*pair.levels.values()]
    yield _DifferenceLine("All questions", shared, comparison.resolved, scores, pair, tallies)
    if both := pair.both_read:
        title = "Both answered readably"
        yield _DifferenceLine(title, "", both.n, both.scores, both, [*both.levels.values()])
    weights = read_weights(comparison.signature)
    for level, difference in comparison.list_levels(pair).items():
        if level:
            yield _DifferenceLine(
                f"Level {level}",
                f"weight {weights[level]:g}",
                comparison.level_counts[level],
                difference.scores,
                difference,
                [pair.levels[level]],
            )


def _draw_summary(comparison: AnyComparison) -> Html:
    """Draw the differences of a pair by level, or those of all pairs."""
    if len(comparison.pairs) == 1:
        return _draw_levels(comparison, comparison.pairs[0])
    return _draw_lines(comparison, _tabulate_pairs(comparison), [None], ("A", "B"))


def _draw_levels(comparison: AnyComparison, pair: Pair) -> Html:
    table = _tabulate(comparison, "Questions", _list_lines(comparison, pair))
    return _draw_lines(comparison, table, ["all"], (_cut(pair.a), _cut(pair.b)))


def _draw_lines(
    comparison: AnyComparison, table: Table, styles: Sequence[str | None], names: tuple[str, str]
) -> Html:
    left, right = (
        span(kind, cut_middle(name, 24), " better")
        for kind, name in zip(("la", "lb"), names, strict=True)
    )
    if comparison.scale.sign > 0:
        left, right = right, left
    ends = join("←\u00a0", left), join(right, "\u00a0→")
    drawn = draw_marks(table, None, "rank", styles, ends=ends)
    return join(drawn, tag("p", _LEGEND, class_="cap"))


def _tabulate_pairs(comparison: AnyComparison) -> Table:
    """Make the table of all pairs."""
    lines = [
        next(_list_lines(comparison, pair))._replace(
            title=_title(pair), remark=f"p (Holm) {show_p(pair.p_holm)}"
        )
        for pair in comparison.pairs[:MOST]
    ]
    return _tabulate(comparison, "Pairs", lines)


def _tabulate(comparison: AnyComparison, title: str, lines: Iterable[_DifferenceLine]) -> Table:
    """Make the table of differences that the page and `plot` draw."""
    scale = comparison.scale
    columns = [
        Column(title, attrgetter("title")),
        Column("", attrgetter("remark"), page="soft"),
        Column("n", attrgetter("n"), "number", page="n k"),
        Column("A", lambda line: heat_of(line.scores[0], scale), page="c la"),
        Column("B", lambda line: heat_of(line.scores[1], scale), page="c lb"),
        Column("A − B", lambda line: show_signed(line.values.difference), page="n sc"),
        Column("A − B", lambda line: _mark(comparison, line.values), "mark"),
        Column("A wins · ties · B wins", lambda line: _draw_tally(line.tallies), page="w k"),
    ]
    return make_table(columns, lines)


def _mark(comparison: AnyComparison, values: Pair | BothRead | LevelDifference) -> IntervalCell:
    """Fill the mark of a decided difference, in the colour of the better system."""
    if values.p_holm is not None:  # adjusted, unlike its interval
        kind = _decide(comparison, values)
    else:
        low, high = values.interval or (0, 0)
        kind = "" if low <= 0 <= high else _better(comparison, values.difference)
    return IntervalCell(values.difference, values.interval, 0.0, kind.lower())


# --- Every system against every other, and dataset by dataset ---


def _draw_matrix(comparison: AnyComparison) -> Html:
    """Draw the difference of each row's system from each column's; coloured if it is decided."""
    names = [row.name for row in comparison.systems]
    pairs = {(pair.a, pair.b): (pair, 1) for pair in comparison.pairs}
    pairs |= {(pair.b, pair.a): (pair, -1) for pair in comparison.pairs}
    largest = max(abs(pair.difference) for pair in comparison.pairs) or 1.0
    heads = [Head("System"), *(Head(cut_middle(_cut(name), 14), "c") for name in names)]
    lines = []
    for name in names:
        cells = [join(_cut(name))]
        for other in names:
            pair, sign = pairs.get((name, other), (None, 1))
            cells.append(_draw_difference(comparison, pair, sign, largest))
        lines.append(TableLine(cells))
    note = (
        "The score of the row less that of the column. Coloured: decided "
        f"(p < {ALPHA} with Holm’s adjustment), blue where the row is better. Without colour: not "
        "told apart."
    )
    title = "Every system against every other"
    table = draw_scroll(title, draw_table(heads, lines, "mx"))
    return draw_section(title, table, note=note, name="matrix")


def _draw_difference(
    comparison: AnyComparison, pair: Pair | None, sign: int, largest: float
) -> Html:
    """Draw one difference; nothing for a system and itself."""
    if pair is None:
        return Html()
    difference = sign * pair.difference
    shown = show_signed(difference, 2)
    if not _decide(comparison, pair):
        return span("z", shown)
    share = 0.5 + 0.5 * comparison.scale.sign * difference / largest
    return tag("span", shown, class_=heat_class(share), title=f"{difference:+.4f}")


def _draw_datasets(comparison: AnyComparison) -> Html:
    """Draw the differences from the first system on each dataset, with their intervals."""
    table = compared_datasets(comparison)
    first = _cut(comparison.systems[0].name)
    note = f"{first} less the other system. Lines: 95% intervals of the questions alone."
    drawn = draw_scroll("By dataset", draw_marks(table))
    return draw_section("By dataset", drawn, note=note, name="datasets")


_TALLY: Final = {"wins": "e", "ties": "eq", "losses": "t1"}


def _draw_tally(tallies: Sequence[Tally]) -> Html:
    """Wins, ties and losses over the levels, above a bar of their shares."""
    sums = [*map(sum, zip(*map(astuple, tallies), strict=True))]
    shares = [
        Share(count / sum(sums), kind, f"{name}: {count}")
        for (name, kind), count in zip(_TALLY.items(), sums, strict=True)
        if count
    ]
    numbers = span("ends", *(tag("span", str(count)) for count in sums))
    return join(numbers, draw_shares(shares, "wtl"))


# --- Questions ---


class _Side(NamedTuple):
    """One of two systems: letter and name, its items in one order, and the texts of questions."""

    name: str
    items: Sequence[Item]
    texts: Texts


class _ComparedQuestion(NamedTuple):
    """The items of A and B, and what the question adds to A − B."""

    a: Item
    b: Item
    adds: float


def _draw_body(comparison: AnyComparison, results: Sequence[JsonObject]) -> Iterator[Html]:
    """Draw the questions that decide it, of each pair of a few systems; over all weeks how the
    model is made.
    """
    if len(comparison.systems) > 2:
        yield _draw_matrix(comparison)
    if comparison.datasets:
        yield _draw_datasets(comparison)
        remarks = [tag("p", remark) for remark in season_remarks(comparison)]
        yield draw_section("How weeks are compared", *remarks, note=_MODEL)
        return
    if len(comparison.systems) > _MAX_SYSTEMS:
        few = f"The page of a comparison of up to {_MAX_SYSTEMS} systems shows their questions."
        yield tag("p", few, class_="cap")
        return
    systems: Sequence[ScoredRow | SeasonRow] = comparison.systems
    copies = len(results) * (len(results) - 1)
    answers = {
        row.name: (sorted(result["items"], key=question_key), _read_texts(result, copies))
        for row, result in zip(systems, results, strict=True)
    }
    most = MOST // len(comparison.pairs)
    for number, pair in enumerate(comparison.pairs, 1):
        a = _Side(f"A {_cut(pair.a)}", *answers[pair.a])
        b = _Side(f"B {_cut(pair.b)}", *answers[pair.b])
        rows = _list_differing(comparison, a, b)
        same = comparison.resolved - len(rows)
        note = f"{show_count(len(rows), 'question')} with different scores; "
        note += f"{same} {'is' if same == 1 else 'are'} equal."
        note += f" The first {most}." if len(rows) > most else ""
        questions = _draw_questions(comparison, number, a, b, rows[:most]) if rows else Html()
        if len(comparison.pairs) == 1:
            note += (
                " Bars: what a question adds to A − B. A row opens to both answers." if rows else ""
            )
            yield draw_section("The questions that decide it", questions, note=note)
        else:
            levels = _draw_levels(comparison, pair)
            yield draw_fold(_title(pair), levels, questions, note=note, name=f"p{number}")


_MODEL: Final = (
    "The difference is that of the table over all weeks: its model estimates how hard each week is "
    "from all systems."
)


def _read_texts(result: JsonObject, copies: int) -> Texts:
    """Read the texts on the run's page; {} without a page, or if so many copies are too long."""
    if not isinstance(result, Results):
        return {}
    try:
        texts = result.page().texts()
    except InputError:  # its benchmark has no pages
        return {}
    values = chain.from_iterable(of_question.values() for of_question in texts.values())
    size = sum(len(str(text)) for text in values)
    return texts if copies * size <= BYTES // 2 else {}


def _list_differing(comparison: AnyComparison, a: _Side, b: _Side) -> list[_ComparedQuestion]:
    """List the questions on which two scores differ, first those that add most to the
    difference.
    """
    shares = _share_questions(comparison)
    rows = []
    for item, other in zip(a.items, b.items, strict=True):
        if item["outcome"] != "pending" and item["score"] != other["score"]:
            share = shares.get("") or shares[item.get("level") or ""]
            adds = share * (item["score"] - other["score"])
            rows.append(_ComparedQuestion(item, other, adds))
    return sorted(rows, key=lambda row: (-abs(row.adds), str(row.a["id"])))


def _share_questions(comparison: AnyComparison) -> dict[Level, float]:
    """Compute the share of one question of each level in the overall score."""
    weights = read_weights(comparison.signature)
    counts = comparison.level_counts
    is_fixed = comparison.signature.get("fixed_weights")
    total = fsum(weight for level, weight in weights.items() if is_fixed or level in counts)
    return {level: weights[level] / total / count for level, count in counts.items()}


def _draw_questions(
    comparison: AnyComparison, number: int, a: _Side, b: _Side, rows: Sequence[_ComparedQuestion]
) -> Html:
    name = f"pair{number}"
    first, prefix = ("", "q") if number == 1 else (f"{name}.", name)
    keys = make_keys((row.a["id"] for row in rows), prefix)
    sides = Counter(_better(comparison, row.adds) for row in rows)
    better = [Choice(side, f"{side} better {count}") for side, count in sorted(sides.items())]
    levels = draw_levels(name, (row.a.get("level") for row in rows))
    bar = draw_bar(
        name, "questions", levels, draw_chips(name, "better", better, "seg"), first=first
    )
    titles = ("Adds to A − B", "", "Question", span("la", a.name), span("lb", b.name))
    most = max(abs(row.adds) for row in rows)
    digits = choose_digits(row.adds for row in rows)
    shown = [
        OpenRow(
            key,
            _draw_cells(comparison, row, most, digits, a.texts),
            {"level": row.a.get("level") or "", "better": _better(comparison, row.adds)},
            draw_inside(
                key,
                [("Truth", show_text(show_truth(row.a.get("truth") or "")))],
                _list_texts(a, b, row),
                row.a["id"],
            ),
        )
        for row, key in zip(rows, keys, strict=True)
    ]
    return join(bar, draw_rows(name, titles, shown, "duo"))


def _draw_cells(
    comparison: AnyComparison, row: _ComparedQuestion, most: float, digits: int, texts: Texts
) -> list[Html]:
    """Draw what a question adds, its first line and truth, and both scores with what was read."""
    item, other, adds = row
    level = item.get("level")
    title = show_text(str(item.get("prompt") or item["id"]), 200)
    truth = show_truth(item.get("truth") or "")
    reaction = texts.get(str(item["id"]), {}).get("Reaction", "")
    below = f"Truth: {show_text(truth, 80)}" if truth else show_text(reaction, 120)
    bar = draw_bar_of(abs(adds) / most, "a" if _better(comparison, adds) == "A" else "")
    cells = [
        tag("span", show_signed(adds, digits), bar, class_="co", title=f"{adds:.6f}"),
        span("lv", f"L{level}" if level else ""),
        tag("span", span("qt", title), span("s tr", below) if below else ""),
    ]
    for each in (item, other):
        chip = span("chip", show_cell(each["score"], comparison.scale))
        cells.append(span("side", chip, span("why", show_read(each) if "read" in each else "")))
    return cells


def _list_texts(a: _Side, b: _Side, row: _ComparedQuestion) -> list[tuple[str, Cell]]:
    """List what the runs' pages have of a question: what each system said, then what it is."""
    said: list[tuple[str, Cell]] = []
    known: dict[str, Cell] = {}
    for side, item in ((a, row.a), (b, row.b)):
        own = {"Answer": show_text(item.get("answer") or "–")}
        for title, text in (side.texts.get(str(item["id"])) or own).items():
            if title in ("Answer", "Picked"):
                said.append((f"{side.name}: {title.lower()}", text))
            else:
                known[title] = text
    return [*said, *known.items()]


def _list_charts(comparison: AnyComparison) -> dict[str, Chart]:
    """List what `plot` draws: the differences of all pairs."""
    table = _tabulate_pairs(comparison)
    return {"differences": Chart("differences", "Difference of the scores", _LEGEND, table)}
