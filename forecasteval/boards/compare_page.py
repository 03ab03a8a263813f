"""The page of a comparison: differences with their intervals, and the questions on which two systems differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.charts import Chart
from forecasteval.common.errors import InputError, printable
from forecasteval.common.pages import (
    BYTES,
    MOST,
    Beside,
    Block,
    Detail,
    Page,
    Record,
    Records,
    Section,
    make_keys,
    show_text,
)
from forecasteval.common.report import (
    Column,
    Interval,
    Link,
    format_signature,
    make_cells,
    make_table,
    show_interval,
    show_number,
    show_p,
)
from forecasteval.common.results import Item, Results

from .systems import question_key, read_scale
from .tables import DETECTABLE, POWER, pair_columns, system_table

_SHOWN: Final = 45  # pairs whose questions a page shows
_DRAWN: Final = 10  # pairs with a chart by level


class _Side(NamedTuple):
    """A system of a pair: its items in the order that all systems share, and what its run's page has of each."""

    name: str
    items: Sequence[Item]
    details: Mapping[str, Mapping[str, Detail]]


def make_page(results: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any]) -> Page:
    """The page of `compare(results)`."""
    pairs, systems = comparison["pairs"], comparison["systems"]
    figures = [
        (title, str(count), "")
        for title, count in (("Questions", comparison["n"]), ("Systems", len(systems)), ("Pairs", len(pairs)))
    ]
    if len(pairs) == 1:
        remark = f"{show_interval(pairs[0]['interval'])}, p {show_p(pairs[0]['p'])}"
        figures.insert(0, ("A − B", f"{pairs[0]['difference']:+.4f}", remark))
    sections = [Section("Differences", [_difference_chart(comparison), system_table(comparison), POWER])]
    copies, weights = (len(systems) - 1) * len(systems), _question_weights(comparison)
    sides = {}
    for system, result in zip(systems, results, strict=True):
        items = sorted(result["items"], key=question_key)
        sides[system["name"]] = _Side(system["name"], items, _read_details(result, copies))
    most = MOST // min(len(pairs), _SHOWN)
    for number, pair in enumerate(pairs[:_SHOWN], 1):
        records = _records(number, sides[pair["a"]], sides[pair["b"]], weights, most)
        sections.append(Section(_pair_name(pair, 80), [records]))
    if len(pairs) > _SHOWN:
        sections.append(Section("Not shown", [f"The questions of {len(pairs) - _SHOWN} more pairs."]))
    if any(comparison["level_counts"]) and len(pairs) <= _DRAWN:
        charts: list[Block] = [_level_chart(pair, number) for number, pair in enumerate(pairs, 1)]
        sections.append(Section("By level", charts))
    names = " and ".join(printable(system["name"], 80) for system in systems)
    title = f"Comparison of {names}" if len(systems) == 2 else f"Comparison of {len(systems)} systems"
    benchmark, against = systems[0]["benchmark"], printable(comparison["dataset"] or "without a dataset", 120)
    signature = format_signature({"evaluator": benchmark, **comparison["signature"]})
    return Page(title, f"{benchmark}, {comparison['n']} questions, {against}", figures, sections, signature)


# --- Differences ---


def _pair_name(pair: Mapping[str, Any], limit: int = 18) -> str:
    """Both names; of a long one the end, as all of them may begin with the dataset."""
    names = (printable(pair[side]) for side in "ab")
    return " − ".join(name if len(name) <= limit else f"…{name[1 - limit :]}" for name in names)


def _draw_difference(row: Mapping[str, Any]) -> Interval:
    interval = row["interval"]
    return Interval(row["difference"], interval, 0.0, int(interval is None or interval[0] <= 0 <= interval[1]))


_DIFFERENCE: Final = Column("Difference", lambda row: f"{row['difference']:+.4f}", "number")
_DRAWN_DIFFERENCE: Final = Column("A − B", _draw_difference, "mark")


def _difference_chart(comparison: Mapping[str, Any]) -> Chart:
    others = pair_columns(comparison["level_counts"], DETECTABLE)[3:]
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
    description = (
        "The mean difference in each level with its 95% interval, and the questions that A wins, ties and loses."
    )
    name = "levels" if number == 1 else f"levels{number}"
    return Chart(name, _pair_name(pair), description, make_table(_LEVEL, rows))


# --- Questions ---

# A row is the items of A and B. A column stands where items have its key: probabilities have no answer in words.
_COLUMNS: Final = (
    ("level", Column("Level", lambda row: str(row[0]["level"]), "choice")),
    ("score", Column("Higher", lambda row: "A" if row[0]["score"] > row[1]["score"] else "B", "choice")),
    ("score", Column("A’s score", lambda row: show_number(row[0]["score"]), "number", "high")),
    ("score", Column("B’s score", lambda row: show_number(row[1]["score"]), "number", "high")),
    ("prompt", Column("Question", lambda row: show_text(row[0]["prompt"], 200), "long")),
    ("read", Column("A read", lambda row: _show_read(row[0]))),
    ("read", Column("B read", lambda row: _show_read(row[1]))),
    ("id", Column("Id", lambda row: show_text(row[0]["id"], 60))),
)


def _show_read(item: Item) -> str:
    return show_text(item["read"], 120) if item["outcome"] == "scored" else f"({item['outcome']})"


def _records(number: int, a: _Side, b: _Side, weights: Mapping[str, float], most: int) -> Records:
    """The questions on which both scores differ, first those that add most to the difference of the systems."""
    differing = [(x, y) for x, y in zip(a.items, b.items, strict=True) if x["score"] != y["score"]]
    differing.sort(key=lambda row: (-abs(_adds(row[0], row[1], weights)), str(row[0]["id"])))
    keys = {key for item in (*a.items, *b.items) for key, value in item.items() if value is not None}
    columns = [column for key, column in _COLUMNS if key in keys]
    addresses = make_keys((x["id"] for x, _ in differing[:most]), "q" if number == 1 else f"pair{number}")
    rows = [
        Record(key, make_cells(columns, row), _details(*row, a, b))
        for key, row in zip(addresses, differing, strict=False)
    ]
    note = f"They differ on {len(differing)} of {len(a.items)} questions, what adds most to A − B first."
    if len(rows) < len(differing):
        note += f" The first {len(rows)}."
    return Records(f"pair{number}", f"Questions, {_pair_name({'a': a.name, 'b': b.name})}", columns, rows, note)


def _question_weights(comparison: Mapping[str, Any]) -> dict[str, float]:
    """The weight of one question of each level in the overall score."""
    signature, counts = comparison["signature"], comparison["level_counts"]
    weights = {str(level): weight for level, weight in signature.get("weights", {"": 1.0}).items()}
    total = sum(weight for level, weight in weights.items() if level in counts or signature.get("fixed_weights"))
    return {level: weights[level] / total / count for level, count in counts.items()}


def _adds(a: Item, b: Item, weights: Mapping[str, float]) -> float:
    """The share of a question in the difference of two systems."""
    return weights["" if "" in weights else str(a["level"])] * (a["score"] - b["score"])


def _details(x: Item, y: Item, a: _Side, b: _Side) -> list[tuple[str, Detail]]:
    """The text of a question on both runs' pages: once if it is the same, otherwise side by side."""
    titles = (f"A: {printable(a.name, 60)}", f"B: {printable(b.name, 60)}")
    of_a, of_b = (side.details.get(str(item["id"])) or _excerpt(item) for side, item in ((a, x), (b, y)))
    both = {label: (of_a.get(label, "–"), of_b.get(label, "–")) for label in {**of_a, **of_b}}
    return [(label, parts[0] if parts[0] == parts[1] else Beside(titles, parts)) for label, parts in both.items()]


def _excerpt(item: Item) -> dict[str, Detail]:
    """The texts that the item contains."""
    return {label: show_text(item[key]) for key, label in (("truth", "Truth"), ("answer", "Answer")) if key in item}  # type: ignore[literal-required]


def _read_details(results: Mapping[str, Any], copies: int) -> dict[str, dict[str, Detail]]:
    """The texts of questions on the page of a run, by id; {} without a page, or if `copies` of them are too long.

    Ids that several questions have are left out. A link leads to a place on that page, and is left out, too.
    """
    if not isinstance(results, Results):
        return {}
    try:
        page = results.page()
    except InputError:  # its benchmark has none
        return {}
    inside = [
        {label: content for label, content in record.details if not isinstance(content, Link)}
        for block in page.blocks(Records)
        for record in block.rows
    ]
    if copies * sum(len(str(content)) for details in inside for content in details.values()) > BYTES // 2:
        return {}
    counts = Counter(str(details.get("Id")) for details in inside)
    return {
        str(details["Id"]): details for details in inside if counts[str(details.get("Id"))] == 1 and "Id" in details
    }
