r"""`python eval.py …` as a real process: names, formats, options, exit codes, and every kind of bad input.

A refused file must give its documented exit code and one line that a person can act on, never a traceback.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
PROMPT: Final = "Who will win?\nA. Harbour Town\nB. Draw\nC. Lakeside"
BOM: Final = b"\xef\xbb\xbf"
HUGE: Final = "9" * 5000  # more digits than int() converts
EVIL: Final = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\r\x08"
RAW_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
Record = dict[str, Any]
Files = Mapping[str, object]


class Done(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one line of --json, which must be strict JSON."""
        assert self.code == 0, self.err
        return strict(self.out)


def strict(text: str) -> Any:
    """The value of one line of JSON; NaN and Infinity raise."""
    assert text.endswith("\n")
    assert text.count("\n") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in JSON")

    return json.loads(text, parse_constant=refuse)


def write(root: Path, files: Files) -> Path:
    """Write files below `root`: bytes and text as they are, a list for `.jsonl` line by line, else JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list) and path.suffix == ".jsonl":
            content = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in content)
        elif not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def run(root: Path, *args: str, program: Path = ROOT / "eval.py", cwd: Path | None = None, **env: str) -> Done:
    """One run on the folders below `root`; warnings of Python are errors there too."""
    command = [sys.executable, "-W", "error", str(program), *args]
    if "--root" not in args:
        command += ["--root", str(root)]
    variables = {**os.environ, "PYTHONIOENCODING": "utf-8", **env}
    done = subprocess.run(command, capture_output=True, cwd=cwd, env=variables, timeout=60, check=False)
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def assert_refused(done: Done, *words: str, code: int = 2) -> None:
    """The exit code, one clear line that holds all `words`, no traceback, and nothing raw on the screen."""
    assert "Traceback" not in done.err
    assert done.code == code, done.err
    lines = [line for line in done.err.splitlines() if line.startswith("eval.py: ")]
    assert len(lines) == 1, done.err
    assert [word for word in words if word not in lines[0]] == [], lines[0]
    assert len(lines[0]) < 500
    assert not RAW_CONTROL.search(done.err)
    assert code != 2 or done.out == ""


def q(name: object = "q7", **changes: object) -> Record:
    """A single choice whose answer is right; a change to `...` drops the field."""
    record = {"id": name, "level": 1, "prompt": PROMPT, "ground_truth": "A", "Std": None, "answer": r"\boxed{A}"}
    return {key: value for key, value in {**record, **changes}.items() if value is not ...}


def question(name: object = "q7", **changes: object) -> Record:
    """The same as a row of a dataset."""
    return q(name, answer=..., **changes)


def number(name: object = "q7", **changes: object) -> Record:
    """A number that is answered right."""
    return q(name, **{"level": 4, "prompt": "How many?", "ground_truth": "100", "answer": "100", **changes})


def raw(**fields: str) -> str:
    """A file with one good record and then the question q7 with these fields written as raw JSON."""
    record = ", ".join(f'"{key}": {value}' for key, value in {**dict.fromkeys(q(), ""), **fields}.items() if value)
    rest = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in number().items() if key not in fields)
    return f"[{json.dumps(q('q1'))}, {{{rest}, {record}}}]"


def item(results: Record, name: object) -> Record:
    """The only item with this id."""
    found = [entry for entry in results["items"] if entry["id"] == name]
    assert len(found) == 1
    return found[0]  # type: ignore[no-any-return]


def warning(results: Record, *words: str) -> str:
    """The only warning that holds all words."""
    found = [text for text in results["warnings"] if all(word in text for word in words)]
    assert len(found) == 1, results["warnings"]
    return str(found[0])


# --- Files that cannot be read ---

LATIN: Final = json.dumps([q("café")], ensure_ascii=False)
AT: Final = LATIN.index("é")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param("p.json", '[{"id": 1},\n {"id" 2}]', ["p.json", "line 2", "column 8"], id="not JSON"),
        pytest.param("p.json", json.dumps([q()])[:-1], ["p.json", "line 1", "column"], id="torn"),
        pytest.param("p.json", json.dumps([q()]) + "]", ["line 1", "Extra data"], id="extra data"),
        pytest.param("p.json", b"", ["p.json", "empty"], id="empty"),
        pytest.param("p.json", b" \n\n", ["p.json", "empty"], id="blank"),
        pytest.param("p.json", BOM, ["p.json", "empty"], id="byte order mark only"),
        pytest.param("p.jsonl", b"", ["p.jsonl", "empty"], id="empty JSONL"),
        pytest.param("p.jsonl", b"\n \n", ["p.jsonl", "empty"], id="blank JSONL"),
        pytest.param("p.jsonl", BOM, ["p.jsonl", "empty"], id="byte order mark only, JSONL"),
        pytest.param("p.json", b"[]", ["p.json", "question"], id="no records"),
        pytest.param("p.json", b"{}", ["p.json", "question"], id="no records in an object"),
        pytest.param("p.json", LATIN.encode("utf-16"), ["not UTF-8", "UTF-16", "byte 0"], id="UTF-16"),
        pytest.param("p.jsonl", LATIN.encode("utf-16"), ["not UTF-8", "UTF-16", "byte 0"], id="UTF-16 JSONL"),
        pytest.param("p.json", LATIN.encode("latin-1"), ["not UTF-8", "0xe9", f"position {AT}"], id="latin-1"),
        pytest.param("p.json", BOM + LATIN.encode("latin-1"), ["0xe9", f"position {AT + 3}"], id="latin-1, BOM"),
        pytest.param(
            "p.jsonl", json.dumps(q()).encode() + b"\n" + LATIN[1:-1].encode("latin-1"),
            ["not UTF-8", "0xe9", f"position {len(json.dumps(q())) + AT}"], id="latin-1 on line 2",
        ),
        pytest.param(
            "p.jsonl", BOM + LATIN[1:-1].encode("latin-1"), ["0xe9", f"position {AT + 2}"], id="latin-1 JSONL, BOM"
        ),
        pytest.param("p.json", b"17", ["p.json", "list", "object", "got int"], id="top level number"),
        pytest.param("p.json", b'"q7"', ["p.json", "list", "object", "got str"], id="top level text"),
        pytest.param("p.json", b"null", ["p.json", "list", "object", "got"], id="top level null"),
        pytest.param("p.json", b"NaN", ["p.json", "list", "object", "got"], id="top level NaN"),
        pytest.param("p.json", b"[" * 100_000, ["p.json", "nested too deeply"], id="deep list"),
        pytest.param("p.json", b'{"a":' * 100_000, ["p.json", "nested too deeply"], id="deep object"),
        pytest.param("p.json", raw(answer="[" * 10**5 + "]" * 10**5), ["nested too deeply"], id="deep answer"),
        pytest.param("p.jsonl", [q(), "[" * 100_000], ["record 2", "nested too deeply"], id="deep line"),
        pytest.param("p.jsonl", [q(), '{"id": "q8", '], ["record 2", "not JSON", "column"], id="torn line"),
    ],
)  # fmt: skip
def test_unreadable_file(tmp_path: Path, name: str, content: object, words: list[str]) -> None:
    assert_refused(run(write(tmp_path, {f"prediction/{name}": content}), "-f", "p"), *words)


def test_unreadable_dataset_is_the_file_that_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/d.json": "[{]", "prediction/d-x.json": {"q7": "A"}})
    assert_refused(run(tmp_path, "-f", "d-x"), "d.json", "line 1 column 3")


# --- Records that cannot be scored ---

LEVELS_REFUSED: Final = [5, 0, -1, 2.5, True, "five", "", None, ..., [1], {}]
STDS_REFUSED: Final = [-1, -0.5, "-1", "NaN", "inf", "wide", True, [3], {}]
RAW_REFUSED: Final = {
    "Std NaN": ("Std", raw(Std="NaN"), "nan"),
    "Std Infinity": ("Std", raw(Std="Infinity"), "inf"),
    "Std -Infinity": ("Std", raw(Std="-Infinity"), "inf"),
    "Std overflows": ("Std", raw(Std="1e999"), "inf"),
    "Std of 400 digits": ("Std", raw(Std="9" * 400), "9"),
    "Std of 5,000 digits": ("Std", raw(Std=HUGE), "9"),
    "level NaN": ("level", raw(level="NaN"), "nan"),
    "level of 400 digits": ("level", raw(level="9" * 400), "9"),
    "level of 5,000 digits": ("level", raw(level=HUGE), "9"),
    "truth NaN": ("ground_truth", raw(ground_truth="NaN"), "nan"),
    "id twice": ("id", raw(id='"q8", "id": "q7"'), "twice"),
    "level twice": ("level", raw(level='4, "level": 3'), "twice"),
    "prompt twice": ("prompt", raw(prompt='"x", "prompt": "y"'), "twice"),
    "truth twice": ("ground_truth", raw(ground_truth='"1", "ground_truth": "2"'), "twice"),
    "Std twice": ("Std", raw(Std='1, "Std": 2'), "twice"),
}


@pytest.mark.parametrize("level", LEVELS_REFUSED, ids=repr)
@pytest.mark.parametrize("in_dataset", [True, False], ids=["dataset", "own"])
def test_refused_level(tmp_path: Path, level: object, in_dataset: bool) -> None:
    got = "None" if level is ... else repr(level)
    words = ["record 2", "q7", "'level'", "1–4", f"got {got}"]
    if in_dataset:
        write(tmp_path, {"dataset/p.json": [question("q1"), question(level=level)]})
    write(tmp_path, {"prediction/p.json": {"q1": "A"} if in_dataset else [q("q1"), q(level=level)]})
    assert_refused(run(tmp_path, "-f", "p"), "dataset/p.json" if in_dataset else "prediction/p.json", *words)


@pytest.mark.parametrize("std", STDS_REFUSED, ids=repr)
def test_refused_std(tmp_path: Path, std: object) -> None:
    write(tmp_path, {"prediction/p.json": [q("q1"), number(Std=std)]})
    assert_refused(run(tmp_path, "-f", "p"), "p.json", "record 2", "q7", "'Std'", "number", f"got {std!r}")


@pytest.mark.parametrize("truth", [..., None, "", "  ", r"\boxed{}", [], {}, True, "[]"], ids=repr)
@pytest.mark.parametrize("level", [1, 4])
def test_refused_truth(tmp_path: Path, truth: object, level: int) -> None:
    write(tmp_path, {"prediction/p.json": [q("q1"), q(level=level, ground_truth=truth)]})
    assert_refused(run(tmp_path, "-f", "p"), "p.json", "record 2", "q7", "'ground_truth'", "got ")


@pytest.mark.parametrize(("field", "content", "got"), RAW_REFUSED.values(), ids=RAW_REFUSED)
def test_refused_raw_json(tmp_path: Path, field: str, content: str, got: str) -> None:
    done = run(write(tmp_path, {"prediction/p.json": content}), "-f", "p")
    assert_refused(done, "p.json", "record 2", "q7", f"'{field}'")
    assert got in done.err.lower()


@pytest.mark.parametrize("record", [7, "text", None, ["q7", "A"], True], ids=repr)
def test_record_that_is_no_object(tmp_path: Path, record: object) -> None:
    write(tmp_path, {"prediction/p.json": [q(), record]})
    words = ["p.json", "record 2", "object", f"got {type(record).__name__}"]
    assert_refused(run(tmp_path, "-f", "p"), *words)
    write(tmp_path, {"dataset/p.json": [question(), record]})
    assert_refused(run(tmp_path, "-f", "p"), "dataset/p.json", *words[1:])


@pytest.mark.parametrize("record", [7, None, ["A"], {"prediction": "A"}, {"id": None, "prediction": "A"}], ids=repr)
def test_bad_prediction_row_never_fails_the_dataset(tmp_path: Path, record: object) -> None:
    questions = [question("q1"), question("q7")]
    write(tmp_path, {"dataset/p.json": questions, "prediction/p.json": [{"id": "q1", "prediction": "A"}, record]})
    results = run(tmp_path, "-f", "p", "--json").json
    assert (item(results, "q1")["score"], item(results, "q7")["outcome"]) == (1.0, "missing")
    assert "record 2" in warning(results, "prediction", "not used")


def test_record_without_id_is_named_and_scored(tmp_path: Path) -> None:
    results = run(write(tmp_path, {"prediction/p.json": [q(), q(...)]}), "-f", "p", "--json").json
    assert results["overall_score"] == 1.0
    assert results["level_counts"]["1"] == 2
    assert "record 2" in warning(results, "without id")


@pytest.mark.parametrize("level", ["4", 4.0, 4], ids=repr)
def test_accepted_level(tmp_path: Path, level: object) -> None:
    results = run(write(tmp_path, {"prediction/p.json": [number(level=level)]}), "-f", "p", "--json").json
    assert results["level_counts"] == {"1": 0, "2": 0, "3": 0, "4": 1}
    assert results["level_scores"] == {"1": None, "2": None, "3": None, "4": 1.0}
    assert results["overall_score"] == 1.0


@pytest.mark.parametrize(("std", "score"), [("4", 0.75), (4, 0.75), (4.0, 0.75), (0, 0.0), (None, 0.0)], ids=repr)
def test_accepted_std(tmp_path: Path, std: object, score: float) -> None:
    write(tmp_path, {"prediction/p.json": [number(Std=std, answer="102")]})
    assert run(tmp_path, "-f", "p", "--json").json["overall_score"] == pytest.approx(score)


@pytest.mark.parametrize("encode", [lambda text: BOM + text, lambda text: text.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_windows_files_are_read(tmp_path: Path, encode: Callable[[bytes], bytes], suffix: str) -> None:
    text = "\n".join(json.dumps(q(name), ensure_ascii=False) + ("," * (suffix == "json")) for name in ("甲", "乙"))
    content = encode((f"[{text[:-1]}]\n" if suffix == "json" else text + "\n").encode())
    results = run(write(tmp_path, {f"prediction/p.{suffix}": content}), "-f", "p", "--json").json
    assert [entry["id"] for entry in results["items"]] == ["甲", "乙"]


# --- Answers that cannot be read ---

NEVER_FAILS: Final = {
    "5,000 digits": HUGE,
    "400 digits": "9" * 400,
    "4,299 digits": "9" * 4299,
    "minus 5,000 digits": "-" + HUGE,
    "5,000 digits as text": f'"{HUGE}"',
    "5,000 digits in a list": f"[{HUGE}, 3]",
    "exponent": "1e999",
    "huge exponent as text": r'"\\boxed{1e99999}"',
    "huge power": r'"\\boxed{10^999999999}"',
    "NaN": "NaN",
    "-Infinity": "-Infinity",
    "bool": "true",
    "object": '{"answer": {"value": 1}}',
    "object twice": '{"a": 1, "a": 2}',
    "empty list": "[]",
    "list of null": "[null, null]",
    "lone surrogate": r'"\\boxed{\ud800}"',
    "NUL": r'"\\boxed{\u0000}"',
    "only braces": '"' + "{" * 100_000 + '"',
    "open brackets": '"' + r"\\boxed{" + "[" * 100_000 + '"',
    **{f"list {depth} deep": "[" * depth + "]" * depth for depth in (100, 300, 480, 900, 970)},
    **{f"object {depth} deep": '{"a":' * depth + "1" + "}" * depth for depth in (100, 300, 480, 900, 970)},
}


@pytest.mark.parametrize("answer", NEVER_FAILS.values(), ids=NEVER_FAILS)
def test_bad_answer_never_fails_the_file(tmp_path: Path, answer: str) -> None:
    names = number("q3", level=3, ground_truth="Red, Green", answer="@")
    records = [q("q1"), q("q2", level=2, answer="@"), names, number("q4", answer="@")]
    content = json.dumps(records).replace('"@"', answer)
    done = run(write(tmp_path, {"prediction/p.json": content}), "-f", "p", "--items", "--save")
    assert (done.code, done.err) == (0, "")
    results = json.loads((tmp_path / "evaluation" / "p.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert [entry["score"] for entry in results["items"]] == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("piece", [r"\boxed{", r"\boxed{}", "1,", "A ", "$", "("])
def test_answer_of_ten_megabytes(tmp_path: Path, piece: str) -> None:
    answer = piece * (10_000_000 // len(piece))
    results = run(write(tmp_path, {"prediction/p.json": [q("q1"), number(answer=answer)]}), "-f", "p", "--json").json
    assert item(results, "q7")["outcome"] in ("missing", "unparsed")
    assert item(results, "q1")["score"] == 1.0
    assert len(item(results, "q7")["answer"]) <= 500


@pytest.mark.parametrize("form", ["own", "rows", "map"])
def test_answer_given_twice_is_unparsed(tmp_path: Path, form: str) -> None:
    write(tmp_path, {"prediction/own.json": raw(answer='"100", "answer": "99"')})
    for name, content in {
        "rows": '[{"id": "q1", "prediction": "A"}, {"id": "q7", "prediction": "100", "prediction": "99"}]',
        "map": '{"q1": "A", "q7": "100", "q7": "99"}',
    }.items():
        dataset = [question("q1"), number(answer=...)]
        write(tmp_path, {f"prediction/{name}.json": content, f"dataset/{name}.json": dataset})
    results = run(tmp_path, "-f", form, "--json").json
    assert (item(results, "q7")["outcome"], item(results, "q1")["score"]) == ("unparsed", 1.0)
    assert results["unparsed_count"] == 1
    assert "q7" in warning(results, "twice")


def test_same_key_twice_with_one_value_is_no_conflict(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": raw(answer='"100", "answer": "100"', level='4, "level": 4')})
    assert item(run(tmp_path, "-f", "p", "--json").json, "q7")["score"] == 1.0


def test_ids_used_twice_both_count_and_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q("q7"), q("q7", answer="B"), q("q8")]})
    results = run(tmp_path, "-f", "p", "--json").json
    assert results["level_counts"]["1"] == 3
    assert results["overall_score"] == pytest.approx(2 / 3)
    assert "q7" in warning(results, "more than once")
    assert "q8" not in warning(results, "more than once")


@pytest.mark.parametrize("field", ["id", "prompt", "ground_truth", "answer"])
def test_lone_surrogates(tmp_path: Path, field: str) -> None:
    record = q(**{field: "\ud800"}, level=3) if field != "id" else q("\ud800")
    root = write(tmp_path, {"prediction/p.json": [q("q1"), record]})
    assert len(run(root, "-f", "p", "--json", "--save").json["items"]) == 2
    assert not RAW_CONTROL.search(run(root, "-f", "p", "--items").out)


# --- The screen ---


def test_escape_sequences_never_reach_the_screen_raw(tmp_path: Path) -> None:
    evil = [
        q(EVIL), q(EVIL), q("a" + EVIL, answer=EVIL), q("b", answer=rf"\boxed{{{EVIL}}}"), q("c", answer=[EVIL]),
        q("d", level=3, ground_truth=EVIL + "Red, Green", answer=rf"\boxed{{{EVIL}Red, Blue}}"),
        q("e", prompt=f"Who?\nA. {EVIL}x\nB. y", answer=rf"\boxed{{{EVIL}x}}"),
        number("f", answer=rf"\boxed{{{EVIL}100{EVIL}}}"), q({EVIL: EVIL}),
    ]  # fmt: skip
    rows = [{**record, "ground_truth": EVIL} for record in evil]
    write(tmp_path, {"prediction/p.json": evil, "dataset/d.json": [*evil, question("z" + EVIL)]})
    write(tmp_path, {"prediction/d-x.json": [*rows, {"id": "unused" + EVIL, "prediction": EVIL}]})
    for name in ("p", "d-x"):
        for option in ("--items", "--json"):
            done = run(tmp_path, "-f", name, option)
            assert (done.code, done.err) == (0, "")
            assert not RAW_CONTROL.search(done.out)
    assert "\\x1b[2J" in run(tmp_path, "-f", "p", "--items").out


@pytest.mark.parametrize(
    "record", [q(EVIL, level=9), q(level=EVIL), q(ground_truth={EVIL: 1}), number(Std=EVIL), q("q", level=[EVIL])]
)
def test_escape_sequences_in_errors(tmp_path: Path, record: Record) -> None:
    assert_refused(run(write(tmp_path, {"prediction/p.json": [record]}), "-f", "p"), "record 1")


def test_escape_sequences_in_names(tmp_path: Path) -> None:
    name = "p\x1b[31m\x9b"
    write(tmp_path, {f"prediction/{name}.json": [q()], f"dataset/{name}.json": [question()], "evaluation": ""})
    assert_refused(run(tmp_path, "-f", "p\x1b"), "no such file", "\\x1b[31m")
    assert_refused(run(tmp_path, "-f", name, "--save"), "evaluation")
    assert_refused(run(tmp_path, "-f", name, "--dataset", "\x1b[2J"), "no such file")
    assert not RAW_CONTROL.search(run(tmp_path, "-f", name).out)


def test_items_line_per_question(tmp_path: Path) -> None:
    records = [q("q1"), q("q2", answer="I wonder"), number("q3", answer=r"\boxed{99}", Std=2), q("q4", answer="")]
    plain = run(write(tmp_path, {"prediction/p.json": records}), "-f", "p").out
    with_items = run(tmp_path, "-f", "p", "--items").out
    lines = {line.split()[0]: line for line in with_items.splitlines() if line[:1] == "q"}
    assert list(lines) == ["q1", "q2", "q3", "q4"]
    for name, *words in [
        ("q1", "1.0000", "scored", r"\boxed{A}"),
        ("q2", "0.0000", "unparsed", "I wonder"),
        ("q3", "0.7500", "scored", "100", "99", "number"),
        ("q4", "0.0000", "missing"),
    ]:
        assert [word for word in words if word not in lines[name]] == []
    assert not re.search(r"^q\d", plain, re.M)


def test_report_shows_each_level_and_overall(tmp_path: Path) -> None:
    records = [q(str(i), answer="A" if i else "B") for i in range(3)] + [number("n", answer="")]
    out = run(write(tmp_path, {"prediction/p.json": records}), "-f", "p").out
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines() if line.startswith(("Level", "Overall"))}
    assert rows["Level 1"][2:4] == ["0.1", "0.6667"]
    assert rows["Level 1"][-3:] == ["3", "0", "0"]
    assert rows["Level 2"][-5:] == ["–", "–", "0", "0", "0"]
    assert rows["Level 4"][-3:] == ["1", "1", "0"]
    assert rows["Overall"][1] == "0.1333"  # (0.1 * 2/3 + 0.4 * 0) / 0.5
    assert rows["Overall"][-3:] == ["4", "1", "0"]
    assert re.search(r"^signature: .*prediction:[0-9a-f]{12}", out, re.M)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_terminal_without_utf8(tmp_path: Path, encoding: str) -> None:
    root = write(tmp_path, {"prediction/p.json": [q("né甲😀", answer=r"\boxed{é甲😀}")]})
    command = [sys.executable, str(ROOT / "eval.py"), "-f", "p", "--root", str(root)]
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    for option in ("--items", "--json"):
        done = subprocess.run([*command, option], capture_output=True, env=env, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    assert strict(done.stdout.decode(encoding))["items"][0]["id"] == "né甲😀"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--items", "--json", "--help", "--version"])
def test_closed_pipe_leaves_no_traceback(tmp_path: Path, option: str, unbuffered: str) -> None:
    write(tmp_path, {"prediction/p.json": [q(str(i)) for i in range(300)]})
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, str(ROOT / "eval.py"), "-f", "p", "--root", str(tmp_path), option]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=env, timeout=60, check=False)
    finally:
        os.close(writer)
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_disk_behind_stdout_is_one_clear_line(tmp_path: Path, unbuffered: str) -> None:
    write(tmp_path, {"prediction/p.json": [q()]})
    command = [sys.executable, str(ROOT / "eval.py"), "-f", "p", "--root", str(tmp_path)]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, timeout=60, check=False)
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


# --- Names ---


@pytest.mark.parametrize("name", ["p", "p.json", "./prediction/p", "prediction/p.json", "../{root}/prediction/p"])
def test_name_with_or_without_extension_or_a_path(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"prediction/p.json": [q()]})
    assert run(tmp_path, "-f", name.format(root=tmp_path.name), "--json", cwd=tmp_path).json["prediction"] == "p.json"


@pytest.mark.parametrize("stem", ["run.v2", "run-2025.10", "模型"])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_name_that_holds_a_dot_or_chinese(tmp_path: Path, stem: str, suffix: str) -> None:
    write(tmp_path, {f"prediction/{stem}.{suffix}": [q()]})
    assert run(tmp_path, "-f", stem, "--json").json["prediction"] == f"{stem}.{suffix}"


def test_two_files_of_one_stem_are_told_apart_by_extension(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/x.json": [q("one")], "prediction/x.jsonl": [q("two")]})
    assert_refused(run(tmp_path, "-f", "x"), "x.json", "x.jsonl")
    assert run(tmp_path, "-f", "x.json", "--json").json["items"][0]["id"] == "one"
    assert run(tmp_path, "-f", "x.jsonl", "--json").json["items"][0]["id"] == "two"


@pytest.mark.parametrize("name", ["250915-randon", "250915_random", "random.json", "./prediction/250915-randm"])
def test_no_such_file_names_the_nearest(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"prediction/250915-random.json": [q()], "prediction/notes.txt": ""})
    done = run(tmp_path, "-f", name, cwd=tmp_path)
    assert_refused(done, "no such file", Path(name).name, "250915-random.json")
    assert "notes.txt" not in done.err


@pytest.mark.parametrize("name", ["p", "/", ".", "./", "..", "", "prediction/", "x" * 300, "no/such/folder/x"])
def test_hopeless_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "prediction").mkdir()
    done = run(tmp_path, "-f", name, cwd=tmp_path)
    assert_refused(done, "file")


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "prediction" / "p.json").mkdir(parents=True)
    assert_refused(run(tmp_path, "-f", "p"), "p", "file")


# --- Datasets ---

TRUTHS: Final = {"2509": "A", "250915": "B", "250915-ran": "C"}


@pytest.mark.parametrize(
    ("stem", "truth"),
    [
        ("250915", "250915"),
        ("250915-random", "250915"),
        ("250915_random", "250915"),
        ("250915.random", "250915"),
        ("250915-ran-2", "250915-ran"),
        ("250915-ranx", "250915"),
        ("2509-x", "2509"),
    ],
)
def test_dataset_with_the_longest_prefix(tmp_path: Path, stem: str, truth: str) -> None:
    for name, letter in TRUTHS.items():
        write(tmp_path, {f"dataset/{name}.json": [question(ground_truth=letter)]})
    results = run(write(tmp_path, {f"prediction/{stem}.json": {"q7": "A"}}), "-f", stem, "--json").json
    assert (results["dataset"], item(results, "q7")["truth"]) == (f"{truth}.json", TRUTHS[truth])


@pytest.mark.parametrize("stem", ["250915x", "x-250915", "25091", "other"])
def test_submission_without_dataset(tmp_path: Path, stem: str) -> None:
    write(tmp_path, {"dataset/250915.json": [question()]})
    for form in ({"q7": "A"}, [{"id": "q7", "prediction": "A"}]):
        assert_refused(run(write(tmp_path, {f"prediction/{stem}.json": form}), "-f", stem), stem, "--dataset")


@pytest.mark.parametrize("name", ["d", "d.jsonl", "./dataset/d", "dataset/d.jsonl"])
def test_dataset_option_wins(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"dataset/p.json": [question(ground_truth="B")], "dataset/d.jsonl": [question()]})
    write(tmp_path, {"prediction/p.json": {"q7": "A"}})
    results = run(tmp_path, "-f", "p", "--dataset", name, "--json", cwd=tmp_path).json
    assert (results["dataset"], results["overall_score"]) == ("d.jsonl", 1.0)
    assert_refused(run(tmp_path, "-f", "p", "--dataset", "dd"), "dataset", "no such file", "d.jsonl")


def test_two_datasets_of_one_stem(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": [question()], "dataset/p.jsonl": [question()], "prediction/p.json": {"q7": "A"}})
    assert_refused(run(tmp_path, "-f", "p"), "dataset", "p.json", "p.jsonl")
    assert run(tmp_path, "-f", "p", "--dataset", "p.jsonl", "--json").json["dataset"] == "p.jsonl"


@pytest.mark.parametrize(
    ("form", "suffix"), [("rows", "json"), ("rows", "jsonl"), ("own", "json"), ("own", "jsonl"), ("map", "json")]
)
def test_forms_of_predictions(tmp_path: Path, form: str, suffix: str) -> None:
    content: object = [{"id": "q7", "prediction": "A"}, {"id": 8, "prediction": ["B"]}]
    if form == "map":
        content = {"q7": "A", "8": ["B"]}
    elif form == "own":
        content = [q(), q(8, answer=["B"])]
    write(tmp_path, {"dataset/p.json": [question(), question(8), question("q9")], f"prediction/p.{suffix}": content})
    results = run(tmp_path, "-f", "p", "--json").json
    assert [(entry["id"], entry["score"], entry["outcome"]) for entry in results["items"]] == [
        ("q7", 1.0, "scored"), (8, 0.0, "scored"), ("q9", 0.0, "missing"),
    ]  # fmt: skip
    assert (results["missing_count"], results["overall_score"]) == (1, pytest.approx(1 / 3))


def test_bad_line_of_jsonl_leaves_the_rest(tmp_path: Path) -> None:
    lines = [{"id": "q1", "prediction": "A"}, '{"id": "q7", "prediction": "A', {"id": "q8", "prediction": "A"}]
    questions = [question(name) for name in ("q1", "q7", "q8")]
    results = run(write(tmp_path, {"dataset/p.json": questions, "prediction/p.jsonl": lines}), "-f", "p", "--json").json
    assert [entry["outcome"] for entry in results["items"]] == ["scored", "missing", "scored"]
    assert results["overall_score"] == pytest.approx(2 / 3)
    assert "record 2" in warning(results, "not used")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"id": "q7", "prediction": ' + "[" * 100_000, "nonsense"])
def test_hopeless_line_of_jsonl(tmp_path: Path, line: str) -> None:
    write(tmp_path, {"dataset/p.json": [question("q1"), question()]})
    results = run(write(tmp_path, {"prediction/p.jsonl": [q("q1"), line]}), "-f", "p", "--json").json
    assert (results["overall_score"], results["missing_count"]) == (0.5, 1)


def test_ids_that_repeat_are_joined_by_prompt(tmp_path: Path) -> None:
    twins = [question(prompt="One?" + PROMPT), question(prompt="Two?" + PROMPT, ground_truth="B")]
    rows = [{**twins[1], "answer": "B"}, {**twins[0], "answer": "A"}]
    results = run(write(tmp_path, {"dataset/p.json": twins, "prediction/p.json": rows}), "-f", "p", "--json").json
    assert [entry["score"] for entry in results["items"]] == [1.0, 1.0]
    warning(results, "q7", "more than once")


@pytest.mark.parametrize(
    ("questions", "rows"),
    [
        pytest.param([question(), question(prompt="?" + PROMPT)], [{"id": "q7", "prediction": "A"}], id="questions"),
        pytest.param([question()], [{"id": "q7", "prediction": letter} for letter in "AB"], id="rows"),
        pytest.param([question()], [q(answer="A"), q(answer="B")], id="rows with prompts"),
    ],
)
def test_ambiguous_rows_are_missing_and_named(tmp_path: Path, questions: list[Record], rows: list[Record]) -> None:
    write(tmp_path, {"dataset/p.json": [*questions, question("q8")]})
    write(tmp_path, {"prediction/p.json": [*rows, {"id": "q8", "prediction": "A"}]})
    results = run(tmp_path, "-f", "p", "--json").json
    assert [entry["outcome"] for entry in results["items"]] == ["missing"] * len(questions) + ["scored"]
    named = warning(results, "ambiguous")
    assert "q7" in named
    assert "q8" not in named


def test_predictions_without_a_question_are_counted_and_named(tmp_path: Path) -> None:
    answers = {"q7": "A", **{f"u{i}": "A" for i in range(8)}}
    write(tmp_path, {"dataset/p.json": [question()], "prediction/p.json": answers})
    results = run(tmp_path, "-f", "p", "--json").json
    assert results["overall_score"] == 1.0
    assert re.search(r"\b8\b.*u0", warning(results, "without a question"))
    assert "without a question" in run(tmp_path, "-f", "p").out


def test_no_prediction_has_a_question(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": [question()], "prediction/p.json": {"x": "A"}})
    assert_refused(run(tmp_path, "-f", "p"), "p.json", "dataset")


@pytest.mark.parametrize(
    ("field", "value"), [("ground_truth", "101"), ("Std", 50), ("level", 3), ("prompt", "How many %?")]
)
def test_dataset_counts_and_differences_are_reported(tmp_path: Path, field: str, value: object) -> None:
    dataset = [number("q1", answer=..., Std=4), number("q2", answer=..., Std=4)]
    rows = [number("q1", **{"answer": "102", "Std": 4, field: value}), number("q2", Std=4)]
    write(tmp_path, {"dataset/p.json": dataset, "prediction/p.json": rows})
    results = run(tmp_path, "-f", "p", "--json").json
    assert [(entry["level"], entry["truth"], entry["score"]) for entry in results["items"]] == [
        (4, "100", 0.75), (4, "100", 1.0),
    ]  # fmt: skip
    told = warning(results, field, "differs")
    assert re.search(r"\b1\b.*q1", told)
    assert "q2" not in told
    assert told in run(tmp_path, "-f", "p").out


def test_row_without_the_fields_does_not_differ(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": [number(answer=..., Std=4)], "prediction/p.json": [q(level=..., Std=...)]})
    assert not any("Std" in text or "level" in text for text in run(tmp_path, "-f", "p", "--json").json["warnings"])


# --- Options ---


@pytest.mark.parametrize(
    ("names", "code", "reports"), [("aa", 0, 2), ("ab", 0, 2), ("axb", 3, 2), ("xa", 3, 1), ("xy", 2, 0), ("x", 2, 0)]
)
def test_several_files(tmp_path: Path, names: str, code: int, reports: int) -> None:
    write(tmp_path, {"prediction/a.json": [q("a")], "prediction/b.jsonl": [q("b")], "prediction/y.json": "{"})
    options = [part for name in names for part in ("-f", name)]
    done = run(tmp_path, *options)
    assert (done.code, done.out.count("signature: ")) == (code, reports)
    assert done.err.count("eval.py: ") == len(names) - reports
    assert "Traceback" not in done.err
    lines = run(tmp_path, *options, "--json").out.splitlines(keepends=True)
    assert [strict(line)["name"] for line in lines] == [name for name in names if name in "ab"]


def test_json_is_strict_and_alone_on_stdout(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q("甲"), q("甲"), number(answer="x\u2028y")]})
    done = run(tmp_path, "-f", "p", "--json", "--items")
    assert done.err == ""
    assert done.json["level_scores"] == {"1": 1.0, "2": None, "3": None, "4": 0.0}
    assert done.json["level_intervals"]["2"] is None
    assert done.out == run(tmp_path, "-f", "p", "--json", PYTHONHASHSEED="7").out
    assert list(done.json) == sorted(done.json)


def test_save_writes_the_json_object(tmp_path: Path) -> None:
    records = [q(), number("n", answer="\ud800\x1b 甲")]
    write(tmp_path, {"prediction/run.v2.jsonl": records, "evaluation/run.v2.json": "old"})
    results = run(tmp_path, "-f", "run.v2", "--save", "--json").json
    saved = json.loads((tmp_path / "evaluation" / "run.v2.json").read_text("utf-8"))
    assert re.fullmatch("[0-9a-f]{64}", saved.pop("result_sha256"))
    assert saved == results
    assert sorted(os.listdir(tmp_path / "evaluation")) == [".lock", "run.v2.json"]


def test_nothing_is_written_without_save(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q()]})
    assert run(tmp_path, "-f", "p", "--items").code == 0
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["p.json", "prediction"]


def test_save_where_the_folder_is_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q()], "evaluation": ""})
    assert_refused(run(tmp_path, "-f", "p", "--save"), "evaluation")


def test_save_over_a_folder(tmp_path: Path) -> None:
    (write(tmp_path, {"prediction/p.json": [q()]}) / "evaluation" / "p.json").mkdir(parents=True)
    assert_refused(run(tmp_path, "-f", "p", "--save"), "evaluation/p.json")
    assert sorted(os.listdir(tmp_path / "evaluation")) == [".lock", "p.json"]


def test_save_under_the_longest_name(tmp_path: Path) -> None:
    stem = "x" * 250  # with ".json" the longest name a file system allows; a temporary name must be no longer
    write(tmp_path, {f"prediction/{stem}.json": [q()]})
    done = run(tmp_path, "-f", stem, "--save")
    assert "Traceback" not in done.err
    if done.code:
        assert_refused(done, "evaluation")


@pytest.mark.parametrize("folder", ["evaluation", "."])
def test_save_into_a_read_only_folder(tmp_path: Path, folder: str) -> None:
    write(tmp_path, {"prediction/p.json": [q()]})
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder).chmod(0o500)
    if os.access(tmp_path / folder, os.W_OK):
        pytest.skip("root writes everywhere")
    try:
        assert_refused(run(tmp_path, "-f", "p", "--save"), "evaluation", "denied")
        assert run(tmp_path, "-f", "p").code == 0
    finally:
        (tmp_path / folder).chmod(0o700)


def test_missing_skip(tmp_path: Path) -> None:
    write(tmp_path, {"dataset/p.json": [question("q1"), question("q2"), number("q3", answer=...)]})
    write(tmp_path, {"prediction/p.json": {"q1": "A", "q2": ""}})
    zero, skip = (run(tmp_path, "-f", "p", "--json", "--missing", policy).json for policy in ("zero", "skip"))
    assert (zero["overall_score"], zero["level_counts"]["1"], zero["missing_count"]) == (pytest.approx(0.1), 2, 2)
    assert (skip["overall_score"], skip["level_counts"]["1"], skip["missing_count"]) == (1.0, 1, 2)
    assert (skip["level_scores"]["4"], skip["signature"]["missing"]) == (None, "skip")
    assert "left out" in run(tmp_path, "-f", "p", "--missing", "skip").out


@pytest.mark.parametrize(("sigma", "score"), [(None, 0.0), ("0.04", 0.75), ("0.02", 0.0), ("1", 0.9996)])
def test_relative_sigma(tmp_path: Path, sigma: str | None, score: float) -> None:
    write(tmp_path, {"prediction/p.json": [number(answer="102")]})
    results = run(tmp_path, "-f", "p", "--json", *(["--relative-sigma", sigma] if sigma else [])).json
    assert results["overall_score"] == pytest.approx(score)
    assert results["signature"]["relative_sigma"] == (float(sigma) if sigma else None)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--missing", "half"], "half"),
        (["--relative-sigma", "0"], "sigma"),
        (["--relative-sigma", "-1"], "sigma"),
        (["--relative-sigma", "nan"], "sigma"),
        (["--relative-sigma", "inf"], "sigma"),
        (["--relative-sigma", "much"], "much"),
        (["--nonsense"], "--nonsense"),
        (["-f"], "argument"),
        (["stray"], "stray"),
    ],
)
def test_bad_options(tmp_path: Path, options: list[str], word: str) -> None:
    assert_refused(run(write(tmp_path, {"prediction/250915-random.json": [q()]}), *options), word)


def test_help_and_version(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")
    assert (done.code, done.err) == (0, "")
    examples = done.out.partition("examples:")[2]
    assert len(re.findall(r"^ +python eval\.py\b", examples, re.M)) >= 3
    for option in ("--file", "--dataset", "--missing", "--relative-sigma", "--json", "--items", "--save", "--root"):
        assert option in done.out
    done = run(tmp_path, "--version")
    assert done.code == 0
    assert re.fullmatch(r"eval\.py \d+\.\d+\.\d+\n", done.out)


def test_data_lies_beside_the_program_whatever_the_folder(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(home, {"prediction/250915-random.json": {"q7": "A"}, "dataset/250915.json": [question()]})
    for module in ROOT.glob("*.py"):
        shutil.copy(module, home)
    command = [sys.executable, "-B", str(home / "eval.py"), "--json", "--save"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=elsewhere, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (strict(done.stdout)["name"], strict(done.stdout)["dataset"]) == ("250915-random", "250915.json")
    assert (home / "evaluation" / "250915-random.json").is_file()
    assert os.listdir(elsewhere) == []


def test_import_has_no_side_effect(tmp_path: Path) -> None:
    for module in ROOT.glob("*.py"):
        shutil.copy(module, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    code = "import sys, eval; print(sorted({'numpy', 'openai', 'tqdm', 'pandas', 'scipy'} & set(sys.modules)))"
    command = [sys.executable, "-B", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    assert sorted(tmp_path.rglob("*")) == before
