"""What a board says, before it is drawn: who leads, and what moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from forecasteval.common.records import JsonObject, group_by
from forecasteval.display.html import (
    Html,
    join,
    link_to,
    show_heat,
    tag,
)
from forecasteval.display.pages import make_keys
from forecasteval.display.tables import Heat, Link, show_number
from forecasteval.ranking.board import PooledTable, RankedRow, RankedTable, Ranking
from forecasteval.ranking.files import FileRow
from forecasteval.ranking.scale import Scale

from .changes import (
    Change,
    History,
    format_reason,
    format_step,
    format_system,
    has_own_cause,
    sort_key,
)
from .columns import KEPT, Entry
from .reasons import format_datasets

Names = Mapping[str, str]
# The items of a stored result by its name
ReadItems = Callable[[str], Sequence[JsonObject]]
_NAMED: Final = 3  # systems that a sentence names


# --- Who leads ---


def describe_leader(table: Ranking, names: Names) -> Html:
    """Describe who leads, and who could be first as well."""

    ranked = [row for row in table.rows if row.rank is not None]
    if not ranked:
        return join("No system is ranked yet.")
    leaders = [row for row in ranked if row.rank == 1]
    others = ranked[len(leaders) :]
    who = _list_systems(leaders, names)
    score = show_number(ranked[0].score, 3)
    if len(table.rows) == 1:
        return join(who, f" has {score}; no other system answered these questions.")
    verb = "leads"
    if len(leaders) > 1:
        verb = "lead together"
    verdict = join(who, f" {verb} with {score}")
    could_lead = [row for row in others if row.could_lead]
    if could_lead:
        return join(
            verdict, "; ", _list_systems(could_lead, names), " could be first, too."
        )
    if others and all(row.could_lead is False for row in others):
        return join(verdict, "; no other system could be first.")
    return join(verdict, ".")


def _list_systems(rows: Sequence[RankedRow], names: Names) -> Html:
    return list_names([tag("b", names[row.system_name]) for row in rows])


def describe_last_night(
    history: History, names: Names, ranking: tuple[str, str]
) -> Html:
    """Describe what the last night changed: what happened to datasets, and which
    ranks moved most.

    ranking: the benchmark and the dataset of the ranks.
    """
    changes = sorted(history.changes, key=sort_key)
    groups = group_by(filter(has_own_cause, changes), format_reason)
    events = [_describe_event(reason, group, names) for reason, group in groups.items()]
    moves = []
    for change in changes:
        is_of_ranking = (change["benchmark"], change["dataset"]) == ranking
        old, new = change["rank"]
        if is_of_ranking and old != new and None not in change["score"]:
            step = format_step(change["rank"], 0)
            moves.append(f"{format_system(change, names)} {step}")
    texts = [list_names(part) for part in (events, moves) if part]
    if not texts:
        return Html()
    return join(f"Last night ({history.date}): ", Html("; ".join(texts)), ".")


def _describe_event(reason: str, changes: Sequence[Change], names: Names) -> str:
    """Describe what happened to datasets: `250915 2 truths corrected (3 systems)`."""
    datasets = format_datasets(change["dataset"] for change in changes)
    systems = {format_system(change, names) for change in changes}
    who = f"{len(systems)} systems"
    if len(systems) == 1:
        who = systems.pop()
    return f"{datasets} {reason} ({who})"


def list_names(names: Sequence[str]) -> Html:
    """List names in a sentence; of many the first, and how many more.

    >>> list_names(["a", "b", "c"]), list_names(["a", "b", "c", "d", "e"])
    ('a, b and c', 'a, b and 3 more')
    """
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    *others, last = map(join, names)
    if not others:
        return last
    return join(Html(", ".join(others)), " and ", last)


# --- Systems by weeks ---


def place_score(score: float | None, scale: Scale) -> Heat:
    """Place a score on the colour of its share of the best one."""
    if score is None:
        return Heat(None)
    return Heat(score, scale.to_unit(score))


def draw_score(score: float | None, scale: Scale, href: str | None = None) -> Html:
    """Show a score on its colour, which may lead to a page."""
    return show_heat(*place_score(score, scale), href=href)


def find_weeks(tables: Sequence[RankedTable], season: PooledTable) -> list[RankedTable]:
    """Find the tables of the datasets of a table over all of them, the oldest first."""
    by_questions = {
        (table.dataset, table.signature.get("questions_sha256")): table
        for table in reversed(tables)  # kept ones, which stand last, give way
        if table.benchmark == season.benchmark
    }
    weeks = [(week.dataset, week.questions_sha256) for week in season.datasets]
    return [by_questions[week] for week in weeks if week in by_questions]


def files_of(week: Ranking, row: RankedRow) -> Sequence[FileRow]:
    """Return the files of a system in the table of a dataset; of forecasters the file
    with all of them.
    """
    return row.files or week.files


# --- A ranking ---


@dataclass(frozen=True)
class ShownRanking:
    """A ranking with what its page says of it.

    `weeks` are the datasets of one over all weeks. What is read besides the board:
    `names` of systems, the names of the runs that are `linked`, and the `items` of
    results by their names.
    """

    name: str
    table: Ranking
    weeks: Sequence[RankedTable]
    names: Names
    linked: Collection[str]
    items: ReadItems

    @property
    def title(self) -> str:
        kept = f", {KEPT}" if self.table.kept else ""
        return f"{self.table.benchmark}, {self.table.label}{kept}"

    @property
    def baseline(self) -> float | None:
        """Return what a blind guess expects, or the score of the best
        that only guesses.
        """
        if self.table.guess is not None:
            return self.table.guess
        return next((row.score for row in self.table.rows if row.about.baseline), None)

    @property
    def has_parts(self) -> bool:
        """Return whether its rows have scores by the values of a column."""
        return any(row.by for row in self.table.rows)

    @property
    def prefix(self) -> str:
        """Return how the addresses of its rows begin: `s1`."""
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
    def datasets(self) -> Sequence[Ranking]:
        """Return the weeks, or the dataset that the ranking is of."""
        return self.weeks if self.table.datasets else [self.table]

    @property
    def newest(self) -> Ranking | None:
        """Return the dataset whose questions the page shows, if it has some."""
        return next((table for table in self.datasets[-1:] if table.questions), None)

    @cached_property
    def weeks_of(self) -> Mapping[str, Sequence[tuple[Ranking, RankedRow]]]:
        """Group the weeks by system, with its rows."""
        weeks: defaultdict[str, list[tuple[Ranking, RankedRow]]] = defaultdict(list)
        for week in self.datasets:
            for row in week.rows:
                weeks[row.system_name].append((week, row))
        return weeks

    def page_of(self, run: FileRow) -> str | None:
        """Return the address of a run's page, if it is there."""
        return (
            link_to(Link("", f"{run.name}.html")) if run.name in self.linked else None
        )
