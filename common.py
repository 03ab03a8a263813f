"""What every benchmark here needs.

Errors, strict reading, what a model wrote (boxes, LaTeX, list literals), records and joins, safe writing, language
models, command lines, reports, intervals, paired tests.
"""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import math
import numbers
import os
import queue
import re
import sqlite3
import stat
import sys
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

# --- Errors ---


class EvaluationError(Exception):
    """Root of every error raised on purpose; its text is one line, safe to print."""

    exit_code = 2

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(EvaluationError):
    """Input that cannot be used.

    `where` names file and record, `expected` what should stand there, `got` what does.
    """

    def __init__(self, where: str, expected: str, got: str = "") -> None:
        super().__init__(where, expected, got)
        self.where, self.expected, self.got = where, expected, got

    def __str__(self) -> str:
        return printable(f"{self.where}: {self.expected}" + (f", got {self.got}" if self.got else ""))


class LockedError(EvaluationError):
    """Another run is at work in the same folder."""

    exit_code = 5


# Control characters, invisible direction marks and lone surrogates: a terminal must never see them raw.
UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: object, limit: int | None = None) -> str:
    r"""`text` on one line, unsafe characters as escapes, cut to `limit` characters with an ellipsis.

    >>> printable("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    shown = str(text)
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), shown)


# --- Reading ---

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
SUFFIXES: Final = (".json", ".jsonl", ".csv")
DUPLICATE_KEYS: Final = "\0duplicate keys"  # no JSON file of a user has this key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict that remembers which keys were given twice with different values."""
    record = dict(pairs)
    if len(record) != len(pairs):
        first: dict[str, Any] = {}
        twice = {key: True for key, value in pairs if first.setdefault(key, value) != value}
        if twice:
            record[DUPLICATE_KEYS] = list(twice)
    return record


def _integer(digits: str) -> int | str:
    """Integers of thousands of digits stay text: Python refuses to convert them."""
    return int(digits) if len(digits) < 4000 else digits


# NaN and Infinity are no JSON, but one of them must not cost the other records: they come through as floats.
_decoder = json.JSONDecoder(object_pairs_hook=_object)
_big_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)


def _decode(text: str) -> Any:
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # "Exceeds the limit (4300 digits) for integer string conversion"
        return _big_decoder.decode(text)


def parse_json(text: str, where: str) -> Any:
    """`json.loads`, strict and hardened.

    Keys given twice with different values are listed under `DUPLICATE_KEYS`; NaN and Infinity are read as floats,
    integers of 4,000 digits or more as text. Raises InputError (line, column) for anything that is no JSON.
    """
    if not text.strip():
        raise InputError(where, "expected JSON", "an empty file")
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        raise InputError(where, f"not JSON: line {error.lineno} column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise InputError(where, "expected records", "JSON nested too deeply") from None


def has_repeated_keys(value: Any) -> bool:
    """Whether an object anywhere in what `parse_json` gave has a key twice with different values."""
    if isinstance(value, Mapping):
        return DUPLICATE_KEYS in value or any(map(has_repeated_keys, value.values()))
    return isinstance(value, list) and any(map(has_repeated_keys, value))


def decode_utf8(raw: bytes, where: str, position: int = 0) -> str:
    """UTF-8 text, a byte order mark at its start dropped; anything else is an InputError with the byte position.

    `position` is where `raw` begins in the file.
    """
    if position == 0 and (raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw[:4]):
        at = 0 if raw[:1] >= b"\xfe" else raw.index(b"\0")
        raise InputError(where, f"not UTF-8: byte 0x{raw[at]:02x} at position {at}", "UTF-16 or UTF-32 text")
    mark = len(BYTE_ORDER_MARK) if position == 0 and raw.startswith(BYTE_ORDER_MARK) else 0
    try:
        return raw[mark:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = mark + error.start
        raise InputError(where, f"not UTF-8: byte 0x{raw[at]:02x} at position {position + at}") from None


class BadRecord:
    """Stands where a record of a file could not be read, so that the others keep their numbers."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


class RecordFile:
    """The records of a JSON or JSONL file, read while it is iterated (once); `sha256` is complete afterwards.

    JSON holds a list of records, or one object: a single record, or `{id: answer}`, which comes as
    `{"id", "prediction"}` records. JSONL holds a record per line; a line that is no JSON comes as a BadRecord.
    Raises InputError where nothing can be read: no UTF-8, no JSON, empty, neither list nor object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sha = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._sha.hexdigest()

    def __iter__(self) -> Iterator[Any]:
        require_regular(self.path)
        try:
            if self.path.suffix == ".jsonl":
                with self.path.open("rb") as file:
                    yield from self._lines(file)
            else:
                yield from self._records(parse_json(self._text(), str(self.path)))
        except OSError as error:
            raise InputError(str(self.path), f"cannot be read: {error.strerror or error}") from None

    def _text(self) -> str:
        """The whole file; in a function of its own, so that its bytes are gone when the records are used."""
        raw = self.path.read_bytes()
        self._sha.update(raw)
        return decode_utf8(raw, str(self.path))

    def _records(self, value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value
        elif not isinstance(value, dict):
            raise InputError(str(self.path), "expected a list of records or an object", type(value).__name__)
        elif "id" in value and {"prompt", "answer", "prediction", "ground_truth"} & value.keys():
            yield value
        else:
            twice = value.pop(DUPLICATE_KEYS, [])
            for name, answer in value.items():
                record = {"id": name, "prediction": answer}
                yield {**record, DUPLICATE_KEYS: ["prediction"]} if name in twice else record

    def _lines(self, file: Iterable[bytes]) -> Iterator[Any]:
        """A line ends with a line feed only: U+2028 may stand inside a record. Blank lines are skipped."""
        position, empty = 0, True
        for raw in file:
            self._sha.update(raw)
            line = decode_utf8(raw, str(self.path), position)
            position += len(raw)
            if not line.strip():
                continue
            empty = False
            try:
                yield _decode(line)
            except json.JSONDecodeError as error:
                yield BadRecord(f"not JSON: column {error.colno}: {error.msg}")
            except RecursionError:
                yield BadRecord("JSON nested too deeply")
        if empty:
            raise InputError(str(self.path), "expected one JSON record per line", "an empty file")


def require_regular(path: Path) -> None:
    """InputError for what is no file of bytes: reading a pipe would wait for ever."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(mode):
        raise InputError(str(path), "expected a regular file")


def read_file(path: Path) -> bytes:
    """A file's bytes; InputError if it cannot be read."""
    require_regular(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None


def hash_file(path: Path) -> str:
    """sha256 of a file's bytes; InputError if it cannot be read."""
    return hashlib.sha256(read_file(path)).hexdigest()


def first_keys(path: Path, count: int = 20) -> set[str]:
    """The keys of the first objects in a JSON or JSONL file, by which its kind is told; what is no object is passed.

    Reads on only where the first piece holds no whole object.
    """
    keys: set[str] = set()
    with contextlib.suppress(OSError), path.open("rb") as file:
        text = ""
        for size in (1 << 16, -1):
            text += file.read(size).decode("utf-8", "replace")
            position = text.find("{")
            for _ in range(count):
                try:
                    value, end = _decoder.raw_decode(text, position)
                except (ValueError, RecursionError):
                    break
                keys.update(value)
                position = text.find("{", end)
            if keys:
                break
    return keys


def find_file(name: str, folder: Path) -> Path:
    """The JSON, JSONL or CSV file that `name` means, with or without extension.

    A name with a separator is a path, any other is looked up in `folder`. Raises InputError: no such file (the
    nearest names that exist), or two files with one stem.
    """
    base = Path(name) if os.sep in name or "/" in name else folder / name
    found = [path for path in (base, *(base.parent / (base.name + end) for end in SUFFIXES)) if _is_file(path)]
    if len(found) == 1 or (found and found[0] == base):
        return found[0]
    if found:
        raise InputError(str(base), "expected one file", f"{' and '.join(path.name for path in found)}")
    try:
        names = os.listdir(base.parent)
    except (OSError, ValueError):
        names = []
    others = sorted(other for other in names if other.endswith(SUFFIXES) and other[0] != ".")
    import difflib  # here: it costs more than all the rest of the start-up

    near = difflib.get_close_matches(base.name, others, n=3, cutoff=0.4) or others[:3]
    hint = f"; there is {', '.join(near)}" if near else ""
    raise InputError(printable(base, 200), f"no such file{hint}")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name of a thousand characters, a null byte
        return False


def find_dataset(prediction: Path, folder: Path) -> Path | None:
    """The longest-named file in `folder` whose stem is the prediction's or a prefix of it up to `-`, `_` or `.`.

    None if there is none, and for a CSV, which holds its own events; InputError if two fit equally well, or if the
    folder is there and cannot be read.
    """
    if prediction.suffix == ".csv":
        return None
    stem = prediction.stem
    try:
        paths = [folder / name for name in sorted(os.listdir(folder))]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(str(folder), f"cannot be read: {error.strerror or error}") from None
    fitting = [
        path
        for path in paths
        if path.suffix in SUFFIXES
        and path.suffix != ".csv"
        and (stem == path.stem or (stem.startswith(path.stem) and stem[len(path.stem)] in "-_."))
    ]
    longest = max((len(path.stem) for path in fitting), default=0)
    best = [path for path in fitting if len(path.stem) == longest]
    if len(best) > 1:
        raise InputError(str(folder), "expected one dataset", " and ".join(path.name for path in best))
    return best[0] if best else None


_ELEMENT: Final = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([+-]?[0-9.]+(?:e[+-]?[0-9]+)?))\s*(,|\Z)""", re.S | re.I
)
_LITERAL_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)


def parse_literal(text: str) -> tuple[str, ...]:
    r"""The elements of a list literal of Python or JSON, as text; () if the text is none. Nothing is executed.

    >>> parse_literal("['A', 'It\\'s']"), parse_literal("[4946.0]"), parse_literal("[Red, Green]")
    (('A', "It's"), ('4946.0',), ())
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return ()
    body, position = text[1:-1], 0
    elements: list[str] = []
    while position < len(body):
        match = _ELEMENT.match(body, position)
        if not match:
            return () if body[position:].strip() else tuple(elements)
        single, double, number, _ = match.groups()
        quoted = single if single is not None else double
        elements.append(number if quoted is None else _LITERAL_ESCAPE.sub(_unescape, quoted))
        position = match.end()
    return tuple(elements)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else {"n": "\n", "t": "\t", "r": "\r"}.get(match[3], match[3])


def find_object(text: str) -> Any:
    """The JSON object in `text`, which may stand in prose or a fence; None if there is none, or more than one."""
    found = None
    position = text.find("{")
    for _ in range(20):  # text that a model wrote: no more tries than any honest reply needs
        if position < 0:
            break
        try:
            value, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if found is not None:
                return None
            found = value
        position = text.find("{", end)
    return found


# --- What a model wrote ---

_BOX_TOKEN: Final = re.compile(r"\\(?:boxed|fbox)\s*\{|[{}]")
_JOINT: Final = re.compile(r"(?:[\s$*]|\\n)*(?:(?:[,，、;；/|&]|and\b|or\b|和|或)(?:[\s$*]|\\n)*){0,2}")
# `\b`, `\f` and `\t` that a bad JSON escape turned into control characters
_LOST_BACKSLASH: Final = re.compile(r"[\x08\x0c\t](?=(?:(?<=\x08)oxed|(?<=\x0c)box|(?<=\t)(?:ext|imes))\b)")
_LOST: Final = {"\x08": "\\b", "\x0c": "\\f", "\t": "\\t"}
_LIST_MARK: Final = re.compile(r"[,，、;；/|&\n]|\sand\s|和")
MAX_SPAN: Final = 10_000  # characters; nothing longer is an answer
_MAX_BRACES: Final = 2_000_000  # that are looked at in one text


def last_boxed(text: str) -> tuple[str, bool]:
    r"""The content of the last non-empty `\boxed{…}` or `\fbox{…}`, and True; without a box the text and False.

    Braces are balanced; a box that never closes takes the rest. Boxes joined only by separators are one list,
    each on a line. The content is "" if all boxes are empty. Linear in the text.

    >>> last_boxed(r"First \boxed{A}. On reflection \boxed{\text{B}}")
    ('\\text{B}', True)
    >>> last_boxed(r"\boxed{A}, \boxed{C}")
    ('A\nC', True)
    """
    if "oxed" not in text and "box" not in text:
        return text.strip(), False
    if "\x08" in text or "\x0c" in text or "\t" in text:
        text = _LOST_BACKSLASH.sub(lambda match: _LOST[match[0]], text)
    boxes, any_box = _boxes(text)
    if not any_box:
        return text.strip(), False
    if not boxes:
        return "", True
    boxes.sort()
    begin, start, end = boxes.pop()
    contents, size = [text[start:end].strip()], end - start
    for before, start, end in reversed(boxes):
        gap = text[end + 1 : begin] if end < begin and begin - end < 40 else "…"
        if not _JOINT.fullmatch(gap) or size > MAX_SPAN:  # too long already: will be unparsed
            break
        if gap.isspace() and _LIST_MARK.search(text[start:end] + contents[-1]):
            break  # two whole lists below each other: the last one counts
        contents.append(text[start:end].strip())
        begin, size = before, size + end - start
    return "\n".join(dict.fromkeys(reversed(contents))), True


def _boxes(text: str) -> tuple[list[tuple[int, int, int]], bool]:
    """(begin, start of content, end of content) of every box with content, and whether there is any box."""
    boxes: list[tuple[int, int, int]] = []
    opened: list[tuple[int, int]] = []
    position, last_text, any_box = 0, -1, False
    for count, token in enumerate(_BOX_TOKEN.finditer(text)):
        if count > _MAX_BRACES:
            return [], False
        if token.start() > position and not text[position : token.start()].isspace():
            last_text = token.start() - 1
        position = token.end()
        if token[0] == "}":
            if opened:
                begin, start = opened.pop()
                if begin >= 0 and last_text >= start:
                    boxes.append((begin, start, token.start()))
        elif token[0] == "{":
            opened.append((-1, -1))
        else:
            opened.append(token.span())
            any_box = True
    if position < len(text) and not text[position:].isspace():
        last_text = len(text)
    boxes.extend((begin, start, len(text)) for begin, start in opened if begin >= 0 and last_text >= start)
    return boxes, any_box


_MARKUP: Final = re.compile(r"[\\$*`{}~\x00-\x1f\x7f]")
_RAISED: Final = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[①-⑳❶-❿➀-➉]")
_MATH: Final = re.compile(r"(?<!\\)\$([^$\n]*)(?<!\\)\$")
_COMMAND: Final = re.compile(r"\\{1,2}([A-Za-z]+)[ \t]*|\\(.?)", re.S)
_SYMBOLS: Final = {
    "times": "×", "cdot": "×", "approx": "≈", "sim": "~", "simeq": "≈", "pm": "±", "to": " to ", "ge": ">",
    "geq": ">", "gt": ">", "le": "<", "leq": "<", "lt": "<", "quad": " ", "qquad": " ", "newline": "\n", "n": "\n",
    "pounds": "£", "left": "", "right": "", "displaystyle": "", "boxed": "", "fbox": "", "emph": "", "mbox": "",
    "operatorname": "", "underline": "", "bf": "", "rm": "", "it": "",
}  # fmt: skip
_ESCAPES: Final = {",": " ", " ": " ", ";": " ", ":": " ", "!": "", "\\": "\n", "(": "", ")": "", "[": "", "]": ""}
_TILDE: Final = re.compile(r"(?P<range>(?<=[0-9%万亿元])\s?~\s?(?=[0-9$¥€£+-]))|~")
_STARS: Final = re.compile(r"\*{2,}|(?<![0-9\s])\*|\*(?!\s*[0-9])")
_RUNS: Final = re.compile(r"\s{2,}")
_CONTROLS: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]+")
_PAIRS: Final = {"(": ")", "[": "]", "{": "}", "【": "】"}


def clean(text: str) -> str:
    r"""The text without LaTeX, Markdown, full-width forms and one pair of brackets around the whole.

    >>> clean(r"$\text{3{,}400\,万元}$"), clean("10⁶"), clean("［Ｒｅｄ］"), clean(r"1. Red\\ 2. Blue")
    ('3,400 万元', '10^6', 'Red', '1. Red\n2. Blue')
    """
    if not text.isascii():
        if _RAISED.search(text):
            text = _RAISED.sub(_lower_raised, text)
        text = unicodedata.normalize("NFKC", text)
    if _MARKUP.search(text):
        text = _clean_markup(text)
    if "  " in text or "\n" in text:  # no pattern below may meet a long run of white space
        text = _RUNS.sub(lambda run: "\n" if "\n" in run[0] else " ", text)
    text = text.strip()
    if text and _PAIRS.get(text[0]) == text[-1] and _encloses(text):
        text = text[1:-1].strip()
    return text


def _lower_raised(match: re.Match[str]) -> str:
    plain = "".join(str(unicodedata.digit(char, "")) or {"⁺": "", "⁻": "-"}.get(char, "") for char in match[0])
    if match[0][0] in "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹":
        return "^" + plain
    return f"{unicodedata.numeric(match[0]):.0f}."


def _clean_markup(text: str) -> str:
    """LaTeX commands, escapes and spaces, `$…$`, Markdown stars and backticks: replaced or dropped, in this order."""
    text = text.replace("\r\n", "\n")
    text = _LOST_BACKSLASH.sub(lambda match: _LOST[match[0]], text)
    text = _MATH.sub(r"\1", text).replace("{,}", ",")
    if "\\" in text:
        text = _FRACTION.sub(r"\1/\2", _ENVIRONMENT.sub(" ", text))
        text = _COMMAND.sub(_replace_command, text)
    text = _TILDE.sub(lambda match: match["range"] or " ", text)
    text = _STARS.sub("", text)
    return _CONTROLS.sub(" ", text.replace("`", "").replace("{", "").replace("}", ""))


_FRACTION: Final = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ENVIRONMENT: Final = re.compile(
    r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[lcr|]*\})?|\\(?:textcolor|color|colorbox)\s*\{[^{}]*\}"
)


def _replace_command(match: re.Match[str]) -> str:
    name = match[1]
    if name is None:
        return _ESCAPES.get(match[2], match[2])
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name.startswith(("text", "math")):
        return ""
    return "\n" + name[1:] if name[0] == "n" else " "  # a literal "\n" before a word; \large and the like go


def _encloses(text: str) -> bool:
    """Whether the first bracket's partner is the last character: "(B)" but not "(A), (B)"."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == text[0]) - (char == text[-1])
        if depth == 0:
            return index == len(text) - 1
    return False


# --- Records ---


_AMBIGUOUS: Final = "ambiguous prediction, counted as missing"


def join(
    questions: Sequence[Any], predictions: Iterable[Any], fields: Iterable[str], where: str
) -> tuple[list[Any], list[str]]:
    """The dataset's questions, each with the "answer" of its prediction, and what was noticed on the way.

    Joined by id; where ids repeat, by id and prompt. Rows that stay ambiguous have no answer and are named, as are
    predictions without a question and `fields` in which a prediction's row differs from its question. Raises
    InputError if no prediction has an id of the questions.
    """
    notes: dict[str, list[str]] = {}
    rows_of = _rows_by_id(predictions, notes)
    ids = [str(question.get("id")) if isinstance(question, Mapping) else "" for question in questions]
    repeated = {name for name, count in Counter(ids).items() if count > 1}
    if rows_of.keys().isdisjoint(ids):
        raise InputError(where, "expected predictions for this dataset", "none with an id of it")
    joined: list[Any] = []
    used: set[int] = set()
    for name, question in zip(ids, questions, strict=True):
        if not isinstance(question, Mapping):
            joined.append(question)
            continue
        rows = rows_of.get(name, [])
        if len(rows) > 1 or name in repeated:
            same = [row for row in rows if row.get("prompt") == question.get("prompt")]
            rows = same if same or name in repeated else rows
        used.update(map(id, rows))
        if len({as_text(raw_answer(row)) for row in rows}) > 1 or (not rows and name in rows_of):
            notes.setdefault(_AMBIGUOUS, []).append(name)
            rows = []
        row = rows[0] if rows else {}
        for field in fields:
            theirs, ours = row.get(field), question.get(field)
            if field in row and theirs != ours and str(theirs) != str(ours):  # "4" is level 4
                notes.setdefault(f"{field} of the file differs from the dataset, the dataset counts", []).append(name)
        joined.append({**question, "answer": raw_answer(row), "prediction": None})
        if DUPLICATE_KEYS in row:
            joined[-1][DUPLICATE_KEYS] = [*question.get(DUPLICATE_KEYS, ()), *row[DUPLICATE_KEYS]]
    ambiguous = notes.get(_AMBIGUOUS, [])
    unused = [n for n, rows in rows_of.items() for row in rows if id(row) not in used and n not in ambiguous]
    if unused:
        notes["prediction without a question, not used"] = unused
    return joined, [grouped_warning(text, names) for text, names in notes.items()]


def _rows_by_id(predictions: Iterable[Any], notes: dict[str, list[str]]) -> dict[str, list[Mapping[str, Any]]]:
    rows_of: dict[str, list[Mapping[str, Any]]] = {}
    for number, record in enumerate(predictions, 1):
        if isinstance(record, Mapping) and record.get("id") is not None:
            rows_of.setdefault(str(record["id"]), []).append(record)
        else:
            problem = "without id" if isinstance(record, Mapping) else "that is no object"
            notes.setdefault(f"prediction {problem}, not used", []).append(f"record {number}")
    return rows_of


def as_text(raw: Any) -> str:
    """A raw answer as the text of an item: JSON if it is no text, "" if there is none."""
    if isinstance(raw, str):
        return raw
    try:
        return "" if raw is None else json.dumps(raw, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply)"


def number_text(value: object) -> str:
    """A finite number (numpy's too, no bool) as Python writes it; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return ""
    if isinstance(value, numbers.Integral):
        return str(int(value)) if abs(int(value)) < 10**4000 else ""
    return repr(float(value)) if math.isfinite(value) else ""


def raw_answer(record: Mapping[str, Any]) -> Any:
    """What a record answers: its "answer", or its "prediction" where it has none (None, or a data frame's nan)."""
    for key in ("answer", "prediction"):
        answer = record.get(key)
        if answer is not None and not (isinstance(answer, float) and math.isnan(answer)):
            return answer
    return None


def grouped_warning(text: str, names: Sequence[str]) -> str:
    """One line for a kind of warning: how many records it concerns, and the first five of them."""
    return f"{text}: {grouped_names(names)}"


def grouped_names(names: Sequence[object]) -> str:
    """How many, and the first five: `2 (a, b)`."""
    shown = ", ".join(printable(name, 40) for name in names[:5])
    return f"{len(names)} ({shown}{', …' if len(names) > 5 else ''})"


class RecordDigest:
    """sha256 over records in their order, taken in batches: hashing one by one costs more than scoring."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()
        self._waiting: list[str] = []

    def add(self, *fields: str) -> None:
        self._waiting += fields
        if len(self._waiting) > 20_000:
            self._flush()

    def _flush(self) -> None:
        self._sha.update("\0".join([*self._waiting, ""]).encode("utf-8", "surrogatepass"))
        self._waiting = []

    def hex(self) -> str:
        self._flush()
        return self._sha.hexdigest()


@lru_cache(maxsize=1 << 17)
def hash_question(text: str) -> str:
    """A short checksum of what was asked, by which the items of two results are paired."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash_questions(hashes: Iterable[str]) -> str:
    """sha256 of all `hash_question`s, in any order: equal for results that can be compared."""
    return hashlib.sha256(" ".join(sorted(hashes)).encode()).hexdigest()


# --- Writing ---


def strict_value(value: Any) -> Any:
    """The same value with None for every NaN and infinity, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: strict_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict_value(inner) for inner in value]
    return value


def dump_json(value: Any, indent: int | None = None, ascii_only: bool = False) -> str:
    """Strict JSON with sorted keys; readable Chinese unless `ascii_only`, unsafe characters escaped (`UNSAFE`)."""
    text = json.dumps(strict_value(value), ensure_ascii=ascii_only, allow_nan=False, sort_keys=True, indent=indent)
    # Line feeds are the indentation: inside strings json.dumps has escaped them already.
    return UNSAFE.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)


def write_atomic(path: Path, text: str) -> None:
    """Write `text` so that a kill at any moment leaves the old file or the new one, never a torn one.

    Raises EvaluationError if the folder is read-only or the disk is full; the old file is then intact.
    """
    temporary = path.with_name(f".{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):  # it is gone if all went well
            temporary.unlink()


class ReplyCache:
    """Texts by key in one SQLite file (write-ahead log, safe for several processes); a mapping in memory without one.

    A file that is no database is set aside as `NAME.corrupt`, and a cache that cannot be used is left: `warnings`
    says so. Nothing that goes wrong here stops the caller.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.warnings = path, list[str]()
        self._memory: dict[str, str] = {}
        self._connection: Any = None
        if path is None:
            return
        try:
            self._open(path)
        except sqlite3.OperationalError as error:  # locked, read-only, no such folder
            self.warnings.append(f"{path}: replies are not cached: {error}")
        except sqlite3.DatabaseError:
            try:
                path.replace(f"{path}.corrupt")
                self._open(path)
                self.warnings.append(f"{path}: no database, set aside as {path.name}.corrupt")
            except (OSError, sqlite3.Error) as error:
                self.warnings.append(f"{path}: replies are not cached: {error}")

    def _open(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
        # One evaluator may be made in one thread and used in another, never in two at a time.
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA busy_timeout=30000")
            for attempt in range(20):  # the switch to WAL does not wait for another process that does the same
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    break
                except sqlite3.OperationalError:
                    if attempt == 19:
                        raise
                    time.sleep(0.05)
            connection.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
            connection.execute("SELECT reply FROM replies LIMIT 1").fetchall()
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def get(self, key: str) -> str | None:
        if self._connection and key not in self._memory:
            try:
                found = self._connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                self._give_up(error)
            else:
                return str(found[0]) if found else None
        return self._memory.get(key)

    def put(self, key: str, reply: str) -> None:
        self._memory[key] = reply
        if self._connection:
            try:
                self._connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, reply))
            except sqlite3.Error as error:
                self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        self.warnings.append(f"{self.path}: replies are not cached any more: {error}")
        self.close()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


# --- Language models ---

MAX_FAILURES: Final = 10  # in a row, in the order of the prompts
_REPLY_FORMS: Final = ("json_schema", "json_object", "text")
_STATUS: Final = {401: "key refused", 403: "key refused", 404: "no such model", 408: "timeout", 429: "rate limit"}
_PASSING_FAILURES: Final = ("rate limit", "server error", "timeout", "bad body", "empty", "cut off", "refusal")
_HOPELESS: Final = ("key refused", "no such model", "no address")  # no further call can mend these
# What the server was like, not what was asked: another run may end otherwise.
SERVER_FAILURES: Final = frozenset({
    "connection", "timeout", "server error", "rate limit", "bad body", "deadline", "not asked", *_HOPELESS,
})  # fmt: skip

Outcome = tuple[str, str]  # (reply, "") or ("", kind of failure)


class ModelClient:
    """Asks an OpenAI-compatible server; holds client, cache and counts. Nothing is called before `read`.

    `schema` is the JSON schema of a reply and `version` the prompt's; both belong to the key of a cached reply. The
    API key stays inside the SDK's client: it is in no attribute of ours, no error and no cache.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        model: str,
        instructions: str,
        schema: Mapping[str, Any],
        version: str,
        workers: int = 8,
        cache: Path | None = None,
        deadline: float = 900.0,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise EvaluationError("a language model needs the package openai: pip install openai") from None
        self._openai = openai
        try:
            self._client = openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=5, timeout=30)
        except Exception:  # whatever an impossible address makes the SDK raise; its text may hold a password
            raise EvaluationError("the language model's address (OPENAI_BASE_URL) is no URL") from None
        scheme, mark, rest = base_url.rpartition("://")
        self.server = f"{scheme}{mark}{rest.rpartition('@')[2].partition('?')[0]}"  # without user and password
        self.model, self.instructions, self.schema, self.version = model, instructions, schema, version
        self.workers, self.deadline = max(1, workers), deadline
        self.cache = ReplyCache(cache)
        self.calls, self.tokens = 0, {"prompt": 0, "completion": 0}
        self._form = ""  # found by the probe
        self._lock = threading.Lock()

    def read(self, prompts: Sequence[str], probe: str, is_good: Callable[[str], bool]) -> list[Outcome]:
        """The outcome of every prompt, in order; a prompt is sent once, however often it occurs.

        The first call sends `probe` to find the strictest form of reply that the server knows; `is_good` tells
        whether a reply to it will do. After `MAX_FAILURES` in a row, or a refused key or model, the rest is not
        asked; which prompts these are does not depend on the number of workers. Failures are never cached.
        """
        keys = {prompt: self._key(prompt) for prompt in dict.fromkeys(prompts)}
        outcomes: dict[str, Outcome] = {}
        for prompt, key in keys.items():
            cached = self.cache.get(key)
            if cached is not None:
                outcomes[prompt] = (cached, "")
        waiting = [prompt for prompt in keys if prompt not in outcomes]
        if waiting:
            end = time.monotonic() + self.deadline
            fatal = "" if self._form else self._in_time(lambda: self._probe(probe, is_good, end), end)
            self._form = "" if fatal else self._form  # the next run may find the server up
            asked = {} if fatal else self._ask_all(waiting, keys, end)
            asked.setdefault(waiting[0], ("", fatal))
            outcomes.update({prompt: asked.get(prompt, ("", "not asked")) for prompt in waiting})
        return [outcomes[prompt] for prompt in prompts]

    def _key(self, prompt: str) -> str:
        parts = (self.server, self.model, self.version, self.instructions, json.dumps(self.schema), prompt)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _probe(self, probe: str, is_good: Callable[[str], bool], end: float) -> str:
        """Settle the form of replies; "" or the failure that ends it all."""
        failure = ""
        if not self.server.startswith(("http://", "https://")):
            return "no address"
        for self._form in _REPLY_FORMS:
            reply, failure = self._ask(probe, end)
            if failure in _PASSING_FAILURES or (not failure and is_good(reply)):
                return ""
            if failure and failure != "bad request":
                break
        return failure  # "" where even plain text did not do: every reply is checked anyway

    @staticmethod
    def _in_time(work: Callable[[], str], end: float) -> str:
        """What `work` returns, or "deadline" if that comes first: the SDK's retries may wait longer than we do."""
        done: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=lambda: done.put(work()), daemon=True).start()
        try:
            return done.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            return "deadline"

    def _ask_all(self, prompts: Sequence[str], keys: Mapping[str, str], end: float) -> dict[str, Outcome]:
        """Ask in threads, since a notebook's event loop may be running; daemons, so that no hung call outlives us.

        Replies are kept as they come: an interrupted run does not pay for them again.
        """
        from tqdm import tqdm

        jobs: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[str, Outcome]] = queue.SimpleQueue()

        def work() -> None:
            while (prompt := jobs.get()) is not None:
                done.put((prompt, self._ask(prompt, end)))

        workers = min(self.workers, len(prompts))
        for prompt in prompts[:workers]:
            jobs.put(prompt)
            threading.Thread(target=work, daemon=True).start()
        outcomes: dict[str, Outcome] = {}
        position = row = 0
        with tqdm(total=len(prompts), desc=self.model, disable=None) as bar:
            while position < len(prompts):
                try:
                    prompt, outcome = done.get(timeout=max(0.0, end - time.monotonic()))
                except queue.Empty:
                    outcomes.update({prompt: ("", "deadline") for prompt in prompts if prompt not in outcomes})
                    break
                outcomes[prompt] = outcome
                if not outcome[1]:
                    self.cache.put(keys[prompt], outcome[0])
                bar.update()
                if len(outcomes) + workers <= len(prompts):
                    jobs.put(prompts[len(outcomes) + workers - 1])
                while position < len(prompts) and prompts[position] in outcomes:
                    failure = outcomes[prompts[position]][1]
                    row = row + 1 if failure else 0
                    position += 1
                    if row == MAX_FAILURES or failure in _HOPELESS:
                        outcomes = {prompt: outcomes[prompt] for prompt in prompts[:position]}
                        position = len(prompts)
        for _ in range(workers):
            jobs.put(None)
        return outcomes

    def _ask(self, prompt: str, end: float) -> Outcome:
        """One call, with the SDK's retries."""
        left = end - time.monotonic()
        if left <= 0:
            return "", "deadline"
        form: dict[str, Any] = {"type": self._form}
        if self._form == "json_schema":
            form["json_schema"] = {"name": "reply", "strict": True, "schema": self.schema}
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": self.instructions}, {"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": 200,
            "timeout": min(30.0, left),
        }
        if self._form != "text":
            request["response_format"] = form
        openai = self._openai
        try:
            response = self._client.chat.completions.create(**request)
            choice, usage = response.choices[0], response.usage
            reply, reason, refusal = choice.message.content, choice.finish_reason, choice.message.refusal
            spent = (int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)) if usage else (0, 0)
            reply = reply if reply is None else reply.encode("utf-8", "replace").decode()
        except openai.APITimeoutError:
            return "", "timeout"
        except openai.APIConnectionError:
            return "", "connection"
        except openai.APIStatusError as error:
            return "", _STATUS.get(error.status_code, "server error" if error.status_code >= 500 else "bad request")
        # A 200 whose body is no JSON raises JSONDecodeError; one of another shape gives text, None or a list.
        except (openai.OpenAIError, ValueError, AttributeError, TypeError, LookupError, RecursionError, OverflowError):
            return "", "bad body"
        finally:
            with self._lock:
                self.calls += 1
        with self._lock:
            self.tokens["prompt"] += spent[0]
            self.tokens["completion"] += spent[1]
        if refusal:
            return "", "refusal"
        if reason == "length":
            return "", "cut off"
        return (reply, "") if reply and reply.strip() else ("", "empty")


# --- Command lines ---


def run_command(program: str, work: Callable[[], int]) -> int:
    """The exit code of `work`, or of what stopped it, told in one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")  # a terminal without UTF-8 shows escapes
    try:
        try:
            return work()
        finally:
            sys.stdout.flush()
    except EvaluationError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        # What cannot be written must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # `eval.py … | head`
            return 0
        print(f"{program}: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 1


# --- Text tables ---


def display_width(text: str) -> int:
    """Terminal columns of `text`: wide East Asian characters take two, combining marks none.

    >>> display_width("abc"), display_width("万亿")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """Columns two spaces apart under `header`; `align` holds `<` or `>` for each column."""
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(map(display_width, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = []
        for cell, width, side in zip(row, widths, align, strict=True):
            pad = " " * (width - display_width(cell))
            cells.append(pad + cell if side == ">" else cell + pad)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


class Table(NamedTuple):
    """A table of a report; `align` holds `<` or `>` for each column."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str


Report = list["str | Table"]  # lines and tables, top to bottom


def format_text(report: Report) -> str:
    """A report as a screen shows it."""
    return "\n".join(block if isinstance(block, str) else text_table(*block) for block in report)


def format_html(report: Report) -> str:
    """A report as a notebook shows it; every text is escaped."""
    parts = []
    for block in report:
        if isinstance(block, str):
            parts.append(f"<div>{html.escape(block)}</div>" if block else "")
            continue
        sides = ["left" if side == "<" else "right" for side in block.align]
        rows = "".join(_html_row("td", row, sides) for row in block.rows)
        parts.append(f"<table><thead>{_html_row('th', block.header, sides)}</thead><tbody>{rows}</tbody></table>")
    return "\n".join(filter(None, parts))


def _html_row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    shown = "".join(
        f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{shown}</tr>"


def show_number(value: float | None, digits: int = 4) -> str:
    """`digits` decimals; – if there is no number."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def show_interval(bounds: Sequence[float] | None) -> str:
    return f"[{bounds[0]:.4f}, {bounds[1]:.4f}]" if bounds else "–"


def format_signature(signature: Mapping[str, Any]) -> str:
    """The signature on one line, checksums cut to 12 digits."""
    parts = [str(signature["evaluator"])]
    for key, value in signature.items():
        if key.endswith("sha256"):
            parts.append(f"{key.removesuffix('_sha256')}:{value[:12]}")
        elif isinstance(value, (Mapping, list)):
            values = value.values() if isinstance(value, Mapping) else value
            parts.append(f"{key}:" + "/".join(f"{number:g}" for number in values))
        elif key != "evaluator" and value is not None:
            parts.append(f"{key}:{value}")
    return "signature: " + " ".join(parts)


class Results(dict[str, Any]):
    """Results as a plain dict that Jupyter shows as a report, with tables; `blocks` makes the report of it."""

    def __init__(self, values: Mapping[str, Any], blocks: Callable[..., Report]) -> None:
        super().__init__(values)
        self._blocks = blocks

    def report(self, **options: Any) -> Report:
        """The lines and tables; `options` are those of the benchmark's `report_blocks`."""
        return self._blocks(self, **options)

    def _repr_html_(self) -> str:
        return format_html(self.report())


# --- Intervals ---


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified Lentz method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / max(1.0 - (a + b) * x / (a + 1.0), tiny)
    total = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / ((1.0 + numerator * d) or tiny)
            c = (1.0 + numerator / c) or tiny
            total *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return total


def t_tail(t: float, df: float) -> float:
    """P(|T| > t) of Student's t with `df` > 0 degrees of freedom: I_x(df/2, 1/2), x = df/(df + t²) (DLMF 8.17)."""
    if t * t / df < 1e-300:
        return 1.0
    a, ratio = df / 2, t * t / df
    x, y = 1 / (1 + ratio), ratio / (1 + ratio)
    # lgamma(a + 1/2) - lgamma(a): the difference of two large numbers loses digits, its series does not
    gamma = 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3) if a > 100 else math.lgamma(a + 0.5) - math.lgamma(a)
    front = math.exp(gamma - math.lgamma(0.5) - a * math.log1p(ratio) + 0.5 * math.log(y))
    if x < (a + 1) / (a + 2.5):
        return front * _beta_fraction(a, 0.5, x) / a
    return 1.0 - front * _beta_fraction(0.5, a, y) / 0.5


def t_quantile(p: float, df: float) -> float:
    """The `p` quantile of Student's t, 0.5 <= p < 1, by bisection on `t_tail`.

    >>> round(t_quantile(0.975, 10), 6)
    2.228139
    """
    tail = 2 * (1 - p)
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail and high < 1e300:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, df) > tail else (low, middle)
    return (low + high) / 2


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean, exactly rounded so that the order of values does not matter; nan if there are none."""
    return math.fsum(values) / len(values) if values else math.nan


def variance(values: Sequence[float]) -> float:
    """Sample variance with n−1; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def stratified_mean(strata: Sequence[tuple[float, Sequence[float]]]) -> float:
    """Σ w·mean / Σ w over the strata `(weight, values)` that have values; nan if none has."""
    used = [(weight, mean(values)) for weight, values in strata if values]
    if len(used) == 1:
        return used[0][1]
    return math.fsum(w * m for w, m in used) / math.fsum(w for w, _ in used) if used else math.nan


def stratified_error(strata: Sequence[tuple[float, Sequence[float]]]) -> tuple[float, float] | None:
    """Standard error of the stratified mean Σ wᵢ·meanᵢ and its degrees of freedom; weights as `stratified_mean`.

    Variance V = Σ wᵢ²sᵢ²/nᵢ with sᵢ² over n−1 (Cochran, Sampling Techniques, 1977, 5.4); Satterthwaite's (1946)
    degrees of freedom V² / Σ (wᵢ²sᵢ²/nᵢ)²/(nᵢ−1). None if a stratum with weight has fewer than two values, or if
    every variance is 0: then nothing measures the error.
    """
    used = [(weight, values) for weight, values in strata if values and weight > 0]
    if not used or any(len(values) < 2 for _, values in used):
        return None
    total = math.fsum(weight for weight, _ in used)
    parts = [((w / total) ** 2 * variance(values) / len(values), len(values) - 1) for w, values in used]
    spread = math.fsum(part for part, _ in parts)
    if spread < 1e-30:  # rounding noise of equal values counts as 0
        return None
    return math.sqrt(spread), spread**2 / math.fsum(part**2 / n for part, n in parts)


def stratified_interval(
    strata: Sequence[tuple[float, Sequence[float]]],
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """Confidence interval of the stratified mean by Student's t, clipped to `bounds`; see `stratified_error`."""
    error = stratified_error(strata)
    if error is None:
        return None
    half = t_quantile((1 + confidence) / 2, error[1]) * error[0]
    centre = stratified_mean(strata)
    return max(bounds[0], centre - half), min(bounds[1], centre + half)


# --- Paired tests ---

FLIPS: Final = 10_000
EXACT_FLIPS: Final = 13  # non-zero differences up to which all 2^13 = 8,192 signs are tried instead
_BLOCK: Final = 1 << 22  # numbers held at a time


def sign_flip_test(parts: Sequence[Sequence[float]], flips: int = FLIPS, seed: int = 0) -> list[float]:
    """Two-sided p-values of paired differences by random signs (Fisher, The Design of Experiments, 1935, §21).

    `parts` holds a row per pair: what every question adds to the pair's difference (Σ = the difference), so that
    strata and weights are in it already. Without a difference between two systems every sign is as likely as the
    other; p is the share of sign patterns with |Σ ±part| >= |Σ part|. All patterns are tried where at most 13 parts
    are not 0, else `flips` random ones, and p = (1 + hits) / (1 + flips) (Phipson & Smyth 2010). The n-th question
    gets the same sign in every pair, so p depends on nothing but the pair and the order of the questions.
    """
    import numpy as np

    if not len(parts):
        return []
    matrix = np.asarray(parts, dtype=float).reshape(len(parts), -1)
    if not np.isfinite(matrix).all():
        raise InputError("sign_flip_test", "expected finite differences")
    observed = np.array([abs(math.fsum(row)) for row in matrix])
    least = observed - 1e-12 * np.abs(matrix).sum(axis=1)  # a sum that is equal but for rounding counts
    values = np.ones(len(matrix))
    few = np.count_nonzero(matrix, axis=1) <= EXACT_FLIPS
    for index in np.flatnonzero(few):
        row = matrix[index][matrix[index] != 0]
        patterns = np.arange(1 << len(row))[:, None] >> np.arange(len(row)) & 1
        values[index] = np.mean(np.abs((2 * patterns - 1) @ row) >= least[index])
    rest = np.flatnonzero(~few)
    if len(rest):
        rng = np.random.default_rng(seed)
        count, hits = matrix.shape[1], np.zeros(len(rest))
        step = max(1, _BLOCK // max(count, len(rest)))
        for start in range(0, flips, step):
            # Whole words: what is drawn must not depend on how many rows are drawn at a time.
            words = rng.integers(0, 1 << 64, (min(step, flips - start), (count + 63) // 64), np.uint64)
            signs = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1)[:, :count]
            sums = (2.0 * signs - 1) @ matrix[rest].T
            hits += np.count_nonzero(np.abs(sums) >= least[rest], axis=0)
        values[rest] = (1 + hits) / (1 + flips)
    return [float(value) for value in values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down adjusted p-values, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def detectable_difference(error: tuple[float, float], power: float = 0.8, confidence: float = 0.95) -> float:
    """The smallest true difference that a two-sided t test finds with probability `power`.

    (t at (1 + confidence)/2 + t at power) · standard error, with `error` = (standard error, degrees of freedom); the
    usual approximation of the noncentral t (Cohen, Statistical Power Analysis, 1988).
    """
    return (t_quantile((1 + confidence) / 2, error[1]) + t_quantile(power, error[1])) * error[0]
