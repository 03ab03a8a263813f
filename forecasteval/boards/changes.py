"""What a night changed, by its reasons: as lines and tables of a report, and as cards of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.errors import grouped_names, printable
from forecasteval.common.records import as_text, group_by
from forecasteval.display.charts import Axis
from forecasteval.display.html import (
    Html,
    draw_section,
    join,
    show_link,
    show_score,
    show_signed,
    soft,
    tag,
)
from forecasteval.display.marks import draw_dots
from forecasteval.display.tables import Column, Link, Report, make_table
from forecasteval.ranking.changes import (
    CORRECTED,
    CUT,
    MORE,
    OTHERS,
    UNKNOWN,
    Change,
    History,
    moved,
    read_changes,
    why,
)

from .standings import SHOWN, Names, Standing, page_keys, runs_of, show_week

MOVES: Final = 20  # that a table shows
_ASKED: Final = frozenset({MORE, CORRECTED, OTHERS, UNKNOWN})  # causes that are of a dataset
_CORRECTED: Final = 6  # questions that a card names
_MOVED: Final = 6  # ranks of a ranking that a sentence names
_CARDS: Final = 6  # reasons that have one
_LISTED: Final = 40  # systems of a card
_KINDS: Final = {  # in a line, in a title
    "new": ("new", "New results in"),
    "gone": ("gone", "Gone from"),
    "waiting": ("no truth any more", "No truth any more in"),
    "back": ("back", "Back in"),
}


class Reason(NamedTuple):
    """Changes that have one reason: new, gone, waiting, back, or changed and why."""

    kind: str
    why: str
    dataset: str  # "" where it is the same on several
    changes: list[Change]

    @property
    def moves(self) -> list[float]:
        """How far the scores moved that did, the lowest first."""
        return sorted(filter(None, map(moved, self.changes)))

    def line(self) -> str:
        if self.kind in _KINDS:
            return f"{_KINDS[self.kind][0]}: {_list_places(self.changes)}"
        where = f"{printable(self.dataset, 60)}: " * bool(self.dataset)
        return f"{where}{self.why}: results {len(self.changes)}, scores moved {len(self.moves)}"

    def title(self) -> str:
        datasets = [show_week(change) for change in self.changes]
        places = [*dict.fromkeys(datasets)]
        where = grouped_names(places) if len(places) > 1 else places[0]
        if self.kind in _KINDS:
            return f"{_KINDS[self.kind][1]} {where}"
        return f"{self.why[:1].upper()}{self.why[1:]} in {where}"


def group_changes(changes: Iterable[Change]) -> list[Reason]:
    """Changes by their reason, those first that moved most scores.

    What is asked is a matter of its dataset; another version has one reason on all of them.
    """

    def key(change: Change) -> tuple[str, str, str]:
        is_asked = not _ASKED.isdisjoint(change["causes"])
        reason = why(change) if change["kind"] == "changed" else ""
        return change["kind"], reason, change["dataset"] * is_asked

    reasons = [Reason(*names, same) for names, same in group_by(changes, key).items()]
    return sorted(reasons, key=lambda reason: (-len(reason.moves), reason.kind, reason.dataset))


def _list_places(changes: Sequence[Change]) -> str:
    """Which systems on which datasets."""
    systems = list(dict.fromkeys(change["system"] for change in changes))
    datasets = list(dict.fromkeys(change["dataset"] or "no dataset" for change in changes))
    if len(systems) * len(datasets) != len(changes):
        return grouped_names([f"{each['system']} on {each['dataset']}" for each in changes])
    on = datasets[0] if len(datasets) == 1 else f"datasets {grouped_names(datasets)}"
    return f"{grouped_names(systems)} on {printable(on, 300)}"


# --- A report ---

_SCORES: Final = (
    Column("Before", itemgetter("before"), "number"),
    Column("Now", itemgetter("after"), "number"),
    Column("Change", lambda change: f"{moved(change):+.4f}", "number"),
)
_MOVES_OF_SCORES: Final = (
    Column("Dataset", lambda change: printable(change["dataset"], 60)),
    *_SCORES,
    Column("Why", why),
)
_MOVES_OF_RANKS: Final = (
    *_SCORES,
    Column("Rank before", lambda change: change["ranks"][0], "number"),
    Column("Rank now", lambda change: change["ranks"][1], "number"),
)
_CORRECTIONS: Final = (
    Column("Question", lambda row: printable(row["id"], CUT)),
    Column("Dataset", lambda row: printable(row["dataset"], CUT)),
    Column("Changed", lambda row: printable(row["what"], CUT)),
    Column("Truth before", lambda row: printable(row["before"], CUT) or "–"),
    Column("Truth now", lambda row: printable(row["after"], CUT) or "–"),
)


def name_changes(changes: Iterable[Change], names: Names) -> list[Change]:
    """The changes with the display names of systems."""
    return [
        {**change, "system": names.get(change["system"], change["system"])} for change in changes
    ]


def changes_report(changes: Sequence[Change], overall: Sequence[Change] = ()) -> Report:
    """New systems; how many results changed, and why; the scores that moved furthest, those by more
    truths apart; `overall`, those over all datasets; corrected questions.
    """
    report: Report = []
    firsts = dict.fromkeys(change["system"] for change in changes if "is_first" in change)
    report += [f"new systems: {grouped_names([*firsts])}"] if firsts else []
    renamed = [change for change in changes if "renamed" in change]
    for names, same in group_by(renamed, itemgetter("renamed", "system")).items():
        report += [f"renamed: {' → '.join(map(printable, names))}, results {len(same)}"]
    reasons = group_changes(changes)
    report += [reason.line() for reason in reasons if reason.why != "renamed"]
    grown = [change for change in changes if change["causes"] == [MORE]]
    others = [change for change in changes if change["causes"] != [MORE]]
    report += _show_moves("", others, _MOVES_OF_SCORES)
    report += _show_moves("Moves by more truths", grown, _MOVES_OF_SCORES)
    report += _show_moves("Over all datasets", overall, _MOVES_OF_RANKS)
    return report + _show_corrections(changes)


def _show_moves(title: str, changes: Sequence[Change], columns: Sequence[Column]) -> Report:
    """The largest moves of scores or ranks as a table; nothing without one."""
    moves = [change for change in changes if moved(change) or "ranks" in change]
    moves.sort(key=lambda change: -abs(moved(change)))
    if not moves:
        return []
    name = Column("System", lambda change: printable(change["system"], 60))
    table = make_table([name, *columns], moves[:MOVES])
    more = [f"and {len(moves) - MOVES} smaller ones: --json"] if len(moves) > MOVES else []
    return ["", *([title] if title else []), table, *more]


def _show_corrections(changes: Sequence[Change]) -> Report:
    """The corrected questions of all datasets as a table."""
    rows, more = list[dict[str, object]](), list[str]()
    for change in changes:
        if corrected := change.get("corrected"):
            dataset, questions = change["dataset"], corrected["questions"]
            rows += [{**question, "dataset": dataset} for question in questions]
            if corrected["count"] > len(questions):
                count = corrected["count"] - len(questions)
                more.append(f"and {count} more of {printable(dataset, CUT)}")
    return ["", make_table(_CORRECTIONS, rows), *more] if rows else []


# --- Cards ---

_Links = Mapping[tuple[str, str, str], Link]  # of questions: benchmark, dataset, id


def draw_changes(history: History, names: Names, standings: Sequence[Standing]) -> Html:
    """A card for each reason, below the ranks that moved."""
    if history.night < 2:
        text = "This is the first night: there is nothing to compare it with."
        return draw_section("What changed", tag("p", text, class_="cap"), name="changed")
    links, reasons = _find_links(standings), group_changes(read_changes(history))
    cards = [_draw_card(reason, links, names) for reason in reasons[:_CARDS]]
    cards += [tag("p", reason.title(), class_="s") for reason in reasons[_CARDS:]]
    drawn, title = (
        tag("div", *cards, class_="cards"),
        f"What changed on {printable(history.date, 20)}",
    )
    return draw_section(title, drawn, note=_say_ranks(standings), name="changed")


def _say_ranks(standings: Sequence[Standing]) -> str:
    """The ranks that the last night moved."""
    said = []
    for standing in standings:
        ranks = [
            f"{standing.names[system]} {before} → {row['rank']}"
            for system, row in standing.systems
            if row["rank"] and (before := standing.rank_before(system)) not in (None, row["rank"])
        ]
        more = f" and {len(ranks) - _MOVED} more" if len(ranks) > _MOVED else ""
        of = f"{standing.title}: " if len(standings) > 1 else ""
        said += [f"{of}{', '.join(ranks[:_MOVED])}{more}"] if ranks else []
    if said:
        return f"Ranks that moved: {'; '.join(said)}."
    return "Every rank stays." if any(standing.moves for standing in standings) else ""


def _draw_card(reason: Reason, links: _Links, names: Names) -> Html:
    """A reason: which questions it is about, the moves as dots, and the systems."""
    parts = [tag("h3", reason.title())]
    parts += [_list_corrections(each, links) for each in reason.changes if "corrected" in each]
    changes = sorted(reason.changes, key=lambda change: -abs(moved(change)))
    moves, said = reason.moves, f"{len(reason.moves)} of {len(changes)} scores moved"
    if moves:
        most = abs(moved(changes[0]))
        dots = [(_name(each, names), moved(each)) for each in changes[: len(moves)]]
        ends = f", {show_signed(moves[0])} to {show_signed(moves[-1])}"
        parts += [tag("p", said, ends, class_="s"), draw_dots(Axis("", (), -most, most), dots)]
    elif reason.kind == "changed":
        parts.append(tag("p", said, class_="s"))
    lines = [_draw_system(change, names) for change in changes[:_LISTED]]
    if len(changes) > _LISTED:
        lines.append(tag("li", soft(f"and {len(changes) - _LISTED} more")))
    count = len({change["system"] for change in changes})
    summary = tag("summary", soft(f"▸ {count} system{'s' * (count > 1)}"))
    is_open = "" if len(changes) == 1 else None
    return tag("article", *parts, tag("details", summary, tag("ul", *lines), open=is_open))


def _name(change: Change, names: Names) -> str:
    return names.get(change["system"], printable(change["system"], 60))


def _draw_system(change: Change, names: Names) -> Html:
    """A system of a card: its name, the name that it had before, its score, and the move."""
    score = change["before"] if change["after"] is None else change["after"]
    old = f" (before: {printable(change['renamed'], 60)})" if "renamed" in change else ""
    old += " (new system)" * ("is_first" in change)
    by = f" {show_signed(moved(change))}" if moved(change) else ""
    return tag("li", f"{_name(change, names)}{old} {show_score(score)}", soft(by))


def show_id(name: object) -> str:
    """The id of a question, as corrections have it."""
    return printable(as_text(name), CUT)


def _list_corrections(change: Change, links: _Links) -> Html:
    """The questions that changed, with their truths before and after."""
    corrected, lines = change["corrected"], []
    for question in corrected["questions"][:_CORRECTED]:
        name, *truths = (printable(question[key], CUT) for key in ("id", "before", "after"))
        link = links.get((change["benchmark"], change["dataset"], name))
        parts = [show_link(link) if link else soft(name), join(" ")]
        if question["what"] != "truth":
            parts.append(soft(f"{question['what']} "))
        elif truths[0]:
            parts += [soft(truths[0]), join(" → ")]
        lines.append(tag("li", *parts, truths[1] or "–"))
    more = corrected["count"] - len(lines)
    return tag("ul", *lines, *([tag("li", soft(f"and {more} more"))] if more > 0 else []))


def _find_links(standings: Sequence[Standing]) -> dict[tuple[str, str, str], Link]:
    """Where questions stand: in a row of the page, or else on the page of a run."""
    links = {}
    for standing in standings:
        own = standing.name.replace("ranking", "q")
        for week in standing.weeks or [standing.table]:
            runs = [run["name"] for row in week["rows"] for run in runs_of(week, row)]
            file = next((f"{run}.html" for run in runs if run in standing.reads.linked), "")
            questions = week.get("questions", ())
            is_shown = week is standing.newest and len(questions) <= SHOWN
            for question, key in zip(questions, page_keys(week), strict=True):
                name = show_id(question["id"])
                place = week["benchmark"], week["dataset"] or week.get("name", ""), name
                if key and is_shown:
                    links[place] = Link(name, "", f"{own}{key.removeprefix('q')}")
                elif key and file:
                    links[place] = Link(name, file, key)
    return links
