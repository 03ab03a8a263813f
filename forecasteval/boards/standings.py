"""What a board says, before it is drawn: who leads, what moved, what costs a system most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import group_by
from forecasteval.display.html import Html, join, link_to, show_link
from forecasteval.display.pages import make_keys
from forecasteval.display.tables import Link, show_number
from forecasteval.ranking.names import system_of_row
from forecasteval.ranking.systems import question_key, read_scale

from .changes import History
from .tables import Row, is_tied, mark_of, show_size

Names = Mapping[str, str]
ReadItems = Callable[[str], Sequence[Row]]  # the items of a stored result by its name
SHOWN: Final = 200  # questions of a dataset that a page shows
_NAMED: Final = 3  # systems that a sentence names
_LOSSES: Final = 5  # questions that the row of a system names


# --- Who leads ---


def show_week(table: Row) -> str:
    """The dataset of a table without its suffix, or the name of the file.

    >>> show_week({"dataset": "250901.json"})
    '250901'
    """
    dataset = printable(str(table["dataset"] or table.get("name") or "one file"), 60)
    return dataset.removesuffix(".json").removesuffix(".jsonl").removesuffix(".csv")


def count_resolved(table: Row) -> int:
    """How many questions of a dataset, or events, have a truth."""
    counted = table["kind"] == "forecasters"
    return int(table["n_events"] if counted else sum(table["level_counts"].values()))


def say_resolved(table: Row) -> str:
    """How many questions of a dataset have a truth, `20 of 52 resolved`."""
    return show_size(count_resolved(table), table, "questions")


class Name(str):
    """The name of a system in a sentence."""


Sentence = list[str]


def say_leader(table: Row, names: Names) -> Sentence:
    """Who leads, and who cannot be told apart from it."""
    rows = [row for row in table["rows"] if row["rank"] is not None]
    if not rows:
        return ["No system is ranked yet."]
    leaders = [names[system_of_row(table, row)] for row in rows if row["rank"] == 1]
    rest, score = rows[len(leaders) :], show_number(mark_of(rows[0])[0], 3)
    if len(table["rows"]) == 1:
        return [Name(leaders[0]), f" has {score}; no other system answered these questions."]
    leads, them = ("leads", "it") if len(leaders) == 1 else ("lead together", "them")
    said = [*list_names(leaders), f" {leads} with {score}"]
    if tied := [names[system_of_row(table, row)] for row in rest if is_tied(row)]:
        return [*said, "; ", *list_names(tied), f" cannot be told apart from {them}."]
    is_ahead = rest and all(is_tied(row) is False for row in rest)
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
        parts += [*([" and " if last else ", "] if place else []), Name(name)]
    return [*parts, f" and {len(names) - most} more"] if most < len(names) else parts


# --- What the last night moved ---


class Move(NamedTuple):
    """The score and the rank of a system before the last night; None: it had none."""

    score: float | None
    rank: int | None


def find_moves(history: History | None, table: Row, dataset: str) -> dict[str, Move]:
    """Find how the systems of a table stood before the last night; {} if that is not known.

    `dataset` is the name of the table in the history.
    """
    if history is None or history.night < 2:
        return {}
    place = table["benchmark"], dataset
    if not any(line.night < history.night and line.key[:2] == place for line in history.lines):
        return {}  # there was no such table
    moves = {
        change["system"]: Move(change["score"][0], change["rank"][0])
        for change in history.changes
        if (change["benchmark"], change["dataset"]) == place
    }
    return {
        system: moves.get(system, Move(mark_of(row)[0], row["rank"]))
        for row in table["rows"]
        for system in [system_of_row(table, row)]
    }


def sign_of(table: Row) -> int:
    """1 where a higher score is better, else −1: forecasters are ranked by what they lose."""
    return -1 if table.get("kind") == "forecasters" else read_scale(table).sign


def unit_scale(table: Row) -> Callable[[float], float] | None:
    """A score as its share of the best one; None for scores without bounds."""
    scale = read_scale(table)
    if math.isinf(scale.width):
        return None
    worst = scale.low if scale.higher_is_better else scale.high
    return lambda score: scale.sign * (score - worst) / scale.width


# --- Systems by weeks ---


def find_weeks(tables: Sequence[Row], season: Row) -> list[Row]:
    """The tables of the datasets that a table over all datasets has, the oldest first."""
    checksums = {dataset["questions_sha256"]: at for at, dataset in enumerate(season["datasets"])}
    weeks = [
        table
        for table in tables
        if table["benchmark"] == season["benchmark"]
        and table["signature"].get("questions_sha256") in checksums
    ]
    return sorted(weeks, key=lambda table: checksums[table["signature"]["questions_sha256"]])


def runs_of(week: Row, row: Row) -> Sequence[Row]:
    """The files of a system in the table of a dataset: its runs, or itself; of forecasters the
    file with all of them.
    """
    return [week] if week["kind"] == "forecasters" else row.get("runs") or [row]


# --- What costs a system most ---


class Loss(NamedTuple):
    """A question that costs a system, in parts of its score; `others` is the mean of all systems,
    and `ease` that mean as a share of the best score.
    """

    cost: float
    score: float
    others: float
    ease: float
    week: Row
    item: Row
    run: Row  # a run that lost it
    key: str  # the address on the page of this run, "" if there is none


def in_order(table: Row, items: Sequence[Row]) -> list[Row]:
    """The resolved items of a result in the order of the questions in its dataset's table."""
    levels: dict[str, list[Row]] = {str(level): [] for level in table["weights"]}
    for item in items:
        if item["outcome"] != "pending":
            level = str(item["level"]) if "weights" in table["signature"] else ""
            levels.get(level, []).append(item)
    return [item for level in levels.values() for item in sorted(level, key=question_key)]


def page_keys(table: Row) -> list[str]:
    """The addresses of a table's questions on the pages of runs, "" where several would have the
    same.
    """
    keys = [make_keys([question["id"]])[0] for question in table.get("questions", ())]
    often = Counter(keys)
    return [key if often[key] == 1 else "" for key in keys]


def read_week(week: Row, read_items: ReadItems) -> list[tuple[str, Row, Sequence[Row]]]:
    """(system, run, its items in order) of a dataset; without results of other questions."""
    runs = [(system_of_row(week, row), run) for row in week["rows"] for run in runs_of(week, row)]
    read = [(system, run, in_order(week, read_items(run["name"]))) for system, run in runs]
    return [each for each in read if len(each[2]) == len(week["questions"])]


def find_losses(season: Row, weeks: Sequence[Row], read_items: ReadItems) -> dict[str, list[Loss]]:
    """The costliest questions of each system over all weeks; {} for scores without bounds.

    A question costs its level's weight times what is missing from the best score, as a part of the
    level's questions. Of equal costs those come first that others got right: of those that all miss
    nothing is to be learned.
    """
    unit, losses = unit_scale(season), dict[str, list[Loss]]()
    for week in weeks if unit else ():
        for system, runs in group_by(read_week(week, read_items), itemgetter(0)).items():
            found = [*losses.get(system, ()), *_list_losses(season, week, runs)]
            losses[system] = sorted(found, key=_costliest_first)[:_LOSSES]
    return losses


def _list_losses(
    season: Row, week: Row, runs: Sequence[tuple[str, Row, Sequence[Row]]]
) -> Iterator[Loss]:
    """What each question of a week costs a system, in the mean of its runs."""
    unit, total = unit_scale(season) or float, sum(season["weights"].values())
    for place, (question, key) in enumerate(zip(week["questions"], page_keys(week), strict=True)):
        level, scores = question["level"] or "", [items[place]["score"] for *_, items in runs]
        score, shares = math.fsum(scores) / len(scores), list(map(unit, scores))
        lost = season["weights"].get(level, 0.0) * (1 - math.fsum(shares) / len(shares))
        if lost > 0:
            _, run, items = runs[shares.index(min(shares))]
            cost, mean = lost / total / season["level_counts"][level], question["mean"]
            yield Loss(cost, score, mean, unit(mean), week, items[place], run, key)


def _costliest_first(loss: Loss) -> tuple[float, float, str]:
    return -round(loss.cost, 9), -loss.ease, str(loss.item["id"])


# --- A ranking ---


@dataclass(frozen=True)
class Reads:
    """What a page reads besides the board: names of systems, pages that are there, the history,
    items of results by their names.
    """

    names: Names
    linked: Collection[str]
    history: History | None
    items: ReadItems | None


@dataclass(frozen=True)
class Standing:
    """A ranking with what its page says of it. `weeks` are the datasets of one over all weeks;
    `dataset` is its name in the history.
    """

    name: str
    table: Row
    weeks: Sequence[Row]
    dataset: str
    reads: Reads

    @property
    def names(self) -> Names:
        return self.reads.names

    @cached_property
    def moves(self) -> Mapping[str, Move]:
        return find_moves(self.reads.history, self.table, self.dataset)

    @cached_property
    def losses(self) -> Mapping[str, Sequence[Loss]]:
        weeks, read = self.weeks or [self.table], self.reads.items
        is_known = read and all(week.get("questions") for week in weeks)
        return find_losses(self.table, weeks, read) if read and is_known else {}

    @property
    def systems(self) -> list[tuple[str, Row]]:
        """Each row with the name of its system."""
        return [(system_of_row(self.table, row), row) for row in self.table["rows"]]

    def rows_of(self, system: str) -> list[tuple[Row, Row]]:
        """The weeks of a system with its rows."""
        weeks = self.weeks or [self.table]
        rows = [(week, row) for week in weeks for row in week["rows"]]
        return [(week, row) for week, row in rows if system_of_row(week, row) == system]

    @property
    def newest(self) -> Row:
        """The dataset whose questions the page shows."""
        return self.weeks[-1] if self.weeks else self.table

    @property
    def title(self) -> str:
        if self.table["kind"] == "pooled":
            return f"{self.table['benchmark']}, {len(self.table['datasets'])} weeks"
        return f"{self.table['benchmark']}, {show_week(self.table)}"

    @cached_property
    def _texts(self) -> Sequence[Row]:
        """The items of some result of the newest dataset."""
        read = self.reads.items
        return next((items for *_, items in read_week(self.newest, read)), ()) if read else ()

    def text_of(self, place: int) -> Row:
        """The item with the text of a question of the newest dataset; {} if no result is there."""
        return self._texts[place] if self._texts else {}

    def link(self, run: Row, text: str, key: str) -> Html:
        """A text that leads to a question on the page of a run, if it is there."""
        if key and run["name"] in self.reads.linked:
            return show_link(Link(text, f"{run['name']}.html", key))
        return join(text)

    def page_of(self, run: Row) -> str | None:
        """The address of a run's page, if it is there."""
        return (
            link_to(Link("", f"{run['name']}.html")) if run["name"] in self.reads.linked else None
        )
