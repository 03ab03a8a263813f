"""Several files that were scored one by one, as the board that they make."""

from __future__ import annotations

from pathlib import Path

from forecasteval.display.results import Results
from forecasteval.display.tables import Report, Table
from forecasteval.ranking.datasets import rank_results
from forecasteval.ranking.names import read_systems
from forecasteval.ranking.reading import distinct_names, read_system
from forecasteval.ranking.systems import rename

from .metadata import add_about
from .tables import is_alone, report_table


class Summary:
    """The scores of files; a folder may have names for their systems."""

    def __init__(self, folder: Path) -> None:
        self._results: list[Results] = []
        self._about = read_systems(folder)

    def add(self, results: Results) -> bool:
        """Keep the scores of a result. False for one that ranks forecasters itself, and for one
        without its missing answers, as those of others are over other questions.
        """
        is_kept = "ranking" not in results and results["signature"].get("missing") != "skip"
        if is_kept:
            self._results.append(results)
        return is_kept

    def report(self, with_single: bool = False) -> Report:
        """Report a table for each dataset of which there are several files."""
        systems = map(read_system, self._results, distinct_names(self._results))
        named = [rename(system, self._about.aliases) for system in systems]
        board, _ = add_about(rank_results(named, baselines=self._about.baselines), self._about)
        tables = [
            table
            for table in board.tables
            if with_single or not is_alone(table) or table.rows[0].runs
        ]
        return [block for table in tables for block in ("", *report_table(table))]

    def tables(self) -> list[Table]:
        """List the tables alone."""
        return [block for block in self.report(True) if isinstance(block, Table)]
