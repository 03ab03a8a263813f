"""A ground truth, as a dataset writes it: picks, names or a number."""

from __future__ import annotations

from collections.abc import Sequence

from forecasteval.common.markup import clean, parse_literal

from .answers import Answer
from .choices import ChoiceTruth, exact_tokens, read_picks
from .lists import NO_NAME, read_items
from .names import read_name
from .numbers import RANGE
from .options import SEPARATOR, YES_NO, Options, count_options, label_set
from .rankings import NameTruth, RankingTruth
from .sentences import read_number
from .units import NumberTruth, question_scale

Truth = ChoiceTruth | NameTruth | RankingTruth | NumberTruth


def read_choice_truth(prompt: str, answer: Answer) -> Truth | None:
    """The truth of level 1 or 2: among the prompt's options, Yes or No, bare labels, else names; None if empty."""
    count = count_options(prompt)
    if count:
        options = Options(label_set(count), prompt)
        picks = frozenset(read_picks(answer, options))
        return ChoiceTruth(options, picks) if picks else None
    if answer.text.lower() in YES_NO:
        return ChoiceTruth(Options(frozenset(), ""), frozenset([YES_NO[answer.text.lower()]]))
    tokens: Sequence[str] = answer.elements or parse_literal(answer.text)
    if not tokens:
        tokens = exact_tokens(answer.text)
        if not all(len(token) == 1 and token.isascii() for token in tokens):
            tokens = SEPARATOR.split(clean(answer.text))
    tokens = [token.strip(" .") or token for token in tokens if token.strip()]
    if not tokens:
        return None
    if all(token.lower() in YES_NO for token in tokens):
        return ChoiceTruth(Options(frozenset(), ""), frozenset(YES_NO[token.lower()] for token in tokens))
    if all(len(token) == 1 and "A" <= token <= "~" for token in tokens):
        options = Options(label_set(max(26, *(ord(token) - 64 for token in tokens))), "")
        return ChoiceTruth(options, frozenset(tokens))
    names = tuple(name for name in map(read_name, tokens) if not NO_NAME.fullmatch(name.key))
    return NameTruth(names) if names else None


def read_open_truth(prompt: str, answer: Answer, std: float | None, relative_sigma: float | None) -> Truth | None:
    """The truth of level 3 or 4: a number if it reads as one, else a ranking; None if empty."""
    elements = answer.elements or parse_literal(answer.text)
    if len(elements) < 2:
        text = clean(elements[0] if elements else answer.text)
        quantity, _ = read_number(text, in_sentence=std is not None)
        if quantity and (std is not None or not RANGE.search(text)):  # without Std, "2-1" is a result, no number
            sigma = std
            if std is None and relative_sigma is not None:
                sigma = relative_sigma * abs(quantity.value) or 0.01
            return NumberTruth(quantity, question_scale(prompt), sigma)
    names = read_items(answer, prompt)
    return RankingTruth(names, frozenset(name.key for name in names)) if names else None
