"""Names as truths: rankings (levels 3 and 4), and choices without options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forecasteval.common.markup import clean, parse_literal

from .answers import Answer
from .choices import score_f1
from .lists import looks_like_names, read_items
from .names import Name, count_matches, read_name, same_name
from .options import SEPARATOR
from .rules import PARTIAL_RANKING, Scored, unparsed


class NameTruth(NamedTuple):
    """Truth of a choice that has neither options nor labels: names."""

    names: tuple[Name, ...]


class RankingTruth(NamedTuple):
    """Truth of a ranking: names, best first, and their keys."""

    names: tuple[Name, ...]
    keys: frozenset[str]


def score_ranking(truth: Sequence[Name], predicted: Sequence[Name]) -> tuple[float, int]:
    """1 if the lists agree item by item and in length, else 0.8·matched/k, and the number matched.

    k = len(truth) true items; all predicted items count, whatever their order (seed README, 评分机制).
    """
    if len(truth) == len(predicted) and all(map(same_name, truth, predicted)):
        true_keys, keys = [name.key for name in truth], [name.key for name in predicted]
        # "Quill Falcon, Falcon" is no "Falcon, Quill Falcon": exact matches come first
        pairs = zip(true_keys, keys, strict=True)
        if true_keys == keys or all(t == k or (t not in keys and k not in true_keys) for t, k in pairs):
            return 1.0, len(truth)
    matched = count_matches(truth, predicted)
    return PARTIAL_RANKING * (matched / len(truth)), matched


def score_names(level: int, truth: Sequence[Name], answer: Answer) -> Scored:
    """Level 1 or 2 by names, each picked once: F1, of which level 1 takes only a whole 1."""
    text = clean(answer.text)
    elements = answer.elements or parse_literal(answer.text)
    whole = read_name(text)
    if not elements and any(name.key == whole.key for name in truth):  # one name with "and" or "/" in it
        predicted: tuple[Name, ...] = (whole,)
    elif answer.boxed or looks_like_names(text):
        tokens = map(clean, elements) if elements else SEPARATOR.split(text)
        predicted = tuple({name.key: name for name in map(read_name, tokens) if name.key}.values())
    else:
        return unparsed("no box, and no list of names")
    if not predicted:
        return unparsed("no name")
    matched = count_matches(truth, predicted)
    score = score_f1(matched, len(predicted), len(truth))
    return Scored(score if level == 2 else float(score == 1.0), "scored", " | ".join(n.text for n in predicted), "")


def score_list(truth: RankingTruth, answer: Answer) -> Scored:
    """A ranking: see `score_ranking`; unparsed if there is no name, or if bare text reads as prose."""
    if not answer.boxed and not looks_like_names(clean(answer.text)):
        return unparsed("no box, and no list of names")
    predicted = read_items(answer, "", len(truth.names), truth.keys)
    if not predicted:
        return unparsed("no name")
    score, matched = score_ranking(truth.names, predicted)
    note = f"{matched} of {len(truth.names)} matched" if score < 1 else ""
    if len(predicted) > len(truth.names):
        note += f"; {len(predicted)} items for {len(truth.names)}"
    return Scored(score, "scored", " | ".join(name.text for name in predicted), note)
