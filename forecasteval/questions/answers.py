"""The one door for files of answers: records of `id` and `answer`,
whatever the file has.

Rows of `id` and `answer` (or `prediction`), and {id: answer}, are the plain form, which
is read as it is. Any other is read where a person asks for this file and it can only
mean one thing; a nightly run refuses it with the command that makes a plain file of it.
So nobody's answers depend on what a reader makes of a file when questions close.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from forecasteval.common.errors import InputError, RecordNotes
from forecasteval.common.files import readable, require_regular
from forecasteval.common.records import (
    BadRecord,
    Loaded,
    is_null,
    load_records,
    repeated_keys,
)
from forecasteval.source.questions import (
    ANSWER_KEYS,
    Questions,
    UnknownFormError,
    id_text,
    is_value,
)

# How files of Parquet and of inspect_ai begin
_BINARY: Final = (b"PAR1", b"PK\x03\x04")
# What is noted of ids.
AMBIGUOUS: Final = "ambiguous prediction, counted as missing"
DAMAGED: Final = "damaged line, not used"
NO_OBJECT: Final = "prediction that is not an object, not used"
TWO_IDS: Final = "prediction with two ids, not used"
NO_ID: Final = "prediction without id, not used"


def load_answers(
    path: Path,
    questions: Questions | None,
    any_form: bool = False,
    any_value: bool = False,
) -> Loaded:
    """Load a file of answers to questions, as records of `id` and `answer`
    or `prediction`.

    questions: what is known of the questions. None where it is not known: then the file
        is read in the plain form only and not refused for several systems, so that no
        answer that is scored with the questions at hand goes unseen without them.
    any_form: other forms are read, too, in any encoding and packed.
    any_value: an answer may be any JSON, also an object.

    A last line that is cut is said by `loaded.is_cut`, and is no error. Raises
    InputError for what cannot be read, several systems or runs in one file, a form in
    which two parts may be the answer, and, unless `any_form`, for all but
    the plain form.
    """
    require_regular(path)
    with readable(path), path.open("rb") as file:
        is_binary = file.read(4).startswith(_BINARY)
    if is_binary and questions is not None:
        return _load_other(path, questions, any_form)
    try:
        loaded = load_records(path, any_form=any_form)
    except InputError as error:
        return _load_other(path, questions, any_form, error)
    if questions is None:
        return loaded
    key = _find_plain_key(loaded, questions, any_value)
    if key:
        if _repeats_ids(loaded):
            # Here: most files need none of it
            from forecasteval.source.forms import require_one

            require_one(loaded, key, questions)
        return loaded
    try:
        return _load_other(path, questions, any_form, loaded=loaded)
    except UnknownFormError:
        if _is_plain_of_others(loaded, questions):
            return loaded
        raise


def _load_other(
    path: Path,
    questions: Questions | None,
    any_form: bool,
    error: InputError | None = None,
    loaded: Loaded | None = None,
) -> Loaded:
    """Load another form than the plain one.

    error: why the file has no records; loaded: its records.
    """
    if questions is None:
        raise error or InputError(str(path), "expected records of 'id' and 'answer'")
    from forecasteval.source.forms import load_form  # here: most files are plain

    try:
        return load_form(path, questions, any_form, loaded)
    except UnknownFormError as unknown:
        raise error or unknown from None


def _find_plain_key(loaded: Loaded, questions: Questions, any_value: bool) -> str:
    """Find the key of the answers in the plain form: one of a question can be
    read; else "".
    """
    for record in loaded:
        if not isinstance(record, Mapping) or is_null(record.get("id")):
            continue
        is_known = questions.has(id_text(record["id"]).strip())
        for key in ANSWER_KEYS if is_known else ():
            value = record.get(key)
            if not is_null(value) and (any_value or _is_readable(value)):
                return key
    return ""


def _is_readable(value: object) -> bool:
    """Return whether a value can be read as an answer, or has one within it."""
    if isinstance(value, Mapping):
        return any(is_value(value[key]) for key in ANSWER_KEYS if key in value)
    return isinstance(value, bool) or value == [] or is_value(value)


def _is_plain_of_others(loaded: Loaded, questions: Questions) -> bool:
    """Return whether records are plain, but of other questions or without answers: what
    is said of such files names ids.
    """
    objects = [record for record in loaded if isinstance(record, Mapping)]
    plain = [
        record
        for record in objects
        if "id" in record and not record.keys().isdisjoint(ANSWER_KEYS)
    ]
    has_unreadable = any(
        id_text(record["id"]).strip() in questions.ids and not is_null(record.get(key))
        for record in plain
        for key in ANSWER_KEYS
    )
    # {"rows": […], "version": 2} is the object of another program, and no {id: answer}.
    is_other_object = loaded.is_map and not all(
        is_value(row.get("prediction")) for row in plain
    )
    return bool(plain) and not has_unreadable and not is_other_object


def _repeats_ids(loaded: Loaded) -> bool:
    """Return whether so many ids come several times that the rows may be of
    several systems.
    """
    distinct, total = loaded.distinct_ids, loaded.total_ids
    if not total:
        names = [
            record["id"] for record in loaded if type(record) is dict and "id" in record
        ]
        try:
            distinct = len(set(names))
        except TypeError:  # an id that is a list or an object
            distinct = len(set(map(repr, names)))
        total = len(names)
    return 2 * (total - distinct) > distinct


def find_problem(record: object) -> str:
    """Find why a record is no answer to a question; "" if it is one."""
    if isinstance(record, BadRecord):
        return DAMAGED
    if not isinstance(record, Mapping):
        return NO_OBJECT
    if "id" in repeated_keys(record):
        return TWO_IDS
    return NO_ID * is_null(record.get("id"))


def answers_by_id(records: Iterable[object], notes: RecordNotes) -> dict[str, object]:
    """Return the answers by id; None where there is none, or where two differ,
    which are noted.
    """
    answers: dict[str, object] = {}
    for number, record in enumerate(records, 1):
        problem = find_problem(record)
        if problem or not isinstance(record, Mapping):
            notes[problem].append(f"record {number}")
            continue
        name = str(record["id"]).strip()
        given = [record[key] for key in ANSWER_KEYS if not is_null(record.get(key))]
        answer = given[0] if given else None
        is_twice = not {*ANSWER_KEYS}.isdisjoint(repeated_keys(record))
        if is_twice or answers.setdefault(name, answer) != answer:
            notes[AMBIGUOUS].append(name)
            answers[name] = None
    return answers
