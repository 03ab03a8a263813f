"""Mistakes in a dataset, and what becomes of answers before any truth is known."""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.benchmark import Files
from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.markup import clean
from forecasteval.common.records import BadRecord, load_records, repeated_keys
from forecasteval.common.statistics import mean
from forecasteval.display.results import Finding, Results, check_results
from forecasteval.display.submissions import NOTED, Checked, note_file
from forecasteval.questions.answers import AMBIGUOUS, load_answers
from forecasteval.questions.deadlines import parse_closes
from forecasteval.questions.join import (
    LACKING,
    NO_QUESTION,
    OtherKeys,
    differs,
    is_void,
    join_answers,
    load_answered,
    require_questions,
)
from forecasteval.questions.series import (
    NO_SERIES,
    SERIES,
    describe_likely_series,
    is_no_series,
    read_series,
)
from forecasteval.questions.truths import (
    is_blank,
    load_questions,
    replace_values,
    show_keys,
)
from forecasteval.source.questions import Questions

from .questions import FIELDS, HEAD, NO_ANSWER, QUOTES, parse_record
from .reading.choices import ChoiceTruth, find_options
from .reading.grammar import Quantity, parse_number
from .reading.numbers import NumberTruth, readings
from .reading.rankings import RankingTruth
from .results import Scoring
from .rules import RULE_SETS, Rules

# A spreadsheet's 6.85147E+23 has a sign; 6987308956940e0068395804 is a hexadecimal id
# of FutureX-Past.
_MANGLED_ID: Final = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+][0-9]+")
_PAST_VALUE: Final = (
    # "Sep 16: 90.692", "9/17/25: 94.05 dollar", "- 2025-09-17: 3", "9月17日：3"
    re.compile(
        r"""
    ^ [ \t"]* (?:[-*•][ \t]*)?
    ( [a-z]{3,9}\.? [ ] [0-9]{1,2} (?:,?[ ][0-9]{4})?
    | [0-9]{1,2} [ ] [a-z]{3,9}\.? (?:[ ][0-9]{4})?
    | [0-9]{1,4} [/.-] [0-9]{1,2} [/.-] [0-9]{1,4}
    | (?:[0-9]{4}年)? [0-9]{1,2}月 [0-9]{1,2}日 )
    [ \t]* [:：] ( [^\n"]* )
    """,
        re.M | re.X | re.I,
    )
)
_STATES: Final = ("resolved", "pending", "void")
_NOT_COMPARED: Final = "Std not compared, fewer than two past days listed line by line"
_SETS: Final = (
    "lists in any order, or packed in one element, see --rules official-2026-09"
)
STD_TOLERANCE: Final = 0.02  # relative, beside the rounding of Std as written


class Check(NamedTuple):
    """The result of a check: the number of `records`, the findings, and `notes` that
    are not findings.
    """

    records: int
    findings: list[Finding]
    notes: list[str]


def check_file(path: Path) -> Results:
    """`check_dataset` of a file."""
    dataset = load_questions(path)
    hint = "name their dataset with --dataset"
    require_questions(dataset.records, str(path), hint, FIELDS)
    found = check_dataset(dataset.records)
    notes = found.notes + dataset.warnings
    return check_results(
        path, dataset.checksums["dataset_sha256"], found.records, found.findings, notes
    )


def check_dataset(records: Iterable[object]) -> Check:
    """Find the mistakes in a dataset that should be corrected before anyone predicts on
    it. They are in the order of the records.

    Ids given twice or mangled by a spreadsheet; levels, truths and Std that cannot be
    used; truths that are no option; numeric truths without Std; Std that is 0 or is not
    the population standard deviation of the past values in "additional values". A
    question without a truth is pending, which is no mistake, unless all are and have
    keys that may be it.
    """
    findings: list[Finding] = []
    number = 0
    sets: list[str] = []
    seen: dict[str, int] = {}
    truth_keys, states = OtherKeys("ground_truth", fields=FIELDS), Counter[str]()
    alone: list[tuple[str, str]] = []
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            findings.append(
                Finding("no object", "", number, _describe_no_object(record))
            )
            continue
        name = "" if record.get("id") is None else str(record["id"])
        problems = []
        # The keys are a stranger's, and there may be many
        if repeated := repeated_keys(record):
            problems.append(
                ("key given twice with different values", ", ".join(repeated[:5]))
            )
        if not name:
            problems.append(("no id", ""))
        elif seen.setdefault(name, number) != number:
            problems.append(("id used more than once", f"first in record {seen[name]}"))
        if _MANGLED_ID.fullmatch(name):
            problems.append(("id mangled by a spreadsheet", "give ids as text"))
        truth_keys.add(record)
        states[_state_of(record)] += 1
        problems += _check_question(record)
        if _is_set_since_september(record):
            sets.append(name)
        if is_no_series(record):
            problems.append((NO_SERIES, printable(repr(record[SERIES]), 60)))
        if name and not read_series(record):
            alone.append((name, _asked_text(record)))
        problems += _check_closes(record)
        findings += [Finding(kind, name, number, detail) for kind, detail in problems]
    not_compared = [finding.id for finding in findings if finding.kind == _NOT_COMPARED]
    findings = [finding for finding in findings if finding.kind != _NOT_COMPARED]
    if strange := truth_keys.find_others():
        detail = f"{show_keys(strange)}; is one of them the truth?"
        findings.append(Finding("no 'ground_truth' in any record", "", 1, detail))
    notes = []
    if states["pending"] or states["void"]:
        notes.append(", ".join(f"{states[state]} {state}" for state in _STATES))
    if sets:
        notes.append(f"{_SETS}: {grouped_names(sets)}")
    if not_compared:
        notes.append(f"{_NOT_COMPARED}: {grouped_names(not_compared)}")
    notes += describe_likely_series(alone)
    return Check(number, findings, notes)


def _check_closes(record: Mapping[str, object]) -> list[tuple[str, str]]:
    try:
        parse_closes(record.get("closes"))
    except (ValueError, OverflowError):
        got = printable(repr(record["closes"]), 60)
        return [("'closes' that is no time of ISO 8601", got)]
    return []


def _describe_no_object(record: object) -> str:
    """Describe a record that is no object."""
    if isinstance(record, BadRecord):
        return record.problem
    return type(record).__name__


def _asked_text(record: Mapping[str, object]) -> str:
    """Return the first line of what a prompt asks; the whole prompt if it
    has no such line.
    """
    prompt = str(record.get("prompt") or "")
    if HEAD not in prompt:
        return prompt
    asked = prompt.rpartition(HEAD)[2]
    return asked.strip(QUOTES).partition("\n")[0]


def _state_of(record: Mapping[str, object]) -> str:
    with contextlib.suppress(InputError):
        if is_void(record):
            return "void"
    return "pending" if is_blank(record.get("ground_truth")) else "resolved"


def _is_set_since_september(record: Mapping[str, object]) -> bool:
    """Return whether a list scores otherwise by official-2026-09 than by
    official-2026.
    """
    with contextlib.suppress(InputError):
        older = parse_record(dict(record), "", 0, RULE_SETS["official-2026"]).truth
        newer = parse_record(dict(record), "", 0, RULE_SETS["official-2026-09"]).truth
        if isinstance(older, RankingTruth) and isinstance(newer, RankingTruth):
            return older.names != newer.names or older.ordered != newer.ordered
    return False


def _check_question(record: Mapping[str, object]) -> list[tuple[str, str]]:
    """Problems, each with a detail, of one record's level, truth, options, Std
    and past values.
    """
    try:
        if is_void(record):
            return []
        question = parse_record(dict(record), "", 0, Rules())
    except InputError as error:
        return [(error.expected, error.got)]
    if question.pending:
        return []
    shown, truth, std = printable(question.shown, 60), question.truth, record.get("Std")
    prompt = str(record.get("prompt"))
    picks, outside = [], False
    if isinstance(truth, ChoiceTruth):
        picks, options = list(truth.picks), truth.options
        # A, of no options
        bare = "prompt" in record and options.labels and not options.texts
        outside = bool(question.warning or bare)
    asks_yes_or_no = all(box in prompt for box in (r"\boxed{Yes}", r"\boxed{No}"))
    if asks_yes_or_no and not find_options(prompt):
        outside = picks not in (["Yes"], ["No"])
    problems = []
    if outside:
        problems.append(("truth not among the options", shown))
    if not isinstance(truth, NumberTruth):
        if std not in (None, ""):
            problems.append(("Std for a truth that is not a number", str(std)))
        return problems
    if truth.sigma is None:
        return [*problems, ("numeric truth without Std", shown)]
    if truth.sigma == 0:
        return [*problems, ("Std is 0", shown)]
    past = str(record.get("additional values") or "")
    return problems + _check_sigma(truth, truth.sigma, str(std).strip(), past)


def _check_sigma(
    truth: NumberTruth, sigma: float, written: str, past: str
) -> list[tuple[str, str]]:
    """Compare a Std with the population standard deviation of the days listed in
    `past`, in the truth's unit.
    """
    from decimal import Decimal

    texts = [clean(text) for _, text in _PAST_VALUE.findall(past)]
    quantities = [*filter(None, map(parse_number, texts))]
    if len(quantities) < 2:
        return [(_NOT_COMPARED, "")]
    values = [_find_nearest(quantity, truth) for quantity in quantities]
    centre = mean(values)
    expected = math.sqrt(mean([(value - centre) ** 2 for value in values]))
    rounding = 0.5 * 10.0 ** int(Decimal(written).as_tuple().exponent)
    if abs(sigma - expected) <= max(STD_TOLERANCE * expected, rounding):
        return []
    detail = f"{sigma:g}, but {len(values)} days deviate by {expected:.6g}"
    return [("Std differs from the past values", detail)]


def _find_nearest(quantity: Quantity, truth: NumberTruth) -> float:
    """Find the value of a number, in the truth's unit, in the meaning
    that is nearest.
    """
    values = [reading.value for reading in readings(quantity, truth)]
    return min(values, key=lambda value: abs(truth.quantity.value - value))


# --- Predictions ---


def check_answers(files: Files) -> Iterator[Checked]:
    """Say what becomes of each answer; no truth is looked at, not even one
    beside an answer.
    """
    dataset = files.dataset
    if dataset:
        questions = [*map(_without_truth, load_records(dataset))]
        known = Questions(questions, dataset)
        predictions = load_answers(files.path, known, files.any_form)
        rows, notes = join_answers(questions, predictions, str(files.path), FIELDS)
        yield from note_file(predictions.warnings)
    else:
        loaded = load_answered(files.path, None, FIELDS)
        rows, notes = [*loaded.records], loaded.notes
        yield from note_file(loaded.warnings)
    scoring = Scoring(Rules(), str(dataset or files.path))
    scoring.add_pending(map(_without_truth, rows))
    for item in scoring.items:
        name, note = str(item["id"]), item["note"]
        if item["read"]:
            yield Checked(item["kind"], name, "read", "")
        elif note != NO_ANSWER:
            yield Checked(item["kind"], name, "not read", note)
        elif name.strip() in notes.get(AMBIGUOUS, ()):
            yield Checked(item["kind"], name, "given twice", "")
        else:
            yield Checked(item["kind"], name, "missing", "")
    # A truth beside an answer must not be compared.
    repeated = {differs(key): key for key in FIELDS.scored}
    for note, names in notes.items():
        if key := repeated.get(note):
            yield from (
                Checked("", name, NOTED, key) for name in names if key != "ground_truth"
            )
        elif note not in (AMBIGUOUS, LACKING):  # which has been said
            state = "unknown" if note in NO_QUESTION else "doubtful"
            yield from (Checked("", name, state, note) for name in names)


def _without_truth(row: Any) -> Any:
    """Take the truth from a question, and whether it is void."""
    if not isinstance(row, Mapping):
        return row
    return replace_values(row, {"ground_truth": None, "void": None})
