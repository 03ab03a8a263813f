"""Lists of names in one text: separators, rank labels, a final `and`, and how many items are asked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from forecasteval.common.markup import clean

from .answers import Answer, question_words
from .names import CJK, IS_CJK, Name, read_name

_COMPLEX: Final = re.compile(r"[0-9()\[\]\"“《「『【第>→]|[-•·▪–—]\s")
ITEM_SEPARATOR: Final = re.compile(r"[,;|、\n]")
# What splits a list; brackets and quotes shield what is in them.
_SEPARATOR: Final = re.compile(r"[,;|、\n]\s*|(?<=[》」』”])\s*(?=[《「『“])")
_ARROW: Final = re.compile(r"(?:→|->|>)\s*")
_SHIELD: Final = re.compile(
    r"""(?!\([0-9]{1,2}\))\([^()]*\)|\[[^\[\]]*\]|"[^"\n]*"|“[^“”]*”|《[^《》]*》|「[^「」]*」|『[^『』]*』|【[^【】]*】"""
)
_ORDINAL: Final = "一二三四五六七八九十"
_LABEL: Final = re.compile(  # the name of the group that holds the number tells the kind
    rf"""(?=[0-9第RN\#(])                                                            # a glance that fails fast
      (?:第\s*(?P<place>[0-9]{{1,4}}|[{_ORDINAL}]{{1,3}})\s*[名位]\s*[:、.]?\s*        # 第6名：
      |(?<![^\s,;|、])(?:
          (?P<ordinal>[0-9]{{1,4}})(?:st|nd|rd|th)(?:\s*place)?\s*[:.)]\s*             # 6th: or 1st place:
         |(?P<nth>[0-9]{{1,4}})(?:st|nd|rd|th)\s+place\s*(?:-\s+)?
         |ranks?\s*\#?\s*(?P<rank>[0-9]{{1,4}})\s*[:.)]\s*                             # Rank 15:
         |(?:no\.|\#)\s*(?P<hash>[0-9]{{1,4}})(?:\s*[:.)]?\s+|:))                      # No. 4, #3
      |(?<![A-Za-z0-9.(])(?P<weak>[0-9]{{1,3}})\s?[.):、]\s*                           # 1. 2) 18:
      |\((?P<bracket>[0-9]{{1,2}})\)\s*)""",
    re.X | re.I,
)
_BULLETS: Final = tuple("-•·▪–—")
_BULLET: Final = re.compile(r"(?:[-•·▪–—]\s+)+")
_AND: Final = re.compile(r"\s(?:and|AND|And|&)\s+|\s*(?:和|以及)\s*")
_TRAILING_AND: Final = re.compile(r"\s(?:and|&)\s*\Z", re.I)
_PUNCTUATION: Final = ",;|、 \n"
_ANDS: Final = (" and", " And", " AND", " &")
_LEADING_AND: Final = re.compile(r"(?:and|&)\s+", re.I)
NO_NAME: Final = re.compile(r"[\s!-/:-@\[-`{-~\u2010-\u2027\u3000-\u3003…]*")
_ALL_CJK: Final = re.compile(rf"[{CJK} ]+")
_COUNT: Final = re.compile(
    r"""rank(?:ed|s|ing)?\s+(?:from\s+)?\#?([0-9]{1,3})\s+(?:to|through|-)\s+\#?([0-9]{1,3})
       |第\s*([0-9]{1,3})\s*[名位]?\s*[到至-]\s*第?\s*([0-9]{1,3})\s*[名位]
       |前\s*([0-9]{1,3}|[一二三四五六七八九十])\s*[名位大个]?
       |top\s+([0-9]{1,3})\b""",
    re.X | re.I,
)
_PROSE: Final = re.compile(
    r"\b(?:will|would|should|might|could)\s+(?:be|not|surely|likely|probably|win|finish|come|reach)\b"
    r"|\bI\s+(?:think|expect|predict|believe|guess)\b|\b(?:probably|perhaps|maybe|most\s+likely)\b",
    re.I,
)
# "St. Kilda" and "Sarah J. Maas" are no sentences, "last time. We" is; "Mamma Mia! Here We Go" is a title in a list.
_ABBREVIATIONS: Final = (
    r"(?<!\bmr|\bms|\bdr|\bst|\bvs|\bjr|\bsr|\bft|\bmt|\bno|\bco|\bpt)"
    r"(?<!\bvol|\bmrs|\binc|\bltd)(?<!\bbros|\bprof|\bfeat)"
)
_FULL_STOP: Final = re.compile(rf"(?<=[a-z][a-z)\"”%0-9])(?i:{_ABBREVIATIONS})\.\s+[A-Z]|。\s*\S")
_BREAK: Final = re.compile(r"(?<=[a-z][a-z)\"”%0-9])[!?]\s+[A-Z]")


class _Label(NamedTuple):
    """A rank in front of an item: where it stands, its number, and how it is written."""

    start: int
    end: int
    number: int
    style: tuple[str, str, bool]  # kind, mark, whether a blank stands behind it
    mark: str
    glued: bool  # to a digit: "2.731"


def item_count(prompt: str) -> int | None:
    """How many items a ranking question asks for (`ranked from 6 to 8`, `top 3`, `前3名`, `第4到6名`), or None."""
    best = None
    for match in _COUNT.finditer(question_words(prompt)):
        low, high, first, last, leading, top = match.groups()
        if low or first:
            return abs(int(high or last) - int(low or first)) + 1
        if leading:
            return _read_ordinal(leading)
        best = best or int(top)
    return best


def _read_ordinal(text: str) -> int:
    """A number up to 99, in digits or Chinese: 十二 is 12."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (10 * (_ORDINAL.find(tens) + 1 if tens else 1) if ten else 0) + (_ORDINAL.find(ones) + 1 if ones else 0)


def split_items(text: str, compounds: Iterable[str] = ()) -> list[str]:
    """The items of a list in one text, in the order of their ranks if every item carries one; labels dropped.

    `compounds` are names that hold a separator of their own: where one stands whole, nothing in it splits.
    """
    if not compounds and not _COMPLEX.search(text):  # neither labels, brackets nor quotes
        items = map(str.strip, ITEM_SEPARATOR.split(text))
        return [item for item in items if item and (item[0].isalnum() or not NO_NAME.fullmatch(item))]
    masked = _mask(text, compounds)
    labels = _find_labels(masked)
    heads = {label.start: label for label in labels}
    parts = _split_parts(masked, heads, ())
    # A chain begins in front of everything: "Harbour (1), Meadow (2)" and 疯狂动物城2、飞驰人生3 hold none.
    chain = _find_chain(labels) if labels and parts and labels[0].start == parts[0][0] else []
    own = [heads[begin] for begin, _ in parts if begin in heads]
    if len(own) < len(parts) or len(own) < len(chain) or not _all_count(own):
        if len(chain) > 1:
            # Only the labels split, unless there is more in the last item: "1. Tyler, the Creator 2. Drake"
            whole = not _SEPARATOR.search(masked[chain[-1].end :].rstrip(_PUNCTUATION))
            starts = [label.start for label in chain]
            parts = list(pairwise([*starts, len(text)])) if whole else _split_parts(masked, heads, starts)
            heads = {label.start: label for label in chain}
        else:
            heads = {label.start: label for label in own if _stands_alone(label)}
    kept: list[tuple[int | None, str]] = []
    for begin, end in parts:
        label = heads.get(begin)
        item = text[label.end if label else begin : end].strip().rstrip(_PUNCTUATION)
        if item.startswith(_BULLETS):
            item = _BULLET.sub("", item, count=1)
        if item.endswith(_ANDS):
            item = _TRAILING_AND.sub("", item)
        if item and (item[0].isalnum() or not NO_NAME.fullmatch(item)):
            kept.append((label.number if label else None, item))
    if all(rank is not None for rank, _ in kept):
        kept.sort(key=lambda pair: pair[0] or 0)
    return [item for _, item in kept]


def _mask(text: str, compounds: Iterable[str]) -> str:
    """The text with underscores for all that brackets, quotes and compound names hold."""
    for name in compounds:
        whole = rf"(?<![^\s,;|、>→]){re.escape(name)}(?![^\s,;|、>→])"
        text = re.sub(whole, lambda match: "_" * len(match[0]), text, flags=re.I)
    return _SHIELD.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 2) + match[0][-1], text)


def _find_labels(masked: str) -> list[_Label]:
    """All that may be a rank label, in order; `1、` only if it is the first rank or others count on."""
    labels = []
    for match in _LABEL.finditer(masked):
        kind, end = match.lastgroup or "", match.end()
        mark, spaced = "", masked[end - 1].isspace()
        if kind == "weak":
            mark = match[0].rstrip()[-1]
        glued = mark not in ("", "、") and not spaced and masked[end : end + 1].isdigit()
        labels.append(_Label(match.start(), end, _read_ordinal(match[kind]), (kind, mark, spaced), mark, glued))
    if "、" not in masked:
        return labels
    numbers = {label.number for label in labels if label.mark == "、"}
    return [
        label for label in labels
        if label.mark != "、" or label.number == 1 or {label.number - 1, label.number + 1} & numbers
    ]  # fmt: skip


def _find_chain(labels: Sequence[_Label]) -> list[_Label]:
    """The first label and those of its style that go on counting from it; explicit ranks need not count."""
    chain: list[_Label] = []
    for label in labels:
        explicit = label.style[0] in ("place", "ordinal")
        if not chain or (label.style == chain[0].style and (explicit or label.number == chain[-1].number + 1)):
            chain.append(label)
    return chain


def _split_parts(masked: str, heads: Mapping[int, _Label], starts: Collection[int]) -> list[tuple[int, int]]:
    """Begin and end of what stands between separators, and between further `starts`, without blanks and bullets."""
    cuts = [match.span() for match in _SEPARATOR.finditer(masked)]
    if starts:
        cuts = sorted([*cuts, *((start, start) for start in starts)])
        starts = frozenset(starts)
    elif not cuts:
        cuts = [match.span() for match in _ARROW.finditer(masked)]
    cuts.append((len(masked), len(masked)))
    parts: list[tuple[int, int]] = []
    begin = _skip_bullets(masked, 0)
    for start, end in cuts:
        head = heads.get(begin)
        if head and begin <= start < head.end and start not in starts:
            continue  # the 、 of a label
        if begin < start:
            parts.append((begin, start))
        begin = _skip_bullets(masked, end)
    return parts


def _skip_bullets(masked: str, position: int) -> int:
    if masked.startswith(_BULLETS, position):
        bullet = _BULLET.match(masked, position)
        return bullet.end() if bullet else position
    return position


def _all_count(labels: Sequence[_Label]) -> bool:
    """Whether labels on all items are ranks: `300: Rise, 24: Live` is none, `1.731, 2.5AM` is two."""
    numbers = sorted(label.number for label in labels)
    counting = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    if len(labels) == 1:
        return labels[0].number < 100 and not labels[0].glued
    return counting or not any(label.glued or label.mark == ":" for label in labels)


def _stands_alone(label: _Label) -> bool:
    """Whether a label on some of the items only is a rank: `2. Green, Red`, but not `24: Live, Heat`."""
    return label.mark not in (":", "、") and not label.glued and (label.number < 100 or not label.mark)


def read_items(
    answer: Answer, prompt: str = "", count: int | None = None, known: frozenset[str] = frozenset(),
    compounds: Iterable[str] = (),
) -> tuple[Name, ...]:  # fmt: skip
    """The names of a list answer or truth.

    Elements of a list literal are never split. Otherwise a final `and` splits the last item of a list, unless
    the number of items (`count`, or the one that `prompt` asks for) is reached or the item is a `known` key. Chinese
    names parted by blanks alone are a list where they are as many as asked for. `compounds`: see `split_items`.
    """
    if answer.elements:
        return tuple(read_name(clean(e)) for e in answer.elements if not NO_NAME.fullmatch(e))
    items = split_items(answer.cleaned, compounds)
    if len(items) == 1 and " " in items[0] and not items[0].isascii() and _ALL_CJK.fullmatch(items[0]):
        names = items[0].split()
        if len(names) == (item_count(prompt) if count is None else count):
            items = names
    if len(items) > 1 or (items and (count or 0) > 1):  # "Red and Green" where two are asked for
        lead = _LEADING_AND.match(items[-1])
        last = items[-1][lead.end() :] if lead else items[-1]
        items[-1:] = _split_final_and(last, len(items), prompt, count, known) if _AND.search(last) else [last]
    return tuple(map(read_name, items))


def _split_final_and(last: str, items: int, prompt: str, count: int | None, known: frozenset[str]) -> list[str]:
    count = item_count(prompt) if count is None else count
    if (count is not None and items >= count) or read_name(last).key in known:
        return [last]
    if items == 1 and count and len(parts := _AND.split(last)) == count > 2 and all(map(str.strip, parts)):
        return parts  # "Red and Blue and Green" where three are asked for
    cuts = [(last[: cut.start()], last[cut.end() :]) for cut in list(_AND.finditer(last))[-8:]]
    cuts = [cut for cut in cuts if cut[0].strip() and cut[1].strip()]
    best = [cut for cut in cuts if any(read_name(part).key in known for part in cut)] or cuts
    return list(best[-1]) if best else [last]


def looks_like_names(text: str) -> bool:
    """Whether bare text may be a list of names: no item over 12 words, no sentence break, no `will be`."""
    if len(text) > 2000 or _PROSE.search(text):
        return False
    items = split_items(text)
    for item in items:
        cjk = len(IS_CJK.findall(item))
        if len(item.split()) + cjk / 3 > 12 or _FULL_STOP.search(item) or (len(items) == 1 and _BREAK.search(item)):
            return False
    return True
