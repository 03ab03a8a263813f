"""The page of a comparison: what is better and by how much, by level, and the questions
that decide it with both answers.
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
    format_level,
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
from forecasteval.display.pages import BYTES, MAX_SHOWN, make_keys, show_read, show_text
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
    Heat,
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

from .standings import draw_score, list_names, place_score
from .tables import (
    AnyComparison,
    compared_datasets,
    in_series,
    list_verdicts,
    season_remarks,
)

# Of more the page shows no questions: they would be of ten pairs
_MAX_SYSTEMS: Final = 4
_LEGEND: Final = (
    f"Filled in the colour of the better system: decided (p < {ALPHA} with Holm’s "
    "adjustment; of "
    "levels, an interval without 0). Lines: 95% intervals, not adjusted."
)
Texts = Mapping[str, Mapping[str, Cell]]  # of a run's questions, by id and title


def make_page(
    comparison: AnyComparison,
    results: Sequence[JsonObject],
    tables: Mapping[str, Table],
) -> Page:
    """Make the page of a comparison, with the questions of the `results` that it
    compares, and `tables` of its differences by the values of columns.
    """
    names = [_format_name(row.name) for row in comparison.systems]
    size = show_count(comparison.resolved, "question") + in_series(comparison.n_series)
    where = (
        f"{printable(comparison.dataset or 'without a dataset', 120)} · the same {size}"
    )
    if comparison.datasets:
        where = f"{show_count(len(comparison.datasets), 'dataset')} · {size}"
    title = f"Comparison of {len(names)} systems"
    verdict: str = _describe_first(comparison)
    unread = _count_unread(comparison, names)
    if len(names) == 2:
        title = " against ".join(names)
        verdict = list_verdicts(comparison)[0]
        unread = _count_unread(comparison, "AB")
    return Page(
        title,
        " · ".join([comparison.benchmark, where, unread]),
        partial(_draw_summary, comparison),
        partial(_draw_body, comparison, results, tables),
        partial(_list_charts, comparison),
        verdict,
        signature=format_signature(
            {"evaluator": comparison.benchmark, **comparison.signature}
        ),
    )


def _format_name(name: str) -> str:
    return printable(name, 80)


def _format_pair(pair: Pair) -> str:
    return f"{_format_name(pair.a)} − {_format_name(pair.b)}"


def _choose_better(comparison: AnyComparison, difference: float) -> str:
    """Choose which of A and B a difference is in favour of."""
    if comparison.scale.sign * difference > 0:
        return "A"
    return "B"


# --- The verdict ---


def _describe_first(comparison: AnyComparison) -> str:
    """Describe which systems the first one is better than, and which it
    cannot be told from.
    """
    verbs = {
        "A": "is better than",
        "B": "is worse than",
        "": "cannot be told apart from",
    }
    pairs = comparison.pairs[: len(comparison.systems) - 1]
    groups = group_by(pairs, partial(_decide, comparison))
    verdicts = []
    for side, verb in verbs.items():
        others = [_format_name(pair.b) for pair in groups.get(side, ())]
        if others:
            verdicts.append(join(f"{verb} ", list_names(others)))
    first = _format_name(comparison.systems[0].name)
    return join(first, " ", Html(", ".join(verdicts)), " (p with Holm’s adjustment).")


def _decide(comparison: AnyComparison, pair: Pair) -> str:
    """Choose which of A and B is better; "" if they cannot be told apart."""
    if pair.p_holm >= ALPHA:
        return ""
    return _choose_better(comparison, pair.difference)


def _count_unread(comparison: AnyComparison, names: Sequence[str]) -> str:
    """Count the answers of each system that are missing or could not be read,
    and padded lists.
    """
    systems: Sequence[ScoredRow | SeasonRow] = comparison.systems
    unread = _format_counts(names, [row.missing + row.unparsed for row in systems])
    text = f"missing or unreadable: {unread or 'none'}"
    padded = _format_counts(names, [row.padded for row in systems])
    if padded:
        text = f"{text} · padded: {padded}"
    return text


def _format_counts(names: Sequence[str], counts: Sequence[int]) -> str:
    named = zip(names, counts, strict=True)
    return ", ".join(f"{name} {count}" for name, count in named if count)


# --- Differences ---


class _DifferenceLine(NamedTuple):
    """A line of differences: `values` have the difference and its interval; `tallies`
    count wins, ties and losses, of which there may be fewer than `n`.
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
    shared = ""
    if pair.n_shared != comparison.resolved:
        shared = f"both took part in {pair.n_shared}, whose wins are counted"
    tallies = [*pair.levels.values()]
    yield _DifferenceLine(
        "All questions", shared, comparison.resolved, scores, pair, tallies
    )
    if both := pair.both_read:
        title = "Both answered readably"
        yield _DifferenceLine(
            title, "", both.n, both.scores, both, [*both.levels.values()]
        )
    weights = read_weights(comparison.signature)
    for level, difference in comparison.list_levels(pair).items():
        if not level:
            continue
        title = f"Level {level}"
        remark = f"weight {weights[level]:g}"
        count = comparison.level_counts[level]
        tally = pair.levels[level]
        scores_of_level = difference.scores
        yield _DifferenceLine(
            title, remark, count, scores_of_level, difference, [tally]
        )


def _draw_summary(comparison: AnyComparison) -> Html:
    """Draw the differences of a pair by level, or those of all pairs."""
    if len(comparison.pairs) == 1:
        return _draw_levels(comparison, comparison.pairs[0])
    return _draw_lines(comparison, _tabulate_pairs(comparison), [None], ("A", "B"))


def _draw_levels(comparison: AnyComparison, pair: Pair) -> Html:
    table = _tabulate(comparison, "Questions", _list_lines(comparison, pair))
    return _draw_lines(
        comparison, table, ["all"], (_format_name(pair.a), _format_name(pair.b))
    )


def _draw_lines(
    comparison: AnyComparison,
    table: Table,
    styles: Sequence[str | None],
    names: tuple[str, str],
) -> Html:
    a, b = names
    left = span("la", cut_middle(a, 24), " better")
    right = span("lb", cut_middle(b, 24), " better")
    if comparison.scale.sign > 0:
        left, right = right, left
    ends = join("←\u00a0", left), join(right, "\u00a0→")
    drawn = draw_marks(table, None, "rank", styles, ends=ends)
    return join(drawn, tag("p", _LEGEND, class_="cap"))


def _tabulate_pairs(comparison: AnyComparison) -> Table:
    """Make the table of all pairs."""
    lines = []
    for pair in comparison.pairs[:MAX_SHOWN]:
        line = next(_list_lines(comparison, pair))
        remark = f"p (Holm) {show_p(pair.p_holm)}"
        lines.append(line._replace(title=_format_pair(pair), remark=remark))
    return _tabulate(comparison, "Pairs", lines)


def _tabulate(
    comparison: AnyComparison, title: str, lines: Iterable[_DifferenceLine]
) -> Table:
    """Make the table of differences that the page and `plot` draw."""
    columns = [
        Column(title, attrgetter("title")),
        Column("", attrgetter("remark"), page="soft"),
        Column("n", attrgetter("n"), "number", page="n k"),
        Column("A", partial(_place_score, comparison, 0), page="c la"),
        Column("B", partial(_place_score, comparison, 1), page="c lb"),
        _DIFFERENCE,
        Column("A − B", partial(_mark, comparison), "mark"),
        _WINS,
    ]
    return make_table(columns, lines)


def _place_score(comparison: AnyComparison, index: int, line: _DifferenceLine) -> Heat:
    return place_score(line.scores[index], comparison.scale)


def _format_difference(line: _DifferenceLine) -> str:
    return show_signed(line.values.difference)


def _mark(comparison: AnyComparison, line: _DifferenceLine) -> IntervalCell:
    """Fill the mark of a decided difference, in the colour of the better system."""
    values = line.values
    kind = _choose_better(comparison, values.difference)
    if values.p_holm is not None:  # adjusted, unlike its interval
        kind = _decide(comparison, values)
    elif values.interval is None or values.interval[0] <= 0 <= values.interval[1]:
        kind = ""
    return IntervalCell(values.difference, values.interval, 0.0, kind.lower())


# --- Every system against every other, and dataset by dataset ---


def _draw_matrix(comparison: AnyComparison) -> Html:
    """Draw the difference of each row's system from each column's; coloured if
    it is decided.
    """
    names = [row.name for row in comparison.systems]
    pairs = {(pair.a, pair.b): (pair, 1) for pair in comparison.pairs}
    pairs |= {(pair.b, pair.a): (pair, -1) for pair in comparison.pairs}
    largest = max(abs(pair.difference) for pair in comparison.pairs) or 1.0
    heads = [
        Head("System"),
        *(Head(cut_middle(_format_name(name), 14), "c") for name in names),
    ]
    lines = []
    for name in names:
        cells = [join(_format_name(name))]
        for other in names:
            pair, sign = pairs.get((name, other), (None, 1))
            cells.append(_draw_difference(comparison, pair, sign, largest))
        lines.append(TableLine(cells))
    note = (
        "The score of the row less that of the column. Coloured: decided "
        f"(p < {ALPHA} with Holm’s adjustment), blue where the row is better. Without "
        "colour: not "
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
    """Draw the differences from the first system on each dataset, with
    their intervals.
    """
    table = compared_datasets(comparison)
    first = _format_name(comparison.systems[0].name)
    note = (
        f"{first} less the other system. Lines: 95% intervals of the questions alone."
    )
    drawn = draw_scroll("By dataset", draw_marks(table))
    return draw_section("By dataset", drawn, note=note, name="datasets")


_TALLY: Final = {"wins": "e", "ties": "eq", "losses": "t1"}


def _draw_tally(tallies: Sequence[Tally]) -> Html:
    """Draw wins, ties and losses over the levels, above a bar of their shares."""
    sums = [*map(sum, zip(*map(astuple, tallies), strict=True))]
    shares = []
    for (name, kind), count in zip(_TALLY.items(), sums, strict=True):
        if count:
            shares.append(Share(count / sum(sums), kind, f"{name}: {count}"))
    numbers = span("ends", *(tag("span", str(count)) for count in sums))
    return join(numbers, draw_shares(shares, "wtl"))


_DIFFERENCE: Final = Column("A − B", _format_difference, "number", page="n sc")
_WINS: Final = Column(
    "A wins · ties · B wins", lambda line: _draw_tally(line.tallies), page="w k"
)


# --- Questions ---


class _Side(NamedTuple):
    """One of two systems: letter and name, its items in one order, and the
    texts of questions.
    """

    name: str
    items: Sequence[Item]
    texts: Texts


class _ComparedQuestion(NamedTuple):
    """The items of A and B, and what the question adds to A − B."""

    a: Item
    b: Item
    adds: float


def _draw_body(
    comparison: AnyComparison,
    results: Sequence[JsonObject],
    tables: Mapping[str, Table],
) -> Iterator[Html]:
    """Draw the values of columns and the questions that decide it, of each pair of a
    few systems; over all weeks how the model is made.
    """
    if len(comparison.systems) > 2:
        yield _draw_matrix(comparison)
    for column, table in tables.items():
        title = f"By {printable(column, 40)}"
        yield draw_section(title, draw_scroll(title, draw_marks(table)), name="by")
    if comparison.datasets:
        yield _draw_datasets(comparison)
        remarks = [tag("p", remark) for remark in season_remarks(comparison)]
        yield draw_section("How weeks are compared", *remarks, note=_MODEL)
        return
    if len(comparison.systems) > _MAX_SYSTEMS:
        few = (
            f"The page of a comparison of up to {_MAX_SYSTEMS} systems shows their "
            "questions."
        )
        yield tag("p", few, class_="cap")
        return
    systems: Sequence[ScoredRow | SeasonRow] = comparison.systems
    copies = len(results) * (len(results) - 1)
    answers = {}
    for row, result in zip(systems, results, strict=True):
        items = sorted(result["items"], key=question_key)
        answers[row.name] = items, _read_texts(result, copies)
    is_single = len(comparison.pairs) == 1
    limit = MAX_SHOWN // len(comparison.pairs)
    for number, pair in enumerate(comparison.pairs, 1):
        a = _Side(f"A {_format_name(pair.a)}", *answers[pair.a])
        b = _Side(f"B {_format_name(pair.b)}", *answers[pair.b])
        rows = _list_differing(comparison, a, b)
        note = _count_differing(comparison, len(rows), limit)
        questions = _draw_questions(comparison, number, a, b, rows[:limit])
        if not is_single:
            levels = _draw_levels(comparison, pair)
            yield draw_fold(
                _format_pair(pair), levels, questions, note=note, name=f"p{number}"
            )
            continue
        if rows:
            note += " Bars: what a question adds to A − B. A row opens to both answers."
        yield draw_section("The questions that decide it", questions, note=note)


def _count_differing(comparison: AnyComparison, count: int, limit: int) -> str:
    """Count how many questions have different scores, and how many of
    them are shown.
    """
    equal = comparison.resolved - count
    verb = "is" if equal == 1 else "are"
    note = (
        f"{show_count(count, 'question')} with different scores; {equal} {verb} equal."
    )
    if count > limit:
        note += f" The first {limit}."
    return note


_MODEL: Final = (
    "The difference is that of the table over all weeks: its model estimates how hard "
    "each week is "
    "from all systems."
)


def _read_texts(result: JsonObject, copies: int) -> Texts:
    """Read the texts on the run's page; {} without a page, or if so many
    copies are too long.
    """
    if not isinstance(result, Results):
        return {}
    try:
        texts = result.page().texts()
    except InputError:  # its benchmark has no pages
        return {}
    values = chain.from_iterable(of_question.values() for of_question in texts.values())
    size = sum(len(str(text)) for text in values)
    if copies * size > BYTES // 2:
        return {}
    return texts


def _list_differing(
    comparison: AnyComparison, a: _Side, b: _Side
) -> list[_ComparedQuestion]:
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
    total = fsum(
        weight for level, weight in weights.items() if is_fixed or level in counts
    )
    return {level: weights[level] / total / count for level, count in counts.items()}


def _draw_questions(
    comparison: AnyComparison,
    number: int,
    a: _Side,
    b: _Side,
    rows: Sequence[_ComparedQuestion],
) -> Html:
    """Draw the questions of a pair with what filters them; nothing if
    there are none.
    """
    if not rows:
        return Html()
    name = f"pair{number}"
    first = f"{name}."
    prefix = name
    if number == 1:
        first = ""
        prefix = "q"
    keys = make_keys((row.a["id"] for row in rows), prefix)
    counts = Counter(_choose_better(comparison, row.adds) for row in rows)
    better = [
        Choice(side, f"{side} better {count}") for side, count in sorted(counts.items())
    ]
    levels = draw_levels(name, (row.a.get("level") for row in rows))
    chips = draw_chips(name, "better", better, "seg")
    bar = draw_bar(name, "questions", levels, chips, first=first)
    titles = ("Adds to A − B", "", "Question", span("la", a.name), span("lb", b.name))
    largest = max(abs(row.adds) for row in rows)
    digits = choose_digits(row.adds for row in rows)
    shown = []
    for row, key in zip(rows, keys, strict=True):
        cells = _draw_cells(comparison, row, largest, digits, a.texts)
        data = {
            "level": row.a.get("level") or "",
            "better": _choose_better(comparison, row.adds),
        }
        truth = [("Truth", show_text(show_truth(row.a.get("truth") or "")))]
        inside = draw_inside(key, truth, _list_texts(a, b, row), row.a["id"])
        shown.append(OpenRow(key, cells, data, inside))
    return join(bar, draw_rows(name, titles, shown, "duo"))


def _draw_cells(
    comparison: AnyComparison,
    row: _ComparedQuestion,
    largest: float,
    digits: int,
    texts: Texts,
) -> list[Html]:
    """Draw what a question adds, its first line and truth, and both scores with
    what was read.
    """
    item, other, adds = row
    kind = ""
    if _choose_better(comparison, adds) == "A":
        kind = "a"
    bar = draw_bar_of(abs(adds) / largest, kind)
    added = tag(
        "span", show_signed(adds, digits), bar, class_="co", title=f"{adds:.6f}"
    )
    level = span("lv", format_level(item.get("level")))
    cells = [added, level, tag("span", *_draw_question(item, texts))]
    for answer in (item, other):
        chip = span("chip", draw_score(answer["score"], comparison.scale))
        read = ""
        if "read" in answer:
            read = show_read(answer)
        cells.append(span("side", chip, span("why", read)))
    return cells


def _draw_question(item: Item, texts: Texts) -> list[str]:
    """Draw the first line of a question, and below it its truth or its reaction."""
    title = show_text(str(item.get("prompt") or item["id"]), 200)
    below = show_text(texts.get(str(item["id"]), {}).get("Reaction", ""), 120)
    truth = show_truth(item.get("truth") or "")
    if truth:
        below = f"Truth: {show_text(truth, 80)}"
    parts: list[str] = [span("qt", title)]
    if below:
        parts.append(span("s tr", below))
    return parts


def _list_texts(a: _Side, b: _Side, row: _ComparedQuestion) -> list[tuple[str, Cell]]:
    """List what the runs' pages have of a question: what each system said,
    then what it is.
    """
    answers: list[tuple[str, Cell]] = []
    others: dict[str, Cell] = {}
    for side, item in ((a, row.a), (b, row.b)):
        answer_alone = {"Answer": show_text(item.get("answer") or "–")}
        texts = side.texts.get(str(item["id"])) or answer_alone
        for title, text in texts.items():
            if title in ("Answer", "Picked"):
                answers.append((f"{side.name}: {title.lower()}", text))
            else:
                others[title] = text
    return [*answers, *others.items()]


def _list_charts(comparison: AnyComparison) -> dict[str, Chart]:
    """List what `plot` draws: the differences of all pairs."""
    table = _tabulate_pairs(comparison)
    return {
        "differences": Chart("differences", "Difference of the scores", _LEGEND, table)
    }
