"""Systems compared over all weeks by the model of the leaderboard: `compare A B --all-weeks`."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.files import SUFFIXES
from forecasteval.common.report import Report, format_signature, make_table
from forecasteval.common.results import Results

from .named import find_runs
from .names import split_name, without_run
from .pooled import Season, connect_systems, fit_season
from .repeats import combine_all
from .significance import holm, tally
from .systems import System, distinct_names, read_result
from .tables import SEASON, compared_systems, lower_is_better, pair_columns, week_remark
from .tasks import find_tasks


def are_systems(names: Iterable[str], root: Path) -> bool:
    """Whether a name is that of a system in `root/prediction`, and none that of a file there, or a path."""
    folder = root / "prediction"
    for name in names:
        if "/" in name or os.sep in name or find_runs(name, folder) != [name]:
            return False
        if any((folder / f"{name}{end}").exists() for end in ("", *SUFFIXES)):
            return False
    return folder.is_dir() and not _list_systems(root)[0].keys().isdisjoint(names)


def find_systems(names: Sequence[str], root: Path) -> dict[str, list[Path]]:
    """The files of each system that is named, by itself or by one of its files; InputError for one that has none."""
    files, systems = _list_systems(root)
    named: dict[str, list[Path]] = {}
    for name in names:
        system = name if name in files else systems.get(name, "")
        if not system:
            known = grouped_names(sorted(files)) if files else "none with a dataset"
            raise InputError(printable(name, 60), "expected a system of prediction/", f"another name; there is {known}")
        named[system] = files[system]
    if len(named) < 2:
        raise InputError("compare", "expected two systems or more", str(len(named)))
    return named


def _list_systems(root: Path) -> tuple[dict[str, list[Path]], dict[str, str]]:
    """The files of every system, and the system of each file's name, with and without its run."""
    files: dict[str, list[Path]] = defaultdict(list)
    systems: dict[str, str] = {}
    for path, dataset, _ in find_tasks(root)[0]:
        if dataset:
            system = split_name(path.stem, dataset.name).system
            files[system].append(path)
            systems |= {path.stem: system, without_run(path.stem, dataset.name): system}
    return files, systems


def compare_over_weeks(results: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Results:
    """Compare systems on all datasets of `results` by one fit (`two_way.fit_scores`), which holds only these systems.

    For each pair A, B: the difference of their scores (A − B), its 95 % interval, p by Student's t, Holm's adjustment
    over all pairs, and on the questions that both answered the wins, ties and losses of A by level. Raises InputError
    unless exactly one benchmark and rule set connects all of them through shared datasets.
    """
    season = _find_season(results, names)
    rows = {row["name"]: row for row in season.rows()}
    places = {name: place for place, name in enumerate(rows)}
    pairs: list[dict[str, Any]] = []
    for a, b in combinations(names, 2):
        difference, interval, p = season.gap(places[a], places[b])
        if season.scale.sign < 0:  # the better system has the lower score
            difference, interval = -difference, interval and (-interval[1], -interval[0])
        pair = {"a": a, "b": b, "difference": difference, "interval": interval, "p": p}
        pairs.append({**pair, "levels": _tally(season, a, b)})
    for pair, adjusted in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["p_holm"] = adjusted
    values = {**season.describe(), "systems": [rows[name] for name in names], "pairs": pairs}
    return Results(values, over_weeks_report)


def _find_season(results: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Season:
    read = list(map(read_result, results, distinct_names(results)))
    systems = [result for result in read if isinstance(result, System)]
    if len(systems) < len(read):
        problem = "expected systems with a score per question; forecasters are compared within one dataset"
        forecasters = next(result for result in read if not isinstance(result, System))
        raise InputError("compare", problem, str(forecasters["name"]))
    candidates = [part for parts in connect_systems(combine_all(systems)[0]) for part in parts]
    connected = [part for part in candidates if part.keys() == {*names}]
    if len(connected) != 1:
        named = ", ".join(printable(name, 40) for name in names)
        problem = "expected systems that are connected by shared datasets of one benchmark and rule set"
        raise InputError(named, problem, f"{len(connected)} such benchmarks" if connected else "none")
    system = next(iter(connected[0][names[0]].values()))
    if math.isinf(system.scale.width):
        problem = "expected scores with bounds; others are compared within one dataset"
        raise InputError("compare", problem, system.group[0])
    season = fit_season(connected[0], 0)
    if season is None:
        raise InputError("compare", "expected questions", "none")
    return season


def _tally(season: Season, a: str, b: str) -> dict[str, dict[str, int]]:
    """Wins, ties and losses of A by level, on the questions that both answered."""
    of_a, of_b = season.answered[a], season.answered[b]
    shared = [(of_a[group].questions, of_b[group].questions) for group in of_a.keys() & of_b.keys()]
    tallies = {}
    for level in season.weights:
        scores = (zip(x[level].scores, y[level].scores, strict=True) for x, y in shared)
        tallies[level] = tally([x - y for x, y in chain.from_iterable(scores)], season.scale.sign)
    return tallies


def over_weeks_report(comparison: Mapping[str, Any]) -> Report:
    """The systems, and the pairs."""
    datasets = comparison["datasets"]
    title = f"Comparison over all weeks  {comparison['benchmark']}, datasets {len(datasets)}"
    return [
        f"{title}, questions {sum(dataset['n'] for dataset in datasets)}{lower_is_better(comparison)}",
        "",
        make_table(compared_systems(*SEASON), comparison["systems"]),
        "",
        make_table(pair_columns(comparison["weights"]), comparison["pairs"]),
        "",
        "By level: questions of shared datasets that A wins/ties/loses.",
        week_remark(comparison["week_deviation"]),
        "",
        format_signature(comparison["signature"]),
    ]
