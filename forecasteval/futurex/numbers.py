"""Numbers of answers: which one a sentence says, what it means in the truth's unit, its score."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from forecasteval.common.doubts import CROSSES, DENIALS, DENIALS_CJK, NUMBER, find_doubt, may_doubt
from forecasteval.common.patterns import lazy

from .answers import Answer, TruthOf, question_words
from .grammar import (
    CURRENCY,
    FALL,
    ONE,
    PER_AMOUNT,
    PERCENT,
    PERCENT_SIGN,
    ROUND_AMOUNT,
    SCALE,
    UNIT_START,
    Quantity,
    parse_begin,
    parse_number,
    parse_quantity,
    scale_of,
)
from .rules import EQUAL, ZERO_SIGMA, AnswerScore, Rules
from .units import convert, find_unit, move_units

# --- Numbers in sentences ---

_HAS_DIGIT: Final = lazy(rf"[0-9{ONE}十]")
_DIGIT: Final = lazy("[0-9]")
_YEAR: Final = r"(?:19|20)[0-9]{2}"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_NOISE: Final = rf"""
    # a glance: where a word may begin, not far from a digit
    (?=[^\s,.;:?'\"-])(?:(?![A-Za-z])|(?<![A-Za-z])(?=[^0-9]{{0,24}}[0-9]))
    (?:\([^()]*\)|\[[^\[\]]*\]  # asides
    # names of indices
    |(?=[SNDFREKCIATHWsndfrekciathw])(?i:S\s?&\s?P\s?[1456]00|Nikkei\s?225|Nasdaq[\s-]?100|Nifty\s?50|Dow\s?30
      |DAX\s?[0-9]{{2}}|FTSE\s?[0-9]{{3}}|Fortune\s?500|Russell\s?[0-9]{{4}}|(?:Euro\s?)?Stoxx\s?[0-9]{{2,3}}
      |KOSPI\s?[0-9]{{2,3}}|CAC\s?40|CSI\s?[0-9]{{2,4}}|IBEX\s?35|ASX\s?200|TSX\s?60|TOPIX\s?[0-9]{{2,4}}
      |Hang\s?Seng\s?[0-9]{{2}}|Win(?:dows)?\s?[0-9]{{1,2}})
    |(?:标普|标准普尔|日经|沪深|中证|上证|科创|创业板|深证|富时|纳斯达克|纳指|罗素)\s?[0-9]{{2,4}}|51\.LA
    # dates
    |(?<![0-9]){_YEAR}\s?[-/.年]\s?[0-9]{{1,2}}\s?[-/.月]\s?[0-9]{{1,2}}(?:\s?[日号])?(?![0-9])
    |(?<![0-9])[0-9]{{1,2}}/[0-9]{{1,2}}/(?:19|20)?[0-9]{{2}}(?![0-9])
    |(?<![0-9])(?:(?:19|20)?[0-9]{{2}}\s?年\s?)?[0-9]{{1,2}}\s?月(?:\s?[0-9]{{1,2}}\s?[日号])?
    |(?<![0-9]){_YEAR}\s?年|(?<![0-9])[0-9]{{1,2}}\s?[日号]
    |\b{_MONTH}\s?[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+{_YEAR}\b)?
    |\b[0-9]{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR}\b)?|\b{_MONTH},?\s+{_YEAR}\b
    # quarters and halves
    |(?<![0-9])(?:{_YEAR}\s?年?\s?)?(?:第?[一二三四1-4]季度|[上下]半年)|(?<![0-9]){_YEAR}\s?[QH][1-4]\b
    |\b(?:[QH][1-4]|[1-4][QH])\b(?:,?\s?(?:of\s+)?{_YEAR}\b)?
    |(?i:\b(?:first|second|third|fourth|1st|2nd|3rd|4th)\s+(?:quarter|half)\b(?:\s+(?:of\s+)?{_YEAR}\b)?)
    # times
    |(?<![0-9:])[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?(?:\s*[AaPp]\.?[Mm]\b\.?)?|\b[0-9]{{1,2}}\s*[AaPp]\.?[Mm]\b\.?
    |(?:[上下]午\s?)?[0-9]{{1,2}}\s?[时点]\s?[0-9]{{1,2}}\s?分|[上下]午\s?[0-9]{{1,2}}\s?[时点]
    |\b(?:GMT|UTC)\s?[+-]\s?[0-9]{{1,2}}(?::[0-9]{{2}})?
    # out of N, what a price is per, what it was before
    |(?i:\bout\s+of\s+(?:a\s+)?(?:possible\s+)?[0-9][0-9,.]*)|(?<![0-9./])[0-9]{{1,9}}\s?/\s?[0-9]{{1,9}}(?![0-9./])
    |(?i:(?:/|\bper\s|每)\s*{PER_AMOUNT}|(?P<round>(?:=|\bfor\s)\s*{ROUND_AMOUNT}))
    |(?i:(?<=,\s)(?:up\s|down\s|{FALL})\s?(?:by\s)?(?:[0-9][0-9.,]{{0,15}}\s?%?\s)?from\s[$£€¥]?[0-9][0-9.,]{{0,20}})
    # bare years
    |(?i:\b(?:in|by|of|during|since|until|before|after|for|year|fy|cy)\s+(?:the\s+year\s+)?{_YEAR})\b
     (?![.,]?[0-9])(?!\s*(?i:{SCALE}|{PERCENT_SIGN}|{UNIT_START}))
    # denied, ranks, parts of names
    |(?:(?=[a-zA-Z])(?i:\b(?:{DENIALS}))\s+|(?:(?:[≠¬{CROSSES}]|(?<!\w)!)=?|{DENIALS_CJK})\s*)[$€£¥]?-?[0-9][0-9.,]*
    |(?i:\bno\.\s?|\btop\s|\brank(?:ed)?\s|\#\s?|第\s?)[0-9]+
    |(?i:(?<![a-z0-9])(?!(?:usd|rmb|cny|hkd|eur|gbp|jpy|x|e)[0-9])[a-z]+[-_]?[0-9][a-z0-9]*(?:[.-][0-9]+)*))"""
_MYRIADS: Final = lazy("(?<=[0-9])万(?=[0-9]{4}(?:[.][0-9]+)?亿)")  # 1万2345亿 is 12345亿
_PLAIN_NOISE: Final = lazy(_NOISE, re.X)
_NOISE_OR_DOUBT: Final = lazy(f"{_NOISE}|{NUMBER}", re.X)  # takes 10 ms
_START: Final = lazy(
    rf"(?i){FALL}?(?:(?<![a-z0-9_)])[-+−–](?!\s)|(?a:\b)(?:minus|negative)\s|负)?\s?"
    rf"(?:(?:{CURRENCY})\s?[-+−]?)?\.?[0-9]+"
)
# 23rd, 7-day: part of a word; 7天, 36氪: a name; but 3876左右 and 3876的
_GLUED: Final = lazy(
    r"[A-Za-z_][A-Za-z0-9_-]*|-[A-Za-z][A-Za-z0-9_-]*"
    r"|(?!左右|上下|附近|以[上下内]|之[间内]|[的多余至到和与或是为但且及时])[\u2e80-\u9fff\uac00-\ud7af]"
)
_NO_UNIT: Final = lazy(  # behind a number
    r"(?i)(?:\W|(?!\W))(?:(?:a|about|after|and|approx(?:imately)?|as|at|based|because|before|but|by|compared|during|for|from|given|if|in|is|of|on|or"
    r"|since|so|than|that|the|this|to|was|which|while|will|with)?(?![\w-]))"
)


def find_numbers(text: str) -> list[tuple[Quantity, str]]:
    """List the quantities that a sentence states, each with what stands behind it.

    Dates, times, bracketed asides, `out of N`, bare years and numbers inside names are no values.
    """
    first = _DIGIT.search(text)
    if not first:
        return []
    noise = _NOISE_OR_DOUBT if may_doubt(text) else _PLAIN_NOISE

    def drop(found: re.Match[str]) -> str:
        # "Close = 100 USD" is a value, "915.04 CNY = 100 GBP" says what it is per.
        value = found["round"] and first.start() >= found.start()
        return found[0] if value else " ; "

    text = noise.sub(drop, text)
    numbers, position = [], 0
    while digit := _DIGIT.search(text, position):
        # What stands in front of it is short, and its pattern slow.
        start = _START.search(text, max(position, digit.start() - 16)) or digit
        quantity, position = parse_quantity(text, start.start()) or (None, start.end())
        glued = _GLUED.match(text, position)
        if glued and (glued[0].isascii() or not (quantity and (quantity.unit or quantity.scale))):
            position = glued.end()
        elif quantity:
            numbers.append((quantity, text[position : position + 40]))
    return numbers


def has_other_word(behind: str) -> bool:
    """Return whether a word stands behind a number that may be a unit: `31.5 apples`."""
    return not _NO_UNIT.match(behind)


# --- Falls ---

_SAYS_FALL: Final = lazy(
    r"[↑↓▲▼△▽]|down|fell|fall|declin|decreas|drop|loss|下跌|下降|降幅|减少|亏损"
)
# The number stands directly behind: "down to 5%" is 5%.
_FALL_BEFORE: Final = lazy(
    r"(?:(?i:\b(?:down|fell|falls?|fallen|declin(?:es?|ed|ing)|decreas(?:es?|ed|ing)|drop(?:s|ped)?|loss)\b)|[↓▼]"
    r"|下跌|下降|降幅|减少|亏损)(?:\s|(?i:of|by|about)\s|[约为了:]){0,4}(?=[$£€¥]?\.?[0-9])"
)
_FALL_BEHIND: Final = lazy(
    rf"(?i)(?<![\w.,{FALL}])([$£€¥]?[0-9][0-9.,]{{0,20}}(?:\s?[-–~]\s?[0-9][0-9.,]{{0,20}})?\s?[%\w]{{0,9}}(?:\s[a-z]{{2,9}})?)"
    r"\s(?:decline|decrease|drop|fall|loss)\b(?!\s*[0-9])"
)
_CHANGE: Final = lazy(
    r"(?i:\bchang|\bgrow|\bincreas|\bprofit|\bincome|\breturns?\b|year-on-year|month-on-month|\byoy\b|\bmom\b)"
    r"|变化|变动|涨跌|增长|增速|增幅|同比|环比|利润|盈利|收益"
)
_ASKS_FALL: Final = lazy(
    r"(?i:(?<!or )\b(?:declin|decreas|fall|fell|drop|loss|down\b))"
    r"|(?<!涨)跌幅|降幅|下降|下跌|减少|亏损"
)
_ARROWS: Final = dict.fromkeys(map(ord, "↑↓▲▼△▽"), " ")


def mark_falls(text: str, prompt: str) -> str:
    """Mark each number that states a fall, where the question asks for a change.

    >>> mark_falls("a decline of 0.3-0.5%", "the change"), mark_falls("down to 5%", "the change")
    ('a ▼0.3-0.5%', 'down to 5%')
    """
    if not _SAYS_FALL.search(text.lower()):
        return text
    words = question_words(prompt)
    if not _CHANGE.search(words) or _ASKS_FALL.search(words):  # for no change, or for the fall
        return text.translate(_ARROWS)
    return _FALL_BEHIND.sub(rf"{FALL}\1", _FALL_BEFORE.sub(FALL, text))


def interpret_number(
    text: str, in_sentence: bool, percent: bool = True, prompt: str = ""
) -> tuple[Quantity | None, str]:
    """Read the number that a text is, or with `in_sentence` the last that it states, and a note.

    Those with a unit or scale come before those without; percentages only where one is asked for
    (`percent`). A fall is negative where the `prompt` asks for a change.
    """
    if not _HAS_DIGIT.search(text):
        return None, ""
    if whole := parse_number(text):
        return whole, ""
    said = mark_falls(text, prompt).replace("億", "亿").replace("萬", "万").replace("零下", "-")
    said = _MYRIADS.sub("", said)
    whole = parse_number(said) if said != text else None
    if whole or not in_sentence:
        return whole, ""
    said = move_units(said)
    begin, rest = (len(said) < 40 and parse_begin(said)) or (None, "")
    if begin and rest.strip(" .。") == (unit := find_unit(rest)) != "":  # 120分钟
        return begin._replace(unit=unit), ""
    stated = find_numbers(said)
    if not stated:
        return None, ""
    plain = [number for number in stated if percent or number[0].scale != PERCENT]
    marked = [number for number in plain if number[0].scale or number[0].unit]
    note = f"last of {len(stated)} numbers" if len(stated) > 1 else ""
    quantity, behind = (marked or plain or stated)[-1]
    return quantity._replace(unit=quantity.unit or find_unit(behind)), note


def parse_leading_number(text: str, prompt: str) -> Quantity | None:
    """Read the only number of a text, at its beginning: `31.5 (the last close)`."""
    quantity, rest = parse_begin(mark_falls(text, prompt)) or (None, "")
    if not quantity or _DIGIT.search(rest) or find_doubt(rest):
        return None
    unit = quantity.unit or find_unit(rest)
    other = not unit and has_other_word(rest) and rest.strip()[:4] not in prompt
    return None if other else quantity._replace(unit=unit)  # 31.5 apples


# --- What a number means ---

_MONEY: Final = r"(?:USD|US\$|\$|RMB|CNY|HKD|HK\$|EUR|yuan|US\s+dollars?|dollars?)"
_ASKED_SCALE: Final = lazy(
    r"(?<![A-Za-z0-9])[Ii]n\s+(?:units\s+of\s+)?"
    rf"(?:{_MONEY}s?\s*)?(?:((?:(?:hundred|ten)s?\s+(?:of\s+)?)?(?:thousand|million|billion|trillion)s?)\b|percent|%(?!\s*terms))"
    rf"|\((?:{_MONEY}\s*)?((?:(?:hundred|ten)\s+)?(?:thousand|million|billion|trillion)s?)(?:\s+(?:of\s+)?{_MONEY})?\)"
    r"|(?:多少|几|单位\s*[:：为是]?\s*|以(?=[万亿]+元?[美港]?元?为单位))\s*([十百千]?[万亿]+)(?![科达])|%多少|百分之多少|多少%|百分之几"
)
_BASIS_POINTS: Final = lazy(r"(?i)bps?|basis\s+points?|个?基点")


def question_scale(prompt: str) -> float | None:
    """Read the scale a question asks for: `in hundreds of millions of yuan` 1e8, `%多少` 0.01."""
    prompt = question_words(prompt)
    worded = "illion" in prompt or "housand" in prompt or "%" in prompt or "percent" in prompt
    asked = _ASKED_SCALE.search(prompt) if worded or not prompt.isascii() else None
    if not asked:
        return None
    return scale_of(asked[asked.lastindex]) if asked.lastindex else PERCENT


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

    def __init__(
        self, quantity: Quantity, asked_scale: float | None, sigma: float | None, prompt: str = ""
    ) -> None:
        self.quantity, self.asked_scale, self.sigma = quantity, asked_scale, sigma
        self.prompt = prompt

    def read(self, answer: Answer) -> Reading | str:
        """Read the number that an answer is, in the meaning that is nearest. In a box it is the
        last number of a sentence.
        """
        text, several = answer.cleaned, ""
        quantity = parse_number(text)
        if not quantity:
            if status := self.find_status(answer):
                return status
            percent = PERCENT in (self.quantity.scale, self.asked_scale)
            quantity, several = interpret_number(text, answer.boxed, percent, self.prompt)
        if not quantity and answer.stated:
            quantity = parse_leading_number(text, self.prompt)
        if not quantity:
            return "no number" if answer.boxed else "no box, and not wholly a number"
        true = self.quantity.value
        reading = min(readings(quantity, self), key=lambda reading: abs(true - reading.value))
        if several:
            reading = reading._replace(note="; ".join(filter(None, (several, reading.note))))
        return reading

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
    """List the values, in the truth's unit, that a prediction may mean, the likeliest first."""
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
