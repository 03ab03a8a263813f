"""Lists of names in one text: separators, rank labels, a final `and`; what is no list
but a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final

from forecasteval.common.markup import clean
from forecasteval.common.patterns import end_of, lazy
from forecasteval.questions.states import Unparsed

from .answers import LIST_END, SENTENCE_END, Answer, may_be_status
from .grammar import write_digits
from .language import count_cjk, is_cjk, pattern_of, table_of, words
from .names import Name, fold, parse_name
from .negation import denies
from .statements import CONDITIONS, DECLINING, THEIRS, find_lead_in
from .walk import SHARE, TABLE_HEAD, are_whole, share_of
from .wording import NO_WORDING, Wording

NO_LIST: Final = Unparsed("no box, and no list of names", "prose", is_silent=True)
UNNAMED: Final = Unparsed("no name", is_silent=True)

# --- The items of a list ---

# Ranks, brackets, quotes, bullets
_MARKED: Final = lazy(r"[()\[\]\"“《「『【#>→•·▪–—0-9第]|-\s")
_OR: Final = pattern_of("or")
ITEM_SEPARATOR: Final = lazy(rf"[,;|、\n](?!\s?(?:{_OR})\s)")
# What splits a list; brackets and quotes shield what is in them.
_SEPARATOR: Final = lazy(
    rf"(?:[;|、\n]|,(?!(?<=[0-9],)[0-9]{{3}}(?![0-9])))(?!\s?(?:{_OR})\s)\s*"
    r"|(?<=[》」』”])\s*(?=[《「『“])"
)
_ARROW: Final = lazy(r"(?:→|->|>)\s*")
_SHIELD: Final = lazy(
    r"""\((?![0-9]{1,2}\))[^()]*\)|\[[^\[\]]*\]|"[^"\n]*"|“[^“”]*”"""
    "|《[^《》]*》|「[^「」]*」|『[^『』]*』|【[^【】]*】"
)
_PLACE: Final = (
    r"第\s*(?P<place>[0-9]{1,4}|[一二三四五六七八九十]{1,3})\s*[名位]\s*[:、.]?\s*"
)
_NTH: Final = r"(?P<nth>[0-9]{1,4})(?:st|nd|rd|th)(?:\splace\s?[-:]?|\s?[:.)])\s*"
_NAMED: Final = r"(?:rank\s?#?|no\.\s?|#)(?P<number>[0-9]{1,4})(?:\s?[:.)]|(?=\s))\s*"
_PLAIN: Final = r"(?P<mark>\(?)(?P<plain>[0-9]{1,2})\s?(?P<end>[.):、])(?P<gap>\s*)"
_RANK: Final = lazy(  # 第6名：, 6th:, 1st place, Rank 15:, No. 4, #3, 1., (2)
    rf"(?i)(?=[(第#rn0-9])(?:{_PLACE}|(?<![^\s,;|、])(?:{_NTH}|{_NAMED})|(?<![A-Za-z0-9.(]){_PLAIN})"
)
# Of a row the first cell with a letter, and a number in the first cell
_ROW: Final = lazy(
    r"(?m)^\s*\|?\s*(?:([0-9]{1,4})\s*\|)?(?:[^|\n\w]*\|)?\s*([^|\n]*[^\W\d_][^|\n]*?)\s*(?:\||$).*"
)
_EXCLUSIONS: Final = (  # in lower case, or with a colon: `Not Like Us` is a title
    lazy(
        r"(?i)(?:\b(?:excluded?|excludes|excluding|except|omitted|rejected|ruled\sout|not|no)|排除)"
        r"\s?[:：]"
    ),
    lazy(
        r"(?i:\b(?:every|any|all)[a-z]*)(?:\s[a-z]+){0,2}?\s(?:but|except|excluding|other\sthan)\b"
    ),
    lazy(
        r"\b(?:I\s)?(?:excluding|excludes?|except|other\sthan|rather\sthan|instead\sof|none\sof"
        r"|neither|(?:but\s)?not)\s"
    ),
    lazy(
        r"(?:\A|[,;|、\n(.]\s*)(?:(?:None\sof|Neither|Excluding|Except\sfor)[ "
        r"](?=\w)|我?不包[括含]"
        r"|不含|我?排除|剔除|不会是|不选|并非|非(?![常诚凡同遗洲])|除了?(?=.+外))"
    ),
)
# One of these stands in every exclusion: most lists hold none, and need no pattern.
_EXCLUDING: Final = (
    *(":", "：", "not", "none", "exc", "but", "than", "neither", "instead"),
    *("不", "除", "非"),
)
_NO_ROW: Final = lazy(r"\n(?=[^|\n]*(?:\n|\Z))")  # a remark below
_BULLETS: Final = lazy(r"(?:[-•·▪–—>→]\s+|->|[,;|、\s])+")  # and empty items
_AND: Final = lazy(rf"(?:\s|\A)(?:{pattern_of('and')}|&)\s+|\s?(?:和|以及)\s?")
_TRAILING_AND: Final = (" and", " And", " AND", " &")  # "1. Red and 2. Blue"
_PUNCTUATION: Final = ",;|、 \n"
NO_NAME: Final = lazy(  # marks, or the rest of `Monsters, Inc.`
    r"[\s!-/:-@\[-`{-~\u2010-\u2027\u3000-\u3003…]*|(?i:inc|corp|corporation|ltd|plc)\.?"
)
_COUNT: Final = lazy(  # no flag for case: a set of first letters makes the search fast
    r"""[Rr第前Tt](?:
        (?<=[Rr])(?i:ank(?:ed|s|ing)?\s+(?:from\s+)?
         \#?([0-9]{1,3})\s+(?:to|through|-)\s+\#?([0-9]{1,3}))
       |(?<=第)\s*([0-9]{1,3})\s*[名位]?\s*[到至-]\s*第?\s*([0-9]{1,3})\s*[名位]
       |(?<=前)\s*([0-9]{1,3}|[一二三四五六七八九十])\s*[名位大个]?
       |(?<=[Tt])(?i:op\s+([0-9]{1,3})\b))""",
    re.X,
)


def item_count(words: str) -> int | None:
    """Read how many items a question asks for: `rank 6 to 8`, `top 3`,
    `前3名`, `第4到6名`.
    """
    best = None
    for match in _COUNT.finditer(words):
        numbers = [int(write_digits(number)) for number in match.groups() if number]
        if len(numbers) == 2:
            return abs(numbers[1] - numbers[0]) + 1
        best = best or numbers[0]
    return best


def split_items(text: str, compounds: tuple[str, ...] = ()) -> list[str]:
    """Split a list into its items, in the order of their ranks if all
    have one (rule 7).

    `compounds` are names that contain a separator: they are not split where they
    occur completely.
    """
    if "|" in text and (head := TABLE_HEAD.search(text)):
        table = _NO_ROW.split(text[head.end() :])[0]
        rows = _ROW.findall(table)
        return _in_order((int(rank or 0), name) for rank, name in rows)
    if not compounds and not _MARKED.search(text):  # most
        return list(filter(_is_name, map(str.strip, ITEM_SEPARATOR.split(text))))
    text = _ranked_lines(text)
    items = []
    for rank, begin, end in _find_parts(_shield(text, compounds)):
        item = text[begin:end].strip().rstrip(_PUNCTUATION)
        if item.endswith(_TRAILING_AND):
            item = item.rpartition(" ")[0]
        items.append((rank, item))
    return _in_order(items)


def find_exclusion(text: str, names: Sequence[Name]) -> int:
    """Find where a list begins to say what is not in it: `A, B; excluded: C`; -1 if it
    does not, or if one of the `names` begins so itself.
    """
    lower = text.lower()
    if not any(word in lower for word in _EXCLUDING):
        return -1
    for pattern in _EXCLUSIONS:
        exclusion = pattern.search(text)
        if exclusion and not any(pattern.search(name.text) for name in names):
            return exclusion.start()
    return -1


def _shield(text: str, compounds: Sequence[str]) -> str:
    """Mask what brackets, quotes and compounds hold, which nothing splits."""
    for name in compounds:
        whole = rf"(?<![^\s,;|、>→:]){re.escape(name)}(?![^\s,;|、>→。])"
        text = re.sub(whole, lambda match: "_" * len(match[0]), text, flags=re.I)
    return _SHIELD.sub(_mask_inside, text)


def _mask_inside(match: re.Match[str]) -> str:
    held = match[0]
    inside = "_" * (len(held) - 2)
    return f"{held[0]}{inside}{held[-1]}"


def _ranked_lines(text: str) -> str:
    """Return the lines that begin with a rank, if there are several (rule 7)."""
    lines = [line for line in text.split("\n") if _RANK.match(line.lstrip("-•· "))]
    if len(lines) < 2:  # most
        return text
    return "\n".join(lines)


def _in_order(items: Iterable[tuple[int, str]]) -> list[str]:
    """List the names of items, in the order of their ranks if all have one."""
    names = [(rank, name) for rank, name in items if _is_name(name)]
    if all(rank for rank, _ in names):
        names.sort(key=itemgetter(0))
    return [name for _, name in names]


def _is_name(item: str) -> bool:
    return not NO_NAME.fullmatch(item)


def spans_between(cuts: Iterable[re.Match[str]], length: int) -> list[tuple[int, int]]:
    """List where the parts of a text begin and end that some matches cut."""
    places = iter([0, *(place for cut in cuts for place in cut.span()), length])
    return list(zip(places, places, strict=True))


def _find_parts(masked: str) -> list[tuple[int, int, int]]:
    """Find the rank of each item, 0 without one, and where its name begins and ends.

    Ranks that go on counting from one in front of everything split the text, whatever
    separates the items; else separators do.
    """
    ranks = list(_RANK.finditer(masked))
    chain = _find_chain(masked, ranks)
    separators = [*_SEPARATOR.finditer(masked)] or [*_ARROW.finditer(masked)]
    spans = spans_between(separators, len(masked))
    begins = [(_skip_bullets(masked, begin, end), end) for begin, end in spans]
    heads = {rank.start(): rank for rank in ranks}
    ranked = sum(begin in heads for begin, _ in begins)
    is_counted = len(chain) > 1
    if is_counted and not len(chain) <= ranked == len(begins):
        ends = [*(rank.start() for rank in chain[1:]), len(masked)]
        begins = [(rank.start(), end) for rank, end in zip(chain, ends, strict=True)]
    parts = []
    for begin, end in begins:
        head = heads.get(begin)
        if head and (_is_rank(head, masked) or (is_counted and head in chain)):
            parts.append((_number(head), _skip_bullets(masked, head.end(), end), end))
        else:
            parts.append((0, begin, end))
    return parts


def _find_chain(
    masked: str, ranks: Sequence[re.Match[str]], in_prose: bool = False
) -> list[re.Match[str]]:
    """Find the labels that count on, from one that no name begins with: in front of
    everything, `4th`, or in prose behind a colon.
    """
    begin = _skip_bullets(masked, 0, len(masked))
    chain: list[re.Match[str]] = []
    for rank in ranks:
        if chain:
            is_next = _number(rank) == _number(chain[-1]) + 1
            goes_on = is_next and _style(rank) == _style(chain[-1])
        elif in_prose and masked[: rank.start()].rstrip()[-1:] in (":", "："):
            goes_on = True
        else:
            goes_on = rank.start() == begin or not rank["plain"]
        if goes_on:
            chain.append(rank)
    return chain


# What may stand around a list of names that a text does not state
_UNSURE: Final = lazy(rf"(?i){pattern_of('past')}|{pattern_of('guesses')}")
_SMALL_WORDS: Final = lazy(
    r"(?<!\S)(?!(?:of|the|and|d[aeiu]|van|von|de[rn]|l[ae]|el|bin|al)\b)[a-z]{2}"
)
_LINE_END: Final = lazy(r"\n")
_WILL_BE: Final = lazy(r"(?:will\sbe|is)\s")


def _is_doubtful(around: str) -> bool:
    """Return whether the words around a list deny it, are not sure, or say
    what others say.
    """
    patterns = (*DECLINING, CONDITIONS, THEIRS, _UNSURE)
    return denies(around) or any(pattern.search(around) for pattern in patterns)


def find_labelled(text: str) -> list[str]:
    """Find the names in a sentence whose labels count on: `I rank them so: 1. Hart 2.
    Solberg.` None of a text that denies them, is not sure, or says what others say.
    """
    chain = _find_chain(text, [*_RANK.finditer(text)], in_prose=True)
    if len(chain) < 2:
        return []
    last = chain[-1].end()
    stops = [
        pattern.search(text, last) for pattern in (LIST_END, SENTENCE_END, _LINE_END)
    ]
    list_end = min((stop.start() for stop in stops if stop), default=len(text))
    if _is_doubtful(text[: chain[0].start()]) or _is_doubtful(text[list_end:]):
        return []
    ends = [*(rank.start() for rank in chain[1:]), list_end]
    names = []
    for rank, end in zip(chain, ends, strict=True):
        item = text[end_of(_WILL_BE, text, rank.end()) : end]
        name = item.strip(_PUNCTUATION).removesuffix(" and")
        if not name or _SMALL_WORDS.search(name):
            return []
        names.append(name)
    return names


def _is_rank(rank: re.Match[str], masked: str) -> bool:
    """Return whether no name begins like that: 24: Live, 2.731 and
    疯狂动物城2、飞驰人生3 are.
    """
    if rank["end"] in (":", "、"):
        return False
    if rank["end"] != "." or rank["gap"]:
        return True
    behind = masked[rank.end() : rank.end() + 1]
    return not behind.isdigit()


def _number(rank: re.Match[str]) -> int:
    """Return the number of a rank."""
    return int(
        write_digits(rank["place"] or rank["nth"] or rank["number"] or rank["plain"])
    )


def _style(rank: re.Match[str]) -> tuple[object, ...]:
    """Return how a rank is written: `1.`, `(1)`, `1st`."""
    return rank.lastgroup, rank["mark"], rank["end"], bool(rank["gap"])


def _skip_bullets(masked: str, begin: int, end: int) -> int:
    if masked[begin : begin + 1].isalnum():  # most
        return begin
    bullets = _BULLETS.match(masked, begin, end)
    return bullets.end() if bullets else begin


# --- Plain lists ---

# Words that say something else in a list: `and`, a legal form alone, `Confidence High`
_NO_PLAIN: Final = (
    r"(?!(?:And|Inc|Corp|Corporation|Ltd|Plc|Confidence|Certainty|Probability)\b)"
)
_PLAIN_WORD: Final = rf"{_NO_PLAIN}[A-Z][a-z]+"
_PLAIN_ITEM: Final = lazy(  # 6. Red Fox; 第6名：灯塔; Red Fox
    r"(?:(?P<place>第)?(?P<rank>[0-9]{1,2})(?(place)名[:：]|\. ))?"
    rf"(?P<name>{_PLAIN_WORD}(?: {_PLAIN_WORD}){{0,5}}\.?"
    r"|(?:(?![第和以])[^\x00-\x7f]){2,12})"
)
_PLAIN_SEPARATOR: Final = lazy(", |[，、]")
_HEDGES: Final = table_of("hedges")


def parse_plain_items(text: str) -> tuple[Name, ...]:
    """Read the names of a list whose items are plain names, with ranks that count on or
    without: most answers, before anything else is looked at. Empty for any other text.

    >>> [name.key for name in parse_plain_items("6. Red Fox, 7. Teal")]
    ['red fox', 'teal']
    """
    if may_be_status(text) or find_lead_in(text):
        return ()
    items = [_PLAIN_ITEM.fullmatch(part) for part in _PLAIN_SEPARATOR.split(text)]
    names = [item["name"] for item in items if item]
    if len(names) < len(items) or _HEDGES.find(names[0]):
        return ()
    ranks = [int(item["rank"]) for item in items if item and item["rank"]]
    count_on = range(min(ranks, default=0), max(ranks, default=0) + 1)
    if ranks and (len(ranks) < len(items) or ranks != [*count_on]):
        return ()
    if not all(map(_is_in_one_writing, names)):
        return ()
    return tuple(map(parse_name, names))


def _is_in_one_writing(name: str) -> bool:
    """Return whether no character of a name may be written in another
    way, as ﬁ is fi.
    """
    return name.isascii() or (min(name) >= "\u4e00" and max(name) <= "\u9fff")


# --- The names of an answer ---

_WINS: Final = lazy(  # Evelyn Marsh wins, Sketch will be the #1
    r"\s(?:(?:will|to)\swin|wins?|is\selected|获胜|胜出)\Z"
    r"|\s(?:will\s(?:be|remain|top|lead)|is|remains)\s(?:the\s|at\s)?(?:latest\s)?"
    r"(?:#\s?1|no\.\s?1|number[\s-]one|top\b|first\splace)(?![0-9]).*\Z"
)
_SURE: Final = lazy(  # , confidence 0.8; with 70% confidence
    r"(?i)[\s,;(–-]*\b(?:confidence|certainty|probability|置信度|概率)[\s:=]*"
    r"(?:[0-9.]+\s?%?|high|medium|moderate|low)[.]?\)?\s*\Z"
    r"|[\s,;(–-]*\bwith\s[0-9.]+\s?%\s(?:confidence|certainty|probability)\)?\s*\Z"
)


def _find_likeliest(items: Sequence[str]) -> list[str]:
    """Return the names with the largest share, if all have one and they add up."""
    shares = []
    for item in items:
        share = SHARE.search(item, max(0, len(item) - MAX_SHARE))
        shares.append(share_of(share[0]) if share else 0.0)
    if not are_whole(shares):
        return list(items)
    return [
        item for item, share in zip(items, shares, strict=True) if share == max(shares)
    ]


def parse_items(
    answer: Answer,
    wording: Wording = NO_WORDING,
    count: int | None = None,
    known: frozenset[str] = frozenset(),
    compounds: tuple[str, ...] = (),
) -> tuple[Name, ...]:
    """Read the names of a list answer or truth.

    Elements of a list literal are never split. Otherwise a final `and` splits the last
    item of a list, unless the number of items (`count`, or the one that `wording` asks
    for) is reached or the item is a `known` key. Chinese names parted by blanks alone
    are a list where they are as many as asked for. `compounds`: see `split_items`.
    """
    if answer.elements:
        return tuple(
            [parse_name(clean(item)) for item in answer.elements if _is_name(item)]
        )
    text = answer.sentence
    if sure := _SURE.search(text, max(0, len(text) - MAX_SHARE)):
        text = text[: sure.start()]
    items = split_items(text, compounds)
    if not items:
        return ()
    if len(items) == 1:
        lone = items[0][_HEDGES.skip(items[0]) :]
        items = [_WINS.sub("", lone)]
    elif count == 1:
        items = _find_likeliest(items)
    *others, last = items
    cuts = [*_AND.finditer(last)][-8:]
    if others and not cuts:  # most
        return tuple(map(parse_name, items))
    if count is None:
        count = wording.ask(item_count)
    split = [*others, *_split_last(last, cuts, len(others), count, known)]
    return tuple(map(parse_name, filter(_is_name, split)))


def _split_last(
    last: str,
    cuts: Sequence[re.Match[str]],
    others: int,
    count: int | None,
    known: frozenset[str],
) -> list[str]:
    """Split the last item of a list, behind so many others, at a final `and`."""
    if cuts and cuts[0].start() == 0:  # Oxford comma
        return [last[cuts[0].end() :]]
    names = last.split(" ")
    if not others and len(names) == count and all(map(is_cjk, "".join(names))):
        return names
    parts = [*filter(None, _AND.split(last))]
    if others + len(parts) == count:
        return parts
    if not cuts or not others or others + 1 == count:
        return [last]
    if parse_name(last).key in known:
        return [last]
    ends = [cut for cut in cuts if parse_name(last[cut.end() :]).key in known]
    cut = [*ends, cuts[-1]][0]
    return [last[: cut.start()], last[cut.end() :]]


# --- Lists and sentences ---

_SPEAKERS: Final = table_of("speakers")
_SPEAKING: Final = table_of("speaking")
_VERB: Final = lazy(
    r"(?:['’](?:d|m|ll|ve|re|s))?\s[a-z]{2,}"
)  # `I Will Always Love You` is a title
_FORETOLD: Final = frozenset(words("foretold"))
_WORD: Final = lazy(r"[a-z]+(?=\s[a-z])")
_SENTENCE_CJK: Final = lazy(r"[^\n0-9、《]{6,}[。!:]\s?")
# Sweden, but Norway could win
_REMARKS: Final = table_of("fillers", "guesses", "but", "parting")
_BRACKETED: Final = lazy(r"\([^()]*\)")
# In lower case, of four letters
_LOW_WORD: Final = lazy(r"(?<!\S)[a-z]{4,}(?=[\s.!?:]|\Z)")
MAX_SHARE: Final = 30  # characters of a share behind a name
MAX_WORDS: Final = 12  # of a name
_MAX_PLAIN: Final = 3
# Words that nothing splits, more than a name has: what holds them is no list.
_LONG_RUN: Final = lazy(rf"(?<!\S)(?:[A-Za-z][A-Za-z'’.-]* ){{{MAX_WORDS + 2}}}")


def looks_like_names(text: str, bare: bool = True) -> bool:
    """Return whether a text without a box may be a list of names, and is no sentence.

    No item has over 12 words; of `bare` text, which nothing states to be an
    answer, none speaks.
    """
    if len(text) > 2000 or (bare and _speaks(text)):
        return False
    ranks = [*_RANK.finditer(text)]
    if not ranks and "|" not in text and _LONG_RUN.search(text):  # most prose
        return False
    chain = _find_chain(text, ranks) if bare else []
    front = text[: chain[0].start()] if chain else ""
    if front and _is_doubtful(front):
        return False
    items = split_items(text)
    return all(_may_be_name(item, bare, is_lone=len(items) == 1) for item in items)


def _may_be_name(item: str, bare: bool, is_lone: bool) -> bool:
    if len(item.split()) + count_cjk(item) / 3 > MAX_WORDS:
        return False
    if item[:1].islower() and _REMARKS.find(item):
        return False
    name = _BRACKETED.sub(" ", item)
    end = SENTENCE_END.search(name)
    if end and (is_lone or end[0][0] in ".。"):  # not Mamma Mia! Here We Go Again, …
        return False
    return not bare or len(_LOW_WORD.findall(name)) <= _MAX_PLAIN


def are_plain_names(text: str) -> bool:
    """Return whether a text is nothing but names: no word of four letters is
    in lower case.
    """
    items = split_items(text)
    if not items or _LOW_WORD.search(text):
        return False
    if any(item[:1].islower() for item in items):
        return False
    return looks_like_names(text)


def _speaks(text: str) -> bool:
    """Return whether a text is a sentence: `I would go with`, `Norway will
    win`, `我认为`.
    """
    speaker = _SPEAKERS.find(text)
    if speaker and _VERB.match(text, len(speaker)):
        return True
    if _SPEAKING.find(text) or not _FORETOLD.isdisjoint(_WORD.findall(text, 1)):
        return True
    return bool(_SENTENCE_CJK.fullmatch(text))


def is_name_of(text: str, words: str, truth: Sequence[Name]) -> bool:
    """Return whether a text that looks like a refusal is a name. It begins with a true
    name, or is a list that begins with `Unknown`.
    """
    folded = fold(text)
    if any(folded.startswith(fold(name.text)) for name in truth):
        return True
    is_title = words.istitle() and words.replace(" ", "").isalpha()
    return is_title and bool(ITEM_SEPARATOR.search(text, len(words)))


def show_names(names: Sequence[Name]) -> str:
    """Show names in one line."""
    return " | ".join([name.text for name in names])
