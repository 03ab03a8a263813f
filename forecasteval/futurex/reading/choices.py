"""Choices, levels 1 and 2: the options of a prompt, how a text picks them, two
sides; exact, F1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice, pairwise, takewhile
from typing import Final

from forecasteval.common.markup import clean
from forecasteval.common.patterns import WordTable, end_of, lazy
from forecasteval.questions.states import AnswerScore, Unparsed

from ..rules import score_f1
from .answers import Answer, TruthOf
from .language import pattern_of, table_of, words
from .names import compare_names, fold, key_of, parse_name
from .negation import denies, takes_back
from .statements import (
    CONTRADICTION,
    SENTENCE_STOP,
    drop_lead_in,
    find_lead_in,
)
from .walk import (
    AND,
    FRONT,
    NOT,
    OR,
    REMARK,
    SHARE,
    SHIELDED,
    STOP,
    TABLE_HEAD,
    Said,
    are_whole,
    choose,
    kind_of,
    share_of,
    walk,
)

MAX_OPTIONS: Final = 62  # A to ~ in ASCII order
_LABELS: Final = "".join(map(chr, range(ord("A"), ord("A") + MAX_OPTIONS)))
YES_NO: Final = {
    **dict.fromkeys(words("yes"), "Yes"),
    **dict.fromkeys(words("no"), "No"),
}


# --- The options of a prompt ---

# A. text, (A) text, **A.** text
_MARK: Final = r"(?:[-•*]\s+)?[*(]*([!-~])[*]*[.)、:：．][*]*"
_FORMS: Final = (
    lazy(r"\n([A-~])\.([^\n]*)"),
    lazy(rf"(?m)^[^\S\n]*{_MARK}[^\S\n]*([^\n]*)"),
    lazy(rf"\|\s*{_MARK}\s*([^|]*)"),  # question | A. text | B. text
)
_SECOND: Final = lazy(r"B[*]*[.)、:：．]")  # a glance that fails fast


def find_options(prompt: str) -> Sequence[str]:
    r"""Find the options' texts in a prompt, labelled A, B, … on separate lines (or
    inline after ` | `).

    Past Z the labels go on in ASCII order: `[ \ ] ^ _`, the backtick, a, b, … Empty if
    there are none.
    """
    if not _SECOND.search(prompt):
        return ()
    for form in _FORMS:
        texts: list[str] = []
        for label, text in form.findall(prompt):
            if len(texts) < MAX_OPTIONS and label == _LABELS[len(texts)]:
                texts.append(text.strip().strip('"'))  # the prompt's, which ends there
        if len(texts) > 1:
            return texts
    return ()


@lru_cache(maxsize=128)
def label_set(count: int) -> frozenset[str]:
    """Make the labels of so many options."""
    return frozenset(_LABELS[:count])


@lru_cache(maxsize=128)
def label_picks(count: int) -> dict[str, frozenset[str]]:
    """Make the picks of the labels of so many options."""
    return {label: frozenset([label]) for label in _LABELS[:count]}


_YES_NO_PICKS: Final = {word: frozenset([word]) for word in ("Yes", "No")}

# --- How a text names options ---

SEPARATOR: Final = lazy(  # not in 4,000
    r"[，、;；/|&\n]|,(?!(?<=[0-9],)[0-9]{3}(?![0-9]))"
)
_FROM_TO: Final = lazy(r"\Abetween (\S{1,20}) and ")
_ARTICLE: Final = lazy(r"an?\s+(?=\S{2})")  # a draw
# 3.0% to 3.2%
_SPACED: Final = lazy(r"%?\s*(?:[-–—]|(?<=[0-9%]\s)to(?=\s\$?[0-9])|([<>≤≥]))\s*")
_BASIS_POINTS: Final = lazy(r"(?<=[0-9])[ -]?(?:bps?|basis[ -]points?)\b")
_WITH_UNIT: Final = lazy(r"[0-9].*[a-z]")
_LETTER: Final = lazy(r"[^\W\d_]")
_DRESS: Final = lazy(
    r"(?:[\s\"'“”‘’•·▪*$-]|[0-9]{1,2}[.)](?![0-9])\s*|>\s(?=\(?[A-Z]\b))*"
)
_LABEL: Final = lazy(  # B, (B), Option B, 选项B; what stands behind it decides
    r"(?i)(?:(?:the\s)?(?:options?|choices?|answers?|outcomes?|only|just|我?(?:选项|选择|选))\s*:?\s*)?"
    r"(?:[(\[【]\s?([!-~])\s?[)\]】]|([!-~]))"
)
_BEHIND: Final = lazy(  # a label, Yes or No: a mark, or a word that goes on about it
    r"\s*(?:\Z|[^\w\s.'’+/%-]|[.](?![0-9])|[/+](?=\s?[A-Z]\b)|[-–]{1,2}\s)|\s?选?项|[^\x00-\x7f]"
    rf"|\s(?:is|was|will|has|seems|are|only|here|because|since|as|at|for|with|by|over|but|not"
    rf"|{pattern_of('exclusions')}|[A-Z]"
    r"|[0-9]{1,2}(?=[.)]))\b"
    # "A 60%, B 40%", and not "A 5% rise".
    r"|\s?[0-9]{1,3}(?:\.[0-9]{1,6})?\s?%(?=\s*(?:[,，、;；|\n]|\Z))"
    rf"|\s?(?:{pattern_of('and')}|{pattern_of('or')})"
)
_GOES_ON: Final = lazy(r"[)\]】*]*\s(?:is|was|will|has|seems)\b")  # about one label
_OWN_TEXT: Final = lazy(
    r"[)\]】*]* ?[.):、–—=-](?! *[0-9~≈.]) "
    r"*(?=((?:[^,，;；|、\n(%]|,(?=[0-9]{3})){1,300}))"
)
_VERDICT: Final = lazy(r"[)\]】*]*\s?(?:[.):、|]|[–—=-]\s|\s[–—=-]\s?)\s*")
_LETTERS: Final = lazy(r"([A-~]{2,20})(?=\W|\Z)")
_RANGE: Final = lazy(
    r"(?i)\(?([!-~])\)? "
    r"?(?:[-–—]|through|thru|to|至|到)\s?\(?([!-~])\)?(?=\W|\Z)"
)
_SAID: Final = WordTable(*YES_NO)
_LISTS: Final = tuple(",，、;；|\n/&+")
# No option
_STRANGER: Final = lazy(r"(?:[A-Z0-9][\w.'’-]* ?){1,3}(?=\s*(?:[,，;；、|\n.]|\Z))")
_TEXT_END: Final = lazy(
    r"\s(?=[a-z0-9(])|(?<=[^\x00-\x7f])(?=[0-9对])|\s(?=[^\x00-\x7f])"
)
MAX_TOKEN: Final = 300  # characters of an option's text in an answer


@dataclass(frozen=True, slots=True)
class NoOption:
    """A pick that is none of the options, by its text in comparable form."""

    key: str

    def __str__(self) -> str:
        return self.key


Picks = frozenset[str | NoOption]  # labels, Yes and No, and what is no option
NO_PICKS: Final[frozenset[str]] = frozenset()


def choice_key(text: str) -> str:
    """Return the form in which an option's text and a token compare: `the outcome be
    $10 – $20` is `10-20`.
    """
    key = key_of(fold((drop_lead_in(text) or text).replace("_", " "))).replace("$", "")
    key = _FROM_TO.sub(r"\1-", key[end_of(_ARTICLE, key) :])
    return _BASIS_POINTS.sub(" bps", _SPACED.sub(lambda mark: mark[1] or "-", key))


def _count_shared(rows: Sequence[Sequence[str]]) -> int:
    """Count the words with which all rows begin."""
    shared = takewhile(lambda words: len({*words}) == 1, zip(*rows, strict=False))
    return len([*shared])


_WINS: Final = lazy(
    r"\s?(?:\s(?:will\s|to\s)?wins?(?:\son\s[0-9-]+)?|在?[0-9-]*获胜)\Z"
)
_DRAWS: Final = lazy(
    r"(?:\A|.*\s)(?:draw|tie|tied)(?:\son\s[0-9-]+)?\Z|.*(?:战平|打平|平局)\Z"
)
_DRAW_NAMES: Final = ("draw", "tie", "平局", "战平", "平")


def _name_sides(keys: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Label the sides of a match by their bare names, and the draw, where exactly one
    option says each: `Otters win on 2026-05-01`.
    """
    pairs = [*zip(keys, names, strict=False)]
    winning = [(key, name) for key, name in pairs if _WINS.search(key)]
    winners = {_WINS.sub("", key): name for key, name in winning}
    draws = [name for key, name in pairs if _DRAWS.match(key)]
    if len(winners) != 2 or len(draws) != 1 or len(pairs) != 3:
        return {}
    return {**dict.fromkeys(_DRAW_NAMES, draws[0]), **winners}


class Options:
    """The options of a question: their `texts` and `labels`, or so many labels alone;
    of two `sides` the texts are the labels.
    """

    def __init__(
        self, texts: Sequence[str], count: int = 0, sides: bool = False
    ) -> None:
        self.texts = texts
        self.sides: Sequence[str] = ()
        self.names: Sequence[str] = _LABELS
        self.labels = label_set(len(texts) or count)
        if sides:
            self.sides = self.names = texts
            self.labels = label_set(0)

    @cached_property
    def keys(self) -> list[str]:
        """Return the options' texts in comparable form."""
        return [choice_key(clean(text)) for text in self.texts]

    @cached_property
    def index(self) -> dict[str, str]:
        """Return the label by option text, yes and no under every name; a text that two
        options share stands for neither.
        """
        if not self.texts:
            return {} if self.labels else YES_NO
        pairs = [*zip(self.keys, self.names, strict=False)]
        said = {YES_NO[key]: label for key, label in pairs if key in YES_NO}
        index = {
            name: said[meaning] for name, meaning in YES_NO.items() if meaning in said
        }
        texts = {key: label for key, label in pairs if self.keys.count(key) == 1}
        return index | _name_sides(self.keys, self.names) | texts

    @cached_property
    def parts(self) -> list[str]:
        """Return what each option's text has between the words with which all begin and
        end; nothing if one has no letter there: `3` of `more than 3` may be a number.

        >>> Options(["Ada Lee win the award", "Bo Day win the award"]).parts
        ['ada lee', 'bo day']
        """
        space, rows = " ", [key.split(" ") for key in self.keys]
        if not "".join(self.keys).isascii():  # Chinese signs have none between
            space, rows = "", [list(key) for key in self.keys]
        front = _count_shared(rows)
        back = _count_shared([row[front:][::-1] for row in rows])
        parts = [space.join(row[front : len(row) - back]) for row in rows]
        is_shared = front + back > 0
        return parts if is_shared and all(map(_LETTER.search, parts)) else []

    @cached_property
    def printed(self) -> dict[str, str]:
        """Return the label by text as it stands in the prompt."""
        pairs = zip(self.texts, self.names, strict=False)
        return {text: name for text, name in pairs if self.texts.count(text) == 1}

    @cached_property
    def width(self) -> int:
        """Return how many stops one option's text holds at most."""
        return max(len(STOP.findall(text)) for text in ("", *self.texts))

    @cached_property
    def picks(self) -> Mapping[str, Picks]:
        """Return what is picked by a label alone or an option's text as it stands in
        the prompt, or by Yes or No where there are no options.
        """
        if not (self.labels or self.texts):
            return _YES_NO_PICKS
        texts = {text: frozenset([label]) for text, label in self.printed.items()}
        return label_picks(len(self.labels)) | texts

    def find_plain(self, text: str) -> Picks:
        """Find what a raw text picks that is labels with commas between them, an
        option's text as it stands in the prompt, or Yes or No: most answers, before
        anything else is looked at.
        """
        if text in self.texts or len(text) > MAX_TOKEN:
            return self.picks.get(text, NO_PICKS)
        if not (self.labels or self.texts):
            return _YES_NO_PICKS.get(text, NO_PICKS)
        labels = text.split(", ")
        return frozenset(labels) if self.labels.issuperset(labels) else NO_PICKS

    @cached_property
    def agreeing(self) -> str:
        """Return the pick with which a denial agrees: that of No."""
        return self.index.get("no", "")

    def find_label(self, token: str) -> str:
        """Find the label that a token is in any case; "" if it is none."""
        for label in (token, token.upper()):
            if label in self.labels:
                return label
        return ""

    def find_text(self, token: str) -> str:
        """Find the label of the option whose text, or whose own part of
        it, a token is.
        """
        if label := self.printed.get(token):
            return label
        key = choice_key(token)
        if not key or key.upper() in self.labels:
            return ""
        winner = _WINS.sub("", key)
        if label := self.index.get(key) or self.index.get(winner):
            return label
        if self.sides:
            name = parse_name(token)
            labels = [
                side for side in self.texts if compare_names(parse_name(side), name)
            ]
        else:
            rows = zip(self.parts, self.keys, self.names, strict=False)
            labels = [
                label for part, text, label in rows if part in key and key in text
            ]
        if not labels and _WITH_UNIT.match(key):  # 25 bps
            pairs = zip(self.keys, self.names, strict=False)
            labels = [label for text, label in pairs if text.startswith(f"{key} ")]
        return labels[0] if len(labels) == 1 else ""

    def find_list(self, text: str) -> frozenset[str]:
        """Find the labels that a raw text is, in no dress but marks between and around
        them: most answers. Labels past Z are marks themselves, and `y` is a label
        before it is a word.
        """
        if len(text) > MAX_TOKEN:
            return NO_PICKS
        labels = text.split(", ")
        if self.labels.issuperset(labels):  # most
            return frozenset(labels)
        label, _, behind = text.partition(". ")
        if behind and self.printed.get(behind) == label:  # A. Draw
            return frozenset([label])
        if "\\" in text:
            text = _SPACING.sub(" ", _WRAPPER.sub(r"\1", text))
        if self.labels.issuperset(parts := _MARKS_BETWEEN.split(text)):
            return frozenset(parts)
        labels = []
        for part in _MARKS_BETWEEN.split(text.strip("$ ")):
            label = self.find_label(part) or self.find_label(part.strip(_AROUND))
            if not label:
                return NO_PICKS
            labels.append(label)
        return frozenset(labels)

    # --- Values of the walk ---

    def value_at(self, text: str, at: int) -> tuple[Picks, int] | None:
        """Read the picks that begin at a position, and where they end."""
        found = self._text_at(text, at)
        if not found and self.labels:
            found = self._label_at(text, at)
        if found:
            return self._judge(text, *found)
        said = _SAID.find(text, at)
        if said not in self.index:
            return None
        end = at + len(said)
        is_sign = len(said) > 1 and not said.isascii()  # 是的
        if not (is_sign or _BEHIND.match(text, end)):
            return None
        return frozenset([self.index[said]]), end

    def _judge(self, text: str, picks: Picks, end: int) -> tuple[Picks, int]:
        """Return no picks of those that a verdict behind them denies:
        `A: no, B: yes`.
        """
        verdict, behind = self._find_verdict(text, end)
        if verdict and YES_NO[verdict] == "No":
            picks = NO_PICKS
        return picks, behind

    def _find_verdict(self, text: str, end: int) -> tuple[str, int]:
        """Find Yes or No behind an option, where these are none themselves, and
        where it ends.
        """
        begin = end_of(_VERDICT, text, end)
        if begin == end:  # most
            return "", end
        said = _SAID.find(text, begin)
        behind = begin + len(said)
        if not said or said in self.index or not _BEHIND.match(text, behind):
            return "", end
        return said, behind

    def _text_at(self, text: str, at: int) -> tuple[Picks, int] | None:
        """Read an option's text: up to a stop, of which it may hold some itself."""
        if not self.texts:
            return None
        stops = islice(STOP.finditer(text, at, at + MAX_TOKEN), self.width + 2)
        ends = [stop.start() for stop in stops]
        if len(ends) < self.width + 2 and len(text) - at <= MAX_TOKEN:
            ends.append(len(text))
        if self.sides or self.parts:  # Otters will win
            first_end = min(ends, default=at)
            ends += [
                behind.start() for behind in _TEXT_END.finditer(text, at, first_end)
            ]
        ends += [at + len(side) for side in self.sides if text.startswith(side, at)]
        for end in sorted(ends, reverse=not self.sides):
            token = text[at:end].rstrip()
            if token and (label := self.find_text(token)):
                return frozenset([label]), at + len(token)
        return None

    def _label_at(self, text: str, at: int) -> tuple[Picks, int] | None:
        """Read a label in any dress, with its option's text; labels side by
        side, or a range.
        """
        ends = _RANGE.match(text, at)
        if ends and self.labels.issuperset(ends.groups()):
            first, last = map(ord, ends.groups())
            if first < last:
                return frozenset(map(chr, range(first, last + 1))), ends.end()
        letters = _LETTERS.match(text, at)
        if letters and self.labels.issuperset(letters[1]):
            labels = frozenset(letters[1])
            if len(labels) == len(letters[1]):
                return labels, letters.end()
        label, end = self._lone_label(text, at)
        if not label:
            return None
        own = _OWN_TEXT.match(text, end)
        if not own:
            return frozenset([label]), end
        begin = own.end()
        if inner := self._text_at(text, begin):
            return frozenset([label]), inner[1]
        if self._find_verdict(text, end)[0]:
            return frozenset([label]), end
        if self._lone_label(text, begin)[0] or FRONT.find(text, begin):
            return frozenset([label]), end
        return frozenset([label]), own.end(1)

    def _lone_label(self, text: str, at: int) -> tuple[str, int]:
        """Read a label, or a letter past the last one, and where it ends; "" if
        there is none.
        """
        found = _LABEL.match(text, at)
        if not found:
            return "", at
        letter, end = found[1] or found[2], found.end()
        if not (found[1] or _BEHIND.match(text, end)):
            return "", end
        label = self.find_label(letter)
        if not label and letter.isupper():
            label = letter
        return label, end

    def find(self, text: str, position: int) -> tuple[Picks, int, int] | None:
        """Find the next picks at or behind a position: they stand at the
        beginning of a clause.
        """
        for stop in chain([None], STOP.finditer(text, position)):
            at = stop.end() if stop else position
            is_listed = stop[0] in _LISTS if stop else not position
            while True:
                if found := self.value_at(text, at):
                    return found[0], at, found[1]
                begin = find_lead_in(text, at + len(FRONT.find(text, at)))
                begin = end_of(_DRESS, text, begin)
                if begin == at:
                    break
                at = begin
            if is_listed and self.labels and (stranger := _STRANGER.match(text, at)):
                return (
                    frozenset([NoOption(choice_key(stranger[0]))]),
                    at,
                    stranger.end(),
                )
        return None


# --- Picks ---

_AND_CJK: Final = "|".join(word for word in words("and") if not word.isascii())
_MARKS_BETWEEN: Final = lazy(
    rf"(?:(?:\s*(?:[,，、;；|&+]|(?<![Nn])(?<![Nn]\s)/)\s*)(?:(?:{pattern_of('and')})\s+)?"
    rf"|\s+(?:{pattern_of('and')})\s+|\s+|(?:{_AND_CJK}))"
)
_WRAPPER: Final = lazy(r"\\(?:text|math)\w*\s?\{([^{}]*)\}")
_SPACING: Final = lazy(r"(?<=[,，、;；}])\\[,;:! ](?=\s?[\\!-~])")  # B,\ F
_AROUND: Final = "\\{} $*\"'“”‘’().。!"
_OTHER: Final = lazy(rf"\s(?:{pattern_of('or')})\s(?!…|so\b)")  # or a home win
_BEATS: Final = table_of("beats")
_WINS_BY: Final = table_of("wins")
_SCORE: Final = lazy(r"([0-9]{1,3})\s?[-–:]\s?([0-9]{1,3})\b\s*")
_MARKS: Final = ".!,;:)–—-…"
_NO_SET: Final = table_of("not all")
_BRACKETED: Final = lazy(r"(?<=\S)\s?[(（\[【][^()（）\[\]【】]{2,}[)）\]】]")
MAX_WALK: Final = 2000  # characters in which picks are looked for


def interpret_picks(answer: Answer, options: Options) -> Picks:
    """Interpret the picks of an answer: labels in any dress, options' texts, yes and
    no; none if they contradict each other (rule 6).
    """
    if picks := _find_at_once(answer, options):
        return picks
    texts = [*map(clean, answer.elements)] or [answer.cleaned]
    return NO_PICKS.union(*[_read_text(text, options, answer) for text in texts])


def _find_at_once(answer: Answer, options: Options) -> Picks:
    """Find the picks of most answers, before they are cleaned."""
    if not answer.elements:
        return options.find_plain(answer.text) or options.find_list(answer.text)
    if options.labels.issuperset(answer.elements):
        return frozenset(answer.elements)
    return options.picks.get(answer.text, NO_PICKS)


def _read_text(text: str, options: Options, answer: Answer) -> Picks:
    """Read the picks of a cleaned text."""
    if answer.is_bare and len(text) > MAX_TOKEN:
        return NO_PICKS
    text = text if answer.is_bare else drop_lead_in(text)
    if "|" in text and (head := TABLE_HEAD.search(text)):
        text = text[head.end() :]
    if options.sides:  # Falcons v Otters: Falcons
        text = text.rpartition(": ")[2].strip() or text
    if labels := options.find_list(text):
        return labels
    is_short = len(text) < MAX_TOKEN and not options.sides
    if is_short and (label := options.find_text(text.strip(" ."))):
        return frozenset([label])
    if _NO_SET.find(text):  # All except B
        return frozenset([NoOption(choice_key(text))])
    said = _drop_excluded(text, _list_values(text[:MAX_WALK], options))
    if answer.stated:
        said = [one for one in said if not _is_strange(one.value)]
    if answer.is_bare and not _is_all_values(text, said, options):
        return NO_PICKS
    if not said or said[0].joint == REMARK:
        return NO_PICKS
    if any(_OTHER.match(one.behind) for one in said):
        return NO_PICKS
    return _choose_picks(text, said, options)


def _list_values(text: str, options: Options) -> list[Said[Picks]]:
    return walk(text, options.find, MAX_OPTIONS)


def _drop_excluded(text: str, said: list[Said[Picks]]) -> list[Said[Picks]]:
    """Return the values in front of a sentence that excludes others: `A, C. B, D
    are ruled out`.
    """
    for number, one in enumerate(said[2:], 2):
        stop = SENTENCE_STOP.search(text, said[number - 1].end, one.begin)
        if stop and denies(text[stop.end() :]):
            return said[:number]
    return said


def _is_all_values(text: str, said: Sequence[Said[Picks]], options: Options) -> bool:
    """Return whether nothing stands in a text but values, their shares and
    brackets behind them.
    """
    if _BRACKETED.search(text):
        said = _list_values(_BRACKETED.sub("", text), options)
    return all(one.joint != REMARK and _is_end(one) for one in said)


def _is_end(said: Said[Picks]) -> bool:
    behind = SHARE.sub("", said.behind)
    return kind_of(STOP.sub(" ", behind)) == AND and not _is_strange(said.value)


def _is_strange(picks: Picks) -> bool:
    return any(isinstance(pick, NoOption) for pick in picks)


def _choose_picks(text: str, said: list[Said[Picks]], options: Options) -> Picks:
    """Choose the values of a text that count: the largest share, else by the
    rules of the walk.
    """
    shares = [share_of(one.behind) for one in said]
    if are_whole(shares):
        pairs = zip(said, shares, strict=True)
        largest = [one.value for one, share in pairs if share == max(shares)]
        return largest[0] if len(largest) == 1 else NO_PICKS
    # A: 5%, B: 80%, C: 80%
    if all(shares) and min(shares) < _half_of(shares) <= max(shares):
        return NO_PICKS
    is_minor = 0 < shares[0] < 0.5 or 1 <= shares[0] < 50
    if is_minor and not options.labels:  # Yes (30%)
        return NO_PICKS
    if options.sides and not _is_winner(text, said[0], options.sides):
        return NO_PICKS
    if _is_second(said):
        return NO_PICKS
    joined = [said[0], *(_join(text, *pair) for pair in pairwise(said))]
    values = choose(joined, lambda value: options.agreeing in value)
    return NO_PICKS.union(*values or ())


def _half_of(shares: Sequence[float]) -> float:
    """Return a half as some shares are written: in percent, or of one."""
    return 0.5 if max(shares) <= 1 else 50


def _join(text: str, before: Said[Picks], said: Said[Picks]) -> Said[Picks]:
    """Return a value that is joined to the one before by what stands behind it, too."""
    name, gap = text[said.begin : said.end], text[before.end : said.begin]
    is_short = len(name) < 3 or name.lower() in YES_NO
    if is_short and gap.strip() in ("(", "（"):  # B (C), No (Yes is possible)
        return said._replace(joint=OR)
    if said.joint != AND or not _GOES_ON.match(said.behind):
        return said
    # Another answer in `B; A is second`, none in `B, though A is likely`
    is_none = said.inside or any(map(str.isalpha, gap)) or takes_back(said.behind)
    return said._replace(joint=NOT if is_none else OR)


def _is_second(said: Sequence[Said[Picks]]) -> bool:
    """Return whether a text ends with another value behind a remark: `B, as they
    are rested, C`.
    """
    first, last = said[0], said[-1]
    is_behind = any(one.joint == REMARK for one in said)
    is_alone = not last.inside and not last.behind.strip(" .")
    return is_behind and is_alone and not last.value <= first.value


def _is_winner(text: str, said: Said[Picks], sides: Sequence[str]) -> bool:
    """Return whether a text says that the side it names first wins: `Otters`, `Otters
    4-3`, `Otters over Falcons`; not `Otters 3-4`, `Otters v Falcons`, `Otters
    win if healthy`.
    """
    behind = " ".join(SHIELDED.sub(" ", said.behind).split())
    others = [side for side in sides if side not in said.value]
    if any(fold(side) in fold(SHIELDED.sub(" ", text)) for side in others):
        return bool(_BEATS.find(behind))
    at = _WINS_BY.skip(behind)
    if score := _SCORE.match(behind, at):
        if int(score[1]) <= int(score[2]):
            return False
        at = _WINS_BY.skip(behind, score.end())
    rest = behind[at:]
    return not rest or rest[0] in _MARKS or bool(SHARE.match(rest))


@dataclass(slots=True, eq=False)
class ChoiceTruth(TruthOf[Picks]):
    """Truth of a choice: the right picks. `exact` ones score 1 or 0 (level 1), others
    F1 of the sets (level 2).
    """

    is_plain = True
    options: Options
    picks: Picks
    exact: bool

    def read(self, answer: Answer) -> Picks | Unparsed:
        """Read the picks, or why there are none."""
        if picks := _find_at_once(answer, self.options):  # most
            return picks
        if status := self.find_status(answer):
            return status
        picks = interpret_picks(answer, self.options)
        if self.exact and len(picks) > 1 and not self.options.labels:  # Yes - No
            return CONTRADICTION
        if any(pick in self.picks or not isinstance(pick, NoOption) for pick in picks):
            return picks
        if answer.boxed:
            return Unparsed("no option", is_silent=True)
        return Unparsed("no box, and not only options", "prose", is_silent=True)

    def means(self, text: str, words: str) -> bool:
        key = choice_key(text)
        if NoOption(key) in self.picks:
            return True
        known = self.options.labels | self.options.index.keys()
        return not known.isdisjoint((text, key, choice_key(words)))

    def compare(self, picks: Picks) -> AnswerScore:
        """1 or 0, or F1; picks that are no option count as wrong ones."""
        wrong = sum(isinstance(pick, NoOption) for pick in picks - self.picks)
        shown = ", ".join(sorted(map(str, picks)))
        note = f"{wrong} unknown" if wrong else ""
        return AnswerScore(
            score_picks(picks, self.picks, self.exact), "scored", shown, note
        )


def score_picks(picks: Picks, truth: Picks, exact: bool) -> float:
    """Level 1: 1 if the picks are `exact`ly the truth, else 0. Level 2: F1 of the sets
    (seed README, 评分机制).

    Picks that are no option count as wrong ones.
    """
    if exact:
        return float(picks == truth)
    return score_f1(len(picks & truth), len(picks), len(truth))


# --- Two sides ---

_BOXED_SIDES: Final = lazy(
    r"\\boxed\{([^{}\n]{1,80})\}\s{0,3}or\s{1,3}\\boxed\{([^{}\n]{1,80})\}"
)
_AGAINST: Final = (" vs", " v ", " v. ", " 对 ")  # a glance
_VERSUS: Final = lazy(r"([^\n:\"?]{1,60}?)\s(?:vs?\.?|对)\s([^\n:\"?(]{1,60})")


def parse_sides(prompt: str) -> tuple[str, ...]:
    r"""Parse the two sides that a question without options names: `\boxed{X} or
    \boxed{Y}`, or `X vs. Y`.
    """
    sides = _BOXED_SIDES.search(prompt)
    if not sides and any(map(prompt.__contains__, _AGAINST)):
        sides = _VERSUS.search(prompt)
    names = sides.groups() if sides else ()
    return tuple(clean(side) for side in names if side.lower() not in YES_NO)
