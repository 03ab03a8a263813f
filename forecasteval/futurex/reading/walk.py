"""One walk over the text that counts: its values, and how what stands between
them joins them.

A kind of answer (choices, numbers) says only where a value begins and ends; the rules
are the same for all. The gap between two values is one of

    and     marks, `and`: a list goes on
    or      `or`, `could be`: another answer
    not     `not`, `never`, ❌: no answer
    except  `but not`, `excluding`: no answer, and behind a list none of it
    fixed   `actually`, `correction:`: this one instead of those before
    remark  anything else: from here on no list goes on
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from forecasteval.common.patterns import BLANKS, WordTable, end_of, lazy

from .language import pattern_of, words
from .negation import CROSSES, takes_back

V = TypeVar("V", bound=Hashable)
W = TypeVar("W", bound=Hashable)

# --- Gaps ---

AND, OR, NOT, EXCEPT, FIXED, REMARK = "and", "or", "not", "except", "fixed", "remark"
_KINDS: Final = {
    **dict.fromkeys(map(str.lower, words("and", "hedges", "fillers")), AND),
    **dict.fromkeys(map(str.lower, words("or", "guesses")), OR),
    **dict.fromkeys(map(str.lower, words("denials")), NOT),
    **dict.fromkeys(words("exclusions"), EXCEPT),
    **dict.fromkeys(map(str.lower, words("corrections")), FIXED),
    **dict.fromkeys(("¬", "≠", "!", *CROSSES), NOT),
}
FRONT: Final = WordTable(*_KINDS)  # words in front of a value
_STOP_MARKS: Final = r"、;；|&\n!！?？()（）\[\]【】—→*\"“”+"
_FIRST_LETTERS: Final = "".join(sorted({word[0] for word in words("and", "or")}))
STOP: Final = lazy(  # behind which a value may begin; no comma within 4,000
    # A glance at the first sign halves the time.
    rf"(?=[{_STOP_MARKS}{_FIRST_LETTERS}\s0-9,，:：.。/–-])(?:"
    rf"[{_STOP_MARKS}]|,(?!(?<=[0-9],)[0-9]{{3}}(?![0-9]))|，|[:：.。/](?![0-9])"
    r"|\s[–-]+\s|(?<=\S)[–-]\s|(?<=%)\s(?=[A-Z]\W)|(?<=\s)(?=[0-9]{1,2}[.)](?![0-9]))"
    rf"|{pattern_of('and')}|{pattern_of('or')})"
)
# Of several kinds in one gap the first of these counts. In front of all values a remark
# does: `No tengo respuesta: quizá B` states nothing.
_STRONGEST: Final = (FIXED, OR, EXCEPT, NOT, REMARK, AND)
_STRONGEST_IN_FRONT: Final = (REMARK, EXCEPT, NOT, OR, FIXED, AND)
_DENYING_MARKS: Final = ("!", "¬", "≠")
_OPENING: Final = ("(", "[", "（")
_CLOSING: Final = (")", "]", "）")
_WORDS: Final = lazy(r"\s*[A-Za-z]")
_OPEN: Final = lazy(r"[(\[（]")
TABLE_HEAD: Final = lazy(r"\|\s?\n\s?\|(?:\s?:?-{2,}:?\s?\|)+")  # up to its rule
SHIELDED: Final = lazy(r"\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|【[^【】]*】")


def join(gap: str, strongest: Sequence[str] = _STRONGEST) -> str:
    """Return the kind of a gap."""
    if not gap.strip():
        return AND
    if gap[-1] in _DENYING_MARKS:
        return NOT
    kinds = set()
    for piece in _split_gap(SHIELDED.sub("", gap)):
        kind = kind_of(piece)
        if kind == strongest[0]:  # most in front of all values
            return kind
        kinds.add(kind)
    return next(kind for kind in strongest if kind in kinds)


def _split_gap(gap: str) -> Iterator[str]:
    """Yield what stands between the stops of a gap, and the words that are stops."""
    begin = 0
    for stop in STOP.finditer(gap):
        yield gap[begin : stop.start()]
        if stop[0].isalpha():
            yield stop[0]
        begin = stop.end()
    yield gap[begin:]


def kind_of(piece: str) -> str:
    """Return the kind of some words; unknown ones are a remark, unless
    behind `could be`.
    """
    kind, rest = split_front(piece)
    is_known = kind in (OR, FIXED) or not any(map(str.isalpha, rest))
    return kind if is_known else REMARK


def split_front(piece: str) -> tuple[str, str]:
    """Split the known words off with which a text begins: their kind, and the rest."""
    at, kind = end_of(BLANKS, piece), AND
    while word := FRONT.find(piece, at):
        if _KINDS[word] != AND:
            kind = _KINDS[word]
        at = end_of(BLANKS, piece, at + len(word))
    return kind, piece[at:]


# --- Values ---


class Said(NamedTuple, Generic[V]):
    """A value of a text, how it is joined to those before it, and what
    stands behind it.
    """

    value: V
    begin: int
    end: int
    joint: str
    inside: bool  # of brackets
    behind: str  # with "…" in place of the next value

    def with_value(self, value: W) -> Said[W]:
        """Return another value said in the same words."""
        return Said(value, self.begin, self.end, self.joint, self.inside, self.behind)


def walk(
    text: str, find: Callable[[str, int], tuple[V, int, int] | None], limit: int = 200
) -> list[Said[V]]:
    """Walk from value to value. `find` returns the next one at or behind a position,
    with where it begins and ends.
    """
    values: list[Said[V]] = []
    end = depth = 0
    while len(values) < limit and (found := find(text, end)):
        value, begin, next_end = found
        gap = text[end:begin]
        depth += sum(map(gap.count, _OPENING))
        depth = max(0, depth - sum(map(gap.count, _CLOSING)))
        joint = join(gap, _STRONGEST if values else _STRONGEST_IN_FRONT)
        if values:
            values[-1] = values[-1]._replace(behind=f"{gap}…")
            # In `B (because of its C)` the remark is within the brackets, not in
            # front of them.
            if depth and joint == REMARK:
                joint = join(_OPEN.split(gap)[0])
        end = next_end
        values.append(Said(value, begin, end, joint, depth > 0, text[end:]))
    return values


def choose(
    values: Sequence[Said[V]], agrees: Callable[[V], bool] = lambda _: False
) -> list[V] | None:
    """Choose the values that count; None if two differ, or one is denied (rule 5).

    `agrees`: whether a denial behind a value says the same, as it does of No.
    """
    chosen: list[V] = []
    goes_on = True
    denial: Said[V] | None = None  # the first of the values that are denied together
    for said in values:
        is_other = bool(chosen) and said.value not in chosen
        if said.joint in (NOT, EXCEPT):
            denial = said
        elif denial and (said.joint not in (AND, OR) or said.inside != denial.inside):
            denial = None  # It ends: `B (not A), C`. It goes on: `B, but not A or C`.
        is_taken_back = takes_back(said.behind) and not agrees(said.value)
        if said.joint == FIXED:
            # `A. Actually, B` is B; `A. Actually B was my first thought` is in doubt.
            if _WORDS.match(said.behind):
                return None
            chosen, goes_on = [said.value], True
        elif not goes_on or (chosen and said.joint == REMARK):
            goes_on = False
        elif denial or is_taken_back:
            # `B, not A` is B, `A, C, but not B` is a list; `A, C, not B` is none,
            # nor is `not B`.
            is_excepted = denial is not None and denial.joint == EXCEPT
            if not (is_other and (is_excepted or said.inside or len(chosen) == 1)):
                return None
        elif is_other and said.joint == OR:
            return None
        elif not chosen or (is_other and not said.inside):
            chosen.append(said.value)
    return chosen


# --- Shares ---

SHARE: Final = lazy(  # behind a value: (40%), with 0.6 probability
    r"(?i)[\s,:=(~≈约)\]–-]{0,4}(?:about\s|with\s)?(?:an?\s)?(?:(?:probability|chance|confidence|概率"
    r"|置信度)[\s:=of]{0,4})?(?<![0-9.])(?:([0-9]{1,3}(?:\.[0-9]{1,6})?)\s?%|([01]?\.[0-9]{1,6}))"
)


def share_of(behind: str) -> float:
    """Return the share with which a text behind a value begins, in percent or
    not; 0 without.
    """
    share = SHARE.match(behind)
    return float(share[1] or share[2]) if share else 0.0


def are_whole(shares: Sequence[float]) -> bool:
    """Return whether these are all shares of a whole: 90-110 % of it."""
    if len(shares) < 2 or not all(shares):
        return False
    whole = sum(shares)
    # A rounding apart, so that 0.6, 0.3 and 0.2 are 1.1.
    return 0.9 - 1e-9 <= whole <= 1.1 + 1e-9 or 90 - 1e-9 <= whole <= 110 + 1e-9
