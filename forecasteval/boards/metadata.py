"""What a board shows of `systems.json`: display names, organisations and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from forecasteval.display.tables import cut_middle
from forecasteval.ranking.board import Board, RankedRow
from forecasteval.ranking.names import UNKNOWN, About, Systems, format_distinct

_WIDTH: Final = 60  # of a name
_LONGEST: Final = 255  # characters of a name before it is cut in its middle


def add_about(board: Board, systems: Systems) -> tuple[Board, list[str]]:
    """Give the rows of a board their `about`, and the board the systems
    `without_result`.

    A display name that is the name or a file name of another system is left out, as a
    row would pass for that system's. Returns these mistakes, too.
    """
    rows: list[RankedRow] = [row for table in board.rankings for row in table.rows]
    taken = systems.find_taken((row.system_name, row.name) for row in rows)
    costs = _count_costs(board, systems)

    def describe(system: str) -> About:
        about = systems.entries.get(system, UNKNOWN)
        if system in taken:
            about = replace(about, name="")
        if about.cost is None:
            about = replace(about, cost=costs.get(system))
        return about

    def add(table: Any) -> Any:
        rows = [replace(row, about=describe(row.system_name)) for row in table.rows]
        return replace(table, rows=rows)

    ranked = {row.system_name for row in rows}
    # Of those that wait for a truth nothing is missing.
    waiting = {
        systems.system_of(Path(name).stem, dataset)
        for dataset, names in board.waiting.items()
        for name in names
    }
    pooled = list(map(add, board.pooled))
    tables = list(map(add, board.tables))
    without_result = sorted(systems.entries.keys() - waiting - ranked)
    board = replace(board, pooled=pooled, tables=tables, without_result=without_result)
    return board, [*taken.values()]


def _count_costs(board: Board, systems: Systems) -> dict[str, float]:
    """Count what a question cost each system whose prices are known, over
    all of its files.
    """
    usage: dict[str, Counter[str]] = {}
    for table in board.tables:
        for row in table.rows:
            for file in row.files:
                usage.setdefault(row.system_name, Counter()).update(file.usage)
    costs = {}
    for system, counts in usage.items():
        if counts["replies"] and system in systems.prices:
            of_prompts, of_replies = systems.prices[system]
            total = (
                counts["prompt_tokens"] * of_prompts
                + counts["completion_tokens"] * of_replies
            )
            # Four digits: prices of providers have two or three.
            costs[system] = float(f"{total / 1e6 / counts['replies']:.4g}")
    return costs


def choose_names(rows: Sequence[RankedRow]) -> list[str]:
    """Make the display name of each row, or that of its file, and both where several
    have the same.
    """
    return show_names([(row.about.name, row.name) for row in rows])


def name_systems(board: Board) -> dict[str, str]:
    """Return the name that every system has on all of a board: its display name, or
    that of its files.
    """
    tables = reversed(board.rankings)
    shown = {row.system_name: row.about.name for table in tables for row in table.rows}
    names = show_names([(name, system) for system, name in shown.items()])
    return dict(zip(shown, names, strict=True))


def show_names(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Show display names, or own names where there are none, so that no
    two are the same.

    >>> show_names([("X", "a"), ("X", "b"), ("", "c")])
    ['X (a)', 'X (b)', 'c']
    """
    counts = Counter(name or file_name for name, file_name in pairs)
    shown = []
    for name, file_name in pairs:
        if name and name != file_name and counts[name] > 1:
            shown.append(f"{name} ({file_name})")
        else:
            shown.append(name or file_name)
    return [cut_middle(name, _WIDTH) for name in format_distinct(shown, _LONGEST)]
