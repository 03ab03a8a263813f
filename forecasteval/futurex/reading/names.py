"""Names: the form in which they compare, how like two of them are, and which of
    two lists match.

A name is a small set of forms: whole, without its brackets, what its brackets hold; of
a prediction also what stands in front of ` by ` and on either side of its dashes. Of
two names some forms may be compared, and the strongest likeness counts:

    exact   the names are equal, case, quotes and accents aside
    same    two forms are equal, punctuation and blanks aside
    long    the predicted form ends with the true one, and what stands in
    front may be added
    short   the true form ends with the predicted one, and what stands in front
    may be missing
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from forecasteval.common.patterns import lazy, split_words

from .countries import name_country
from .language import CJK_RANGES, count_cjk, is_cjk, table_of, words
from .negation import CROSSES, takes_back
from .walk import AND, NOT, split_front
from .wording import NO_WORDING, Wording

_CJK: Final = "".join(f"{first}-{last}" for first, last in CJK_RANGES)
NONE, SHORT, LONG, SAME, EXACT = range(5)

# --- Keys ---

_QUOTES: Final = lazy(r"[\"'“”‘’„«»《》〈〉「」『』`´]")
_ACCENTED: Final = lazy(r"[\u00d7\u00df-\u024f\u1e00-\u1eff]")
_FOLDED: Final = str.maketrans("•・‧∙⋅øłđ", "·····old")
# Words alone, in one form: no ` by `, no surname in front (SEREMES Ann, Hart U.)
# or in capitals
_PLAIN: Final = lazy(
    r"(?![A-Z]{2})[^\W_](?:[\w ]*[^\W_])?[ .。]*(?<!\s\w\.)(?<!\s[JS]r)(?<!\s[JS]r\.)"
)
_LEGAL: Final = split_words(
    "Inc, inc, INC, Corp, corp, CORP, Corporation, corporation, Ltd, ltd, LTD, Plc, "
    "plc, PLC, AG"
)
# Behind a blank, 公司 also directly and 集团 behind two characters
_LEGAL_FORM: Final = lazy(
    rf"(?:(?<=\S)(?:,\s?|\s)(?:{'|'.join(_LEGAL)}))+[.。\s]*\Z"
    rf"|(?<=[{_CJK}])(?:集团)?(?:(?:股份)?有限(?:责任)?)?公司\Z|(?<=[{_CJK}]{{2}})集团\Z"
)
_LEGAL_ENDS: Final = (*_LEGAL, "公司", "集团")


def _drop_legal_form(text: str) -> str:
    if not text.rstrip(" .。\n").endswith(_LEGAL_ENDS):  # most
        return text
    return _LEGAL_FORM.sub("", text)


def fold(text: str) -> str:
    """Drop what does not matter in a name: case, accents, quotes, slashes, a leading
    `@`, trailing full stops.
    """
    return " ".join(_fold_case(text).replace("/", " ").split())


def _fold_case(text: str) -> str:
    """Fold a text, but for its slashes and blanks."""
    folded = _QUOTES.sub("", text.casefold())
    if not folded.isascii():
        folded = _ACCENTED.sub(
            lambda one: unicodedata.normalize("NFKD", one[0])[0], folded
        )
        folded = folded.translate(_FOLDED)
    return folded.rstrip(" .。\n").lstrip("@ \n")


def key_of(spaced: str) -> str:
    """Drop the spaces beside CJK characters in a folded name."""
    if spaced.isascii() or " " not in spaced:  # most
        return spaced
    key, *words = spaced.split(" ")
    for word in words:
        is_glued = is_cjk(key[-1:]) or is_cjk(word[:1])
        key += word if is_glued else f" {word}"
    return key


class Name(NamedTuple):
    """A name as it compares: its `key`, and `letters`. These are the key without
    blanks, of a name that is words alone in one form.
    """

    text: str
    key: str
    letters: str = ""


@lru_cache(maxsize=1 << 15)  # a name of the truth stands in many answers
def parse_name(text: str) -> Name:
    """Make the comparable form of a cleaned name.

    >>> parse_name('《Panda  Plan》.').key, parse_name("许 二 木").key, parse_name("Zoë").key
    ('panda plan', '许二木', 'zoe')
    """  # noqa: E501
    key = key_of(fold(name_country(_drop_legal_form(text))))
    is_surname_last = text[-2:].isupper()
    if is_surname_last or not _PLAIN.fullmatch(text) or " by " in text.lower():
        return Name(text, key)
    return Name(text, key, key.replace(" ", ""))


# --- Forms ---

_PIECE: Final = lazy(r"&|[^\s.,:;!?·()\[\]【】…/&_–—-]+")
_BRACKETED: Final = lazy(r"\(([^()]*)\)|\[([^\[\]]*)\]|【([^【】]*)】")
_DASH: Final = lazy(r"\s[-–—]+\s+(?!or\s|或)|(?<=[》”\"」』])\s?[-–—]+\s*")
_BY: Final = lazy(r"(?i)\sby\s")
# SEREMES Jonathan, VAN DER POEL Mathieu, Djokovic N.
_SURNAME_FIRST: Final = lazy(
    r"((?:[A-Z][A-Z'’-]+\s)+(?=[A-Z][a-z])|[A-Z][\w'’-]+\s(?=[A-Z]\.))(\S+)"
)
# Lin HARU, who is Haru Lin where the family name comes first
_SURNAME_LAST: Final = lazy(r"([A-Z][\w'’-]*[a-z])\s([A-Z][A-Z'’-]+)")
_BETWEEN_DIGITS: Final = lazy("(?<=[0-9]) (?=[0-9])")
# Moth-Man ends with no Man, 3.5 with no 5
_IN_WORD: Final = lazy(r"[^\W\d_]-\Z|[0-9][.]\Z")
_SMALL_WORDS: Final = ("of", "the")  # without a letter in the initials
WHOLE, PART, BARE, ASIDE = range(4)


def is_surname_printed(text: str) -> bool:
    """Return whether a name prints its family name in capitals: Lin HARU, HARU Lin."""
    return bool(_SURNAME_FIRST.fullmatch(text) or _SURNAME_LAST.fullmatch(text))


class Form(NamedTuple):
    """A form of a name, in three writings. It is folded; its words (each CJK character
    is one) have their beginnings; and all of them are one, with a point
    between two numbers.
    """

    text: str
    words: list[str]
    begins: list[int]
    squashed: str
    kind: int

    def find_front(self, end: Form) -> str | None:
        """Find what stands in front of another form at this one's end. None if it is
        not there, or only within a word.
        """
        cut = len(self.words) - len(end.words)
        has_letter = any(map(str.isalpha, end.squashed))  # 2 is not Frozen 2
        if not has_letter or self.words[cut:] != end.words:
            return None
        front = self.text[: self.begins[cut]]
        if len(end.squashed) == 1 and is_cjk(front[-1]):
            return None
        if not _IN_WORD.search(front, len(front) - 2) or is_cjk(front[-2]):
            return front
        return None


def _split_words(text: str) -> list[tuple[str, int]]:
    """Split a folded name into words, each with its beginning; each CJK
    character is one.
    """
    words = []
    for piece in _PIECE.finditer(text):
        begin = piece.start()
        if piece[0].isascii():  # most
            words.append((piece[0], begin))
            continue
        for kind, chars in groupby(piece[0], is_cjk):
            run = "".join(chars)
            if kind:
                words += [
                    (char, at) for at, char in enumerate(run, begin) if char.isalnum()
                ]
            else:
                words.append((run, begin))
            begin += len(run)
    return words


def _make_forms(text: str, kind: int, predicted: bool) -> Iterator[tuple[str, int]]:
    """Yield a text, the text without its brackets, and what they hold."""
    yield text, kind
    brackets = ["".join(groups) for groups in _BRACKETED.findall(text)]
    if not brackets or (predicted and any(map(_offers_other, brackets))):
        return
    bare = _BRACKETED.sub(" ", text).strip()
    yield bare, BARE
    if len(brackets) > 1:  # X (Live) (2025)
        yield text[: max(map(text.rfind, "([【"))], BARE
    elif not predicted or _may_be_alias(fold(brackets[0]), fold(bare)):
        yield brackets[0], ASIDE


def _offers_other(inside: str) -> bool:
    """Return whether brackets deny a name or hold another guess: `(or Hart)`,
    `(wrong)`. The country `(NOR)` is none, nor is `(possibly rising)`.
    """
    kind, rest = split_front(inside)
    if inside.isupper():
        return False
    if kind == NOT or (kind != AND and not rest[:1].islower()):
        return True
    return takes_back(f" ({inside})")


def _may_be_alias(inside: str, outside: str) -> bool:
    """Return whether brackets can hold another name of the thing; `guess
    (guess)` names two.
    """
    if inside.isascii() != outside.isascii():
        return True
    words = [word for word, _ in _split_words(inside)]
    others = [word for word, _ in _split_words(outside)]
    if not set(words).isdisjoint(others):
        return True
    return _are_initials(words, others) or _are_initials(others, words)


def _are_initials(short: Sequence[str], full: Sequence[str]) -> bool:
    """Return whether words are the initials of others: `UN`, `United Nations`."""
    initials = [word[0] for word in full if word not in _SMALL_WORDS]
    return "".join(short) == "".join(initials)


@lru_cache(maxsize=1 << 15)
def _find_forms(text: str, side: str) -> tuple[Form, ...]:
    """Find the forms of a true name, or of one side of a prediction. `side` is "" for a
    true name, else "front" or "end": what counts of the dashes.
    """
    made = [*_make_forms(text, WHOLE, bool(side))]
    for part in _split_sides(text, side):
        made += _make_forms(part, PART, True)
    turned = [_SURNAME_FIRST.fullmatch(_BRACKETED.sub("", text).strip())]
    if not side:
        turned.append(_SURNAME_LAST.fullmatch(text))
    made += [(f"{names[2]} {names[1]}", ASIDE) for names in turned if names]
    forms = [_make_form(part, kind) for part, kind in made]
    return tuple(form for form in forms if form.words)


def _split_sides(text: str, side: str) -> Iterator[str]:
    """Yield what stands in front of ` by ` in a prediction, and on a side
    of its dashes.
    """
    if not side:
        return
    for cut in [*_BY.finditer(text)][-1:]:
        yield text[: cut.start()]
    dashes = [*_DASH.finditer(text)][:3]
    if side == "front" and dashes:
        yield text[: dashes[0].start()]
    elif side == "end":
        for dash in dashes:
            yield text[dash.end() :]


def _make_form(text: str, kind: int) -> Form:
    folded = _fold_case(name_country(_drop_legal_form(text).strip()))
    pieces = _split_words(folded)
    words = [word.replace("&", "and") for word, _ in pieces]
    begins = [begin for _, begin in pieces]
    squashed = _BETWEEN_DIGITS.sub(".", " ".join(words)).replace(" ", "")
    return Form(folded, words, begins, squashed, kind)


# --- Likeness ---

# What must not stand in front of a name: it would name two, or deny one.
_HEDGES: Final = frozenset(words("denials", "guesses", "but", "parting"))
_HEDGES_CJK: Final = tuple(word for word in _HEDGES if not word.isascii())
_JOINTS_CJK: Final = ("和", "与", "以及")  # in front of the last of a list
# City of Austin
_PLACES: Final = ("city", "state", "university", "republic", "kingdom")
_WORD: Final = lazy("[a-z/]+")
_RANKED: Final = lazy(r"\bno\.?\s*[0-9]+")
# Marks that part two names: +, |, @, =, &, a dash, Hart / Solberg
_PARTING: Final = lazy(
    r"\w\s[0-9]{1,3}[.)]\s?\Z|(?<![0-9])[、。]|\s-|[–—―⸺]|(?<!:)\s\S*/|/\s|[^\x00-\x7f]/"
    r"|[^\w\s.:/#'()\[\]{}【】·*%$€£¥®©°、。-]"
)
_OPEN: Final = lazy(r"[(\[【][^)\]】]*\Z")  # within brackets
# ● ■ ▶ +: nothing stands in front of it
_BULLET: Final = lazy(rf"\A[^\w!?¬≠{CROSSES},;、。(\[【]+")
_DENYING: Final = lazy(rf"\W{{0,3}}[!¬≠{CROSSES}]")
_QUESTIONS: Final = table_of("questions")  # a title may be one
_FILMS: Final = lazy(
    r"(?i)(?<![a-z])(?:film|movie|series|show|drama|anime|game)s?(?![a-z])"
    r"|电影|影片|剧|综艺|动画|动漫|游戏|票房|番"
)
_SONGS: Final = lazy(r"(?i)(?<![a-z])(?:song|single|track|album)s?(?![a-z])|歌|曲|专辑")
_PEOPLE: Final = lazy(
    r"(?i)(?<![a-z])(?:who|player|person|people|author|winner|laureate|actor|actress|singer|driver"
    r"|rider|golfer|skater|swimmer|athlete|candidate|billionaire)s?(?![a-z])"
    r"|谁|选手|球员|作家|得主|富豪|演员|歌手|人物"
)


class NameStyle(NamedTuple):
    """What a question asks for: `titles` of films or songs, or names. With `subtitles`,
    the rest of a title stands behind a dash.
    """

    titles: bool
    subtitles: bool


def find_style(words: str) -> NameStyle:
    """Find the style of a question."""
    songs = bool(_SONGS.search(words))
    films = not songs and bool(_FILMS.search(words))
    # Women's singles are no songs.
    return NameStyle((films or songs) and not _PEOPLE.search(words), films)


def compare_names(
    true: Name, predicted: Name, side: str = "front", wording: Wording = NO_WORDING
) -> int:
    """Measure how like two names are in a question, from NONE to EXACT (rule 8)."""
    if true.key == predicted.key:
        return EXACT
    here, there = true.letters, predicted.letters
    if here and there and not (here.endswith(there) or there.endswith(here)):
        return NONE  # a glance
    if not there and _is_denied(predicted.text) and not _is_denied(true.text):
        return NONE
    likeness = NONE
    for form in _find_forms(true.text, ""):
        for other in _find_forms(predicted.text, side):
            # One of them must be whole, and a bracket of the truth stands against all
            # of an answer: `Dune (1984)` is not `Dune (2021)`, `Other Song - Ann` is
            # not `Song (Ann)`.
            kinds = form.kind, other.kind
            may_be_same = WHOLE in kinds or kinds == (BARE, PART)
            if may_be_same and form.squashed[-1] == other.squashed[-1]:
                likeness = max(likeness, _compare_forms(form, other, wording))
    return likeness


def _is_denied(text: str) -> bool:
    """Return whether a name is denied or asked: `!Solberg`, `Solberg?`,
    not `Who Knows?`.
    """
    if _DENYING.match(text):
        return True
    return text.endswith(("?", "？", *CROSSES)) and not _QUESTIONS.find(text)


def _compare_forms(true: Form, predicted: Form, wording: Wording) -> int:
    """Measure how like two forms are that may be compared."""
    if true.squashed == predicted.squashed:
        return SAME
    ends = true.words[1:]
    if ends and ends == predicted.words[1:] and true.text[0] == predicted.text[0]:
        if predicted.text[1:2] == ".":  # N. Djokovic
            return SHORT
        if true.text[1:2] == ".":
            return LONG
    if ASIDE in (true.kind, predicted.kind):
        return NONE
    if len(predicted.words) > len(true.words):
        front = predicted.find_front(true)
        is_added = front is not None and _may_be_added(front)
        return LONG if is_added else NONE
    front = true.find_front(predicted)
    is_missing = front is not None and _may_be_missing(
        front, predicted.squashed, wording
    )
    return SHORT if is_missing else NONE


def _may_be_added(front: str) -> bool:
    """Return whether a prediction may have these words in front of a name: a
    brand, a rank.
    """
    front = _BULLET.sub("", front[-120:])
    words = _WORD.findall(_RANKED.sub("", front))
    if len(front.split()) > 3 or count_cjk(front) > 6:
        return False
    if words[-1:] == ["and"] or _names_other(words):
        return False
    if not _HEDGES.isdisjoint(words):
        return False
    if _PARTING.search(front) or _OPEN.search(front):
        return False
    return front.strip() in _JOINTS_CJK or not front.rstrip().endswith(_HEDGES_CJK)


def _names_other(words: Sequence[str]) -> bool:
    """Return whether words end with an `of` that makes another thing: Son of,
    Return of the.
    """
    before = [word for word in words if word != "the"]
    if before[-1:] != ["of"]:
        return False
    return not (len(before) > 1 and before[-2] in _PLACES)


def _may_be_missing(front: str, rest: str, wording: Wording) -> bool:
    """Return whether a prediction may leave out these words in front of a name. It may
    leave out one word, or no more than is left.
    """
    front = front[-120:].strip()
    if _OPEN.search(front):
        return False
    if sum(map(str.isalpha, rest)) >= sum(map(str.isalpha, front)):
        return True
    if wording.ask(find_style).titles:
        return False
    cjk = count_cjk(front)
    is_word = cjk <= 3 and (cjk > 0 or " " not in front)
    return is_word or front.endswith(("-", "–", "—", ":", "/"))


# --- Lists ---


def find_sides(predicted: Sequence[Name], wording: Wording) -> tuple[str, ...]:
    """Choose the sides of its dashes by which a list may be read. All names are read by
    their fronts, or all by their ends.

    `guess - other guess` on every item would name two things for each place.
    """
    dashed = [
        name for name in predicted if not name.letters and _DASH.search(name.text)
    ]
    if not dashed:
        return ("front",)
    are_all_dashed = len(dashed) == len(predicted) > 1
    if are_all_dashed or not wording.ask(find_style).subtitles:
        return ("front", "end")
    return ("end",)


# Keys of a true and a predicted name that are known to be same
Pairs = Collection[tuple[str, str]]


def match_names(
    truth: Sequence[Name],
    predicted: Sequence[Name],
    wording: Wording = NO_WORDING,
    known: Pairs = (),
) -> dict[int, int]:
    """Match each true name with at most one predicted name: `["Solberg",
    "Hart"]` → `{0: 1}`.

    That side of the dashes counts which matches more, of equal ones the one in order.
    """
    sides = find_sides(predicted, wording)
    if len(sides) == 1:  # most
        return _match_side(truth, predicted, sides[0], wording, known)
    matches = [_match_side(truth, predicted, side, wording, known) for side in sides]
    return max(matches, key=_rate_match)


def _rate_match(match: Mapping[int, int]) -> tuple[int, bool]:
    """Rate a match by how many names it has, and whether they are in order."""
    return len(match), list(match) == list(match.values())


def _match_side(
    truth: Sequence[Name],
    predicted: Sequence[Name],
    side: str,
    wording: Wording,
    known: Pairs,
) -> dict[int, int]:
    """Let true names choose: those with an exact match first, then those with the
    fewest others. Each takes the strongest, its own place among equals.
    """
    exact: dict[str, list[int]] = {name.key: [] for name in truth}
    pairs: list[tuple[int, int, bool, int]] = []
    for place, name in enumerate(predicted):
        if name.key in exact:
            exact[name.key].append(place)
            continue
        meant: dict[int, int] = {}
        for at, true in enumerate(truth):
            if known and (true.key, name.key) in known:
                meant[at] = SAME
            elif like := compare_names(true, name, side, wording):
                meant[at] = like
        if meant and not _is_of_two(name, meant, truth):  # few
            pairs += [(at, -like, at != place, place) for at, like in meant.items()]
    matches = {
        at: exact[name.key].pop(0) for at, name in enumerate(truth) if exact[name.key]
    }
    if not pairs:  # most
        return matches
    counts = Counter([pair[0] for pair in pairs])
    for at, _, _, place in sorted(pairs, key=lambda pair: (counts[pair[0]], pair)):
        if at not in matches and place not in matches.values():
            matches[at] = place
    return matches


def _is_of_two(name: Name, meant: Mapping[int, int], truth: Sequence[Name]) -> bool:
    """Return whether a predicted name is short for two true names, or is two in one."""
    shorts = {truth[at].key for at, like in meant.items() if like != LONG}
    if len(shorts) > 1:
        return True
    others = tuple(true.key for at, true in enumerate(truth) if at not in meant)
    return LONG in meant.values() and name.key.startswith(others)
