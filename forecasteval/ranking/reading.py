"""Read the results of a benchmark as systems, or as the tables that they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from forecasteval.common.errors import InputError
from forecasteval.common.forms import from_record
from forecasteval.common.records import JsonObject, dump_json, question_key
from forecasteval.display.clusters import list_clusters

from .files import FileRow, ForecasterTable, model_failures, read_level, read_weights
from .scale import Level, read_scale
from .systems import QuestionColumns, System

_GUESS: Final = "avg_relative_score"  # of RxnOptBench, the mean of its items' scores
_REQUIRED: Final = ("benchmark", "dataset", "prediction")
_OPTIONAL: Final = ("system", "damaged_lines", "usage", "missing_score")
_NOISE: Final = 1e-9  # beyond the bounds of scores; no benchmark makes more


def read_result(
    results: Mapping[str, object], name: str | None = None
) -> System | ForecasterTable:
    """Read the parts of a result that ranking needs. InputError for a score out of
    bounds, for what no benchmark makes, and as `read_system`.
    """
    if "ranking" not in results:
        system = read_system(results, name)
        _require_scores_in_bounds(system)
        return system
    row = _file_row(results, name or str(results.get("name", "forecasts")))
    table = {
        **vars(row),
        "kind": "forecasters",
        "rows": results["ranking"],
        "n_events": results.get("n_events"),
        "n_series": _count_series(results),
        "pending": results.get("n_pending", 0),
    }
    return from_record(ForecasterTable, table, row.name)


def _require_scores_in_bounds(system: System) -> None:
    low, high, _ = system.scale
    for questions in system.questions.values():
        for score in questions.scores:
            if not low - _NOISE <= score <= high + _NOISE:
                raise InputError(
                    system.name, f"expected scores in [{low:g}, {high:g}]", f"{score}"
                )


def _count_series(results: JsonObject) -> object:
    """Count the clusters of a result's events; 0 if every event stands alone."""
    events = results.get("n_events")
    clusters = results.get("n_clusters", events)
    if clusters == events:
        return 0
    return clusters


def read_system(results: JsonObject, name: str | None = None) -> System:
    """Read the scores of one result. Raises InputError if it has none, or if missing
    answers are left out of it.
    """
    name = name or str(results.get("name", "system"))
    row = _file_row(results, name)
    signature = results["signature"]
    if "items" not in results:
        raise InputError(
            name,
            "expected a result with a score per question",
            str(results.get("benchmark")),
        )
    if signature.get("missing", "zero") != "zero":
        raise InputError(
            name,
            "missing answers must score 0: systems are judged on the same questions",
            "missing skip",
        )
    scale = read_scale(results)
    from_record(str, signature.get("questions_sha256"), f"{name}: questions_sha256")
    has_levels = "weights" in signature
    by_level: dict[Level, list[JsonObject]] = {
        level: [] for level in read_weights(row.signature)
    }
    try:
        for item in results["items"]:
            level = read_level(item["level"]) if has_levels else ""
            by_level[level].append(item)
        questions = {level: _columns(items) for level, items in by_level.items()}
    except (LookupError, TypeError, AttributeError):
        raise InputError(name, "expected items with the keys of this version") from None
    void = from_record(int, results.get("void", 0), f"{name}: void")
    guesses = from_record(dict[str, float], results.get("uniform_guess", {}), name)
    return System(
        row=row,
        questions=questions,
        void=void,
        guess=guesses.get(_GUESS),
        **scale.describe(),
    )


def _columns(items: Sequence[JsonObject]) -> QuestionColumns:
    outcomes = Counter(item["outcome"] for item in items)
    resolved = [item for item in items if item["outcome"] != "pending"]
    resolved.sort(key=question_key)
    for flag in ("padded", "late"):
        outcomes[flag] = sum(bool(item.get(flag)) for item in resolved)
    ids = [item["id"] for item in resolved]
    scores = [item["score"] or 0.0 for item in resolved]
    answered = [item["outcome"] == "scored" for item in resolved]
    return QuestionColumns(
        ids, scores, answered, list_clusters(resolved), outcomes=outcomes
    )


def _file_row(results: JsonObject, name: str) -> FileRow:
    if "signature" not in results:
        raise InputError(name, "expected what an evaluator returns", "no 'signature'")
    # As it is stored: the keys of `weights` are numbers in a result that was scored
    # just now, and texts in a file.
    signature = json.loads(dump_json(results["signature"]))
    record = {
        "name": name,
        "warnings": len(results.get("warnings", ())),
        "degraded": model_failures(results) is not None,
        "signature": {key: signature[key] for key in results["signature"]},
    }
    record |= {key: results.get(key) for key in _REQUIRED}
    record |= {key: results[key] for key in _OPTIONAL if key in results}
    pairs = from_record(dict[str, Any], results.get("pairs", {}), name).get(
        "overall", {}
    )
    if pairs.get("pairs"):
        record["gain"] = pairs.get("mean_difference")
        record["gain_interval"] = pairs.get("interval")
    return from_record(FileRow, record, name)


def list_results(results: object) -> list[Mapping[str, object]]:
    """List results; InputError for what is none, and for one that is in no list."""
    if isinstance(results, Mapping):
        expected = "expected a list of results, as in rank([a, b])"
        raise InputError("results", expected, type(results).__name__)
    listed: list[Any] = [results]
    if isinstance(results, Iterable):
        listed = [*results]
    for result in listed:
        if not isinstance(result, Mapping):
            raise InputError(
                "results", "expected a list of results", type(result).__name__
            )
    return listed


def distinct_names(results: Iterable[Mapping[str, object]]) -> list[str]:
    """Make the results' names, or `system 1` …; a name that was there before carries
    its place: `a (2)`.
    """
    names: list[str] = []
    for number, result in enumerate(results, 1):
        name = str(result.get("name", f"system {number}"))
        if name in names:
            name = f"{name} ({number})"
        names.append(name)
    return names
