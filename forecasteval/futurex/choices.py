"""Choices, levels 1 and 2: the options of a prompt, how a text picks them, two sides; exact, F1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from forecasteval.common.doubts import NO, find_doubt
from forecasteval.common.markup import clean
from forecasteval.common.patterns import lazy

from .answers import Answer, TruthOf, drop_lead_in
from .names import IS_CJK, SAME, Name, Pairs, compare_names, fold, key_of, match_names, parse_name
from .rankings import is_name_of, looks_like_names, show_names
from .rules import AnswerScore

MAX_OPTIONS: Final = 62  # A to ~ in ASCII order
_LABELS: Final = "".join(map(chr, range(ord("A"), ord("A") + MAX_OPTIONS)))
YES_NO: Final = {
    **dict.fromkeys(("yes", "true", "是", "是的", "会"), "Yes"),
    **dict.fromkeys(NO, "No"),
}


def score_f1(matched: int, picks: int, truths: int) -> float:
    """F1 = 2·matched / (picks + truths), in [0, 1] (seed README, 评分机制).

    >>> score_f1(1, 3, 1)
    0.5
    """
    return 2 * matched / (picks + truths) if matched else 0.0


# --- The options of a prompt ---

_MARK: Final = r"(?:[-•*]\s+)?[*(]*([!-~])[*]*[.)、:：．][*]*"  # A. text, (A) text, **A.** text
_FORMS: Final = (
    lazy(r"\n([A-~])\.([^\n]*)"),
    lazy(rf"(?m)^[^\S\n]*{_MARK}[^\S\n]*([^\n]*)"),
    lazy(rf"\|\s*{_MARK}\s*([^|]*)"),  # question | A. text | B. text
)
_SECOND: Final = lazy(r"B[*]*[.)、:：．]")  # a glance that fails fast


def find_options(prompt: str) -> Sequence[str]:
    r"""Find the options' texts in a prompt, labelled A, B, … on separate lines (or inline after ` |
    `).

    Past Z the labels go on in ASCII order: `[ \ ] ^ _`, the backtick, a, b, … Empty if there are
    none.
    """
    for form in _FORMS if _SECOND.search(prompt) else ():
        texts: list[str] = []
        for label, text in form.findall(prompt):
            if len(texts) < MAX_OPTIONS and label == _LABELS[len(texts)]:
                texts.append(text.strip().strip('"'))  # the prompt's, which ends there
        if len(texts) > 1:
            return texts
    return ()


@lru_cache(maxsize=128)
def label_set(count: int) -> frozenset[str]:
    """Make the labels of so many options."""
    return frozenset(_LABELS[:count])


# --- How a text names options ---

SEPARATOR: Final = lazy(  # not in 4,000
    r"(?i)(?:[，、;；/|&\n]|,(?!(?<=[0-9],)[0-9]{3}(?![0-9])))(?!\s?or\s)(?:\s*and\s)?"
    r"|\s(?:and|\+)\s|\+(?<=\b\w\+)(?=[!-~](?:\W|\Z))|和|与|以及"
)
# Between labels in nothing but their dress, not in N/A
_JOINT: Final = lazy(r"(?:\s|[,，、;；|&+]|(?<![Nn])(?<![Nn]\s)/|\band\b|和|与|以及)+")
_DRESS: Final = lazy(r"\\(?:text|math)\w*\s?\{([^{}]*)\}")
_AROUND: Final = "\\{} $*\"'“”‘’().。!"
_BRACKETS: Final = lazy(r"\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\]|【[^【】]*】")
_LABELLED: Final = lazy(  # B. Tie, (B) Tie, B - a tie, Option B, 选项B, B only
    r"""(?:options?|choices?|answer|only|just|我?(?:选项|选择|选))?\s*
        (?P<open>[(\[【])?\s*(?P<label>[!-~])\s*(?(open)[)\]】])
        (?:\s*[.。):、](?![0-9])\s*|\s+[-–—]\s+|\s*[-–—]{2,}\s*|\s*(?:选?项|\bonly)?\s*\Z
          |\s*(?=[(\[【])|(?(open)\s+|(?!)))
        (?P<text>.*)""",
    re.X | re.I | re.S,
)
_LABEL_BEHIND: Final = lazy(r"(?s)(?P<text>.+?)\s?\((?P<label>[A-~])\)")
_NUMBERED: Final = lazy(r"\A[0-9]{1,2}[.)](?![0-9])\s*(?=\S)")  # 1. A, but not the option 1.5%
_SEQUENCE: Final = lazy(  # (A)(C), A.C., A 2. C behind a first number
    r"(?:\(\s?[!-~]\s?\)\s?){2,}|(?:[!-~]\.\s?)+[!-~]\.?|[!-~](?:\s[0-9]{1,2}[.)]\s?[!-~])+"
)
_LABEL_RANGE: Final = lazy(r"(?i)([!-~])\s?(?:[-–—]|through|thru|至|到)\s?([!-~])")
_ASIDE: Final = lazy(r"\s*\(([^()]*)\)\Z")
_SPACED: Final = lazy(r"\s*(?:[-–—]|([<>≤≥]))\s*")
_PROBABILITY: Final = lazy(
    r"(?i)[,;.(\s–—-]{1,4}(?:with\s)?(?:confidence|probability|likelihood|置信度|可能性|概率)"
    r"(?:\s?level)?[\s:=~≈]{0,3}(?:of\s|约|为)?(?!0+(?:\.0+)?(?![.0-9]))"
    r"[0-9]{1,3}(?:\.[0-9]{1,6})?\s?%?\)?\.?\Z"
)
# Behind a dash or full stop on one line
_REASON: Final = lazy(r",|\s?[.:–—-]\s(?![^\n;|]*[\n;|])")
# It has a sign: `%`, a mark in front of `0.xx`, or a word; bounded
_SHARE: Final = lazy(
    r"""(?:[\s,;:=(~≈–-]{0,3}(?:with\s)?(?:a\s)?(?:confidence|probability|chance|概率|置信度)
         [\s:=~≈]{0,3}(?:of\s|约|为)?
       |[\s:=(~≈–-]{1,4}(?:with\s)?(?:a\s)?(?=[0-9.]{1,10}\s?%)
       |\s?[:=(~≈–-]\s?(?=0?\.|1\.0))
       ([0-9]{1,3}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})\s?%?(?:\s(?:chance|probability|likelihood))?\s?\)?\Z""",
    re.X | re.I,
)
# "A" and "I" are words, too, but at no end
_CAPITAL: Final = lazy(
    r"(?<![A-Za-z0-9])(?:[B-HJ-Z](?![A-Za-z0-9])|[AI](?=[.!)]?\Z)"
    r"|A(?=\s(?:is|could|may|might|will|has|seems|would)\b))"
)
_SAID_SPLIT: Final = lazy(
    r"(?i)\s*(?:[,.:;/|&\n!?>→。–—-]|\b(?:or|and|but|then|actually|perhaps|maybe|possibly|probably"
    r"|(?:could|may|might)\s+be)\b)\s*"
)
_SAID: Final = lazy(
    r"(?i)(?=[ytfn是否不])(?:(yes|no|true|false)"
    r"(?=\s*(?:[,.:;!(–—-]|\Z)|\s+(?:it|they|he|she|this|that|there|will|we|the|i)\b)"
    r"|(是的|是|否|不是|不会)(?=[\s,.:;!(–—-]))"
)


def choice_key(text: str) -> str:
    """Return the form in which an option's text and a token compare: `the outcome be $10 – $20` is
    `10-20`.
    """
    key = key_of(fold(drop_lead_in(text) or text)).replace("$", "")
    return _SPACED.sub(lambda mark: mark[1] or "-", key)


class Options:
    """The options of a question: their `texts` and `labels`, or so many labels alone."""

    def __init__(self, texts: Sequence[str], count: int = 0) -> None:
        self.texts, self.labels = texts, label_set(len(texts) or count)

    @cached_property
    def index(self) -> dict[str, str]:
        """Label by option text, yes and no under every name; a text that two options share stands
        for neither.
        """
        if not self.labels:
            return YES_NO
        pairs = [
            (choice_key(clean(text)), label)
            for label, text in zip(_LABELS, self.texts, strict=False)
        ]
        said = {YES_NO[key]: label for key, label in pairs if key in YES_NO}
        index = {name: said[meaning] for name, meaning in YES_NO.items() if meaning in said}
        keys = [key for key, _ in pairs]
        return index | {key: label for key, label in pairs if keys.count(key) == 1}

    @cached_property
    def width(self) -> int:
        """Count the separators that one option's text holds at most."""
        return max(len(SEPARATOR.findall(text)) for text in ("", *self.texts))

    def find_label(self, token: str) -> str:
        """Find the label, or Yes or No, that a token is in any case; "" if it is none."""
        if not self.labels:
            return YES_NO.get(token.lower(), "")
        return next((label for label in (token, token.upper()) if label in self.labels), "")

    def find_labels(self, text: str) -> frozenset[str]:
        """Find the labels of a text that is nothing but labels in their dress; none of
        any other.
        """
        if not self.labels:
            return frozenset(filter(None, [self.find_label(text.strip(_AROUND))]))
        exact = text.replace(", ", ",").split(",")
        if self.labels.issuperset(exact):  # most, and before "|" may part them
            return frozenset(exact)
        plain = text[3:] if text[1:3] == ". " else text
        if self.texts.count(plain) == 1:  # a short way
            label = _LABELS[self.texts.index(plain)]
            if plain is text or text[0] == label:
                return frozenset([label])
        text = _DRESS.sub(r"\1", text) if "\\" in text else text
        labels = list[str]()
        for token in filter(None, _JOINT.split(text)):
            label = self.find_label(token) or self.find_label(token.strip(_AROUND))
            if not label:
                return frozenset()
            labels.append(label)
        return frozenset(labels)


# --- Picks ---


# Labels (or Yes and No); other tokens in comparable form, with a question mark in front, which is
# no label.
Picks = frozenset[str]


def interpret_picks(answer: Answer, options: Options) -> Picks:
    """Interpret the picks of an answer: labels in any dress, options' texts, yes and no."""
    labels = Picks() if answer.elements else options.find_labels(answer.text)
    return labels or _interpret_cleaned(answer, options)


def _interpret_cleaned(answer: Answer, options: Options) -> Picks:
    """Interpret the picks of an answer that is not only labels: a list literal, a distribution,
    texts.
    """
    if answer.elements:
        parts = [
            options.find_labels(part) or interpret_token(clean(part), options)
            for part in answer.elements
        ]
        return frozenset(pick for part in parts for pick in part)
    text = answer.cleaned
    if "%" in text or "0." in text:
        tokens = [text[begin:end].strip() for begin, end in split_tokens(text)]
        likely = parse_distribution(tokens)
        # "5%" is an option's text
        if likely and not any(choice_key(token) in options.index for token in tokens):
            return frozenset(interpret_token(likely[0], options) if len(likely) == 1 else [])
    return frozenset(interpret_text(text, answer.boxed or answer.stated, options))


def split_tokens(text: str) -> list[tuple[int, int]]:
    """Begin and end of the tokens between separators that stand outside brackets."""
    shielded = _BRACKETS.sub(lambda match: "x" * len(match[0]), text)
    cuts = [place for match in SEPARATOR.finditer(shielded) for place in match.span()]
    places = iter([0, *cuts, len(text)])
    return list(zip(places, places, strict=True))


def parse_distribution(tokens: Sequence[str]) -> list[str] | None:
    """Parse shares: the tokens with the largest one. None unless all of several have one and they
    add up to 90–110 %.

    >>> parse_distribution(["Yes: 4%", "No: 96%"]), parse_distribution(["A (70%)", "B (71%)"])
    (['No'], None)
    """
    shares = [share for token in tokens if (share := _SHARE.search(token))]
    values = [float(share[1]) for share in shares]
    total = sum(values)
    if not len(shares) == len(tokens) > 1 or not (0.9 <= total <= 1.1 or 90 <= total <= 110):
        return None
    return [
        token[: share.start()]
        for token, share in zip(tokens, shares, strict=True)
        if float(share[1]) == max(values)
    ]


def interpret_text(text: str, marked: bool, options: Options) -> list[str]:
    """Interpret the picks of a text, those that are neither label nor option with a question mark
    in front.

    A lead-in (`The answer is B`), a confidence, a reason and the tail behind a yes are read only
    where the answer is `marked` by a box or stated: any other text is prose.
    """
    if marked:
        text = drop_lead_in(text)
        cut = _PROBABILITY.search(text)
        if cut and not (text[: cut.start()].lower() in YES_NO and _leans_away(text, cut.start())):
            text = text[: cut.start()]
        if label := _interpret_yes_or_no(text, options):
            return [label]
    groups = _interpret_tokens(text, options)
    if marked and groups and options.labels.issuperset(first := groups[0][1]):
        # "B (a draw), because …", "B. Because …".
        reason = any(_is_reason(tail, options) for tail in (text[groups[0][0] :], text[1:]))
        if reason and all(picks[0][0] == "?" for _, picks in groups[1:]):
            return first
    return [pick for _, picks in groups for pick in picks]


def _interpret_tokens(text: str, options: Options) -> list[tuple[int, list[str]]]:
    """Interpret the picks of each token, and where it ends; an option's text may hold separators,
    and the longest counts.
    """
    groups: list[tuple[int, list[str]]] = []
    spans = split_tokens(text)
    first, width = 0, options.width if len(spans) > 1 else 0
    while first < len(spans):
        begin, last = spans[first][0], min(first + width, len(spans) - 1)
        while last > first and not _find_whole(_bare(text[begin : spans[last][1]]), options):
            last -= 1
        if picks := interpret_token(text[begin : spans[last][1]], options):
            groups.append((spans[last][1], picks))
        first = last + 1
    return groups


def _interpret_yes_or_no(text: str, options: Options) -> str:
    """Interpret the pick of `Yes, it will` or `B. No, it will not`; "" for `Yes or no`, `Yes, B`,
    `A: no, B: yes` or `是，否`.
    """
    labelled = _LABELLED.match(text)
    text = labelled["text"] if labelled else text
    tail = _SAID.match(text)
    label = options.index.get(tail[0].lower()) if tail else None
    if not tail or not label:
        return ""
    said_yes = YES_NO[tail[0].lower()] == "Yes"  # what is unlikely behind a No is the No itself
    if _leans_away(text, tail.end()) or (said_yes and find_doubt(text, tail.end())):
        return ""
    words = [word.strip("() ") for word in _SAID_SPLIT.split(text)]
    meanings = {options.index.get(word.lower(), word) for word in words}
    if len(meanings & {*options.labels, *options.index.values()}) > 1:
        return ""
    return label


def _leans_away(text: str, end: int) -> bool:
    """Return whether a text gives less than a half to what ends at a position: `Yes: 30%`. In `Yes,
    inflation falls to 2.1%` the share is of something else.
    """
    share = _SHARE.search(text)
    if not share or any(map(str.isalnum, text[end : share.start()])):
        return False
    return float(share[1]) < (50 if float(share[1]) > 1 else 0.5)


def _is_reason(text: str, options: Options) -> bool:
    """Return whether what stands behind a pick is a reason for it. That is a comma, dash or full
    stop and prose of four words that names no label.
    """
    mark = _REASON.match(text)
    words = len(text[mark.end() :].split()) + len(IS_CJK.findall(text)) if mark else 0
    return words >= 4 and options.labels.isdisjoint(_CAPITAL.findall(text))


def interpret_token(token: str, options: Options) -> list[str]:
    """Interpret the picks of one token: labels in any dress, an option's text, or single labels
    side by side.

    `B`, `(b)`, `Option B`, `B. Tie`, `B (a draw)`, `Tie (B)`, `B only`; `A.C.`, `(A)(C)`, `B-E`.
    """
    index, labels = options.index, options.labels
    token = _bare(token)
    if label := _find_whole(token, options):
        return [label]
    token = _NUMBERED.sub("", token)
    if _SEQUENCE.fullmatch(token):
        letters = [char for char in token if char not in "(). 0123456789"]
        return letters if labels.issuperset(letters) else ["?" + token]
    ends = _LABEL_RANGE.fullmatch(token)
    if ends and labels.issuperset(ends.groups()):
        return [chr(code) for code in range(ord(ends[1]), ord(ends[2]) + 1)]
    if labels and (label := _find_label(token, options)):
        return [label]
    if aside := _ASIDE.search(token):  # Yes (or No) and Yes (30%) are no picks
        bare = choice_key(token[: aside.start()])
        away = bare in YES_NO and _leans_away(token, aside.start())
        if bare in index and not away and not find_doubt(aside[1]):
            return [index[bare]]
    if labels.issuperset(token):
        return list(token)
    return [f"?{key}"] if (key := choice_key(token)) else []


def _bare(token: str) -> str:
    """Return the token without bullets, quotes and a full stop."""
    token = token.strip().lstrip("-•·▪ ").rstrip(" 。!").strip("\"'“”‘’")
    return token[1:-1] if token[:1] + token[-1:] == "[]" else token


def _find_whole(token: str, options: Options) -> str:
    """Find the label of the option whose text a token is, perhaps with its label at either end."""
    for whole in dict.fromkeys((token, _NUMBERED.sub("", token))):
        if label := options.index.get(choice_key(whole)):
            return label
    for found in filter(None, (_LABELLED.match(whole), _LABEL_BEHIND.fullmatch(whole))):
        label = options.find_label(found["label"])
        if label and options.index.get(choice_key(found["text"])) == label:
            return label
    return ""


def _find_label(token: str, options: Options) -> str:
    """Find the label in front of a token, a letter past the last option, too. "?" and the token if
    its text takes it back: `A (could be B)`, `A: wrong`.
    """
    found = _LABELLED.match(token)
    label = (options.find_label(found["label"]) or found["label"]) if found else ""
    if not found or not (label in options.labels or label.isalpha()):
        return ""
    other = found["text"].strip("()[]【】 ")
    taken_back = find_doubt(found["text"]) or (other in options.labels and other != label)
    return f"?{token}" if taken_back else label


@dataclass(slots=True, eq=False)
class ChoiceTruth(TruthOf[Picks]):
    """Truth of a choice: the right picks. `exact` ones score 1 or 0 (level 1), others F1 of the
    sets (level 2).
    """

    options: Options
    picks: Picks
    exact: bool

    def read(self, answer: Answer) -> Picks | str:
        """Read the picks, or why there are none: no pick is an option, or bare text holds anything
        else.
        """
        if picks := self.options.find_labels(answer.text):
            return picks
        if status := self.find_status(answer):
            return status
        picks = _interpret_cleaned(answer, self.options)
        unknown = {pick for pick in picks - self.picks if pick[0] == "?"}
        if len(unknown) < len(picks) and (answer.boxed or not unknown):
            return picks
        return "no option" if answer.boxed else "no box, and not only options"

    def means(self, text: str, words: str) -> bool:
        key = choice_key(text)
        known = self.options.labels | self.options.index.keys()
        return f"?{key}" in self.picks or not known.isdisjoint((text, key, choice_key(words)))

    def compare(self, picks: Picks) -> AnswerScore:
        """1 or 0, or F1; picks that are no option count as wrong ones."""
        wrong = sum(pick[0] == "?" for pick in picks - self.picks)
        shown = ", ".join(sorted(pick.removeprefix("?") for pick in picks))
        note = f"{wrong} unknown" if wrong else ""
        return AnswerScore(score_picks(picks, self.picks, self.exact), "scored", shown, note)


def score_picks(picks: Picks, truth: Picks, exact: bool) -> float:
    """Level 1: 1 if the picks are `exact`ly the truth, else 0. Level 2: F1 of the sets (seed
    README, 评分机制).

    Picks that are no option count as wrong ones.
    """
    if exact:
        return float(picks == truth)
    return score_f1(len(picks & truth), len(picks), len(truth))


# --- Names ---

_BOXED_SIDES: Final = lazy(r"\\boxed\{([^{}\n]{1,80})\}\s{0,3}or\s{1,3}\\boxed\{([^{}\n]{1,80})\}")
_VERSUS: Final = lazy(r"([^\n:\"?]{1,60}?)\s(?:vs?\.?|对)\s([^\n:\"?(]{1,60})")
# Two sides in a text that names both, ① in front of ②
_NUMBER: Final = r"([0-9]{1,3})"
_RESULT: Final = r"(?:\b[0-9]{1,3}\s?[-–:]\s?[0-9]{1,3}\b\s*)?"
_REST: Final = r"(?:\W|[0-9]|in\s+(?:regulation|overtime|ot)\b)*"
_WINS: Final = lazy(
    rf"""(?:the\s)?①\s*{_RESULT}(?:(?:will|to)\s+)?
         (?:over|beats?|defeats?|def\.?|edges?|wins?\s*{_RESULT}(?:over|against)|击败|战胜)\s*
         {_RESULT}(?:the\s+)?②{_REST}
       |(?:the\s)?①[^①②]*②\s?:\s?①\W*""",
    re.X,
)
_LOSES: Final = lazy(
    rf"""(?:the\s)?①\s*{_RESULT}(?:will\s+|to\s+)?loses?\s+{_RESULT}(?:to|against)\s*{_RESULT}
         (?:the\s+)?②{_REST}
       |(?:the\s)?①[^①②]*②\s?:\s?②\W*""",
    re.X,
)
_EACH_SCORES: Final = lazy(rf"(?:the\s)?①\s*{_NUMBER}\s*[,;–-]?\s*②\s*{_NUMBER}\W*")
# What may stand behind the side that wins, brackets dropped: `to win 4-3`, `in OT`, `55%`, `!`
_PICKED: Final = lazy(
    rf"""\s*(?:(?:will|to)\s+win|wins?|victory|获胜|胜出|取胜|赢|胜)?
        (?:\s*in\s+(?:regulation|overtime|OT))?
        (?:\s*,?\s*{_NUMBER}\s?[-–:]\s?{_NUMBER})?
        (?:\s*[,:–—-]?\s*(?P<share>[0-9]{{1,3}}(?:\.[0-9]{{1,4}})?)\s?%
          (?:\s(?:chance|probability))?)?
        \s*[!.]?\s*""",
    re.X | re.I,
)
_NO_FRONT: Final = lazy(
    r"(?ai:\b(?:can|could|hardly|no|not|if|will|would|do|does|did|may|might|should|maybe|perhaps|never"
    r"|only|both|either|neither|i|anyone|but|and|or|why|how|is|are|beat|against|unless|except|when"
    r"|until|doubt)\b)|\b[a-z]"
)


class NameTruth(TruthOf[Sequence[Name]]):
    """Truth of a choice that has neither options nor labels: names, each picked once; `exact` ones
    score 1 or 0.

    `sides` are the two of which a question names the winner.
    """

    __slots__ = ("_prompt", "exact", "names", "sides")

    def __init__(self, names: Sequence[Name], exact: bool, prompt: str = "") -> None:
        self.names, self.exact, self.sides = names, exact, parse_sides(prompt)
        self._prompt = prompt

    def read(self, answer: Answer) -> Sequence[Name] | str:
        """Read the picked names, or why there are none."""
        text, elements = answer.cleaned, answer.elements
        whole = parse_name(text)
        shares = elements or (self.sides and "%" in text)
        if not shares and any(compare_names(name, whole) >= SAME for name in self.names):
            return (whole,)  # one name with "and" or "/" in it
        if status := self.find_status(answer):
            return status
        tokens = [clean(part).strip() for part in elements or SEPARATOR.split(text)]
        likely = parse_distribution(tokens)
        if likely is not None:
            return (parse_name(likely[0]),) if len(likely) == 1 else "several are as likely"
        if self.sides and not elements:
            winner = interpret_winner(text, self.sides)
            if winner is not None:
                return (parse_name(winner),) if winner else "no side that wins"
        if not answer.boxed and not looks_like_names(text, not answer.stated):
            return "no box, and no list of names"
        names = {name.key: name for name in map(parse_name, tokens) if name.key}
        return tuple(names.values()) or "no name"

    def means(self, text: str, words: str) -> bool:
        return is_name_of(text, words, self.names)

    def compare(self, predicted: Sequence[Name], known: Pairs = ()) -> AnswerScore:
        """F1 of the names, or only a whole 1 of it; `known` pairs of names mean the same."""
        matched = len(match_names(self.names, predicted, self._prompt, known))
        score = score_f1(matched, len(predicted), len(self.names))
        return AnswerScore(
            float(score == 1.0) if self.exact else score, "scored", show_names(predicted), ""
        )


def parse_sides(prompt: str) -> tuple[str, ...]:
    r"""Parse the two sides that a question without options names, folded: `\boxed{X} or \boxed{Y}`,
    or `X vs. Y`; or ().
    """
    sides = _BOXED_SIDES.search(prompt)
    if not sides and (" v" in prompt or " 对 " in prompt):
        sides = _VERSUS.search(prompt)
    return tuple(fold(clean(side)) for side in sides.groups()) if sides else ()


def interpret_winner(text: str, sides: Sequence[str]) -> str | None:
    """Interpret the side that wins by a text, "" if it names sides and says of neither that it
    wins. None for a text that only is a name.

    >>> sides = "falcons", "otters"
    >>> texts = "Otters def. Falcons", "Falcons 4-2 Otters", "Otters to win 4-3 (OT)", "Otters 30%"
    >>> [interpret_winner(text, sides) for text in texts]
    ['otters', '', 'otters', '']
    """
    bare = _BRACKETS.sub(lambda held: held[0][1:-1] if "%" in held[0] else " ", text).strip()
    folded = fold(bare)
    first, second = sorted(sides, key=folded.find)
    if folded.find(first) < 0:
        return _interpret_one(bare, second)
    coded = folded.replace(first, "①").replace(second, "②")
    if (scores := _EACH_SCORES.fullmatch(coded)) and scores[1] != scores[2]:
        return first if int(scores[1]) > int(scores[2]) else second  # Islanders 3, Oilers 2
    return first if _WINS.fullmatch(coded) else second if _LOSES.fullmatch(coded) else ""


def _interpret_one(text: str, side: str) -> str | None:
    """Interpret the only side that a text names, if it says that this one wins. "" if by its score
    or share it does not, None for any other text.
    """
    at = text.casefold().rfind(side)
    picked = _PICKED.fullmatch(text, at + len(side)) if at >= 0 else None
    if not picked or not picked[0].strip() or _NO_FRONT.search(text, 0, at):
        return None
    wins = int(picked[1] or 1) > int(picked[2] or 0)
    return side if wins and float(picked["share"] or 100) > 50 else ""
