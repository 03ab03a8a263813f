"""Rankings, levels 3 and 4: lists of names in one text (separators, rank labels, a final `and`),
and their score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final, NamedTuple

from forecasteval.common.markup import clean
from forecasteval.common.patterns import lazy

from .answers import Answer, TruthOf, question_words
from .grammar import write_digits
from .names import IS_CJK, Name, Pairs, fold, match_names, parse_name
from .rules import PARTIAL_RANKING, AnswerScore

# --- The items of a list ---

_COMPLEX: Final = lazy(
    r"[()\[\]\"“《「『【第>→#]|[0-9](?:\s?[.):、]|,[0-9]|st|nd|rd|th)|(?i:\bno\.|\brank)|[-•·▪–—]\s"
)
ITEM_SEPARATOR: Final = lazy(r"[,;|、\n](?!\s?or\s)")
# What splits a list; brackets and quotes shield what is in them.
_SEPARATOR: Final = lazy(
    r"(?:[;|、\n]|,(?!(?<=[0-9],)[0-9]{3}(?![0-9])))(?!\s?or\s)\s*|(?<=[》」』”])\s*(?=[《「『“])"
)
_ARROW: Final = lazy(r"(?:→|->|>)\s*")
_SHIELD: Final = lazy(
    r"""\((?![0-9]{1,2}\))[^()]*\)|\[[^\[\]]*\]|"[^"\n]*"|“[^“”]*”|《[^《》]*》|「[^「」]*」|『[^『』]*』|【[^【】]*】"""
)
_LABEL: Final = lazy(  # the name of the last group is the kind of label
    r"""(?=[0-9第RN\#(])  # a glance that fails fast
      (?:第\s*(?P<place>[0-9]{1,4}|[一二三四五六七八九十]{1,3})\s*[名位]\s*[:、.]?\s*  # 第6名：
      |(?<![^\s,;|、])(?:
          (?P<ordinal>[0-9]{1,4})(?:st|nd|rd|th)(?:\s*place)?\s*[:.)]\s*  # 6th: or 1st place:
         |(?P<nth>[0-9]{1,4})(?:st|nd|rd|th)\s+place\s*(?:-\s+)?
         |ranks?\s*\#?\s*(?P<rank>[0-9]{1,4})\s*[:.)]\s*  # Rank 15:
         |(?:no\.|\#)\s*(?P<hash>[0-9]{1,4})(?:\s*[:.)]?\s+|:))  # No. 4, #3
      |(?<![A-Za-z0-9.(])(?P<weak>[0-9]{1,2})(?P<mark>\s?[.):](?:\s+|(?P<glued>(?=[0-9]))|))
      |\((?P<bracket>[0-9]{1,2})\)\s*)""",
    re.X | re.I,
)
_COMMA_LABEL: Final = lazy(r"(?:(?<=[\s,;|、])|\A)([0-9]{1,2})、")
_TABLE: Final = lazy(r"\|\s?\n\s?\|(?:\s?:?-{2,}:?\s?\|)+")  # below the head of a table
# Of a row the first cell with a letter, and a number in the first cell
_ROW: Final = lazy(
    r"(?m)^\s*\|?\s*(?:([0-9]{1,4})\s*\|)?(?:[^|\n\w]*\|)?\s*([^|\n]*[^\W\d_][^|\n]*?)\s*(?:\||$).*"
)
_BULLETS: Final = lazy(r"(?:[-•·▪–—>→]\s+|->|[,;|、\s])+")  # and empty items
_AND: Final = lazy(r"(?:\s|\A)(?:and|AND|And|&)\s+|\s?(?:和|以及)\s?")
_TRAILING_AND: Final = (" and", " And", " AND", " &")  # "1. Red and 2. Blue"
_PUNCTUATION: Final = ",;|、 \n"
NO_NAME: Final = lazy(  # marks, or the rest of `Monsters, Inc.`
    r"[\s!-/:-@\[-`{-~\u2010-\u2027\u3000-\u3003…]*|(?i:inc|corp|corporation|ltd|plc)\.?"
)
_COUNT: Final = lazy(  # no flag for case: a set of first letters makes the search fast
    r"""[Rr第前Tt](?:
        (?<=[Rr])(?i:ank(?:ed|s|ing)?\s+(?:from\s+)?\#?([0-9]{1,3})\s+(?:to|through|-)\s+\#?([0-9]{1,3}))
       |(?<=第)\s*([0-9]{1,3})\s*[名位]?\s*[到至-]\s*第?\s*([0-9]{1,3})\s*[名位]
       |(?<=前)\s*([0-9]{1,3}|[一二三四五六七八九十])\s*[名位大个]?
       |(?<=[Tt])(?i:op\s+([0-9]{1,3})\b))""",
    re.X,
)


def item_count(prompt: str) -> int | None:
    """Read how many items a question asks for: `rank 6 to 8`, `top 3`, `前3名`, `第4到6名`."""
    best = None
    for match in _COUNT.finditer(question_words(prompt)):
        numbers = [int(write_digits(number)) for number in match.groups() if number]
        if len(numbers) == 2:
            return abs(numbers[1] - numbers[0]) + 1
        best = best or numbers[0]
    return best


def split_items(text: str, compounds: tuple[str, ...] = ()) -> list[str]:
    """Split a list into its items, in the order of their ranks if every item carries one.

    `compounds` are names that contain a separator: they are not split where they occur completely.
    """
    if "|" in text and (head := _TABLE.search(text)):
        return _in_order((int(rank or 0), name) for rank, name in _ROW.findall(text, head.end()))
    if not compounds and not _COMPLEX.search(text):  # neither labels, brackets nor quotes
        return list(filter(_is_name, map(str.strip, ITEM_SEPARATOR.split(text))))
    masked = text
    for name in compounds:
        whole = rf"(?<![^\s,;|、>→:]){re.escape(name)}(?![^\s,;|、>→。])"
        masked = re.sub(whole, lambda match: "_" * len(match[0]), masked, flags=re.I)
    masked = _SHIELD.sub(
        lambda held: f"{held[0][0]}{'_' * (len(held[0]) - 2)}{held[0][-1]}", masked
    )
    if _COMMA_LABEL.match(masked):  # Frozen 2、Red Kite has no labels
        masked = _COMMA_LABEL.sub(r"\1.", masked)
    items = []
    for rank, begin, end in _find_parts(masked):
        item = text[begin:end].strip().rstrip(_PUNCTUATION)
        items.append((rank, item.rpartition(" ")[0] if item.endswith(_TRAILING_AND) else item))
    return _in_order(items)


def _in_order(items: Iterable[tuple[int, str]]) -> list[str]:
    """List the names of items, in the order of their ranks if all have one."""
    names = [(rank, name) for rank, name in items if _is_name(name)]
    if all(rank for rank, _ in names):
        names.sort(key=itemgetter(0))
    return [name for _, name in names]


def _is_name(item: str) -> bool:
    return not NO_NAME.fullmatch(item)


class _Label(NamedTuple):
    """A possible rank in front of an item, its spelling, where it ends, and whether no name begins
    like that: `2. Green`, but not `24: Live, Heat` or `2.731`.
    """

    rank: int
    style: tuple[str | None, str]
    end: int
    is_rank: bool


def _read_label(label: re.Match[str]) -> _Label:
    rank, mark = label["weak"] or label[label.lastgroup or 0], label["mark"] or ""
    is_rank = ":" not in mark and label["glued"] is None
    return _Label(int(write_digits(rank)), (label.lastgroup, mark), label.end(), is_rank)


def _find_parts(masked: str) -> list[tuple[int, int, int]]:
    """Find the rank of each item, 0 without one, and where its name begins and ends.

    Labels that go on counting from one in front of everything split the text, whatever separates
    the items; of any others, those with which no name begins are ranks.
    """
    separators = [*_SEPARATOR.finditer(masked)] or [*_ARROW.finditer(masked)]
    labels = {label.start(): _read_label(label) for label in _LABEL.finditer(masked)}
    cuts = [place for cut in separators for place in cut.span()]
    places = iter([0, *cuts, len(masked)])
    parts = [
        (_skip_bullets(masked, begin, end), end) for begin, end in zip(places, places, strict=True)
    ]
    if not labels:
        return [(0, begin, end) for begin, end in parts]
    heads = [labels.get(begin) for begin, _ in parts]
    chain: list[int] = []  # "Harbour (1), Meadow (2)" and 疯狂动物城2、飞驰人生3 hold none
    for at, label in labels.items() if heads[0] else ():
        last = labels[chain[-1]] if chain else None
        if not last or (label.rank == last.rank + 1 and label.style == last.style):
            chain.append(at)
    chained = len(chain) > 1
    if chained and not len(chain) <= len([*filter(None, heads)]) == len(parts):
        parts = list(pairwise([*chain, len(masked)]))
        heads = [labels.get(begin) for begin, _ in parts]
    return [
        (label.rank, _skip_bullets(masked, label.end, end), end)
        if label and (label.is_rank or (chained and begin in chain))
        else (0, begin, end)
        for label, (begin, end) in zip(heads, parts, strict=True)
    ]


def _skip_bullets(masked: str, begin: int, end: int) -> int:
    plain = masked[begin : begin + 1].isalnum()  # most
    bullets = None if plain else _BULLETS.match(masked, begin, end)
    return bullets.end() if bullets else begin


# --- The names of an answer ---


def parse_items(
    answer: Answer,
    prompt: str = "",
    count: int | None = None,
    known: frozenset[str] = frozenset(),
    compounds: tuple[str, ...] = (),
) -> tuple[Name, ...]:
    """Read the names of a list answer or truth.

    Elements of a list literal are never split. Otherwise a final `and` splits the last item of a
    list, unless the number of items (`count`, or the one that `prompt` asks for) is reached or the
    item is a `known` key. Chinese names parted by blanks alone are a list where they are as many as
    asked for. `compounds`: see `split_items`.
    """
    if answer.elements:
        return tuple([parse_name(clean(item)) for item in answer.elements if _is_name(item)])
    items = split_items(answer.cleaned, compounds)
    last = items[-1] if items else ""
    names = last.split(" ")
    parts = [part for part in _AND.split(last) if part.strip()]
    if parts == [last] and len(items) > 1:  # most
        return tuple(map(parse_name, items))
    count = item_count(prompt) if count is None else count
    if len(parts) == 1 and parts[0] != last:  # Oxford comma
        items[-1:] = parts
    elif len(items) == 1 and len(names) == count and not IS_CJK.sub("", "".join(names)):
        items = names
    elif len(parts) > 1 and len(items) - 1 + len(parts) == count:
        items[-1:] = parts
    elif len(parts) > 1 and 1 < len(items) != count and parse_name(last).key not in known:
        cuts = list(_AND.finditer(last))[-8:]
        ends = (cut for cut in cuts if parse_name(last[cut.end() :]).key in known)
        cut = next(ends, cuts[-1])
        items[-1:] = [last[: cut.start()], last[cut.end() :]]
    return tuple(map(parse_name, items))


# --- Lists and sentences ---

# A sentence: `Norway will win`, `I would go with`, `Norway first, Sweden second`. In lower case:
# `I Will Always Love You` is a title.
_PROSE: Final = lazy(
    r"\b(?:will|would|should|might|could)\s+[a-z]{2,}|\bI\s+(?:think|expect|predict|believe|guess)\b"
    r"|\A(?:Probably|Perhaps|Maybe|Most likely|Likely)\s|\b(?:probably|perhaps|maybe|likely)\s"
    r"|(?i:\w\s(?:first|1st)(?:[,.;]|\sand\b)[^\n]{1,200}\w\s(?:second|2nd)(?=[,.;]|\sand\b|\s?\Z))"
)
_SPEAKS: Final = lazy(
    r"(?:I|[Ww]e|[Ii]t|[Tt]hey|[Hh]e|[Ss]he|[Yy]ou|[Tt]his|[Tt]hat|[Tt]here)(?:['’](?:d|m|ll|ve|re|s))?\s[a-z]{2,}"
    r"|(?:Based on|According to|Given|Considering)\s(?!an?\s)[a-z]"
    r"|我们?(?:认为|预测|觉得|预计|选择|会)|根据|综合|基于"
)
_BRACKETED: Final = lazy(r"\([^()]*\)")
# In lower case, of four letters or more
_PLAIN_WORD: Final = lazy(r"(?<!\S)[\"“]?[a-z]{4,}(?=[\s.!?:\"”]|\Z)")
_SENTENCE_CJK: Final = lazy(r"[^\n0-9、《]*[。!:]\s?")
# "St. Kilda" and "Sarah J. Maas" are no sentences, "last time. We" is; "Mamma Mia! Here We Go" is a
# title in a list.
_FULL_STOP: Final = lazy(
    r"(?<=[a-z][a-z)\"”%0-9])(?i:(?<!\bmr|\bms|\bdr|\bst|\bvs|\bjr|\bsr|\bft|\bmt|\bno|\bco|\bpt)"
    r"(?<!\bvol|\bmrs|\binc|\bltd)(?<!\bbros|\bprof|\bfeat))\.\s+[A-Z]|。\s*\S"
)
_BREAK: Final = lazy(r"(?<=[a-z][a-z)\"”%0-9])[!?]\s+[A-Z]")


def looks_like_names(text: str, bare: bool = True) -> bool:
    """Return whether a text without a box may be a list of names, and is no sentence.

    No item has over 12 words; of `bare` text, which nothing states to be an answer, none speaks.
    """
    if len(text) > 2000 or _PROSE.search(text):
        return False
    cjk = len(IS_CJK.findall(text))
    if bare and (_SPEAKS.match(text) or (cjk >= 6 and _SENTENCE_CJK.fullmatch(text))):
        return False
    items = split_items(text)
    if len(items) == 1 and _BREAK.search(text):
        return False
    few = 3 if len(items) > 1 or text.islower() else 2
    return not any(
        len(item.split()) + len(IS_CJK.findall(item)) / 3 > 12
        or _FULL_STOP.search(item)
        or (
            bare
            and any(
                len(_PLAIN_WORD.findall(part)) > few
                for part in _AND.split(_BRACKETED.sub(" ", item))
            )
        )
        for item in items
    )


def is_name_of(text: str, words: str, truth: Sequence[Name]) -> bool:
    """Return whether a text that looks like a refusal is a name. It begins with a true name, or is
    a list that begins with `Unknown`.
    """
    folded = fold(text)
    if any(
        folded.startswith(fold(name.text)) or name.key == parse_name(words).key for name in truth
    ):
        return True
    return (
        words.isascii()
        and words.isalpha()
        and bool(ITEM_SEPARATOR.search(text, len(words) + 1))  # behind the comma of the first
    )


def show_names(names: Sequence[Name]) -> str:
    """Show names in one line."""
    return " | ".join([name.text for name in names])


# --- Scores ---


class RankingTruth(TruthOf[Sequence[Name]]):
    """Truth of a ranking: names, best first; `ordered` unless any order will do, `whole` if no part
    of it counts. The words of the `prompt` say what the names are of.
    """

    __slots__ = ("_compounds", "_keys", "_prompt", "names", "ordered", "whole")

    def __init__(
        self, names: tuple[Name, ...], prompt: str = "", ordered: bool = True, whole: bool = False
    ) -> None:
        self.names, self.ordered, self.whole, self._prompt = names, ordered, whole, prompt
        self._keys = frozenset([name.key for name in names])
        self._compounds = tuple(
            [n.text for n in names if not n.letters and ITEM_SEPARATOR.search(n.text)]
        )

    def read(self, answer: Answer) -> Sequence[Name] | str:
        """Read the predicted names, best first, or why there are none."""
        if status := self.find_status(answer):
            return status
        if not answer.boxed and not looks_like_names(answer.cleaned, not answer.stated):
            return "no box, and no list of names"
        return (
            parse_items(answer, self._prompt, len(self.names) or None, self._keys, self._compounds)
            or "no name"
        )

    def means(self, text: str, words: str) -> bool:
        return is_name_of(text, words, self.names)

    def compare(self, predicted: Sequence[Name], known: Pairs = ()) -> AnswerScore:
        """Score 1 if the lists agree item by item and in length, else 0.8·matched/k.

        There are k true items; all predicted ones count, in any order (seed README, 评分机制).
        `known` pairs of names mean the same.
        """
        total, padded = len(self.names), len(predicted) > len(self.names)
        places = match_names(self.names, predicted, self._prompt, known)
        in_order = not self.ordered or all(true == place for true, place in places.items())
        if in_order and len(places) == total == len(predicted):
            return AnswerScore(1.0, "scored", show_names(predicted), "")
        score = 0.0 if self.whole else PARTIAL_RANKING * (len(places) / max(1, total))
        note = f"{len(places)} of {total} matched"
        if padded:
            note += f"; {len(predicted)} items for {total}"
        return AnswerScore(score, "scored", show_names(predicted), note, padded=padded)
