"""The options of a prompt, and how a text names them: labels in any dress, options' texts, yes and
no.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Final

from forecasteval.common.doubts import NO, find_doubt
from forecasteval.common.markup import clean

from .answers import drop_last_share
from .names import IS_CJK, fold, key_of

MAX_OPTIONS: Final = 62  # A to ~ in ASCII order
_YES: Final = ("yes", "true", "是", "是的", "会")
YES_NO: Final = {**dict.fromkeys(_YES, "Yes"), **dict.fromkeys(NO, "No")}

# --- The options of a prompt ---

_MARK: Final = r"(?:[-•*]\s+)?[*(]*([!-~])[*]*[.)、:：．][*]*"  # A. text, (A) text, **A.** text
_LABELS: Final = "".join(map(chr, range(ord("A"), ord("A") + MAX_OPTIONS)))
_FORMS: Final = (
    re.compile(r"\n([A-~])\.([^\n]*)"),
    re.compile(rf"^[^\S\n]*{_MARK}[^\S\n]*([^\n]*)", re.M),
    re.compile(rf"\|\s*{_MARK}\s*([^|]*)"),  # question | A. text | B. text
)
_LINE_LABEL: Final = re.compile(r"\n([A-~])\.")
_SECOND: Final = re.compile(r"B[*]*[.)、:：．]")  # a glance that fails fast


def count_options(prompt: str) -> int:
    """How many options a prompt lists."""
    labels = "".join(_LINE_LABEL.findall(prompt)) if "\nA." in prompt else ""
    known = len(labels) > 1 and _LABELS.startswith(labels)  # most
    return len(labels) if known else len(find_options(prompt))


def find_options(prompt: str) -> list[str]:
    r"""The options' texts in a prompt, labelled A, B, … on separate lines (or inline after ` | `).

    Past Z the labels go on in ASCII order: `[ \ ] ^ _`, the backtick, a, b, … Empty if there are
    none.
    """
    for form in _FORMS if _SECOND.search(prompt) else ():
        texts: list[str] = []
        for label, text in form.findall(prompt):
            if label == _LABELS[len(texts) : len(texts) + 1]:
                texts.append(text.strip())
        if len(texts) > 1:
            return texts
    return []


@lru_cache(maxsize=128)
def label_set(count: int) -> frozenset[str]:
    """The labels of so many options."""
    return frozenset(chr(ord("A") + number) for number in range(min(count, MAX_OPTIONS)))


_AROUND: Final = r"\s,，、;；/|&+*$\"'与和"
# A label past Z that stands alone, and that cleaning would take for markup.
_LONE_MARK: Final = re.compile(
    rf"(?:(?<=[{_AROUND}“({{>及])|\A)(?:\\?([\[\]^_`{{|}}~])|(\\))(?=[{_AROUND}”)}}<.:。以]|\Z)"
)
# In Unicode's area for private use.
_SHIELDED: Final = {mark: chr(0xE000 + ord(mark)) for mark in r"[\]^_`{|}~"}
UNSHIELDED: Final = {ord(shielded): mark for mark, shielded in _SHIELDED.items()}


class Options:
    """The options of a question: `labels`, and their texts from the `prompt` (labels alone without
    one).
    """

    def __init__(self, labels: frozenset[str], prompt: str = "") -> None:
        self._marks = labels & _SHIELDED.keys() if len(labels) > 26 else frozenset()
        self.labels = labels.union(map(_SHIELDED.__getitem__, self._marks))
        self.prompt = prompt

    @cached_property
    def index(self) -> dict[str, str]:
        """Label by option text, yes and no under every name; a text that two options share stands
        for neither.
        """
        if not self.prompt:
            return {} if self.labels else YES_NO
        index: dict[str, str] = {}
        shared = set()
        for label, text in zip(_LABELS, self._texts, strict=False):
            key = choice_key(clean(text))
            if index.setdefault(key, label) != label:
                shared.add(key)
            if key in YES_NO:
                index.update(
                    (name, label) for name, meaning in YES_NO.items() if meaning == YES_NO[key]
                )
        return {key: label for key, label in index.items() if key not in shared}

    @cached_property
    def width(self) -> int:
        """How many separators one option's text holds at most."""
        return max((len(SEPARATOR.findall(text)) for text in self._texts), default=0)

    @cached_property
    def _texts(self) -> list[str]:
        return find_options(self.prompt)

    def shield(self, text: str) -> str:
        """The text with characters that cleaning leaves alone for labels like `[` that stand
        alone.
        """

        def replace(lone: re.Match[str]) -> str:
            mark = lone[1] or lone[2]
            return _SHIELDED[mark] if mark in self._marks else lone[0]

        return _LONE_MARK.sub(replace, text) if self._marks else text

    def find_verbatim(self, text: str) -> str:
        """The label of the only option that stands in the prompt just as `text`, `B. Tie` or `Tie`;
        "" if none does. A glance, without which all texts would be compared.
        """
        label, body = (text[0], text[3:].lstrip()) if text[1:3] == ". " else ("", text)
        if body not in self.prompt or self._texts.count(body) != 1:
            return ""
        found = _LABELS[self._texts.index(body)]
        return found if label in ("", found) else ""


# --- How a text names options ---

_LABEL: Final = r"[!-~\ue05b-\ue07e]"  # with those that `shield` puts in place of labels past Z
SEPARATOR: Final = re.compile(
    r"(?:[，、;；/|&\n]|,(?!(?<=[0-9],)[0-9]{3}(?![0-9])))(?!\s?or\s)(?:\s*and\s)?"  # not in 4,000
    rf"|\s(?:and|\+)\s|\+(?<=\b\w\+)(?={_LABEL}(?:\W|\Z))|和|与|以及",
    re.I,
)
ROUND: Final = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_BRACKETS: Final = re.compile(rf"{ROUND.pattern}|\[[^\[\]]*\]|【[^【】]*】")
_LEAD_IN: Final = re.compile(
    r"(?=[tmofpcbar最我正答预选结])(?:(?:the\s+outcome\s+be\s+)|(?:(?:the|my|our)\s+)?(?:(?:final|predicted|correct|best|most\s+likely)\s+)*"
    r"(?:answer|prediction|choice|outcome|result)s?(?:\s+(?:is|are|will\s+be|would\s+be)\s*:?|\s*[:=])\s*"
    r"|(?:both|options?|choices?|选项)\s*:?\s*(?=\S(?:\W|\Z))"
    r"|(?:最终|我的|正确)*(?:答案|预测|选择|结果)(?:[是为]?\s?:|[是为选])\s*(?:[是为选](?=\s?[(\[A-Za-z]))?\s*)",
    re.I,
)
_LABELLED: Final = re.compile(  # B. Tie, (B) Tie, B - a tie, Option B, 选项B, B only
    rf"""(?:options?|choices?|answer|only|just|我?(?:选项|选择|选))?\s*
        (?P<open>[(\[【])?\s*(?P<label>{_LABEL})\s*(?(open)[)\]】])
        (?:\s*[.。):、](?![0-9])\s*|\s+[-–—]\s+|\s*[-–—]{{2,}}\s*|\s*(?:选?项|\bonly)?\s*\Z|\s*(?=[(\[【])|(?(open)\s+|(?!)))
        (?P<text>.*)""",
    re.X | re.I | re.S,
)
# "1. A", but not the option "1.5%".
_NUMBERED: Final = re.compile(r"[0-9]{1,2}[.)](?![0-9])\s*(?=\S)")
_SEQUENCE: Final = re.compile(  # (A)(C), A.C., A 2. C behind a first number
    rf"(?:\(\s?{_LABEL}\s?\)\s?){{2,}}|(?:{_LABEL}\.\s?)+{_LABEL}\.?|{_LABEL}(?:\s[0-9]{{1,2}}[.)]\s?{_LABEL})+"
)
# B-E.
_LABEL_RANGE: Final = re.compile(rf"({_LABEL})\s?(?:[-–—]|through|thru|至|到)\s?({_LABEL})", re.I)
_ASIDE: Final = re.compile(r"\s*\(([^()]*)\)\Z")
_BLANKS_AND_QUOTES: Final = " \t\n\"'“”‘’"
_DASHES: Final = re.compile(r"\s*[-–—]\s*")
_COMPARISON: Final = re.compile(r"\s*([<>≤≥])\s*")
_CONFIDENCE: Final = re.compile(
    r"[,;.(\s–—-]{1,4}(?:with\s)?(?:confidence|probability|likelihood|置信度|可能性|概率)(?:\s?level)?[\s:=~≈]{0,3}"
    r"(?:of\s|约|为)?(?!0+(?:\.0+)?(?![.0-9]))[0-9]{1,3}(?:\.[0-9]{1,6})?\s?%?\)?\.?\Z",
    re.I,
)
# Behind a dash or full stop on one line.
_REASON: Final = re.compile(r",|\s?[.:–—-]\s(?![^\n;|]*[\n;|])")
# Bounded: a share of at most three digits behind at most four marks.
SHARE: Final = re.compile(r"[\s:=(~≈-]{1,4}([0-9]{1,3}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})\s?%?\s?\)?\Z")
# "A" and "I" are words, too, but at no end.
_CAPITAL: Final = re.compile(r"(?<![A-Za-z0-9])(?:[B-HJ-Z](?![A-Za-z0-9])|[AI](?=[.!)]?\Z))")
_YES_NO_SPLIT: Final = re.compile(
    r"\s*(?:[,.:;/|&\n!?>→。–—-]|\b(?:or|and|but|then|actually|perhaps|maybe|possibly"
    r"|(?:could|may|might)\s+be)\b)\s*",
    re.I,
)
_YES_NO_TAIL: Final = re.compile(
    r"(?=[ytfn是否不])(?:(yes|no|true|false)"
    r"(?=\s*(?:[,.:;!(–—-]|\Z)|\s+(?:it|they|he|she|this|that|there|will|we|the|i)\b)"
    r"|(是的|是|否|不是|不会)(?=[\s,.:;!(–—-]))",
    re.I,
)


def drop_lead_in(text: str) -> str:
    """The text without `The answer is`, `My prediction:` or `the outcome be` in front."""
    lead = _LEAD_IN.match(text)
    return text[lead.end() :] if lead else text


def choice_key(text: str) -> str:
    """The form in which an option's text and a token compare: `the outcome be $10 – $20` is
    `10-20`.
    """
    key = key_of(fold(drop_lead_in(text) or text)).replace("$", "")
    if "-" in key or "–" in key or "—" in key:
        key = _DASHES.sub("-", key)
    if "<" in key or ">" in key or "≤" in key or "≥" in key:
        key = _COMPARISON.sub(r"\1", key)
    return key


def split_tokens(text: str) -> list[tuple[int, int]]:
    """Begin and end of the tokens between separators that stand outside brackets."""
    shielded = text
    if "(" in text or "[" in text or "【" in text:
        shielded = _BRACKETS.sub(lambda match: "x" * len(match[0]), text)
    ends = [match.span() for match in SEPARATOR.finditer(shielded)]
    begins = [0, *(end for _, end in ends)]
    return list(zip(begins, [*(begin for begin, _ in ends), len(text)], strict=True))


def interpret_text(text: str, marked: bool, options: Options) -> list[str]:
    """The picks of a text, those that are neither label nor option with a question mark in front.

    A lead-in (`The answer is B`), a confidence, a reason and the tail behind a yes are read only
    where the answer is `marked` by a box or stated: any other text is prose.
    """
    if marked:
        text = _CONFIDENCE.sub("", drop_lead_in(text))
        _, line, last = text.rpartition("\n")
        if line and "%" in last and choice_key(last) not in options.index:
            text = drop_last_share(text)
        if label := _interpret_yes_or_no(text, options):
            return [label]
    groups = _interpret_tokens(text, options)
    if marked and groups and options.labels.issuperset(groups[0][1]):
        # "B (a draw), because …", "B. Because …".
        behind = [text[groups[0][0] :], text.removeprefix(groups[0][1][0])]
        reason = any(_is_reason(tail, options) for tail in behind)
        if reason and all(picks[0][0] == "?" for _, picks in groups[1:]):
            return groups[0][1]
    return [pick for _, picks in groups for pick in picks]


def _interpret_yes_or_no(text: str, options: Options) -> str:
    """The pick of `Yes, it will` or `B. No, it will not`; "" for `Yes or no`, `Yes, B`, `A: no, B:
    yes` or `是，否`.
    """
    labelled = _LABELLED.match(text)
    said = labelled["text"] if labelled else text
    tail = _YES_NO_TAIL.match(said)
    label = options.index.get(tail[0].lower()) if tail else None
    if not tail or not label:
        return ""
    share, doubt = SHARE.search(said), find_doubt(said, tail.end())
    if share and float(share[1]) < (50 if float(share[1]) > 1 else 0.5):
        return ""  # "Yes: 30%" leans to No
    if doubt == "weighed" or (doubt and tail[0].lower() in _YES):
        return ""
    words = [word.strip("() ") for word in _YES_NO_SPLIT.split(said)]
    meanings = {options.index.get(word.lower(), word) for word in words}
    if len(meanings.intersection([*options.labels, *options.index.values()])) > 1:
        return ""
    return str(labelled["label"]) if labelled and labelled["label"] in options.labels else label


def _is_reason(text: str, options: Options) -> bool:
    """Whether what stands behind a pick is a comma, dash or full stop and prose of four words that
    names no label.
    """
    mark = _REASON.match(text)
    words = len(text[mark.end() :].split()) + len(IS_CJK.findall(text)) if mark else 0
    return words >= 4 and options.labels.isdisjoint(_CAPITAL.findall(text))


def _interpret_tokens(text: str, options: Options) -> list[tuple[int, list[str]]]:
    """The picks of each token, and where it ends; an option's text may hold separators, and the
    longest counts.
    """
    groups: list[tuple[int, list[str]]] = []
    spans = split_tokens(text)
    first, width = 0, options.width if len(spans) > 1 else 0
    while first < len(spans):
        begin = spans[first][0]
        for last in range(min(first + width, len(spans) - 1), first, -1):
            if label := _find_text(_bare_token(text[begin : spans[last][1]], options), options):
                picks = [label]
                break
        else:
            last = first
            picks = interpret_token(_bare_token(text[begin : spans[first][1]], options), options)
        if picks:  # "A, …" holds one pick
            groups.append((spans[last][1], picks))
        first = last + 1
    return groups


def _bare_token(token: str, options: Options) -> str:
    """A token without bullet, number in a list and full stop."""
    token = token.strip().lstrip("-•·▪ ").rstrip(" 。!")
    numbered = _NUMBERED.match(token)
    if numbered and choice_key(token) not in options.index:  # an option may be 1. FC Otters
        token = token[numbered.end() :]
    return token[1:-1] if token[:1] == "[" and token[1:-1].isalpha() else token


def _find_text(token: str, options: Options) -> str:
    """The label whose option reads just like `token`, with or without the label at either end; ""
    if there is none.
    """
    if label := options.index.get(choice_key(token), ""):
        return label
    match = _LABELLED.match(token)
    label, text = (match["label"], match["text"]) if match else (token[-2:-1], token[:-3])
    agree = options.index.get(choice_key(text)) == label.translate(UNSHIELDED)
    return label if agree else ""


def interpret_token(token: str, options: Options) -> list[str]:
    """The picks of one token: labels in any dress, an option's text, or single labels side by
    side.
    """
    if labels := _parse_labels(token.strip(_BLANKS_AND_QUOTES), options):
        return labels
    key = choice_key(token)
    aside = _ASIDE.search(token)  # Yes (or No) is no pick
    bare = token[: aside.start()] if aside and not find_doubt(aside[1]) else token
    if label := options.index.get(key) or options.index.get(choice_key(bare)):
        return [label]
    letters = token.split() if " " in token else list(token)
    if options.labels.issuperset(letters):
        return letters
    return ["?" + key] if key else []


def _parse_labels(token: str, options: Options) -> list[str]:
    """The labels that a token is, or the one it begins with; none if it does not.

    `B`, `(b)`, `Option B`, `B. Tie`, `B (a draw)`, `Tie (B)`, `B only`; `A.C.`, `(A)(C)`, `B-E`.
    """
    labels = options.labels
    if not labels:
        return []
    if _SEQUENCE.fullmatch(token):
        letters = [char for char in token if char not in "(). 0123456789"]
        return letters if labels.issuperset(letters) else []
    ends = _LABEL_RANGE.fullmatch(token)
    if ends and labels.issuperset(ends.groups()):
        low, high = (ord(end.translate(UNSHIELDED)) for end in ends.groups())
        return [chr(code) for code in range(low, high + 1)]
    if match := _LABELLED.match(token):
        label = match["label"] if match["label"] in labels else match["label"].upper()
        if _is_doubted(label, match["text"], options):
            return []
        # A letter past the last option is a wrong pick.
        return [label] if label in labels or label.isalpha() else []
    return []


def _is_doubted(label: str, text: str, options: Options) -> bool:
    """Whether the text behind a label takes it back: `A (could be B)`, `A: wrong`, `A (B)`; but not
    if it is the option's own.
    """
    other = text.strip("()[]【】 ")
    weighed = find_doubt(text) or (other in options.labels and other != label)
    return bool(weighed) and options.index.get(choice_key(text)) != label
