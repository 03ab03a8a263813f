"""What a board says, before it is drawn: who leads, what moved, what costs a system most."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from forecasteval.common.records import JsonObject, as_text, group_by
from forecasteval.display.html import (
    Html,
    TableLine,
    heat_class,
    join,
    link_to,
    show_link,
    show_score,
    soft,
    span,
    tag,
)
from forecasteval.display.pages import make_keys, show_text
from forecasteval.display.tables import Link, show_number
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
from forecasteval.ranking.systems import System

from .changes import Change, History
from .columns import Entry, list_entries
from .tables import show_size

Names = Mapping[str, str]
ReadItems = Callable[[str], Sequence[JsonObject]]  # the items of a stored result by its name
ReadSystem = Callable[[str], System | None]  # its scores
SHOWN: Final = 200  # questions of a dataset that a page shows
_NAMED: Final = 3  # systems that a sentence names
_LOSSES: Final = 5  # questions that the row of a system names


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


def unit_scale(scale: Scale) -> Callable[[float], float] | None:
    """Make the function that gives a score as its share of the best one; None without bounds."""
    if math.isinf(scale.width):
        return None
    worst = scale.low if scale.higher_is_better else scale.high
    return lambda score: scale.sign * (score - worst) / scale.width


def show_cell(
    score: float | None, unit: Callable[[float], float] | None, href: str | None = None
) -> Html:
    """Show a score of two decimals on its colour, which may lead to a page."""
    if score is None or math.isnan(score) or unit is None:
        return span("hx", "·" if score is None else show_score(score, 2))
    text = show_score(score, 2).removeprefix("0")
    kind = heat_class(unit(score))
    return tag("a" if href else "span", text, class_=kind, href=href, title=show_score(score, 4))


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


def read_texts(week: RankedTable, read_items: ReadItems) -> dict[str, JsonObject]:
    """Read the items of some result, which have the texts of questions, by ids that are unique."""
    files = (file.name for row in week.rows for file in files_of(week, row))
    items = next(filter(None, map(read_items, files)), ())
    by_id = group_by(items, lambda item: as_text(item["id"])).items()
    return {name: same[0] for name, same in by_id if len(same) == 1}


# --- What costs a system most ---


class Loss(NamedTuple):
    """A question that costs a system, in parts of its score. `ease` is the mean of all systems as a
    share of the best score.
    """

    cost: float
    score: float
    ease: float
    week: SystemTable
    place: int  # of the question in its week
    run: FileRow  # a run that lost it


def find_losses(
    season: Any, weeks: Sequence[SystemTable], unit: Callable[[float], float], read: ReadSystem
) -> dict[str, list[Loss]]:
    """Find the costliest questions of each system over all weeks.

    A question costs its level's weight times what is missing from the best score, as a part of the
    level's questions. Of equal costs those come first that others got right: of those that all miss
    nothing is to be learned.
    """
    losses: defaultdict[str, list[Loss]] = defaultdict(list)
    for week in weeks:
        for row in week.rows:
            losses[row.system_name] += _list_losses(season, week, row.files, unit, read)
    return {
        system: sorted(found, key=_costliest_first)[:_LOSSES] for system, found in losses.items()
    }


def _list_losses(
    season: Any,
    week: SystemTable,
    files: Sequence[FileRow],
    unit: Callable[[float], float],
    read: ReadSystem,
) -> Iterator[Loss]:
    """List what each question of a week costs a system, in the mean of its runs."""
    systems = map(read, (file.name for file in files))
    runs = [
        [score for level in week.weights for score in system.questions[level].scores]
        for system in systems
        if system
    ]
    if len(runs) < len(files) or any(len(scores) != len(week.questions) for scores in runs):
        return
    total = sum(season.weights.values())
    rows = zip(week.questions, zip(*runs, strict=True), strict=True)
    for place, (question, scores) in enumerate(rows):
        level = question.level or ""
        shares = list(map(unit, scores))
        lost = season.weights.get(level, 0.0) * (1 - math.fsum(shares) / len(shares))
        if lost > 0:
            cost = lost / total / season.level_counts[level]
            run = files[shares.index(min(shares))]
            score = math.fsum(scores) / len(scores)
            yield Loss(cost, score, unit(question.mean), week, place, run)


def _costliest_first(loss: Loss) -> tuple[float, float, str]:
    return -round(loss.cost, 9), -loss.ease, str(loss.week.questions[loss.place].id)


# --- A ranking ---


@dataclass(frozen=True)
class PageSources:
    """What a page reads besides the board. These are names of systems, pages that are there, the
    history, items and scores of results by their names.
    """

    names: Names
    linked: Collection[str]
    history: History | None
    items: ReadItems | None
    system: ReadSystem | None


@dataclass(frozen=True)
class ShownRanking:
    """A ranking with what its page says of it. `weeks` are the datasets of one over all weeks;
    `dataset` is its name in the history.
    """

    name: str
    table: Ranking
    weeks: Sequence[SystemTable]
    dataset: str
    sources: PageSources

    @property
    def names(self) -> Names:
        return self.sources.names

    @property
    def unit(self) -> Callable[[float], float] | None:
        return unit_scale(self.table.scale)

    @property
    def title(self) -> str:
        if isinstance(self.table, PooledTable):
            return f"{self.table.benchmark}, {len(self.table.datasets)} weeks"
        return f"{self.table.benchmark}, {self.table.label}"

    @cached_property
    def entries(self) -> list[Entry]:
        """List the rows, under the names that systems have on all of the board."""
        return [
            entry._replace(shown=self.names[entry.row.system_name])
            for entry in list_entries(self.table)
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

    @cached_property
    def moves(self) -> Mapping[str, Change]:
        """Find what the last night changed, by system; nothing where it made the whole table."""
        changes = self.sources.history.changes if self.sources.history else []
        place = self.table.benchmark, self.dataset
        moves = {c["system"]: c for c in changes if (c["benchmark"], c["dataset"]) == place}
        is_new = {*moves} >= {row.system_name for row in self.table.rows}
        return {} if is_new and {c["score"][0] for c in moves.values()} <= {None} else moves

    @cached_property
    def losses(self) -> Mapping[str, Sequence[Loss]]:
        """Find the costliest questions by system, where scores have bounds and can be read."""
        weeks = [week for week in self.datasets if isinstance(week, SystemTable)]
        if self.unit is None or self.sources.system is None or not all(w.questions for w in weeks):
            return {}
        return find_losses(self.table, weeks, self.unit, self.sources.system)

    @cached_property
    def _texts(self) -> dict[int, dict[str, JsonObject]]:
        read = self.sources.items
        return {id(week): read_texts(week, read) for week in self.datasets} if read else {}

    @cached_property
    def _keys(self) -> dict[int, Sequence[str]]:
        """Make the addresses of questions on the pages of runs; "" where they are not unique."""
        found: dict[int, Sequence[str]] = {}
        for week in self.datasets:
            keys = [make_keys([question.id])[0] for question in week.questions]
            often = Counter(keys)
            found[id(week)] = [key if often[key] == 1 else "" for key in keys]
        return found

    def draw_question(
        self, week: RankedTable, place: int, run: FileRow, *scores: float, name: str | None = None
    ) -> TableLine:
        """Draw a question as a line: scores, its text, which leads to the page of a run, truth."""
        question = week.questions[place]
        key = self._keys[id(week)][place]
        item = self._texts.get(id(week), {}).get(as_text(question.id), {})
        text = show_text(str(item.get("prompt") or question.id), 200)
        is_linked = key and run.name in self.sources.linked
        link = show_link(Link(text, f"{run.name}.html", key)) if is_linked else join(text)
        level = f" L{question.level}" if question.level else ""
        where = soft(f"{week.label}{level}" if self.weeks else level.strip())
        truth = soft(show_text(str(item.get("truth", "")), 60))
        cells = [show_cell(score, self.unit) for score in scores]
        return TableLine([*cells, join(link, " ", where), truth], name=name)

    def page_of(self, run: FileRow) -> str | None:
        """Return the address of a run's page, if it is there."""
        return link_to(Link("", f"{run.name}.html")) if run.name in self.sources.linked else None
