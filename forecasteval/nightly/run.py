"""The nightly run: every file of `prediction/` is scored if it is new, stored in
`evaluation/` and ranked.

A nightly run is made of values, each from the ones before: what is to be done
(`_Plan`), what scoring found (`_Scored`), which rows are carried over (`CarriedOver`),
and the board, which is written.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.benchmark import Files, without_collector
from forecasteval.boards.by_column import add_parts
from forecasteval.boards.changes import Change
from forecasteval.boards.metadata import add_about
from forecasteval.boards.reasons import QuestionChange
from forecasteval.boards.report import BoardResults, format_csv, format_markdown
from forecasteval.common.errors import (
    EvaluationError,
    InputError,
    grouped_names,
    printable,
)
from forecasteval.common.files import hash_file, share_reads, write_atomic
from forecasteval.common.forms import to_record
from forecasteval.common.records import JsonObject, dump_json, group_by, hash_text
from forecasteval.common.version import PACKAGE, hash_code
from forecasteval.lookup import Failure, explain, failure, find_tasks, list_predictions
from forecasteval.nightly.carried_over import CarriedOver, carry_over, is_partial_set
from forecasteval.nightly.clock import today
from forecasteval.nightly.entry_book import BOOK
from forecasteval.nightly.first_seen import BookOptions, Observations, record_first_seen
from forecasteval.nightly.history import (
    Corrections,
    append_night,
    find_corrections,
    open_history,
)
from forecasteval.nightly.pages import write_board
from forecasteval.nightly.stamp import (
    NightFiles,
    list_inputs,
    observe_night,
    remove_stamp,
)
from forecasteval.nightly.store import (
    StoredResult,
    is_current,
    lock_folder,
    read_result_of,
    read_stored,
    remove_gone,
    result_pieces,
    write_changed,
)
from forecasteval.nightly.tasks import NightOptions, score_files
from forecasteval.ranking.board import Board, RankedTable, RemovedEntry, read_board
from forecasteval.ranking.datasets import order_tables, rank_results, ranking_settings
from forecasteval.ranking.files import FileRow, ForecasterTable
from forecasteval.ranking.names import BOARD, SYSTEMS_FILE, Systems, read_systems
from forecasteval.ranking.systems import (
    System,
    count_entries,
    file_row,
    make_missing,
    rename,
)
from forecasteval.scoring import Scorer

from .pages import run_key

_MAX_MISTAKES: Final = 5  # of `systems.json` that are named
_BY_FILE: Final[Callable[[Any], Any]] = itemgetter("file", "reason")
Rows = Mapping[str, FileRow]  # of the files in the last leaderboard, by name


@share_reads()
def run_night(
    root: Path, scorer: Scorer, options: NightOptions
) -> tuple[BoardResults, NightFiles]:
    """Score every file of `root/prediction`, and store results and leaderboard in
    `scorer.output`.

    A stored result is reused as long as its signature holds: the settings of its
    benchmark, the checksums of its prediction and dataset, and its own. With
    `options.pages` its page must stand beside it. The files of a dataset that are
    ranked together have one result, of the dataset's name. `scorer.score` must be
    picklable if there are processes or a cluster.

    Returns the board, and the files that the run read and wrote. Beside its
    tables the board has

        evaluated, reused  how many files were scored, and how many results were reused
        ignored            names of files that are not read
        twins              names of systems that look alike
        llm_failures       how often the language model failed, by kind and file
        notes              lines for the operator
        record_notes       lines about the entry book
        changes            what changed since the run before

    Raises LockedError if another run is at work, and EvaluationError if nothing can be
    read or written.
    """
    date = today()
    inputs = list_inputs(root)
    # This comes first, so that a folder that was mistyped is not made.
    tasks, failures, ignored = find_tasks(
        root, scorer.has_questions, scorer.ranks_together
    )
    folder = scorer.output

    with lock_folder(folder):
        remove_stamp(folder)
        last = _read_last(folder)
        rows = {file.name: file for file in last.files}
        is_partial = partial(is_partial_set, last=last, predictions=root / "prediction")
        hash_once = cache(hash_file)
        systems = read_systems(root / "prediction")
        book_options = BookOptions(
            policy=options.late_files,
            must_begin=options.begin_record,
            needs_times=bool(scorer.given.get("horizon")),
        )
        with without_collector():  # the book is many small values without cycles
            observed = record_first_seen(
                root, scorer, tasks, book_options, last, systems, hash_once
            )
        tasks = [_add_owners(task, last) for task in observed.tasks]
        plan = _plan(root, scorer, options, tasks, rows, hash_once)
        scored = _score(root, scorer, options, plan.todo, rows, is_partial)
        # A file may have gone since the run began.
        names = [path.name for path in list_predictions(root)]
        present = [name for name in names if name not in observed.left_out]
        waiting = chain.from_iterable(scored.waiting.values())
        reused = [result for result in plan.reused if not is_partial(result.row)]
        tonight = reused + scored.results
        carried_over = carry_over(last, tonight, present, waiting, root, folder)
        remove_gone(folder, {task.name for task in tasks}, present, rows)
        failures += observed.failures + plan.failures + scored.failures
        board = _rank(
            last, options, carried_over, scored, failures, systems, observed, present
        )
        board, unknown = _add_parts(board, last, options, carried_over)
        changes, written = _write(
            board,
            last,
            folder,
            options,
            systems,
            present,
            observed,
            scored.corrections,
            date,
        )
        files = observe_night(inputs, folder, hash_once, observed.next_closing)
    notes = [
        *_describe_unchecked(observed, tonight),
        *scored.notes,
        *_describe_carried_over(carried_over),
        *unknown,
        *written,
    ]
    more = {
        "evaluated": len(scored.results),
        "reused": len(plan.reused),
        "ignored": ignored,
        "twins": systems.find_twins({row.system_name for row in board.files}),
        "llm_failures": scored.llm_failures,
        "notes": notes,
        "record_notes": observed.notes,
        "changes": changes,
    }
    return BoardResults(board, more, changes), files


def _read_last(folder: Path) -> Board:
    """Read the last leaderboard; one without tables if there is none, or one of
    another version.
    """
    stored, _ = read_stored(folder / f"{BOARD}.json")
    with contextlib.suppress(InputError):
        if stored:
            return read_board(stored)
    return rank_results([])


# --- What is to be done ---


def _add_owners(task: Files, last: Board) -> Files:
    """Add the files of the forecasters on the dataset's last board."""
    datasets = [path.name for path in task.datasets]
    owners: set[tuple[str, str]] = set()
    for table in last.tables:
        if table.dataset in datasets:
            owners |= table.owners
    return task._replace(owners=frozenset(owners))


class _Plan(NamedTuple):
    """What is to be scored, the stored results that hold, and the files that
    cannot be read.
    """

    todo: list[Files]
    reused: list[StoredResult]
    failures: list[Failure]


def _plan(
    root: Path,
    scorer: Scorer,
    options: NightOptions,
    tasks: Sequence[Files],
    rows: Rows,
    hash_once: Callable[[Path], str],
) -> _Plan:
    @cache
    def read_settings(benchmark: str) -> Any:
        as_stored = dump_json(scorer.settings(benchmark))
        return json.loads(as_stored)

    plan = _Plan([], [], [])
    for task in tasks:
        try:
            stored = None
            checksums = task.checksums(hash_once)
            if not options.force:
                stored = _find_stored(scorer.output / f"{task.name}.json", rows)
            if stored and not _is_reusable(stored.row, task, checksums, read_settings):
                stored = None
        except EvaluationError as error:
            reason = explain(error, task.path, root)
            plan.failures.append(failure(task.prediction, reason))
            continue
        if stored is None or (options.pages and not _has_page(stored)):
            plan.todo.append(task)
        else:
            plan.reused.append(stored)
    return plan


def _has_page(stored: StoredResult) -> bool:
    return is_current(stored.path.with_suffix(".html"), run_key(stored.checksum))


def _find_stored(path: Path, rows: Rows) -> StoredResult | None:
    """Find a stored result; None if there is none, or if it is damaged."""
    try:
        checksum = hash_file(path)
    except InputError:
        return None
    row = rows.get(path.stem)
    # As it was ranked: it need not be read through.
    if row is not None and row.file_sha256 == checksum:
        return StoredResult(path, checksum, row)
    result = read_result_of(path, checksum, is_known=False)
    if result is None:
        return None
    return StoredResult(path, checksum, file_row(result), result)


def _is_reusable(
    row: FileRow,
    task: Files,
    checksums: Mapping[str, str],
    settings: Callable[[str], Mapping[str, object]],
) -> bool:
    """Tell whether a stored result is still the one of its files and settings. Not
    where a model or a line failed.

    Raises InputError if it had a dataset and there is none any more.
    """
    if row.prediction != task.prediction or row.degraded or row.damaged_lines:
        return False
    dataset = task.dataset
    if dataset is None:
        if row.dataset:
            expected = f"expected its dataset, {row.dataset}, as before (or --force)"
            raise InputError(str(task.path), expected, "none")
    elif row.dataset != dataset.name:
        return False
    absent = ("dataset_sha256", "truths_sha256", "late_files", "late_sha256")
    expected_values = {**dict.fromkeys(absent), **settings(row.benchmark), **checksums}
    return all(
        row.signature.get(key) == value for key, value in expected_values.items()
    )


# --- Scores ---


class _Scored(NamedTuple):
    """What scoring found: results that are stored, and why others have none."""

    results: list[StoredResult]
    failures: list[Failure]
    notes: list[str]
    waiting: dict[str, list[str]]  # files, by dataset
    void: set[str]  # datasets of these without a question to score
    corrections: dict[tuple[object, object], list[QuestionChange]]
    llm_failures: dict[str, dict[str, int]]  # how often, by kind and file


def _score(
    root: Path,
    scorer: Scorer,
    options: NightOptions,
    tasks: Sequence[Files],
    rows: Rows,
    is_partial: Callable[[FileRow], bool],
) -> _Scored:
    """Score the tasks and store their results, but those that are parts of sets."""
    scored = _Scored([], [], [], {}, set(), {}, {})
    scoring = score_files(scorer.score, tasks, root, scorer.output, options)
    with contextlib.closing(scoring) as outcomes:
        for task, outcome in zip(tasks, outcomes, strict=True):
            scored.failures.extend(outcome.failures)
            scored.notes.extend(outcome.notes)
            if outcome.waiting:
                dataset = task.dataset.name if task.dataset else task.prediction
                scored.waiting.setdefault(dataset, []).extend(outcome.waiting)
                if outcome.void:
                    scored.void.add(dataset)
            result = outcome.scored
            if result is None or is_partial(result.row):
                continue
            for kind, count in outcome.llm_failures.items():
                scored.llm_failures.setdefault(kind, {})[task.prediction] = count
            before = rows.get(result.name)
            now = result.row.signature.get("questions_sha256")
            checksums = (before and before.signature.get("questions_sha256"), now)
            # Files that were asked the same questions are compared once.
            if checksums[0] != now and checksums not in scored.corrections:
                former = scorer.output / result.path.name
                scored.corrections.update(find_corrections(former, result.path))
            scored.results.append(result.move_to(scorer.output))
    return scored


# --- The board ---


def _describe_carried_over(carried_over: CarriedOver) -> list[str]:
    """Say which files have no result but a row."""
    unranked = {row.name for table in carried_over.tables for row in table.rows}
    names = {
        "ranked as before": carried_over.names,
        "kept without rank beside other questions": sorted(unranked),
    }
    notes = []
    for what, files in names.items():
        if files:
            notes.append(f"no result, {what}: {grouped_names(files)}")
    return notes


def _rank(
    last: Board,
    options: NightOptions,
    carried_over: CarriedOver,
    scored: _Scored,
    failures: Sequence[Failure],
    systems: Systems,
    observed: Observations,
    present: Collection[str],
) -> Board:
    """Rank the results, unless `last` is the board of just these already and
    nothing is forced.
    """
    missing = _make_missing(options, observed, last, carried_over.results)
    names = {system.name for system in missing}
    tables = [_without(table, names) for table in carried_over.tables]
    tables = [table for table in tables if table.rows]
    removed = _list_removed(options, observed, present, systems)
    record = ""
    if observed.has_book:
        record = BOOK
    failed: list[Any] = sorted(failures, key=_BY_FILE)
    minima = options.min_questions, options.min_datasets
    rules = [
        hash_code(PACKAGE / "ranking"),  # an edited model makes another board
        ranking_settings(*minima),
        options.by,
    ]
    checksums = {result.name: result.checksum for result in carried_over.results}
    values = [checksums, carried_over.names, to_record(tables), failed]
    facts = [
        to_record([*systems]),
        scored.waiting,
        sorted(scored.void),
        to_record(observed.open_datasets),
        to_record(observed.withdrawn),
    ]
    counts = [
        _sort_names(observed.late),
        _sort_names(observed.removed),
        to_record(removed),
        {system.name: [system.group, system.outcomes] for system in missing},
    ]
    parts = [*rules, *values, *facts, *counts, record]
    inputs = hash_text(dump_json(parts))
    if last.inputs_sha256 == inputs and not options.force:
        return last
    results = sorted(carried_over.results, key=attrgetter("name"))
    entries = [_count_entries(result.read(), observed) for result in results] + missing
    rows = map(file_row, entries)
    systems = systems.without_clashes([(row.name, row.dataset) for row in rows])
    renamed = [rename(entry, systems.aliases) for entry in entries]
    ranked = rank_results(renamed, *minima, systems.baselines)
    ranked = replace(
        ranked,
        tables=order_tables([*ranked.tables, *tables]),
        inputs_sha256=inputs,
        waiting=dict(sorted(scored.waiting.items())),
        void=sorted(scored.void),
        open=observed.open_datasets,
        withdrawn=observed.withdrawn,
        removed=removed,
        record=record,
    )
    ranked, taken = add_about(ranked, systems)
    mistakes = systems.mistakes + taken
    if mistakes:
        named = mistakes[:_MAX_MISTAKES]
        if len(mistakes) > _MAX_MISTAKES:
            named.append(f"and {len(mistakes) - _MAX_MISTAKES} more")
        failed.append(failure(SYSTEMS_FILE, printable("; ".join(named))))
    return replace(_add_counts(ranked), failed=sorted(failed, key=_BY_FILE))


def _sort_names(names: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    return {stem: sorted(questions) for stem, questions in names.items()}


def _add_parts(
    board: Board, last: Board, options: NightOptions, carried_over: CarriedOver
) -> tuple[Board, list[str]]:
    """Give the board its scores by the values of a column, unless it is
    that of before.
    """
    has_parts = any(row.by for table in board.tables for row in table.rows)
    if not options.by or (board is last and has_parts):
        return board, []
    paths = {result.name: result for result in carried_over.results}

    def read_result(name: str) -> JsonObject:
        result = paths.get(name)
        if result:
            return read_stored(result.path, result.checksum)[0]
        return {}

    return add_parts(board, options.by, read_result)


# --- Entries ---


def _describe_unchecked(
    observed: Observations, tonight: Sequence[StoredResult]
) -> list[str]:
    """Name the files that have a result although nobody could read when
    their answers came.
    """
    unchecked: list[str] = []
    for result in tonight:
        stems = observed.unchecked & result.stems
        # A file without any answer has none that could be late.
        if stems and not _is_blank(result):
            unchecked += sorted(stems)
    if not unchecked:
        return []
    return [
        f"late as a whole, since they could not be checked: {grouped_names(unchecked)}"
    ]


def _is_blank(result: StoredResult) -> bool:
    """Return whether no answer of a system could be read."""
    system = result.read()
    return isinstance(system, System) and system.is_blank


def _make_missing(
    options: NightOptions,
    observed: Observations,
    last: Board,
    results: Sequence[StoredResult],
) -> list[System]:
    """Make the systems of files that stay entries although they have no result: they
    are gone, or cannot be scored beside others with other truths.

    Only where another file of the dataset has a result: else there is no rank to gain.
    """
    if options.late_files == "keep":
        return []
    templates: dict[str | None, StoredResult] = {}  # the first result of each dataset
    scored: set[str] = set()
    for result in results:
        scored |= result.stems
        if not result.row.kept:
            templates.setdefault(result.row.dataset, result)
    predictions = {row.name: row.prediction for row in last.files}
    missing = []
    for file in observed.list_entered(scored):
        if file.dataset not in templates:
            continue
        template = templates[file.dataset].read()
        if isinstance(template, System):
            system = make_missing(template, file.stem, predictions.get(file.stem))
            missing.append(count_entries(system, (), file.questions))
    return missing


def _count_entries(
    result: System | ForecasterTable, observed: Observations
) -> System | ForecasterTable:
    """Count the late answers of a result, and those that were taken back."""
    if not isinstance(result, System):
        return result
    none = frozenset[str]()
    late = observed.late.get(result.name, none)
    removed = observed.removed.get(result.name, none)
    return count_entries(result, late, removed)


def _add_counts(board: Board) -> Board:
    """Count in the rows of a board what its owner has withdrawn, and what went
    with its file.
    """
    withdrawn = group_by(board.withdrawn, attrgetter("system"))
    removed = group_by(board.removed, attrgetter("benchmark", "system"))
    if not withdrawn and not removed:
        return board

    def add(table: Any) -> Any:
        rows = []
        for row in table.rows:
            names = [entry.name for entry in withdrawn.get(row.system_name, ())]
            entries = removed.get((table.benchmark, row.system_name), [])
            if not table.datasets:  # a table of one dataset
                names = [name for name in names if name.startswith(f"{table.label}@")]
                entries = [entry for entry in entries if entry.dataset == table.dataset]
            answers = sum(entry.answers for entry in entries)
            rows.append(
                replace(row, withdrawn=len(names), removed=row.removed + answers)
            )
        return replace(table, rows=rows)

    tables = []
    for table in board.tables:
        # What forecasters have withdrawn or removed is left out, or counted, when
        # they are scored.
        tables.append(table if table.kind == "forecasters" else add(table))
    return replace(board, pooled=list(map(add, board.pooled)), tables=tables)


def _without(table: RankedTable, names: set[str]) -> RankedTable:
    """Leave out of a table the rows of systems that have one as missing."""
    rows = []
    for row in table.rows:
        if names.isdisjoint(file.name for file in row.files):
            rows.append(row)
    changed: Any = table
    return replace(changed, rows=rows)  # type: ignore[no-any-return]


def _list_removed(
    options: NightOptions,
    observed: Observations,
    present: Collection[str],
    systems: Systems,
) -> list[RemovedEntry]:
    """List the answers of files that are gone, if "keep" ignores them."""
    if options.late_files != "keep":
        return []
    counts: Counter[tuple[str, str, str]] = Counter()
    for file in observed.list_entered({Path(name).stem for name in present}):
        system = systems.system_of(file.stem, file.dataset)
        counts[file.benchmark, system, file.dataset] += len(file.questions)
    entries = []
    for (benchmark, system, dataset), count in sorted(counts.items()):
        entry = RemovedEntry(
            benchmark=benchmark, system=system, dataset=dataset, answers=count
        )
        entries.append(entry)
    return entries


# --- What is written ---


def _write(
    board: Board,
    last: Board,
    folder: Path,
    options: NightOptions,
    systems: Systems,
    present: Collection[str],
    observed: Observations,
    corrections: Corrections,
    date: str,
) -> tuple[list[Change], list[str]]:
    """Write leaderboard.json, append to the history, and write leaderboard.csv, .md and
    .html. What holds just that already stays as it is. Returns what the night
    changed, and notes.

    A history that cannot be read costs only itself.
    """
    if board is not last:
        write_atomic(folder / f"{BOARD}.json", result_pieces(to_record(board)))
    shown = {row.system_name for table in board.rankings for row in table.rows}
    aliases = {name: new for name, new in systems.aliases.items() if name not in shown}
    history = before = None
    notes: list[str] = []
    try:
        before, notes = open_history(folder, aliases)
    except InputError as error:
        notes.append(f"{error}; the history is not written")
    else:
        history = append_night(
            folder, before, board, present, observed.forecasters, corrections, date
        )
    changes = history.changes if history is not None else []
    write_changed(folder / f"{BOARD}.csv", format_csv(board))
    write_changed(folder / f"{BOARD}.md", format_markdown(board, changes))
    write_board(board, folder, history, options.force)
    if history is before:  # no line was added
        return [], notes
    return changes, notes
