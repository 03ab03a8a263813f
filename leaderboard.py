"""Many prediction files: stored results, one ranking per dataset, paired comparison.

`python eval.py --all` scores every file of `prediction/` and writes `evaluation/NAME.json` for each and
`evaluation/leaderboard.{json,csv,md}`; `python eval.py --compare A B` tests the difference of systems on the same
questions. This module knows no benchmark: it is handed the function that scores one file, and reads of what that
returns the `items` (question, id, level, score, outcome) and the `signature`, or the `ranking` of a file that holds
several forecasters, which is a table by itself. In Python: `rank`, `compare`.
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
import threading
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
    format_signature,
    hash_file,
    holm,
    mean,
    printable,
    require_regular,
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
    from concurrent.futures import Future, ProcessPoolExecutor

__version__: Final = "1.0.0"
BOARD: Final = "leaderboard"
ALPHA: Final = 0.05
SEED: Final = 0
MOVERS: Final = 10  # questions that are shown to move a difference most
POOL_BYTES: Final = 2_000_000  # of unscored files from which a second process pays

Score = Callable[[Path, "Path | None"], Results]
Signature = Mapping[str, Any]


# --- Systems: what ranking and comparison need of a result ---


class System(NamedTuple):
    """One file's result without its texts: by level, in an order that all systems share."""

    name: str
    group: tuple[str, str, str]  # benchmark, dataset, checksum of the questions
    policy: dict[str, Any]  # the signature without checksums
    weights: dict[str, float]
    scores: dict[str, list[float]]
    ids: dict[str, list[Any]]
    outcomes: dict[str, Counter[str]]
    row: dict[str, Any]

    def strata(self, levels: Sequence[str]) -> list[tuple[float, list[float]]]:
        return [(self.weights[level], self.scores[level]) for level in levels]

    def count(self, levels: Sequence[str], *outcomes: str) -> int:
        return sum(self.outcomes[level][outcome] for level in levels for outcome in outcomes)


def read_system(results: Mapping[str, Any], name: str | None = None) -> System:
    """The scores of one result; raises InputError if it has none, or if missing answers are left out of it."""
    signature, name = results["signature"], name or str(results.get("name", "system"))
    if "items" not in results:
        raise InputError(name, "expected a result with a score per question", str(results.get("benchmark")))
    if signature.get("missing", "zero") != "zero":
        raise InputError(name, "missing answers must score 0: systems are judged on the same questions", "missing skip")
    weights = {str(level): weight for level, weight in signature.get("weights", {"": 1.0}).items()}
    scores: dict[str, list[float]] = {level: [] for level in weights}
    ids: dict[str, list[Any]] = {level: [] for level in weights}
    outcomes: dict[str, Counter[str]] = {level: Counter() for level in weights}
    for item in sorted(results["items"], key=_question_key):
        level = str(item["level"]) if "weights" in signature else ""
        scores[level].append(item["score"])
        ids[level].append(item["id"])
        outcomes[level][item["outcome"]] += 1
    group = (results["benchmark"], str(results.get("dataset") or ""), signature["questions_sha256"])
    policy = {key: value for key, value in signature.items() if not key.endswith("sha256")}
    if "weights" in policy:
        policy["weights"] = weights
    return System(name, group, policy, weights, scores, ids, outcomes, _file_row(results, name))


def _file_row(results: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {
        "name": name,
        "benchmark": results["benchmark"],
        "dataset": results.get("dataset"),
        "prediction": results.get("prediction"),
        "warnings": len(results["warnings"]),
        "degraded": _is_degraded(results),
        "signature": results["signature"],
    }


class Ranking(NamedTuple):
    """One file's own ranking of the forecasters in it, as a table of the leaderboard."""

    table: dict[str, Any]


def read_result(results: Mapping[str, Any], name: str | None = None) -> System | Ranking:
    """What ranking needs of a result."""
    if "ranking" not in results:
        return read_system(results, name)
    row = _file_row(results, name or str(results.get("name", "forecasts")))
    return Ranking({**row, "rows": results["ranking"], "n_events": results["n_events"]})


def _question_key(item: Mapping[str, Any]) -> tuple[str, float]:
    # Rows that ask the same twice cannot be told apart: by score, so that the order of a file does not matter.
    return item["question"], item["score"]


def _is_degraded(results: Mapping[str, Any]) -> bool:
    llm = results.get("llm")
    return isinstance(llm, Mapping) and bool(llm.get("degraded"))


def _require_same_policy(a: System, b: System) -> None:
    """Raise InputError, naming the policies, if two systems were not scored alike."""
    differing = [key for key in {**a.policy, **b.policy} if a.policy.get(key) != b.policy.get(key)]
    if differing:
        told = "; ".join(f"{key} {a.policy.get(key)} and {b.policy.get(key)}" for key in differing)
        raise InputError(f"{a.name}, {b.name}", "expected results of the same version and policies", told)


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


def rank(results: Sequence[Mapping[str, Any]], min_questions: int = 0) -> Results:
    """Rank systems: one table per dataset, best first, ties sharing a rank.

    Levels with fewer than `min_questions` questions are left out (shown as –) and the weights renormalised, as on
    the public leaderboard. Every system after the first carries the paired difference of the one above minus itself
    and its p-value (`common.sign_flip_test`, not adjusted for the number of systems); from 0.05 on it is not
    significant. Raises InputError if a result leaves missing answers out, and if results on the same questions were
    not scored by the same version and policies.
    """
    names = _distinct_names(results)
    return _rank_results(map(read_result, results, names), min_questions)


def _distinct_names(results: Iterable[Mapping[str, Any]]) -> list[str]:
    names: list[str] = []
    for number, result in enumerate(results, 1):
        name = str(result.get("name", f"system {number}"))
        names.append(f"{name} ({number})" if name in names else name)
    return names


def _rank_results(results: Iterable[System | Ranking], min_questions: int) -> Results:
    groups: dict[tuple[str, str, str], list[System]] = {}
    own: list[dict[str, Any]] = []
    for system in results:
        if isinstance(system, Ranking):
            own.append(system.table)
            continue
        group = groups.setdefault(system.group, [])
        group.append(system)
        _require_same_policy(group[0], system)
    tables = [_rank_group(groups[group], min_questions) for group in sorted(groups)]
    tables += sorted(own, key=lambda table: (table["benchmark"], str(table["dataset"]), table["name"]))
    return Results({"tables": tables, "leaderboard": _settings(min_questions)}, board_report)


def _settings(min_questions: int) -> dict[str, Any]:
    return {"version": __version__, "min_questions": min_questions, "flips": FLIPS, "seed": SEED}


def _rank_group(systems: list[System], min_questions: int) -> dict[str, Any]:
    first = systems[0]
    counts = {level: len(values) for level, values in first.scores.items()}
    levels = [level for level, count in counts.items() if count and (count >= min_questions or not level)]
    overall = {id(system): stratified_mean(system.strata(levels)) for system in systems}
    # Equal scores may differ in the 17th digit; without a level that counts there is no order but the names'.
    order = sorted(systems, key=lambda system: (-round(overall[id(system)], 12) if levels else 0, system.name))
    pairs = [read_difference(upper, lower, levels) for upper, lower in pairwise(order)]
    tests = sign_flip_test([pair.parts for pair in pairs], seed=SEED) if levels else []
    rows: list[dict[str, Any]] = []
    for place, system in enumerate(order):
        row = {
            "rank": place + 1 if levels else None,
            "overall_score": overall[id(system)],
            "overall_interval": stratified_interval(system.strata(levels)),
            "level_scores": {level: mean(system.scores[level]) if level in levels else math.nan for level in counts},
            "n": sum(counts[level] for level in levels),
            "missing": system.count(levels, "missing"),
            "unparsed": system.count(levels, "unparsed", "illegal"),
            "difference_above": None,
            "p_above": None,
            "significant": None,
            **system.row,
        }
        if place and levels:
            above, p = pairs[place - 1].value, tests[place - 1]
            if abs(above) < 1e-12:
                row["rank"] = rows[-1]["rank"]
            row.update(difference_above=above, p_above=p, significant=p < ALPHA)
        rows.append(row)
    benchmark, dataset, checksum = first.group
    return {
        "benchmark": benchmark,
        "dataset": dataset or None,
        "level_counts": counts,
        "weights": {level: first.weights[level] for level in levels},
        "signature": {**first.policy, "min_questions": min_questions or None, "questions_sha256": checksum},
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
    systems = list(map(read_system, results, _distinct_names(results)))
    names = [system.name for system in systems]
    for system, result in zip(systems[1:], results[1:], strict=True):
        _require_same_questions(results[0], result, names[0], system.name)
        _require_same_policy(systems[0], system)
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
            "detectable": _detectable(error),
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
                 "overall_interval": stratified_interval(s.strata(levels)),
                 "missing": s.count(levels, "missing"), "unparsed": s.count(levels, "unparsed", "illegal"), **s.row}
                for s in systems
            ],
            "pairs": rows,
            "signature": {
                **systems[0].policy, "leaderboard": __version__, "flips": FLIPS, "seed": SEED,
                "questions_sha256": systems[0].group[2],
            },
        },
        comparison_report,
    )  # fmt: skip


def _detectable(error: tuple[float, float] | None) -> float | None:
    """None if no difference, or none that two scores in [0, 1] can have, would show."""
    least = detectable_difference(error) if error else math.inf
    return least if least <= 1 else None


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
    pairs = list(zip(*(sorted(result["items"], key=_told_apart_by) for result in (a, b)), strict=True))
    for field in ("level", "truth"):
        differing = _some(x["id"] for x, y in pairs if x.get(field) != y.get(field))
        if differing:
            raise InputError(where, f"expected the same {field}s", f"other ones for {differing}")
    raise InputError(where, "expected the same questions", "the same ids and truths with another prompt or Std")


def _told_apart_by(item: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(item["id"]), str(item.get("level")), str(item.get("truth"))


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
        if any(row.get("significant") is False for row in table["rows"]):
            report += [_EXPLAINED]
        report += [format_signature(table["signature"]), ""]
    report += [f"failed: {printable(entry['file'])}: {printable(entry['reason'])}" for entry in board.get("failed", [])]
    return report


_UNSURE: Final = "≈"
_EXPLAINED: Final = f"{_UNSURE} the paired difference to the system above is not significant (p >= {ALPHA})."


def _title(table: Mapping[str, Any]) -> str:
    against = printable(table["dataset"] or "its own questions")
    if "n_events" in table:
        notes = f", {table['warnings']} warnings" if table["warnings"] else ""
        return f"Leaderboard  {table['benchmark']}, {printable(table['name'])}, {table['n_events']} events{notes}"
    count = sum(table["level_counts"].values())
    used = sum(table["level_counts"][level] for level in table["weights"])
    shown = f"{count} questions" if used == count else f"{used} of {count} questions (small levels left out)"
    return f"Leaderboard  {table['benchmark']}, {against}, {shown}"


def _board_cells(table: Mapping[str, Any]) -> tuple[list[str], list[list[str]], str]:
    """Header, rows and alignment of one table, as text."""
    if "n_events" in table:
        own = [
            [str(row["rank"]), printable(row["name"], 60), show_number(row["score"]), show_interval(row["interval"]),
             str(row["n"])]
            for row in table["rows"]
        ]  # fmt: skip
        return ["Rank", "Forecaster", "Brier", "95% interval", "n"], own, "><>>>"
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
    report += ["", format_signature(comparison["signature"])]
    return report


def format_csv(board: Mapping[str, Any]) -> str:
    """The tables as one CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    tables = board["tables"]
    levels = list(dict.fromkeys(level for table in tables for level in table.get("level_counts", ()) if level))
    writer.writerow([
        "benchmark", "dataset", "prediction", "rank", "name", "metric", "score", "low", "high",
        *(f"level_{level}" for level in levels), "n", "missing", "unparsed", "p_above", "significant", "signature",
    ])  # fmt: skip
    for table in tables:
        own = "n_events" in table
        for row in table["rows"]:
            low, high = row["interval" if own else "overall_interval"] or (None, None)
            cells = [
                table["benchmark"], table["dataset"], (table if own else row)["prediction"], row["rank"], row["name"],
                "brier (lower is better)" if own else "overall", row["score" if own else "overall_score"], low, high,
                *(row.get("level_scores", {}).get(level) for level in levels),
                row["n"], *(row.get(key) for key in ("missing", "unparsed", "p_above", "significant")),
                format_signature(table["signature"]),
            ]  # fmt: skip
            writer.writerow([_csv_cell(cell) for cell in cells])
    return text.getvalue()


# What a spreadsheet takes for the start of a formula, at the start of a cell: also where it splits at a semicolon.
_FORMULA: Final = re.compile(r"(^|[;\t])([\s\"'\u00ad\u180e]*)(?=[-=+@|%＝＋－＠−﹢﹣﹦])")


def _csv_cell(cell: object) -> object:
    if isinstance(cell, str):
        return _FORMULA.sub(r"\1'\2", printable(cell))
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
        if "n_events" not in table:
            lines += ["", _EXPLAINED]
        lines += ["", f"`{format_signature(table['signature'])}`", ""]
    if board["failed"]:
        lines += ["## Not scored", "", "| File | Reason |", "|---|---|"]
        lines += [f"| {_markdown(entry['file'])} | {_markdown(entry['reason'])} |" for entry in board["failed"]]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", printable(text))


# --- Files ---


def save_results(results: Mapping[str, Any], folder: Path) -> None:
    """Write `folder/NAME.json`, atomically, once no other run writes there."""
    with lock_folder(folder, wait=True):
        write_atomic(folder / f"{results['name']}.json", _result_text(results))


def _result_text(results: Mapping[str, Any]) -> str:
    """The result with a checksum of itself, so that a damaged one is never taken for a score."""
    return dump_json({**results, "result_sha256": _hash_text(dump_json(results))}, indent=1) + "\n"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def score_unchanged(score: Score, path: Path, dataset: Path | None) -> Results:
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


_TEMPORARY: Final = re.compile(r"\.[0-9]+-[0-9a-f]{8}\.tmp")


@contextlib.contextmanager
def lock_folder(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold `folder/.lock`, which the kernel releases when its holder dies, and sweep what a killed holder left.

    If another run holds it: wait for its end, or LockedError.
    """
    try:
        import fcntl
    except ImportError:
        raise EvaluationError("--save and --all need a POSIX system: file locks that end with their holder") from None
    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NONBLOCK, 0o666), "rb")
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise LockedError(f"{folder}: another run is at work here") from None
        for stray in folder.glob(".*.tmp"):
            if _TEMPORARY.fullmatch(stray.name):  # `write_atomic` writes here only under the lock
                with contextlib.suppress(OSError):
                    stray.unlink()
        yield


class Failure(NamedTuple):
    """A file that could not be scored, and why; `fault` if that is this tool's fault."""

    file: str
    reason: str
    fault: bool = False


def list_predictions(folder: Path) -> tuple[list[Path], list[Failure], list[str]]:
    """The prediction files of a folder by name, those that cannot be used, and the names of what is no such file.

    Hidden files are left out. Raises InputError if there is no prediction file.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if name[0] != ".")
    except OSError as error:
        raise InputError(str(folder), f"cannot be read: {error.strerror or error}") from None
    by_stem: dict[str, list[str]] = {}
    for name in names:
        if name.endswith(SUFFIXES):
            by_stem.setdefault(Path(name).stem, []).append(name)
    if not by_stem:
        raise InputError(str(folder), "expected prediction files", "none")
    files, failures = [], []
    for stem, same in by_stem.items():
        problem = f"expected one file with this stem, got {', '.join(same)}" if len(same) > 1 else ""
        if stem == BOARD:
            problem = f"expected another name: evaluation/{BOARD}.json is the leaderboard"
        if problem:
            failures += [Failure(name, problem) for name in same]
        else:
            files.append(folder / same[0])
    return files, failures, [name for name in names if not name.endswith(SUFFIXES)]


class Task(NamedTuple):
    """A prediction file to score, or to find scored already."""

    path: Path
    dataset: Path | None
    checksums: dict[str, str]  # of both, as a signature has them


def evaluate_folder(
    root: Path, score: Score, settings: Callable[[str], Signature], force: bool = False, min_questions: int = 0,
    processes: int = 1,
) -> Results:  # fmt: skip
    """Score every file of `root/prediction`, store the results and the leaderboard in `root/evaluation`.

    A stored result is reused if its signature still holds: `settings(benchmark)`, the sha256 of its
    prediction and dataset, and its own. `score` must be picklable if `processes` > 1. Returns the board: `rank` of all
    results, with `failed` (file, reason, fault), `evaluated` and `reused` (counts), `ignored` (names). Raises
    LockedError if another run is at work, and EvaluationError if nothing can be read or written.
    """
    folder = root / "evaluation"
    files, failures, ignored = list_predictions(root / "prediction")  # first: a mistyped root is not made
    with lock_folder(folder):
        expected = lru_cache(maxsize=None)(lambda benchmark: json.loads(dump_json(settings(benchmark))))  # as stored
        board = {} if force else _read_board(folder)
        known = {row["name"]: row for row in _file_rows(board)}
        hash_dataset = lru_cache(maxsize=None)(hash_file)
        checksums: dict[str, str] = {}  # of the stored files, by name
        todo: list[Task] = []
        for path in files:
            try:
                dataset = find_dataset(path, root / "dataset")
                task = Task(path, dataset, {"prediction_sha256": hash_file(path)})
                if dataset:
                    task.checksums["dataset_sha256"] = hash_dataset(dataset)
                stored = folder / f"{path.stem}.json"
                if stored.exists():
                    require_regular(stored)
                checksum = "" if force else _reusable(stored, task, known.get(path.stem), expected)
            except EvaluationError as error:
                failures.append(Failure(path.name, _reason(error, path, root)))
                continue
            if checksum:
                checksums[path.stem] = checksum
            else:
                todo.append(task)
        fresh: dict[str, System | Ranking] = {}
        for task, outcome in zip(todo, _score_files(score, todo, root, processes), strict=True):
            if isinstance(outcome, Failure):
                failures.append(outcome)
                continue
            text, fresh[task.path.stem] = outcome
            write_atomic(folder / f"{task.path.stem}.json", text)
            checksums[task.path.stem] = _hash_text(text)
        failures.sort()
        ranked = _store_board(folder, board, checksums, fresh, failures, min_questions)
    return Results(
        {**ranked, "evaluated": len(fresh), "reused": len(checksums) - len(fresh), "ignored": ignored}, board_report
    )


def _file_rows(board: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The part of a board's tables that stands for a file each."""
    for table in board.get("tables", ()):
        yield from [table] if "n_events" in table else table["rows"]


def _reason(error: EvaluationError, path: Path, root: Path) -> str:
    return str(error).removeprefix(f"{printable(path)}: ").replace(f"{root}{os.sep}", "")


def _read_stored(path: Path) -> tuple[dict[str, Any], str]:
    """A file that this module wrote, and the sha256 of its bytes; {} if it is not there, damaged, or no longer whole.

    Its `result_sha256` must be that of the rest.
    """
    try:
        require_regular(path)
        raw = path.read_bytes()
        record = json.loads(raw)
        claimed = record.pop("result_sha256")
        if claimed == _hash_text(dump_json(record)):
            return record, hashlib.sha256(raw).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError):
        pass
    return {}, ""


def _read_board(folder: Path) -> dict[str, Any]:
    return _read_stored(folder / f"{BOARD}.json")[0]


def _reusable(
    path: Path, task: Task, known: Mapping[str, Any] | None, settings: Callable[[str], Signature]
) -> str:
    """The sha256 of a stored file whose signature still holds, and in which no model failed; "" if there is none.

    `known` is its row of the leaderboard: if the file is still the one that was ranked, it need not be read through.
    Raises InputError if a result of yesterday had a dataset and there is none any more.
    """
    checksum = hash_file(path) if path.exists() else ""
    if known is None or known["file_sha256"] != checksum:
        stored, checksum = _read_stored(path)
        if not stored:
            return ""
        known = {**stored, "degraded": _is_degraded(stored)}
    if known["prediction"] != task.path.name or known["degraded"]:
        return ""
    if known["dataset"] and not task.dataset:
        raise InputError(str(task.path), f"expected its dataset, {known['dataset']}, as before (or --force)", "none")
    expected = {"dataset_sha256": None, **settings(known["benchmark"]), **task.checksums}
    holds = all(known["signature"].get(key) == value for key, value in expected.items())
    return checksum if holds and known["dataset"] == (task.dataset.name if task.dataset else None) else ""


Outcome = Failure | tuple[str, System | Ranking]


def _score_files(score: Score, tasks: Sequence[Task], root: Path, processes: int) -> Iterator[Outcome]:
    """Score files in their order, with a progress bar on a terminal."""
    from tqdm import tqdm

    work = partial(_score_one, score, root)
    size = sum(stamp[0] for stamp in _stamps(*(task.path for task in tasks)) if stamp)
    apart = processes > 1 and len(tasks) > 1 and size > POOL_BYTES
    outcomes = _in_processes(work, tasks, processes) if apart else map(work, tasks)
    yield from tqdm(outcomes, total=len(tasks), desc="scoring", unit="file", leave=False, disable=None)


def _score_one(score: Score, root: Path, task: Task) -> Outcome:
    try:
        results = score_unchanged(score, task.path, task.dataset)
        return _result_text(results), read_result(results)
    except EvaluationError as error:
        return Failure(task.path.name, _reason(error, task.path, root))
    except Exception as error:  # a fault of this tool in one file must not cost a night's other files
        reason = f"internal fault, please report it: {type(error).__name__}: {printable(error, 200)}"
        return Failure(task.path.name, reason, True)


def _in_processes(work: Callable[[Task], Outcome], tasks: Sequence[Task], processes: int) -> Iterator[Outcome]:
    """`map(work, tasks)` in processes. If one dies, the rest runs one by one, to tell which file it was."""
    from concurrent.futures.process import BrokenProcessPool

    done, pool = 0, _start_pool(processes)
    try:
        for future in [pool.submit(work, task) for task in tasks]:
            yield _result(pool, future)
            done += 1
    except BrokenProcessPool:
        pool = _start_pool(1)
        for task in tasks[done:]:
            try:
                outcome = _result(pool, pool.submit(work, task))
            except BrokenProcessPool:
                outcome = Failure(task.path.name, "the process that scored it was killed (out of memory?)")
                pool = _start_pool(1)
            yield outcome
    finally:
        pool.shutdown(cancel_futures=True)


def _result(pool: ProcessPoolExecutor, future: Future[Outcome]) -> Outcome:
    """The outcome; BrokenProcessPool if a process has died.

    A process that dies while it sends a result leaves half a message, on whose rest the executor waits for ever: then
    the others end, too, and so does the pipe.
    """
    from concurrent.futures import TimeoutError as NotYet
    from concurrent.futures.process import BrokenProcessPool

    while True:
        try:
            return future.result(timeout=2.0)
        except NotYet:
            processes = list((pool._processes or {}).values())
            if any(process.exitcode is not None for process in processes):
                for process in processes:
                    process.kill()
                pool._result_queue._writer.close()  # type: ignore[attr-defined]
                raise BrokenProcessPool from None


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
    folder: Path, board: dict[str, Any], checksums: Mapping[str, str], fresh: Mapping[str, System | Ranking],
    failures: Sequence[Failure], min_questions: int,
) -> dict[str, Any]:  # fmt: skip
    """Write leaderboard.json, .csv and .md unless they hold just that already; the board."""
    failed = [failure._asdict() for failure in failures]
    inputs = _hash_text(dump_json([_settings(min_questions), dict(checksums), failed]))
    if board.get("inputs_sha256") != inputs:
        systems = [fresh.get(name) or _read_ranked(folder, name, checksums[name]) for name in sorted(checksums)]
        new = {**_rank_results(systems, min_questions), "failed": failed, "inputs_sha256": inputs}
        for row in _file_rows(new):
            row["file_sha256"] = checksums[row["name"]]
        text = _result_text(new)
        write_atomic(folder / f"{BOARD}.json", text)
        board = json.loads(text)
        del board["result_sha256"]
    for suffix, text in (("csv", format_csv(board)), ("md", format_markdown(board))):
        path = folder / f"{BOARD}.{suffix}"
        if not (path.is_file() and path.read_bytes() == text.encode()):
            write_atomic(path, text)
    return board


def _read_ranked(folder: Path, name: str, checksum: str) -> System | Ranking:
    stored, found = _read_stored(folder / f"{name}.json")
    if found != checksum:
        raise EvaluationError(f"{folder / name}.json: changed while the leaderboard was made; run again")
    return read_result(stored)
