"""The unit a question asks for, what a number may mean in it, and its score."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from .answers import Answer, question_words, read_refusal
from .numbers import BASIS_POINTS, DIGITS, PERCENT, Quantity, scale_of
from .rules import EQUAL, Scored, unparsed
from .sentences import LETTER_OR_MARK, mark_falls, read_number, states_fall

_IN_SCALE: Final = re.compile(  # no flags and no \bi in front: a literal makes the search fast
    r"n\s+(?:units\s+of\s+)?(?:(?:USD|US\$|US\s+dollar|RMB|CNY|HKD|HK\$|EUR|yuan)s?\s*)?(?:((?:hundreds?\s+(?:of\s+)?|tens?\s+(?:of\s+)?)?(?:thousand|million|billion|trillion)s?)\b"
    r"|percent|%(?!\s*terms))"
)
_MONEY: Final = r"(?:USD|US\$|\$|RMB|CNY|HKD|EUR|yuan|dollars?)"
_BRACKET_SCALE: Final = re.compile(
    rf"\((?:{_MONEY}\s*)?((?:hundred\s+|ten\s+)?(?:thousand|million|billion|trillion)s?)(?:\s+(?:of\s+)?{_MONEY})?\)"
)
_ASKED_SCALE: Final = re.compile(
    r"(?:多少|几|单位\s*[:：为是]?\s*|以(?=[万亿]+元?[美港]?元?为单位))\s*([十百千]?[万亿]+)(?![科达])"
)
_ASKED_PERCENT: Final = re.compile(r"%多少|百分之多少|多少%|百分之几")


def question_scale(prompt: str) -> float | None:
    """The scale a question asks for: `in hundreds of millions of yuan` 1e8, `多少万` 1e4, `%多少` 0.01, or None."""
    prompt = question_words(prompt)
    if "illion" in prompt or "housand" in prompt or "%" in prompt or "percent" in prompt:
        for asked in _IN_SCALE.finditer(prompt):
            if re.search(r"(?<![A-Za-z0-9])[Ii]\Z", prompt[max(0, asked.start() - 2) : asked.start()]):
                return scale_of(asked[1]) if asked[1] else PERCENT
        bracketed = _BRACKET_SCALE.search(prompt)
        if bracketed:
            return scale_of(bracketed[1])
    if not prompt.isascii():
        chinese = _ASKED_SCALE.search(prompt)
        if chinese:
            return scale_of(chinese[1])
        if _ASKED_PERCENT.search(prompt):
            return PERCENT
    return None


_CHANGE: Final = re.compile(
    r"(?i:\bchang|\bgrow|\bincreas|\bprofit|\bincome|\breturns?\b|year-on-year|month-on-month|\byoy\b|\bmom\b)"
    r"|变化|变动|涨跌|增长|增速|增幅|同比|环比|利润|盈利|收益"
)
_ASKS_FALL: Final = re.compile(
    r"(?i:(?<!or )\b(?:declin|decreas|fall|fell|drop|loss|down\b))|(?<!涨)跌幅|降幅|下降|下跌|减少|亏损"
)


def asks_change(prompt: str) -> bool:
    """Whether a question asks for a change, a growth rate or a profit, and not itself for the fall."""
    words = question_words(prompt)
    return bool(_CHANGE.search(words)) and not _ASKS_FALL.search(words)


def with_falls(text: str, prompt: str) -> str:
    """The text with its falls marked, where the question asks for a change."""
    if not LETTER_OR_MARK.search(text):
        return text
    return mark_falls(text, states_fall(text) and asks_change(prompt))


class NumberTruth(NamedTuple):
    """Truth of a numeric question; `sigma` and every compared value are in the truth's own unit.

    `prompt`: whether `down 0.4%` is negative is up to what the question asks for.
    """

    quantity: Quantity
    asked_scale: float | None
    sigma: float | None
    prompt: str = ""

    @property
    def change(self) -> bool:
        """Whether the question asks for a change, so that an answer may state a fall."""
        return asks_change(self.prompt)

    def read(self, answer: Answer) -> tuple[Quantity, str] | str:
        """The number and a note, or why there is none: in a box the last number of a sentence, else the whole text."""
        text = answer.cleaned
        if not text[:1].isdigit() and (refusal := read_refusal(text)) and not DIGITS.search(refusal[1]):
            return "refusal"
        percent = PERCENT in (self.quantity.scale, self.asked_scale)
        quantity, several = read_number(with_falls(text, self.prompt), answer.boxed, percent)
        if quantity:
            return quantity, several
        return "no number" if answer.boxed else "no box, and not wholly a number"

    def compare(self, value: float, note: str = "") -> Scored:
        """The score of a value in the truth's unit."""
        true = self.quantity.value
        sigmas = (value - true) / self.sigma if self.sigma else None
        return Scored(score_number(true, value, self.sigma), "scored", f"{value + 0.0:.12g}", note, sigmas)  # no "-0"

    def score(self, answer: Answer) -> Scored:
        """The score of the number in the reading that is nearest the truth."""
        read = self.read(answer)
        if isinstance(read, str):
            return unparsed(read)
        value, note = nearest_reading(read[0], self)
        return self.compare(value, "; ".join(filter(None, (read[1], note))))


def nearest_reading(prediction: Quantity, truth: NumberTruth) -> tuple[float, str]:
    """The value, in the truth's unit, that a prediction means, and how it was taken."""
    meant = readings(prediction, truth)
    return meant[0] if len(meant) == 1 else min(meant, key=lambda reading: abs(truth.quantity.value - reading[0]))


def readings(prediction: Quantity, truth: NumberTruth) -> list[tuple[float, str]]:
    """The values, in the truth's unit, that a prediction may mean, each with its name."""
    stated = truth.quantity.scale or truth.asked_scale
    unit = stated or 1.0
    if stated == PERCENT and prediction.scale is None and BASIS_POINTS.fullmatch(prediction.unit):
        return [(prediction.value * 0.01, "basis points")]
    if prediction.scale is not None:
        converted = [(prediction.value * (prediction.scale / unit), "converted")]
        return converted if stated else [*converted, (prediction.value, "face value")]
    values = [(prediction.value, "")]
    if truth.asked_scale and truth.asked_scale != unit:
        values.append((prediction.value * (truth.asked_scale / unit), "in the question's unit"))
    if unit != 1.0:
        values.append((prediction.value / unit, "as the full amount"))
    return values


def score_number(truth: float, prediction: float, sigma: float | None) -> float:
    """max(0, 1 − ((truth − prediction)/sigma)²), in [0, 1]; all three in one unit (seed README, 评分机制).

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


def score_reading(truth: NumberTruth, prediction: Quantity) -> Scored:
    """The score of a quantity in the reading that is nearest the truth."""
    return truth.compare(*nearest_reading(prediction, truth))
