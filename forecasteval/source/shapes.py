"""Which part of a record is the id of its question, which the answer, which a
run or a system.

The id is what the ids of the questions say it is. The answer is what is called so, and
belongs neither to the question nor to the metadata of the reply; where two parts may be
it, none is. No truth is looked at: a reader that did would let outcomes
choose the answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, islice, product
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import printable
from forecasteval.common.records import as_text, is_null, repeated_keys

from .paths import MODEL_ROLES, Path, format_path, list_leaves, value_at
from .questions import ANSWER_KEYS, Questions, id_text, is_value

_SAMPLE: Final = 100  # rows that are looked through for what their parts mean
_MAX_PARTS: Final = 2000  # of a row
_MAX_ROWS: Final = 10_000  # in which these are looked for
_MAX_PAIRED: Final = 8  # of these columns, that may do so two by two
_MAX_LABELS: Final = 20  # columns that may tell runs and systems apart
_MAX_KEY: Final = 100  # characters of a key that say what it is
_MAX_SHOWN: Final = 8  # paths in a message
# Share of the ids at which a second column of ids makes both doubtful
_RIVAL: Final = 0.8

# What the last part of a path to an answer is called.
_REPLY: Final = re.compile(
    r"(?:.*_)?(?:answer|prediction|pred|response|output|completion|generation|reply)s?(?:_text)?"
    r"|filtered_resps|picks?|choice|sampled|.*(?:回答|回复|预测|输出)"
)
# What it may be called within something else: `message.content`.
_PART_OF_REPLY: Final = re.compile(
    r"content|text|message|parts|turns|value|generated_text"
)
# Parts within which nothing is an answer: those of the question, of its truth, and of
# how it was answered. A list of words, as every such rule is; so a guess is never read.
_NO_REPLY: Final = re.compile(
    r"docs?|vars|inputs?|prompts?|.*prompt|.*questions?|task|requests?|metadata|meta|arguments"
    r"|.*(?:target|gold|truth|label|expected|references?|correct)(?:_.*)?|tests?|test_cases?"
    r"|assert(?:ion)?s?|contexts?|options|usage|errors?|role|type|status.*|.*finish_reason"
    r"|.*(?:reason|think|thought|rationale|explanation|justification).*|stop_reason|model|object"
    r"|refusal|logprobs?|tool_.*|scores?|metrics|grad(?:e|ing).*|resps|trace|log|system|config"
    r"|provider|level|title|.*description|.*tokens?|ideal|solution|resolution|outcome"
    r"|(?:true|real|right|official|standard|ideal|human)_.*|.*(?:标准|正确|真实|参考).*"
)
# Keys of questions beside which `answer` may be their truth, as in FutureX-Past.
_QUESTION_KEYS: Final = {"level", "end_time", "options", "question", "std", "sigma"}

_TOP_ANSWERS: Final = tuple((key,) for key in ANSWER_KEYS)

_RUNS: Final = (
    *(
        "run",
        "epoch",
        "seed",
        "attempt",
        "repeat",
        "repetition",
        "replicate",
        "rep",
        "trial",
    ),
    *("iteration", "sample", "n", "filter", "pass"),
)
_SYSTEMS: Final = (
    *("model", "system", "agent", "method", "provider", "generator", "engine", "llm"),
    *(
        "forecaster",
        "competitor",
        "team",
        "candidate",
        "deployment",
        "variant",
        "experiment",
    ),
)
_ENDS_OF_LABELS: Final = re.compile(r"(?:_(?:id|idx|index|number|name|no|num|label))+$")


class Shape(NamedTuple):
    """Where the parts of an answer stand in a record.

    ids: the question ids of the texts at `id`, where these are prompts and no ids.
    is_guess: the answer is not called so, but nothing else may be it.
    """

    id: Path
    answer: Path
    run: Path = ()
    system: Path = ()
    is_guess: bool = False
    ids: Mapping[str, str] = {}

    def read_id(self, row: object) -> str:
        """Read the id of the question that a row answers; "" if there is none."""
        value = value_at(row, self.id)
        if self.ids:
            return self.ids.get(as_text(value).strip(), "")
        return id_text(value)

    def read_labels(self, row: object) -> tuple[str, ...]:
        """Read what tells a row's system and run apart from others."""
        paths = [path for path in (self.system, self.run) if path]
        return tuple(as_text(value_at(row, path)) for path in paths)

    def describe(self) -> str:
        """Describe which part is what."""
        by = ""
        if self.ids:
            by = "equal prompts in "
        parts = [f"ids: {by}{format_path(self.id)}"]
        named = {"answers": self.answer, "runs": self.run, "systems": self.system}
        parts += [
            f"{what}: {format_path(path)}" for what, path in named.items() if path
        ]
        return "; ".join(parts)


class UnclearError(Exception):
    """Rows whose shape is not clear.

    shapes: those that they may have, of which a user can name one.
    """

    def __init__(
        self,
        problem: str,
        shown: Mapping[Path, object] | None = None,
        shapes: Sequence[Shape] = (),
    ) -> None:
        self.shapes = tuple(shapes)
        text = problem
        begin = ": "
        for path, value in islice((shown or {}).items(), _MAX_SHOWN):
            text += f"{begin}{format_path(path)} ({printable(as_text(value), 30)})"
            begin = ", "
        super().__init__(text)


# By path its values, in the order of the rows of a sample
Columns = dict[Path, list[object]]


def find_shape(
    rows: Sequence[Any],
    questions: Questions | None,
    id_path: Path = (),
    answer: Path = (),
) -> Shape:
    """Find the shape of rows, of which the user may have named parts, or
    raise UnclearError.
    """
    columns = find_columns(rows)
    ids: Mapping[str, str] = {}
    if not id_path:
        id_path, ids = find_id(columns, questions)
    shape = Shape(id_path, answer, ids=ids)
    if answer:
        return shape
    return _find_answer(columns, shape)


def find_columns(rows: Sequence[Any]) -> Columns:
    """Find what a sample of the rows holds, by its path."""
    step = max(1, len(rows) // _SAMPLE)
    sample = rows[::step]
    columns: Columns = {}
    for number, row in enumerate(sample):
        if isinstance(row, Mapping):
            for path, value in islice(list_leaves(row), _MAX_PARTS):
                values = columns.setdefault(path, [None] * len(sample))
                values[number] = value
    for path, values in [*columns.items()]:
        given = [value for value in values if not is_null(value) and value != ""]
        if not given:
            del columns[path]
        elif all(map(_is_single, given)):
            # A list of one text in each row is that text.
            del columns[path]
            columns[*path, "0"] = [value_at(value, ["0"]) for value in values]
    return columns


def _is_single(value: object) -> bool:
    return isinstance(value, list) and len(value) == 1


# --- Ids ---


def find_id(
    columns: Columns, questions: Questions | None
) -> tuple[Path, Mapping[str, str]]:
    """Find the path of the ids, or else of the prompts, with the ids of these.

    Raises UnclearError if there is neither, or two that differ.
    """
    if questions is None:
        if ("id",) not in columns:
            problem = "no 'id', and no dataset whose ids would show it"
            raise UnclearError(problem, _first_values(columns))
        return ("id",), {}
    by_id = _find_known(columns, questions.ids.keys())
    if by_id:
        return by_id, {}
    by_prompt = _find_known(columns, questions.prompts.keys())
    if by_prompt:
        return by_prompt, questions.prompts
    raise UnclearError("no id of the questions", _first_values(columns))


def _find_known(columns: Columns, names: Iterable[str]) -> Path:
    """Find the path with most of these names; () if none has any."""
    known = {*names}
    matches: dict[Path, set[str]] = {}
    for path, values in columns.items():
        known_ids = {id_text(value).strip() for value in values} & known
        if known_ids:
            matches[path] = known_ids
    if not matches:
        return ()
    # Of equal ones `id`, else the outermost.
    best = max(
        matches, key=lambda path: (len(matches[path]), path == ("id",), -len(path))
    )
    if best == ("id",):
        return best  # row numbers may happen to be ids, too
    for path, known_ids in matches.items():
        is_rival = len(known_ids) > _RIVAL * len(matches[best])
        if is_rival and columns[path] != columns[best]:
            rivals = (best, path)
            shapes = [Shape(rival, ()) for rival in rivals]
            shown = {rival: columns[rival][0] for rival in rivals}
            raise UnclearError("two columns hold ids of the questions", shown, shapes)
    return best


def _first_values(columns: Columns) -> dict[Path, object]:
    return {path: values[0] for path, values in columns.items()}


# --- Answers ---


def _find_answer(columns: Columns, shape: Shape) -> Shape:
    """Find the answer to the ids of a shape; UnclearError if there is none, or
    several differ.
    """
    candidates = {}
    for path, values in columns.items():
        may_be_reply = path != shape.id and _may_be_reply(columns, path)
        if may_be_reply and any(map(is_value, values)):
            candidates[path] = values
    named = [path for path in candidates if is_called_reply(path)]
    if named:
        return _choose_answer(candidates, named, shape, columns)
    # Where nothing is called so, the only text that varies may be it.
    texts = [
        path for path, values in candidates.items() if _is_text_that_varies(values)
    ]
    if texts:
        return _choose_answer(candidates, texts, shape, columns)._replace(is_guess=True)
    raise UnclearError("no part that may be the answer", _first_values(columns))


def _is_text_that_varies(values: Sequence[object]) -> bool:
    is_text = any(isinstance(value, (str, list)) for value in values)
    return is_text and len({*map(as_text, values)}) > 1


def _choose_answer(
    candidates: Columns, paths: Sequence[Path], shape: Shape, columns: Columns
) -> Shape:
    """Choose the only one of paths; UnclearError if their values differ."""
    names = {_fold(key) for (key, *inner) in columns if not inner}
    has_question = bool(names & _QUESTION_KEYS)
    may_be_truth = {path for path in paths if has_question and path in _TOP_ANSWERS}
    # A command must not name the truth where it can name something else.
    choice = [*paths]
    if may_be_truth:
        others = [
            path for path, values in candidates.items() if _is_text_that_varies(values)
        ]
        choice = sorted(
            {*paths, *others}, key=lambda path: (path in may_be_truth, path)
        )
    shapes = [shape._replace(answer=path) for path in choice]
    shown = {path: candidates[path][0] for path in choice}
    path = paths[0]
    values = candidates[path]
    are_equal = all(candidates[other] == values for other in paths)
    if not are_equal:
        raise UnclearError("several parts may be the answer", shown, shapes)
    holds_lists = any(isinstance(value, list) and len(value) > 1 for value in values)
    if holds_lists and path[-1] not in ANSWER_KEYS:
        first = [shape._replace(answer=(*path, "0"))]
        raise UnclearError("a list, which may be several answers", shown, first)
    if may_be_truth:
        problem = f"{path[0]!r} may be the truth beside the question"
        raise UnclearError(problem, _first_values(columns), shapes)
    return shape._replace(answer=path)


def _fold(key: str) -> str:
    """Write a key in small letters with `_` between its words.

    >>> _fold("actualOutput"), _fold("Model answer"), _fold("outputs.answer")
    ('actual_output', 'model_answer', 'outputs_answer')
    """
    parted = re.sub("(?<=[a-z])(?=[A-Z])", "_", key[:_MAX_KEY])
    return re.sub(r"\W+", "_", parted).strip("_").lower()


def _list_words(path: Path) -> list[str]:
    """List the keys of a path without places; a dot within a key parts it, too."""
    keys = [key for part in path for key in part.split(".")]
    return [_fold(key) for key in keys if not key.lstrip("-").isdigit()]


def _may_be_reply(columns: Columns, path: Path) -> bool:
    words = _list_words(path)
    if len(words) == 1 and words[0].replace("_", "").endswith("id"):
        return False
    if any(map(_NO_REPLY.fullmatch, words)):
        return False
    return not _is_asked(columns, path)


def _is_asked(columns: Columns, path: Path) -> bool:
    """Return whether a path is within a message that somebody else than
    a model wrote.
    """
    for end in range(len(path)):
        for key in ("role", "from"):
            roles = columns.get((*path[:end], key), ())
            if any(role not in (None, *MODEL_ROLES) for role in roles):
                return True
    return False


def is_called_reply(path: Path) -> bool:
    """Return whether a path is called as replies of models are."""
    words = _list_words(path)
    if not words:
        return False
    last = words[-1]
    is_part = len(words) > 1 and _PART_OF_REPLY.fullmatch(last)
    return bool(is_part or _REPLY.fullmatch(last))


# --- Several answers to a question ---


def find_split(rows: Iterable[Any], shape: Shape, questions: Questions | None) -> Shape:
    """Find the columns that tell the answers to a question apart: a run, a
    system, or both.

    A table is looked at if most of its ids come several times. Raises UnclearError if
    columns of other names may tell them apart.
    """
    repeated = _cut_rows(_list_repeated(rows, shape, questions))
    if not repeated:
        return shape

    labels = _list_labels(repeated, shape)
    systems = [path for path in labels if _is_called(path, _SYSTEMS)]
    runs = [path for path in labels if _is_called(path, _RUNS)]
    for path in systems:
        if _tells_apart(repeated, path):
            return shape._replace(system=path)
    for path in runs:
        if _tells_apart(repeated, path):
            return shape._replace(run=path)
    for system, run in product(systems, runs):
        if _tells_apart(repeated, system, run):
            return shape._replace(system=system, run=run)
    others = [path for path in labels if _tells_apart(repeated, path)]
    pairs = []
    if not others:
        paired = combinations(labels[:_MAX_PAIRED], 2)
        pairs = [pair for pair in paired if _tells_apart(repeated, *pair)]
    shapes = [shape._replace(run=path) for path in others]
    for first, second in pairs:
        system, run = first, second
        if second in systems:
            system, run = second, first
        shapes.append(shape._replace(system=system, run=run))
    if shapes or (labels and _tells_apart(repeated, *labels)):
        row = repeated[0][0]
        shown = {path: value_at(row, path) for path in others or labels}
        problem = "the rows of a question differ by what may be a run or a system"
        raise UnclearError(problem, shown, shapes)
    return shape


def _cut_rows(groups: Sequence[list[Any]]) -> list[list[Any]]:
    """Return the first groups, of so many rows that each of many columns
    can be looked at.
    """
    chosen_groups: list[list[Any]] = []
    count = 0
    for group in groups:
        count += len(group)
        if chosen_groups and count > _MAX_ROWS:
            break
        chosen_groups.append(group[:_MAX_ROWS])
    return chosen_groups


def require_distinct(
    rows: Iterable[Any], shape: Shape, questions: Questions | None
) -> None:
    """Raise UnclearError if most questions have several answers that differ."""
    repeated = _list_repeated(rows, shape, questions)
    differing = []
    for group in repeated:
        answers = {_key(row, shape.answer) for row in group}
        if len(answers) > 1:
            differing.append(group)
    if 2 * len(differing) > len(repeated):
        raise UnclearError(
            "several answers to most questions, which no column tells apart"
        )


def _list_repeated(
    rows: Iterable[Any], shape: Shape, questions: Questions | None
) -> list[list[Any]]:
    """List the rows of each id that has several, if these are most ids."""
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        name = shape.read_id(row).strip()
        # Questions that share an id are told apart by their prompts.
        is_shared = questions is not None and questions.ids[name] > 1
        if name and not is_shared:
            groups[name].append(row)
    repeated = [group for group in groups.values() if len(group) > 1]
    is_long_table = len(repeated) > 1 and 2 * len(repeated) > len(groups)
    if is_long_table:
        return repeated
    return []


def _list_labels(groups: Sequence[Sequence[Any]], shape: Shape) -> list[Path]:
    """List the columns with several values, but no more of them than a
    question has rows.
    """
    paths: set[Path] = set()
    for row in groups[0][:_SAMPLE]:
        leaves = islice(list_leaves(row), _MAX_PARTS)
        paths.update(path for path, value in leaves if _is_label(value))
    paths -= {shape.id, shape.answer}
    outermost_first = sorted(paths, key=lambda path: (len(path), path))
    max_values = max(map(len, groups))
    labels = []
    for path in outermost_first[:_MAX_LABELS]:
        values: set[tuple[str, ...]] = set()
        for row in chain.from_iterable(groups):
            values.add(_key(row, path))
            if len(values) > max_values:
                break
        if 1 < len(values) <= max_values:
            labels.append(path)
    return labels


def _is_label(value: object) -> bool:
    is_scalar = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return is_scalar and not is_null(value)


def _key(row: object, *paths: Path) -> tuple[str, ...]:
    return tuple(as_text(value_at(row, path)) for path in paths)


def _tells_apart(groups: Iterable[Sequence[Any]], *paths: Path) -> bool:
    """Return whether no two rows of a group have the same values."""
    for group in groups:
        distinct = {_key(row, *paths) for row in group}
        if len(distinct) < len(group):
            return False
    return True


def _is_called(path: Path, names: Sequence[str]) -> bool:
    """Return whether a column is called so: `model`, `model_id`, `provider.name`."""
    words = _list_words(path)
    for count in (1, 2):
        ending = "_".join(words[-count:])
        if _ENDS_OF_LABELS.sub("", ending) in names:
            return True
    return False


def has_two_values(row: object, *paths: Path) -> bool:
    """Return whether a row gives the first key of a path twice with
    different values.
    """
    return any(path[0] in repeated_keys(row) for path in paths if path)
