"""Names: the form in which they compare, how like two of them are, and which of two lists match.

A name is a small set of forms: whole, without its brackets, what its brackets hold; of a prediction
also what stands in front of ` by ` and on either side of its dashes. Of two names some forms may be
compared, and the strongest likeness counts:

    exact   the names are equal, case, quotes and accents aside
    same    two forms are equal, punctuation and blanks aside, or a first name is an initial
    long    the predicted form ends with the true one, and what stands in front may be added
    short   the true form ends with the predicted one, and what stands in front may be missing
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

CJK: Final = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
IS_CJK: Final = re.compile(rf"[{CJK}]")
NONE, SHORT, LONG, SAME, EXACT = range(5)

# --- Keys ---

_QUOTES: Final = re.compile(r"[\"'“”‘’„«»《》〈〉「」『』`´]")
_ACCENTED: Final = re.compile(r"[\u00d7\u00df-\u024f\u1e00-\u1eff]")
_DOTS: Final = str.maketrans("•・‧∙⋅", "·····")


def fold(text: str) -> str:
    """Case, accents, quotes, slashes, a leading `@` and trailing full stops do not matter in a
    name.
    """
    return " ".join(_fold_case(text).replace("/", " ").split())


def _fold_case(text: str) -> str:
    """The folded text with its slashes and blanks."""
    folded = text.casefold()
    if not folded.isascii():
        folded = _ACCENTED.sub(lambda match: _without_accent(match[0]), folded).translate(_DOTS)
    return _QUOTES.sub("", folded).rstrip(" .。\n").lstrip("@ \n")


@lru_cache(maxsize=1024)
def _without_accent(letter: str) -> str:
    letters = unicodedata.normalize("NFKD", letter)
    return "".join(char for char in letters if not unicodedata.combining(char))


def key_of(spaced: str) -> str:
    """A folded name without the spaces beside CJK characters."""
    if spaced.isascii() or " " not in spaced:
        return spaced
    words = spaced.split(" ")
    key = words[0]
    for word in words[1:]:
        key += word if IS_CJK.search(key[-1:] + word[:1]) else f" {word}"
    return key


# --- Forms ---

_PIECE: Final = re.compile(r"&|[^\s.,:;!?·()\[\]【】…/&_–—-]+")
_BRACKETED: Final = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|【([^【】]*)】")
# What makes brackets another guess, or none: `(nor Hart)`, but not the country `(NOR)`
_OR_ELSE: Final = re.compile(
    r"(?:(?:or|nor)\s+\w|(?:not|but|either|never|except|maybe|probably|perhaps|likely|possibly"
    r"|alt(?:ernative(?:ly)?)?|backup|could\s+be|if\s+not)\b|备选|也?可能|不是|或|\?+\Z)",
    re.I,
)
_DASH: Final = re.compile(r"\s[-–—]+\s+|(?<=[》”\"」』])\s?[-–—]+\s*")
_PARTED: Final = re.compile(r"\s[-–—]+\s")
_BY: Final = re.compile(r"\s+by\s+", re.I)
_SMALL_WORDS: Final = frozenset({"of", "the"})  # without a letter in the initials
# SEREMES Jonathan, VAN DER POEL Mathieu, Djokovic N.; and of people Krasznahorkai László
_SURNAME_FIRST: Final = re.compile(
    r"(?P<surname>(?:[A-Z][A-Z'’-]+\s)+(?=[A-Z][a-z])|[A-Z][\w'’-]+\s(?=[A-Z]\.))(?P<first>\S+)"
)
_TWO_WORDS: Final = re.compile(
    r"(?P<surname>[^\W\d_a-z][^\W\d_]+)\s(?P<first>[^\W\d_a-z][^\W\d_]+)"
)
WHOLE, PART, BARE, ASIDE = range(4)


class Form(NamedTuple):
    """A form of a name: folded, and `squashed` without punctuation and blanks; `pieces` says where
    the words of both begin.
    """

    text: str
    squashed: str
    pieces: tuple[tuple[int, int], ...]
    kind: int

    def find_front(self, end: Form) -> str | None:
        """What stands in front of another form at this one's end; None if it is not there, or only
        within a word.
        """
        if not self.squashed.endswith(end.squashed):
            return None
        if not any(map(str.isalpha, end.squashed)):
            return None  # 2 is not Frozen 2
        cut = len(self.squashed) - len(end.squashed)
        squashed, begin = self.pieces[bisect_right(self.pieces, (cut, len(self.text))) - 1]
        begin += cut - squashed
        front, first = self.text[:begin], end.squashed[0]
        if self.squashed[cut - 1 : cut] == "." or not front:
            return None  # 3.5 ends with no 5
        if IS_CJK.match(first):
            alone = len(end.squashed) == 1 and IS_CJK.match(front[-1])
            return None if alone else front
        if front[-1] == "-" and front[-2:-1].isalnum() and not IS_CJK.match(front[-2:-1]):
            return None  # Moth-Man ends with no Man
        return front if not front[-1].isalnum() or IS_CJK.match(front[-1]) else None


def _make_form(text: str, kind: int) -> Form | None:
    text = _fold_case(text)
    squashed, pieces = "", []
    for piece in _PIECE.finditer(text):
        word = "and" if piece[0] == "&" else piece[0]
        if word[0].isdigit() and squashed[-1:].isdigit():
            squashed += "."
        pieces.append((len(squashed), piece.start()))
        squashed += word
    return Form(text, squashed, tuple(pieces), kind) if squashed else None


def _make_forms(text: str, kind: int, predicted: bool) -> Iterator[Form | None]:
    """The form of a text, of the text without its brackets, and of what they hold."""
    yield _make_form(text, kind)
    brackets = [next(filter(None, groups), "") for groups in _BRACKETED.findall(text)]
    if not brackets or any(map(_OR_ELSE.match, brackets)):
        return
    bare = _drop_brackets(text)
    yield _make_form(bare, BARE)
    if len(brackets) > 1:  # X (Live) (2025)
        yield _make_form(text[: max(map(text.rfind, "([【"))], BARE)
    elif not predicted or _may_be_alias(fold(brackets[0]), fold(bare)):
        yield _make_form(brackets[0], ASIDE)


def _drop_brackets(text: str) -> str:
    return _BRACKETED.sub(" ", text).strip()


class Name:
    """A name as it compares: its `key`, and its forms, which are made when they are needed."""

    __slots__ = ("_forms", "key", "plain", "text")

    def __init__(self, text: str, key: str, plain: bool) -> None:
        self.text, self.key, self.plain = text, key, plain
        self._forms: dict[tuple[str, bool], tuple[Form, ...]] | None = None

    @property
    def lone(self) -> str:
        """The key without blanks of a name that has one form, unless the question is about people;
        else "".
        """
        bare = self.text.rstrip(" .。")
        turned = bare[:2].isupper() or (bare != self.text and bare[-2:-1] == " ")  # Djokovic N.
        return "" if turned or not self.plain else self.key.replace(" ", "")

    @property
    def has_dash(self) -> bool:
        """Whether one of two parts may be meant."""
        return not self.plain and bool(_DASH.search(self.text))

    def forms(self, side: str, people: bool = False) -> tuple[Form, ...]:
        """The forms of a true name (side ""), or of a prediction of which the "front" of its dashes
        counts, or the "end"; one of `people` may have the surname first.
        """
        if self._forms is None:
            self._forms = {}
        if (side, people) not in self._forms:
            made = list(_make_forms(self.text, WHOLE, bool(side)))
            for part in self._parts(side) if side and not self.plain else ():
                made += _make_forms(part, PART, True)
            turned = _SURNAME_FIRST.fullmatch(bare := _drop_brackets(self.text))
            if turned := turned or (people and _TWO_WORDS.fullmatch(bare)) or None:
                made.append(_make_form(f"{turned['first']} {turned['surname']}", ASIDE))
            self._forms[side, people] = tuple(form for form in made if form)
        return self._forms[side, people]

    def ends(self, side: str, people: bool = False) -> Collection[str]:
        """The letters with which the forms end."""
        if self.plain and not people and (self.text[-1:] != "." or self.lone):
            return self.key[-1:]
        return {form.squashed[-1] for form in self.forms(side, people)}

    def _parts(self, side: str) -> Iterator[str]:
        yield from (self.text[: cut.start()] for cut in list(_BY.finditer(self.text))[-1:])
        dashes = list(_DASH.finditer(self.text))[:3]
        if side == "front":
            yield from (self.text[: dash.start()] for dash in dashes[:1])
        else:
            yield from (self.text[dash.end() :] for dash in dashes)


@lru_cache(maxsize=1 << 15)  # a name of the truth stands in many answers
def parse_name(text: str) -> Name:
    """The name's comparable form; `text` is expected to be cleaned.

    >>> parse_name('《Panda  Plan》.').key, parse_name("许 二 木").key, parse_name("Zoë").key
    ('panda plan', '许二木', 'zoe')
    """
    bare = text.rstrip(" .。")
    plain = bare.replace(" ", "").isalnum() and " by " not in bare.lower()  # most names
    return Name(text, bare.lower() if plain and bare.isascii() else key_of(fold(text)), plain)


def _may_be_alias(inside: str, outside: str) -> bool:
    """Whether brackets can hold another name of the thing: `guess (other guess)` names two."""
    if not outside or inside.isascii() != outside.isascii():
        return True
    words, others = inside.replace(".", "").split(), outside.replace(".", "").split()
    shared = not set(words).isdisjoint(others) or not set(IS_CJK.findall(inside)).isdisjoint(
        outside
    )
    return shared or _initials(words) == "".join(others) or _initials(others) == "".join(words)


def _initials(words: Sequence[str]) -> str:
    return "".join([word[0] for word in words if word not in _SMALL_WORDS])


# --- Likeness ---

# What must not stand in front of a name: it would name two, or deny one. A number behind `no` is a
# rank.
_HEDGE: Final = re.compile(
    r"(?a:\b(?:or|over|nor|not|no(?!\.?\s*[0-9])|but|vs?|versus|either|never|except|without"
    r"|replac(?:es|ing)|excluding|aka|alias|after|hardly|then|by|than"
    # beside CJK characters, too
    r"|probably|perhaps|maybe|possibly|likely|unlikely|doubt|wrong|against|fade|avoid|beats?|defeats?|instead\s+of|ahead\s+of)\b)"
    r"|(?a:\band)\s*\Z|\w\s[0-9]{1,3}[.)]\s?\Z|(?<![0-9])[、。]|\s-|[–—―⸺]"
    r"|[^\w\s.:/#'()\[\]{}【】·*%$€£¥®©°、。-]"  # + | @ = & , ; ? → ≈ … part two names
    r"|(?:非|不是|不会是|没有|除了|排除|或者?|而是|击败|战胜|取代|替代|(?<=\w)(?:和|与|以及|还是))\Z"
)
_OTHER_NAME: Final = re.compile(r"\s\S*/|/\s|[^\x00-\x7f]/")  # Hart / Solberg, but not a/b
_LEAD_IN: Final = re.compile(r"\A\w+\.?(?:\s\w+)?:\s+")  # GitHub: owner/repo
_BULLET: Final = re.compile(r"[^\w!?¬≠,;、。(\[【]*")  # ● ■ ▶ +: nothing stands in front of it


class NameStyle(NamedTuple):
    """What a question asks for, as far as names compare by it: `subtitles`: behind a dash stands
    the rest of a title; `people`: the surname may stand first; `titles` of films or songs.
    """

    subtitles: bool = False
    people: bool = False
    titles: bool = False


NO_STYLE: Final = NameStyle()


def _may_be_added(front: str) -> bool:
    """Whether a prediction may have this in front of a name: a brand, a first name, a rank."""
    front = _BULLET.sub("", front, count=1)
    slashed = _OTHER_NAME.search(_LEAD_IN.sub("", front))
    if slashed or _is_open(front) or _HEDGE.search(front):
        return False
    return len(front.split()) <= 3 and len(IS_CJK.findall(front)) <= 6


def _may_be_missing(front: str, rest: str, titles: bool) -> bool:
    """Whether a prediction may lack this in front of a name: a word, or no more than is left. A
    word is too much of a title: `Hours` is not `Velvet Hours`.
    """
    if _is_open(front):
        return False
    cjk = len(IS_CJK.findall(front))
    word = cjk <= 3 if cjk else " " not in front.strip()
    if not titles and (word or front.rstrip().endswith(("-", "–", "—", ":", "/"))):
        return True
    return sum(map(str.isalpha, rest)) >= sum(map(str.isalpha, front))


def _is_open(front: str) -> bool:
    """Whether a text ends within brackets."""
    return any(
        front.count(opened) != front.count(closed) for opened, closed in ("()", "[]", "【】")
    )


def compare_names(
    true: Name, predicted: Name, side: str = "front", style: NameStyle = NO_STYLE
) -> int:
    """How like two names are in a question of such a style, from NONE to EXACT."""
    if true.key == predicted.key:
        return EXACT
    ends = true.lone, predicted.lone
    if all(ends) and not (style.people or ends[0].endswith(ends[1]) or ends[1].endswith(ends[0])):
        return NONE  # a glance
    likeness = NONE
    for form in true.forms(""):
        for other in predicted.forms(side, style.people):
            likeness = max(likeness, _compare_forms(form, other, style.titles))
    return likeness


def _compare_forms(true: Form, predicted: Form, titles: bool) -> int:
    """How like two forms are. One of them must be whole, and a bracket of the truth stands against
    all of an answer: `Dune (1984)` is not `Dune (2021)`, `Other Song - Ann` is not `Song (Ann)`.
    """
    whole = true.kind == WHOLE or (predicted.kind <= PART and true.kind != ASIDE)
    if not whole and predicted.kind != WHOLE:
        return NONE
    if true.squashed == predicted.squashed:
        return SAME
    if true.squashed[-1] != predicted.squashed[-1]:
        return NONE
    if _has_initial_of(predicted, true):
        return SHORT
    if _has_initial_of(true, predicted):
        return LONG
    if ASIDE in (true.kind, predicted.kind):
        return NONE
    if predicted.kind == WHOLE and _PARTED.search(predicted.text):
        return NONE  # Other Song - Ann ends with no Song (Ann)
    if len(predicted.squashed) > len(true.squashed):
        front = predicted.find_front(true)
        return LONG if front is not None and _may_be_added(front) else NONE
    front = true.find_front(predicted)
    missing = front is not None and _may_be_missing(front, predicted.squashed, titles)
    return SHORT if missing else NONE


def _has_initial_of(short: Form, full: Form) -> bool:
    """Whether all that differs is a first name's initial: `N. Djokovic`, `Novak Djokovic`."""
    if short.text[1:2] != "." or short.text[0] != full.text[0]:
        return False
    first = full.text.find(" ")
    surname = next((at for at, begin in full.pieces if begin > first > 0), 0)
    return len(short.squashed) > 1 and full.squashed[surname:] == short.squashed[1:]


# --- Lists ---

_WORD: Final = re.compile("[a-z]+")
_FILMS: Final = {"film", "movie", "series", "show", "drama", "anime", "game"}
_SONGS: Final = {"song", "single", "track", "album"}
_PEOPLE: Final = {
    *("who", "player", "person", "people", "author", "winner", "laureate", "actor", "actress"),
    *("singer", "driver", "rider", "golfer", "skater", "swimmer", "athlete", "candidate"),
    "billionaire",
}
_STYLE_WORDS: Final = (*_FILMS, *_SONGS, *_PEOPLE)
_FILMS_CJK: Final = re.compile("电影|影片|剧|综艺|动画|动漫|游戏|票房|番")
_SONGS_CJK: Final = re.compile("歌|曲|专辑")
_PEOPLE_CJK: Final = re.compile("谁|选手|球员|作家|得主|富豪|演员|歌手|人物")


def find_style(question: str) -> NameStyle:
    """The style of the words of a question."""
    lowered = question.lower()
    words = set[str]()
    if any(map(lowered.__contains__, _STYLE_WORDS)):  # a glance
        words.update(_WORD.findall(lowered))
        words.update([word.removesuffix("s") for word in words])
    elif question.isascii():
        return NO_STYLE
    chinese = "" if question.isascii() else question
    songs = words & _SONGS or _SONGS_CJK.search(chinese)
    films = not songs and (words & _FILMS or _FILMS_CJK.search(chinese))
    people = words & _PEOPLE or _PEOPLE_CJK.search(chinese)
    titles = bool(films or songs) and not people  # the women's singles are no songs
    return NameStyle(bool(films), bool(people), titles)


def find_sides(predicted: Sequence[Name], style: NameStyle) -> tuple[str, ...]:
    """The sides of its dashes by which a list may be read: all by their fronts, or all by their
    ends.

    `guess - other guess` on every item would name two things for each place.
    """
    dashes = sum([name.has_dash for name in predicted])
    if not dashes:
        return ("front",)
    if style.subtitles and not dashes == len(predicted) > 1:
        return ("end",)
    return ("front", "end")


Pairs = Collection[tuple[str, str]]  # keys of a true and a predicted name that are known to be same


def match_names(
    truth: Sequence[Name],
    predicted: Sequence[Name],
    side: str = "front",
    style: NameStyle = NO_STYLE,
    known: Pairs = (),
) -> dict[int, int]:
    """By the place of a true name the place of the predicted one that means it, each once.

    True names with an exact match choose first, then those with the fewest candidates; each takes
    the strongest, its own place among equals.
    """
    candidates: list[dict[int, int]] = [{} for _ in truth]
    index = _index_names(tuple(truth))
    for place, name in enumerate(predicted):
        for true, likeness in _find_meanings(truth, index, name, side, style, known).items():
            candidates[true][place] = likeness
    order = sorted(
        [true for true, places in enumerate(candidates) if places],
        key=lambda true: (EXACT not in candidates[true].values(), len(candidates[true])),
    )
    matches: dict[int, int] = {}
    taken = set[int]()
    for true in order:
        free = [
            (like, place == true, -place)
            for place, like in candidates[true].items()
            if place not in taken
        ]
        if free:
            matches[true] = -max(free)[2]
            taken.add(matches[true])
    return matches


Index = tuple[dict[str, list[int]], dict[str, list[int]]]


@lru_cache(maxsize=1 << 12)
def _index_names(truth: tuple[Name, ...]) -> Index:
    """The places of true names by their keys, and by the letters that their forms end with."""
    by_key: dict[str, list[int]] = {}
    by_end: dict[str, list[int]] = {}
    for place, name in enumerate(truth):
        by_key.setdefault(name.key, []).append(place)
        for end in name.ends(""):
            by_end.setdefault(end, []).append(place)
    return by_key, by_end


def _find_meanings(
    truth: Sequence[Name], index: Index, name: Name, side: str, style: NameStyle, known: Pairs
) -> dict[int, int]:
    """The true names that a predicted one may mean, each with its likeness."""
    by_key, by_end = index
    if name.key in by_key:
        return dict.fromkeys(by_key[name.key], EXACT)
    ends = name.ends(side, style.people)
    meanings: dict[int, int] = {}
    for place in {place for end in ends if end in by_end for place in by_end[end]}:
        if likeness := compare_names(truth[place], name, side, style):
            meanings[place] = likeness
    if known:
        meanings |= {n: SAME for n, true in enumerate(truth) if (true.key, name.key) in known}
    if not meanings:
        return meanings
    if len(meanings) > 1 and SHORT in meanings.values():
        near = {
            truth[place].key for place, likeness in meanings.items() if likeness in (SHORT, SAME)
        }
        if len(near) > 1:
            return {}
    if LONG in meanings.values():
        others = [true.key for place, true in enumerate(truth) if place not in meanings]
        if any(_begins_with(name.key, key) for key in others):
            return {}
    return meanings


def _begins_with(key: str, other: str) -> bool:
    """Whether a name begins with another: `Quill Falcon` names two."""
    rest = key.removeprefix(other)
    return rest != key and (not rest[0].isalnum() or bool(IS_CJK.match(rest)))
