"""Names: the form in which they compare, and when two of them mean the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

CJK: Final = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_QUOTES: Final = re.compile(r"[\"'“”‘’„«»《》〈〉「」『』`´]")
_CJK_SPACE: Final = re.compile(rf"(?<=[{CJK}]) +| +(?=[{CJK}])")
IS_CJK: Final = re.compile(rf"[{CJK}]")
# What must not stand in front of a name: it would name two, or deny one.
_HEDGE: Final = re.compile(
    r"\b(?:or|nor|not|but|vs|versus|either|never|except|probably|perhaps|likely|by|than|beats?|instead\s+of|ahead\s+of)\b"
    r"|\band\s*\Z|\s[-–—]\s.*\s[-–—]\s|[,;?!]|(?:非|不是|不会是|或者?|而是)\Z"
)
_BRACKETED: Final = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|【([^【】]*)】")
_ACCENTED: Final = re.compile(r"[\u00df-\u024f\u1e00-\u1eff]")
_STROKES: Final = dict(zip("łøđħŧıƚɫ", "lodhtill", strict=True))
_TAIL: Final = re.compile(r"\s+by\s+|\s+[-–—]\s+|(?<=[》”\"」』])\s*[-–—]+\s*")


class Name:
    """A name as it compares: `spaced` after folding, `key` also without spaces beside CJK characters.

    A `plain` one holds letters, digits and blanks only.
    """

    __slots__ = ("_others", "key", "plain", "spaced", "text")

    def __init__(self, text: str, spaced: str, plain: bool) -> None:
        self.text, self.spaced, self.plain, self.key = text, spaced, plain, key_of(spaced)
        self._others: tuple[tuple[str, ...], str | None] | None = None

    @property
    def others(self) -> tuple[tuple[str, ...], str | None]:
        """Other keys: of the bracketed part and of the rest (`Sunrise (2024)`), and of what is before ` by AUTHOR`."""
        if self._others is None:
            inside = [next(filter(None, groups), "") for groups in _BRACKETED.findall(self.text)]
            alone = len(inside) == 1 and not _HEDGE.match(inside[0])
            parts = [*inside, _BRACKETED.sub(" ", self.text)] if alone else []
            aliases = (key for key in (key_of(fold(part)) for part in parts) if any(map(str.isalpha, key)))
            folded = self.text.casefold()
            tail = _TAIL.search(folded)
            self._others = tuple(aliases), key_of(fold(folded[: tail.start()])) if tail else None
        return self._others


def fold(text: str) -> str:
    """Case, accents, quotes, slashes, a leading `@` and trailing full stops do not matter in a name."""
    folded = text.casefold()
    if not folded.isascii():
        folded = _ACCENTED.sub(lambda match: _without_accent(match[0]), folded)
    if _QUOTES.search(folded):
        folded = _QUOTES.sub("", folded)
    folded = folded.replace("/", " ").rstrip(" .。\n").lstrip()
    if folded.startswith("@"):
        folded = folded.lstrip("@ ")
    return " ".join(folded.split()) if "  " in folded or "\n" in folded else folded


@lru_cache(maxsize=1024)
def _without_accent(letter: str) -> str:
    """The letter alone; a stroke through it is an accent, too, though Unicode does not take it apart."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(char))
    return _STROKES.get(plain, plain)


def key_of(spaced: str) -> str:
    """A folded name without the spaces beside CJK characters."""
    return spaced if spaced.isascii() or " " not in spaced else _CJK_SPACE.sub("", spaced)


@lru_cache(maxsize=1 << 15)  # a name of the truth stands in many answers
def read_name(text: str) -> Name:
    """The name's comparable form; `text` is expected to be cleaned.

    >>> read_name('《Panda  Plan》.').key, read_name("许 二 木").key, read_name("Łódź (2024)").others[0]
    ('panda plan', '许二木', ('lodz',))
    """
    plain = text.replace(" ", "").isalnum() and " by " not in text.lower()  # most names
    return Name(text, text.lower() if plain and text.isascii() else fold(text), plain)


def same_name(true: Name, predicted: Name) -> bool:
    """Whether two names mean the same thing (spec: equal, bracketed alias, author tail, or something in front)."""
    one, other = true.key, predicted.key
    if one == other:
        return True
    if not (true.plain and predicted.plain):
        aliases, head = predicted.others
        if one in aliases or one == head or other in true.others[0]:
            return True
    longer, shorter = (true, predicted) if len(one) > len(other) else (predicted, true)
    cut = len(longer.key) - len(shorter.key)
    if not cut or not longer.key.endswith(shorter.key) or not any(map(str.isalpha, shorter.key)):
        return False
    if longer is predicted and (_names_two(true.text, predicted.text) or _HEDGE.search(longer.key[:cut])):
        return False
    return (len(shorter.key) > 1 and bool(IS_CJK.match(shorter.key))) or _is_boundary(longer, cut)


def _names_two(true: str, predicted: str) -> bool:
    """Whether a slash parts two names: `Silver Fox / Red Kite`, but not `a/b` nor `GitHub: a/b` where a/b is true."""
    slashed = predicted.count("/") > true.count("/") and " - " not in predicted
    return slashed and " " in predicted.rpartition("/")[0]


def _is_boundary(name: Name, cut: int) -> bool:
    """Whether a word begins at `cut` of the key, in the text before spaces were removed."""
    before, after = name.key[cut - 1], name.key[cut]
    if not (before.isalnum() and after.isalnum()):
        return True
    if bool(IS_CJK.match(before)) != bool(IS_CJK.match(after)):
        return True
    index = 0
    for char in name.spaced:
        if char == name.key[index]:
            index += 1
            if index > cut:
                return False
        elif index == cut:
            return True
    return False


def match_names(
    truth: Sequence[Name], predicted: Sequence[Name], same: Callable[[Name, Name], bool] = same_name
) -> tuple[list[Name], list[Name]]:
    """The true names and the predicted ones that are left when each is matched at most once.

    Exact matches are made first, then those of the names that have the fewest to choose from.
    """
    free: dict[str, list[Name]] = {}
    for name in predicted:
        free.setdefault(name.key, []).append(name)
    rest = [name for name in truth if not (free.get(name.key) and free[name.key].pop())]
    left = [name for names in free.values() for name in names]
    choices = [(true, fitting) for true in rest if (fitting := [name for name in left if same(true, name)])]
    for true, fitting in sorted(choices, key=lambda choice: len(choice[1])):
        match = next((name for name in fitting if name in left), None)
        if match:
            left.remove(match)
            rest.remove(true)
    return rest, left
