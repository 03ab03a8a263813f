"""Choices, levels 1 and 2: the picks of an answer, options or names; two sides; single choice and
F1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from forecasteval.common.markup import clean

from .answers import Answer, TruthOf, drop_last_share, parse_refusal
from .names import (
    SAME,
    Name,
    Pairs,
    compare_names,
    fold,
    match_names,
    parse_name,
)
from .options import (
    ROUND,
    SEPARATOR,
    SHARE,
    UNSHIELDED,
    YES_NO,
    Options,
    choice_key,
    drop_lead_in,
    interpret_text,
    interpret_token,
    label_set,
    split_tokens,
)
from .rankings import looks_like_names, refuses, show_names
from .rules import Scored


def score_f1(matched: int, picks: int, truths: int) -> float:
    """F1 = 2·matched / (picks + truths), in [0, 1] (seed README, 评分机制).

    >>> score_f1(1, 3, 1)
    0.5
    """
    return 2 * matched / (picks + truths) if matched else 0.0


def parse_distribution(tokens: Sequence[str]) -> list[str] | None:
    """The tokens with the largest share, if all of several have one and the shares add up to 90–110
    %, else None.

    >>> parse_distribution(["Yes: 4%", "No: 96%"]), parse_distribution(["A (70%)", "B (71%)"])
    (['No'], None)
    """
    shares = [share for token in tokens if (share := SHARE.search(token))]
    if not len(shares) == len(tokens) > 1:
        return None
    values = [float(share[1]) for share in shares]
    if not (0.9 <= sum(values) <= 1.1 or 90 <= sum(values) <= 110):
        return None
    return [
        share.string[: share.start()]
        for share, value in zip(shares, values, strict=True)
        if value == max(values)
    ]


# --- Options ---


class Picks(NamedTuple):
    """The picks of an answer: `labels` (or Yes and No), and other tokens in comparable form."""

    labels: frozenset[str]
    unknown: frozenset[str] = frozenset()

    @classmethod
    def of(cls, picks: Iterable[str]) -> Picks:
        """Picks of which those that are neither label nor option have a question mark in front."""
        picks = [pick.translate(UNSHIELDED) for pick in picks]
        unknown = frozenset(pick[1:] for pick in picks if pick[0] == "?")
        return cls(frozenset(pick for pick in picks if pick[0] != "?"), unknown)


SAID: Final = {word: Picks(frozenset([said])) for word, said in YES_NO.items()}
_LONE: Final = {label: Picks(frozenset([label])) for label in label_set(26)}


@dataclass(slots=True, eq=False)
class ChoiceTruth(TruthOf[Picks]):
    """Truth of a choice: the right picks; `exact` ones score 1 or 0 (level 1), others F1 of the
    sets (level 2).
    """

    options: Options
    picks: Picks
    exact: bool

    def read(self, answer: Answer) -> Picks | str:
        """The picks, or why there are none: no pick is an option, or bare text holds anything
        else.
        """
        right = self.picks.unknown
        picks = _parse_exact(answer, self.options)
        if picks is None:
            if self._refuses(drop_lead_in(answer.cleaned)):
                return "refusal"
            picks = _interpret_cleaned(answer, self.options)
        if (picks.labels or picks.unknown & right) and (answer.boxed or picks.unknown <= right):
            return picks
        return "no option" if answer.boxed else "no box, and not only options"

    def _refuses(self, text: str) -> bool:
        if (refusal := parse_refusal(text)) is None:
            return False
        keys = {choice_key(text), choice_key(refusal[0])}
        return keys.isdisjoint(self.options.index) and keys.isdisjoint(self.picks.unknown)

    def compare(self, picks: Picks) -> Scored:
        """1 or 0, or F1; picks that are no option count as wrong ones."""
        wrong = len(picks.unknown - self.picks.unknown)
        shown = ", ".join(sorted(picks.labels | picks.unknown))
        note = f"{wrong} unknown" if wrong else ""
        return Scored(score_picks(picks, self.picks, self.exact), "scored", shown, note)


def score_picks(picks: Picks, truth: Picks, exact: bool) -> float:
    """Level 1: 1 if the picks are `exact`ly the truth, else 0; level 2: F1 of the sets (seed
    README, 评分机制).

    Picks that are no option count as wrong ones.
    """
    if exact:
        return float(picks == truth)
    matched = len(picks.labels & truth.labels) + len(picks.unknown & truth.unknown)
    return score_f1(matched, sum(map(len, picks)), sum(map(len, truth)))


def interpret_picks(answer: Answer, options: Options) -> Picks:
    """The picks of an answer."""
    return _parse_exact(answer, options) or _interpret_cleaned(answer, options)


def exact_tokens(text: str) -> list[str]:
    """The tokens between commas, before anything is cleaned: "`" and a backslash are labels."""
    return text.replace(", ", ",").split(",")


def _parse_exact(answer: Answer, options: Options) -> Picks | None:
    """The picks of an answer of nothing but labels, as most are, or of one option's text; None of
    any other.
    """
    text = answer.text
    if not options.labels and (said := SAID.get(text.lower())):
        return said
    if text in options.labels:
        return _LONE.get(text) or Picks(frozenset([text]))
    exact = exact_tokens(text)
    if options.labels.issuperset(exact):
        return Picks(frozenset(exact))
    # "[x]" is no label X where it is an option.
    if options.prompt and (label := options.find_verbatim(text)):
        return Picks(frozenset([label]))
    return None


def _interpret_cleaned(answer: Answer, options: Options) -> Picks:
    """The picks of any other answer: a list literal, a distribution, text without markup."""
    if answer.elements:
        parts = [
            [part] if part in options.labels else interpret_token(clean(part), options)
            for part in answer.elements
        ]
        return Picks.of(pick for part in parts for pick in part)
    shielded = options.shield(answer.text)
    text = answer.cleaned if shielded == answer.text else Answer(shielded, (), True).cleaned
    if "%" in text or "0." in text:
        tokens = [text[begin:end].strip() for begin, end in split_tokens(text)]
        likely = parse_distribution(tokens)
        # "5%" is an option's text
        if likely and not any(choice_key(token) in options.index for token in tokens):
            return Picks.of(interpret_token(likely[0], options) if len(likely) == 1 else [])
    return Picks.of(interpret_text(text, answer.boxed or answer.stated, options))


# --- Names ---

_BOXED_SIDES: Final = re.compile(
    r"\\boxed\{([^{}\n]{1,80})\}\s{0,3}or\s{1,3}\\boxed\{([^{}\n]{1,80})\}"
)
_VERSUS: Final = re.compile(r"([^\n:\"?]{1,60}?)\s(?:vs?\.?|对)\s([^\n:\"?(]{1,60})")
_RESULT: Final = re.compile(r"\b([0-9]{1,3})\s?[-–:]\s?([0-9]{1,3})\b")
_WINS: Final = re.compile(
    r"\s*(?:(?:will|to)\s+)?(?:over|beats?|defeats?|def\.?|edges?|wins?\s*(?:over|against)|击败|战胜)\s*(?:the\s+)?",
    re.I,
)
_LOSES: Final = re.compile(r"\s*(?:will\s+|to\s+)?loses?\s+(?:to|against)\s*(?:the\s+)?", re.I)
_EACH_SCORES: Final = re.compile(r"\s*([0-9]{1,3})\s*[,;–-]?\s*")
_SETTING: Final = re.compile(r"\s*in\s+(?:regulation|overtime|ot)\b")
# What may stand behind the side that wins, brackets dropped: `to win 4-3`, `in OT`, `55%`, `!`
_PICKED: Final = re.compile(
    r"""\s*(?:(?:will|to)\s+win|wins?|victory|获胜|胜出|取胜|赢|胜)?
        (?:\s*in\s+(?:regulation|overtime|OT))?
        (?:\s*,?\s*(?P<result>[0-9]{1,3}\s?[-–:]\s?[0-9]{1,3}))?
        (?:\s*[,:]?\s*(?P<share>[0-9]{1,3}(?:\.[0-9]{1,4})?)\s?%)?\s*[!.]?\s*""",
    re.X | re.I,
)
_NO_FRONT: Final = re.compile(
    r"(?a:\b(?:can|could|hardly|no|not|if|will|would|do|does|did|may|might|should|maybe|perhaps|never|only|both"
    r"|either|neither|i|anyone|but|and|or|why|how|is|are|beat|against|unless|except|when|until|doubt)\b)",
    re.I,
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
        """The picked names, or why there are none."""
        text, elements = answer.cleaned, answer.elements
        whole = parse_name(text)
        text = drop_last_share(text)
        if not elements and any(compare_names(name, whole) >= SAME for name in self.names):
            return (whole,)  # one name with "and" or "/" in it
        if refuses(text, self.names):
            return "refusal"
        tokens = list(map(clean, elements)) or [token.strip() for token in SEPARATOR.split(text)]
        likely = parse_distribution(tokens)
        if likely is not None:
            return (parse_name(likely[0]),) if len(likely) == 1 else "several are as likely"
        if (
            self.sides
            and not elements
            and (winner := interpret_winner(text, self.sides)) is not None
        ):
            return (parse_name(winner),) if winner else "no side that wins"
        if not answer.boxed and not looks_like_names(text):
            return "no box, and no list of names"
        return (
            tuple({name.key: name for name in map(parse_name, tokens) if name.key}.values())
            or "no name"
        )

    def compare(self, predicted: Sequence[Name], known: Pairs = ()) -> Scored:
        """F1 of the names, or only a whole 1 of it; `known` pairs of names mean the same."""
        matched = len(match_names(self.names, predicted, self._prompt, known))
        score = score_f1(matched, len(predicted), len(self.names))
        return Scored(
            float(score == 1.0) if self.exact else score, "scored", show_names(predicted), ""
        )


def parse_sides(prompt: str) -> tuple[str, ...]:
    r"""The two sides that a question without options names, folded: `\boxed{X} or \boxed{Y}`, or `X
    vs. Y`; or ().
    """
    sides = _BOXED_SIDES.search(prompt)
    if not sides and (" v" in prompt or " 对 " in prompt):
        sides = _VERSUS.search(prompt)
    names = tuple(fold(clean(side)) for side in sides.groups()) if sides else ()
    return names if names and names[0] not in names[1] and names[1] not in names[0] else ()


def interpret_winner(text: str, sides: Sequence[str]) -> str | None:
    """The side that wins by a text, "" if it names sides and says of neither that it wins; None for
    a text that only is a name.

    >>> sides = "falcons", "otters"
    >>> texts = "Otters def. Falcons", "Falcons 4-2 Otters", "Otters to win 4-3 (OT)", "Otters 30%"
    >>> [interpret_winner(text, sides) for text in texts]
    ['otters', '', 'otters', '']
    """
    bare = ROUND.sub(" ", text).strip()
    folded = fold(bare)
    first, second = sorted(sides, key=folded.find)
    if folded.find(first) < 0:
        return _interpret_one(bare, second)
    begin, other = folded.find(first), folded.find(second)
    before, between, after = (
        folded[:begin],
        folded[begin + len(first) : other],
        _SETTING.sub("", folded[other + len(second) :]),
    )
    if any(map(str.isalnum, before.removeprefix("the "))):
        return ""
    if after.lstrip().startswith(":") and after.strip(" :.") in sides:
        return after.strip(" :.")
    scores = [_EACH_SCORES.fullmatch(part) for part in (between, after)]
    if scores[0] and scores[1] and scores[0][1] != scores[1][1]:  # Islanders 3, Oilers 2
        return first if int(scores[0][1]) > int(scores[1][1]) else second
    if any(map(str.isalpha, after)):
        return ""
    verb = _RESULT.sub("", between)
    return first if _WINS.fullmatch(verb) else second if _LOSES.fullmatch(verb) else ""


def _interpret_one(text: str, side: str) -> str | None:
    """The only side that a text names, if it says that this one wins; "" if by its score or share
    it does not, None for any other text.
    """
    at = text.casefold().rfind(side)
    picked = _PICKED.fullmatch(text, at + len(side)) if at >= 0 else None
    if not picked or not picked[0].strip():
        return None
    front = text[:at]
    if _NO_FRONT.search(front) or any(word[0].islower() for word in front.split()):
        return None
    result = _RESULT.match(picked["result"] or "1-0")
    wins = result and int(result[1]) > int(result[2])
    return side if wins and float(picked["share"] or 100) > 50 else ""
