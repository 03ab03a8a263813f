"""Numbers of answers: which one a sentence says, what it means in the truth's unit, its score."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from forecasteval.common.patterns import end_of, lazy
from forecasteval.questions.states import AnswerScore, Unparsed

from ..rules import EQUAL, ZERO_SIGMA, Rules
from .answers import Answer, TruthOf
from .grammar import (
    PERCENT,
    Quantity,
    find_lead,
    parse_begin,
    parse_number,
    parse_quantity,
    read_scale,
)
from .language import pattern_of, question_words, words
from .negation import begins_denied, denies, find_doubt
from .units import DAYS, convert

# --- Numbers in sentences ---

# Rule 2; a language model may say which.
SEVERAL: Final = Unparsed("several numbers", "contradiction")
_NONE: Final = Unparsed("no number", is_silent=True)
_DIGIT: Final = lazy("[0-9]")
_HAS_DIGIT: Final = lazy("[0-9零一二两三四五六七八九十]")
_RUN: Final = lazy(r"[0-9][0-9,.]*")
_LIST_NUMBER: Final = lazy(r"[0-9]{1,2}[.)]\s+(?=\W?[0-9])")  # 1. 412.65
_ASIDE: Final = lazy(r"\([^()]*\)|\[[^\[\]]*\]")
_LAST_ASIDE: Final = lazy(r"(?<=\S)\s\([^()]*\)\Z")
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DATE: Final = lazy(
    rf"\b[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}\b|[0-9]{{1,4}}\s?[年月日号]"
    rf"|\b[0-9]{{1,2}}:[0-9]{{2}}|\b{_MONTH}\s[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s20[0-9]{{2}}\b)?"
    rf"|\b[0-9]{{1,2}}\s{_MONTH}(?:,?\s20[0-9]{{2}}\b)?|\b{_MONTH},?\s20[0-9]{{2}}\b"
    r"|\b(?:[QH][1-4]|[1-4][QH])\b(?:\s20[0-9]{2}\b)?|(?i:\b(?:in|by|of|until|since))\s(?:19"
    r"|20)[0-9]{2}\b(?![.,][0-9])"
)
_NO_VALUE_BEFORE: Final = lazy(  # Win10, COVID-19; per 100, rank 3, week 23
    r"(?i)[a-z_]-?\Z|(?:/|\bper\s|每|\bof\s|\bweek\s|\bno\.\s?|\btop\s|\brank\s|#|第)[$£€¥]?\Z"
)
# 23rd, 7-day, 1/4; 兆 is two numbers, 36氪 and 7天 are names, but 3876左右 is none
_NO_VALUE_BEHIND: Final = lazy(
    r"-?[A-Za-z_]|/?[0-9]|兆|(?!左右|上下|附近|以[上下内]|之[间内]|[的多余至到和与或是为但且及时])"
    r"[\u2e80-\u9fff\uac00-\ud7af]"
)
_ANOTHER: Final = lazy(
    rf"\s?(?:,?\s?then\b|[,/、;=|→]|{pattern_of('or')}|{pattern_of('and')}|vs)"
    r"\s?[-+]?[$€£¥]?[0-9]"
)
_VALUE: Final = lazy(r"[-+≈~]?\s?[$€£¥]?[0-9]")
_ROUND: Final = frozenset((1.0, 100.0, 1000.0, 10000.0))  # 915.04 CNY = 100 GBP


def named_numbers(prompt: str) -> frozenset[float]:
    """Collect the numbers that a question itself names: its dates, the 500 of S&P 500 (rule 8)."""
    words = question_words(prompt).replace(",", "")
    return frozenset(float(run.rstrip(".")) for run in _RUN.findall(words) if run.count(".") < 2)


def find_numbers(text: str, prompt: str = "") -> list[tuple[Quantity, str]]:
    """List the quantities that a sentence states, each with what stands behind it.

    Dates, bracketed asides, numbers glued to letters and those that the sentence takes back are no
    values; nor are those that the question names, where it does not name all.
    """
    text = _DATE.sub(" ; ", _ASIDE.sub(" ; ", text))
    numbers, end = [], 0
    while digit := _DIGIT.search(text, end):
        begin = digit.start()
        lead = find_lead(text, max(end, begin - 24), begin)
        if lead and text[lead:begin] in ("- ", "– "):  # growth - 3.2
            lead = begin
        read = parse_quantity(text, lead)
        end = read[1] if read else end_of(_RUN, text, begin)
        named = lead == begin and _NO_VALUE_BEFORE.search(text, max(0, begin - 6), begin)
        if read and not (named or _no_value(text, *read)):
            numbers.append((read[0], text[end : end + 40]))
    named_ones = named_numbers(prompt) if len(numbers) > 1 else frozenset()
    if "=" in text:
        named_ones |= _ROUND
    return [one for one in numbers if one[0].value not in named_ones] or numbers


def _no_value(text: str, quantity: Quantity, end: int) -> bool:
    """Return whether a number is part of a word or name, or taken back: `31.5?`."""
    behind = _NO_VALUE_BEHIND.match(text, end)
    if behind and (behind[0].isascii() or not (quantity.unit or quantity.scale)):
        return True
    return find_doubt(text, end) == ""


def interpret_number(
    text: str, in_sentence: bool, percent: bool | None = None, prompt: str = "", unit: str = ""
) -> Quantity | Unparsed:
    """Read the number that a text is, or with `in_sentence` the one that it states (rule 8): the
    only one with the `unit` of the truth or one that the question names, the one with which it
    begins, or the only one; else the reason why there is none.

    `percent` says whether a percentage is asked for, if that is known. A fall is negative where the
    `prompt` asks for a change.
    """
    if not _HAS_DIGIT.search(text):
        return _NONE
    quantity = parse_number(text)
    doubted = not quantity and _is_doubted(text)
    if not quantity and not doubted:
        quantity = parse_number(_LAST_ASIDE.sub("", text))  # **412.4** (±0.6)
    if not quantity and in_sentence:
        denied = doubted or denies(text) or begins_denied(text)
        stated = [] if denied else [number for number, _ in find_numbers(text, prompt)]
        asked = [one for one in stated if one.unit and _is_asked(one.unit, unit, prompt)]
        fits = [one for one in stated if percent is None or percent == (one.scale == PERCENT)]
        if len(asked) == 1 < len(stated):
            quantity = asked[0]
        elif not (quantity := parse_leading(text, prompt, percent)):
            if len(fits or stated) > 1:
                return SEVERAL
            quantity = next(iter(fits or stated), None)
    return sign_fall(quantity, prompt) if quantity else _NONE


def _is_doubted(text: str) -> bool:
    """Return whether brackets take a number back or offer another: `31.5 (could be 40)`."""
    others = [find_doubt(aside[0][1:-1]) for aside in _ASIDE.finditer(text)]
    return any(other == "" or (other and _VALUE.match(other)) for other in others)


def _is_asked(unit: str, wanted: str, prompt: str) -> bool:
    """Return whether a unit is the truth's, or stands in the question's words."""
    return unit == wanted or (len(unit.encode()) > 1 and unit in question_words(prompt))


def parse_leading(text: str, prompt: str, percent: bool | None = None) -> Quantity | None:
    """Read the number with which a text begins: `412.4 (range 411.0-413.5)` (rule 8). None if it
    goes on with another one, is taken back or part of a word, or one that the question names with
    another one behind it.
    """
    if _DATE.match(text) or not _DIGIT.search(text):
        return None
    quantity, rest = parse_begin(text) or (None, "")
    if quantity and (days := rest.strip(" .。")) in DAYS:
        return quantity._replace(unit=days)
    if not quantity or _ANOTHER.match(rest) or _no_value(rest, quantity, 0):
        return None
    if other := find_doubt(rest):
        return None if _VALUE.match(other) else quantity  # could be 40
    if not _DIGIT.search(_ASIDE.sub("", rest)):
        return quantity
    other_kind = percent is not None and percent != (quantity.scale == PERCENT)  # down 5% to 300
    return None if other_kind or quantity.value in named_numbers(prompt) else quantity


_FORETOLD: Final = frozenset(words("foretold"))

# --- Falls ---

_CHANGE: Final = lazy(
    r"(?i)\bchang|\bgrow|\bincreas|\bprofit|\bincome|\breturns?\b|year-on-year|month-on-month"
    r"|\byoy\b"
    r"|\bmom\b|\bnet\b|净|变化|变动|涨跌|增长|增速|增幅|同比|环比|利润|盈利|收益"
)
_ASKS_FALL: Final = lazy(
    r"(?i)(?<!or )\b(?:declin|decreas|fall|fell|drop|loss|down\b|net\s(?:outflow|sell|sale|sold))"
    r"|净卖出|净流出|净减持|(?<!涨)跌幅|降幅|下降|下跌|减少|亏损"
)


def asks_change(prompt: str) -> bool:
    """Return whether a question asks for a change, and not for how much something falls."""
    words = question_words(prompt)
    return bool(_CHANGE.search(words)) and not _ASKS_FALL.search(words)


def sign_fall(quantity: Quantity, prompt: str) -> Quantity:
    """Return a fall as a negative number where the question asks for a change."""
    falls = quantity.falls and asks_change(prompt)
    return quantity._replace(value=-abs(quantity.value)) if falls else quantity


# --- What a number means ---

_ASKS: Final = lazy(r"(?i)\bin\s(?!%\sterms)(?:units\sof\s)?|\(|(?:多少|几|单位|以)[:：为是]?\s?")
_MONEY: Final = lazy(r"(?i)(?:USD|US\$|\$|RMB|CNY|HKD|HK\$|EUR|yuan|(?:US\s)?dollars?)\s?")
_ASKS_PERCENT: Final = lazy("%多少|百分之多少|百分之几")
_BASIS_POINTS: Final = lazy(r"(?i)bps?|basis\s+points?|个?基点")


def question_scale(prompt: str) -> float | None:
    """Read the scale a question asks for: `in hundreds of millions of yuan` 1e8, `%多少` 0.01."""
    words = question_words(prompt)
    for asks in _ASKS.finditer(words):
        money = _MONEY.match(words, asks.end())
        begin = money.end() if money else asks.end()
        scale = read_scale(words, begin)
        name = words[begin + 1 : begin + 2] in ("科", "达")  # 万科, 万达
        if (scale >= 1e3 or scale == PERCENT) and not name:
            return scale
    return PERCENT if _ASKS_PERCENT.search(words) else None


class Reading(NamedTuple):
    """The value of a number in the unit of the truth, and how it was interpreted."""

    value: float
    note: str = ""


def find_sigma(truth: float, std: float | None, rules: Rules) -> float | None:
    """Choose the sigma of a question: its Std, or a share of the truth; None requires equality."""
    if rules.relative_sigma is None or (std is not None and rules.std_counts):
        return std
    return rules.relative_sigma * abs(truth) or ZERO_SIGMA


class NumberTruth(TruthOf[Reading]):
    """Truth of a numeric question; `sigma` and every compared value are in the unit of the truth.

    `prompt`: whether `down 0.4%` is negative is up to what the question asks for.
    """

    __slots__ = ("asked_scale", "prompt", "quantity", "sigma")
    kind = "number"
    is_plain = True

    def __init__(
        self, quantity: Quantity, asked_scale: float | None, sigma: float | None, prompt: str = ""
    ) -> None:
        self.quantity, self.asked_scale, self.sigma = quantity, asked_scale, sigma
        self.prompt = prompt

    def read(self, answer: Answer) -> Reading | Unparsed:
        """Read the number that an answer is, in the meaning that is nearest."""
        text = answer.cleaned[end_of(_LIST_NUMBER, answer.cleaned) :]
        plain = parse_number(text)
        if not plain and (status := self.find_status(answer)):
            return status
        if not plain and answer.stated:
            plain = parse_leading(text, self.prompt)
        if plain:
            quantity: Quantity | Unparsed = sign_fall(plain, self.prompt)
        else:
            # `My prediction is based on …` states nothing, `Answer: It will close at 5` does.
            said = not text[:1].islower() or not _FORETOLD.isdisjoint(text.split())
            sentence = answer.boxed or (answer.stated and said)
            percent = PERCENT in (self.quantity.scale, self.asked_scale)
            quantity = interpret_number(text, sentence, percent, self.prompt, self.quantity.unit)
        if isinstance(quantity, Unparsed):
            prose = Unparsed("no box, and not wholly a number", "prose", is_silent=True)
            return quantity if answer.boxed else prose
        true = self.quantity.value
        return min(readings(quantity, self), key=lambda reading: abs(true - reading.value))

    def means(self, text: str, words: str) -> bool:
        """Return whether a number stands behind the words of a refusal."""
        return bool(words and _DIGIT.search(text, len(words)))

    def compare(self, read: Reading) -> AnswerScore:
        """Score a value in the truth's unit."""
        true, value = self.quantity.value, read.value
        sigmas = (value - true) / self.sigma if self.sigma else None
        shown = f"{value + 0.0:.12g}"  # no "-0"
        return AnswerScore(
            score_number(true, value, self.sigma), "scored", shown, read.note, sigmas
        )


def readings(prediction: Quantity, truth: NumberTruth) -> list[Reading]:
    """List the values, in the truth's unit, a prediction may mean, likeliest first (rule 9)."""
    value, scale = prediction.value, prediction.scale
    stated = truth.quantity.scale or truth.asked_scale
    unit = stated or 1.0
    if prediction.unit:
        full = value * (scale or 1.0)
        other = convert(full, prediction.unit, truth.quantity.unit, truth.prompt)
        if other is not None:
            return [Reading(other / unit, f"converted from {prediction.unit}")]
    if stated == PERCENT and scale is None and _BASIS_POINTS.fullmatch(prediction.unit):
        return [Reading(value * 0.01, "basis points")]
    if scale is not None:
        face = [] if stated else [Reading(value, "face value")]
        return [Reading(value * (scale / unit), "converted"), *face]
    if not stated:
        return [Reading(value)]
    asked = (truth.asked_scale or unit) / unit
    notes = {asked: "in the question's unit", 1.0 / unit: "as the full amount"}
    return [
        Reading(value),
        *(Reading(value * factor, note) for factor, note in notes.items() if factor != 1.0),
    ]


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
