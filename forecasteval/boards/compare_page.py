"""The page of a comparison: differences with their intervals, and the questions on which two systems differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.charts import Chart, Interval, insert_column
from forecasteval.common.errors import printable
from forecasteval.common.pages import MOST, Block, Column, Page, Record, Records, Section, show_text
from forecasteval.common.report import Table, format_signature, show_interval, show_number
from forecasteval.common.results import Item

from .report import comparison_report
from .systems import question_key

_SHOWN: Final = 45  # pairs whose questions a page shows
_DRAWN: Final = 10  # pairs with a chart by level


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
    blocks: list[Block] = [_difference_chart(pairs), report[2], report[4], str(report[6])]
    sections = [Section("Differences", blocks)]
    levels = [level for level in comparison["level_counts"] if level]
    if levels and len(pairs) <= _DRAWN:
        charts: list[Block] = [_level_chart(pair, levels, number) for number, pair in enumerate(pairs, 1)]
        sections.append(Section("By level", charts))
    items = [sorted(result["items"], key=question_key) for result in results]
    by_name = {system["name"]: rows for system, rows in zip(systems, items, strict=True)}
    most = MOST // min(len(pairs), _SHOWN)
    for number, pair in enumerate(pairs[:_SHOWN], 1):
        title = f"{printable(pair['a'], 80)} − {printable(pair['b'], 80)}"
        sections.append(Section(title, [_records(number, pair, by_name[pair["a"]], by_name[pair["b"]], most)]))
    if len(pairs) > _SHOWN:
        sections.append(Section("Not shown", [f"The questions of {len(pairs) - _SHOWN} more pairs."]))
    names = " and ".join(printable(system["name"], 80) for system in systems[:2])
    title = f"Comparison of {names}" if len(systems) == 2 else f"Comparison of {len(systems)} systems"
    lead = f"{systems[0]['benchmark']}, {comparison['n']} questions, {against}"
    signature = comparison["signature"]
    shown = {"evaluator": systems[0]["benchmark"], **signature}
    return Page(title, lead, figures, sections, format_signature(shown))


def _difference_chart(pairs: Sequence[Mapping[str, Any]]) -> Chart:
    rows: list[Any] = [
        [printable(_pair_name(pair), 120), f"{pair['difference']:+.4f}", show_interval(pair["interval"]),
         show_number(pair["p"]), show_number(pair["p_holm"])]
        for pair in pairs[:MOST]
    ]  # fmt: skip
    description = (
        "The weighted score of A minus that of B on the same questions, with its 95% interval; right of the line A is "
        "better. Rings: the interval holds 0."
    )
    table = Table(["A − B", "Difference", "95% interval", "p", "p (Holm)"], rows, "<>>>>")
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
    table = Table(["Level", "Difference", "95% interval", "A wins", "Ties", "A loses"], rows, "<>>>>>")
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
    ("level", Column("Level", "choice"), lambda a, b: str(a["level"])),
    ("score", Column("Better", "choice"), lambda a, b: "A" if a["score"] > b["score"] else "B"),
    ("score", Column("A’s score", "number", "high"), lambda a, b: show_number(a["score"])),
    ("score", Column("B’s score", "number", "high"), lambda a, b: show_number(b["score"])),
    ("prompt", Column("Question", "long"), lambda a, b: show_text(a["prompt"], 200)),
    ("read", Column("A read"), lambda a, b: _show_read(a)),
    ("read", Column("B read"), lambda a, b: _show_read(b)),
    ("id", Column("Id"), lambda a, b: show_text(a["id"], 60)),
)
_DETAILS: Final[Sequence[tuple[str, str, Callable[[Item, Item], str]]]] = (
    ("truth", "Truth", lambda a, b: show_text(a["truth"])),
    ("answer", "A’s answer", lambda a, b: show_text(a["answer"])),
    ("answer", "B’s answer", lambda a, b: show_text(b["answer"])),
)


def _records(number: int, pair: Mapping[str, Any], a: Sequence[Item], b: Sequence[Item], most: int) -> Records:
    """The questions on which both scores differ, the largest difference first."""
    differing = [(x, y) for x, y in zip(a, b, strict=True) if x["score"] != y["score"]]
    differing.sort(key=lambda both: (-abs(both[0]["score"] - both[1]["score"]), str(both[0]["id"])))
    keys = {key for item in (*a, *b) for key, value in item.items() if value is not None}
    columns = [column for column in _COLUMNS if column[0] in keys]
    details = [detail for detail in _DETAILS if detail[0] in keys]
    rows = [
        Record("", [cell(x, y) for _, _, cell in columns], [(title, text(x, y)) for _, title, text in details])
        for x, y in differing[:most]
    ]
    note = f"They differ on {len(differing)} of {len(a)} questions."
    if len(rows) < len(differing):
        note += f" The {len(rows)} with the largest differences."
    return Records(f"pair{number}", f"Questions, {_pair_name(pair)}", [column for _, column, _ in columns], rows, note)


def _show_read(item: Item) -> str:
    if item["outcome"] != "scored":
        return f"({item['outcome']})"
    return show_text(item["read"], 120)
