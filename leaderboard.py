"""Many prediction files: stored results, one ranking per dataset, paired comparison.

`python eval.py --all` scores every file of `prediction/` and writes `evaluation/NAME.json` for each and
`evaluation/leaderboard.{json,csv,md}`; `python eval.py --compare A B` tests the difference of systems on the same
questions. This module knows no benchmark: it is handed the function that scores one file, and reads `items` (id,
level, score), `signature` and the counts of what that returns. In Python: `rank`, `compare`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import signal
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from common import (
    FLIPS,
    SUFFIXES,
    EvaluationError,
    InputError,
    LockedError,
    Report,
    Results,
    Table,
    detectable_difference,
    dump_json,
    find_dataset,
    holm,
    mean,
    printable,
    show_interval,
    show_number,
    sign_flip_test,
    stratified_error,
    stratified_interval,
    stratified_mean,
    t_tail,
    write_atomic,
)

if TYPE_CHECKING:  # only large folders need processes, and scoring one file should start fast
    from concurrent.futures import ProcessPoolExecutor

__version__: Final = "1.0.0"
BOARD: Final = "leaderboard"
ALPHA: Final = 0.05
SEED: Final = 0
MOVERS: Final = 10  # questions that are shown to move a difference most
POOL_BYTES: Final = 2_000_000  # of unscored files from which a second process pays
STALE: Final = 3600.0  # seconds after which a temporary file belongs to nobody

Score = Callable[[Path, "Path | None"], Mapping[str, Any]]
Signature = Mapping[str, Any]


# --- Systems: what ranking and comparison need of a result ---


class System(NamedTuple):
    """One file's result without its texts: the scores by level, in an order that all systems share."""

    name: str
    group: tuple[str, str, str]  # benchmark, dataset, checksum of the questions
    weights: dict[str, float]
    scores: dict[str, list[float]]
    ids: dict[str, list[Any]]
    row: dict[str, Any]

    def strata(self, levels: Sequence[str]) -> list[tuple[float, list[float]]]:
        return [(self.weights[level], self.scores[level]) for level in levels]


def _question_key(item: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(item["id"]), str(item.get("level", "")), str(item.get("truth", ""))


def read_system(results: Mapping[str, Any]) -> System:
    """The scores of one result; raises InputError if missing answers are left out of it."""
    signature, name = results["signature"], str(results.get("name", "system"))
    if signature.get("missing", "zero") != "zero":
        raise InputError(name, "missing answers must score 0: systems are judged on the same questions", "missing skip")
    weights = {str(level): weight for level, weight in signature.get("weights", {"": 1.0}).items()}
    scores: dict[str, list[float]] = {level: [] for level in weights}
    ids: dict[str, list[Any]] = {level: [] for level in weights}
    for item in sorted(results["items"], key=_question_key):
        level = str(item["level"]) if "weights" in signature else ""
        scores[level].append(item["score"])
        ids[level].append(item["id"])
    llm = results.get("llm") or {}
    row = {
        "name": name,
        "prediction": results.get("prediction"),
        "n": sum(map(len, scores.values())),
        "missing": results["missing_count"],
        "unparsed": results["unparsed_count"],
        "warnings": len(results["warnings"]),
        "degraded": bool(llm.get("degraded")),
        "signature": signature,
    }
    group = (results["benchmark"], str(results.get("dataset") or ""), signature["questions_sha256"])
    return System(name, group, weights, scores, ids, row)


class Difference(NamedTuple):
    """A's weighted score minus B's: by level what every question differs by, and what it adds to the whole."""

    value: float
    strata: list[tuple[float, list[float]]]
    parts: list[float]


def read_difference(a: System, b: System, levels: Sequence[str]) -> Difference:
    """The per-question differences of two systems on the same questions, over `levels`."""
    strata = [
        (a.weights[level], [x - y for x, y in zip(a.scores[level], b.scores[level], strict=True)]) for level in levels
    ]
    total = math.fsum(weight for weight, values in strata if values)
    parts = [weight / total / len(values) * value for weight, values in strata for value in values]
    return Difference(stratified_mean(strata), strata, parts)


# --- Ranking ---


def rank(results: Iterable[Mapping[str, Any]], min_questions: int = 0) -> Results:
    """Rank systems: one table per dataset, best first, ties sharing a rank.

    Levels with fewer than `min_questions` questions are left out (shown as –) and the weights renormalised, as on
    the public leaderboard. Every system after the first carries the paired difference of the one above minus itself
    and its p-value (`common.sign_flip_test`, not adjusted for the number of systems); from 0.05 on it is not
    significant. Raises InputError if a result leaves missing answers out.
    """
    return _rank_systems(map(read_system, results), min_questions)


def _rank_systems(systems: Iterable[System], min_questions: int) -> Results:
    groups: dict[tuple[str, str, str], list[System]] = {}
    for system in systems:
        groups.setdefault(system.group, []).append(system)
    tables = [_rank_group(group, groups[group], min_questions) for group in sorted(groups)]
    signature = {"leaderboard": __version__, "min_questions": min_questions, "flips": FLIPS, "seed": SEED}
    return Results({"tables": tables, "signature": signature}, board_report)


def _rank_group(group: tuple[str, str, str], systems: list[System], min_questions: int) -> dict[str, Any]:
    first = systems[0]
    counts = {level: len(values) for level, values in first.scores.items()}
    levels = [level for level, count in counts.items() if count and count >= min_questions]
    overall = {id(system): stratified_mean(system.strata(levels)) for system in systems}
    # Equal scores may differ in the 17th digit; without a level that counts there is no order but the names'.
    order = sorted(systems, key=lambda system: (-round(overall[id(system)], 12) if levels else 0, system.name))
    pairs = [read_difference(upper, lower, levels) for upper, lower in pairwise(order)]
    tests = sign_flip_test([pair.parts for pair in pairs], seed=SEED) if levels and pairs else []
    rows: list[dict[str, Any]] = []
    for place, system in enumerate(order):
        row = {
            "rank": place + 1 if levels else None,
            "overall_score": overall[id(system)],
            "overall_interval": stratified_interval(system.strata(levels)),
            "level_scores": {level: mean(system.scores[level]) if level in levels else math.nan for level in counts},
            "difference_above": None,
            "p_above": None,
            "significant": None,
            **system.row,
        }
        if place and levels:
            above = pairs[place - 1].value
            if abs(above) < 1e-12:
                row["rank"] = rows[-1]["rank"]
            p = tests[place - 1]
            row.update(difference_above=above, p_above=p, significant=p < ALPHA)
        rows.append(row)
    benchmark, dataset, checksum = group
    return {
        "benchmark": benchmark,
        "dataset": dataset or None,
        "questions_sha256": checksum,
        "level_counts": counts,
        "weights": {level: first.weights[level] for level in levels},
        "rows": rows,
    }


# --- Comparison ---


def compare(results: Sequence[Mapping[str, Any]]) -> Results:
    """Compare systems pairwise on the same questions.

    For each pair A, B: the difference of the weighted scores (A − B) with a t interval on the per-question
    differences (`common.stratified_error`), the p-value of `common.sign_flip_test`, Holm's adjustment over all pairs,
    the smallest difference that so many questions show with 80 % power, wins, ties and losses of A by level, and
    the questions that move the difference most. Raises InputError for fewer than two results, and for different
    questions or truths, naming how they differ.
    """
    if len(results) < 2:
        raise InputError("compare", "expected two systems or more", str(len(results)))
    names = _distinct_names(results)
    systems = [read_system(result)._replace(name=name) for result, name in zip(results, names, strict=True)]
    for system, result in zip(systems[1:], results[1:], strict=True):
        _require_same_questions(results[0], result, names[0], system.name)
    levels = [level for level, values in systems[0].scores.items() if values]
    pairs = list(combinations(range(len(systems)), 2))
    differences = [read_difference(systems[a], systems[b], levels) for a, b in pairs]
    tests = sign_flip_test([difference.parts for difference in differences], seed=SEED)
    rows = []
    for (a, b), difference, p, adjusted in zip(pairs, differences, tests, holm(tests), strict=True):
        error = stratified_error(difference.strata)
        rows.append({
            "a": names[a],
            "b": names[b],
            "difference": difference.value,
            "interval": stratified_interval(difference.strata, (-1.0, 1.0)),
            "p": p,
            "p_holm": adjusted,
            "p_t": t_tail(difference.value / error[0], error[1]) if error else None,
            "detectable": detectable_difference(error) if error else None,
            "levels": {level: _tally(values) for level, (_, values) in zip(levels, difference.strata, strict=True)},
            "questions": _movers(systems[a], systems[b], levels, difference.parts),
        })  # fmt: skip
    return Results(
        {
            "dataset": results[0].get("dataset"),
            "n": len(results[0]["items"]),
            "level_counts": {level: len(systems[0].scores[level]) for level in levels},
            "systems": [
                {"overall_score": stratified_mean(s.strata(levels)),
                 "overall_interval": stratified_interval(s.strata(levels)), **s.row, "name": s.name}
                for s in systems
            ],
            "pairs": rows,
            "signature": {
                "leaderboard": __version__, "flips": FLIPS, "seed": SEED,
                "questions_sha256": results[0]["signature"]["questions_sha256"],
                "systems": [result["signature"] for result in results],
            },
        },
        comparison_report,
    )  # fmt: skip


def _distinct_names(results: Sequence[Mapping[str, Any]]) -> list[str]:
    names: list[str] = []
    for number, result in enumerate(results, 1):
        name = str(result.get("name", f"system {number}"))
        names.append(f"{name} ({number})" if name in names else name)
    return names


def _require_same_questions(a: Mapping[str, Any], b: Mapping[str, Any], first: str, second: str) -> None:
    """Raise InputError if two results were not scored on the same questions, truths and sigmas."""
    where = f"{first}, {second}"
    if a["benchmark"] != b["benchmark"]:
        raise InputError(where, "expected the same benchmark", f"{a['benchmark']} and {b['benchmark']}")
    if a["signature"]["questions_sha256"] == b["signature"]["questions_sha256"]:
        return
    ids = [Counter(str(item["id"]) for item in result["items"]) for result in (a, b)]
    only = [_some((ids[0] - ids[1]).elements()), _some((ids[1] - ids[0]).elements())]
    if any(only):
        told = "; ".join(f"only in {name}: {names}" for name, names in zip((first, second), only, strict=True) if names)
        raise InputError(where, "expected the same questions", told)
    pairs = list(zip(*(sorted(result["items"], key=_question_key) for result in (a, b)), strict=True))
    for field in ("level", "truth"):
        differing = _some(x["id"] for x, y in pairs if x.get(field) != y.get(field))
        if differing:
            raise InputError(where, f"expected the same {field}s", f"other ones for {differing}")
    raise InputError(where, "expected the same questions", "the same ids and truths with another prompt or Std")


def _some(names: Iterable[object]) -> str:
    """The first three names, and how many there are."""
    listed = sorted(map(str, names))
    more = f", … ({len(listed)})" if len(listed) > 3 else ""
    return ", ".join(printable(name, 40) for name in listed[:3]) + more


def _tally(values: Sequence[float]) -> dict[str, int]:
    wins, losses = sum(value > 0 for value in values), sum(value < 0 for value in values)
    return {"wins": wins, "ties": len(values) - wins - losses, "losses": losses}


def _movers(a: System, b: System, levels: Sequence[str], parts: Sequence[float]) -> list[dict[str, Any]]:
    """The questions that add most to a difference, the largest first."""
    questions = (
        (name, level, x, y)
        for level in levels
        for name, x, y in zip(a.ids[level], a.scores[level], b.scores[level], strict=True)
    )
    rows = [
        {"id": name, "level": level or None, "a": x, "b": y, "adds": part}
        for (name, level, x, y), part in zip(questions, parts, strict=True)
        if part
    ]
    rows.sort(key=lambda row: (-abs(row["adds"]), str(row["id"])))
    return rows[:MOVERS]


# --- Reports ---


def board_report(board: Mapping[str, Any]) -> Report:
    """The tables of `rank`, and the files that could not be scored."""
    report: Report = []
    for table in board["tables"]:
        report += [_title(table), "", Table(*_board_cells(table)), ""]
        if any(row["significant"] is False for row in table["rows"]):
            report += [f"{_UNSURE} the paired difference to the system above is not significant (p >= {ALPHA}).", ""]
    report += [f"failed: {printable(entry['file'])}: {printable(entry['reason'])}" for entry in board.get("failed", [])]
    return report


_UNSURE: Final = "≈"


def _title(table: Mapping[str, Any]) -> str:
    against = printable(table["dataset"] or "its own questions")
    return f"Leaderboard  {table['benchmark']}, {against}, {sum(table['level_counts'].values())} questions"


def _board_cells(table: Mapping[str, Any]) -> tuple[list[str], list[list[str]], str]:
    """Header, rows and alignment of one table, as text."""
    levels = [level for level in table["level_counts"] if level]
    header = ["Rank", "System", "Overall", "95% interval", *(f"Level {level}" for level in levels)]
    header += ["n", "Missing", "Unparsed", "p above", "Notes"]
    rows = [
        [
            "–" if row["rank"] is None else str(row["rank"]), printable(row["name"]),
            show_number(row["overall_score"]), show_interval(row["overall_interval"]),
            *(show_number(row["level_scores"][level]) for level in levels),
            str(row["n"]), str(row["missing"]), str(row["unparsed"]),
            show_number(row["p_above"]), _notes(row),
        ]
        for row in table["rows"]
    ]  # fmt: skip
    return header, rows, "><>>" + ">" * len(levels) + ">>>><"


def _notes(row: Mapping[str, Any]) -> str:
    notes = [_UNSURE] if row["significant"] is False else []
    if row["degraded"]:
        notes.append("degraded: the language model failed")
    if row["warnings"]:
        notes.append(f"{row['warnings']} warnings")
    return ", ".join(notes)


def comparison_report(comparison: Mapping[str, Any]) -> Report:
    """The systems, the pairs, and for each pair the questions that move it."""
    against = printable(comparison["dataset"] or "their own questions")
    report: Report = [f"Comparison on {comparison['n']} questions, {against}", ""]
    systems = [
        [printable(s["name"]), show_number(s["overall_score"]), show_interval(s["overall_interval"]),
         str(s["missing"]), str(s["unparsed"])]
        for s in comparison["systems"]
    ]  # fmt: skip
    report += [Table(["System", "Overall", "95% interval", "Missing", "Unparsed"], systems, "<>>>>"), ""]
    levels = [level for level in comparison["level_counts"] if level]
    header = ["A", "B", "A − B", "95% interval", "p", "p (Holm)", "80% power at"]
    header += [f"Level {level}" for level in levels] or ["Wins"]
    pairs = []
    for pair in comparison["pairs"]:
        tallies = [f"{t['wins']}/{t['ties']}/{t['losses']}" for t in pair["levels"].values()]
        pairs.append([
            printable(pair["a"]), printable(pair["b"]), f"{pair['difference']:+.4f}", show_interval(pair["interval"]),
            show_number(pair["p"]), show_number(pair["p_holm"]), show_number(pair["detectable"]), *tallies,
        ])  # fmt: skip
    report += [Table(header, pairs, "<<" + ">" * (len(header) - 2)), ""]
    report += ["By level: questions that A wins/ties/loses. 80% power at: the difference found four times out of five."]
    for pair in comparison["pairs"]:
        rows = [
            [printable(q["id"], 40), q["level"] or "", show_number(q["a"]), show_number(q["b"]), f"{q['adds']:+.4f}"]
            for q in pair["questions"]
        ]
        title = f"What moves {pair['a']} − {pair['b']} most:"
        report += ["", printable(title), Table(["Question", "Level", "A", "B", "Adds"], rows, "<>>>>")]
    return report


def format_csv(board: Mapping[str, Any]) -> str:
    """The tables as one CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    levels = list(dict.fromkeys(level for table in board["tables"] for level in table["level_counts"] if level))
    writer.writerow([
        "benchmark", "dataset", "rank", "name", "overall_score", "overall_low", "overall_high",
        *(f"level_{level}" for level in levels), "n", "missing", "unparsed", "p_above", "significant",
    ])  # fmt: skip
    for table in board["tables"]:
        for row in table["rows"]:
            low, high = row["overall_interval"] or (None, None)
            cells = [
                table["benchmark"], table["dataset"], row["rank"], row["name"], row["overall_score"], low, high,
                *(row["level_scores"].get(level) for level in levels),
                row["n"], row["missing"], row["unparsed"], row["p_above"], row["significant"],
            ]  # fmt: skip
            writer.writerow([_csv_cell(cell) for cell in cells])
    return text.getvalue()


_FORMULA: Final = re.compile(r"\s*[-=+@＝＋－＠|%]")


def _csv_cell(cell: object) -> object:
    if isinstance(cell, str):
        return "'" + printable(cell) if _FORMULA.match(cell) else printable(cell)
    return "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else cell


_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()<>#+!|~&:@$^]|(?<=www)\.", re.I)


def format_markdown(board: Mapping[str, Any]) -> str:
    """The tables as Markdown; names of files are text there, whatever they hold."""
    lines = ["# Leaderboard", ""]
    for table in board["tables"]:
        header, rows, align = _board_cells(table)
        lines += [f"## {_markdown(_title(table))}", "", "| " + " | ".join(header) + " |"]
        lines.append("|" + "|".join("---:" if side == ">" else "---" for side in align) + "|")
        lines += ["| " + " | ".join([row[0], _markdown(row[1]), *row[2:]]) + " |" for row in rows]
        lines += ["", f"{_UNSURE}: the paired difference to the system above is not significant.", ""]
    if board["failed"]:
        lines += ["## Not scored", "", "| File | Reason |", "|---|---|"]
        lines += [f"| {_markdown(entry['file'])} | {_markdown(entry['reason'])} |" for entry in board["failed"]]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", printable(text))


# --- Files ---


def save_results(results: Mapping[str, Any], folder: Path) -> str:
    """Write `folder/NAME.json`, atomically; the sha256 of what was written."""
    return _write(folder / f"{results['name']}.json", dump_json(results, indent=1) + "\n")


def _write(path: Path, text: str) -> str:
    write_atomic(path, text)
    return hashlib.sha256(text.encode()).hexdigest()


def score_unchanged(score: Score, path: Path, dataset: Path | None) -> Mapping[str, Any]:
    """`score(path, dataset)`, once more if a file changed meanwhile (size, time or identity).

    Raises InputError if it changed again, and what `score` raises for files that stay as they are.
    """
    for last in (False, True):
        before = _stamps(path, dataset)
        try:
            results = score(path, dataset)
        except EvaluationError:
            if last or _stamps(path, dataset) == before:
                raise
            continue
        if _stamps(path, dataset) == before:
            return results
    raise InputError(str(path), "expected files that stay as they are", "a change while it was read, twice")


def _stamps(*paths: Path | None) -> list[tuple[int, int, int] | None]:
    stamps: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            status = path.stat() if path else None
        except OSError:  # `score` will say so
            status = None
        stamps.append((status.st_size, status.st_mtime_ns, status.st_ino) if status else None)
    return stamps


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold `folder/.lock`, which the kernel releases when its holder dies; LockedError if another run has it."""
    import fcntl

    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(f"{folder}: another run is at work here") from None
        except OSError as error:
            raise EvaluationError(f"{path}: cannot be locked: {error.strerror or error}") from None
        yield


def sweep(folder: Path) -> None:
    """Remove temporary files whose writer was killed."""
    for path in folder.glob(".*.tmp"):
        writer = path.name[1:-4]
        with contextlib.suppress(OSError):
            if writer.isdigit() and (not _is_running(int(writer)) or time.time() - path.stat().st_mtime > STALE):
                path.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


class Failure(NamedTuple):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool = False


def list_predictions(folder: Path) -> tuple[list[Path], list[Failure]]:
    """The prediction files of a folder by name, hidden ones left out; files that cannot be told apart are failures."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIXES) and name[0] != ".")
    except OSError as error:
        raise InputError(str(folder), f"cannot be read: {error.strerror or error}") from None
    by_stem: dict[str, list[str]] = {}
    for name in names:
        by_stem.setdefault(Path(name).stem, []).append(name)
    files, failures = [], []
    for stem, same in by_stem.items():
        others = ", ".join(same)
        for name in same:
            problem = _file_problem(folder / name)
            if len(same) > 1:
                problem = f"expected one file with this stem, got {others}"
            elif stem == BOARD:
                problem = f"expected another name: evaluation/{BOARD}.json is the leaderboard"
            if problem:
                failures.append(Failure(name, problem))
            else:
                files.append(folder / name)
    if not names:
        raise InputError(str(folder), "expected prediction files", "none")
    return files, failures


def _file_problem(path: Path) -> str:
    try:
        return "" if stat.S_ISREG(path.stat().st_mode) else "expected a regular file"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def evaluate_folder(
    root: Path, score: Score, settings: Mapping[str, Signature], force: bool = False, min_questions: int = 0,
    processes: int = 1,
) -> Results:  # fmt: skip
    """Score every file of `root/prediction`, store the results and the leaderboard in `root/evaluation`.

    A stored result is reused if its signature still holds: the `settings` of its benchmark, the sha256 of its
    prediction and dataset. `score` must be picklable if `processes` > 1. Returns the board: `rank` of all results,
    with `failed` (file, reason, fault), `evaluated` and `reused` (counts). Raises LockedError if another run is at
    work, and EvaluationError if nothing can be read or written.
    """
    folder = root / "evaluation"
    with lock_folder(folder):
        sweep(folder)
        files, failures = list_predictions(root / "prediction")
        known = _known_rows({} if force else _read_stored(folder / f"{BOARD}.json"))
        settings = json.loads(dump_json(settings))  # as stored: keys are text there
        hash_dataset = lru_cache(maxsize=None)(_hash_file)
        checksums: dict[str, str] = {}  # of the stored results, by name
        todo: list[tuple[Path, Path | None]] = []
        for path in files:
            try:
                dataset = find_dataset(path, root / "dataset")
                stored = folder / f"{path.stem}.json"
                signature = {"prediction_sha256": _hash_file(path)}
                if dataset:
                    signature["dataset_sha256"] = hash_dataset(dataset)
                checksum = "" if force else _reusable(stored, known.get(path.stem), path, dataset, signature, settings)
            except EvaluationError as error:
                failures.append(Failure(path.name, _reason(error, path, root)))
                continue
            if checksum:
                checksums[path.stem] = checksum
            else:
                todo.append((path, dataset))
        fresh: dict[str, System] = {}
        for (path, _), outcome in zip(todo, _score_files(score, todo, root, processes), strict=True):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                text, fresh[path.stem] = outcome
                checksums[path.stem] = _write(folder / f"{path.stem}.json", text)
        failures.sort()
        board = _store_board(folder, checksums, fresh, failures, min_questions)
    return Results({**board, "evaluated": len(fresh), "reused": len(checksums) - len(fresh)}, board_report)


def _reason(error: EvaluationError, path: Path, root: Path) -> str:
    return str(error).removeprefix(f"{printable(path)}: ").replace(f"{root}{os.sep}", "")


def _hash_file(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None


def _read_stored(path: Path) -> dict[str, Any]:
    """A file that this module wrote; {} if it is not there or damaged: then it is made anew."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _known_rows(board: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a stored leaderboard says of each file."""
    try:
        return {
            row["name"]: {**row, "benchmark": table["benchmark"], "dataset": table["dataset"]}
            for table in board.get("tables", [])
            for row in table["rows"]
        }
    except (TypeError, KeyError):
        return {}


def _reusable(
    stored: Path,
    known: Mapping[str, Any] | None,
    path: Path,
    dataset: Path | None,
    signature: Signature,
    settings: Mapping[str, Signature],
) -> str:
    """The sha256 of a stored result whose signature still holds; "" if there is none, or if a model failed in it."""
    try:
        raw = stored.read_bytes()
    except OSError:
        return ""
    checksum = hashlib.sha256(raw).hexdigest()
    if known is None or known.get("result_sha256") != checksum:
        known = _read_stored(stored)
    theirs, benchmark = known.get("signature"), str(known.get("benchmark"))
    if not isinstance(theirs, dict) or benchmark not in settings or known.get("degraded"):
        return ""
    if isinstance(known.get("llm"), dict) and known["llm"].get("degraded"):
        return ""
    if (known.get("prediction"), known.get("dataset")) != (path.name, dataset.name if dataset else None):
        return ""
    expected = {"dataset_sha256": None, **settings[benchmark], **signature}
    return checksum if all(theirs.get(key) == value for key, value in expected.items()) else ""


Outcome = Failure | tuple[str, System]


def _score_files(
    score: Score, tasks: Sequence[tuple[Path, Path | None]], root: Path, processes: int
) -> Iterator[Outcome]:
    """Score files in their order, with a progress bar on a terminal."""
    from tqdm import tqdm

    work = partial(_score_one, score, root)
    size = sum(stamp[0] for stamp in _stamps(*(path for path, _ in tasks)) if stamp)
    apart = processes > 1 and len(tasks) > 1 and size > POOL_BYTES
    outcomes = _in_processes(work, tasks, processes) if apart else map(work, tasks)
    yield from tqdm(outcomes, total=len(tasks), desc="scoring", unit="file", leave=False, disable=None)


def _score_one(score: Score, root: Path, task: tuple[Path, Path | None]) -> Outcome:
    path, dataset = task
    try:
        results = score_unchanged(score, path, dataset)
        return dump_json(results, indent=1) + "\n", read_system(results)
    except EvaluationError as error:
        return Failure(path.name, _reason(error, path, root))
    except Exception as error:  # a fault of this tool in one file must not cost a night's other files
        return Failure(path.name, f"internal fault, please report it: {type(error).__name__}: {error}", True)


def _in_processes(
    work: Callable[[tuple[Path, Path | None]], Outcome], tasks: Sequence[tuple[Path, Path | None]], processes: int
) -> Iterator[Outcome]:
    """`map(work, tasks)` in processes. If one dies, the rest runs one by one, to tell which file it was."""
    from concurrent.futures.process import BrokenProcessPool

    done, pool = 0, _start_pool(processes)
    try:
        for outcome in pool.map(work, tasks, chunksize=4):
            yield outcome
            done += 1
    except BrokenProcessPool:
        for task in tasks[done:]:
            try:
                outcome = pool.submit(work, task).result()
            except BrokenProcessPool:
                outcome = Failure(task[0].name, "the process that scored it was killed (out of memory?)")
                pool = _start_pool(1)
            yield outcome
    finally:
        pool.shutdown(cancel_futures=True)


def _start_pool(processes: int) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not forked: a child must not hold the lock, nor a copy of threads that do not run in it.
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin_worker)


def _begin_worker() -> None:
    """Ctrl-C is the parent's business; a parent that was killed takes its workers with it."""
    import multiprocessing
    from multiprocessing.connection import wait

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def leave() -> None:
        if parent:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=leave, daemon=True).start()


def _store_board(
    folder: Path, checksums: Mapping[str, str], fresh: Mapping[str, System], failures: Sequence[Failure],
    min_questions: int,
) -> dict[str, Any]:  # fmt: skip
    """Write leaderboard.json, .csv and .md unless they hold just that already; the board."""
    failed = [failure._asdict() for failure in failures]
    made_of = [__version__, FLIPS, SEED, min_questions, dict(checksums), failed]
    inputs = hashlib.sha256(dump_json(made_of).encode()).hexdigest()
    board = _read_stored(folder / f"{BOARD}.json")
    signature = board.get("signature")
    if not isinstance(signature, dict) or signature.get("inputs_sha256") != inputs:
        systems = (
            fresh.get(name) or read_system(_read_stored(folder / f"{name}.json")) for name in sorted(checksums)
        )
        board = dict(_rank_systems(systems, min_questions))
        board["signature"]["inputs_sha256"] = inputs
        board["failed"] = failed
        for table in board["tables"]:
            for row in table["rows"]:
                row["result_sha256"] = checksums[row["name"]]
        text = dump_json(board, indent=1) + "\n"
        board = json.loads(text)
        write_atomic(folder / f"{BOARD}.json", text)
    for suffix, text in (("csv", format_csv(board)), ("md", format_markdown(board))):
        path = folder / f"{BOARD}.{suffix}"
        try:
            old = path.read_bytes()
        except OSError:
            old = b""
        if old != text.encode():
            write_atomic(path, text)
    return board
