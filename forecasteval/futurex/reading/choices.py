"""Choices, levels 1 and 2: the options of a prompt, how a text picks them, two sides; exact, F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Final

from forecasteval.common.markup import clean
from forecasteval.common.patterns import BLANKS, WordTable, end_of, lazy
from forecasteval.questions.states import AnswerScore, Unparsed

from .answers import Answer, TruthOf, drop_lead_in, find_status
from .language import pattern_of, table_of, words
from .lists import NO_LIST, UNNAMED, is_name_of, looks_like_names, show_names, spans_between
from .names import SAME, Name, Pairs, compare_names, fold, key_of, match_names, parse_name
from .negation import begins_denied, find_doubt, is_asked

MAX_TOKEN: Final = 1000  # characters of a pick with what is said of it
MAX_OPTIONS: Final = 62  # A to ~ in ASCII order
_LABELS: Final = "".join(map(chr, range(ord("A"), ord("A") + MAX_OPTIONS)))
YES_NO: Final = {
    **dict.fromkeys(words("yes"), "Yes"),
    **dict.fromkeys(words("no"), "No"),
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

_AND: Final = pattern_of("and")
_OR: Final = pattern_of("or")
SEPARATOR: Final = lazy(  # not in 4,000
    rf"(?:[，、;；/|&\n]|,(?!(?<=[0-9],)[0-9]{{3}}(?![0-9])))(?!\s?(?:{_OR}))(?:\s*(?:{_AND}))?"
    rf"|{_AND}|(?<=\s)\+(?=\s)|\+(?<=\b\w\+)(?=[!-~](?:\W|\Z))"
)
# Between labels in nothing but their dress, not in N/A
_BETWEEN_PICKS: Final = lazy(rf"(?:\s|[,，、;；|&+]|(?<![Nn])(?<![Nn]\s)/|{_AND})+")
_DRESS: Final = lazy(r"\\(?:text|math)\w*\s?\{([^{}]*)\}")
_AROUND: Final = "\\{} $*\"'“”‘’().。!"
_BRACKETS: Final = lazy(r"\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\]|【[^【】]*】")
_SPACED: Final = lazy(r"\s*(?:[-–—]|([<>≤≥]))\s*")
_LETTER: Final = lazy(r"[^\W\d_]")
_HEDGES: Final = table_of("hedges")  # in front of a pick
_NUMBERED: Final = lazy(r"(?:\A|(?<=\s))[0-9]{1,2}[.)]\s*(?=\(?[A-~](?:[^\w.]|\Z))")  # 1. A 2. B
_NUMBER: Final = lazy(r"[0-9]{1,2}[.)](?![0-9])\s*(?=\S)")  # 1. text, but not the option 1.5%
_LABEL: Final = lazy(  # B, (B), Option B, 选项B; what stands behind it decides
    r"(?i)(?:(?:options?|choices?|answers?|outcomes?|only|just|我?(?:选项|选择|选))\s*:?\s*)?"
    r"(?:[(\[【]\s?([!-~])\s?[)\]】]|([!-~]))"
)
_MARK_BEHIND: Final = lazy(r"\s*(?:\Z|[(\[【\n:;,!?？。、)\]】—]|[.)](?![0-9])|[-–]{1,2}\s|选?项)")
_SAYS: Final = r"\s(?:is|was|will|has|seems)\b"  # goes on about one label
_SAID_OF: Final = lazy(_SAYS)
_WORD_BEHIND: Final = lazy(
    rf"{_SAYS}|\s(?:are|only|because|since|as|at|for|with|by|over|rather)\b|\s?(?:{_OR})"
)
_RANGE: Final = lazy(r"(?i)\(?([!-~])\)?\s?(?:[-–—]|through|thru|to|至|到)\s?\(?([!-~])\)?")
_TEXT_END: Final = lazy(rf"[.!?:。]\s|[?？](?=\Z)|\s?[-–—(]\s?|\sto\swin\b|\swins\b|\s?(?:{_OR})")
_LABEL_BEHIND: Final = lazy(r"(?s)(.+?)\s?\(([A-~])\)")  # Tie (B)
_SHARE: Final = lazy(
    r"[\s:=(~≈约–-]{0,4}(?:about\s)?(?<![0-9.])(?:([0-9]{1,3}(?:\.[0-9]{1,6})?)\s?%"
    r"|([01]?\.[0-9]{1,6}))"
)
_BETWEEN_SHARES: Final = " \n,，;；、|/).(。"
_OWN_SHARE: Final = lazy(  # Yes (30%), Yes with probability 0.3
    r"(?i)[\s,:(=~≈–-]{0,3}(?:with\s)?(?:an?\s)?(?:(?:probability|chance|confidence|概率|置信度)"
    r"[\s:=of]{0,4})?([0-9]{1,2}(?:\.[0-9]+)?\s?%|0?\.[0-9]+)"
)
_SAID: Final = WordTable(*YES_NO)
_LONE_WORD: Final = lazy(r"\b[A-Za-z]+\b(?!\s(?!is\b)\w)")  # no, no is possible, but not: no doubt
_NO_SET: Final = table_of("not all")
MAX_STRANGER: Final = 3  # words of a token that is no reason but a wrong pick


def choice_key(text: str) -> str:
    """Return the form in which an option's text and a token compare: `the outcome be $10 – $20` is
    `10-20`.
    """
    key = key_of(fold(drop_lead_in(text) or text)).replace("$", "")
    return _SPACED.sub(lambda mark: mark[1] or "-", key)


def _count_shared(rows: Sequence[Sequence[str]]) -> int:
    """Count the words with which all rows begin."""
    shared = takewhile(lambda words: len({*words}) == 1, zip(*rows, strict=False))
    return len([*shared])


class Options:
    """The options of a question: their `texts` and `labels`, or so many labels alone."""

    def __init__(self, texts: Sequence[str], count: int = 0) -> None:
        self.texts, self.labels = texts, label_set(len(texts) or count)

    @cached_property
    def keys(self) -> list[str]:
        """List the options' texts in comparable form."""
        return [choice_key(clean(text)) for text in self.texts]

    @cached_property
    def index(self) -> dict[str, str]:
        """Label by option text, yes and no under every name; a text that two options share stands
        for neither.
        """
        if not self.labels:
            return YES_NO
        pairs = [*zip(self.keys, _LABELS, strict=False)]
        said = {YES_NO[key]: label for key, label in pairs if key in YES_NO}
        index = {name: said[meaning] for name, meaning in YES_NO.items() if meaning in said}
        return index | {key: label for key, label in pairs if self.keys.count(key) == 1}

    @cached_property
    def parts(self) -> list[str]:
        """List what each option's text has between the words with which all begin and end; nothing
        if one has no letter there: `3` of `more than 3` may be a number.

        >>> Options(["Ada Lee win the award", "Bo Day win the award"]).parts
        ['ada lee', 'bo day']
        """
        space = " " if "".join(self.keys).isascii() else ""  # Chinese signs have none between
        rows = [key.split(space) if space else list(key) for key in self.keys]
        front = _count_shared(rows)
        back = _count_shared([row[front:][::-1] for row in rows])
        parts = [space.join(row[front : len(row) - back]) for row in rows]
        return parts if front + back and all(map(_LETTER.search, parts)) else []

    @cached_property
    def printed(self) -> dict[str, str]:
        """Label by what stands in the prompt, `B. Tie` and `Tie`, unless two options share it."""
        pairs = list(zip(_LABELS, self.texts, strict=False))
        lone = {text: label for label, text in pairs if self.texts.count(text) == 1}
        return lone | {f"{label}. {text}": label for label, text in pairs}

    @cached_property
    def width(self) -> int:
        """Count the separators that one option's text holds at most."""
        return max(len(SEPARATOR.findall(text)) for text in ("", *self.texts))

    def find_label(self, token: str) -> str:
        """Find the label, or Yes or No, that a token is in any case; "" if it is none."""
        if not self.labels:
            return YES_NO.get(token.lower(), "")
        return next((label for label in (token, token.upper()) if label in self.labels), "")

    def find_text(self, token: str) -> str:
        """Find the label of the option whose text a token is, perhaps with its label at either
        end; "" if it is none.
        """
        for text in dict.fromkeys((token, token[end_of(_NUMBER, token) :])):
            if label := self.index.get(choice_key(text)):
                return label
        token, pairs = text, []
        if behind := _LABEL_BEHIND.fullmatch(token):
            pairs.append((behind[2], behind[1]))
        if front := _LABEL.match(token):
            pairs.append((front[1] or front[2], token[front.end() :].lstrip(" .):—–-、")))
        labels = ((self.find_label(label), choice_key(text)) for label, text in pairs)
        named = (label for label, key in labels if label and self.index.get(key) == label)
        return next(named, "") or self._find_part(choice_key(token))

    def _find_part(self, key: str) -> str:
        """Find the label of the option whose part of its text a token holds, as a piece of that
        text: `Ada Lee` of `Ada Lee win the award`. "" if it is none, or a label.
        """
        if key.upper() in self.labels:  # A, whichever option is Team A
            return ""
        each = zip(self.parts, self.keys, _LABELS, strict=False)
        labels = [label for part, text, label in each if part in key and key in text]
        return labels[0] if len(labels) == 1 else ""

    def find_labels(self, text: str) -> frozenset[str]:
        """Find the labels of a text that is nothing but labels in their dress; none of
        any other.
        """
        if text.startswith("> ") and text not in self.printed:  # `> 5` may be an option beside `5`
            text = text[2:]
        if not self.labels:
            return frozenset(filter(None, [self.find_label(text.strip(_AROUND))]))
        exact = text.replace(", ", ",").split(",")
        if self.labels.issuperset(exact):  # most, and before "|" may part them
            return frozenset(exact)
        if text in self.printed:
            return frozenset([self.printed[text]])
        text = _DRESS.sub(r"\1", text) if "\\" in text else text
        labels = list[str]()
        for token in filter(None, _BETWEEN_PICKS.split(text)):
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
    if answer.elements:
        parts = [
            options.find_labels(part) or read_token(clean(part), options)
            for part in answer.elements
        ]
        return frozenset(pick for part in parts for pick in part)
    if labels := options.find_labels(answer.text):
        return labels
    text = answer.cleaned
    if shares := read_shares(text):
        likely = [read_token(name, options) for name in largest(shares)]
        if all(likely) and not any(_is_share_text(name, share, options) for name, share in shares):
            return frozenset(likely[0] if len(likely) == 1 else [])
    return frozenset(read_list(text, options, boxed=answer.boxed, stated=answer.stated))


def split_tokens(text: str) -> list[tuple[int, int]]:
    """Begin and end of the tokens between separators that stand outside brackets."""
    shielded = _BRACKETS.sub(lambda match: "x" * len(match[0]), text)
    return spans_between(SEPARATOR.finditer(shielded), len(text))


def read_shares(text: str) -> list[tuple[str, float]]:
    """Read the names and shares of a text that is nothing else. None unless there are several that
    add up to 90–110 %.

    >>> read_shares("A) 20% B) 60% C) 20%"), read_shares("A (70%), B (71%)")
    ([('A', 20.0), ('B', 60.0), ('C', 20.0)], [])
    """
    shares, end = [], 0
    for share in _SHARE.finditer(text):
        name = text[end : share.start()].strip(_BETWEEN_SHARES)
        shares.append((name, float(share[1] or share[2])))
        end = share.end()
    total = sum(share for _, share in shares)
    whole = 0.9 <= total <= 1.1 or 90 <= total <= 110
    alone = all(name for name, _ in shares) and not text[end:].strip(_BETWEEN_SHARES)
    return shares if len(shares) > 1 and whole and alone else []


def largest(shares: Sequence[tuple[str, float]]) -> list[str]:
    """List the names with the largest share."""
    most = max(share for _, share in shares)
    return [name for name, share in shares if share == most]


def _is_share_text(name: str, share: float, options: Options) -> bool:
    """Return whether a share is an option's own text: `A. 40%`."""
    return any(choice_key(f"{one}{share:g}%") in options.index for one in ("", f"{name} "))


def read_list(text: str, options: Options, boxed: bool = True, stated: bool = False) -> list[str]:
    """Read the picks with which a text begins, those that are neither label nor option with a
    question mark in front.

    In a box, or where they are `stated`, what follows is commentary (`B, because they play at
    home`), unless it denies or offers another pick: `B, not D` and `A, B or C` name no set (rule
    5).
    """
    marked = boxed or stated
    text = drop_lead_in(text) if marked else text
    share = _OWN_SHARE.match(text, len(said)) if (said := _SAID.find(text)) else None
    if _NO_SET.find(text) or (share and _is_minor(share[1])):  # All except B, Yes (30%)
        return [f"?{text}"]
    text = _NUMBERED.sub("\n", text).strip()
    picks: list[str] = []
    spans = split_tokens(text)
    first, width = 0, options.width if len(spans) > 1 else 0
    while first < len(spans):
        begin, last = spans[first][0], min(first + width, len(spans) - 1)
        while last > first and not options.find_text(
            _bare(text[begin : spans[last][1]][:MAX_TOKEN])
        ):
            last -= 1
        token = text[begin : spans[last][1]].strip()
        first = last + 1
        if not token:
            continue
        if marked and picks and _SAID_OF.match(token, _find_begin(token, options)[1]):
            return [f"?{text}"]  # B; A is second
        read = read_token(token, options)
        unknown = read[:1] and read[0][0] == "?"
        if marked and unknown and _offers_other(token, picks, options):
            return [f"?{text}"]
        if marked and unknown and picks and picks[0][0] != "?":
            end = read_token(text[slice(*spans[-1])], options)
            goes_on = {pick for pick in end if pick[0] != "?"}.difference(picks)  # B, because …, C
            if goes_on or _find_begin(_bare(token), options)[0]:
                return [f"?{text}"]
            if stated or not _is_stranger(token):
                return picks  # what follows is commentary
        picks += read
    return picks


def _offers_other(token: str, picks: Sequence[str], options: Options) -> bool:
    """Return whether a token behind picks denies one or offers another: `not D`, `or C`, `but it
    could be A`.
    """
    other = find_doubt(token)
    if other is not None:
        return _find_named(other, options) not in ("", *picks) if other else picks != ["No"]
    denied = token.removeprefix("not ").removeprefix("except ")
    return begins_denied(token) and bool(_find_named(denied, options))


def _is_stranger(token: str) -> bool:
    """Return whether a token is no reason but a pick that is no option: `Seaside United`."""
    parts = token.split()
    return len(parts) <= MAX_STRANGER and all(part[0].isupper() for part in parts)


def read_token(token: str, options: Options) -> list[str]:
    """Read the picks of one token: a label in any dress, an option's text, or labels side by side.

    `B`, `(b)`, `Option B`, `B. Tie`, `B (a draw)`, `Tie (B)`, `B only`; `ABC`, `A.C.`, `(A)(C)`,
    `B-E`. `B?`, `B (or C)` and `not B` are none.
    """
    token = _bare(token[:MAX_TOKEN])
    if label := options.find_text(token):
        return [label]
    token = token[_HEDGES.skip(token, end_of(_NUMBER, token)) :].lstrip(" :")
    if label := options.find_text(token):
        return [label]
    letters = [char for char in token if char not in "().[] "]
    if letters and options.labels.issuperset(letters):
        return letters
    ends = _RANGE.fullmatch(token)
    if ends and options.labels.issuperset(ends.groups()):
        return [chr(code) for code in range(ord(ends[1]), ord(ends[2]) + 1)]
    label, end = _find_begin(token, options)
    if label and not _is_taken_back(token, label, end, options):
        return [label]
    if label and YES_NO.get(token[end:].strip(" :=–—-").lower()) == "No":
        return []  # A: no, B: yes
    return [f"?{key}"] if (key := choice_key(token)) else []


def _find_begin(token: str, options: Options) -> tuple[str, int]:
    """Find the pick with which a token begins, and where it ends: a label, a letter past the last
    option, too, Yes or No, or an option's text. "" if there is none.
    """
    found = _LABEL.match(token) if options.labels else None
    if found:
        letter = found[1] or found[2]
        label = options.find_label(letter) or (letter if letter.isupper() else "")
        marked = found[1] or _MARK_BEHIND.match(token, found.end())
        if label and (marked or _WORD_BEHIND.match(token, found.end())):
            return label, found.end()
    said = _SAID.find(token)
    label = options.index.get(said, "")
    if label and (len(said) > 1 or not token[1:2].isalnum()):  # 不会通车, but not 会议
        return label, len(said)
    cut = _TEXT_END.search(token)
    head = token[: cut.start()] if cut else ""  # Tie (a close one), Tie. Both are even
    return options.find_text(head), len(head)


def _is_taken_back(token: str, label: str, end: int, options: Options) -> bool:
    """Return whether a token takes back the pick that ends at a position, or names another one
    beside it: `B?`, `B is unlikely`, `B (could be C)`, `Yes (30%)` (rule 5).
    """
    meaning = YES_NO.get(token[:end].lower())
    if meaning and any(
        YES_NO.get(word[0].lower(), meaning) != meaning for word in _LONE_WORD.finditer(token, end)
    ):
        return True
    if meaning and find_status(token[end:].lstrip(" .,:;–—-"))[0] == "refusal":
        return True  # No - I cannot answer this
    aside = _BRACKETS.match(token, end_of(BLANKS, token, end))
    if aside and options.find_label(aside[0][1:-1].strip()) not in ("", label):
        return True
    for position in (end, aside.end() if aside else end):
        other = find_doubt(token, position)
        # What is unlikely behind a No agrees with it.
        if other == "" and (meaning != "No" or is_asked(token, position)):
            return True
        if other and _find_named(other, options) not in ("", label):
            return True
    return False


def _find_named(text: str, options: Options) -> str:
    """Find the pick with which another guess begins: `C)`, `option C`, `C or D`; "" if none."""
    text = text.rstrip(" )]】.!?。")
    return options.find_text(text) or _find_begin(text, options)[0]


def _is_minor(share: str) -> bool:
    """Return whether a share is less than a half: `30%`, `0.3`."""
    return float(share.rstrip("% ")) < (50 if share.endswith("%") else 0.5)


def _bare(token: str) -> str:
    """Return the token without bullets, quotes and a full stop."""
    token = token.strip().lstrip("-•·▪ ").rstrip(" 。!").strip("\"'“”‘’")
    return token[1:-1] if token[:1] + token[-1:] == "[]" else token


@dataclass(slots=True, eq=False)
class ChoiceTruth(TruthOf[Picks]):
    """Truth of a choice: the right picks. `exact` ones score 1 or 0 (level 1), others F1 of the
    sets (level 2).
    """

    is_plain = True
    options: Options
    picks: Picks
    exact: bool

    def read(self, answer: Answer) -> Picks | Unparsed:
        """Read the picks, or why there are none: no pick is an option, or bare text holds anything
        else.
        """
        if picks := self.options.find_labels(answer.text):
            return picks
        if status := self.find_status(answer):
            return status
        picks = interpret_picks(answer, self.options)
        unknown = {pick for pick in picks - self.picks if pick[0] == "?"}
        if len(unknown) < len(picks) and (answer.boxed or not unknown):
            return picks
        if answer.boxed:
            return Unparsed("no option", is_silent=True)
        return Unparsed("no box, and not only options", "prose", is_silent=True)

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
_SCORE: Final = lazy(r"\b([0-9]{1,3})\s?[-–:]\s?([0-9]{1,3})\b")
_LITTLE: Final = frozenset(words("little"))
# Between the side that wins and the other, without little words; and behind a side that wins
_BEATS: Final = frozenset(words("beats"))
_LOSES: Final = frozenset(words("loses"))
_WINS: Final = frozenset(words("wins"))
_NO_FRONT: Final = frozenset(words("no front"))  # nothing of a name, however it is written

_AS_LIKELY: Final = Unparsed("several are as likely", "contradiction")
_NO_WINNER: Final = Unparsed("no side that wins", "contradiction", is_silent=True)


class NameTruth(TruthOf[Sequence[Name]]):
    """Truth of a choice that has neither options nor labels: names, each picked once; `exact` ones
    score 1 or 0.

    `sides` are the two of which a question names the winner.
    """

    __slots__ = ("_prompt", "exact", "names", "sides")

    def __init__(self, names: Sequence[Name], exact: bool, prompt: str = "") -> None:
        self.names, self.exact, self.sides = names, exact, parse_sides(prompt)
        self._prompt = prompt

    def read(self, answer: Answer) -> Sequence[Name] | Unparsed:
        """Read the picked names, or why there are none."""
        text, elements = answer.sentence, answer.elements
        whole = parse_name(text)
        listed = elements or (self.sides and "%" in text)
        if not listed and any(compare_names(name, whole) >= SAME for name in self.names):
            return (whole,)  # one name with "and" or "/" in it
        if status := self.find_status(answer):
            return status
        tokens = [clean(part).strip() for part in elements or SEPARATOR.split(text)]
        if not elements and (shares := read_shares(text)):
            likely = largest(shares)
            return (parse_name(likely[0]),) if len(likely) == 1 else _AS_LIKELY
        if self.sides and not elements:
            winner = interpret_winner(text, self.sides)
            if winner is not None:
                return (parse_name(winner),) if winner else _NO_WINNER
        if not answer.boxed and not looks_like_names(text, not answer.stated):
            return NO_LIST
        names = {name.key: name for name in map(parse_name, tokens) if name.key}
        return tuple(names.values()) or UNNAMED

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
    if first not in folded:
        return _interpret_one(bare, second)
    between, _, behind = folded.partition(first)[2].partition(second)
    scores = between.strip(" ,;–-"), behind.strip(" .!")
    if all(map(str.isdecimal, scores)) and scores[0] != scores[1]:  # Islanders 3, Oilers 2
        return first if int(scores[0]) > int(scores[1]) else second
    said = folded.rpartition(":")[2].strip(" .!")
    if said in sides:
        return said
    if folded.removeprefix("the ").startswith(first) and not _drop_little(behind):
        verb = _drop_little(between)
        if verb in _BEATS:
            return first
        if verb in _LOSES:
            return second
    return ""


def _drop_little(text: str) -> str:
    """Return the words of a folded text but for scores and little ones."""
    parts = (part.strip(".,!") for part in _SCORE.sub(" ", text).split())
    return " ".join(part for part in parts if part and part not in _LITTLE)


def _interpret_one(text: str, side: str) -> str | None:
    """Interpret the only side that a text names, if it says that this one wins. "" if by its score
    or share it does not, None for any other text.
    """
    front, _, behind = text.casefold().rpartition(side)
    names = text[: len(front)].split()
    score, share = _SCORE.search(behind), _SHARE.search(behind)
    said = _drop_little((_SHARE.sub(" ", behind) if share else behind).strip(" ,.!"))
    named = all(name[:1].isupper() and name.lower() not in _NO_FRONT for name in names)
    if not behind.strip() or (said and said not in _WINS) or not named:
        return None
    wins = not score or int(score[1]) > int(score[2])
    return side if wins and (not share or float(share[1] or 100) > 50) else ""
