"""The page of a comparison: differences with their intervals, and the questions on which two
systems differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from forecasteval.common.errors import InputError, printable
from forecasteval.display import html, pages
from forecasteval.display.charts import Chart
from forecasteval.display.pages import (
    BYTES,
    MOST,
    Beside,
    Block,
    Detail,
    Page,
    Records,
    Section,
    show_text,
)
from forecasteval.display.results import Item, Results
from forecasteval.display.tables import (
    Column,
    Interval,
    Link,
    format_signature,
    make_table,
    show_interval,
    show_p,
)
from forecasteval.ranking.systems import question_key, read_scale

from .tables import POWER, pair_columns, system_table

_SHOWN: Final = 45  # pairs whose questions a page shows
_DRAWN: Final = 10  # pairs with a chart by level
Texts = Mapping[str, Mapping[str, Detail]]  # what the page of a run has of each question, by id
_Row = tuple[Item, Item, float]  # the items of A and B, and what the question adds to A − B
_TEXTS: Final = (
    ("truth", "Truth"),
    ("answer", "Answer"),
    ("id", "Id"),
)  # of an item without a page


def make_page(results: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any]) -> Page:
    """The page of `compare(results)`."""
    pairs, systems = comparison["pairs"], comparison["systems"]
    counts = (("Questions", comparison["n"]), ("Systems", len(systems)), ("Pairs", len(pairs)))
    figures = [(title, str(count), "") for title, count in counts]
    if len(pairs) == 1:
        remark = f"{show_interval(pairs[0]['interval'])}, p {show_p(pairs[0]['p'])}"
        figures.insert(0, ("A − B", f"{pairs[0]['difference']:+.4f}", remark))
    sections = [
        Section("Differences", [_difference_chart(comparison), system_table(comparison), POWER])
    ]
    by_name = {system["name"]: result for system, result in zip(systems, results, strict=True)}
    texts = {
        name: _read_texts(result, (len(systems) - 1) * len(systems))
        for name, result in by_name.items()
    }
    weights, most = _question_weights(comparison), MOST // min(len(pairs), _SHOWN)
    for number, pair in enumerate(pairs[:_SHOWN], 1):
        rows = _differing([by_name[pair[side]]["items"] for side in "ab"], weights)
        records = _list_questions(number, {**pair, "n": comparison["n"]}, rows, texts, most)
        sections.append(Section(_pair_name(pair, 80), [records]))
    if len(pairs) > _SHOWN:
        sections.append(
            Section("Not shown", [f"The questions of {len(pairs) - _SHOWN} more pairs."])
        )
    if any(comparison["level_counts"]) and len(pairs) <= _DRAWN:
        charts: list[Block] = [_level_chart(pair, number) for number, pair in enumerate(pairs, 1)]
        sections.append(Section("By level", charts))
    names = " and ".join(printable(system["name"], 80) for system in systems)
    title = (
        f"Comparison of {names}" if len(systems) == 2 else f"Comparison of {len(systems)} systems"
    )
    benchmark, against = (
        systems[0]["benchmark"],
        printable(comparison["dataset"] or "without a dataset", 120),
    )
    signature = format_signature({"evaluator": benchmark, **comparison["signature"]})
    return Page(
        title, f"{benchmark}, {comparison['n']} questions, {against}", figures, sections, signature
    )


# --- Differences ---


def _pair_name(pair: Mapping[str, object], limit: int = 18) -> str:
    """Both names; of a long one the end, as all of them may begin with the dataset."""
    names = (printable(pair[side]) for side in "ab")
    return " − ".join(name if len(name) <= limit else f"…{name[1 - limit :]}" for name in names)


def _draw_difference(row: Mapping[str, Any]) -> Interval:
    interval = row["interval"]
    return Interval(
        row["difference"], interval, 0.0, int(interval is None or interval[0] <= 0 <= interval[1])
    )


_DIFFERENCE: Final = Column("Difference", lambda row: f"{row['difference']:+.4f}", "number")
_DRAWN_DIFFERENCE: Final = Column("A − B", _draw_difference, "mark")


def _difference_chart(comparison: Mapping[str, Any]) -> Chart:
    others = pair_columns(comparison["level_counts"])[3:]
    columns = [Column("Pair", _pair_name), _DIFFERENCE, _DRAWN_DIFFERENCE, *others]
    side = "right" if read_scale(comparison).higher_is_better else "left"
    description = (
        f"The weighted score of A minus that of B on the same questions, with its 95% interval; {side} of the line A "
        "is better. Rings: the interval includes 0."
    )
    table = make_table(columns, comparison["pairs"][:MOST])
    return Chart("differences", "Difference of the scores", description, table)


_LEVEL: Final = (
    Column("Level", lambda row: f"Level {row['level']}"),
    _DIFFERENCE,
    _DRAWN_DIFFERENCE,
    Column("95% interval", lambda row: show_interval(row["interval"]), "number"),
    Column("A wins", lambda row: str(row["wins"]), "number"),
    Column("Ties", lambda row: str(row["ties"]), "number"),
    Column("A loses", lambda row: str(row["losses"]), "number"),
)


def _level_chart(pair: Mapping[str, Any], number: int) -> Chart:
    rows = [
        {"level": level, **pair["levels"][level], **difference}
        for level, difference in pair["level_differences"].items()
    ]
    description = "The mean difference in each level with its 95% interval, and the questions that A wins, ties and loses."
    name = "levels" if number == 1 else f"levels{number}"
    return Chart(name, _pair_name(pair), description, make_table(_LEVEL, rows))


# --- Questions ---

# A column stands where items have its key: probabilities have no answer in words.
_COLUMNS: Final = (
    ("level", Column("Level", lambda row: str(row[0]["level"]), "choice")),
    ("score", Column("Adds", lambda row: f"{row[2]:+.4f}", "number", "high")),
    ("score", Column("A’s score", lambda row: row[0]["score"], "number", "high")),
    ("score", Column("B’s score", lambda row: row[1]["score"], "number", "high")),
    (
        "score",
        Column("Higher", lambda row: "A" if row[0]["score"] > row[1]["score"] else "B", "filter"),
    ),
    ("prompt", Column("Question", lambda row: show_text(row[0]["prompt"], 200), "long")),
    ("read", Column("A read", lambda row: pages.show_read(row[0]))),
    ("read", Column("B read", lambda row: pages.show_read(row[1]))),
)


def _list_questions(
    number: int,
    pair: Mapping[str, object],
    rows: Sequence[_Row],
    texts: Mapping[str, Texts],
    most: int,
) -> Records:
    """The questions on which two scores differ; each opens to its texts."""
    shown = [(*row, _list_texts(pair, row, texts)) for row in rows[:most]]
    keys = {
        key for row in rows for item in row[:2] for key, value in item.items() if value is not None
    }
    longest = sorted((row[-1] for row in shown), key=len, reverse=True)
    labels = dict.fromkeys(chain.from_iterable(longest))
    columns = [column for key, column in _COLUMNS if key in keys]
    columns += [Column(label, partial(_find_text, label), "inside") for label in labels]
    first = f" The first {most}." if most < len(rows) else ""
    note = (
        f"They differ on {len(rows)} of {pair['n']} questions, what adds most to A − B first.{first} "
        "Adds: the weight of a question in the overall score times the difference of its scores."
    )
    ids, prefix = [row[0]["id"] for row in shown], "q" if number == 1 else f"pair{number}"
    return pages.make_records(
        f"pair{number}", f"Questions, {_pair_name(pair)}", columns, shown, ids, note, prefix=prefix
    )


def _differing(sides: Iterable[Iterable[Item]], weights: Mapping[object, float]) -> list[_Row]:
    """The questions on which two scores differ, first those that add most to the difference of the
    systems.
    """
    both = zip(*(sorted(items, key=question_key) for items in sides), strict=True)
    rows = [
        (a, b, weights["" if "" in weights else a["level"]] * (a["score"] - b["score"]))
        for a, b in both
        if a["score"] != b["score"]
    ]
    return sorted(rows, key=lambda row: (-abs(row[2]), str(row[0]["id"])))


def _question_weights(comparison: Mapping[str, Any]) -> dict[object, float]:
    """The weight of one question of each level in the overall score."""
    signature, counts = comparison["signature"], comparison["level_counts"]
    weights = signature.get("weights", {"": 1.0})
    total = sum(
        weight
        for level, weight in weights.items()
        if level in counts or signature.get("fixed_weights")
    )
    return {level: weights[level] / total / count for level, count in counts.items()}


def _list_texts(
    pair: Mapping[str, Any], row: _Row, texts: Mapping[str, Texts]
) -> dict[str, Detail]:
    """The texts that both runs' pages have of a question: once if they are the same, else side by
    side.
    """
    a, b = (
        texts[pair[side]].get(str(item["id"])) or _excerpt(item)
        for side, item in zip("ab", row[:2], strict=True)
    )
    titles = f"A: {printable(pair['a'], 60)}", f"B: {printable(pair['b'], 60)}"
    both = {label: (a.get(label, "–"), b.get(label, "–")) for label in {**a, **b}}
    return {
        label: parts[0] if parts[0] == parts[1] else Beside(titles, parts)
        for label, parts in both.items()
    }


def _find_text(label: str, row: tuple[Item, Item, float, Mapping[str, Detail]]) -> Detail:
    return row[3].get(label, "")


def _excerpt(item: Item) -> dict[str, Detail]:
    """The texts that the item contains."""
    return {label: show_text(item[key]) for key, label in _TEXTS if key in item}  # type: ignore[literal-required]


def _read_texts(results: Mapping[str, object], copies: int) -> Texts:
    """The texts of questions on the page of a run, by id; {} without a page, or if `copies` of them
    are too long.

    Ids that several questions have are left out. A link leads to a place on that page, and is left
    out, too.
    """
    if not isinstance(results, Results):
        return {}
    try:
        page = results.page()
    except InputError:  # its benchmark has none
        return {}
    if isinstance(page, html.Page):
        found = page.texts()
        size = sum(len(str(text)) for texts in found.values() for text in texts.values())
        return {} if copies * size > BYTES // 2 else {name: dict(found[name]) for name in found}
    inside = [
        {label: content for label, content in record.details if not isinstance(content, Link)}
        for block in page.blocks(Records)
        for record in block.rows
    ]
    if (
        copies * sum(len(str(content)) for details in inside for content in details.values())
        > BYTES // 2
    ):
        return {}
    counts = Counter(str(details.get("Id")) for details in inside)
    return {
        str(details["Id"]): details
        for details in inside
        if counts[str(details.get("Id"))] == 1 and "Id" in details
    }
