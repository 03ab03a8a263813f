"""Logs of inspect_ai, `.eval` (a zip) and `.json`: every epoch is a run.

An answer is the model's last output, whole. Two keys that the tasks of `forecasteval.inspect_tasks` write say more: the
index that a reply states, in a score's metadata, and a question's own id, in a sample's. A sample that failed is no
answer, unless it was scored all the same.
"""

from __future__ import annotations

import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import decode_utf8, read_file
from forecasteval.common.records import parse_json

from .runs import Run, Source

MAX_MEMBER: Final = 1 << 28  # bytes of one sample
MAX_SAMPLES: Final = 100_000
MAX_RATIO: Final = 1000  # of all members to the file: what deflate can do at best
FREE_BYTES: Final = 1 << 28  # that no ratio is asked of
PIECE: Final = 1 << 12  # compressed bytes at a time, since a decoder may make 100 MB of so many
MAX_EPOCHS: Final = 1000
PREDICTION: Final = "forecasteval_prediction"  # in a score's metadata: what counts, in place of the output
QUESTION_ID: Final = "forecasteval_id"  # in a sample's metadata: the id of its question, where others have it, too
_SAMPLE: Final = re.compile(r"samples/(.*)_epoch_([0-9]+)(?:\.json|/sample\.json)", re.S)  # the second in large logs
_ATTACHMENT: Final = "attachment://"
_ZSTANDARD: Final = 93  # the method of current logs
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


class Damaged(NamedTuple):
    """A sample that cannot be read: what its file is named after, and why."""

    id: str
    epoch: int
    problem: str


def is_log(keys: set[str]) -> bool:
    """Whether a JSON object with these keys is a log."""
    return {"version", "eval", "status"} <= keys


def read_json_log(path: Path) -> Source:
    """The runs of a log that is one JSON object."""
    log = parse_json(decode_utf8(read_file(path), str(path)), str(path))
    samples = log.get("samples") if isinstance(log, Mapping) else None
    if not isinstance(samples, list) or not samples:
        raise InputError(str(path), "expected a log with samples", "none")
    return _read_samples(log, iter(samples))


def read_zip_log(path: Path) -> Source:
    """The runs of a log that is a zip; InputError for any other zip, and for one that is out of proportion."""
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise InputError(str(path), f"a damaged zip: {printable(error, 120)}") from None
    with archive:
        members = {member.filename: member for member in archive.infolist()}
        names = [name for name in members if _SAMPLE.fullmatch(name)]
        heads = [name for name in ("header.json", "_journal/start.json") if name in members]
        if not heads or not names:
            lacks = "samples" if heads else "header.json"
            raise InputError(str(path), "expected a log of inspect_ai", f"a zip without {lacks}")
        _check_sizes(path, [members[name] for name in (*names, *heads)])
        head = _read_member(path, archive, members[heads[0]])
        for name in names:
            _damage(path, members[name])  # what cannot be unpacked at all is no damage to one sample
        return _read_samples(head, (_read_sample(path, archive, members[name]) for name in names))


def _check_sizes(path: Path, members: list[zipfile.ZipInfo]) -> None:
    total, size = sum(member.file_size for member in members), path.stat().st_size
    if len(members) > MAX_SAMPLES:
        raise InputError(str(path), f"expected fewer than {MAX_SAMPLES:,} samples", f"{len(members):,} files")
    for member in members:
        if member.file_size > MAX_MEMBER:
            where = f"{path}: {printable(member.filename, 80)}"
            raise InputError(where, f"expected {MAX_MEMBER:,} bytes at most", f"{member.file_size:,}")
    if total > FREE_BYTES + MAX_RATIO * size:
        raise InputError(str(path), "expected a log", f"a zip of {size:,} bytes that says it holds {total:,}")


def _damage(path: Path, member: zipfile.ZipInfo) -> tuple[type[Exception], ...]:
    """What reading a damaged member raises; InputError if it is packed in a way that nothing here unpacks."""
    if member.compress_type == _ZSTANDARD:
        return *_DAMAGED, _zstandard_error(path)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{path}: {printable(member.filename, 80)}", "packed in a way that no log is")
    return _DAMAGED


def _read_sample(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Mapping[str, Any] | Damaged:
    try:
        return _read_member(path, archive, member)
    except InputError as error:
        match = _SAMPLE.fullmatch(member.filename)
        name, epoch = match.groups() if match else (member.filename, "1")
        return Damaged(name, int(epoch[:9]), error.expected)


def _read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Mapping[str, Any]:
    where, damaged = f"{path}: {printable(member.filename, 80)}", _damage(path, member)
    try:
        with archive.open(member) as file:
            raw = b"".join(iter(lambda: file.read(PIECE), b""))
    except damaged as error:
        raise InputError(where, f"damaged: {printable(error, 120)}") from None
    value = parse_json(decode_utf8(raw, where), where)
    if not isinstance(value, Mapping):
        raise InputError(where, "expected an object", type(value).__name__)
    return value


def _zstandard_error(path: Path) -> type[Exception]:
    """What the decoder raises; InputError if there is none. Python 3.14 has one, inspect_ai brings one for others."""
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdError
        else:
            import zipfile_zstd  # noqa: F401 - teaches zipfile
            from zstandard import ZstdError
    except ImportError:
        wanted = "its samples are packed with Zstandard: read it with Python 3.14, or install zipfile-zstd"
        raise InputError(str(path), f"{wanted}, or write it as JSON (inspect log convert --to json)") from None
    error: type[Exception] = ZstdError
    return error


# --- Samples ---


def _read_samples(log: Mapping[str, Any], samples: Iterable[Any]) -> Source:
    runs: dict[int, Run] = {}
    there: dict[int, set[str]] = {}
    for number, sample in enumerate(samples, 1):
        epoch = sample.get("epoch") if isinstance(sample, Mapping) else getattr(sample, "epoch", None)
        epoch = epoch if type(epoch) is int and 0 < epoch < MAX_EPOCHS else 1
        run = runs.setdefault(epoch, Run())
        if isinstance(sample, Mapping):
            there.setdefault(epoch, set()).add(str(sample.get("id")))
            _add(run, sample, f"sample {number}")
        elif isinstance(sample, Damaged):
            there.setdefault(epoch, set()).add(sample.id)
            run.leave_out("damaged", f"{sample.id} ({sample.problem})")
        else:
            run.leave_out("no object", f"sample {number}")
    asked = _at(log, "eval", "dataset", "sample_ids")
    for epoch, run in runs.items():
        for name in asked if isinstance(asked, list) else []:
            if str(name) not in there.get(epoch, ()):
                run.leave_out("not in the log", name)
    return Source("inspect_ai log", dict(sorted(runs.items())), _notes(log, len(runs)))


def _notes(log: Mapping[str, Any], runs: int) -> list[str]:
    names = (printable(_at(log, "eval", key), 60) for key in ("task", "model"))
    notes = [" of ".join(names)]
    status, epochs = log.get("status", "started"), _at(log, "eval", "config", "epochs")  # "started": no header yet
    if status != "success":
        notes.append(f"the evaluation did not finish: status {printable(status, 40)}")
    if type(epochs) is int and epochs > runs:
        notes.append(f"epochs in the log: {runs} of {epochs}")
    return notes


def _at(value: Any, *keys: str) -> Any:
    """What stands at a path of keys; None if nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _add(run: Run, sample: Mapping[str, Any], place: str) -> None:
    name, own = sample.get("id"), _at(sample, "metadata", QUESTION_ID)
    if own is not None:
        name, run.by_prompt = own, True
    if sample.get("invalidation"):
        return run.leave_out("invalidated", name)
    if sample.get("error") and not sample.get("scores"):
        return run.leave_out("failed", name)
    scores = sample.get("scores")
    told = [_at(score, "metadata") for score in scores.values()] if isinstance(scores, Mapping) else []
    stated = [metadata[PREDICTION] for metadata in told if isinstance(metadata, Mapping) and PREDICTION in metadata]
    if stated and stated[0] is None:
        return run.leave_out("no index in the reply", name)
    return run.add(name, stated[0] if stated else _completion(sample), sample.get("input"), place)


def _completion(sample: Mapping[str, Any]) -> Any:
    text = _at(sample, "output", "completion")
    if isinstance(text, str) and text.startswith(_ATTACHMENT):  # long texts may stand apart
        return _at(sample, "attachments", text.removeprefix(_ATTACHMENT))
    return text
