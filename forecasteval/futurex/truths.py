"""A ground truth, as a dataset writes it: picks, names or a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .answers import Answer
from .choices import ChoiceTruth, NameTruth, Picks, exact_tokens, find_sides, read_picks
from .lists import NO_NAME, read_items
from .names import read_name
from .numbers import RANGE
from .options import SEPARATOR, YES_NO, Options, find_options, label_set
from .rankings import RankingTruth
from .rules import ZERO_SIGMA, Rules
from .sentences import read_number
from .units import NumberTruth, question_scale, with_falls

Truth = ChoiceTruth | NameTruth | RankingTruth | NumberTruth
_YES_OR_NO: Final = Options(frozenset())


def read_choice_truth(level: int, prompt: str, answer: Answer, rules: Rules) -> Truth | None:
    """The truth of level 1 or 2: among the prompt's options, Yes or No, bare labels, else names; None if empty."""
    spans = find_options(prompt)
    if spans:
        options = Options(label_set(len(spans)), prompt, spans)
        picks = read_picks(answer, options)
        return _choice(level, options, picks, rules) if any(picks) else None
    tokens: Sequence[str] = answer.elements
    if not tokens:
        tokens = exact_tokens(answer.text)
        if not all(len(token) == 1 and token.isascii() for token in tokens):
            tokens = SEPARATOR.split(answer.cleaned)
    tokens = [token.strip(" .") or token for token in tokens if token.strip()]
    if not tokens:
        return None
    if all(token.lower() in YES_NO for token in tokens):
        return _choice(level, _YES_OR_NO, Picks(frozenset(YES_NO[token.lower()] for token in tokens)), rules)
    if all(len(token) == 1 and "A" <= token <= "~" for token in tokens):
        options = Options(label_set(max(26, *(ord(token) - 64 for token in tokens))))
        return _choice(level, options, Picks(frozenset(tokens)), rules)
    names = tuple(name for name in map(read_name, tokens) if not NO_NAME.fullmatch(name.key))
    exact = len(names) == 1 if rules.by_truths else level == 1
    return NameTruth(names, exact, find_sides(prompt)) if names else None


def _choice(level: int, options: Options, picks: Picks, rules: Rules) -> ChoiceTruth:
    count = len(picks.labels) + len(picks.unknown)
    return ChoiceTruth(options, picks, count == 1 if rules.by_truths else level == 1)


def read_open_truth(prompt: str, answer: Answer, std: float | None, rules: Rules) -> Truth | None:
    """The truth of level 3 or 4: a number if it reads as one, else a ranking; None if empty."""
    if len(answer.elements) < 2:
        quantity, _ = read_number(with_falls(answer.cleaned, prompt), in_sentence=std is not None)
        if quantity and (std is not None or not RANGE.search(answer.cleaned)):  # without Std, "2-1" is a result
            return NumberTruth(quantity, question_scale(prompt), _sigma(quantity.value, std, rules), prompt)
    names = read_items(answer, prompt)
    labels = rules.label_sets and {name.text for name in names} <= label_set(len(find_options(prompt)) or 26)
    return RankingTruth(names, ordered=not labels, whole=rules.lone_name and len(names) == 1) if names else None


def _sigma(truth: float, std: float | None, rules: Rules) -> float | None:
    """What a question's error is measured by: its Std, or a share of the truth; None asks for equality."""
    if rules.relative_sigma is None or (std is not None and rules.std_counts):
        return std
    return rules.relative_sigma * abs(truth) or ZERO_SIGMA
