"""Choices, levels 1 and 2: the picks of an answer, single choice and F1."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from forecasteval.common.markup import clean, parse_literal

from .answers import Answer
from .options import LEAD_IN, SEPARATOR, YES_NO, Options, choice_key, option_index, read_options
from .rules import Scored, unparsed

_LABELLED: Final = re.compile(
    r"""(?:options?|choices?|answer|我?(?:选项|选择|选))?\s*  # Option B, 选项B
        (?P<open>[(\[【])?\s*(?P<label>[!-~])\s*(?(open)[)\]】])
        (?:\s*[.):、](?![0-9])\s*|\s+[-–—]\s+|\s*(?:选?项)?\s*\Z|\s*(?=\()|(?(open)\s+|(?!)))(?P<text>.*)""",
    re.X | re.I | re.S,
)
_LABEL_BEHIND: Final = re.compile(r"(?P<text>[^()]+)\((?P<label>[!-~])\)")
_ASIDE: Final = re.compile(r"\s*\([^()]*\)\Z")
_YES_NO_SPLIT: Final = re.compile(r"\s*(?:[,;/|&\n]|\bor\b|\band\b)\s*")
_YES_NO_TAIL: Final = re.compile(
    r"(yes|no)(?=\s*(?:[,.:;!(–—-]|\Z)|\s+(?:it|they|he|she|this|that|there|will|we|the|i)\b)"
    r"|(是的|是|否|不是|不会)(?=[\s,.:;!(–—-])", re.I,
)  # fmt: skip


class ChoiceTruth(NamedTuple):
    """Truth of a choice: the right picks, as `read_picks` writes them."""

    options: Options
    picks: frozenset[str]


def exact_tokens(text: str) -> list[str]:
    """The tokens between commas, before anything is cleaned: "`" and a backslash are labels."""
    return text.replace(", ", ",").split(",")


def read_picks(answer: Answer, options: Options) -> list[str]:
    """The picks of an answer: labels (or Yes/No), and `?text` for a token that is neither label nor option."""
    labels = options.labels
    if not labels and answer.text.lower() in YES_NO:
        return [YES_NO[answer.text.lower()]]
    exact = exact_tokens(answer.text)
    if labels.issuperset(exact):
        return exact
    elements = answer.elements or parse_literal(answer.text)
    if elements:
        return [pick for e in elements for pick in ([e] if e in labels else read_token(clean(e), options))]
    if len(labels) <= 26:
        return _read_tokens(clean(answer.text), answer.boxed, options)
    picks = [token.strip() for token in exact if token.strip() in labels]
    rest = ",".join(token for token in exact if token.strip() not in labels)
    return picks + _read_tokens(clean(rest), answer.boxed, options)


def _read_tokens(text: str, boxed: bool, options: Options) -> list[str]:
    """The picks of cleaned text: `Yes, it will`; labels only; one label with its text; else options' texts.

    A lead-in (`The answer is B`) and the tail behind a yes are read in a box only: without one the text is prose.
    """
    if boxed:
        lead = LEAD_IN.match(text)
        text = text[lead.end() :] if lead else text
        labelled = _LABELLED.match(text) if options.prompt else None
        tail = _YES_NO_TAIL.match(labelled["text"] if labelled else text)
        label = option_index(options)[0].get(tail[0].lower()) if tail else None
        if label and not {"yes", "no"} <= set(_YES_NO_SPLIT.split(text.lower())):  # "Yes, it will", not "Yes or no"
            return [labelled["label"] if labelled and labelled["label"] in options.labels else label]
    tokens = [token for token in map(_bare_token, SEPARATOR.split(text)) if token]
    labels = [_label_of(token, options) for token in tokens]
    if all(labels):
        return labels
    if labels[0] in options.labels and options.prompt and len(tokens[0]) > 1:  # one label and its own text, all of it
        own = read_options(options.prompt)[ord(labels[0]) - ord("A")]
        match = _LABELLED.match(text)
        if match and choice_key(clean(match["text"])) == choice_key(clean(own)):
            return [labels[0]]
    return _read_texts(text, options)


def _bare_token(token: str) -> str:
    """A token without bullet and full stop."""
    return token.lstrip("-•·▪ ").rstrip(" 。!") if len(token) > 1 else token


def _read_texts(text: str, options: Options) -> list[str]:
    """The picks where some token is no label: options' texts, longest first since they may hold separators."""
    _, width = option_index(options)
    breaks = [(0, 0), *(match.span() for match in SEPARATOR.finditer(text)), (len(text), len(text))]
    picks: list[str] = []
    first = 0
    while first < len(breaks) - 1:
        begin, last = breaks[first][1], first + 1
        for further in range(min(first + width + 1, len(breaks) - 1), last, -1):
            label = _known_text(text[begin : breaks[further][0]].strip(), options)
            if label:
                picks.append(label)
                last = further
                break
        else:
            token = text[begin : breaks[last][0]].strip()
            picks.extend(read_token(token, options) if token else [])
        first = last
    return picks


def _label_of(token: str, options: Options) -> str:
    """The label that a token is or begins with (`B`, `(b)`, `Option B`, `B. Tie`); "" if it does not."""
    labels = options.labels
    if token in labels:
        return token
    match = _LABELLED.match(token) if labels else None
    if not match:
        behind = _LABEL_BEHIND.fullmatch(token) if options.prompt else None  # "Draw (B)", but not "not (B)"
        known = option_index(options)[0].get(choice_key(behind["text"])) if behind else None
        return behind["label"] if behind and known == behind["label"] else ""
    label = match["label"] if match["label"] in labels else match["label"].upper()
    # A letter past the last option is a wrong pick.
    return label if label in labels or (label.isalpha() and options.prompt) else ""


def _known_text(token: str, options: Options) -> str:
    """The label whose option reads exactly `token`, with or without the label in front; "" if there is none."""
    index, _ = option_index(options)
    label = index.get(choice_key(token), "")
    if not label and (match := _LABELLED.match(token)) and match["label"] in options.labels:
        label = match["label"] if index.get(choice_key(match["text"])) == match["label"] else ""
    return label


def read_token(token: str, options: Options) -> list[str]:
    """The picks of one token, cleaned: an option's text, a label in any dress, or single labels side by side."""
    index, _ = option_index(options)
    key = choice_key(token)
    label = _label_of(token.strip(" \"'“”"), options) or index.get(key) or index.get(choice_key(_ASIDE.sub("", token)))
    if label:
        return [label]
    letters = token.split() if " " in token else list(token)
    if len(letters) > 1 and options.labels.issuperset(letters):
        return letters
    return ["?" + key]


def score_single(picks: frozenset[str], truth: frozenset[str]) -> float:
    """Level 1: 1 if the picks are exactly the truth, else 0 (seed README, 评分机制)."""
    return float(picks == truth)


def score_f1(matched: int, picks: int, truths: int) -> float:
    """Level 2: F1 = 2·matched / (picks + truths), in [0, 1] (seed README, 评分机制).

    >>> score_f1(1, 3, 1)
    0.5
    """
    return 2 * matched / (picks + truths) if matched else 0.0


def score_choice(level: int, truth: ChoiceTruth, answer: Answer) -> Scored:
    """Level 1 or 2 by options: unparsed if no pick is one, or if bare text holds anything else."""
    picks = frozenset(read_picks(answer, truth.options))
    unknown = [pick for pick in picks if pick[0] == "?" and pick not in truth.picks and len(pick) > 1]
    if len(unknown) == len(picks) or (unknown and not answer.boxed):
        return unparsed("no option" if answer.boxed else "no box, and not only options")
    score = score_single(picks, truth.picks) if level == 1 else 0.0
    if level == 2:
        score = score_f1(len(picks & truth.picks), len(picks), len(truth.picks))
    note = f"{len(unknown)} unknown" if unknown else ""
    return Scored(score, "scored", ", ".join(sorted(pick.lstrip("?") or pick for pick in picks)), note)
