"""Rankings, levels 3 and 4: lists of names in one text (separators, rank labels, a final `and`),
and their score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from forecasteval.common.markup import clean

from .answers import Answer, TruthOf, drop_last_share, question_words
from .grammar import write_digits
from .names import IS_CJK, Name, Pairs, fold, match_names, parse_name
from .rules import PARTIAL_RANKING, Scored

_COMPLEX: Final = re.compile(r"[0-9()\[\]\"“《「『【第>→]|[-•·▪–—]\s")
ITEM_SEPARATOR: Final = re.compile(r"[,;|、\n](?!\s?or\s)")
# What splits a list; brackets and quotes shield what is in them.
_SEPARATOR: Final = re.compile(
    r"(?:[;|、\n]|,(?!(?<=[0-9],)[0-9]{3}(?![0-9])))(?!\s?or\s)\s*|(?<=[》」』”])\s*(?=[《「『“])"
)
_ARROW: Final = re.compile(r"(?:→|->|>)\s*")
_SHIELD: Final = re.compile(
    r"""\((?![0-9]{1,2}\))[^()]*\)|\[[^\[\]]*\]|"[^"\n]*"|“[^“”]*”|《[^《》]*》|「[^「」]*」|『[^『』]*』|【[^【】]*】"""
)
_LABEL: Final = re.compile(  # the name of the last group is the kind of label
    r"""(?=[0-9第RN\#(])  # a glance that fails fast
      (?:第\s*(?P<place>[0-9]{1,4}|[一二三四五六七八九十]{1,3})\s*[名位]\s*[:、.]?\s*  # 第6名：
      |(?<![^\s,;|、])(?:
          (?P<ordinal>[0-9]{1,4})(?:st|nd|rd|th)(?:\s*place)?\s*[:.)]\s*  # 6th: or 1st place:
         |(?P<nth>[0-9]{1,4})(?:st|nd|rd|th)\s+place\s*(?:-\s+)?
         |ranks?\s*\#?\s*(?P<rank>[0-9]{1,4})\s*[:.)]\s*  # Rank 15:
         |(?:no\.|\#)\s*(?P<hash>[0-9]{1,4})(?:\s*[:.)]?\s+|:))  # No. 4, #3
      |(?<![A-Za-z0-9.(])(?:  # 1. 2) 18: 3、
          (?P<weak>[0-9]{1,3})\s?(?P<mark>[.):])|(?P<comma>[0-9]{1,2})、)\s*
      |\((?P<bracket>[0-9]{1,2})\)\s*)""",
    re.X | re.I,
)
_TABLE: Final = re.compile(r"\|\s?\n\s?\|(?:\s?:?-{2,}:?\s?\|)+")  # below the head of a table
_BULLETS: Final = re.compile(r"(?:[-•·▪–—>→]\s+|->|[,;|、\s])+")  # and empty items
_HAS_AND: Final = re.compile(r"nd\s|ND\s|[&和以]")  # a glance
_AND: Final = re.compile(r"(?:\s|\A)(?:and|AND|And|&)\s+|\s?(?:和|以及)\s?")
_TRAILING_AND: Final = (" and", " And", " AND", " &")  # "1. Red and 2. Blue"
_PUNCTUATION: Final = ",;|、 \n"
NO_NAME: Final = re.compile(r"[\s!-/:-@\[-`{-~\u2010-\u2027\u3000-\u3003…]*")
_COUNT: Final = re.compile(  # no flag for case: a set of first letters makes the search fast
    r"""[Rr第前Tt](?:
        (?<=[Rr])(?i:ank(?:ed|s|ing)?\s+(?:from\s+)?\#?([0-9]{1,3})\s+(?:to|through|-)\s+\#?([0-9]{1,3}))
       |(?<=第)\s*([0-9]{1,3})\s*[名位]?\s*[到至-]\s*第?\s*([0-9]{1,3})\s*[名位]
       |(?<=前)\s*([0-9]{1,3}|[一二三四五六七八九十])\s*[名位大个]?
       |(?<=[Tt])(?i:op\s+([0-9]{1,3})\b))""",
    re.X,
)
_PROSE: Final = re.compile(
    r"\b(?:will|would|should|might|could)\s+(?:be|not|surely|likely|probably|win|finish|come|reach)\b"
    r"|\bI\s+(?:think|expect|predict|believe|guess)\b|\b(?:probably|perhaps|maybe|most\s+likely)\b",
    re.I,
)
# Norway first, the United States second and the Netherlands third
_FIRST: Final = re.compile(r"\w\s(?:first|1st)(?=[,.;]|\sand\b|\s?\Z)", re.I)
_SECOND: Final = re.compile(r"\w\s(?:second|2nd)(?=[,.;]|\sand\b|\s?\Z)", re.I)
# "St. Kilda" and "Sarah J. Maas" are no sentences, "last time. We" is; "Mamma Mia! Here We Go" is a
# title in a list.
_ABBREVIATIONS: Final = (
    r"(?<!\bmr|\bms|\bdr|\bst|\bvs|\bjr|\bsr|\bft|\bmt|\bno|\bco|\bpt)"
    r"(?<!\bvol|\bmrs|\binc|\bltd)(?<!\bbros|\bprof|\bfeat)"
)
_FULL_STOP: Final = re.compile(rf"(?<=[a-z][a-z)\"”%0-9])(?i:{_ABBREVIATIONS})\.\s+[A-Z]|。\s*\S")
_BREAK: Final = re.compile(r"(?<=[a-z][a-z)\"”%0-9])[!?]\s+[A-Z]")
_Span = tuple[int, int]  # where something begins and ends


class _Label(NamedTuple):
    """A possible rank in front of an item: its place, its number, its spelling, and whether no name
    begins like that: `2. Green, Red`, but not `24: Live, Heat`.
    """

    start: int
    end: int
    number: int
    style: tuple[str | None, str | None, bool]
    is_rank: bool


def item_count(prompt: str) -> int | None:
    """How many items a ranking question asks for (`ranked from 6 to 8`, `top 3`, `前3名`,
    `第4到6名`), or None.
    """
    best = None
    for match in _COUNT.finditer(question_words(prompt)):
        low, high, first, last, leading, top = match.groups()
        if low or first:
            return abs(int(high or last) - int(low or first)) + 1
        if leading:
            return _parse_ordinal(leading)
        best = best or int(top)
    return best


def _parse_ordinal(text: str) -> int:
    """A number in digits or Chinese: 十二 is 12."""
    return int(text if text.isdigit() else write_digits(text))


def split_items(text: str, compounds: tuple[str, ...] = ()) -> list[str]:
    """The items of a list in one text, in the order of their ranks if every item carries one;
    labels dropped.

    `compounds` are names that contain a separator: they are not split where they occur completely.
    """
    if "|" in text and (head := _TABLE.search(text)):
        return _split_table(text[head.end() :])
    if not compounds and not _COMPLEX.search(text):  # neither labels, brackets nor quotes
        return list(filter(_is_name, map(str.strip, ITEM_SEPARATOR.split(text))))
    masked = _mask(text, compounds)
    parts, ranks = _choose_parts(masked, _find_labels(masked))
    items = []
    for begin, end in parts:
        rank = ranks.get(begin)
        begin = _skip_bullets(masked, rank.end if rank else begin)
        item = text[begin:end].strip().rstrip(_PUNCTUATION)
        if item.endswith(_TRAILING_AND):
            item = item.rpartition(" ")[0]
        items.append((rank and rank.number, item))
    return _in_order(items)


def _in_order(items: Iterable[tuple[int | None, str]]) -> list[str]:
    """The names of items, in the order of their ranks if all have one."""
    names = [(rank, name) for rank, name in items if _is_name(name)]
    if all(rank is not None for rank, _ in names):
        names.sort(key=lambda ranked: ranked[0] or 0)
    return [name for _, name in names]


def _split_table(rows: str) -> list[str]:
    """The names in the rows below the head of a Markdown table: of each the first cell with a
    letter, in the order of the numbers in first cells if all have one.
    """
    items: list[tuple[int | None, str]] = []
    for row in rows.strip().split("\n"):
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        name = next((cell for cell in cells if any(map(str.isalpha, cell))), "")
        items.append((int(cells[0]) if cells[0].isdecimal() else None, name))
    return _in_order(items)


def _is_name(item: str) -> bool:
    return bool(item) and (item[0].isalnum() or not NO_NAME.fullmatch(item))


def _mask(text: str, compounds: Iterable[str]) -> str:
    """The text with underscores for all that brackets, quotes and compound names hold."""
    for name in compounds:
        whole = rf"(?<![^\s,;|、>→:]){re.escape(name)}(?![^\s,;|、>→。])"
        text = re.sub(whole, lambda match: "_" * len(match[0]), text, flags=re.I)
    return _SHIELD.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 2) + match[0][-1], text)


# --- Rank labels ---


def _find_labels(masked: str) -> list[_Label]:
    """All that may be a rank label, in order."""
    labels = []
    for match in _LABEL.finditer(masked):
        kind, mark, end = match.lastgroup, match["mark"], match.end()
        number = _parse_ordinal(match["weak"] or match[kind or 0])
        spaced = masked[end - 1].isspace()
        glued = not spaced and masked[end : end + 1].isdigit()  # "2.731"
        is_rank = not mark or (mark != ":" and number < 100 and not glued)
        labels.append(_Label(match.start(), end, number, (kind, mark, spaced), is_rank))
    return labels


def _choose_parts(masked: str, labels: Sequence[_Label]) -> tuple[list[_Span], dict[int, _Label]]:
    """Where the items begin and end, and by their beginning the labels that are ranks: those that
    go on counting from one in front of everything split the text, whatever separates the items; of
    any others, those with which no name begins.
    """
    heads = {label.start: label for label in labels}
    parts = _split_parts(masked, (0, len(masked)), heads)
    ranks = [heads[begin] for begin, _ in parts if begin in heads]
    # "Harbour (1), Meadow (2)" and 疯狂动物城2、飞驰人生3 hold no chain.
    chain = _find_chain(labels) if labels and labels[0].start == parts[0][0] else []
    if not chain or len(chain) <= len(ranks) == len(parts):  # "1. Red", "2. Blue", "2. Blue"
        return parts, {label.start: label for label in ranks if label.is_rank or label in chain}
    heads = {label.start: label for label in chain}
    parts = list(pairwise([*heads, len(masked)]))
    # Separators split too if there are any in the last item: not in "1. Tyler, the Creator 2.
    # Drake"
    if _SEPARATOR.search(masked[chain[-1].end :].rstrip(_PUNCTUATION)):
        parts = [part for span in parts for part in _split_parts(masked, span, heads)]
    return parts, heads


def _split_parts(masked: str, span: _Span, heads: Mapping[int, _Label]) -> list[_Span]:
    """Where what stands between separators begins and ends; the 、 of a label in front of it is
    none.
    """
    position, stop = span
    separator = _SEPARATOR if _SEPARATOR.search(masked) else _ARROW
    parts = []
    while position < stop:
        begin = _skip_bullets(masked, position)
        cut = separator.search(masked, heads[begin].end if begin in heads else begin + 1, stop)
        end, position = cut.span() if cut else (stop, stop)
        if begin < end:
            parts.append((begin, end))
    return parts


def _skip_bullets(masked: str, position: int) -> int:
    if masked[position : position + 1].isalnum():  # most
        return position
    bullets = _BULLETS.match(masked, position)
    return bullets.end() if bullets else position


def _find_chain(labels: Sequence[_Label]) -> list[_Label]:
    """The first label and those of its style that go on counting from it, if there are any."""
    chain = list(labels[:1])
    for label in labels[1:]:
        if label.number == chain[-1].number + 1 and label.style == chain[0].style:
            chain.append(label)
    return chain if len(chain) > 1 else []


# --- The names of an answer ---


def parse_items(
    answer: Answer,
    prompt: str = "",
    count: int | None = None,
    known: frozenset[str] = frozenset(),
    compounds: tuple[str, ...] = (),
) -> tuple[Name, ...]:
    """The names of a list answer or truth.

    Elements of a list literal are never split. Otherwise a final `and` splits the last item of a
    list, unless the number of items (`count`, or the one that `prompt` asks for) is reached or the
    item is a `known` key. Chinese names parted by blanks alone are a list where they are as many as
    asked for. `compounds`: see `split_items`.
    """
    if answer.elements:
        return tuple([parse_name(clean(e)) for e in answer.elements if _is_name(e)])
    items = split_items(drop_last_share(answer.cleaned), compounds)
    if items and (_HAS_AND.search(items[-1]) or (len(items) == 1 and " " in items[0])):
        count = item_count(prompt) if count is None else count
        names = items[0].split(" ")
        if len(items) == 1 and len(names) == count and not IS_CJK.sub("", "".join(names)):
            items = names
        if len(items) > 1 or (count or 0) > 1:  # "Red and Green" where two are asked for
            items = [*items[:-1], *_split_final_and(items[-1], len(items) - 1, count, known)]
    return tuple(map(parse_name, items))


def _split_final_and(
    last: str, before: int, count: int | None, known: frozenset[str]
) -> Sequence[str]:
    """The last item of a list as one, as all that `and` parts where this makes as many as are asked
    for, or else as two.
    """
    parts = [part for part in _AND.split(last) if part.strip()]
    if len(parts) < 2 or before + len(parts) == count:
        return parts
    if (count is not None and before + 1 >= count) or parse_name(last).key in known:
        return [last]
    cuts = [[last[: cut.start()], last[cut.end() :]] for cut in list(_AND.finditer(last))[-8:]]
    cuts = [cut for cut in cuts if all(map(str.strip, cut))] or [[last]]
    best = [cut for cut in cuts if any(parse_name(part).key in known for part in cut)]
    return (best or cuts)[-1]


def looks_like_names(text: str) -> bool:
    """Whether bare text may be a list of names: no item over 12 words, no sentence break, no `will
    be`.
    """
    if len(text) > 2000 or _PROSE.search(text) or (_FIRST.search(text) and _SECOND.search(text)):
        return False
    items = split_items(text)
    for item in items:
        cjk = len(IS_CJK.findall(item))
        if (
            len(item.split()) + cjk / 3 > 12
            or _FULL_STOP.search(item)
            or (len(items) == 1 and _BREAK.search(item))
        ):
            return False
    return True


def is_name_of(text: str, words: str, truth: Sequence[Name]) -> bool:
    """Whether a text that looks like a refusal begins with a true name, or is a list that begins
    with `Unknown`.
    """
    folded = fold(text)
    if any(
        folded.startswith(fold(name.text)) or name.key == parse_name(words).key for name in truth
    ):
        return True
    return bool(words and ITEM_SEPARATOR.search(text, len(words) + 1))


def show_names(names: Sequence[Name]) -> str:
    """Names in one line."""
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
        self.names, self.ordered, self.whole = names, ordered, whole
        self._prompt = prompt
        self._keys = frozenset([name.key for name in names])
        compounds = [n.text for n in names if not n.letters and ITEM_SEPARATOR.search(n.text)]
        self._compounds = tuple(compounds)

    def read(self, answer: Answer) -> Sequence[Name] | str:
        """The predicted names, best first, or why there are none."""
        if status := self.find_status(answer):
            return status
        if not answer.boxed and not looks_like_names(answer.cleaned):
            return "no box, and no list of names"
        return (
            parse_items(answer, self._prompt, len(self.names) or None, self._keys, self._compounds)
            or "no name"
        )

    def means(self, text: str, words: str) -> bool:
        return is_name_of(text, words, self.names)

    def compare(self, predicted: Sequence[Name], known: Pairs = ()) -> Scored:
        """The score of `score_ranking` with its note; `known` pairs of names mean the same."""
        score, matched = score_ranking(self.names, predicted, self._prompt, known)
        if not self.ordered and matched == len(self.names) == len(predicted):
            score = 1.0
        if self.whole and score < 1:
            score = 0.0
        note = f"{matched} of {len(self.names)} matched" if score < 1 else ""
        padded = len(predicted) > len(self.names)
        if padded:
            note += f"; {len(predicted)} items for {len(self.names)}"
        return Scored(score, "scored", show_names(predicted), note, padded=padded)


def score_ranking(
    truth: Sequence[Name], predicted: Sequence[Name], prompt: str = "", known: Pairs = ()
) -> tuple[float, int]:
    """1 if the lists agree item by item and in length, else 0.8·matched/k, and the number matched.

    k = len(truth) true items; all predicted items count, whatever their order (seed README,
    评分机制).
    """
    places = match_names(truth, predicted, prompt, known)
    if len(places) == len(predicted) and places == dict(enumerate(range(len(truth)))):
        return 1.0, len(truth)
    return PARTIAL_RANKING * (len(places) / max(1, len(truth))), len(places)
