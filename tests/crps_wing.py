"""Forecasts of numbers by samples, scored by CRPS."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from itertools import product
from pathlib import Path

from forecasteval.custom import (
    ITEMS,
    UNREAD,
    Benchmark,
    InputError,
    JsonObject,
    QuestionEvaluator,
    Score,
    Unread,
    first_keys,
)


class CrpsEvaluator(QuestionEvaluator):
    benchmark = "CRPS"
    version = "1.0"
    bounds = (-1.0, 0.0)

    def score_answer(self, question: JsonObject, answer: object) -> Score | Unread:
        value = question.get("value")
        if not isinstance(value, (int, float)):
            raise InputError(f"question {question.get('id')}", "'value' must be a number")
        samples = read_samples(answer)
        if not samples:
            return Unread("expected a list of numbers")
        mean = f"{sum(samples) / len(samples):g}"
        score = score_samples(samples, value, question["scale"])
        return Score(score, read=mean, why=f"mean {mean} against {value:g}")


def read_samples(answer: object) -> list[float]:
    """Read a list of numbers, which a model may write behind its thoughts; [] for anything else."""
    if isinstance(answer, str):
        lists = re.findall(r"\[[^\[\]]*\]", answer)
        with suppress(ValueError):
            answer = json.loads(lists[-1] if lists else "")
    if not isinstance(answer, list) or any(type(x) not in (int, float) for x in answer):
        return []
    return answer if all(map(math.isfinite, answer)) else []


def score_samples(samples: list[float], value: float, scale: float) -> float:
    """−CRPS / scale, cut at −1; CRPS = mean |x − y| − mean |x − x'| / 2."""
    spread = sum(abs(x - other) for x, other in product(samples, samples)) / len(samples) ** 2
    distance = sum(abs(x - value) for x in samples) / len(samples)
    return max(-1.0, (spread / 2 - distance) / scale)


def claims_file(prediction: Path, dataset: Path | None) -> bool:
    """Recognise a file by the keys of its dataset."""
    return dataset is not None and {"id", "value", "scale"} <= first_keys(dataset)


def make_evaluator(output: Path) -> CrpsEvaluator:
    return CrpsEvaluator()


BENCHMARK = Benchmark("CRPS", claims_file, make_evaluator, (ITEMS, UNREAD))
