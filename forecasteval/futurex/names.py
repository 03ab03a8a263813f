"""Names: the form in which they compare, and when two of them mean the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

CJK: Final = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_QUOTES: Final = re.compile(r"[\"'“”‘’„«»《》〈〉「」『』`´]")
IS_CJK: Final = re.compile(rf"[{CJK}]")
# What must not stand in front of a name: it would name two, or deny one. A number behind `no` is a
# rank.
_HEDGE: Final = re.compile(
    r"(?a:\b(?:or|over|nor|not|no(?!\.?\s*[0-9])|but|vs?|versus|either|never|except|without|replacing|then|by|than"
    # beside CJK characters, too
    r"|probably|perhaps|likely|beats?|defeats?|instead\s+of|ahead\s+of)\b)"
    r"|(?a:\band)\s*\Z|\w\s[0-9]{1,3}[.)]\s?\Z|(?<![0-9])[、。]"
    r"|[^\w\s.:/#'()\[\]{}【】·*%$€£¥®©°、。–—―⸺-]"  # + | @ = & , ; ? → ≈ … part two names
    r"|(?:非|不是|不会是|没有|除了|排除|或者?|而是|击败|战胜|取代|替代|(?<=\w)(?:和|与|以及|还是))\Z"
)
_OR_ELSE: Final = re.compile(
    r"(?:or|nor|not|but|either|never|except|maybe|probably|perhaps|likely)\b|不是|或", re.I
)
_DASH: Final = re.compile(r"\s[-–—]\s|(?<=[》”\"」』])\s?[-–—]")
_BULLET: Final = re.compile(r"[^\w!?¬≠,;、。]*")  # ● ■ ▶ +: nothing stands in front of it
_DASH_BEHIND: Final = re.compile(r"\s[-–—]\s*\Z")
_BRACKETED: Final = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|【([^【】]*)】")
_ACCENTED: Final = re.compile(r"[\u00df-\u024f\u1e00-\u1eff]")
_DOTS: Final = str.maketrans("•・‧∙⋅", "·····")
_SMALL_WORDS: Final = frozenset({"of", "the"})  # without a letter in the initials
_STROKES: Final = dict(zip("łøđħŧıƚɫ", "lodhtill", strict=True))
_TAIL: Final = re.compile(r"\s+by\s+|\s+[-–—]\s+|(?<=[》”\"」』])\s*[-–—]+\s*")


class Name:
    """A name as it compares: `spaced` after folding, `key` also without spaces beside CJK
    characters.

    A `plain` one holds letters, digits and blanks only. `side` is the only part beside a dash that
    counts, "head" or "end"; "" if both do.
    """

    __slots__ = ("key", "plain", "side", "spaced", "text")

    def __init__(self, text: str, spaced: str, plain: bool, side: str = "") -> None:
        self.text, self.spaced, self.plain, self.side, self.key = (
            text,
            spaced,
            plain,
            side,
            key_of(spaced),
        )


Same = Callable[[Name, Name], bool]  # whether a true and a predicted name mean the same


def read_sides(names: Sequence[Name]) -> list[Sequence[Name]]:
    """The readings of a list: all names by what is before their dash, or all by what is behind it.

    `guess - other guess` on every item would name two things for each place.
    """
    if not [name for name in names if not name.plain and _DASH.search(name.text)]:
        return [names]
    return [
        [
            Name(name.text, name.spaced, name.plain, side) if _DASH.search(name.text) else name
            for name in names
        ]
        for side in ("head", "end")
    ]


def fold(text: str) -> str:
    """Case, accents, quotes, slashes, a leading `@` and trailing full stops do not matter in a
    name.
    """
    folded = text.casefold()
    if not folded.isascii():
        folded = _ACCENTED.sub(lambda match: _without_accent(match[0]), folded).translate(_DOTS)
    if _QUOTES.search(folded):
        folded = _QUOTES.sub("", folded)
    folded = folded.replace("/", " ").rstrip(" .。\n").lstrip()
    if folded.startswith("@"):
        folded = folded.lstrip("@ ")
    return " ".join(folded.split()) if "  " in folded or "\n" in folded else folded


@lru_cache(maxsize=1024)
def _without_accent(letter: str) -> str:
    """The letter alone; a stroke through it is an accent, too, though Unicode does not take it
    apart.
    """
    plain = "".join(
        char for char in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(char)
    )
    return _STROKES.get(plain, plain)


def key_of(spaced: str) -> str:
    """A folded name without the spaces beside CJK characters."""
    if spaced.isascii() or " " not in spaced:
        return spaced
    words = spaced.split(" ")
    key = words[0]
    for word in words[1:]:
        key += word if IS_CJK.search(key[-1:] + word[:1]) else f" {word}"
    return key


@lru_cache(maxsize=1 << 15)  # a name of the truth stands in many answers
def read_name(text: str) -> Name:
    """The name's comparable form; `text` is expected to be cleaned.

    >>> read_name('《Panda  Plan》.').key, read_name("许 二 木").key, read_name("Łódź").key
    ('panda plan', '许二木', 'lodz')
    """
    bare = text.rstrip(" .。")
    plain = bare.replace(" ", "").isalnum() and " by " not in bare.lower()  # most names
    return Name(text, bare.lower() if plain and bare.isascii() else fold(text), plain)


def same_name(true: Name, predicted: Name) -> bool:
    """Whether two names mean the same thing (spec: equal, bracketed alias, author tail, or
    something in front).
    """
    one, other = true.key, predicted.key
    if one == other:
        return True
    if not (true.plain and predicted.plain) and _is_alias(true, predicted):
        return True
    if one.endswith(other):
        longer, shorter = true, other
    elif other.endswith(one):
        longer, shorter = predicted, one
    else:
        return False
    if not any(map(str.isalpha, shorter)):
        return False
    cut = len(longer.key) - len(shorter)
    front = longer.key[:cut]
    if longer is true and not _may_be_missing(front, other):
        return False
    if longer is predicted and (
        _names_two(true.text, predicted.text) or not _may_be_added(front, predicted.side)
    ):
        return False
    before, after = longer.key[cut - 1], shorter[0]
    if IS_CJK.match(after):
        return len(shorter) > 1 or not IS_CJK.match(before) or longer.spaced.endswith(f" {shorter}")
    return not (before.isalnum() and after.isalnum()) or bool(IS_CJK.match(before))


def _is_alias(true: Name, predicted: Name) -> bool:
    """Whether one name is the other's brackets, or the part in front of them or of an author."""
    inside, outside, head = other_keys(predicted.text)
    if true.key == outside or (true.key == inside and _may_be_alias(inside, outside)):
        return True
    return predicted.key in other_keys(true.text)[:2] or (
        true.key == head and predicted.side != "end"
    )


@lru_cache(maxsize=1 << 15)
def other_keys(text: str) -> tuple[str, str, str]:
    """Keys of parts of a name: its brackets, the rest of it, what is in front of ` by AUTHOR` or `
    - AUTHOR`; or "".

    >>> other_keys("Sunrise (2024)"), other_keys("Sunrise (Games) by Ann")
    (('', 'sunrise', ''), ('games', 'sunrise by ann', 'sunrise (games)'))
    """
    brackets = [next(filter(None, groups), "") for groups in _BRACKETED.findall(text)]
    alone = len(brackets) == 1 and not _OR_ELSE.match(brackets[0])
    parts = (brackets[0], _BRACKETED.sub(" ", text)) if alone else ("", "")
    inside, outside = (
        key if any(map(str.isalpha, key)) else "" for key in (key_of(fold(part)) for part in parts)
    )
    folded = text.casefold()
    tail = _TAIL.search(folded)
    return inside, outside, key_of(fold(folded[: tail.start()])) if tail else ""


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


def _may_be_added(front: str, side: str) -> bool:
    """Whether a prediction may have this in front of a name: a brand, a first name, a rank, or an
    artist and a dash.
    """
    if side == "head":
        return False
    if _DASH_BEHIND.search(front):
        return True
    front = _BULLET.sub("", front, count=1)
    return len(front.split()) <= 3 and len(IS_CJK.findall(front)) <= 6 and not _HEDGE.search(front)


def _may_be_missing(front: str, rest: str) -> bool:
    """Whether a prediction may lack this in front of a name: `You` is not `Gotta Have You`."""
    cjk = len(IS_CJK.findall(front))
    if front.rstrip().endswith(("-", "–", "—", ":")) or (
        cjk <= 3 if cjk else " " not in front.strip()
    ):
        return True
    return sum(map(str.isalpha, rest)) >= sum(map(str.isalpha, front))


def _names_two(true: str, predicted: str) -> bool:
    """Whether a slash parts two names: `Silver Fox / Red Kite`, but not `a/b` nor `GitHub: a/b`
    where a/b is true.
    """
    slashed = predicted.count("/") > true.count("/") and " - " not in predicted
    return slashed and " " in predicted.rpartition("/")[0]


def match_names(
    truth: Sequence[Name], predicted: Sequence[Name], same: Same = same_name
) -> tuple[list[Name], list[Name]]:
    """The true names and the predicted ones that are left when each is matched at most once.

    Exact matches are made first, then those of the names that have the fewest to choose from.
    """
    free: dict[str, list[Name]] = {}
    for name in predicted:
        free.setdefault(name.key, []).append(name)
    rest = [name for name in truth if not (free.get(name.key) and free[name.key].pop())]
    left = [name for names in free.values() for name in names]
    choices = [
        (true, fitting)
        for true in rest
        if (fitting := [name for name in left if same(true, name) and _is_clear(true, name, truth)])
    ]
    for true, fitting in sorted(choices, key=lambda choice: len(choice[1])):
        match = next((name for name in fitting if name in left), None)
        if match:
            left.remove(match)
            rest.remove(true)
    return rest, left


def are_same_lists(
    truth: Sequence[Name], predicted: Sequence[Name], same: Same = same_name
) -> bool:
    """Whether two lists agree name by name, each predicted one meaning the true one of its place
    and no other.
    """
    true_keys, keys = [name.key for name in truth], [name.key for name in predicted]
    return true_keys == keys or (
        len(true_keys) == len(keys)
        and all(
            same(true, name)
            and _is_clear(true, name, truth)
            and _is_no_other(true.key, name.key, true_keys, keys)
            for true, name in zip(truth, predicted, strict=True)
        )
    )


def _is_no_other(true: str, key: str, true_keys: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether a predicted name is that of its place alone: exact matches come first, and `Quill
    Falcon` names two.
    """
    if true == key:
        return True
    front = key.removesuffix(true)
    names_another = front != key and any(
        front.startswith(other) for other in true_keys if other != true
    )
    return not names_another and true not in keys and key not in true_keys


def _is_clear(true: Name, name: Name, truth: Sequence[Name]) -> bool:
    """Whether a name that is short for a true one is not short for several of them."""
    return (
        len(name.key) >= len(true.key) or sum([other.key.endswith(name.key) for other in truth]) < 2
    )
