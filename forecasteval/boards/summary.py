"""Several files that were scored one by one, as the table that a paper shows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from forecasteval.common.errors import printable
from forecasteval.common.records import group_by
from forecasteval.common.statistics import mean
from forecasteval.display.results import Results
from forecasteval.display.tables import Column, Report, Table, make_table, show_interval
from forecasteval.ranking.board import ScoredRow, SystemRow
from forecasteval.ranking.datasets import describe_system
from forecasteval.ranking.names import UNKNOWN, Systems, read_systems
from forecasteval.ranking.reading import read_system
from forecasteval.ranking.scale import Level
from forecasteval.ranking.systems import System

from .columns import Entry, level_columns, score_columns, unread_columns
from .metadata import shown_names


class Summary:
    """The scores of files, in the order in which they are added; a folder may have names for
    their systems.
    """

    def __init__(self, folder: Path) -> None:
        self._systems: list[System] = []
        self._names = read_systems(folder)

    def add(self, results: Results) -> bool:
        """Keep the scores of a result. False for one that ranks forecasters itself, and for one
        without its missing answers, as those of others are over other questions.
        """
        is_kept = "ranking" not in results and results["signature"].get("missing") != "skip"
        if is_kept:
            self._systems.append(read_system(results))
        return is_kept

    def report(self) -> Report:
        """Make a table for each dataset of which there are several files."""
        report: Report = []
        for (benchmark, dataset, _), systems in group_by(
            self._systems, attrgetter("group")
        ).items():
            if len(systems) > 1:
                title = f"{benchmark}, {printable(dataset or 'without a dataset')}, all files"
                report += ["", title, "", make_summary(systems, self._names)]
        return report

    def tables(self) -> list[Table]:
        """Return a table for each dataset; an interval has its two ends there."""
        groups = group_by(self._systems, attrgetter("group")).values()
        return [make_summary(systems, self._names, has_ends=True) for systems in groups]


def make_summary(systems: Sequence[System], names: Systems, has_ends: bool = False) -> Table:
    """Make the table of the systems of one dataset: levels, overall score, its interval, and what
    has no score.

    An interval is ± h, but [low, high] where a bound of the score cuts it, and with `has_ends`.
    """
    first = systems[0]
    is_lower = first.scale.sign < 0
    levels = [level for level, count in first.counts.items() if count]
    rows = [_describe(system, levels, names) for system in systems]
    entries = [*map(Entry, systems, rows, shown_names(rows))]
    score, interval = score_columns("Overall", is_lower)
    if not has_ends:
        interval = replace(interval, cell=lambda entry: _show_interval(entry.row))
    pending = Column("Pending", attrgetter("table.pending"), "number")
    columns = [
        Column("System", attrgetter("shown"), key="name"),
        *level_columns(levels, is_lower, in_text=True),
        score,
        interval,
        *([pending] if any(system.pending for system in systems) else []),
        *unread_columns([entry.row for entry in entries]),
    ]
    return make_table([column for column in columns if column.title], entries)


def _describe(system: System, levels: Sequence[Level], names: Systems) -> SystemRow:
    own = system.system
    about = names.entries.get(names.aliases.get(own, own), UNKNOWN)
    return SystemRow(
        **{**vars(describe_system(system, levels)), "about": about},
        rank=None,
        level_scores={level: mean(system.questions[level].scores) for level in levels},
        n=sum(system.counts[level] for level in levels),
        p_leader=None,
    )


def _show_interval(row: ScoredRow) -> str:
    score = row.overall_score
    interval = row.overall_interval
    low, high = interval or (score, score)
    if interval is None or abs((high - score) - (score - low)) > 1e-9:
        return show_interval(interval)
    return f"± {high - score:.4f}"
