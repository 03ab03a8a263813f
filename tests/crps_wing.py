"""Forecasts of numbers by samples, scored by CRPS: a benchmark as short as it can be, which
CONTRIBUTING shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from forecasteval.benchmark import ITEMS, Benchmark, Evaluator, Files
from forecasteval.common.errors import grouped_names
from forecasteval.common.files import decode_utf8, hash_file, read_file
from forecasteval.common.records import first_keys, hash_question, hash_questions, parse_json
from forecasteval.common.statistics import mean
from forecasteval.display.tables import Report


def score_samples(samples: Sequence[float], value: float, scale: float) -> float:
    """−CRPS / scale of the forecast that `samples` are drawn from, cut at −1: mean |x − y| − mean
    |x − x'| / 2.
    """
    spread = mean([abs(x - y) for x, y in product(samples, samples)])
    return max(-1.0, (spread / 2 - mean([abs(x - value) for x in samples])) / scale)


class Samples(NamedTuple):
    """The questions {id, value, scale} of a dataset, and the answers {id: samples} of a
    prediction.
    """

    questions: list[dict[str, Any]]
    answers: dict[str, Any]
    files: Files

    def messages(self) -> list[str]:
        unknown = sorted(self.answers.keys() - {question["id"] for question in self.questions})
        return [f"answer without a question, not used: {grouped_names(unknown)}"] if unknown else []

    def checksums(self) -> dict[str, str]:
        prediction, dataset = (hash_file(paths[0]) for paths in self.files)
        return {"prediction_sha256": prediction, "dataset_sha256": dataset}


class CrpsEvaluator(Evaluator):
    benchmark = "CRPS"
    bounds = (-1.0, 0.0)

    def settings(self) -> dict[str, Any]:
        return {"evaluator": f"{type(self).__name__} 1.0"}

    def read(self, files: Files) -> Samples:
        answers, questions = (
            parse_json(decode_utf8(read_file(path), str(path)), str(path)) for (path, *_) in files
        )
        return Samples(questions, answers, files)

    def score(self, data: Samples) -> list[dict[str, Any]]:
        """An item per question; what is missing or no list of numbers has the worst score, and
        stays in the mean.
        """
        items = []
        for question in data.questions:
            samples, score, outcome = data.answers.get(question["id"]), -1.0, "missing"
            if samples is not None:
                numbers = (
                    isinstance(samples, list)
                    and samples
                    and all(type(x) in (int, float) for x in samples)
                )
                outcome = "scored" if numbers and all(map(math.isfinite, samples)) else "unparsed"
            if outcome == "scored":
                score = score_samples(samples, question["value"], question["scale"])
            identity = hash_question(f"{question['id']} {question['value']} {question['scale']}")
            items.append(
                {"id": question["id"], "question": identity, "score": score, "outcome": outcome}
            )
        return items

    def summarise(self, scores: list[dict[str, Any]], data: Samples) -> dict[str, Any]:
        checksum = hash_questions(item["question"] for item in scores)
        return {
            "overall_score": mean([item["score"] for item in scores]),
            "warnings": [],
            "signature": {"questions_sha256": checksum},
            "items": scores,
        }

    def report(self, results: Mapping[str, Any], **options: Any) -> Report:
        return [f"CRPS, {len(results['items'])} questions: {results['overall_score']:.4f}"]


def claims_file(prediction: Path, dataset: Path | None) -> bool:
    return dataset is not None and {"id", "value", "scale"} <= first_keys(dataset)


def make_evaluator(output: Path) -> CrpsEvaluator:
    return CrpsEvaluator()


BENCHMARK = Benchmark("CRPS", claims_file, make_evaluator, (ITEMS,))
