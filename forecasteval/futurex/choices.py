"""Choices, levels 1 and 2: the picks of an answer, single choice and F1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from forecasteval.common.markup import clean, drop_pictures

from .answers import Answer, read_refusal
from .names import IS_CJK
from .options import LEAD_IN, ROUND, SAID_YES_NO, SEPARATOR, Options, choice_key, read_distribution
from .rules import Scored, unparsed

_LABELLED: Final = re.compile(
    r"""(?:options?|choices?|answer|only|just|我?(?:选项|选择|选))?\s*  # Option B, 选项B
        (?P<open>[(\[【])?\s*(?P<label>[!-~])\s*(?(open)[)\]】])
        (?:\s*[.。):、](?![0-9])\s*|\s+[-–—]\s+|\s*[-–—]{2,}\s*|\s*(?:选?项|\bonly)?\s*\Z|\s*(?=[(\[【])|(?(open)\s+|(?!)))
        (?P<text>.*)""",
    re.X | re.I | re.S,
)
_ASIDE: Final = re.compile(r"\s*\([^()]*\)\Z")
_BRACKETS: Final = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\]|【[^【】]*】")
_WRAPPED: Final = re.compile(r"\\(?:text|math|mbox)[a-z]*\s*\{(.*)\}|\$(.*)\$", re.S)
_WRAPPED_LABEL: Final = re.compile(r"(?:\\text[a-z]{0,4}\{|\*\*|[\"'“]){1,2}\\?([A-~])(?:\}|\*\*|[\"'”]){1,2}")
# Before anything is cleaned; past Z a backtick, a backslash and brackets are labels.
_EXACT_SEPARATOR: Final = re.compile(r"[,，、;；/|&+\n](?:\s*and\s)?|\sand\s|和|与|以及", re.I)
_NUMBERED: Final = re.compile(r"[0-9]{1,2}[.)](?![0-9])\s*(?=\S)")  # "1. A", but not the option "1.5%"
_SEQUENCE: Final = re.compile(  # (A)(C), A.C., A 2. C behind a first number
    r"(?:\(\s?[!-~]\s?\)\s?){2,}|(?:[!-~]\.\s?)+[!-~]\.?|[!-~](?:\s[0-9]{1,2}[.)]\s?[!-~])+"
)
_LABEL_RANGE: Final = re.compile(r"([!-~])\s?(?:[-–—]|through|thru|至|到)\s?([!-~])", re.I)  # B-E
_CAPITAL: Final = re.compile(r"(?<![A-Za-z0-9])[B-HJ-Z](?![A-Za-z0-9])")  # "A" and "I" are words, too
_CONFIDENCE: Final = re.compile(
    r"[,;.(\s–—-]{1,4}(?:with\s)?(?:confidence|probability|likelihood|置信度|可能性|概率)(?:\s?level)?[\s:=~≈]{0,3}(?:of\s|约|为)?"
    r"[0-9]{1,3}(?:\.[0-9]{1,6})?\s?%?\)?\.?\Z", re.I,
)  # fmt: skip
_BLANKS_AND_QUOTES: Final = " \t\n\"'“”‘’"
_YES_NO_SPLIT: Final = re.compile(r"\s*(?:[,.;/|&\n!?>→。–—-]|\b(?:or|and|but|then)\b)\s*")
_YES_NO_TAIL: Final = re.compile(
    r"(yes|no|true|false|sí|si|oui|non|ja|nein|sim|não|да|нет)"
    r"(?=\s*(?:[,.:;!(–—-]|\Z)|\s+(?:it|they|he|she|this|that|there|will|we|the|i)\b)"
    r"|(是的|是|否|不是|不会|はい|いいえ)(?=[\s,.:;!(–—-])", re.I,
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
        right = self.picks.unknown
        picks = _read_exact(answer, self.options)
        if picks is None:
            if self._refuses(answer.cleaned):
                return "refusal"
            picks = _read_cleaned(answer, self.options)
        if (picks.labels or picks.unknown & right) and (answer.boxed or picks.unknown <= right):
            return picks
        return "no option" if answer.boxed else "no box, and not only options"

    def _refuses(self, text: str) -> bool:
        lead = LEAD_IN.match(text)
        refusal = read_refusal(text[lead.end() :] if lead else text)
        if refusal is None:
            return False
        keys = {choice_key(text), choice_key(refusal[0])}
        return keys.isdisjoint(self.options.index) and keys.isdisjoint(self.picks.unknown)

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
    picks = _read_exact(answer, options)
    return _read_cleaned(answer, options) if picks is None else picks


def _read_exact(answer: Answer, options: Options) -> Picks | None:
    """The picks of an answer of nothing but labels, as most are, or of one option's text; None of any other."""
    labels = options.labels
    if not labels and answer.text.lower() in SAID_YES_NO:
        return Picks(frozenset([SAID_YES_NO[answer.text.lower()]]))
    exact = exact_tokens(answer.text)
    if labels.issuperset(exact):
        return Picks(frozenset(exact))
    if options.spans and (label := options.find_verbatim(answer.text)):  # "[x]" is no label X where it is an option
        return Picks(frozenset([label]))
    return None


def _read_cleaned(answer: Answer, options: Options) -> Picks:
    """The picks of any other answer: a list literal, a distribution, text without markup."""
    labels = options.labels
    if answer.elements:
        return _join([e] if e in labels else read_token(clean(e), options) for e in answer.elements)
    text = answer.cleaned
    if "%" in text or "0." in text:
        tokens = [text[begin:end].strip() for begin, end in _token_spans(text)]
        likely = read_distribution(tokens, options.index)
        if likely is not None:
            return _join([read_token(likely[0], options)] if len(likely) == 1 else [])
    if len(labels) <= 26:
        return _join([_read_text(text, answer.boxed, options)])
    return _join([_read_past_z(answer, options)])


def _read_past_z(answer: Answer, options: Options) -> list[str]:
    """The picks where brackets, a backtick and a backslash are labels: tokens first, before anything is cleaned."""
    wrapped = _WRAPPED.fullmatch(answer.text)
    text = drop_pictures((wrapped[1] or wrapped[2] or "") if wrapped else answer.text).strip()
    lead = LEAD_IN.match(text) if answer.boxed else None
    text = text[lead.end() :] if lead else text

    def read(token: str) -> list[str]:
        return _read_wrapped(token, options) or _read_text(clean(token), answer.boxed, options)

    return _read_texts(text, _token_spans(text, _EXACT_SEPARATOR, ROUND), options, read)


def _join(parts: Iterable[Sequence[str]]) -> Picks:
    """Labels as they are, and unknown tokens, which begin with a question mark in what the functions below return."""
    picks = frozenset(pick for part in parts for pick in part)
    unknown = frozenset(pick[1:] for pick in picks if pick[0] == "?")
    return Picks(frozenset(pick for pick in picks if pick[0] != "?"), unknown) if unknown else Picks(picks)


def _read_text(text: str, boxed: bool, options: Options) -> list[str]:
    """The picks of cleaned text: `Yes, it will`; labels only; options' texts; one label with its text or a reason.

    A lead-in (`The answer is B`), a confidence, a reason and the tail behind a yes are read in a box only: without one
    the text is prose.
    """
    if boxed:
        lead = LEAD_IN.match(text)
        text = _CONFIDENCE.sub("", text[lead.end() :] if lead else text)
        if picks := _read_yes_or_no(text, options):
            return picks
    spans = _token_spans(text)
    tokens = [token for begin, end in spans if (token := _bare_token(text[begin:end], options))]
    found = [_labels_of(token, options) for token in tokens]
    if all(found):
        return [label for labels in found for label in labels]
    picks = _read_texts(text, spans, options)
    if boxed and any(pick[0] == "?" for pick in picks) and _is_reason(text, spans, options):
        first = found[0] or [options.index.get(choice_key(tokens[0]), "")]
        return first if options.labels.issuperset(first) else picks
    return picks


def _read_yes_or_no(text: str, options: Options) -> list[str]:
    """The pick of `Yes, it will` or `B. No, it will not`; none of `Yes or no`, `Yes. No.` or `是，否`."""
    labelled = _LABELLED.match(text) if options.spans else None
    tail = _YES_NO_TAIL.match(labelled["text"] if labelled else text)
    label = options.index.get(tail[0].lower()) if tail else None
    if not label or len({options.index.get(word) for word in _YES_NO_SPLIT.split(text.lower())} - {None}) > 1:
        return []
    return [labelled["label"] if labelled and labelled["label"] in options.labels else label]


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


def _bare_token(token: str, options: Options) -> str:
    """A token without bullet, number in a list and full stop."""
    token = token.strip()
    if len(token) > 1:
        token = token.lstrip("-•·▪ ").rstrip(" 。!")
    numbered = _NUMBERED.match(token)
    if numbered and choice_key(token) not in options.index:
        token = token[numbered.end() :]
    return token[1:-1] if token[:1] == "[" and token[1:-1].isalpha() else token


def _read_wrapped(token: str, options: Options) -> list[str]:
    """The labels in a token, where cleaning would take a label past Z for markup: `**[**`."""
    wrapped = _WRAPPED_LABEL.fullmatch(token)
    parts = [wrapped[1]] if wrapped else token.split()
    return parts if options.labels.issuperset(parts) else _labels_of(token.strip(_BLANKS_AND_QUOTES), options)


def _is_reason(text: str, spans: Sequence[tuple[int, int]], options: Options) -> bool:
    """Whether four words or more of prose stand behind the first comma, none of them another label or option."""
    if len(spans) < 2 or text[spans[0][1]] != ",":
        return False
    reason = text[spans[1][0] :]
    if len(reason.split()) + len(IS_CJK.findall(reason)) < 4 or not options.labels.isdisjoint(_CAPITAL.findall(reason)):
        return False
    return all(pick[0] == "?" for pick in _read_texts(text, spans[1:], options))


def _read_texts(
    text: str, spans: Sequence[tuple[int, int]], options: Options, read: Callable[[str], list[str]] | None = None
) -> list[str]:
    """The picks where some token is no label: options' texts, longest first since they may hold separators.

    `read` reads a single token, `read_token` if it is None.
    """
    picks: list[str] = []
    first = 0
    while first < len(spans):
        begin, last = spans[first][0], first
        for further in range(min(first + options.width, len(spans) - 1), first, -1):
            label = _known_text(_bare_token(text[begin : spans[further][1]], options), options)
            if label:
                picks.append(label)
                last = further
                break
        else:
            token = _bare_token(text[begin : spans[first][1]], options)
            if token:
                picks += read(token) if read else read_token(token, options)
        first = last + 1
    return picks


def _labels_of(token: str, options: Options) -> list[str]:
    """The labels that a token is, or the one it begins with; none if it does not.

    `B`, `(b)`, `Option B`, `B. Tie`, `B (a draw)`, `Tie (B)`, `B only`; `A.C.`, `(A)(C)`, `B-E`.
    """
    labels = options.labels
    if token in labels:
        return [token]
    several = _SEQUENCE.fullmatch(token)
    if several and choice_key(token) not in options.index:
        letters = [char.upper() if char.upper() in labels else char for char in token if char not in "(). 0123456789"]
        return letters if labels.issuperset(letters) else []
    ends = _LABEL_RANGE.fullmatch(token)
    if ends and labels.issuperset(ends.groups()) and ends[1] < ends[2]:
        return [chr(code) for code in range(ord(ends[1]), ord(ends[2]) + 1)]
    match = _LABELLED.match(token) if labels else None
    if not match:
        label = (
            _known_text(token, options) if options.spans and token.endswith(")") else ""
        )  # "Draw (B)", not "not (B)"
        return [label] if label else []
    label = match["label"] if match["label"] in labels else match["label"].upper()
    # A letter past the last option is a wrong pick.
    return [label] if label in labels or (label.isalpha() and options.spans) else []


def _known_text(token: str, options: Options) -> str:
    """The label whose option reads exactly `token`, with or without the label at either end; "" if there is none."""
    if label := options.index.get(choice_key(token), ""):
        return label
    match = _LABELLED.match(token)
    label, text = (match["label"], match["text"]) if match else (token[-2:-1], token[:-3])
    if not match and (token[-3:-2], token[-1:]) != ("(", ")"):
        return ""
    return label if label in options.labels and options.index.get(choice_key(text)) == label else ""


def read_token(token: str, options: Options) -> list[str]:
    """The picks of one token, cleaned: an option's text, labels in any dress, or single labels side by side."""
    index, key = options.index, choice_key(token)
    if labels := _labels_of(token.strip(_BLANKS_AND_QUOTES), options):
        return labels
    if label := index.get(key) or index.get(choice_key(_ASIDE.sub("", token))):
        return [label]
    letters = token.split() if " " in token else list(token)
    if len(letters) > 1 and options.labels.issuperset(letters):
        return letters
    return ["?" + key] if key else []  # "A, …" holds one pick


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
