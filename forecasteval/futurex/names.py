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
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from forecasteval.common.doubts import CROSSES, DENIALS, DENIALS_CJK, find_doubt

from .answers import question_words

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
    if _QUOTES.search(folded):
        folded = _QUOTES.sub("", folded)
    return folded.rstrip(" .。\n").lstrip("@ \n")


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
_OR_ELSE: Final = re.compile(r"(?:not|but|either|never|except|probably|likely)\b|不是", re.I)
_DASH: Final = re.compile(r"\s[-–—]+\s+(?!or\s|或)|(?<=[》”\"」』])\s?[-–—]+\s*")
_BY: Final = re.compile(r"\sby\s", re.I)
_SMALL_WORDS: Final = frozenset({"of", "the"})  # without a letter in the initials
# SEREMES Jonathan, VAN DER POEL Mathieu, Djokovic N.; and of people Krasznahorkai László
_SURNAME_FIRST: Final = re.compile(
    r"(?P<surname>(?:[A-Z][A-Z'’-]+\s)+(?=[A-Z][a-z])|[A-Z][\w'’-]+\s(?=[A-Z]\.))(?P<first>\S+)"
)
_TWO_WORDS: Final = re.compile(
    r"(?P<surname>[^\W\d_a-z][^\W\d_]+)\s(?P<first>[^\W\d_a-z][^\W\d_]+)"
)
WHOLE, PART, BARE, ASIDE = range(4)
# By the form of a true name those of a prediction that it may be compared with. One of them must be
# whole, and a bracket of the truth stands against all of an answer: `Dune (1984)` is not
# `Dune (2021)`, `Other Song - Ann` is not `Song (Ann)`.
_COMPARABLE: Final = {WHOLE: (WHOLE, PART, BARE, ASIDE), BARE: (WHOLE, PART), ASIDE: (WHOLE,)}
_IN_WORD: Final = re.compile(rf"[^\W_{CJK}]-?\Z")  # Moth-Man ends with no Man


class Form(NamedTuple):
    """A form of a name: folded, and `squashed` without punctuation and blanks; `origins` says where
    in the text each letter of that stands.
    """

    text: str
    squashed: str
    origins: Sequence[int]
    kind: int

    def find_front(self, end: Form) -> str | None:
        """What stands in front of another form at this one's end; None if it is not there, or only
        within a word.
        """
        cut = len(self.squashed) - len(end.squashed)
        if not self.squashed.endswith(end.squashed) or self.squashed[cut - 1] == ".":
            return None  # 3.5 ends with no 5
        if not any(map(str.isalpha, end.squashed)):
            return None  # 2 is not Frozen 2
        front = self.text[: self.origins[cut]]
        if IS_CJK.match(end.squashed):
            within = len(end.squashed) == 1 and IS_CJK.match(front[-1])
        else:
            within = _IN_WORD.search(front, len(front) - 2)
        return None if within else front


def _make_form(text: str, kind: int) -> Form | None:
    text = _fold_case(text)
    squashed = ""
    origins: list[int] = []
    for piece in _PIECE.finditer(text):
        word = "and" if piece[0] == "&" else piece[0]
        if word[0].isdigit() and squashed[-1:].isdigit():
            squashed += "."
            origins.append(piece.start())
        squashed += word
        origins += range(piece.start(), piece.start() + len(word))
    return Form(text, squashed, origins, kind) if squashed else None


def _make_forms(text: str, kind: int, predicted: bool) -> Iterator[Form | None]:
    """The form of a text, of the text without its brackets, and of what they hold."""
    yield _make_form(text, kind)
    brackets = [next(filter(None, groups), "") for groups in _BRACKETED.findall(text)]
    if not brackets or (predicted and any(map(_names_another, brackets))):
        return
    bare = _drop_brackets(text)
    yield _make_form(bare, BARE)
    if len(brackets) > 1:  # X (Live) (2025)
        yield _make_form(text[: max(map(text.rfind, "([【"))], BARE)
    elif not predicted or _may_be_alias(fold(brackets[0]), fold(bare)):
        yield _make_form(brackets[0], ASIDE)


def _names_another(inside: str) -> bool:
    """Whether brackets behind a name take it back."""
    return bool(_OR_ELSE.match(inside) or find_doubt(inside))


def _drop_brackets(text: str) -> str:
    return _BRACKETED.sub(" ", text).strip()


class Name(NamedTuple):
    """A name as it compares: its `key`, and `letters`, the key without blanks, of one that is words
    alone in one form.
    """

    text: str
    key: str
    letters: str = ""


@lru_cache(maxsize=1 << 15)
def _find_forms(text: str, side: str, prompt: str) -> tuple[Form, ...]:
    """The forms of a true name (side ""), or of a prediction of which the "front" of its dashes
    counts, or the "end"; where the prompt asks for people, it may have the surname first.
    """
    made = list(_make_forms(text, WHOLE, bool(side)))
    for part in _find_parts(text, side) if side else ():
        made += _make_forms(part, PART, True)
    bare = _drop_brackets(text)
    turned = _SURNAME_FIRST.fullmatch(bare)
    if not turned and (two := side and _TWO_WORDS.fullmatch(bare)) and find_style(prompt).people:
        turned = two
    if turned:
        made.append(_make_form(f"{turned['first']} {turned['surname']}", ASIDE))
    return tuple(form for form in made if form)


def _find_parts(text: str, side: str) -> Iterator[str]:
    yield from (text[: cut.start()] for cut in list(_BY.finditer(text))[-1:])
    dashes = list(_DASH.finditer(text))[:3]
    if side == "front":
        yield from (text[: dash.start()] for dash in dashes[:1])
    else:
        yield from (text[dash.end() :] for dash in dashes)


@lru_cache(maxsize=1 << 15)  # a name of the truth stands in many answers
def parse_name(text: str) -> Name:
    """The name's comparable form; `text` is expected to be cleaned.

    >>> parse_name('《Panda  Plan》.').key, parse_name("许 二 木").key, parse_name("Zoë").key
    ('panda plan', '许二木', 'zoe')
    """
    bare = text.rstrip(" .。")
    if not bare.replace(" ", "").isalnum() or " by " in bare.lower():
        return Name(text, key_of(fold(text)))
    key = bare.lower() if bare.isascii() else key_of(fold(text))
    turned = bare[:2].isupper() or (bare != text and bare[-2:-1] == " ")  # SEREMES Ann, Hart U.
    return Name(text, key, "" if turned else key.replace(" ", ""))


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
    rf"(?a:\b(?:{DENIALS}|or|over|no(?!\.?\s*[0-9])|but|vs?|versus|either|n/a|they|others"
    r"|replac(?:es|ing)|aka|alias|after|hardly|then|by|than|opponents?|could|might|may\sbe"
    # beside CJK characters, too
    r"|probably|perhaps|maybe|possibly|likely|unlikely|wrong|fade|avoid|beats?|defeats?"
    r"|ahead\s+of)\b)"
    # Son of Saul, Return of the King; but City of Austin
    r"|(?a:(?<!city)(?<!state)(?<!university)(?<!republic)(?<!kingdom)\sof(?:\sthe)?)\s*\Z"
    r"|(?a:\band)\s*\Z|\w\s[0-9]{1,3}[.)]\s?\Z|(?<![0-9])[、。]|\s-|[–—―⸺]"
    r"|[^\w\s.:/#'()\[\]{}【】·*%$€£¥®©°、。-]"  # + | @ = & , ; ? → ≈ … part two names
    rf"|(?:{DENIALS_CJK}|或者?|而是|可能|击败|战胜|取代|替代|(?<=\w)(?:和|与|以及|还是))\Z"
)
_OTHER_NAME: Final = re.compile(r"\s\S*/|/\s|[^\x00-\x7f]/")  # Hart / Solberg, but not a/b
_LEAD_IN: Final = re.compile(r"\A\w+\.?(?:\s\w+)?:\s+")  # GitHub: owner/repo
# ● ■ ▶ +: nothing stands in front of it
_BULLET: Final = re.compile(rf"[^\w!?¬≠{CROSSES},;、。(\[【]*")
# Solberg?, !Solberg, ❌ Solberg; but a title may be a question
_DENYING: Final = re.compile(rf"\W*[!¬≠{CROSSES}]|.*[?{CROSSES}]\W*\Z", re.S)
_QUESTION: Final = re.compile(
    r"\W*(?:(?:who|whose|what|when|where|why|which|how|is|are|am|do|does|did|can|could|will|would"
    r"|should|have|has|may)\b|谁|什么|怎么|为什么|哪|几)",
    re.I,
)


def _may_be_added(front: str) -> bool:
    """Whether a prediction may have this in front of a name: a brand, a first name, a rank."""
    front = _BULLET.sub("", front, count=1)
    slashed = _OTHER_NAME.search(_LEAD_IN.sub("", front))
    if slashed or _is_open(front) or _HEDGE.search(front):
        return False
    return len(front.split()) <= 3 and len(IS_CJK.findall(front)) <= 6


def _may_be_missing(front: str, rest: str, prompt: str) -> bool:
    """Whether a prediction may lack this in front of a name: a word, or no more than is left. A
    word is too much of a title: `Hours` is not `Velvet Hours`.
    """
    if _is_open(front):
        return False
    cjk = len(IS_CJK.findall(front))
    word = cjk <= 3 if cjk else " " not in front.strip()
    word = word or front.rstrip().endswith(("-", "–", "—", ":", "/"))
    enough = sum(map(str.isalpha, rest)) >= sum(map(str.isalpha, front))
    return enough or (word and not find_style(prompt).titles)


def _is_open(front: str) -> bool:
    """Whether a text ends within brackets."""
    return any(
        front.count(opened) != front.count(closed) for opened, closed in ("()", "[]", "【】")
    )


def compare_names(true: Name, predicted: Name, side: str = "front", prompt: str = "") -> int:
    """How like two names are in a question, from NONE to EXACT."""
    if true.key == predicted.key:
        return EXACT
    here, there = true.letters, predicted.letters
    if (  # a glance: no other end, and not turned
        here
        and there
        and not (here.endswith(there) or there.endswith(here))
        and (len(here) != len(there) or here not in there + there)
    ):
        return NONE
    if not predicted.letters and _is_denied(predicted.text, true.text):
        return NONE
    likeness = NONE
    for form in _find_forms(true.text, "", ""):
        for other in _find_forms(predicted.text, side, prompt):
            if form.squashed[-1] == other.squashed[-1] and other.kind in _COMPARABLE[form.kind]:
                likeness = max(likeness, _compare_forms(form, other, prompt))
    return likeness


def _is_denied(predicted: str, true: str) -> bool:
    """Whether a mark denies a predicted name that the true one has not."""
    return bool(_DENYING.match(predicted) and not (_DENYING.match(true) or _QUESTION.match(true)))


def _compare_forms(true: Form, predicted: Form, prompt: str) -> int:
    """How like two forms are that may be compared and end alike."""
    if true.squashed == predicted.squashed:
        return SAME
    if _has_initial_of(predicted, true):
        return SHORT
    if _has_initial_of(true, predicted):
        return LONG
    if ASIDE in (true.kind, predicted.kind):
        return NONE
    if len(predicted.squashed) > len(true.squashed):
        front = predicted.find_front(true)
        return LONG if front is not None and _may_be_added(front) else NONE
    front = true.find_front(predicted)
    missing = front is not None and _may_be_missing(front, predicted.squashed, prompt)
    return SHORT if missing else NONE


def _has_initial_of(short: Form, full: Form) -> bool:
    """Whether all that differs is a first name's initial: `N. Djokovic`, `Novak Djokovic`."""
    if short.text[1:2] != "." or short.text[0] != full.text[0]:
        return False
    first = full.text.find(" ")
    surname = next((at for at, begin in enumerate(full.origins) if begin > first > 0), 0)
    return len(short.squashed) > 1 and full.squashed[surname:] == short.squashed[1:]


# --- Lists ---

_FILMS: Final = re.compile(
    r"(?<![a-z])(?:film|movie|series|show|drama|anime|game)s?(?![a-z])"
    r"|电影|影片|剧|综艺|动画|动漫|游戏|票房|番",
    re.I,
)
_SONGS: Final = re.compile(r"(?<![a-z])(?:song|single|track|album)s?(?![a-z])|歌|曲|专辑", re.I)
_PEOPLE: Final = re.compile(
    r"(?<![a-z])(?:who|player|person|people|author|winner|laureate|actor|actress|singer|driver"
    r"|rider|golfer|skater|swimmer|athlete|candidate|billionaire)s?(?![a-z])"
    r"|谁|选手|球员|作家|得主|富豪|演员|歌手|人物",
    re.I,
)


class NameStyle(NamedTuple):
    """What a question asks for, as far as names compare by it: `subtitles`: behind a dash stands
    the rest of a title; `people`: the surname may stand first; `titles` of films or songs.
    """

    subtitles: bool
    people: bool
    titles: bool


@lru_cache(maxsize=1 << 12)
def find_style(prompt: str) -> NameStyle:
    """The style of a question."""
    question = question_words(prompt)
    songs, people = bool(_SONGS.search(question)), bool(_PEOPLE.search(question))
    films = not songs and bool(_FILMS.search(question))
    return NameStyle(films, people, (films or songs) and not people)  # women's singles are no songs


def find_sides(predicted: Sequence[Name], prompt: str) -> tuple[str, ...]:
    """The sides of its dashes by which a list may be read: all by their fronts, or all by their
    ends.

    `guess - other guess` on every item would name two things for each place.
    """
    dashed = [name for name in predicted if not name.letters and _DASH.search(name.text)]
    if not dashed:
        return ("front",)
    if find_style(prompt).subtitles and not len(dashed) == len(predicted) > 1:
        return ("end",)
    return ("front", "end")


Pairs = Collection[tuple[str, str]]  # keys of a true and a predicted name that are known to be same


def match_names(
    truth: Sequence[Name], predicted: Sequence[Name], prompt: str = "", known: Pairs = ()
) -> dict[int, int]:
    """By the place of a true name the place of the predicted one that means it, each once: by that
    side of the dashes which matches more, of equal ones that which matches all in their places.
    """
    sides = find_sides(predicted, prompt)
    matches = [_match_side(truth, predicted, side, prompt, known) for side in sides]
    return max(matches, key=lambda match: (len(match), list(match) == list(match.values())))


def _match_side(
    truth: Sequence[Name], predicted: Sequence[Name], side: str, prompt: str, known: Pairs
) -> dict[int, int]:
    """True names with an exact match choose first, then those with the fewest candidates; each
    takes the strongest, its own place among equals.
    """
    exact: dict[str, list[int]] = {name.key: [] for name in truth}
    candidates: dict[int, dict[int, int]] = {}
    for place, name in enumerate(predicted):
        if name.key in exact:
            exact[name.key].append(place)
        else:
            for true, likeness in _find_meanings(truth, name, side, prompt, known).items():
                candidates.setdefault(true, {})[place] = likeness
    matches = {}
    for true, name in enumerate(truth):
        if places := exact[name.key]:
            matches[true] = places.pop(places.index(true) if true in places else 0)
    taken = set[int]()
    for true in sorted(candidates.keys() - matches, key=lambda true: (len(candidates[true]), true)):
        free = [
            (likeness, place == true, -place)
            for place, likeness in candidates[true].items()
            if place not in taken
        ]
        if free:
            matches[true] = -max(free)[2]
            taken.add(matches[true])
    return matches


def _find_meanings(
    truth: Sequence[Name], name: Name, side: str, prompt: str, known: Pairs
) -> dict[int, int]:
    """The true names that a predicted one may mean, each with its likeness."""
    meanings = {}
    for place, true in enumerate(truth):
        same = known and (true.key, name.key) in known
        if likeness := SAME if same else compare_names(true, name, side, prompt):
            meanings[place] = likeness
    if not meanings:
        return meanings
    if SHORT in meanings.values():
        near = {truth[place].key for place in meanings if meanings[place] in (SHORT, SAME)}
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
