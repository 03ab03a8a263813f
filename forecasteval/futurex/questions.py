"""A record of a dataset as a question, and one answer to it as a score."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, NoReturn

from forecasteval.common.errors import InputError, printable
from forecasteval.common.markup import MAX_SPAN
from forecasteval.common.patterns import lazy
from forecasteval.common.records import BadRecord, is_null, number_text, repeated_keys
from forecasteval.questions.join import QuestionFields
from forecasteval.questions.pending import PendingTruth
from forecasteval.questions.states import MISSING, AnswerScore, Unparsed, unparsed

from .reading.answers import Answer, hold_answer, parse_answer
from .reading.choices import (
    MAX_OPTIONS,
    SEPARATOR,
    YES_NO,
    ChoiceTruth,
    NoOption,
    Options,
    Picks,
    choice_key,
    find_options,
    interpret_picks,
    label_set,
    parse_sides,
)
from .reading.grammar import RANGE, Quantity
from .reading.lists import NO_NAME, parse_items
from .reading.names import parse_name
from .reading.numbers import NumberTruth, find_sigma, interpret_number, question_scale
from .reading.rankings import NameTruth, RankingTruth
from .reading.wording import Wording
from .rules import LEVELS, Rules

Truth = ChoiceTruth | NameTruth | RankingTruth | NumberTruth | PendingTruth
FIELDS: Final = QuestionFields(
    scored=("prompt", "level", "ground_truth", "Std"),
    marks=("level", "ground_truth"),
    others=("end_time", "additional values", "Description"),
)
NO_ANSWER: Final = "no answer"
SHOWN: Final = 500  # characters of a truth or an answer that an item keeps
TITLE: Final = 200  # and of the first line of a prompt
HEAD: Final = "The event to be predicted:"  # what prompts begin with, up to here
QUOTES: Final = ' \t\r\n"'
CHOICE_KINDS: Final = {1: "single choice", 2: "multiple choice"}


class Question(NamedTuple):
    """A row of a dataset, read once: `truth` is None if none can be read of its text.

    The question is `pending` if there is no such text.
    """

    level: int
    kind: str
    truth: Truth | None
    shown: str  # the truth as written
    warning: str
    title: str  # the first line of what the prompt asks
    digest: str  # what the question's part of the data checksum is taken from
    std: float | None

    @property
    def pending(self) -> bool:
        return type(self.truth) is PendingTruth


# The questions of a dataset, which many files answer; an eighth of a GB at most.
@lru_cache(maxsize=1 << 16)
def interpret_question(
    level: int,
    prompt: str,
    truth: str | tuple[str, ...],
    std: float | None,
    rules: Rules,
) -> Question:
    """Read a question's truth, options and units as a rule set has them."""
    read = _interpret_truth(level, Wording(prompt), truth, std, rules)
    shown = truth
    if not isinstance(shown, str):
        shown = json.dumps(truth, ensure_ascii=False)
    prompt_sum = zlib.crc32(prompt.encode("utf-8", "surrogatepass"))
    digest = f"{level} {std} {prompt_sum} {shown}"
    event = prompt.rpartition(HEAD)[2].lstrip(QUOTES)
    title = event.partition("\n")[0].rstrip(QUOTES)
    if len(title) > TITLE:
        title = f"{title[: TITLE - 1]}…"
    kind = CHOICE_KINDS.get(level, "")
    if read and not kind:
        kind = read.kind
    warning = _find_oddity(read, std)
    return Question(level, kind, read, shown[:SHOWN], warning, title, digest, std)


def _interpret_truth(
    level: int,
    wording: Wording,
    truth: str | tuple[str, ...],
    std: float | None,
    rules: Rules,
) -> Truth | None:
    if isinstance(truth, str) and not truth.strip():
        return make_pending_truth(level, wording, numeric=std is not None)
    answer = parse_answer(truth if isinstance(truth, str) else [*truth], boxed=True)
    if not answer:
        return None
    if level > 2:
        return interpret_open_truth(wording, answer, std, rules)
    return interpret_choice_truth(level, wording, answer, rules)


def _find_oddity(truth: Truth | None, std: float | None) -> str:
    """Find what is odd about a truth; "" if nothing is."""
    if isinstance(truth, ChoiceTruth) and truth.options.texts:
        is_option = truth.picks.issubset(truth.options.labels or truth.options.sides)
        return "" if is_option else "truth is not among the options"
    if isinstance(truth, RankingTruth) and std is not None:
        return "Std is given but the truth is not a number"
    return ""


def score_answer(question: Question, answer: Answer | None) -> AnswerScore:
    """Read an answer as the question's kind asks for and score it; pending
    without a truth.
    """
    scored = _score_answer(question.truth, answer)
    if not question.pending:
        return scored
    note = ""
    if not scored.read:
        note = scored.note or NO_ANSWER
    return AnswerScore(math.nan, "pending", scored.read, note)


def _score_answer(truth: Truth | None, answer: Answer | None) -> AnswerScore:
    if answer is None:
        return MISSING
    if not answer.text:
        return unparsed(answer.problem)
    if len(answer.text) > MAX_SPAN:
        return unparsed(Unparsed(f"longer than {MAX_SPAN} characters"))
    return truth.score(answer) if truth else unparsed(Unparsed("no truth"))


def parse_record(record: object, where: str, number: int, rules: Rules) -> Question:
    """Parse the question of a record; InputError says what it lacks.

    Without a truth, or with a blank one, the question is pending.
    """
    if not isinstance(record, (dict, Mapping)):  # dict: fast
        got = f"got {type(record).__name__}"
        problem = record.problem if isinstance(record, BadRecord) else got
        raise InputError(f"{where}: record {number}", f"expected an object: {problem}")
    std, truth, level = (
        record.get("Std"),
        record.get("ground_truth"),
        record.get("level"),
    )
    if type(level) is not int:  # few
        level = _as_float(level)
    sigma = None
    if std is not None and std != "":
        sigma = _as_float(std)
    if level not in LEVELS:
        _refuse(record, where, number, "level", "must be 1–4")
    if sigma is not None and not 0 <= sigma < math.inf:
        _refuse(record, where, number, "Std", "must be a number >= 0 or null")
    if not isinstance(truth, str):
        truth = _parse_raw_truth(truth)
    if truth is None:
        _refuse(
            record, where, number, "ground_truth", "must be text, a number or a list"
        )
    for key in repeated_keys(record):
        if key == "id" or key in FIELDS.scored:
            problem = f"'{key}' is given twice with different values"
            raise InputError(_place(record, where, number), problem)
    prompt = str(record.get("prompt") or "")
    question = interpret_question(int(level), prompt, truth, sigma, rules)
    if question.truth is None:
        _refuse(record, where, number, "ground_truth", "must state an answer")
    return question


def _refuse(
    record: Mapping[str, object], where: str, number: int, key: str, rule: str
) -> NoReturn:
    value = record.get(key)
    if isinstance(value, str):
        value = repr(value)
    raise InputError(
        _place(record, where, number), f"'{key}' {rule}", printable(value, 60)
    )


def _place(record: Mapping[str, object], where: str, number: int) -> str:
    return f"{where}: record {number} (id {printable(record.get('id'), 60)})"


def _as_float(value: object) -> float:
    """Return a number or the text of one; nan for anything else."""
    if type(value) is float:
        return value
    try:
        return float(value if isinstance(value, str) else number_text(value))
    except ValueError:
        return math.nan


def _parse_raw_truth(truth: object) -> str | tuple[str, ...] | None:
    """Parse a truth that is no text: null says nothing; None for what is no truth."""
    if is_null(truth):
        return ""
    if isinstance(truth, list) and all(
        isinstance(part, (str, int, float)) for part in truth
    ):
        return tuple(map(str, truth))
    return number_text(truth) or None


# --- Truths ---


_YES_OR_NO: Final = Options(())


def make_pending_truth(level: int, wording: Wording, numeric: bool) -> PendingTruth:
    """Make what reads the answers to a question without a truth.

    `numeric`: whether the question has a Std, and asks for a number.
    """
    if level > 2 and numeric:
        number = NumberTruth(Quantity(0.0, None, ""), None, None, wording)
        return PendingTruth("number", [number])
    if level > 2:
        return PendingTruth("number or ranking", [RankingTruth((), wording)])
    options = _find_options(wording) or Options(parse_sides(wording.prompt), sides=True)
    choice = ChoiceTruth(options, Picks(), exact=True)
    if options.texts:
        return PendingTruth("choice", [choice])
    return PendingTruth("choice", [choice, NameTruth((), exact=True, wording=wording)])


def interpret_choice_truth(
    level: int, wording: Wording, answer: Answer, rules: Rules
) -> Truth | None:
    """Interpret the truth of level 1 or 2: among the prompt's options, Yes or No, bare
    labels, else names. None if empty.
    """
    options = (
        _find_options(wording)
        or _find_sides(wording.prompt, answer)
        or _guess_options(answer)
    )
    if not options:
        names = [parse_name(token) for token in _split_tokens(answer)]
        names = [name for name in names if not NO_NAME.fullmatch(name.key)]
        return (
            NameTruth(names, _is_exact(level, len(names), rules), wording)
            if names
            else None
        )
    picks = interpret_picks(answer, options)
    key = "" if picks else choice_key(answer.cleaned)
    if any(map(str.isalnum, key)):
        picks = frozenset([NoOption(key)])
    return (
        ChoiceTruth(options, picks, _is_exact(level, len(picks), rules))
        if picks
        else None
    )


def _find_options(wording: Wording) -> Options | None:
    """Find the options that a question lists."""
    texts = find_options(wording.prompt)
    return Options(texts) if texts else None


def _find_sides(prompt: str, answer: Answer) -> Options | None:
    """Find the two sides that a question names, if its truth is one of them."""
    sides = parse_sides(prompt)
    if len(sides) != 2:  # most
        return None
    options = Options(sides, sides=True)
    return options if interpret_picks(answer, options) else None


def _guess_options(answer: Answer) -> Options | None:
    """Guess what a question offers from a truth that is Yes, No or labels;
    None of any other.
    """
    if not answer.elements and _YES_OR_NO.find_plain(answer.text):  # most
        return _YES_OR_NO
    tokens = _split_tokens(answer)
    if all(token.lower() in YES_NO for token in tokens):
        return _YES_OR_NO
    labels = Options((), MAX_OPTIONS).find_list(answer.text) or frozenset(tokens)
    if not all(len(label) == 1 and "A" <= label <= "~" for label in labels):
        return None
    return Options((), max(26, *(ord(label) - 64 for label in labels)))


def _split_tokens(answer: Answer) -> list[str]:
    """Split a truth into the texts that it lists."""
    parts = answer.elements or SEPARATOR.split(answer.cleaned)
    tokens = [part.strip(" .") or part.strip() for part in parts]
    return list(filter(None, tokens))


def _is_exact(level: int, count: int, rules: Rules) -> bool:
    """Return whether a choice of so many truths scores 1 or 0, and not F1."""
    if rules.by_truths:
        return count == 1
    return level == 1


_PACKED: Final = lazy(r"\s*[;|]\s*")
_ANY_ORDER: Final = lazy(
    r"(?i)\bin\s(?:any|no\sparticular)\sorder\b|\border\s(?:does\snot|doesn't)\smatter\b"
    r"|\b(?:regardless|irrespective)\sof\s(?:the\s)?order\b|不分先后|顺序不限|任意顺序|顺序不重要"
)


def interpret_open_truth(
    wording: Wording, answer: Answer, std: float | None, rules: Rules
) -> Truth | None:
    """Interpret the truth of level 3 or 4: a number if it reads as one, else a ranking.
    None if empty.
    """
    if len(answer.elements) < 2:
        quantity = interpret_number(
            answer.cleaned, in_sentence=std is not None, wording=wording
        )
        is_result = std is None and RANGE.search(answer.cleaned)  # "2-1"
        if not (is_result or isinstance(quantity, Unparsed)):
            sigma = find_sigma(quantity.value, std, rules)
            return NumberTruth(
                quantity, wording.ask(question_scale), sigma, wording, rules.loose
            )
    if rules.packed and is_packed(answer.elements):
        answer = hold_answer(
            [part for part in _PACKED.split(answer.text) if part.strip()]
        )
    names = parse_items(answer, wording)
    if not names:
        return None
    labels = label_set(len(find_options(wording.prompt)) or 26)
    is_label_set = rules.label_sets and {name.text for name in names} <= labels
    is_set = is_label_set or (rules.any_order and asks_any_order(wording.prompt))
    is_lone = rules.lone_name and len(names) == 1
    is_cut = rules.padding == "cut"
    return RankingTruth(names, wording, ordered=not is_set, whole=is_lone, cut=is_cut)


def is_packed(elements: Sequence[str]) -> bool:
    """Return whether a list literal has one element that holds several names."""
    return len(elements) == 1 and bool(_PACKED.search(elements[0]))


def asks_any_order(prompt: str) -> bool:
    """Return whether a question says that the order of its list does not matter."""
    return bool(_ANY_ORDER.search(prompt))
