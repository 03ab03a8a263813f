"""The unit a question asks for, what a number may mean in it, and its score."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from .answers import Answer, TruthOf, parse_refusal, question_words
from .grammar import BASIS_POINTS, DIGITS, PERCENT, Quantity, scale_of
from .rules import EQUAL, ZERO_SIGMA, Rules, Scored
from .sentences import interpret_number, parse_leading_number

_IN_SCALE: Final = re.compile(  # no flags and an n in front: a literal makes the search fast
    r"n(?<=[Ii]n)(?<![A-Za-z0-9][Ii]n)\s+(?:units\s+of\s+)?(?:(?:USD|US\$|US\s+dollar|RMB|CNY|HKD|HK\$|EUR|yuan)s?\s*)?(?:((?:hundreds?\s+(?:of\s+)?|tens?\s+(?:of\s+)?)?(?:thousand|million|billion|trillion)s?)\b"
    r"|percent|%(?!\s*terms))"
)
_MONEY: Final = r"(?:USD|US\$|\$|RMB|CNY|HKD|EUR|yuan|dollars?)"
_BRACKET_SCALE: Final = re.compile(
    rf"\((?:{_MONEY}\s*)?((?:hundred\s+|ten\s+)?(?:thousand|million|billion|trillion)s?)(?:\s+(?:of\s+)?{_MONEY})?\)"
)
_CHINESE_SCALE: Final = re.compile(
    r"(?:多少|几|单位\s*[:：为是]?\s*|以(?=[万亿]+元?[美港]?元?为单位))\s*([十百千]?[万亿]+)(?![科达])"
    r"|%多少|百分之多少|多少%|百分之几"
)


def question_scale(prompt: str) -> float | None:
    """The scale a question asks for: `in hundreds of millions of yuan` 1e8, `多少万` 1e4, `%多少`
    0.01, or None.
    """
    prompt = question_words(prompt)
    scale = None
    if "illion" in prompt or "housand" in prompt or "%" in prompt or "percent" in prompt:
        scale = _IN_SCALE.search(prompt) or _BRACKET_SCALE.search(prompt)
    if not scale and not prompt.isascii():
        scale = _CHINESE_SCALE.search(prompt)
    return (scale_of(scale[1]) if scale[1] else PERCENT) if scale else None


class Reading(NamedTuple):
    """The value of a number in the unit of the truth, and how it was interpreted."""

    value: float
    note: str = ""


def find_sigma(truth: float, std: float | None, rules: Rules) -> float | None:
    """The sigma of a question: its Std, or a share of the truth; None requires equality."""
    if rules.relative_sigma is None or (std is not None and rules.std_counts):
        return std
    return rules.relative_sigma * abs(truth) or ZERO_SIGMA


class NumberTruth(TruthOf[Reading]):
    """Truth of a numeric question; `sigma` and every compared value are in the unit of the truth.

    `prompt`: whether `down 0.4%` is negative is up to what the question asks for.
    """

    __slots__ = ("asked_scale", "prompt", "quantity", "sigma")

    def __init__(
        self, quantity: Quantity, asked_scale: float | None, sigma: float | None, prompt: str = ""
    ) -> None:
        self.quantity, self.asked_scale, self.sigma, self.prompt = (
            quantity,
            asked_scale,
            sigma,
            prompt,
        )

    def read(self, answer: Answer) -> Reading | str:
        """The number in the reading that is nearest: in a box the last one of a sentence, else the
        whole text.
        """
        text = answer.cleaned
        if (
            not text[:1].isdigit()
            and (refusal := parse_refusal(text))
            and not DIGITS.search(refusal[1])
        ):
            return "refusal"
        percent = PERCENT in (self.quantity.scale, self.asked_scale)
        quantity, several = interpret_number(text, answer.boxed, percent, self.prompt)
        if not quantity and answer.stated:
            quantity = parse_leading_number(text, self.prompt)
        if quantity:
            reading = nearest_reading(quantity, self)
            return (
                reading._replace(note="; ".join(filter(None, (several, reading.note))))
                if several
                else reading
            )
        return "no number" if answer.boxed else "no box, and not wholly a number"

    def compare(self, read: Reading) -> Scored:
        """The score of a value in the truth's unit."""
        true, value = self.quantity.value, read.value
        sigmas = (value - true) / self.sigma if self.sigma else None
        shown = f"{value + 0.0:.12g}"  # no "-0"
        return Scored(score_number(true, value, self.sigma), "scored", shown, read.note, sigmas)


def nearest_reading(prediction: Quantity, truth: NumberTruth) -> Reading:
    """The reading of a prediction that is nearest to the truth, the first of equally near ones."""
    meant = readings(prediction, truth)
    return (
        meant[0]
        if len(meant) == 1
        else min(meant, key=lambda reading: abs(truth.quantity.value - reading.value))
    )


def readings(prediction: Quantity, truth: NumberTruth) -> list[Reading]:
    """The values, in the truth's unit, that a prediction may mean."""
    stated = truth.quantity.scale or truth.asked_scale
    unit = stated or 1.0
    if stated == PERCENT and prediction.scale is None and BASIS_POINTS.fullmatch(prediction.unit):
        return [Reading(prediction.value * 0.01, "basis points")]
    if prediction.scale is not None:
        converted = Reading(prediction.value * (prediction.scale / unit), "converted")
        return [converted] if stated else [converted, Reading(prediction.value, "face value")]
    values = [Reading(prediction.value)]
    if truth.asked_scale and truth.asked_scale != unit:
        values.append(
            Reading(prediction.value * (truth.asked_scale / unit), "in the question's unit")
        )
    if unit != 1.0:
        values.append(Reading(prediction.value / unit, "as the full amount"))
    return values


def score_number(truth: float, prediction: float, sigma: float | None) -> float:
    """max(0, 1 − ((truth − prediction)/sigma)²), in [0, 1]; all three in one unit (seed README,
    评分机制).

    With sigma 0 or None: 1 if both are equal to 1e-9 of the larger, else 0.

    >>> score_number(100, 105, 10), score_number(100, 111, 10), score_number(838.34, 838.340, None)
    (0.75, 0.0, 1.0)
    """
    error = truth - prediction
    if not math.isfinite(error):
        return 0.0
    if not sigma:
        return float(abs(error) <= EQUAL * max(abs(truth), abs(prediction)))
    ratio = error / sigma
    return max(0.0, 1.0 - ratio * ratio)
