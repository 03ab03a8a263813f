"""What ranking and comparison need of a result: its scores by level, or the ranking that it is itself."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError
from forecasteval.common.records import dump_json
from forecasteval.common.results import hash_questions
from forecasteval.common.statistics import cluster_values, stratified_mean

ALPHA: Final = 0.05  # from this p-value on, a difference is not significant
SEED: Final = 0  # of the sign flips
UNPARSED: Final = ("unparsed", "illegal")  # outcomes of answers that could not be read


# What reading a result raises that no benchmark made like this.
NO_RESULT: Final = (InputError, LookupError, TypeError, ValueError, AttributeError)

Strata = list[tuple[float, list[float]]]  # a weight and values, level by level


class Scale(NamedTuple):
    """The bounds of a benchmark's scores, infinite where there are none, and which end is better."""

    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True

    @property
    def sign(self) -> int:
        return 1 if self.higher_is_better else -1

    @property
    def width(self) -> float:
        return self.high - self.low

    def to_unit(self, score: float) -> float:
        """A score of a bounded scale as one in [0, 1], higher is better."""
        return (score - self.low if self.higher_is_better else self.high - score) / self.width

    def describe(self) -> dict[str, Any]:
        """What a result or a table says of its scale: nothing of the usual one, [0, 1], higher is better."""
        if self == Scale():
            return {}
        bounds = [None if math.isinf(bound) else bound for bound in (self.low, self.high)]
        return {"score_bounds": bounds, "higher_is_better": self.higher_is_better}


def read_scale(values: Mapping[str, Any]) -> Scale:
    """The scale that a result, a table or a comparison was described with (`Scale.describe`)."""
    low, high = values.get("score_bounds", (0.0, 1.0))
    better = values.get("higher_is_better", True)
    return Scale(-math.inf if low is None else low, math.inf if high is None else high, better)


class System(NamedTuple):
    """One file's result without its texts: by level, in an order that all systems share."""

    name: str
    group: tuple[str, str, str]  # benchmark, dataset, checksum of the questions
    policy: dict[str, Any]  # the signature without checksums
    weights: dict[str, float]
    share: float  # of the weights that count: below 1 where a level without questions keeps its weight
    scores: dict[str, list[float]]
    ids: dict[str, list[Any]]
    outcomes: dict[str, Counter[str]]
    row: dict[str, Any]
    runs: tuple[System, ...] = ()  # whose means the scores are, if it has several
    clusters: Mapping[str, list[str]] = {}  # of questions that hang together, where there are any
    answered: Mapping[str, list[bool]] = {}  # whether an answer to a question was read
    scale: Scale = Scale()

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the overall score."""
        return self.share * self.scale.low, self.share * self.scale.high

    def strata(self, levels: Sequence[str]) -> Strata:
        return [(self.weights[level], [self.share * score for score in self.scores[level]]) for level in levels]

    def spread(self, levels: Sequence[str]) -> Strata:
        """The strata with a value per cluster: their mean is the same, and errors are made of them."""
        return self.cluster(self.strata(levels), levels)

    def cluster(self, strata: Strata, levels: Sequence[str]) -> Strata:
        """Values by question as values by cluster (`cluster_values`)."""
        if not self.clusters:
            return strata
        return [
            (weight, cluster_values(values, self.clusters[level]))
            for level, (weight, values) in zip(levels, strata, strict=True)
        ]

    def count(self, levels: Sequence[str], *outcomes: str) -> int:
        return sum(self.outcomes[level][outcome] for level in levels for outcome in outcomes)


class Ranking(NamedTuple):
    """One file's own ranking of the forecasters in it, as a table of the leaderboard."""

    table: dict[str, Any]


def read_result(results: Mapping[str, Any], name: str | None = None) -> System | Ranking:
    """What ranking needs of a result; InputError for a score out of bounds, and as `read_system` raises it."""
    if "ranking" not in results:
        return _require_bounds(read_system(results, name))
    row = _file_row(results, name or str(results.get("name", "forecasts")))
    return Ranking({**row, "rows": results["ranking"], "n_events": results["n_events"]})


def to_record(system: System | Ranking) -> dict[str, Any]:
    """What `from_record` reads again, for JSON."""
    if isinstance(system, Ranking):
        return system._asdict()
    record = {key: value for key, value in system._asdict().items() if key not in ("runs", "scale")}
    return {**record, **system.scale.describe()}


def from_record(record: Mapping[str, Any]) -> System | Ranking:
    """The System or Ranking that `to_record` was given; one of `NO_RESULT` for what it did not give."""
    if "table" in record:
        return Ranking(**record)
    scale = read_scale(record)
    values: dict[str, Any] = {key: value for key, value in record.items() if key not in scale.describe()}
    outcomes = {level: Counter(counts) for level, counts in record["outcomes"].items()}
    values |= {"group": tuple(record["group"]), "outcomes": outcomes, "scale": scale}
    return _require_bounds(System(**values))


def _require_bounds(system: System) -> System:
    """The system; InputError if a score is no number of its scale: no benchmark has made it."""
    low, high, _ = system.scale
    for score in chain.from_iterable(system.scores.values()):
        if not low - 1e-9 <= score <= high + 1e-9:
            raise InputError(system.name, f"expected scores in [{low:g}, {high:g}]", f"{score}")
    return system


def file_row(system: System | Ranking) -> dict[str, Any]:
    """What a board says of the file."""
    return system.row if isinstance(system, System) else system.table


def file_rows(board: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a board that stand for a file each: rows of systems, or of their runs, and tables of forecasters."""
    for table in board.get("tables", ()):
        for part in (table, *table["rows"]):
            yield from part.get("runs") or ([part] if "prediction" in part else ())


def split_forecasters(results: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """A result for each forecaster in those that hold several, on the questions that all of these answered.

    And how many questions that leaves out. Where questions have weights, scores are multiplied by them, so that their
    mean is the weighted one. Raises InputError if fewer than two are left.
    """
    parts: list[dict[str, Any]] = []
    whole: list[Mapping[str, Any]] = []
    for result in results:
        own: dict[str, list[Mapping[str, Any]]] = {}
        for item in result.get("items", ()):
            if "forecaster" in item:
                own.setdefault(item["forecaster"], []).append(item)
        parts += [{**result, "name": name, "items": items} for name, items in sorted(own.items())]
        whole += [] if own else [result]
    asked = [{item["question"] for item in part["items"]} for part in parts]
    shared = set.intersection(*asked) if asked else set()
    if parts and len(shared) < 2:
        raise InputError("compare", "expected two events that all forecasters answered", str(len(shared)))
    for part in parts:
        kept = [item for item in part["items"] if item["question"] in shared]
        mean = math.fsum(item.get("weight", 1.0) for item in kept) / len(kept)
        part["items"] = [
            {**item, "level": None, "score": item["score"] * (item.get("weight", 1.0) / mean)} for item in kept
        ]
        part["signature"] = {**part["signature"], "questions_sha256": hash_questions(shared)}
    return [*whole, *parts], len(set().union(*asked)) - len(shared)


def read_system(results: Mapping[str, Any], name: str | None = None) -> System:
    """The scores of one result; raises InputError if it has none, or if missing answers are left out of it."""
    scale = read_scale(results)
    signature, name = results["signature"], name or str(results.get("name", "system"))
    if "items" not in results:
        raise InputError(name, "expected a result with a score per question", str(results.get("benchmark")))
    if signature.get("missing", "zero") != "zero":
        raise InputError(name, "missing answers must score 0: systems are judged on the same questions", "missing skip")
    weights = {str(level): weight for level, weight in signature.get("weights", {"": 1.0}).items()}
    kept: dict[str, list[tuple[str, float, Any, Any, bool]]] = {
        level: [] for level in weights
    }  # of a million items, no more
    outcomes: dict[str, Counter[str]] = {level: Counter() for level in weights}
    for item in results["items"]:
        level = str(item["level"]) if "weights" in signature else ""
        kept[level].append(
            (item["question"], item["score"], item["id"], item.get("cluster"), item["outcome"] == "scored")
        )
        outcomes[level][item["outcome"]] += 1
    scores, ids, clusters = dict[str, list[float]](), dict[str, list[Any]](), dict[str, list[str]]()
    answered: dict[str, list[bool]] = {}
    for level, items in kept.items():
        items.sort(key=itemgetter(0, 1))  # as `question_key`
        scores[level], ids[level] = [item[1] for item in items], [item[2] for item in items]
        answered[level] = [item[4] for item in items]
        clusters[level] = [item[3] for item in items if item[3] is not None]
        items.clear()
    group = (results["benchmark"], str(results.get("dataset") or ""), signature["questions_sha256"])
    policy = {key: value for key, value in signature.items() if not key.endswith("sha256")}
    if "weights" in policy:
        policy["weights"] = weights
    counted = sum(weight for level, weight in weights.items() if scores[level])
    share = counted / sum(weights.values()) if signature.get("fixed_weights") else 1.0
    hanging = clusters if any(clusters.values()) else {}
    row = _file_row(results, name)
    return System(name, group, policy, weights, share, scores, ids, outcomes, row, (), hanging, answered, scale)


def question_key(item: Mapping[str, Any]) -> tuple[str, float]:
    # Rows that ask the same twice cannot be told apart: by score, so that the order of a file does not matter.
    return item["question"], item["score"]


def _file_row(results: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a board tells of a file, whatever its benchmark."""
    return {
        "name": name,
        "benchmark": results["benchmark"],
        "dataset": results.get("dataset"),
        "prediction": results.get("prediction"),
        "warnings": len(results["warnings"]),
        "degraded": is_degraded(results),
        **({"damaged_lines": results["damaged_lines"]} if "damaged_lines" in results else {}),
        # As it is stored: the keys of `weights` are numbers in a result that was scored just now, and texts in a file.
        "signature": json.loads(dump_json(results["signature"])),
    }


def is_degraded(results: Mapping[str, Any]) -> bool:
    """Whether the language model's server failed while the file was scored."""
    return any(told.get("degraded") for told in _told_by_model(results))


def failures_of_model(results: Mapping[str, Any]) -> dict[str, int]:
    """How often the language model failed in a degraded result, by kind."""
    counts: Counter[str] = Counter()
    for told in _told_by_model(results):
        counts.update(told["failures"] if told.get("degraded") else {})
    return dict(sorted(counts.items()))


def _told_by_model(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [told for key in ("llm", "llm_names") if isinstance(told := results.get(key), Mapping)]


def distinct_names(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """The results' names, or `system 1` …; a name that was there before carries its place: `a (2)`."""
    names: list[str] = []
    for number, result in enumerate(results, 1):
        name = str(result.get("name", f"system {number}"))
        names.append(f"{name} ({number})" if name in names else name)
    return names


def require_same_policy(a: System, b: System) -> None:
    """Raise InputError, naming the policies, if two systems were not scored alike."""
    first, second = ({**system.policy, **system.scale.describe()} for system in (a, b))
    differing = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    if differing:
        told = "; ".join(f"{key} {first.get(key)} and {second.get(key)}" for key in differing)
        raise InputError(f"{a.name}, {b.name}", "expected results of the same version and policies", told)


def tally(differences: Sequence[float], sign: int) -> dict[str, int]:
    """Wins, ties and losses of the first of two systems, from the differences of their scores; see `Scale.sign`."""
    wins, losses = (sum(side * sign * value > 0 for value in differences) for side in (1, -1))
    return {"wins": wins, "ties": len(differences) - wins - losses, "losses": losses}


class Difference(NamedTuple):
    """A's weighted score minus B's: by level what every question differs by, and what it adds to the whole.

    `spread` and `flips` are the same by cluster, for errors and tests.
    """

    value: float
    strata: Strata
    parts: list[float]
    spread: Strata
    flips: list[float]


def read_difference(a: System, b: System, levels: Sequence[str]) -> Difference:
    """The per-question differences of two systems on the same questions, over `levels`."""
    strata = [
        (a.weights[level], [a.share * (x - y) for x, y in zip(a.scores[level], b.scores[level], strict=True)])
        for level in levels
    ]
    total = math.fsum(weight for weight, values in strata if values)
    parts = [weight / total / len(values) * value for weight, values in strata for value in values]
    flips = parts
    if a.clusters:  # what hangs together changes its sign together, over all levels
        sums: dict[str, list[float]] = {}
        for name, part in zip((name for level in levels for name in a.clusters[level]), parts, strict=True):
            sums.setdefault(name, []).append(part)
        flips = list(map(math.fsum, sums.values()))
    return Difference(stratified_mean(strata), strata, parts, a.cluster(strata, levels), flips)
