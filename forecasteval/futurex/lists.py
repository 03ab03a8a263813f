"""Lists of names in one text: separators, rank labels, a final `and`, and how many items are asked for."""

from __future__ import annotations

import re
from typing import Final

from forecasteval.common.markup import clean, parse_literal

from .answers import Answer, question_words
from .names import IS_CJK, Name, read_name

_COMPLEX: Final = re.compile(r"[0-9()\[\]\"“《「『【]|[-•·▪–—]\s")
_SPLIT: Final = re.compile(r"[,;|、\n]")
_ITEM_TOKEN: Final = re.compile(
    r"""(?=[0-9第RN\#(\["“《「『【,;|、\n])                                    # a glance that fails fast
      (?:(?P<strong>第\s*[0-9]{1,4}\s*[名位]\s*[:、.]?\s*                    # 第6名：
              |(?<![^\s,;|、])[0-9]{1,4}(?:st|nd|rd|th)\s*(?:place)?\s*[:.)]\s*)  # 6th: or 1st place:
      |(?P<label>(?<![^\s,;|、])(?:
               ranks?\s*\#?\s*[0-9]{1,4}\s*[:.)]\s*                             # Rank 15:
              |(?:no\.|\#)\s*[0-9]{1,4}\s*[:.)]?\s+                             # No. 4, #3
              |\#[0-9]{1,4}:\s*
              |[0-9]{1,4}(?:st|nd|rd|th)\s+place\s*(?:-\s+)?))
      |(?P<weak>(?<![A-Za-z0-9.(])(?:[0-9]{1,3}\s?[.):、]\s*|\([0-9]{1,2}\)\s*))  # 1. 2) 18:
      |(?P<shield>\([^()]*\)|\[[^\[\]]*\]|"[^"\n]*"|“[^“”]*”|《[^《》]*》|「[^「」]*」|『[^『』]*』|【[^【】]*】)
      |(?P<separator>[,;|、\n]))""",
    re.X | re.I,
)
_DIGITS: Final = re.compile(r"[0-9]+")
_BULLET: Final = re.compile(r"\A(?:[-•·▪–—]\s+)+")
_AND: Final = re.compile(r"\s(?:and|AND|And|&)\s+|\s*和\s*")
_HEAD_LABEL: Final = re.compile(r"(?:\A|[\n,;|])\s?[0-9]{1,3}\s?[.):](?![0-9])")
_TRAILING_AND: Final = re.compile(r"\s(?:and|&)\s*\Z", re.I)
_LEADING_AND: Final = re.compile(r"(?:and|&)\s+", re.I)
NO_NAME: Final = re.compile(r"[\s!-/:-@\[-`{-~\u2010-\u2027\u3000-\u3003…]*")
_CHINESE_DIGITS: Final = {char: value for value, char in enumerate("一二三四五六七八九十", 1)}
_COUNT: Final = re.compile(
    r"""rank(?:ed|s|ing)?\s+(?:from\s+)?\#?([0-9]{1,3})\s+(?:to|through|-)\s+\#?([0-9]{1,3})
       |第\s*([0-9]{1,3})\s*[名位]?\s*[到至-]\s*第?\s*([0-9]{1,3})\s*[名位]
       |前\s*([0-9]{1,3}|[一二三四五六七八九十])\s*[名位大个]?
       |top\s+([0-9]{1,3})\b""",
    re.X | re.I,
)


def item_count(prompt: str) -> int | None:
    """How many items a ranking question asks for (`ranked from 6 to 8`, `top 3`, `前3名`, `第4到6名`), or None."""
    best = None
    for match in _COUNT.finditer(question_words(prompt)):
        low, high, first, last, leading, top = match.groups()
        if low or first:
            return abs(int(high or last) - int(low or first)) + 1
        if leading:
            return _CHINESE_DIGITS.get(leading) or int(leading)
        best = best or int(top)
    return best


def split_items(text: str) -> list[str]:
    """The items of a list in one text, in the order of their ranks if every item carries one; labels dropped."""
    if not _COMPLEX.search(text):  # neither labels, brackets nor quotes
        items = map(str.strip, _SPLIT.split(text))
        return [item for item in items if item and (item[0].isalnum() or not NO_NAME.fullmatch(item))]
    kept = [(rank, item.strip()) for rank, item in _split_labelled(text)]
    if any(item[:1] in "-•·▪–—" for _, item in kept if item):
        kept = [(rank, _BULLET.sub("", item, 1)) for rank, item in kept]
    kept = [(rank, item) for rank, item in kept if not NO_NAME.fullmatch(item)]
    if len(kept) > 1 and all(rank is not None for rank, _ in kept):
        kept.sort(key=lambda pair: pair[0] or 0)
    return [item for _, item in kept]


def _split_labelled(text: str) -> list[tuple[int | None, str]]:
    """(rank, item) pairs of a list; a label inside an item splits only where it goes on counting."""
    items: list[tuple[int | None, str]] = []
    start, rank, last = 0, None, None  # last: the rank that was read last, also of an item before
    style = ""  # mark and space of the first weak label: "1. Resident Evil 2: Remake" has one label
    separated = len(_HEAD_LABEL.findall(text)) > 1  # then nothing inside an item is a label
    for token in _ITEM_TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "separator":
            items.append((rank, text[start : token.start()]))
            start, rank = token.end(), None
        elif kind != "shield":
            found = _DIGITS.search(token[0])
            number = int(found[0]) if found else 0
            at_head = token.start() < start + 10 and not text[start : token.start()].strip(" -•·")
            if kind == "weak":
                counts = _is_label(text, token, number, last, at_head)
                counts = counts and (at_head or (not separated and style == _label_style(token)))
            else:
                counts = at_head or (last is not None and (number == last + 1 or kind == "strong"))
            if counts:
                style = style or _label_style(token)
                if not at_head:
                    items.append((rank, _TRAILING_AND.sub("", text[start : token.start()])))
                start, rank, last = token.end(), number, number
            elif "、" in token[0]:  # a name that ends with a digit, and a separator
                mark = token.start() + token[0].index("、")
                items.append((rank, text[start:mark]))
                start, rank = mark + 1, None
    items.append((rank, text[start:]))
    return _join_titles(items)


def _join_titles(items: list[tuple[int | None, str]]) -> list[tuple[int | None, str]]:
    """Where labels count on from the first item, a comma between two of them is part of a title."""
    ranks = [rank for rank, _ in items if rank is not None]
    if items[0][0] is None or len(ranks) == len(items) or len(ranks) < 2 or items[-1][0] is None:
        return items
    if ranks != list(range(ranks[0], ranks[0] + len(ranks))):
        return items
    joined: list[tuple[int | None, str]] = []
    for rank, item in items:
        if rank is None and item.strip():
            joined[-1] = (joined[-1][0], f"{joined[-1][1]},{item}")
        elif rank is not None:
            joined.append((rank, item))
    return joined


def _label_style(token: re.Match[str]) -> str:
    """A label's mark, with a space if one stands behind it."""
    return token[0].lstrip("(0123456789 ").rstrip("\n")[:1] + (" " if token[0][-1:].isspace() else "")


def _is_label(text: str, token: re.Match[str], number: int, last: int | None, at_head: bool) -> bool:
    """Whether `1.` or `18:` counts. Names such as `731`, `300: Rise` or `Claude 3.7` may look the same."""
    before, after = text[max(0, token.start() - 1) : token.start()], text[token.end() : token.end() + 1]
    mark = token[0].strip()[-1]
    ahead = text[token.end() : token.end() + 300]
    counting = last is not None and number == last + 1
    if after.isdigit() and not token[0][-1:].isspace() and mark != "、":  # "2.731" may be a number, or a label
        if at_head and number == 1:
            return bool(re.search(rf"[\s,;|]2\s?{re.escape(mark)}", ahead))
        again = re.search(rf"(?<![0-9A-Za-z.]){number}\s?{re.escape(mark)}(?![0-9])", ahead)
        return counting and before in ("", *" ,;|、\n") and not again
    if counting:
        return True
    if not at_head or (before and before not in " ,;|、\n(" and not before.isspace()):
        return False
    if mark not in "、:" and number < 100:
        return True
    if mark == "、" and number == 1 and not after.isdigit():
        return True
    if mark == ":" and number < 100 and not re.search(r"[,;|、\n]", ahead):
        return True
    space = "" if number == 1 and mark == "、" else r"[\s,;|]"
    return bool(re.search(rf"{space}(?<![0-9]){number + 1}\s?{re.escape(mark)}", ahead))


def read_items(
    answer: Answer, prompt: str = "", count: int | None = None, known: frozenset[str] = frozenset()
) -> tuple[Name, ...]:
    """The names of a list answer or truth.

    Elements of a list literal are never split. Otherwise a final `and` splits the last item of a list, unless
    the number of items (`count`, or the one that `prompt` asks for) is reached or the item is a `known` key.
    """
    elements = answer.elements or parse_literal(answer.text)
    if elements:
        return tuple(read_name(clean(e)) for e in elements if not NO_NAME.fullmatch(e))
    items = split_items(clean(answer.text))
    if len(items) > 1 or (items and (count or 0) > 1):  # "Red and Green" where two are asked for
        lead = _LEADING_AND.match(items[-1])
        last = items[-1][lead.end() :] if lead else items[-1]
        items[-1:] = _split_final_and(last, len(items), prompt, count, known) if _AND.search(last) else [last]
    return tuple(map(read_name, items))


def _split_final_and(last: str, items: int, prompt: str, count: int | None, known: frozenset[str]) -> list[str]:
    count = item_count(prompt) if count is None else count
    if (count is not None and items >= count) or read_name(last).key in known:
        return [last]
    cuts = [(last[: cut.start()], last[cut.end() :]) for cut in list(_AND.finditer(last))[-8:]]
    cuts = [cut for cut in cuts if cut[0].strip() and cut[1].strip()]
    best = [cut for cut in cuts if any(read_name(part).key in known for part in cut)] or cuts
    return list(best[-1]) if best else [last]


def looks_like_names(text: str) -> bool:
    """Whether bare text may be a list of names: no item over 12 words, no sentence break, no `will be`."""
    if len(text) > 2000 or _PROSE.search(text):
        return False
    for item in split_items(text):
        cjk = len(IS_CJK.findall(item))
        if len(item.split()) + cjk / 3 > 12 or _SENTENCE_BREAK.search(item):
            return False
    return True


_PROSE: Final = re.compile(
    r"\b(?:will|would|should|might|could)\s+(?:be|not|surely|likely|probably|win|finish|come|reach)\b"
    r"|\bI\s+(?:think|expect|predict|believe|guess)\b|\b(?:probably|perhaps|maybe|most\s+likely)\b",
    re.I,
)
# "St. Kilda" and "Sarah J. Maas" are no sentences, "last time. We" is.
_SENTENCE_BREAK: Final = re.compile(
    r"(?<=[a-z][a-z)\"”%0-9])(?<!\b(?i:mr|ms|dr|st|vs|jr|sr|ft|mt|no))[.!?]\s+[A-Z]|。\s*\S"
)
