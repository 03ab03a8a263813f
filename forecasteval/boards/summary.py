"""Several files that were scored one by one, as the table that a paper shows of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from forecasteval.common.errors import printable
from forecasteval.common.records import group_by
from forecasteval.common.statistics import mean
from forecasteval.display.results import Results
from forecasteval.display.tables import Column, Report, Table, make_table, show_interval
from forecasteval.ranking.board import ScoredRow
from forecasteval.ranking.datasets import describe_system
from forecasteval.ranking.systems import Level, System, read_system

Row = tuple[System, ScoredRow]


class Summary:
    """The scores of files, in the order in which they are added."""

    def __init__(self) -> None:
        self._systems: list[System] = []

    def add(self, results: Results) -> bool:
        """Keep the scores of a result; False for one that ranks forecasters itself, and for one
        without its missing answers, as those of others are over other questions.
        """
        is_kept = "ranking" not in results and results["signature"].get("missing") != "skip"
        if is_kept:
            self._systems.append(read_system(results))
        return is_kept

    def report(self) -> Report:
        """A table for each dataset of which there are several files."""
        report: Report = []
        for (benchmark, dataset, _), systems in group_by(self._systems, _group).items():
            if len(systems) > 1:
                title = f"{benchmark}, {printable(dataset or 'without a dataset')}, all files"
                report += ["", title, "", make_summary(systems)]
        return report

    def tables(self) -> list[Table]:
        """A table for each dataset; an interval has its two ends there."""
        groups = group_by(self._systems, _group).values()
        return [make_summary(systems, has_ends=True) for systems in groups]


def _group(system: System) -> tuple[str, str, str]:
    return system.group


def make_summary(systems: Sequence[System], has_ends: bool = False) -> Table:
    """The systems of one dataset: levels, overall score, its interval, and what has no score.

    An interval is ± h, but [low, high] where a bound of the score cuts it, and with `has_ends`.
    """
    levels: list[Level] = [level for level, count in systems[0].counts.items() if count]
    best = "high" if systems[0].scale.higher_is_better else "low"
    rows = [(system, describe_system(system, levels)) for system in systems]
    any_padded = any(row.padded for _, row in rows)
    columns = [
        Column("System", lambda row: printable(row[0].name)),
        *(
            Column(f"Level {level}", partial(_level_mean, level), "number", best, bold=True)
            for level in levels
            if level
        ),
        Column("Overall", lambda row: row[1].overall_score, "number", best, bold=True),
        Column("95% interval", partial(_show_interval, has_ends), "number"),
        *(
            [Column("Pending", lambda row: row[0].pending, "number")]
            if _any_pending(systems)
            else []
        ),
        Column("Missing", lambda row: row[1].missing, "number"),
        Column("Unparsed", lambda row: row[1].unparsed, "number"),
        *([Column("Padded", lambda row: row[1].padded, "number")] if any_padded else []),
    ]
    return make_table(columns, rows)


def _any_pending(systems: Sequence[System]) -> bool:
    return any(system.pending for system in systems)


def _level_mean(level: Level, row: Row) -> float:
    return mean(row[0].questions[level].scores)


def _show_interval(has_ends: bool, row: Row) -> str:
    score, interval = row[1].overall_score, row[1].overall_interval
    if interval is None or has_ends:
        return show_interval(interval)
    low, high = interval
    if abs((high - score) - (score - low)) > 1e-9:
        return show_interval(interval)
    return f"± {high - score:.4f}"
