"""The page of a comparison: differences with their intervals, and the questions on which two systems differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from forecasteval.common.charts import Chart, insert_column
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
    Marked,
    format_signature,
    plain_table,
    show_interval,
    show_number,
)
from forecasteval.common.results import Item, Results

from .report import comparison_report
from .systems import Scale, question_key, read_scale

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
    against = printable(comparison["dataset"] or "their own questions", 120)
    one = pairs[0]
    figures = [
        ("Questions", str(comparison["n"]), ""), ("Systems", str(len(systems)), ""), ("Pairs", str(len(pairs)), ""),
    ]  # fmt: skip
    if len(pairs) == 1:
        told = f"{show_interval(one['interval'])}, p {show_number(one['p'])}"
        figures.insert(0, ("A − B", f"{one['difference']:+.4f}", told))
    report = comparison_report(comparison)
    blocks: list[Block] = [_difference_chart(pairs, read_scale(comparison)), report[2], report[4], str(report[6])]
    sections = [Section("Differences", blocks)]
    copies, weights = len(systems) - 1, _question_weights(comparison)
    sides = {
        system["name"]: _Side(
            system["name"], sorted(result["items"], key=question_key), _read_details(result, copies * len(systems))
        )
        for system, result in zip(systems, results, strict=True)
    }
    most = MOST // min(len(pairs), _SHOWN)
    for number, pair in enumerate(pairs[:_SHOWN], 1):
        title = f"{printable(pair['a'], 80)} − {printable(pair['b'], 80)}"
        sections.append(Section(title, [_records(number, pair, (sides[pair["a"]], sides[pair["b"]]), weights, most)]))
    if len(pairs) > _SHOWN:
        sections.append(Section("Not shown", [f"The questions of {len(pairs) - _SHOWN} more pairs."]))
    levels = [level for level in comparison["level_counts"] if level]
    if levels and len(pairs) <= _DRAWN:
        charts: list[Block] = [_level_chart(pair, levels, number) for number, pair in enumerate(pairs, 1)]
        sections.append(Section("By level", charts))
    names = " and ".join(printable(system["name"], 80) for system in systems[:2])
    title = f"Comparison of {names}" if len(systems) == 2 else f"Comparison of {len(systems)} systems"
    lead = f"{systems[0]['benchmark']}, {comparison['n']} questions, {against}"
    signature = comparison["signature"]
    shown = {"evaluator": systems[0]["benchmark"], **signature}
    return Page(title, lead, figures, sections, format_signature(shown))


def _difference_chart(pairs: Sequence[Mapping[str, Any]], scale: Scale) -> Chart:
    rows: list[Any] = [
        [printable(_pair_name(pair), 120), f"{pair['difference']:+.4f}", show_interval(pair["interval"]),
         show_number(pair["p"]), show_number(pair["p_holm"])]
        for pair in pairs[:MOST]
    ]  # fmt: skip
    side = "right" if scale.higher_is_better else "left"
    description = (
        f"The weighted score of A minus that of B on the same questions, with its 95% interval; {side} of the line A "
        "is better. Rings: the interval holds 0."
    )
    table = plain_table(["A − B", "Difference", "95% interval", "p", "p (Holm)"], rows, "<>>>>")
    marks = [_difference(pair) for pair in pairs[:MOST]]
    return Chart(
        "differences", "Difference of the scores", description, insert_column(table, "95% interval", "A − B", marks)
    )


def _difference(found: Mapping[str, Any]) -> Interval:
    interval = found["interval"]
    return Interval(found["difference"], interval, 0.0, int(interval is None or interval[0] <= 0 <= interval[1]))


def _level_chart(pair: Mapping[str, Any], levels: Sequence[str], number: int) -> Chart:
    found = [{**pair["levels"][level], **pair["level_differences"][level]} for level in levels]
    rows: list[Any] = [
        [f"Level {level}", f"{one['difference']:+.4f}", show_interval(one["interval"]),
         *(str(one[key]) for key in ("wins", "ties", "losses"))]
        for level, one in zip(levels, found, strict=True)
    ]  # fmt: skip
    table = plain_table(["Level", "Difference", "95% interval", "A wins", "Ties", "A loses"], rows, "<>>>>>")
    return Chart(
        "levels" if number == 1 else f"levels{number}", _pair_name(pair),
        "The mean difference in each level with its 95% interval, and the questions that A wins, ties and loses.",
        insert_column(table, "95% interval", "A − B", list(map(_difference, found))),
    )  # fmt: skip


def _pair_name(pair: Mapping[str, Any]) -> str:
    """Both names, each cut so that there is room for the other."""
    return f"{printable(pair['a'], 18)} − {printable(pair['b'], 18)}"


# --- Questions ---

# A column stands where items have its key: forecasts of probabilities have neither an answer in words nor a truth.
_COLUMNS: Final[Sequence[tuple[str, Column, Callable[[Item, Item], str]]]] = (
    ("level", Column("Level", str, "choice"), lambda a, b: str(a["level"])),
    ("score", Column("Higher", str, "choice"), lambda a, b: "A" if a["score"] > b["score"] else "B"),
    ("score", Column("A’s score", str, "number", "high"), lambda a, b: show_number(a["score"])),
    ("score", Column("B’s score", str, "number", "high"), lambda a, b: show_number(b["score"])),
    ("prompt", Column("Question", str, "long"), lambda a, b: show_text(a["prompt"], 200)),
    ("read", Column("A read", str), lambda a, b: _show_read(a)),
    ("read", Column("B read", str), lambda a, b: _show_read(b)),
    ("id", Column("Id", str), lambda a, b: show_text(a["id"], 60)),
)


def _records(
    number: int, pair: Mapping[str, Any], sides: tuple[_Side, _Side], weights: Mapping[str, float], most: int
) -> Records:
    """The questions on which both scores differ, first those that add most to the difference of the systems."""
    a, b = sides
    differing = [(x, y) for x, y in zip(a.items, b.items, strict=True) if x["score"] != y["score"]]
    differing.sort(key=lambda both: (-abs(_adds(both[0], both[1], weights)), str(both[0]["id"])))
    keys = {key for item in (*a.items, *b.items) for key, value in item.items() if value is not None}
    columns = [column for column in _COLUMNS if column[0] in keys]
    addresses = make_keys((x["id"] for x, _ in differing[:most]), "q" if number == 1 else f"pair{number}")
    rows = [
        Record(key, [cell(x, y) for _, _, cell in columns], _details(x, y, sides))
        for key, (x, y) in zip(addresses, differing, strict=False)
    ]
    note = f"They differ on {len(differing)} of {len(a.items)} questions, what adds most to A − B first."
    if len(rows) < len(differing):
        note += f" The first {len(rows)}."
    return Records(f"pair{number}", f"Questions, {_pair_name(pair)}", [column for _, column, _ in columns], rows, note)


def _question_weights(comparison: Mapping[str, Any]) -> dict[str, float]:
    """What one question of each level is worth in the overall score."""
    signature, counts = comparison["signature"], comparison["level_counts"]
    weights = {str(level): weight for level, weight in signature.get("weights", {"": 1.0}).items()}
    total = sum(weight for level, weight in weights.items() if level in counts or signature.get("fixed_weights"))
    return {level: weights[level] / total / count for level, count in counts.items()}


def _adds(a: Item, b: Item, weights: Mapping[str, float]) -> float:
    """What a question adds to the difference of two systems."""
    return weights["" if "" in weights else str(a["level"])] * (a["score"] - b["score"])


def _details(a: Item, b: Item, sides: tuple[_Side, _Side]) -> list[tuple[str, Detail]]:
    """What both runs' pages have of a question: once if it is the same, or else side by side."""
    titles = (f"A: {printable(sides[0].name, 60)}", f"B: {printable(sides[1].name, 60)}")
    inside_a, inside_b = (
        side.details.get(str(item["id"])) or _excerpt(item) for side, item in zip(sides, (a, b), strict=True)
    )
    details: list[tuple[str, Detail]] = []
    for label in {**inside_a, **inside_b}:
        x, y = inside_a.get(label, "–"), inside_b.get(label, "–")
        if x == y:
            details.append((label, x))
        elif isinstance(x, (str, Marked)) and isinstance(y, (str, Marked)):
            details.append((label, Beside(titles, (x, y))))
        else:
            details += [(f"{label}, {name}", content) for name, content in zip("AB", (x, y), strict=True)]
    return details


def _excerpt(item: Item) -> dict[str, Detail]:
    """What an item holds itself."""
    return {label: show_text(item[key]) for key, label in (("truth", "Truth"), ("answer", "Answer")) if key in item}  # type: ignore[literal-required]


def _read_details(results: Mapping[str, Any], copies: int) -> dict[str, dict[str, Detail]]:
    """What the page of a run has of its questions, by id; {} without one, or if `copies` of it are too long.

    Ids that several questions have are left out. A link leads to a place on that page, and is left out, too.
    """
    if not isinstance(results, Results):
        return {}
    try:
        page = results.page()
    except InputError:  # its benchmark has none
        return {}
    records = [record for block in page.blocks(Records) for record in block.rows]
    inside = [
        {label: content for label, content in record.details if not isinstance(content, Link)} for record in records
    ]
    if copies * sum(len(str(content)) for details in inside for content in details.values()) > BYTES // 2:
        return {}
    often = Counter(str(details.get("Id")) for details in inside)
    return {str(details["Id"]): details for details in inside if often[str(details.get("Id"))] == 1 and "Id" in details}


def _show_read(item: Item) -> str:
    if item["outcome"] != "scored":
        return f"({item['outcome']})"
    return show_text(item["read"], 120)
