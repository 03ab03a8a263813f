"""Tables of a leaderboard as rows that open, to the weeks and runs of a system; and what systems cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.charts import Axis, Chart, Line, Panel, number_axis
from forecasteval.common.errors import printable
from forecasteval.common.pages import MOST, Record, Records, make_keys
from forecasteval.common.records import number_text
from forecasteval.common.report import (
    Cell,
    Column,
    Interval,
    Link,
    Links,
    Table,
    plain_table,
    show_interval,
    show_number,
)

from .about import about_columns, shown_names
from .names import system_of_row
from .report import show_notes
from .store import BOARD
from .systems import ALPHA

Row = Mapping[str, Any]
Names = Mapping[str, str]
_DECADES: Final = 30  # from this ratio of the highest to the lowest cost on, the axis is logarithmic


def name_systems(board: Mapping[str, Any]) -> dict[str, str]:
    """What every system is called on all of a board: by its `systems.json` name, or that of its files."""
    rows: dict[str, Row] = {}
    for table in (*board["tables"], *board.get("pooled", ())):
        for row in table["rows"]:
            name = system_of_row(table, row)
            rows[name] = {"name": name, "about": row.get("about", {})}
    return dict(zip(rows, shown_names(list(rows.values())), strict=True))


# --- Who is ahead ---


def mark_value(row: Row) -> float | None:
    value: float | None = row["overall_score"] if "overall_score" in row else row["score"]
    return value


def mark_interval(row: Row) -> Sequence[float] | None:
    interval: Sequence[float] | None = row["overall_interval"] if "overall_score" in row else row["interval"]
    return interval


def is_tied(row: Row) -> bool | None:
    """Whether a row cannot be told from the leader; None if nothing says so."""
    if "tied_with_best" in row:
        return bool(row["tied_with_best"])
    if row.get("rank_interval"):
        return bool(row["rank_interval"][0] <= 1)
    if "p_leader" not in row:
        return None
    return row["rank"] == 1 or (row["p_leader"] is not None and row["p_leader"] >= ALPHA)


def describe_marks(rows: Sequence[Row]) -> str:
    """What the dots and lines of a table mean."""
    tied = [is_tied(row) for row in rows]
    if not rows:
        return "Dots are scores, lines their 95% intervals."
    if any(same is None for same in tied):
        return (
            "Dots are scores, lines their 95% intervals. Intervals of forecasters of the same events hang together: "
            "they may overlap where a difference is sure."
        )
    by_ranks = not any("p_leader" in row for row in rows)
    test = "rank interval holds 1" if by_ranks else f"difference to it is not significant (p ≥ {ALPHA}, Holm)"
    return (
        "Dots are scores, lines their 95% intervals. Full dots: the leader, and the systems whose "
        f"{test}: {sum(map(bool, tied)) - 1} of {len(rows) - 1}. Rings: the systems behind it."
    )


# --- Rows that open ---


class _Field(NamedTuple):
    """What a row has under `key`: a cell if the table shows that as a column, or else a line inside."""

    key: str
    column: Column
    cell: Callable[[Row], str]


def _number(key: str, title: str, best: str = "high") -> _Field:
    return _Field(key, Column(title, str, "number", best), lambda row: show_number(row[key]))


def _count(key: str, title: str, best: str = "high") -> _Field:
    return _Field(key, Column(title, str, "number", best), lambda row: str(row[key]))


def _show_rank(row: Row) -> str:
    bounds = row.get("rank_interval")
    return f"{row['rank']}" + (f" ({bounds[0]}–{bounds[1]})" if bounds else "")


def _show_behind(row: Row) -> str:
    low, high = row["behind_interval"] or (None, None)
    return f"{show_number(row['behind'], 3)}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]")


_FIELDS: Final = (
    _Field("rank", Column("Rank", str, "number", "low"), _show_rank),
    _number("overall_score", "Overall"),
    _number("score", "Score", "low"),
    _Field("behind", Column("Behind the leader", str, "text", "low"), _show_behind),
    _number("p_leader", "p (Holm)"),
    _count("datasets", "Datasets"),
    _count("missing", "Missing", "low"),
    _count("unparsed", "Unparsed", "low"),
    _count("n", "n"),
    _count("n_runs", "Runs"),
    _number("p_best", "P(best)"),
    _number("own_score", "Own questions"),
    _Field("overall_interval", Column("95% interval", str), lambda row: show_interval(row["overall_interval"])),
    _Field("interval", Column("95% interval", str), lambda row: show_interval(row["interval"])),
    _number("p_above", "p above"),
    _number("run_deviation", "Run SD"),
)
_COLUMNS: Final = {  # of tables over all datasets, of one, and of the forecasters in a file
    "pooled": ("rank", "overall_score", "behind", "p_leader", "datasets"),
    "week": ("rank", "overall_score", "p_leader", "missing", "unparsed"),
    "forecasters": ("rank", "score", "n"),
}


def list_standings(
    table: Row, name: str, title: str, names: Names, linked: Collection[str], weeks: Sequence[Row]
) -> Records:
    """The rows of a table, each open to what else is known of it; `weeks` are the tables that it is made of."""
    rows = table["rows"][:MOST]
    kind = "pooled" if "datasets" in table else "forecasters" if "n_events" in table else "week"
    fields = [field for field in _FIELDS if any(row.get(field.key) is not None for row in rows)]
    chosen = [field for field in fields if field.key in _COLUMNS[kind]]
    levels = [level for level in table.get("level_counts", ()) if level and "level_scores" in rows[0]]
    about = about_columns(rows)
    called = "Forecaster" if kind == "forecasters" else "System"
    columns = [
        chosen[0].column, Column(called, str),
        Column("95% interval", str, "mark", "low" if kind == "forecasters" else "high"),
        *(Column(f"Level {level}", str, "number", "high") for level in levels),
        *(replace(field.column, title=_metric(rows)) if field.key == "score" else field.column for field in chosen[1:]),
        *(Column(title, str, "number", "low") if side == ">" else
          Column(title, str, "choice" if not place else "filter")
          for place, (title, _, side) in enumerate(about)),
    ]  # fmt: skip
    systems = [system_of_row(table, row) for row in rows]
    keys = make_keys(systems, name) if kind == "pooled" else [""] * len(rows)
    files = _rows_by_system(weeks, table)
    records = []
    for place, (row, system, key) in enumerate(zip(rows, systems, keys, strict=True)):
        told = [(title, cells[place]) for title, cells, _ in about]
        mark = Interval(mark_value(row), mark_interval(row), None, int(is_tied(row) is False))
        first, *others = [_show(field, row) for field in chosen]
        scores = [show_number(row["level_scores"].get(level)) for level in levels]
        cells: list[Cell] = [
            first,
            names.get(system, printable(system, 60)),
            mark,
            *scores,
            *others,
            *(text for _, text in told),
        ]
        details: list[tuple[str, Cell | Table]] = []
        if files.get(system):
            details.append(("Weeks", _week_table(files[system], linked)))
        elif "prediction" in row:
            details.append(("Pages", _runs(row, linked)))
        inside = [(field.column.title, _show(field, row)) for field in fields if field not in chosen]
        facts = [
            *inside,
            *((title, text) for title, text in told if text),
            ("Notes", show_notes(row) if "degraded" in row else ""),
        ]
        details.append(("More", " · ".join(f"{title}: {text}" for title, text in facts if text not in ("", "–"))))
        records.append(
            Record(key, cells, [(label, content) for label, content in details if content not in ("", Links([]))])
        )
    ranked = [row for row in table["rows"] if not row.get("provisional")]
    lower = f" {_metric(rows)}: lower is better." if kind == "forecasters" else ""
    note = f"{describe_marks(ranked)}{lower} A row opens. Filters hide rows; ranks and tests stay those of all."
    if len(table["rows"]) > MOST:
        note += f" The first {MOST} of {len(table['rows'])}; all of them are in {BOARD}.csv."
    return Records(name, title, columns, records, note)


def _metric(rows: Sequence[Row]) -> str:
    """What the forecasters of a table are ranked by."""
    return str(rows[0].get("metric", "brier")).replace("_", " ").title()


def _show(field: _Field, row: Row) -> str:
    return "–" if row.get(field.key) is None else field.cell(row)


def _rows_by_system(weeks: Sequence[Row], season: Row) -> dict[str, list[tuple[Row, Row]]]:
    """For every system its (table, row) in the datasets of a season, the newest first."""
    checksums = {dataset.get("questions_sha256") for dataset in season.get("datasets", ())} if weeks else set()
    found: dict[str, list[tuple[Row, Row]]] = {}
    for table in sorted(weeks, key=lambda table: str(table["dataset"]), reverse=True):
        if table["benchmark"] == season["benchmark"] and table["signature"].get("questions_sha256") in checksums:
            for row in table["rows"]:
                found.setdefault(system_of_row(table, row), []).append((table, row))
    return found


def shown_dataset(table: Row) -> str:
    """The dataset of a table without its suffix."""
    dataset = printable(table["dataset"] or "one file", 60)
    return dataset.removesuffix(".json").removesuffix(".jsonl").removesuffix(".csv")


def _week_table(weeks: Sequence[tuple[Row, Row]], linked: Collection[str]) -> Table:
    rows: list[Any] = [
        [shown_dataset(table), str(row["rank"] or "–"), show_number(row["overall_score"]),
         str(row["missing"]), str(row["unparsed"]), _runs(row, linked)]
        for table, row in weeks
    ]  # fmt: skip
    return plain_table(["Dataset", "Rank", "Score", "Missing", "Unparsed", "Runs"], rows, "<>>>><")


def _runs(row: Row, linked: Collection[str]) -> Links:
    """The pages of a row's runs, and the score of each if there are several."""
    if "runs" not in row:
        return Links([Link("page", f"{row['name']}.html")] if row["name"] in linked else [])
    return Links(
        [
            Link(
                f"{printable(run['run'] or '1', 20)}: {show_number(run['score'], 3)}",
                f"{run['name']}.html" if run["name"] in linked else "",
            )
            for run in row["runs"]
        ]
    )


# --- Cost ---


def draw_costs(tables: Sequence[Row], names: Names) -> list[Chart]:
    """A chart of cost against score for each table with two systems or more whose costs are known."""
    charts = []
    for number, table in enumerate(tables, 1):
        rows = [row for row in table["rows"] if "n_events" not in table and mark_value(row) is not None]
        priced = [(cost, -row["overall_score"], row) for row in rows if (cost := _cost(row)) is not None]
        if len(priced) > 1:
            ordered = [(cost, row) for cost, _, row in sorted(priced, key=itemgetter(0, 1))]
            charts.append(_draw_cost(table, ordered, names, f"cost{number}"))
    return charts


def _cost(row: Row) -> float | None:
    text = number_text(row.get("about", {}).get("cost"))
    return float(text) if text and math.isfinite(float(text)) else None


def _draw_cost(table: Row, priced: Sequence[tuple[float, Row]], names: Names, name: str) -> Chart:
    """Systems by cost, the cheapest first; the frontier are those that score more than all that cost less."""
    frontier: list[str] = []
    best, steps = -math.inf, list[tuple[float, float]]()
    lowest, highest = priced[0][0], priced[-1][0]
    by_power = lowest > 0 and highest / lowest > _DECADES
    place = math.log10 if by_power else float
    lines, rows = list[Line](), list[list[str]]()
    for cost, row in priced:
        score, called = float(row["overall_score"]), names.get(system_of_row(table, row), printable(row["name"], 60))
        ahead = score > best and not row.get("provisional")
        if ahead:
            steps += [(place(cost), best), (place(cost), score)] if steps else [(place(cost), score)]
            best = score
            frontier.append(f"{called} ({number_text(row['about']['cost'])}: {show_number(score)})")
        lines.append(Line(called, [(place(cost), score)], joined=False, faint=not ahead))
        interval = show_interval(row["overall_interval"])
        rows.append([called, number_text(row["about"]["cost"]), show_number(score), interval, "yes" if ahead else ""])
    steps.append((place(highest), best))
    cheapest = next((line.name for line, (_, row) in zip(lines, priced, strict=True) if is_tied(row)), "")
    description = f"On the frontier, where nothing that costs less scores more: {', '.join(frontier)}."
    if cheapest:
        description += f" The cheapest system that is not told apart from the leader: {cheapest}."
    x = _powers(lowest, highest) if by_power else number_axis("", [0.0, highest])
    y = number_axis("score", [line.points[0][1] for line in lines])
    drawn = [Line("frontier", steps), *lines]
    header = ["System", "Cost per question", "Overall", "95% interval", "On the frontier"]
    return Chart(
        name, f"{table['benchmark']}: cost and score", description, plain_table(header, rows, "<>>><"),
        [Panel("", drawn, x._replace(title="cost per question"), y, height=300)],
    )  # fmt: skip


def _powers(lowest: float, highest: float) -> Axis:
    """A logarithmic axis."""
    low, high = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    return Axis("", [(power, f"{10.0**power:g}") for power in range(low, high + 1)], low, high)
