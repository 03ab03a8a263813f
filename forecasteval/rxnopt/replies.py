"""Replies: the option index that a model's text states, or why it states none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from forecasteval.common.errors import RecordNotes
from forecasteval.common.markup import clean, find_object, last_boxed
from forecasteval.common.records import as_text, repeated_keys
from forecasteval.common.replies import reply_texts

from .chemicals import any_case

NO_INDEX: Final = "no index"
CONFLICT: Final = "two different indices"


# --- What is no text: tokens of a model, markup, invisible characters ---

_NOISE: Final = re.compile(
    r"</?s>|<\|[^<>|]{1,40}\|>|<(?:eos|eot|end_of_turn)>"
    r"|[_^]\{[^{}]{0,20}\}|<su[bp]>[^<>]{0,20}</su[bp]>"  # CO_{2}, CO<sub>2</sub>
)
_INVISIBLE: Final = re.compile(r"[\u200b-\u200f\u2060\ufeff]")
_ANSWER_TAG: Final = any_case(r"<answer>([^<>]{0,200})</answer>")
_MARKUP: Final = str.maketrans("*`$→⇒", "   ::")
# option2 · option_2 · best_option=2
_GLUED: Final = any_case(r"\b(option|choice|index)_?(?=[0-9])|(?<=[a-z])_(?=[a-z])")
_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SPELLED: Final = any_case(  # Option three; "the option one would choose" names none
    rf"\b(option|index)\s({'|'.join(_DIGITS)})\b(?!\s(?:would|will|might|could|may|can|should)\b)",
)
_FROM_ONE: Final = any_case(r"\b1[- ](?:based|indexed)|count\w* from (?:1|one)\b|从\s?1\s?开始")

# --- Numbers ---

# An option: a free-standing integer, which is no part of a range, a decimal, a word, a bound, a
# ratio, a formula like Pd(OAc)2, or a negative number.
_MENTION: Final = re.compile(
    r"(?P<name>(?:\b(?:option|choice|index|number|no\.)s?|选项|#)[\s#(]{0,3})?"
    r"(?<![\w.,+/−–—)\]}~≈<>-])(?<![0-9]:)(?<![0-9]\s:\s)(?<![0-9]\s:)"
    r"(?P<number>[0-9]{1,6})(?![\w%°/−–—-]|[.,:][0-9])",
    re.I | re.ASCII,
)
# What may stand behind an option's bare number: the end, a sign, or a word that goes on about it.
# Everything else makes it an amount or a name: 30 mA, 4 DMAP, 2 options, 3 F/mol, 1 pot, 1 : 1.
_FREE: Final = any_case(
    r"\s*(?:\Z|[.。!,;，；)）\]}\"'?！|>≥=](?!\s[0-9]{1,2}[-–](?!based|indexed)(?-i:[A-Za-z][a-z]{2}))"
    r"|:(?!\s?[0-9](?!,[0-9]))|[(（\[{✅✓✔]|[-–—]\s"
    r"|(?:because|since|as\s(?:it|its|this|that)|is|was|has|would|should|will|with|for|in|due|and|but|not|over|rather"
    r"|than|given|seems|looks|gives|affords|provides|works|wins|uses|offers|yields|appears"
    r"|remains|stands|performs|being|from|based|indexed|by|on|at|which|that|the|this|its|it"
    r"|option|plus|versus|vs|under|instead|so|while|whereas|alone"
    r"|or(?!\s(?:more|less|fewer)\b)|to(?!\s[0-9]))\b"
    r"|号(?:选项)?\s?(?:\Z|[.。!,;，；！最因更优比是])|[最因更优比是而吧不选，但])",
)
_LABEL: Final = any_case(  # Reference 2, entries 3 and 4: numbers of something else
    r"\b(?:reference|entr(?:y|ie)|ligand|catalyst|base|solvent|reagent|additive|compound|product"
    r"|substrate|example|table|figure|scheme|step|row|run|experiment|condition|question|top)s?"
    r" ?#? ?[0-9]{1,6}(?: ?(?:,|&|and|or) ?[0-9]{1,6})*|\bpH ?=? ?[0-9]{1,2}"
    r"|(?:参考|条目|配体|催化剂|溶剂|表|图|步骤|实验) ?[0-9]{1,6}|第 ?[0-9]{1,6} ?(?:步|行|组)",
)
_ORDINAL: Final = any_case(  # counts from one or from zero: no index
    r"第\s?(?:[0-9]{1,4}|[一二三四五六七八九十])\s?(?:个|项|种|选项)"
    r"|\b(?:[0-9]{1,4}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
    r"|tenth|last)\soption\b",
)

# --- Sentences, their clauses, and what these do with the options that they name ---

_SENTENCE_END: Final = re.compile(r"(?<=[。！？；])|(?<=[.;!?])\s+|\n")
# "lacks a base, so the best is 3" has two clauses; "1, 2" and "Option 1, option 2 or 3" are lists,
# and 1,4-dioxane or 1, 4-dioxane is a name.
_CLAUSE_END: Final = any_case(
    r"(?<!\btherefore)(?<!\bthus)(?<!\bhence)(?<!\bso)(?<!\boverall)(?<!\bfinally),"
    r"(?![0-9]|\s[0-9]{1,2}[-–](?!based|indexed)(?-i:[A-Za-z][a-z]{2}))"
    r"(?!\s*(?:(?:and|or|&)\s)?(?:the\s)?(?:(?:option|choice|index|number)s?\s|选项)?\s?\#?[0-9]{1,6}"
    r"\s*(?:[,.;)&]|and\b|or\b|\Z))\s*"
    r"|(?<!any)(?<!thing)(?<!all)(?<!every)(?<!none)\s+(?=but\b)"
    r"|\s+(?=\(?(?:(?:so(?!\s(?:far|that|much|many)\b)|while|whereas|although|though|however"
    r"|rather\sthan|instead\sof)\b"
    r"|(?:not|over)\s(?:the\s)?(?:(?:option|choice|index|number)\s)?\#?[0-9]))"
    r"|(?=而不?是)",
)
_REASON: Final = any_case(r"\b(?:because|since|(?<!well )as(?! well)|due to)\b|因为|由于")
# Such a sentence chooses nothing: it supposes or asks.
_SUPPOSED: Final = any_case(
    r"\b(?:if(?! (?:i (?:had|have|must|were)|forced|pressed))|whether|unless|had (?:it|the\w*)"
    r"|suppose|assume|imagine|in (?:theory|principle)|without (?:the )?option)\b"
    r"|如果|假如|\?\s*\Z",
)
_DENIED: Final = any_case(
    r"\b(?:not|neither|nor|never|no(?!\.)|none|(?:any\w*|all|every\w*|nothing) but|avoid\w*"
    r"|except\w*|exclud\w*|reject\w*|worst|worse|wrong|inferior|lowest|weakest|poor(?:est)?|bad"
    r"|(?<!at )least|less|too (?:many|much|few|little)|(?:second|next)[ -](?:best|choice)|almost"
    r"|runner-up|hardly|far from|unlikely|(?<!without )(?<!no )doubt\w*|against"
    r"|(?:other|else|rather) than|instead|suboptimal|disfavou?r\w*|incorrect|mistake|rul\w+ out"
    r"|is out|eliminat\w+|discard\w*|skip\w*|fail\w*|cannot"
    r"|over(?= (?:the )?(?:(?:option|choice|index|number) )?#?[0-9]))\b"
    r"|n['’]t\b|[不勿]|非(?!常)|(?<![特分区])别|排除|避免|剔除|淘汰|放弃|反对|除[了外选]|最差|最低|较差"
    r"|次[之优佳]|候选",
)
_BUT: Final = any_case(r"\s*but\b")  # "Option 2 is good | but too cold"
_WEIGHED: Final = any_case(  # what seemed good before, or what others would choose
    r"\b(?:consider\w*|initially|naive\w*|at first|first (?:glance|thought|pick\w*|chose)|was|were"
    r"|tempt\w+|(?:people|they|others) (?:say|pick|choose)|beginners?"
    r"|(?:most|many|some|few|other) (?:chemists|people|students|experts|models)"
    r"|(?:(?:some)?one|many|some|most|few|nobody|you|others?|people|novice|chemists?)"
    r" (?:\w+ )?(?:would|will|might|could|may))\b|原本|起初|本来",
)
_OPTION: Final = any_case(r"\b(?:option|choice|pick|choose|select)(?!s\b)|选")
# "Answer: 2. Wait, it is 3.": what follows must state the same option.
_CORRECTED: Final = any_case(
    r"(?:\A|(?<=[.!?}\n。！？])|(?<=[.!?}] ))(?:(?:but|oh|hmm+|and)\W{1,3})?"
    r"(?:(?:wait|actually|correction|scratch that|sorry, i"
    r"|on (?:second thoughts?|reflection)|no(?=,))\b|不对|更正)\W*",
)
# What makes the one option that a text names the one that it chooses: "Option 2 fails" does not.
_CHOSEN: Final = any_case(
    r"\b(?:best|better|optim\w+|highest|superior|ideal|choos\w+|pick\w*|select\w*|recommend\w*"
    r"|prefer\w*|favou?r\w*|answer|like|predict\w*|expect\w*|wins|it(?: i|['’])s"
    r"|most (?:likely|effective|suitable|promising))\b"
    r"|选(?!项)|非常|最[佳优好高大]|推荐|答案",
)
# Among several options, {} or {name} being their places: one is picked, …
_PLACE: Final = r"\{(?:name)?\}"
_PICKED: Final = any_case(
    r"\b(?:pick|choose|select|go(?:ing)? (?:with|for)|opt for|recommend|say|prefer|favou?r"
    r"|lean towards?)\b"
    rf"(?:\s(?!(?:than|over|from|among|of|in)\b)[^\s{{}}]+){{0,4}}[\s:\"'(]*{_PLACE}"
    rf"|^\W*(?:and\s)?(?:so|thus|hence|therefore|conclusion)\b[\s,:]+(?:the\s)?{_PLACE}\W*\Z"
    rf"|^\W*(?:(?:i\s(?:think|believe)\s(?:that\s)?)?it(?:['’]s|\sis)|but(?:\srather)?|i\s(?:think|guess))"
    rf"\s(?:the\s)?{_PLACE}\W*\Z"
    rf"|(?:选(?!项)择?|而是|推荐)[^{{}}]{{0,6}}{_PLACE}",
)
# … or praised as a whole: "Option 1 has the best base" praises a part of it.
_PRAISED: Final = any_case(
    rf"{_PLACE}(?:\s\([^()]*\))?\s(?:also\s)?"
    r"(?:(?:is|looks|seems|(?:should|will|would)\sbe)\s(?:[a-z]+\s){0,3}?"
    r"(?:best|optimal|superior|ideal|correct|right|better|most\s(?:effective|suitable|promising)"
    r"|(?:the|my)\s(?:first\s)?(?:answer|choice|pick))(?:\soption\b.*)?"
    r"|(?:should\s|will\s)?gives?\sthe\s(?:best|highest)\syield.*|wins)\W*\Z"
    rf"|{_PLACE}[^{{}}]{{0,12}}最[佳优好高大]",
)
# A statement begins with the option or names it: "Answer: 2" and not "Answer: a pressure of 2".
_LEADING: Final = any_case(
    r"^\W*(?:(?:so|the|it is|it's|probably|likely|是|为|option:|choice:|index:|选项:|boxed)\W*)*"
    r"\{\}|\{name\}",
)
# --- Statements: what a reply gives as its answer ---

_STATED: Final = any_case(
    r"(?:\b(?:answer|ans\b\.?|(?:best|optimal|correct|final|selected|recommended|most\s(?:promising|likely))"
    r"\s(?:option|choice|index|answer)"
    r"|(?:best|optimal|final|prediction|choice|selection|selected|recommended|recommendation|verdict"
    r"|decision|index|result|output)(?=\s?[:=])"
    r"|(?:the|my)\s(?:(?:best|final|first)\s)?(?:best|choice|decision|prediction|guess)(?=\sis\b))"
    r"(?:[^.;:=\n\d]{0,30}?(?:\bis\b|[:=]|\s[-–—]\s)(?:\s*[:=])*|\s(?=[#(]?[0-9]))"
    r"|(?:答案|最[佳优好](?:选项)?|答|结果)\s?(?:应该?)?(?:\s?[:=]|是|为)+)\s*",
)
_TITLE: Final = any_case(r"\W*(?:final\s)?(?:answer|答案)\W*")  # the answer is below
_FINAL: Final = any_case(r"\bfinal\b|最终")
# A line that is an option's number and nothing else: `3.` · `"3"` · `(3)` · `Option 0` · `2.0`
_BARE: Final = any_case(
    r"[\s(\[#\"']*(?:(?:probably|likely)\s)?(?:(?:option|choice|index|选项)\s*[:#]?\s*)?[0-9]{1,6}(?:\.0+)?[\s)\].。!,;:\"']*",
)
# … and with words behind it: `3: water` · `3) K3PO4` · `3 - because` · `Option 0 (water)`, but no
# list: `1) THF is polar. 2) Toluene is not.`
_LED: Final = any_case(
    r"(?!.*[.;,] [0-9]{1,2}[).] )"
    r"[\s(\[#\"']*(?:(?:option|选项)\s*#?)?[0-9]{1,6}(?:\s?[:(（]|\)\s|\s[-–—]\s).*",
)
# … or that ends so, behind other clauses: `After heating, option 1.`
_ENDING: Final = re.compile(
    r"(?:^|[,:;。.]\s?)(?:the\s+)?(?:option|选项)\s?#?\s?[0-9]{1,6}"
    r"\s?(?:选项|项)?\W*$",
    re.I | re.M,
)
_WHOLE: Final = any_case(r"\A(\W*(?:option )?[0-9]{1,6})\.0+(?=\W*\Z)")  # 2.0 is 2
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]{1,200})\}")
_KEY: Final = any_case(
    r"(?:\w{1,20}[_ ])?(?:answer|option|index|choice|prediction)(?:[_ ](?:index|id))?",
)
_REPLY_FIELDS: Final = (*("reply", "response", "output", "completion", "text", "content"),)
NO_REPLY: Final = f"no reply ({', '.join(_REPLY_FIELDS)})"


def parse_reply(reply: object) -> tuple[int | None, str]:
    r"""Read (index, "") of a reply, or (None, "no index" or "two different indices").

    What is stated as the answer counts: a box, a JSON object, what follows "Answer:" or "The best
    option is", a first or last line that is a number. Without a statement the last clause that
    chooses an option counts; clauses that deny or weigh options choose nothing. In doubt there is
    no index: a wrong one would become a score.

    >>> parse_reply("Option 1 lacks a base.\nAnswer: 3"), parse_reply("Option 2 or Option 3")
    ((3, ''), (None, 'two different indices'))
    """
    text = _plain_text(reply)
    indices, corrected = _interpret_text(text), _CORRECTED.split(text)[-1]
    if corrected != text and _MENTION.search(corrected):
        later = _interpret_text(corrected)
        indices = later and indices | later
    if len(indices) == 1 and not _FROM_ONE.search(text):
        return indices.pop(), ""
    return None, CONFLICT if len(indices) > 1 else NO_INDEX


def _plain_text(reply: object) -> str:
    """Remove thoughts, markup and the tokens that end a turn."""
    text = as_text(reply).rpartition("</think>")[2].partition("<think>")[0]
    text = _NOISE.sub(" ", unicodedata.normalize("NFKC", text))
    text = _ANSWER_TAG.sub(r"\nAnswer: \1\n", text).replace("->", ":")
    text = _GLUED.sub(r"\1 ", _INVISIBLE.sub("", text.translate(_MARKUP)))
    return _SPELLED.sub(lambda match: f"{match[1]} {_DIGITS.index(match[2].lower())}", text)


# --- Statements ---


def _interpret_text(text: str) -> set[int]:
    """Read the options that a text gives as its answer; none if a statement names none."""
    stated = [_interpret_statement(statement) for statement in _find_statements(text)]
    if stated:
        return set[int]().union(*stated) if all(stated) else set()
    return set() if _ORDINAL.search(text) else _interpret_clauses(text)


def _find_statements(text: str) -> list[str]:
    """Find what is stated as the answer; without that, the only line that begins with a number."""
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    (box, any_box), record = last_boxed(text), find_object(text)
    stated = [clean(content) for content in (box, *_BOX.findall(text))] if any_box else []
    if not isinstance(record, dict):
        stated += _find_marked(lines)
    elif not stated:
        keyed = {key: as_text(value) for key, value in record.items() if _KEY.fullmatch(key)}
        no_answer = {key for key in keyed if _DENIED.search(key.replace("_", " "))}
        no_answer.update(repeated_keys(record))
        stated = ["" if key in no_answer else keyed[key] for key in keyed]
    heads = [
        _head(line) if _OPTION.match(line) else _REASON.split(line, maxsplit=1)[0] for line in lines
    ]
    ends = list(dict.fromkeys(heads[:1] + heads[-1:]))
    stated += filter(_BARE.fullmatch, ends)
    led = list(filter(_LED.fullmatch, heads))
    return stated or (led if len(led) == 1 and led[0] in ends else [])


def _find_marked(lines: list[str]) -> list[str]:
    """Find what lines give as the answer; only as the final one, if a line does. "" where the
    clause denies or weighs it: "the worst answer is 3".
    """
    marked: dict[str, str] = {}
    for number, line in enumerate(lines):
        below = "".join(
            row
            for row in lines[number + 1 : number + 2]
            if _BARE.fullmatch(row) or _OPTION.match(row)
        )
        if marks := list(_STATED.finditer(line)):
            end = marks[-1].end()
            clause = re.split(r"[.,:;。]", line[:end].rstrip(" :=,.;"))[-1]
            is_other = any(words.search(clause) for words in (_DENIED, _WEIGHED, _SUPPOSED))
            marked[line] = "" if is_other else _head(line[end:]) or below
        elif _TITLE.fullmatch(line):
            marked[line] = below
    return [marked[line] for line in filter(_FINAL.search, marked)] or list(marked.values())


def _head(text: str) -> str:
    """Cut the reasons from a statement: `Option 0` of "Option 0. Option 1 lacks a base" and of
    "Option 0, because …".
    """
    text = _REASON.split(text, maxsplit=1)[0]
    sentence = re.split(r"[.。;]\s", text, maxsplit=1)[0]
    return sentence if _BARE.fullmatch(sentence) else text


def _interpret_statement(statement: str) -> set[int]:
    """Read the options that a statement names, without those that a clause denies or weighs. None
    if it is not clear that a number is an option.
    """
    picked: set[int] = set()
    denied: set[int] = set()
    for clause, masked, numbers in _split_clauses(_WHOLE.sub(r"\1", statement)):
        if _DENIED.search(clause):
            denied |= numbers
            picked = picked if numbers else set()
        elif numbers and not _WEIGHED.search(clause):
            if not _LEADING.search(masked) and not _PICKED.search(masked):
                return set()
            picked |= numbers
    return picked - denied


# --- Clauses ---


def _interpret_clauses(text: str) -> set[int]:
    """Read the option that the last choosing clause chooses; several if that is not clear.

    Where no clause picks or praises an option, the only one that is named counts, if there is a
    word of choice: "Option 2, the best base of all".
    """
    chosen, bare, named, clear, denied = (set[int]() for _ in range(5))
    for clause, masked, numbers in _split_clauses(text):
        if _DENIED.search(clause) or (_BUT.match(clause) and not numbers):
            denied |= numbers
            chosen, named = (chosen - numbers, named) if numbers else (set(), set())
        elif not numbers or _WEIGHED.search(clause):
            continue
        elif _PICKED.search(masked):
            chosen, denied = numbers, denied - numbers
        elif _PRAISED.search(masked) or (chosen and _CHOSEN.search(clause)):
            chosen = chosen | numbers | bare
        elif _BARE.fullmatch(clause):  # "1. Option 2 is best"
            bare |= numbers
        named = named | numbers
        clear |= numbers if _LEADING.search(masked) else set()
    if chosen:
        return chosen
    left = named - denied
    is_choice = _CHOSEN.search(text) or _ENDING.search(text) or len(left) > 1
    return left if is_choice and _OPTION.search(text) and left & clear else set()


def _split_clauses(text: str) -> Iterator[tuple[str, str, set[int]]]:
    """Split text into (clause, clause with {} for options, indices), without reasons and
    suppositions.
    """
    for sentence in _SENTENCE_END.split(_LABEL.sub(" ; ", text)):
        for clause in [] if _SUPPOSED.search(sentence) else _CLAUSE_END.split(sentence):
            head, *reasons = _REASON.split(clause, maxsplit=1)
            numbers = set[int]()
            yield head, _mask(head, numbers), numbers
            if reasons and head.strip():
                break  # "Option 0, because …" ends here; "Since …, option 2 is best" does not


def _mask(clause: str, numbers: set[int]) -> str:
    """Replace `option 2` by {name} and `2` by {} in a clause; adds the indices to `numbers`."""

    def replace(match: re.Match[str]) -> str:
        if not match["name"] and not _FREE.match(clause, match.end()):
            return match[0]
        numbers.add(int(match["number"]))
        return "{name}" if match["name"] else "{}"

    return _MENTION.sub(replace, clause)


def parse_replies(records: Iterable[object]) -> tuple[dict[str, int], list[str]]:
    """Read (`{id: index}`, warnings) of records with an id and a reply.

    What cannot be read is left out and named.
    """
    indices: dict[str, int] = {}
    conflicting: set[str] = set()
    notes = RecordNotes()
    for number, record in enumerate(records, 1):
        row = record if isinstance(record, Mapping) else {}
        if (given := row.get("custom_id", row.get("id"))) is None:
            notes["reply without id, not used"].append(f"record {number}")
            continue
        name = str(given)
        replies = [row[field] for field in _REPLY_FIELDS if row.get(field) is not None]
        if not replies:
            notes[f"{NO_REPLY}, left out"].append(name)
            continue
        for text in reply_texts(replies[0]):  # all choices of a batch's line
            index, note = parse_reply(text)
            if index is not None and indices.setdefault(name, index) != index:
                note = CONFLICT
                conflicting.add(name)
            if note:
                notes[f"{note}, left out"].append(name)
    clear = {name: index for name, index in indices.items() if name not in conflicting}
    return clear, notes.lines()
