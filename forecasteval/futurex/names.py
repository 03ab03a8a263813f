"""Names: the form in which they compare, and when two of them mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

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
_TAIL: Final = re.compile(r"\s+by\s+|\s+[-–—]\s+|(?<=[》”\"」』])\s*[-–—]+\s*")


class Name(NamedTuple):
    """A name as it compares: `spaced` after folding, `key` also without spaces beside CJK characters."""

    text: str
    spaced: str
    key: str
    aliases: tuple[str, ...]  # keys of its bracketed parts and of the part outside the brackets
    heads: tuple[str, ...]  # keys of what stands before ` by AUTHOR` or ` - AUTHOR`


def fold(text: str) -> str:
    """Case, quotes, slashes, a leading `@` and trailing full stops do not matter in a name."""
    folded = text.casefold()
    if _QUOTES.search(folded):
        folded = _QUOTES.sub("", folded)
    folded = folded.replace("/", " ").rstrip(" .。\n").lstrip()
    if folded.startswith("@"):
        folded = folded.lstrip("@ ")
    return " ".join(folded.split()) if "  " in folded or "\n" in folded else folded


def key_of(spaced: str) -> str:
    """A folded name without the spaces beside CJK characters."""
    return spaced if spaced.isascii() or " " not in spaced else _CJK_SPACE.sub("", spaced)


def read_name(text: str) -> Name:
    """The name's comparable form; `text` is expected to be cleaned.

    >>> read_name('《Panda  Plan》.').key, read_name("许 二 木").key, read_name("Sunrise (2024)").aliases
    ('panda plan', '许二木', ('sunrise',))
    """
    if text.replace(" ", "").isalnum() and " by " not in text:  # most names
        spaced = text.casefold()
        return Name(text, spaced, key_of(spaced), (), ())
    spaced = fold(text)
    aliases: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    if "(" in text or "[" in text or "【" in text:
        inside = [next(filter(None, groups), "") for groups in _BRACKETED.findall(text)]
        parts = [*inside, _BRACKETED.sub(" ", text)] if len(inside) == 1 and not _HEDGE.match(inside[0]) else []
        aliases = tuple(key for key in (key_of(fold(part)) for part in parts) if any(map(str.isalpha, key)))
    if " by " in spaced or "-" in text or "–" in text or "—" in text:
        folded = text.casefold()
        tail = _TAIL.search(folded)
        heads = (key_of(fold(folded[: tail.start()])),) if tail else ()
    return Name(text, spaced, key_of(spaced), aliases, heads)


def same_name(true: Name, predicted: Name) -> bool:
    """Whether two names mean the same thing (spec: equal, bracketed alias, author tail, or something in front)."""
    if true.key == predicted.key:
        return True
    if true.key in predicted.aliases or predicted.key in true.aliases or true.key in predicted.heads:
        return True
    longer, shorter = (true, predicted) if len(true.key) > len(predicted.key) else (predicted, true)
    if not longer.key.endswith(shorter.key) or not any(map(str.isalpha, shorter.key)):
        return False
    if longer is predicted and _names_two(longer, longer.key[: len(longer.key) - len(shorter.key)]):
        return False
    if len(shorter.key) > 1 and IS_CJK.match(shorter.key):
        return len(longer.key) > len(shorter.key)
    return _is_boundary(longer, len(longer.key) - len(shorter.key))


def _names_two(name: Name, front: str) -> bool:
    """Whether what stands in front hedges or denies: `Silver Fox or Red Kite`, `Silver Fox / Red Kite`, not `a/b`."""
    slashed = "/" in name.text and " - " not in name.text and " " in name.text.rpartition("/")[0]
    return slashed or bool(_HEDGE.search(front))


def _is_boundary(name: Name, cut: int) -> bool:
    """Whether a word begins at `cut` of the key, in the text before spaces were removed."""
    if cut == 0:
        return False
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


def count_matches(truth: Sequence[Name], predicted: Sequence[Name]) -> int:
    """How many true names are found among the predicted ones, each of both used once at most.

    Exact matches are made first; among the rest as many as possible (augmenting paths).
    """
    free: dict[str, list[int]] = {}
    for index, name in enumerate(predicted):
        free.setdefault(name.key, []).append(index)
    rest = []
    for name in truth:
        if free.get(name.key):
            free[name.key].pop()
        else:
            rest.append(name)
    if not rest:
        return len(truth)
    left = [index for indices in free.values() for index in indices]
    edges = [[index for index in left if _may_match(name, predicted[index])] for name in rest]
    owner: dict[int, int] = {}
    for root, found in enumerate(edges):
        if found:
            _augment(root, edges, owner)
    return len(truth) - len(rest) + len(owner)


def _may_match(true: Name, predicted: Name) -> bool:
    """`same_name`, after a glance at the last characters that settles most pairs."""
    if true.key[-1:] != predicted.key[-1:] and not (true.aliases or predicted.aliases or predicted.heads):
        return False
    return same_name(true, predicted)


def _augment(root: int, edges: Sequence[Sequence[int]], owner: dict[int, int]) -> None:
    """Give true name `root` a predicted one, moving earlier owners if that helps (breadth first)."""
    came_from: dict[int, int] = {}
    queue = [root]
    for true in queue:
        for index in edges[true]:
            if index in came_from:
                continue
            came_from[index] = true
            if index not in owner:
                while True:
                    true = came_from[index]
                    previous = next((i for i, t in owner.items() if t == true), None)
                    owner[index] = true
                    if previous is None:
                        return
                    index = previous
            queue.append(owner[index])
