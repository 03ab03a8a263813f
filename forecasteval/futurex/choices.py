"""Choices, levels 1 and 2: the picks of an answer, single choice and F1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from forecasteval.common.markup import clean

from .answers import Answer
from .names import IS_CJK
from .options import LEAD_IN, SEPARATOR, YES_NO, Options, choice_key
from .rules import Scored, unparsed

_LABELLED: Final = re.compile(
    r"""(?:options?|choices?|answer|我?(?:选项|选择|选))?\s*  # Option B, 选项B
        (?P<open>[(\[【])?\s*(?P<label>[!-~])\s*(?(open)[)\]】])
        (?:\s*[.。):、](?![0-9])\s*|\s+[-–—]\s+|\s*[-–—]{2,}\s*|\s*(?:选?项)?\s*\Z|\s*(?=[(\[【])|(?(open)\s+|(?!)))(?P<text>.*)""",
    re.X | re.I | re.S,
)
_LABEL_BEHIND: Final = re.compile(r"(?P<text>[^()]+)\((?P<label>[!-~])\)")
_ASIDE: Final = re.compile(r"\s*\([^()]*\)\Z")
_ROUND: Final = re.compile(r"\([^()]*\)")
_BRACKETS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|【[^【】]*】")
_WRAPPED: Final = re.compile(r"\\(?:text|math|mbox)[a-z]*\s*\{(.*)\}|\$(.*)\$", re.S)
# Before anything is cleaned; past Z a backtick, a backslash and brackets are labels.
_EXACT_SEPARATOR: Final = re.compile(r"[,，、;；/|&+\n](?:\s*and\s)?|\sand\s|和|与|以及", re.I)
_NUMBERED: Final = re.compile(r"[0-9]{1,2}[.)]\s*(\S.*)", re.S)  # 1. A
_SIDE_BY_SIDE: Final = re.compile(r"(?:\(\s*[!-~]\s*\)\s*){2,}")  # (A)(C)
_CAPITAL: Final = re.compile(r"(?<![A-Za-z0-9])[B-HJ-Z](?![A-Za-z0-9])")  # "A" and "I" are words, too
_YES_NO_SPLIT: Final = re.compile(r"\s*(?:[,;/|&\n]|\bor\b|\band\b)\s*")
_YES_NO_TAIL: Final = re.compile(
    r"(yes|no|true|false)(?=\s*(?:[,.:;!(–—-]|\Z)|\s+(?:it|they|he|she|this|that|there|will|we|the|i)\b)"
    r"|(是的|是|否|不是|不会)(?=[\s,.:;!(–—-])", re.I,
)  # fmt: skip


class Picks(NamedTuple):
    """What was picked: `labels` (or Yes and No), and tokens that are neither label nor option, as they compare."""

    labels: frozenset[str]
    unknown: frozenset[str] = frozenset()


class ChoiceTruth(NamedTuple):
    """Truth of a choice: the right picks; `exact` ones score 1 or 0, others F1."""

    options: Options
    picks: Picks
    exact: bool

    def read(self, answer: Answer) -> Picks | str:
        """The picks, or why there are none: no pick is an option, or bare text holds anything else."""
        picks, right = read_picks(answer, self.options), self.picks.unknown
        if (picks.labels or picks.unknown & right) and (answer.boxed or picks.unknown <= right):
            return picks
        return "no option" if answer.boxed else "no box, and not only options"

    def compare(self, picks: Picks) -> Scored:
        """1 or 0, or F1; picks that are no option count as wrong ones."""
        score = score_single(picks, self.picks) if self.exact else score_multiple(picks, self.picks)
        labels, unknown = picks
        if not unknown:
            return Scored(score, "scored", ", ".join(sorted(labels)), "")
        wrong = len(unknown - self.picks.unknown)
        return Scored(score, "scored", ", ".join(sorted(labels | unknown)), f"{wrong} unknown" if wrong else "")

    def score(self, answer: Answer) -> Scored:
        """See `compare`; unparsed if there is no pick."""
        read = self.read(answer)
        return unparsed(read) if isinstance(read, str) else self.compare(read)


def exact_tokens(text: str) -> list[str]:
    """The tokens between commas, before anything is cleaned: "`" and a backslash are labels."""
    return text.replace(", ", ",").split(",")


def read_picks(answer: Answer, options: Options) -> Picks:
    """The picks of an answer."""
    labels = options.labels
    if not labels and answer.text.lower() in YES_NO:
        return Picks(frozenset([YES_NO[answer.text.lower()]]))
    exact = exact_tokens(answer.text)
    if labels.issuperset(exact):
        return Picks(frozenset(exact))
    if options.spans and (label := options.find_verbatim(answer.text)):
        return Picks(frozenset([label]))
    if answer.elements:
        return _join([e] if e in labels else read_token(clean(e), options) for e in answer.elements)
    if len(labels) <= 26:
        return _join([_read_text(answer.cleaned, answer.boxed, options)])
    return _join([_read_past_z(answer, options)])


def _read_past_z(answer: Answer, options: Options) -> list[str]:
    """The picks where brackets, a backtick and a backslash are labels: tokens first, before anything is cleaned."""
    wrapped = _WRAPPED.fullmatch(answer.text)
    text = ((wrapped[1] or wrapped[2] or "") if wrapped else answer.text).strip()
    picks: list[str] = []
    rest: list[str] = []
    for token in (text[begin:end].strip() for begin, end in _token_spans(text, _EXACT_SEPARATOR, _ROUND)):
        parts = token.split()
        label = options.labels.issuperset(parts) or _label_of(token, options)
        if label:
            picks += parts if label is True else [label]
        else:
            rest.append(token)
    return picks + (_read_text(clean(", ".join(rest)), answer.boxed, options) if rest else [])


def _join(parts: Iterable[Sequence[str]]) -> Picks:
    """Labels as they are, and unknown tokens, which begin with a question mark in what the functions below return."""
    picks = frozenset(pick for part in parts for pick in part)
    unknown = frozenset(pick[1:] for pick in picks if pick[0] == "?")
    return Picks(frozenset(pick for pick in picks if pick[0] != "?"), unknown) if unknown else Picks(picks)


def _read_text(text: str, boxed: bool, options: Options) -> list[str]:
    """The picks of cleaned text: `Yes, it will`; labels only; one label with its text or a reason; options' texts.

    A lead-in (`The answer is B`), a reason and the tail behind a yes are read in a box only: without one the text is
    prose.
    """
    if boxed:
        lead = LEAD_IN.match(text)
        text = text[lead.end() :] if lead else text
        labelled = _LABELLED.match(text) if options.spans else None
        tail = _YES_NO_TAIL.match(labelled["text"] if labelled else text)
        label = options.index.get(tail[0].lower()) if tail else None
        if label and not {"yes", "no"} <= set(_YES_NO_SPLIT.split(text.lower())):  # "Yes, it will", not "Yes or no"
            return [labelled["label"] if labelled and labelled["label"] in options.labels else label]
    if _SIDE_BY_SIDE.fullmatch(text):
        text = text.replace(")", "),").rstrip(", ")
    spans = _token_spans(text)
    numbered = [_NUMBERED.fullmatch(text[begin:end].strip()) for begin, end in spans]
    if len(spans) > 1 and all(numbered):
        return _read_text(", ".join([match[1] for match in numbered if match]), boxed, options)
    tokens = [token for begin, end in spans if (token := _bare_token(text[begin:end]))]
    labels = [_label_of(token, options) for token in tokens]
    if all(labels):
        return labels
    first = labels[0] or options.index.get(choice_key(tokens[0]), "")
    if first in options.labels and (_is_own_text(text, first, options) or (boxed and _is_reason(text, spans, options))):
        return [first]
    return _read_texts(text, spans, options)


def _token_spans(
    text: str, separator: re.Pattern[str] = SEPARATOR, brackets: re.Pattern[str] = _BRACKETS
) -> list[tuple[int, int]]:
    """Begin and end of the tokens between separators that stand outside brackets."""
    shielded = text
    if "(" in text or "[" in text or "【" in text:
        shielded = brackets.sub(lambda match: "x" * len(match[0]), text)
    ends = [match.span() for match in separator.finditer(shielded)]
    begins = [0, *(end for _, end in ends)]
    return list(zip(begins, [*(begin for begin, _ in ends), len(text)], strict=True))


def _bare_token(token: str) -> str:
    """A token without bullet and full stop."""
    return token.lstrip("-•·▪ ").rstrip(" 。!") if len(token) > 1 else token


def _is_own_text(text: str, label: str, options: Options) -> bool:
    """Whether all of the text is one label and its option, which may hold separators."""
    match = _LABELLED.match(text) if options.spans else None
    return match is not None and options.is_text_of(match["text"], label)


def _is_reason(text: str, spans: Sequence[tuple[int, int]], options: Options) -> bool:
    """Whether four words or more of prose stand behind the first comma, none of them another label or option."""
    if len(spans) < 2 or text[spans[0][1]] != ",":
        return False
    reason = text[spans[1][0] :]
    if len(reason.split()) + len(IS_CJK.findall(reason)) < 4 or not options.labels.isdisjoint(_CAPITAL.findall(reason)):
        return False
    return all(pick[0] == "?" for pick in _read_texts(text, spans[1:], options))


def _read_texts(text: str, spans: Sequence[tuple[int, int]], options: Options) -> list[str]:
    """The picks where some token is no label: options' texts, longest first since they may hold separators."""
    picks: list[str] = []
    first = 0
    while first < len(spans):
        begin, last = spans[first][0], first
        for further in range(min(first + options.width, len(spans) - 1), first, -1):
            label = _known_text(text[begin : spans[further][1]].strip(), options)
            if label:
                picks.append(label)
                last = further
                break
        else:
            token = text[begin : spans[first][1]].strip()
            picks.extend(read_token(token, options) if token else [])
        first = last + 1
    return picks


def _label_of(token: str, options: Options) -> str:
    """The label that a token is or begins with (`B`, `(b)`, `Option B`, `B. Tie`, `B (a draw)`); "" if it does not."""
    labels = options.labels
    if token in labels:
        return token
    match = _LABELLED.match(token) if labels else None
    if not match:
        behind = _LABEL_BEHIND.fullmatch(token) if options.spans else None  # "Draw (B)", but not "not (B)"
        known = options.index.get(choice_key(behind["text"])) if behind else None
        return behind["label"] if behind and known == behind["label"] else ""
    label = match["label"] if match["label"] in labels else match["label"].upper()
    # A letter past the last option is a wrong pick.
    return label if label in labels or (label.isalpha() and options.spans) else ""


def _known_text(token: str, options: Options) -> str:
    """The label whose option reads exactly `token`, with or without the label in front; "" if there is none."""
    label = options.index.get(choice_key(token), "")
    if not label and (match := _LABELLED.match(token)) and match["label"] in options.labels:
        label = match["label"] if options.index.get(choice_key(match["text"])) == match["label"] else ""
    return label


def read_token(token: str, options: Options) -> list[str]:
    """The picks of one token, cleaned: an option's text, a label in any dress, or single labels side by side."""
    index, key = options.index, choice_key(token)
    label = _label_of(token.strip(" \"'“”"), options) or index.get(key) or index.get(choice_key(_ASIDE.sub("", token)))
    if label:
        return [label]
    letters = token.split() if " " in token else list(token)
    if len(letters) > 1 and options.labels.issuperset(letters):
        return letters
    return ["?" + key]


def score_single(picks: Picks, truth: Picks) -> float:
    """Level 1: 1 if the picks are exactly the truth, else 0 (seed README, 评分机制)."""
    return float(picks == truth)


def score_multiple(picks: Picks, truth: Picks) -> float:
    """Level 2: F1 of the sets; picks that are no option count as wrong ones."""
    matched = len(picks.labels & truth.labels) + len(picks.unknown & truth.unknown)
    return score_f1(matched, sum(map(len, picks)), sum(map(len, truth)))


def score_f1(matched: int, picks: int, truths: int) -> float:
    """F1 = 2·matched / (picks + truths), in [0, 1] (seed README, 评分机制).

    >>> score_f1(1, 3, 1)
    0.5
    """
    return 2 * matched / (picks + truths) if matched else 0.0
