"""Several files that were scored one by one, as the table that a paper shows of them."""

from __future__ import annotations

from collections.abc import Sequence

from forecasteval.common.errors import printable
from forecasteval.common.records import group_by
from forecasteval.common.statistics import mean
from forecasteval.display.results import Results
from forecasteval.display.tables import Report, Table, make_table, show_interval
from forecasteval.ranking.board import ScoredRow
from forecasteval.ranking.datasets import describe_system
from forecasteval.ranking.systems import System, read_system

from .tables import UNREAD, list_columns


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
    levels = [level for level, count in systems[0].counts.items() if count]
    records = []
    for system in systems:
        row = describe_system(system, levels)
        scores = {f"level_{level}": mean(system.questions[level].scores) for level in levels}
        shown = {"shown": printable(system.name), "score": row.overall_score}
        interval = row.overall_interval if has_ends else _show_interval(row)
        records.append(
            {**vars(row), **scores, **shown, "interval": interval, "pending": system.pending}
        )
    titles = [f"level_{level}" for level in levels if level]
    keys = ["shown", *titles, "score", "interval", "pending", *UNREAD]
    scale = {"higher_is_better": systems[0].scale.higher_is_better}
    return make_table(list_columns(keys, scale, records), records)


def _show_interval(row: ScoredRow) -> str:
    score, interval = row.overall_score, row.overall_interval
    low, high = interval or (score, score)
    if interval is None or abs((high - score) - (score - low)) > 1e-9:
        return show_interval(interval)
    return f"± {high - score:.4f}"
