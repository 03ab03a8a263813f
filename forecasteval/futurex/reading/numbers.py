"""Numbers of answers: which one a sentence says, what it means in the truth's
unit, its score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from forecasteval.common.markup import clean
from forecasteval.common.patterns import end_of, lazy
from forecasteval.questions.states import AnswerScore, Unparsed

from ..rules import EQUAL, ZERO_SIGMA, Rules
from .answers import Answer, TruthOf
from .grammar import (
    PERCENT,
    Quantity,
    find_lead,
    parse_number,
    parse_plain_number,
    parse_quantity,
    read_scale,
)
from .language import is_cjk, pattern_of, words
from .negation import denies, takes_back
from .statements import CONDITIONS, DECLINING, SENTENCE_STOP
from .units import DAYS, convert, find_currency, is_same_currency, price_factor
from .walk import AND, NOT, Said, choose, walk
from .wording import NO_WORDING, Wording

# --- Numbers in sentences ---

# Rule 2; a language model may say which.
SEVERAL: Final = Unparsed("several numbers", "contradiction")
_OTHER_CURRENCY: Final = Unparsed("another currency")
_BOUND: Final = Unparsed("a bound, and no value", is_silent=True)
_OTHER_UNIT: Final = Unparsed("a price per another unit")
_NONE: Final = Unparsed("no number", is_silent=True)
_PROSE: Final = Unparsed("no box, and not wholly a number", "prose", is_silent=True)
_ACCOUNT: Final = lazy(r"[$\s]*\(([^()]*[0-9][^()]*)\)[$\s.]*")
_DIGIT: Final = lazy("[0-9]")
# 2 1/2
_FRACTION: Final = lazy(r"(-?)(?:([0-9]{1,6}) )?([0-9]{1,6})/([0-9]{1,6})[.\s]*")
_HAS_DIGIT: Final = lazy("[0-9零一二两三四五六七八九十]")
_MAX_LEAD: Final = 24  # characters of the words, sign and currency in front of digits
_DASHES: Final = ("- ", "– ")
_RUN: Final = lazy(r"[0-9][0-9,.]*")
# 1. 412.65; 1. It will be 412.65
_LIST_NUMBER: Final = lazy(r"[0-9]{1,2}[.)]\s+(?=\W?[0-9]|[A-Z][^.!?]{0,80}\swill\s)")
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DATE: Final = lazy(  # A glance at the first sign makes the search fast.
    r"(?=[0-9JFMASONDQHIiBbOoUuSs])(?:"
    rf"\b[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}\b|[0-9]{{1,4}}\s?[年月日号]"
    rf"|\b[0-9]{{1,2}}:[0-9]{{2}}|\b{_MONTH}\s[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s20[0-9]{{2}}\b)?"
    rf"|\b[0-9]{{1,2}}\s{_MONTH}(?:,?\s20[0-9]{{2}}\b)?|\b{_MONTH},?\s20[0-9]{{2}}\b"
    r"|\b(?:[QH][1-4]|[1-4][QH])\b(?:\s20[0-9]{2}\b)?|(?i:\b(?:in|by|of|until|since))\s(?:19"
    r"|20)[0-9]{2}\b(?![.,][0-9]))"
)
_NO_VALUE_BEFORE: Final = lazy(  # Win10, COVID-19; per 100, rank 3, week 23
    r"(?i)[a-z_]-?\Z|(?:/|\bper\s|每|\bof\s|\bweek\s|\bno\.\s?|\btop\s|\brank\s|#|第)[$£€¥]?\Z"
)
# 23rd, 7-day, 1/4, 95% CI
_JOINED: Final = lazy(r"-?[A-Za-z_]|/?[0-9]|\s(?:CI|confidence)\b")
_GOES_ON: Final = lazy(
    r"左右|上下|附近|以[上下内]|之[间内]|[的多余至到和与或是为但且及时]"
)
# In front of the last result: no words, but names of variables
_EQUATION: Final = lazy(
    r"(?:(?![A-Za-z]{2}|[^\W\d_a-zA-Z])[^\n]){1,200}=\s*(?=[^=]*\Z)"
)
MAX_BARE: Final = 500  # characters of a text without a box that is a value
_OTHERWISE: Final = lazy(  # 58 if it rises, 66 otherwise; 58 < x < 66
    rf"(?i)(?:{pattern_of('conditions')}).*(?:\botherwise\b|\b(?:or\s)?else\b|否则)"
    r"|[0-9]\s*[<≤]\s*[A-Za-z]\w{0,20}\s*[<≤]"
)
_KNOWN_END: Final = lazy(r"[)\]][\s.。!]*\Z")
_KNOWN_BEHIND: Final = lazy(r"(?:\s?(?:\([^()]*\)|\[[^\[\]]*\]))*[\s.。!]*\Z")


def named_numbers(words: str) -> frozenset[float]:
    """Collect the numbers that a question itself names: its dates, the 500 of
    S&P 500 (rule 9).
    """
    runs = _RUN.findall(words.replace(",", ""))
    return frozenset(float(run.rstrip(".")) for run in runs if run.count(".") < 2)


def find_quantity(text: str, position: int) -> tuple[Quantity, int, int] | None:
    """Find the next quantity at or behind a position; numbers glued to
    letters are none.
    """
    end = position
    while digit := _DIGIT.search(text, end):
        begin = digit.start()
        lead = find_lead(text, max(end, begin - _MAX_LEAD), begin)
        if text[lead:begin] in _DASHES:  # growth - 3.2
            lead = begin
        read = parse_quantity(text, lead)
        if not read:
            end = end_of(_RUN, text, begin)
            continue
        quantity, end = read
        is_name = lead == begin and _NO_VALUE_BEFORE.search(
            text, max(0, begin - 6), begin
        )
        if not is_name and not _is_glued(text, quantity, end):
            # Behind another number the words in front belong to the gap: `or about 5`.
            if position and text[lead:begin].strip("-+$€£¥ "):
                lead = begin
            return quantity, lead, end
    return None


def _is_glued(text: str, quantity: Quantity, end: int) -> bool:
    """Return whether a number is part of a word or name."""
    if _JOINED.match(text, end):
        return True
    # 36氪 and 7天 are names, and 5兆 is two numbers, but 3876左右 is one.
    is_name = is_cjk(text[end : end + 1]) and not _GOES_ON.match(text, end)
    return is_name and not (quantity.unit or quantity.scale)


def find_numbers(text: str, wording: Wording = NO_WORDING) -> list[Said[Quantity]]:
    """List the quantities that a text says. Dates are none, nor are those that the
    question names and bounds (`above 400, at 412`), where others are left.
    """
    text = _DATE.sub(lambda date: ";".ljust(len(date[0])), text)
    values = walk(text, find_quantity)
    if len(values) < 2:
        return values
    named = wording.ask(named_numbers)
    values = [said for said in values if said.value.value not in named] or values
    return [said for said in values if not said.value.bound] or values


def interpret_number(
    text: str,
    in_sentence: bool,
    percent: bool | None = None,
    wording: Wording = NO_WORDING,
) -> Quantity | Unparsed:
    """Read the number that a text is, or with `in_sentence` the one that it states
    (rule 9): the one with which it begins, or the only one; else the reason why
    there is none.

    `percent` says of an answer whether a percentage is asked for. A fall is negative
    where the `wording` asks for a change.
    """
    if not _HAS_DIGIT.search(text):
        return _NONE
    if "=" in text:
        text = text[end_of(_EQUATION, text) :]  # 251 + 42 = 293
    read: Quantity | Unparsed | None = parse_number(text)
    if not read and in_sentence:
        read = _read_sentence(text, percent, wording)
    elif not read:
        read = _read_with_error(text)
    if isinstance(read, Unparsed):
        return read
    return sign_fall(read, wording) if read else _NONE


def _read_sentence(
    text: str, percent: bool | None, wording: Wording
) -> Quantity | Unparsed | None:
    """Read the number that a sentence states: behind the last `=`, if there is one."""
    if days := _parse_days(text):
        return days
    if _OTHERWISE.search(text):
        return SEVERAL
    values = find_numbers(text, wording)
    if percent is not None:
        values = _drop_past(text, values)
    results = [said for said in values if said.begin > text.rfind("=")]
    return _choose_number(text, results or values, percent)


_PAST: Final = lazy(rf"(?i){pattern_of('past')}")
_COMPARED: Final = lazy(rf"(?i)(?:{pattern_of('compared')})[^,;，；]{{0,20}}\Z")
_FORECASTS: Final = lazy(rf"(?i){pattern_of('forecasts')}")
# `30 last week`, `30 (previous close)`; not where another value follows
_CLAUSE_BEHIND: Final = lazy(
    r"[^,;:()，；：。…\n.]*(?=[,;:)，；：。\n.]|\Z)|\s?[(（][^()（）…]{1,20}[)）]\W*\Z"
)
_CLAUSE_END: Final = lazy(r"[,;:()，；：。…\n]|\.\s")


def _drop_past(text: str, values: Sequence[Said[Quantity]]) -> list[Said[Quantity]]:
    """Return the values without those of the past (`last close 400`), and those that
    others are compared to (`up from 400`).
    """
    left = []
    end = 0
    for said in values:
        gap = text[end : said.begin]
        front = _CLAUSE_END.split(gap.rstrip(" :：("))[-1]
        behind = _CLAUSE_BEHIND.match(said.behind)
        is_past = _PAST.search(front) or (behind and _PAST.search(behind[0]))
        is_forecast = _FORECASTS.search(front)
        is_compared = end and _COMPARED.search(gap)
        if is_forecast or not (is_past or is_compared):
            left.append(said)
        end = said.end
    return left


def _parse_fraction(text: str) -> Quantity | None:
    """Read a text that is a fraction: `58/100`, `2 1/2`."""
    fraction = _FRACTION.fullmatch(text) if "/" in text else None
    if not fraction or not int(fraction[4]):
        return None
    value = int(fraction[3]) / int(fraction[4])
    value += int(fraction[2] or 0)
    if fraction[1]:
        value = -value
    return Quantity(value, None, "")


def _parse_days(text: str) -> Quantity | None:
    """Read a count of days or weeks where a number is asked for; else 7天
    may be a name.
    """
    read = parse_quantity(text, 0)
    if not read:
        return None
    quantity, end = read
    unit = text[end:].strip(" .。")
    return quantity._replace(unit=unit) if unit in DAYS else None


def _read_with_error(text: str) -> Quantity | None:
    """Read a number with nothing but brackets behind it: `412.4 (±0.6)`."""
    if not _KNOWN_END.search(text):
        return None
    values = walk(text[:MAX_BARE], find_quantity, 2)
    if not values or values[0].begin:
        return None
    if not _KNOWN_BEHIND.match(text, values[0].end):
        return None
    chosen = choose(values)
    return chosen[0] if chosen else None


def _choose_number(
    text: str, values: Sequence[Said[Quantity]], percent: bool | None
) -> Quantity | Unparsed | None:
    """Choose by the rules of the walk, with what numbers alone have:
    units, and ranges.
    """
    stated = [
        said for said in values if said.joint != NOT and not takes_back(said.behind)
    ]
    if not stated:
        return None
    front = SENTENCE_STOP.split(text[: stated[0].begin])[-1]
    if denies(front):
        return None
    if point := _find_point(stated):
        return point
    first = stated[0]
    outside = [said for said in stated if not said.inside]
    is_head = first is values[0] and first.joint == AND and not first.inside
    fitting = [said for said in outside if _is_asked(said.value, percent)]
    if is_head and (first in fitting or not fitting):
        alike = [said for said in values if _is_same_kind(said.value, first.value)]
        amounts = choose([said.with_value(_amount(said.value)) for said in alike])
        return first.value if amounts and len(amounts) == 1 else SEVERAL
    candidates = fitting or outside
    if len(_amounts(candidates)) > 1:
        return SEVERAL
    return candidates[0].value if candidates else None


def _find_point(said: Sequence[Said[Quantity]]) -> Quantity | None:
    """Find the only further value within a range: `10-50, most likely 25`."""
    first = said[0].value
    if not first.span:
        return None
    alike = [one.value for one in said[1:] if one.value.scale == first.scale]
    points = [value for value in alike if abs(value.value - first.value) <= first.span]
    return points[0] if len(set(map(_amount, points))) == 1 else None


def _is_asked(quantity: Quantity, percent: bool | None) -> bool:
    return percent is None or percent == (quantity.scale == PERCENT)


def _is_same_kind(quantity: Quantity, first: Quantity) -> bool:
    """Return whether two quantities may be of one list: 22% and 26%, not
    $42.5 and 3 weeks.
    """
    percents = (quantity.scale == PERCENT) == (first.scale == PERCENT)
    return percents and (
        quantity.unit == first.unit or not (quantity.unit and first.unit)
    )


def _amount(quantity: Quantity) -> float:
    return float(f"{quantity.value * (quantity.scale or 1.0):.9g}")


def _amounts(said: Sequence[Said[Quantity]]) -> set[float]:
    return {_amount(one.value) for one in said}


_MAX_LOOSE: Final = 3000  # characters at the end of prose
_SENTENCES: Final = lazy(r"(?<![0-9])[.!?]\s+|(?<=[0-9%])\.\s+(?=[A-Z])|[。！？\n]")
_OTHERS: Final = lazy(
    r"(?i)\b(?:analysts?|experts?|consensus|bookmakers|critics|according|range[sd]?\sfrom)\b"
    r"|机构|分析师"
)
_FORETOLD: Final = frozenset(words("foretold"))


def read_loosely(text: str, wording: Wording) -> Quantity | None:
    """Read the last number of the last sentence of prose that has one that is not the
    question's; None of a refusal, and of what depends on a condition or is
    said by others.
    """
    if not text or any(pattern.search(text) for pattern in DECLINING):
        return None
    named = wording.ask(named_numbers)
    for sentence in reversed(_SENTENCES.split(clean(text[-_MAX_LOOSE:]))):
        values = [
            said for said in find_numbers(sentence) if said.value.value not in named
        ]
        if values and not values[-1].value.bound:
            is_own = not (CONDITIONS.search(sentence) or _OTHERS.search(sentence))
            return sign_fall(values[-1].value, wording) if is_own else None
    return None


# --- Falls ---

_CHANGE: Final = lazy(
    r"(?i)\bchang|\bgrow|\bincreas|\bprofit|\bincome|\breturns?\b|year-on-year|month-on-month"
    r"|\byoy\b"
    r"|\bmom\b|\bnet\b|净|变化|变动|涨跌|增长|增速|增幅|同比|环比|利润|盈利|收益"
)
_ASKS_FALL: Final = lazy(
    r"(?i)(?<!or "
    r")\b(?:declin|decreas|fall|fell|drop|loss|down\b|net\s(?:outflow|sell|sale|sold))"
    r"|净卖出|净流出|净减持|(?<!涨)跌幅|降幅|下降|下跌|减少|亏损"
)


def asks_change(words: str) -> bool:
    """Return whether a question asks for a change, and not for how much
    something falls.
    """
    return bool(_CHANGE.search(words)) and not _ASKS_FALL.search(words)


def sign_fall(quantity: Quantity, wording: Wording) -> Quantity:
    """Return a fall as a negative number where the question asks for a change."""
    if quantity.falls and wording.ask(asks_change):
        return quantity._replace(value=-abs(quantity.value))
    return quantity


# --- What a number means ---

_ASKS: Final = lazy(  # A set of first signs makes the search fast.
    r"[iI(多单几以](?:(?<=\()|(?<=\b[iI])[nN]\s(?!%\s(?i:terms))(?i:units\sof\s)?"
    r"|(?:(?<=多)少|(?<=单)位|(?<=[几以]))[:：为是]?\s?)"
)
_MONEY: Final = lazy(
    r"(?i)(?:USD|US\$|\$|RMB|CNY|HKD|HK\$|EUR|yuan|(?:US\s)?dollars?)\s?"
)
_ASKS_PERCENT: Final = lazy("%多少|百分之多少|百分之几")
_BASIS_POINTS: Final = lazy(r"(?i)bps?|basis\s+points?|个?基点")


def question_scale(words: str) -> float | None:
    """Read the scale a question asks for: `in hundreds of millions of yuan`
    1e8, `%多少` 0.01.
    """
    for asks in _ASKS.finditer(words):
        begin = end_of(_MONEY, words, asks.end())
        scale = read_scale(words, begin)
        name = words[begin + 1 : begin + 2] in ("科", "达")  # 万科, 万达
        if (scale >= 1e3 or scale == PERCENT) and not name:
            return scale
    return PERCENT if _ASKS_PERCENT.search(words) else None


class Reading(NamedTuple):
    """The value of a number in the unit of the truth, and how it was interpreted."""

    value: float
    note: str = ""
    loose: bool = False


def find_sigma(truth: float, std: float | None, rules: Rules) -> float | None:
    """Choose the sigma of a question: its Std, or a share of the truth; None
    requires equality.
    """
    if rules.relative_sigma is None or (std is not None and rules.std_counts):
        return std
    return rules.relative_sigma * abs(truth) or ZERO_SIGMA


class NumberTruth(TruthOf[Reading]):
    """Truth of a numeric question; `sigma` and every compared value are in the
    unit of the truth.

    `wording`: whether `down 0.4%` is negative is up to what the question asks for.
    """

    __slots__ = ("asked_scale", "loose", "quantity", "sigma", "wording")
    kind = "number"
    is_plain = True

    def __init__(
        self,
        quantity: Quantity,
        asked_scale: float | None,
        sigma: float | None,
        wording: Wording = NO_WORDING,
        loose: bool = False,
    ) -> None:
        self.quantity, self.asked_scale, self.sigma = quantity, asked_scale, sigma
        self.wording, self.loose = wording, loose

    def read(self, answer: Answer) -> Reading | Unparsed:
        """Read the number that an answer is, in the meaning that is nearest."""
        if plain := parse_plain_number(answer.text):  # most
            return self._convert(plain)
        text = answer.cleaned[end_of(_LIST_NUMBER, answer.cleaned) :]
        # (79,000)
        account = _ACCOUNT.fullmatch(answer.text) if "(" in answer.text else None
        bare = clean(account[1]) if account else text
        quantity: Quantity | Unparsed | None = _parse_fraction(text) or parse_number(
            bare
        )
        if not quantity and (status := self.find_status(answer)):
            return status
        if isinstance(quantity, Quantity):
            if account:
                quantity = quantity._replace(falls=True)
            quantity = sign_fall(quantity, self.wording)
        else:
            # `My prediction is based on …` states nothing, `Answer: It will
            # close at 5` does.
            is_said = not text[:1].islower() or not _FORETOLD.isdisjoint(text.split())
            is_sentence = is_said or parse_quantity(text, 0) is not None
            in_sentence = answer.boxed or (answer.stated and is_sentence)
            percent = PERCENT in (self.quantity.scale, self.asked_scale)
            quantity = interpret_number(text, in_sentence, percent, self.wording)
        if isinstance(quantity, Unparsed):
            return quantity if answer.boxed else _PROSE
        if quantity.bound not in ("", self.quantity.bound):
            return _BOUND
        return self._convert(quantity)

    def score(self, answer: Answer) -> AnswerScore:
        """Compute the score of an answer; with `loose` prose that states
        nothing is read, too.
        """
        scored = super().score(answer)
        if not self.loose or answer.boxed or scored.reason != _PROSE.reason:
            return scored
        quantity = read_loosely(answer.outside[0], self.wording)
        if not quantity:
            return scored
        read = self._convert(quantity)
        if isinstance(read, Unparsed):
            return scored
        return self.compare(read._replace(loose=True))

    def _convert(self, quantity: Quantity) -> Reading | Unparsed:
        """Convert a quantity to the unit of the truth, in the meaning
        that is nearest.
        """
        if quantity.unit:
            if not self._is_comparable(quantity):
                return _OTHER_CURRENCY
            factor = price_factor(quantity.unit, self.wording)
            if factor is None:
                return _OTHER_UNIT
            quantity = quantity._replace(value=quantity.value * factor)
        possible = readings(quantity, self)
        if len(possible) == 1:  # most
            return possible[0]
        true = self.quantity.value
        return min(possible, key=lambda reading: abs(true - reading.value))

    def _is_comparable(self, quantity: Quantity) -> bool:
        """Return whether no other currency is named than truth or question name."""
        given = find_currency(quantity.unit)
        wanted = find_currency(self.quantity.unit, self.wording)
        return not given or not wanted or is_same_currency(given, wanted)

    def means(self, text: str, words: str) -> bool:
        """Return whether a number stands behind the words of a refusal."""
        return bool(words and _DIGIT.search(text, len(words)))

    def compare(self, read: Reading) -> AnswerScore:
        """Score a value in the truth's unit."""
        true, value = self.quantity.value, read.value
        sigmas = None
        if self.sigma:
            sigmas = (value - true) / self.sigma
        shown = f"{value + 0.0:.12g}"  # no "-0"
        score = score_number(true, value, self.sigma)
        return AnswerScore(score, "scored", shown, read.note, sigmas, loose=read.loose)


def readings(prediction: Quantity, truth: NumberTruth) -> list[Reading]:
    """List the values, in the truth's unit, a prediction may mean, likeliest
    first (rule 10).
    """
    value, scale = prediction.value, prediction.scale
    stated = truth.quantity.scale or truth.asked_scale
    unit = stated or 1.0
    if prediction.unit:
        full = value * (scale or 1.0)
        other = convert(full, prediction.unit, truth.quantity.unit, truth.wording)
        if other is not None:
            return [Reading(other / unit, f"converted from {prediction.unit}")]
    if stated == PERCENT and scale is None and _BASIS_POINTS.fullmatch(prediction.unit):
        return [Reading(value * 0.01, "basis points")]
    if scale is not None:
        converted = [Reading(value * (scale / unit), "converted")]
        return converted if stated else [*converted, Reading(value, "face value")]
    if not stated:
        return [Reading(value)]
    asked = (truth.asked_scale or unit) / unit
    notes = {asked: "in the question's unit", 1.0 / unit: "as the full amount"}
    others = [
        Reading(value * factor, note) for factor, note in notes.items() if factor != 1.0
    ]
    return [Reading(value), *others]


def score_number(truth: float, prediction: float, sigma: float | None) -> float:
    """max(0, 1 − ((truth − prediction)/sigma)²), in [0, 1]; all three in one unit (seed
    README, 评分机制).

    With sigma 0 or None: 1 if both are equal to 1e-9 of the larger, else 0.

    >>> score_number(100, 105, 10), score_number(100, 111, 10), score_number(838.34, 838.340, None)
    (0.75, 0.0, 1.0)
    """  # noqa: E501
    error = truth - prediction
    if not math.isfinite(error):
        return 0.0
    if not sigma:
        return float(abs(error) <= EQUAL * max(abs(truth), abs(prediction)))
    ratio = error / sigma
    return max(0.0, 1.0 - ratio * ratio)
