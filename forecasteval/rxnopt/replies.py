"""Replies: the option index that a model's text states, or why it states none."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from forecasteval.common.markup import clean, last_boxed
from forecasteval.common.records import as_text

NO_INDEX: Final = "no index"
CONFLICT: Final = "two different indices"

# --- Patterns, made of words and parts: {NAME} stands for one, in what follows, too ---

_WORDS: Final = {  # "_" is a blank, "~" the rest of a word
    # A statement: Answer: 2 · "best_option": 2 · The option with the best base is 2 · Best: 2
    "NOUN": "answer ans prediction pick selection recommendation verdict guess decision choice vote"
    " option index",
    "TITLE": "best final optimal conclusion result output response solution overall summary winner"
    " selected recommended likely",
    # A clause that chooses
    "VERB": "choose chose chosen choosing pick picked picking select selected selecting say mean"
    " meant go_with going_with go_for going_for opt_for vote_for bet_on lean_towards recommend"
    " prefer favor favour rank would_use i'd_use leaves_only"
    " change_my_answer_to revise_my_answer_to",
    "SO": "therefore thus hence so conclusion likely probably think guess it's it_is be i.e."
    " this_corresponds_to that_corresponds_to",
    "GOOD": "best highest highest-yielding optimal ideal superior correct right promising suitable"
    " effective reasonable favorable favourable",
    "WINS": "wins outperforms outperform beats_all recommended preferred selected",
    "ALL": "option choice yield result outcome overall condition set one for of here due balance"
    " combination answer to",
    # What chooses nothing: it denies, supposes, or tells what others choose
    "NOT": "not neither nor never none cannot avoid~ except exclud~ reject~ worse worst wrong"
    " lowest~ weak~ poor~ least less unlikely hardly doubt~"
    " incorrect fail~ bad runner but_too",
    "OTHERS": "whether unless had_it had_the was could might suppose theory naive initially glance"
    " second next others_would others_might people chemists students they novice beginner nobody"
    " many one_would one_might one_could someone each every this another for_now",
    # What may follow a bare number, else it is an amount: 3 F/mol
    "GOES_ON": "because since as_it as_its as_this as_option with for due given based rather and"
    " but not would should alone",
}
_PARTS: Final = {
    # Clauses that choose an option
    "PICKED": r"(?:\b{VERB}\b(?: (?:the|that|for)){0,2}|(?<!候)选择?(?!项)|推荐|只剩"
    r"|(?:^|而)是)"
    r"[ :\"'(]*(?={NAME}?[0-9])|\b(?:predict|expect|believe)(?: that)? (?={NAMED})",
    "THUS": r"(?:\b{SO}(?![a-z])|^maybe |因此|所以|综上)[ ,:]*(?:the )?(?={NAME}?[0-9.]+\W{0,5}$)",
    "BEST": r"{PRAISE}[^;0-9]{0,60}?(?:\b(?:is|are|be|for|with|from|by|in|of|under)\b|[:是]) ?"
    r"(?:the )?(?={NAMED}|{NUMBER}号选项)",
    "PRAISED": r"(?<!or )(?<!and )(?=(?:{NAMED}|(?:^|(?<=think ))"
    r"{NUMBER} (?:is|(?:would|may) be)\b)"
    r"(?: ?\([^()]{0,200}\))?(?:, (?:which|with|using)\b[^,]{0,80},)?"
    r"(?:(?!{NAMED})(?:[^,;:]|,[0-9产收])){0,60}?{PRAISE})",
    "ALONE": r"^(?:but |so |then )?(?:the )?(?={NAMED}\)?[.!。]\Z)",
    "PRAISE": r"(?:{GOOD}(?= (?:(?:expected|predicted|overall|likely|possible) )?{ALL}"
    r"|\W{0,5}$|[,(:])"
    r"|(?:my|the)(?: first| clear| final)? (?:answer|choice|pick|winner)|my vote|what i would"
    r"|(?:better than|优于)(?: all| the other|其他|.{0,9}[0-9]{OR})[^,;]{0,20}[.!。]"
    r"|(?:better|it is)(?=\W{0,5}$)|{WINS}|最(?:[佳优好高]|可能|合适)|非常好|更好)",
    # A value
    "LIKELY": r"(?:(?:likely|probably|maybe|therefore|thus|clearly|still|also|the|it is|it's)\b"
    r"[ :]*){0,3}(?:(?:(?:those|conditions|set|one) )?(?:of|in|from|under|with|by) (?:the )?"
    r"(?={NAMED}))?",
    "NAMED": r"{NAME}{NUMBER}",
    "NAME": r"(?:(?:(?:(?<![a-z])(?:options?|choice|index|number|no\."
    r"|condition(?: set)?(?= [0-9])|candidate)|选项|索引|#)"
    r"(?:[ #:([]{0,3}\"?|-)){1,2})",
    "NUMBER": r"[0-9]{1,6}{END}",
    "END": r"(?:\.0+)?(?![a-z0-9%°]|[.,:/–—-][0-9])",
    "FREE": r"(?= ?(?:$|[.;!?)\]}】\"'<>=|。([因最更是并都]|号(?:选项|\W|$)"
    r"|[,:、](?! ?[0-9](?!-based|,[0-9]))|[-–—] |is(?! too)\b|{GOES_ON}\b))",
    "OPEN": r"[ (\[{【#\"':]{0,9}",
    "OR": r"[ )(\]\"']{0,9}(?:(?:[,/&+–>\n-]|或者?|和|、|\b(?:and/or|or|and|vs|to)\b"
    r"|\((?=index))[ (]*)"
    r"{1,2}(?:(?:maybe|even|possibly) )?",
    "NONE": r"(?:(?:not|neither|never|any|all)\b[^.,;\n0-9]{0,20}[0-9]|none\b"
    r"|(?:it )?depends|[不无非])",
    # A statement
    "MARK": r"(?:(?<![a-z]){NOUN}(?![a-z])|(?:(?<=[佳优终的确])|^)(?:选项|选择)|索引|答案)",
    "IS": r"(?: ?\([^()\n]{0,20}\))?(?:[\"' ]{0,3}(?:[-–—=]+>|[:=>]|\|(?! ?$)| [-–—](?= )|】)"
    r"|{GAP}(?:\b(?:is|be)\b|应?该?[是为]))[ :=]*",
    "GAP": r"(?:(?!{VOID})[^.;:=>0-9\n]){0,60}?",
    "VOID": r"(?:\b(?:{NOT}|{OTHERS}|no(?!\.)|if(?! (?:i (?:had|have|must)|forced)\b)"
    r"|first (?:\w+ed|chose|thought))"
    r"\b|n['’]t\b|(?<![0-9] )instead|[不非](?!常)|排除|避免|如果|最[差低]|❌|\?$)",
}
for _name, _words in _WORDS.items():
    _PARTS[_name] = f"(?:{'|'.join(_words.split())})".replace("_", " ").replace("~", r"\w*")


def _pattern(pattern: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile("(?im)" + pattern)


_NOISE: Final = _pattern(
    r"</?s>|<\|[^<>|]{1,40}\|>|[\u200b-\u200f\u2060\ufeff\ufe0f\u20e3✅✔✓]|\\(?:text|math)\w*\{|\\[\[\]()]"
)
_BREAK: Final = _pattern(r"[<\[]/[a-z_]{1,20}[>\]]")
_MARKUP: Final = str.maketrans("*`$_→⇒選項擇號", "    ::选项择号")
_BULLET: Final = _pattern(r"^(?:[-•>+=]+ )*")
_MARKER: Final = _pattern(r"^(?:#+ )?(?:\(?[0-9]{1,2}[.)] (?=\S))?")  # of a heading or a list
_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SPELLED: Final = _pattern(rf"(?<=option )(?:{'|'.join(_DIGITS)})\b(?! (?:would|might)\b)")
_FROM_ONE: Final = _pattern(r"\b1[- ](?:based|indexed)|count\w* from (?:1|one)\b|从 ?1 ?开始")
# What follows the last of these replaces what stands before.
_CORRECTED: Final = _pattern(
    r"更正|不对|(?:^|[.!?—–-] )\W{0,4}(?:(?:but|oh|hmm+|no)\b,? )?"
    r"(?:(?:wait|actually|correction|on (?:reflection|second thoughts?)|sorry|scratch that)\b"
    r"|no,)\W*"
)
_FINAL: Final = _pattern(r"\bfinal(?=[ :]|ly\b)|最终")
_VALUE: Final = _pattern(
    r"{OPEN}{LIKELY}{OPEN}(?:({NAME})?([0-9]{1,6}){END}"
    r"(?:{OR}({NAME})?([0-9]{1,6}){END}(?(3)|{FREE})|(?(1)|{FREE}))|({NONE}))"
)
_STATED: Final = _pattern(
    r"(?P<void>{VOID}(?:(?!\bbut\b)[^.,;:\n]){0,40}?)?"
    r"(?:(?:{MARK}(?: (?:option|index|number|chosen))?"
    r"|(?<![a-z]){TITLE}(?= ?[\"':=>|(-]| is)(?!\W{1,5}[0-9]{2})|最[佳优好]|结[果论]|预测|答)"
    r"{IS}(?:\n(?=(?:.{1,20}|{OPEN}{NAMED}.*)$(?!\n{OPEN}{NAME}?[0-9])))?"
    r"|{MARK}(?:\n(?={OPEN}{NAME}?[0-9])|\] ?)|\bans\. )(?=(?P<given>[^:=\n].{0,60}))"
)
_LINE: Final = _pattern(
    r"{OPEN}{NAME}?{NUMBER}(?:{OR}{NAME}?{NUMBER}){0,9}"
    r"(?:,? \(?(?:not|over|rather than|instead of) (?:the )?{NAME}?[0-9]{1,6})?"
    r"[ )\]}】.。!,;\"'选项号]{0,9}"
)
_ITEM: Final = _pattern(r"{OPEN}{NAME}?([0-9]{1,6})")
_LED: Final = _pattern(
    r"(?!.*[.;,] [0-9]{1,2}[).] )(?:{OPEN}(?:{NAMED} ?[(:,;]"
    r"|{NUMBER} ?(?:\((?:0-based|[^()0-9]*\)$)|[:;,)\]](?! ?[0-9])))"
    r"|{OPEN}{NAME}?{NUMBER} (?:[-–—] |(?:because|since|as)\b))"
)
_CLAUSE_END: Final = _pattern(
    r"(?<=[。！？;!?])|(?<=\.) |\n|, ?(?=(?:so|not|while|whereas|although)\b"
    r"|选[^项]|而|是|所以|只剩)"
    r"|,? (?=(?:because|since|due to)\b)|(?<!any)(?<!thing)(?<!all)(?<!one)"
    r",? (?=but\b[^,.]{0,40}[0-9])"
    r"|, (?=(?:which|where|with)\b[^,]*$)| (?=and (?:choose|pick|select)\b)"
    r"|, (?={NAMED}\.\Z)"
)
_VOID: Final = _pattern("{VOID}")
_CHOSEN: Final = _pattern("(?:{PICKED}|{THUS}|{BEST}|{PRAISED}|{ALONE})(?P<given>.{1,40})")


def parse_reply(reply: object) -> tuple[int | None, str]:
    r"""Read (index, "") of a reply, or (None, "no index" or "two different indices").

    These count: the last box; what is stated as the answer, also in JSON or a tag; a first or last
    line that is an option; without any of them, clauses that choose an option. Where they name two
    options, or deny one, there is no index: a wrong one would become a score.

    >>> parse_reply("Option 1 lacks a base.\nAnswer: 3"), parse_reply("Option 2 or Option 3")
    ((3, ''), (None, 'two different indices'))
    """
    text = as_text(reply).rpartition("</think>")[2].partition("<think>")[0]
    text = unicodedata.normalize("NFKC", text)
    box, is_boxed = last_boxed(text)
    boxes = [clean(box)] * is_boxed
    text = _BREAK.sub("\n", _NOISE.sub("", text)).translate(_MARKUP)
    lines = (_BULLET.sub("", " ".join(line.split())) for line in text.split("\n"))
    text = "\n".join(filter(None, lines))
    text = _SPELLED.sub(lambda word: str(_DIGITS.index(word[0].lower())), text)
    corrected = _CORRECTED.split(text)[-1]
    text = corrected if re.search("[0-9]", corrected) else text
    final = _FINAL.split(text)[-1]
    index = "/".join(  # 2/3: two indices
        _read_values(boxes + _find_stated(final))
        or _read_values(_find_stated(text))
        or _read_values(_find_choices(text))
    )
    if index.isdecimal() and not _FROM_ONE.search(text):
        return int(index), ""
    return None, CONFLICT if "/" in index else NO_INDEX


def _read_values(texts: list[str]) -> set[str]:
    """Read what texts begin with: an option, two of them, or a denial."""
    values = filter(None, map(_VALUE.match, texts))
    return {part for value in values for part in value.group(2, 4, 5) if part}


def _find_stated(text: str) -> list[str]:
    """Find what stands behind "Answer:" and the like, and ends that are an option alone."""
    lines = text.split("\n")
    ends = filter(_LINE.fullmatch, lines[:1] + lines[1:][-1:])
    marks = _STATED.finditer(_MARKER.sub("", text))
    stated = [mark["given"] for mark in marks if not mark["void"]]
    return stated if _is_cut(lines) else [*stated, *ends]


def _is_cut(lines: list[str]) -> bool:
    """Return whether the last line is no more than the beginning of a section or an item."""
    above, last = lines[-2:-1], lines[-1]
    if not above or not _LINE.fullmatch(last):
        return False
    numbers = [int(item[1]) for item in map(_ITEM.match, lines) if item]
    is_next = numbers[-2:-1] == [numbers[-1] - 1]
    is_below = (above[0][0] == "#" or above[0][-1] == ":") and not last.isdecimal()
    return is_next or is_below or last[0] == "#" or (last[-2:-1].isdecimal() and last[-1] in ".)")


def _find_choices(text: str) -> list[str]:
    """Find the options that clauses choose or praise, and that which leads the first line alone."""
    lines = text.split("\n")
    if _is_cut(lines):
        return []
    clauses = [clause.strip() for clause in _CLAUSE_END.split(_MARKER.sub("", text))]
    plain = [clause for clause in clauses if not _VOID.search(clause)]
    chosen = [match["given"] for clause in plain for match in _CHOSEN.finditer(clause)]
    led = list(filter(_LED.match, lines))
    numbers = [int(item[1]) for item in map(_ITEM.match, led) if item]
    # Before a list of the others, an option stands out of order.
    is_apart = len(led) > 2 and numbers[0] > numbers[1] and numbers[1:] == sorted(numbers[1:])
    is_first = led[:1] == lines[:1] and plain[:1] == clauses[:1]
    return chosen + led[:1] * (is_first and (is_apart or len(led) == 1))
