"""Numbers in sentences: what is noise, and which of the rest is said."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from forecasteval.common.doubts import CROSSES, DENIALS, DENIALS_CJK, NUMBER, find_doubt, may_doubt

from .answers import question_words
from .grammar import (
    CURRENCY,
    DIGITS,
    FALL,
    FALLEN,
    HAS_DIGIT,
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
    parse_simple,
)
from .names import IS_CJK

_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_INDEX_NAMES: Final = (
    *(
        r"S\s?&\s?P\s?(?:500|100|400|600)",
        r"标普\s?500",
        r"标准普尔\s?500",
        r"Nikkei\s?225",
        r"日经\s?225",
    ),
    *(
        r"CSI\s?[0-9]{2,4}",
        r"沪深\s?[0-9]{2,4}",
        r"中证\s?[0-9]{2,4}",
        r"上证\s?[0-9]{2,3}",
        r"科创\s?50",
    ),
    *(
        r"创业板\s?[0-9]{2}",
        r"深证\s?[0-9]{2,3}",
        r"FTSE\s?[0-9]{3}",
        r"富时\s?100",
        r"Dow\s?30",
        r"Nasdaq[\s-]?100",
    ),
    *(
        r"纳斯达克\s?100",
        r"纳指\s?100",
        r"Russell\s?[0-9]{4}",
        r"罗素\s?[0-9]{4}",
        r"Euro\s?Stoxx\s?[0-9]{2,3}",
    ),
    *(
        r"Stoxx\s?[0-9]{2,3}",
        r"KOSPI\s?[0-9]{2,3}",
        r"DAX\s?[0-9]{2}",
        r"CAC\s?40",
        r"IBEX\s?35",
        r"ASX\s?200",
    ),
    *(
        r"TSX\s?60",
        r"Nifty\s?50",
        r"TOPIX\s?[0-9]{2,4}",
        r"Hang\s?Seng\s?[0-9]{2}",
        "A50",
        r"Fortune\s?500",
    ),
    *(r"Win(?:dows)?\s?[0-9]{1,2}", r"51\.LA"),
)
_YEAR: Final = r"(?:19|20)[0-9]{2}"
_NOISE_KINDS: Final = {  # each begins where a word may begin
    "aside": r"\([^()]*\)|\[[^\[\]]*\]",
    # The first letter stands alone: a class of characters is a glance, letters of any case are
    # none.
    "index name": "|".join(f"[{name[0]}{name[0].lower()}](?i:{name[1:]})" for name in _INDEX_NAMES),
    "fraction": r"(?<![0-9./])[0-9]{1,9}\s?/\s?[0-9]{1,9}(?![0-9./])",
    "date in digits": rf"(?<![0-9]){_YEAR}\s?[-/.年]\s?[0-9]{{1,2}}\s?[-/.月]\s?[0-9]{{1,2}}"
    r"(?:\s?[日号])?(?![0-9])"
    r"|(?<![0-9])[0-9]{1,2}/[0-9]{1,2}/(?:19|20)?[0-9]{2}(?![0-9])",
    "quarter or half": rf"(?<![0-9])(?:{_YEAR}\s?年?\s?)?(?:第?[一二三四1-4]季度|[上下]半年)"
    rf"|(?<![0-9]){_YEAR}\s?[QH][1-4]\b|\b(?:[QH][1-4]|[1-4][QH])\b(?:,?\s?(?:of\s+)?{_YEAR}\b)?"
    rf"|(?i:\b(?:first|second|third|fourth|1st|2nd|3rd|4th)\s+(?:quarter|half)\b(?:\s+(?:of\s+)?{_YEAR}\b)?)",
    "Chinese date": rf"(?<![0-9])(?:(?:19|20)?[0-9]{{2}}\s?年\s?)?[0-9]{{1,2}}\s?月"
    r"(?:\s?[0-9]{1,2}\s?[日号])?"
    rf"|(?<![0-9]){_YEAR}\s?年|(?<![0-9])[0-9]{{1,2}}\s?[日号]",
    "month": rf"\b{_MONTH}\s?[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+{_YEAR}\b)?"
    rf"|\b[0-9]{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR}\b)?|\b{_MONTH},?\s+{_YEAR}\b",
    "clock": r"(?<![0-9:])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\s*[AaPp]\.?[Mm]\b\.?)?"
    r"|\b[0-9]{1,2}\s*[AaPp]\.?[Mm]\b\.?"
    r"|(?:[上下]午\s?)?[0-9]{1,2}\s?[时点]\s?[0-9]{1,2}\s?分|[上下]午\s?[0-9]{1,2}\s?[时点]|\b(?:GMT|UTC)\s?[+-]\s?[0-9]{1,2}(?::[0-9]{2})?",
    "out of": r"(?i:\bout\s+of\s+(?:a\s+)?(?:possible\s+)?[0-9][0-9,.]*)",
    "what a price is per": rf"(?i:(?:/|\bper\s|每)\s*{PER_AMOUNT}"
    rf"|(?P<round>(?:=|\bfor\s)\s*{ROUND_AMOUNT}))",
    "what it was before": rf"(?i:(?<=,\s)(?:up\s|down\s|{FALL})\s?(?:by\s)?"
    r"(?:[0-9][0-9.,]{0,15}\s?%?\s)?from\s[$£€¥]?[0-9][0-9.,]{0,20})",
    "bare year": rf"(?i:\b(?:in|by|of|during|since|until|before|after|for|year|fy|cy)"
    rf"\s+(?:the\s+year\s+)?{_YEAR})\b"
    rf"(?![.,]?[0-9])(?!\s*(?i:{SCALE}|{PERCENT_SIGN}|{UNIT_START}))",
    "denied": rf"(?:(?=[a-zA-Z])(?i:\b(?:{DENIALS}))\s+"
    rf"|(?:(?:[≠¬{CROSSES}]|(?<!\w)!)=?|{DENIALS_CJK})\s*)[$€£¥]?-?[0-9][0-9.,]*",
    "rank": r"(?i:\bno\.\s?|\btop\s|\brank(?:ed)?\s|\#\s?|第\s?)[0-9]+",
    "part of a name": r"(?i:(?<![a-z0-9])(?!(?:usd|rmb|cny|hkd|eur|gbp|jpy|x|e)[0-9])"
    r"[a-z]+[-_]?[0-9][a-z0-9]*(?:[.-][0-9]+)*)",
}
# after a glance: nothing begins inside a word, nor with a word far from any digit
_NOISE: Final = re.compile(
    rf"(?=[^\s,.;:?'\"-])(?:(?![A-Za-z])|(?<![A-Za-z])(?=[^0-9]{{0,24}}[0-9]))(?:{'|'.join(_NOISE_KINDS.values())})",
    re.X,
)
_AFTER_NUMBER: Final = re.compile(
    r"左右|上下|附近|以[上下内]|之[间内]|[的多余至到和与或是为但且及时]"
)
PLAIN_WORD: Final = re.compile(  # behind a number, and no unit
    "a|about|after|and|approx(?:imately)?|as|at|based|because|before|but|by|compared|during|for|from|given|if|in|is|of|on|or"
    "|since|so|than|that|the|this|to|was|which|while|will|with"
)
_WORD: Final = re.compile(r"[\w-]*")
_TAIL: Final = re.compile(r"[A-Za-z0-9_-]*")  # of a word, without the CJK characters behind it
_BEFORE: Final = re.compile(
    rf"{FALL}?(?:(?<![A-Za-z0-9_)])[-+−–](?!\s)|(?a:\b)(?:minus|negative)\s|负)?"
    rf"\s*(?:(?:{CURRENCY})\s*[-+−]?)?\.?\Z",
    re.I,
)


@cache
def _noise_or_doubt() -> re.Pattern[str]:
    """Noise, and numbers that are taken back; compiled when it is needed: it takes 10 ms."""
    return re.compile(f"{_NOISE.pattern}|{NUMBER}", re.X)


def find_numbers(text: str) -> list[tuple[Quantity, str]]:
    """The quantities that a sentence states, in order, each with the word behind it.

    Dates, times, bracketed asides, `out of N`, bare years and numbers inside names are no values.
    """
    if not DIGITS.search(text):
        return []
    # "Close = 100 USD" is a value, "915.04 CNY = 100 GBP" says what it is per.
    whole = text
    noise = _noise_or_doubt() if may_doubt(whole) else _NOISE
    text = noise.sub(
        lambda match: (
            match[0] if match["round"] and not DIGITS.search(whole, 0, match.start()) else " ; "
        ),
        whole,
    )
    numbers = []
    position = 0
    while digit := DIGITS.search(text, position):
        sign = _BEFORE.search(text, max(position, digit.start() - 12), digit.start())
        read = parse_quantity(text, sign.start() if sign else digit.start())
        if not read or read[1] <= digit.start():
            position = digit.end()
            continue
        quantity, position = read
        glued = text[position : position + 2]
        if IS_CJK.match(glued) and not (
            quantity.unit or quantity.scale or _AFTER_NUMBER.match(text, position)
        ):
            continue  # "7天", "36氪": a name
        # "23rd", "7-day": part of a word; but "1公斤64.77元" are two numbers
        joined = glued[:1].isalnum() and not (
            glued[:1].isdigit() and IS_CJK.match(text[position - 1])
        )
        if glued[:1].isascii() and (joined or (glued[:1] == "-" and glued[1:].isalpha())):
            tail = _TAIL.match(text, position)
            position = tail.end() if tail else position
            continue
        word = _WORD.match(text[position + 1 : position + 41])
        numbers.append((quantity, word[0].lower() if word else ""))
    return numbers


# --- Falls ---

_RISE: Final = re.compile(rf"[↑▲△{FALLEN}]")
_SAYS_FALL: Final = re.compile(
    r"[↑↓▲▼△▽]|down|fell|fall|declin|decreas|drop|loss|下跌|下降|降幅|减少|亏损"
)
# The number stands directly behind: "down to 5%" is 5%.
_FALL_BEFORE: Final = re.compile(
    r"(?:(?i:\b(?:down|fell|falls?|fallen|declin(?:es?|ed|ing)|decreas(?:es?|ed|ing)|drop(?:s|ped)?|loss)\b)|[↓▼]"
    r"|下跌|下降|降幅|减少|亏损)(?:\s|(?i:of|by|about)\s|[约为了:]){0,4}(?=[$£€¥]?\.?[0-9])"
)
_FALL_BEHIND: Final = re.compile(r"\s(?:decline|decrease|drop|fall|loss)\b(?!\s*[0-9])", re.I)
_CHANGE: Final = re.compile(
    r"(?i:\bchang|\bgrow|\bincreas|\bprofit|\bincome|\breturns?\b|year-on-year|month-on-month|\byoy\b|\bmom\b)"
    r"|变化|变动|涨跌|增长|增速|增幅|同比|环比|利润|盈利|收益"
)
_ASKS_FALL: Final = re.compile(
    r"(?i:(?<!or )\b(?:declin|decreas|fall|fell|drop|loss|down\b))"
    r"|(?<!涨)跌幅|降幅|下降|下跌|减少|亏损"
)


def mark_falls(text: str, prompt: str) -> str:
    """The text of an answer with a mark at each number that states a fall, where the question asks
    for a change.

    >>> mark_falls("a decline of 0.3-0.5%", "the change"), mark_falls("down to 5%", "the change")
    ('a ▼0.3-0.5%', 'down to 5%')
    """
    if not _SAYS_FALL.search(text.lower()):
        return text
    text = _RISE.sub(" ", text)
    if not asks_change(prompt):
        return text.replace("↓", " ").replace(FALL, " ")
    return _FALL_BEHIND.sub(FALLEN, _FALL_BEFORE.sub(FALL, text))


def asks_change(prompt: str) -> bool:
    """Whether a question asks for a change, a growth rate or a profit, and not itself for the
    fall.
    """
    words = question_words(prompt)
    return bool(_CHANGE.search(words)) and not _ASKS_FALL.search(words)


def interpret_number(
    text: str, in_sentence: bool, percent: bool = True, prompt: str = ""
) -> tuple[Quantity | None, str]:
    """The number a text states, and a note: the whole text, or with `in_sentence` the last of its
    numbers.

    Those with a unit or scale come before those without; percentages only where one is asked for
    (`percent`). A fall is negative where the `prompt` asks for a change.
    """
    if simple := parse_simple(text):
        return simple, ""
    if not HAS_DIGIT.search(text):
        return None, ""
    text = mark_falls(text, prompt).replace("億", "亿").replace("萬", "万").replace("零下", "-")
    whole = parse_number(text)
    if whole or not in_sentence:
        return whole, ""
    stated = [quantity for quantity, _ in find_numbers(text)]
    plain = [quantity for quantity in stated if percent or quantity.scale != PERCENT]
    marked = [quantity for quantity in plain if quantity.scale or quantity.unit]
    note = f"last of {len(stated)} numbers" if len(stated) > 1 else ""
    return (marked or plain or stated)[-1] if stated else None, note


def parse_leading_number(text: str, prompt: str) -> Quantity | None:
    """The number with which a text begins that holds no second one: `31.5 (the last close)`."""
    found = parse_begin(mark_falls(text, prompt))
    if not found:
        return None
    quantity, rest = found
    if DIGITS.search(rest) or find_doubt(rest):
        return None
    word = _WORD.match(rest.lstrip()) if not quantity.unit else None
    other = word and word[0] and not PLAIN_WORD.fullmatch(word[0]) and word[0][:4] not in prompt
    return None if other else quantity  # 31.5 apples
