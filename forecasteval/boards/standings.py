"""What a board says, before it is drawn: who leads, and what moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from forecasteval.common.records import JsonObject
from forecasteval.display.html import (
    Html,
    link_to,
    show_heat,
)
from forecasteval.display.pages import make_keys
from forecasteval.display.tables import Heat, Link, show_number
from forecasteval.ranking.board import (
    PooledTable,
    RankedRow,
    RankedTable,
    Ranking,
    ScoredRow,
    SystemTable,
)
from forecasteval.ranking.files import FileRow
from forecasteval.ranking.scale import Scale

from .changes import History
from .columns import Entry
from .tables import show_size

Names = Mapping[str, str]
ReadItems = Callable[[str], Sequence[JsonObject]]  # the items of a stored result by its name
_NAMED: Final = 3  # systems that a sentence names


# --- Who leads ---


def say_resolved(table: RankedTable) -> str:
    """Say how many questions of a dataset have a truth: `20 of 52 resolved`."""
    return show_size(table.resolved, table, "questions")


class SystemName(str):
    """The name of a system in a sentence."""


Sentence = list[str]


def say_leader(table: Ranking, names: Names) -> Sentence:
    """Say who leads, and who cannot be told apart from it."""
    rows: list[RankedRow] = [row for row in table.rows if row.rank is not None]
    if not rows:
        return ["No system is ranked yet."]
    leaders = [names[row.system_name] for row in rows if row.rank == 1]
    rest = rows[len(leaders) :]
    score = show_number(rows[0].score, 3)
    if len(table.rows) == 1:
        return [SystemName(leaders[0]), f" has {score}; no other system answered these questions."]
    leads, them = ("leads", "it") if len(leaders) == 1 else ("lead together", "them")
    said = [*list_names(leaders), f" {leads} with {score}"]
    if tied := [names[row.system_name] for row in rest if row.is_tied]:
        return [*said, "; ", *list_names(tied), f" cannot be told apart from {them}."]
    is_ahead = rest and all(row.is_tied is False for row in rest)
    return [*said, "; every other system is significantly behind." if is_ahead else "."]


def list_names(names: Sequence[str]) -> Sentence:
    """`a, b and c`; of many the first, and how many more.

    >>> "".join(map(str, list_names(["a", "b", "c", "d", "e"])))
    'a, b and 3 more'
    """
    most = len(names) if len(names) <= _NAMED else _NAMED - 1
    parts: Sentence = []
    for place, name in enumerate(names[:most]):
        last = place and place == len(names) - 1
        parts += [*([" and " if last else ", "] if place else []), SystemName(name)]
    return [*parts, f" and {len(names) - most} more"] if most < len(names) else parts


# --- Systems by weeks ---


def heat_of(score: float | None, scale: Scale) -> Heat:
    """Place a score on the colour of its share of the best one."""
    return Heat(score, None if score is None else scale.to_unit(score))


def show_cell(score: float | None, scale: Scale, href: str | None = None) -> Html:
    """Show a score on its colour, which may lead to a page."""
    return show_heat(*heat_of(score, scale), href=href)


def find_weeks(tables: Sequence[RankedTable], season: PooledTable) -> list[SystemTable]:
    """Find the tables of the datasets of a table over all of them, the oldest first."""
    places = {week.questions_sha256: at for at, week in enumerate(season.datasets)}
    weeks = {
        places[checksum]: table
        for table in tables
        if isinstance(table, SystemTable)
        and table.benchmark == season.benchmark
        and (checksum := str(table.signature["questions_sha256"])) in places
    }
    return [weeks[place] for place in sorted(weeks)]


def files_of(week: RankedTable, row: RankedRow) -> Sequence[FileRow]:
    """Return the files of a system in the table of a dataset; of forecasters the file with all of
    them.
    """
    return row.files if isinstance(row, ScoredRow) else [week] if isinstance(week, FileRow) else []


# --- A ranking ---


@dataclass(frozen=True)
class PageSources:
    """What a page reads besides the board: names of systems, names of the runs that have a page,
    the history, items of results by their names.
    """

    names: Names
    linked: Collection[str]
    history: History | None
    items: ReadItems | None


@dataclass(frozen=True)
class ShownRanking:
    """A ranking with what its page says of it. `weeks` are the datasets of one over all weeks."""

    name: str
    table: Ranking
    weeks: Sequence[SystemTable]
    sources: PageSources

    @property
    def names(self) -> Names:
        return self.sources.names

    @property
    def title(self) -> str:
        if isinstance(self.table, PooledTable):
            return f"{self.table.benchmark}, {len(self.table.datasets)} weeks"
        return f"{self.table.benchmark}, {self.table.label}"

    @property
    def prefix(self) -> str:
        """Begin the addresses of its rows: `s1`."""
        return self.name.replace("ranking", "s")

    @cached_property
    def entries(self) -> list[Entry]:
        """List the rows, under the names that systems have on all of the board."""
        rows: Sequence[RankedRow] = self.table.rows
        keys = make_keys((row.system_name for row in rows), self.prefix)
        return [
            Entry(self.table, row, self.names[row.system_name], key)
            for row, key in zip(rows, keys, strict=True)
        ]

    @property
    def datasets(self) -> Sequence[RankedTable]:
        """List the weeks, or the dataset that the ranking is of."""
        return self.weeks if isinstance(self.table, PooledTable) else [self.table]

    @property
    def newest(self) -> RankedTable | None:
        """Find the dataset whose questions the page shows, if it has some."""
        return next((table for table in self.datasets[-1:] if table.questions), None)

    @cached_property
    def weeks_of(self) -> Mapping[str, Sequence[tuple[RankedTable, RankedRow]]]:
        """Group the weeks by system, with its rows."""
        found: defaultdict[str, list[tuple[RankedTable, RankedRow]]] = defaultdict(list)
        for week in self.datasets:
            for row in week.rows:
                found[row.system_name].append((week, row))
        return found

    def page_of(self, run: FileRow) -> str | None:
        """Return the address of a run's page, if it is there."""
        return link_to(Link("", f"{run.name}.html")) if run.name in self.sources.linked else None
