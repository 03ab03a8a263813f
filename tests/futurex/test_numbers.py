"""The unit a question asks for, what a number may mean in it, and its score."""

from __future__ import annotations

import math
from typing import Final

import pytest

from forecasteval import FutureXEvaluator
from forecasteval.futurex.reading.answers import Answer
from forecasteval.futurex.reading.grammar import Quantity
from forecasteval.futurex.reading.numbers import NumberTruth, question_scale, readings, score_number
from forecasteval.futurex.reading.wording import Wording

SCALES: Final = {
    "What is the turnover in hundreds of millions of yuan?": 1e8,
    "What is the turnover in millions?": 1e6,
    "What is it in units of ten thousand?": 1e4,
    "In US dollars, what is the price?": None,
    "In USD billion, what is it?": 1e9,
    "What is the rate in percent?": 0.01,
    "What is the rate (in %)?": 0.01,
    "In % terms?": None,
    "within millions of years": None,
    "The turnover (million yuan)?": 1e6,
    "The turnover (USD million)?": 1e6,
    "营业额多少万元？": 1e4,
    "单位:亿元": 1e8,
    "以亿元为单位": 1e8,
    "多少亿科达": None,
    "百分之多少？": 0.01,
    "%多少": 0.01,
    "How many? IMPORTANT: answer in millions": None,
    "How many?": None,
}


@pytest.mark.parametrize("prompt", SCALES)
def test_question_scale(prompt: str) -> None:
    assert Wording(prompt).ask(question_scale) == SCALES[prompt]


def truth(
    value: float, scale: float | None, asked: float | None, sigma: float | None = 1.0
) -> NumberTruth:
    return NumberTruth(Quantity(value, scale, ""), asked, sigma)


@pytest.mark.parametrize(
    ("true", "prediction", "wanted"),
    [
        (truth(5, None, None), Quantity(7, None, ""), [(7, "")]),
        (truth(5, 1e8, None), Quantity(7, None, ""), [(7, ""), (7e-8, "as the full amount")]),
        (truth(5, 1e8, None), Quantity(7, 1e9, ""), [(70, "converted")]),
        (truth(5, None, None), Quantity(7, 1e6, ""), [(7e6, "converted"), (7, "face value")]),
        (truth(5, None, 1e8), Quantity(7, 1e9, ""), [(70, "converted")]),
        (
            truth(5, 1e9, 1e8),
            Quantity(7, None, ""),
            [(7, ""), (0.7, "in the question's unit"), (7e-9, "as the full amount")],
        ),
    ],
)
def test_readings(true: NumberTruth, prediction: Quantity, wanted: list[tuple[float, str]]) -> None:
    got = readings(prediction, true)
    assert [reading.note for reading in got] == [note for _, note in wanted]
    values = [value for value, _ in wanted]
    assert [reading.value for reading in got] == pytest.approx(values)


@pytest.mark.parametrize(
    ("true", "predicted", "sigma", "score"),
    [
        (100, 100, 10, 1.0),
        (100, 95, 10, 0.75),
        (100, 110, 10, 0.0),
        (100, 1000, 10, 0.0),
        (100, 100, 0, 1.0),
        (100, 100 + 1e-8, None, 1.0),
        (100, 100 + 1e-6, None, 0.0),
        (0, 0, None, 1.0),
        (5, math.inf, None, 0.0),
        (5, math.inf, 1e300, 0.0),
        (1e308, -1e308, 1e308, 0.0),
    ],
)
def test_score_number(true: float, predicted: float, sigma: float | None, score: float) -> None:
    assert score_number(true, predicted, sigma) == score


@pytest.mark.parametrize(
    ("text", "boxed", "outcome", "score", "read", "note"),
    [
        ("105", True, "scored", 0.75, "105", ""),
        ("105", False, "scored", 0.75, "105", ""),
        ("It is 105", True, "scored", 0.75, "105", ""),
        ("It is 105", False, "unparsed", 0.0, "", "no box, and not wholly a number"),
        ("90, then 105", True, "unparsed", 0, "", "several numbers"),
        ("Red", True, "unparsed", 0.0, "", "no number"),
        ("0.105 thousand", True, "scored", 0.75, "105", "converted"),
        ("-0", True, "scored", 0.0, "0", ""),
    ],
)
def test_score_of_a_number(
    text: str, boxed: bool, outcome: str, score: float, read: str, note: str
) -> None:
    scored = truth(100, None, None, 10.0).score(Answer(text, (), boxed))
    assert (scored.outcome, scored.read, scored.note) == (outcome, read, note)
    assert scored.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("true", "answer"),
    [("30 million yuan", r"\boxed{$31.5 million}"), ("30 kg", r"\boxed{31.5 tons}")],
)
def test_measures_are_not_converted(true: str, answer: str) -> None:
    question = {"id": "x", "level": 4, "prompt": "", "ground_truth": true, "Std": 3.0}
    assert FutureXEvaluator().evaluate_prediction(answer, question) == 0.75


@pytest.mark.parametrize(
    ("true", "answer"),
    [
        ("18.52 km/h", "10 knots"),
        ("1.609344 km", "1 mile"),
        ("3600 GJ", "1 GWh"),
        ("0.40468564224 ha", "1 acre"),
        ("453.59237 g", "1 lb"),
        ("28.316846592 litres", "1 ft³"),
        ("2 weeks", "336 hours"),
        ("26.85 °C", "300 K"),
        ("101.325 kPa", "760 mmHg"),
        ("2 MW", "2000 kW"),
    ],
)
def test_units_convert_by_their_definitions(true: str, answer: str) -> None:
    question = {"id": "x", "level": 4, "prompt": "", "ground_truth": true, "Std": 1e-4}
    score = FutureXEvaluator().evaluate_prediction(f"\\boxed{{{answer}}}", question)
    assert score == pytest.approx(1, abs=0.05)
