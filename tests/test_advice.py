"""Every message that tells its reader what to do: a test does what the message says, and it works.

The list of these messages is made from the source: one without a test here fails.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import errno
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

import crps_wing
import eval as program
import prophet_forms
from advice import find_advices, list_advices
from cli import ROOT, Done, box, number, q, question, read_json, run_wing, with_root, write
from forecasteval import cli
from forecasteval.common.errors import InputError
from forecasteval.futurex.evaluator import FutureXEvaluator
from forecasteval.prophet import columns, prompts
from llm_server import LlmServer, Reply, completion, error, honest
from prophet_forms import Cells, Form

Test = TypeVar("Test", bound=Callable[..., None])
_TESTED: Final[set[str]] = set()


def advice(*messages: str) -> Callable[[Test], Test]:
    """Mark a test that does what these messages say."""

    def mark(test: Test) -> Test:
        _TESTED.update(messages)
        return test

    return mark


# What looks like an advice, and asks nobody to do anything.
NO_ADVICE: Final = {
    prompts._TASK,  # to a model
    columns._NAMES,
    "--format csv",  # where an error is
    "--items --format csv, which prints all columns",  # why another option does nothing
    "--json, which prints all keys",
    "--id, --answer",
    "--jobs {}",
    "without an ask and a bid of each option, which --max-spread needs",  # a reason
    "--unread {}",
    "--runs {}",
    "{}: only {} (--limit)",  # what was given
    "python -m forecasteval",  # the name of a program
    "keep or drop",  # the values of an option
    "brier or correct",
    "{} convert",
    "{} convert {}",
    "{} rxnopt",
    "{} rxnopt {}",
    "below --fail-under {}: {}",  # a verdict
    "worse than {} (--fail-if-worse): {}{}",
    "--fail-if-worse shows nothing of {}: it differs {} only",
    "{}: --unread: every answer was read",
    "run {}: no answers, not written",
    "{}: damaged, set aside as {}: {}; the replies in it are asked for again",
    "{}: a damaged file, set aside as {}",
    # What describes an option in a help, which tests/test_cli.py reads.
    "SOURCE is FutureX-Past: write its questions",
    "REPLIES: JSONL rows {id, reply}; rows of --unread with answers, too",
    "write the answers that were not read, as JSONL rows to be filled in",
    "folder before a change: its owners, datasets and settings count for --owner",
    "keys whose items need no SMILES with --condition-require smiles",
}


def test_every_advice_in_the_source_has_a_test() -> None:
    found = list_advices()
    assert {text: place for text, place in found.items() if text not in _TESTED | NO_ADVICE} == {}
    assert _TESTED - found.keys() == set()  # which nobody reads any more


@pytest.mark.parametrize(
    "line",
    [
        'warn("two files: use --newest for the last")',
        'warn(f"{name}: rename it to {other}.json")',
        'warn("two files; " + "delete one of " + name)',
        'warn("two files" if name else "none; split it")',
        'warn(f"{name}: " + ", ".join(["open it in an editor"]))',
        'warn("{}: choose one of {}".format(name, other))',
        'raise InputError(name, "expected one file", "two. Please delete one")',
        'return "check the spelling"',
    ],
)
def test_an_advice_that_somebody_adds_is_found(line: str) -> None:
    assert find_advices(f"def tell(warn, name, other):\n    {line}\n")
    shown = f'def tell(warn, name, other):\n    "Delete a file, by --newest."\n    {line}\n'
    assert len(find_advices(shown)) == 1  # not what the docstring says


# --- What a person types, and reads ---


def call(folder: Path, *words: str, **env: str) -> Done:
    """Run a command line in a folder, as `python eval.py` there would."""
    has_root = words[:1] not in (("convert",), ("rxnopt",))
    given = with_root(folder, words) if has_root else [*words]
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        return run_wing(lambda argv, _: program.main(argv), *given)


def call_line(folder: Path, line: str, *more: str) -> Done:
    """Run a command line that a message holds."""
    name, script, *words = shlex.split(line)
    assert (name, script) == ("python", "eval.py"), line
    return call(folder, *words, *more)


def refuse(folder: Path, *words: str) -> str:
    """Run a command that is refused; what it says."""
    done = call(folder, *words)
    assert done.code == 2, done
    return done.err


def succeed(folder: Path, *words: str) -> str:
    done = call(folder, *words)
    assert (done.code, done.err) == (0, ""), done
    return done.out


def find(pattern: str, text: str) -> str:
    """The one thing that a message names."""
    found = re.search(pattern, text)
    assert found, text[-2000:]
    return found[1] if found.re.groups else found[0]


DATASET: Final = [question("q1"), question("q2"), question("q3")]
ANSWERS: Final = dict.fromkeys(("q1", "q2", "q3"), "A")
SHEET: Final = "base,y\nK2CO3,10\nKOH,20\nNaOH,90\n"
ROWS: Final = "id,answer\nq1,A\nq2,A\nq3,B\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset, and two systems that answer it."""
    return write(
        tmp_path,
        {
            "dataset/d.json": DATASET,
            "prediction/d-a.json": ANSWERS,
            "prediction/d-b.json": {**ANSWERS, "q3": "B"},
        },
    )


def missing(module: str, package: str, folder: Path, *words: str) -> str:
    """What a command says without a package, whose name is one that pip installs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.partition(".")[0] == module]:
            patch.delitem(sys.modules, name)
        patch.setitem(sys.modules, module, None)
        said = refuse(folder, *words)
    assert find(r"pip install ([\w-]+)", said) == package
    installed = [name.replace("_", "-") for name in packages_distributions()[module]]
    assert package in installed
    return said


# --- Files ---


@advice("a folder; name a file in it")
def test_a_folder(folder: Path) -> None:
    said = refuse(folder, "-f", f"{folder}/prediction")
    assert "name a file in it" in said
    named = sorted((folder / "prediction").iterdir())[0]
    succeed(folder, "-f", str(named))


@advice("a pipe or device; write what it gives to a file first")
def test_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "prediction/d-pipe.json")
    assert "write what it gives to a file" in refuse(folder, "-f", "d-pipe.json")
    (folder / "prediction/d-pipe.json").unlink()
    write(folder, {"prediction/d-pipe.json": ANSWERS})
    succeed(folder, "-f", "d-pipe")


@advice(
    "expected a folder (--root DIR names the one with prediction/ and dataset/; "
    "the command init makes one)"
)
def test_another_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = refuse(folder, "-f", "d-a", "--root", str(tmp_path / "empty"))
    option = find(r"--\w+(?= DIR)", said)
    succeed(folder, "-f", "d-a", option, str(folder))
    command = find(r"(?<=command )\w+", said)
    succeed(folder, command, str(tmp_path / "empty"))
    succeed(folder, "-f", "sample-quick", option, str(tmp_path / "empty"))


@advice("text in {}; make UTF-8 of it: iconv -f {} -t UTF-8 {} > utf8.txt")
@pytest.mark.parametrize(
    ("encoding", "truth"), [("gbk", "上海市"), ("cp1252", "Müller")], ids=["gbk", "cp1252"]
)
def test_truths_in_another_encoding(folder: Path, encoding: str, truth: str) -> None:
    path = folder / "dataset/d.truths.csv"
    path.write_bytes(f"id,ground_truth\nq1,{truth}\n".encode(encoding))
    command = find("iconv .*(?=$)", refuse(folder, "-f", "d-a").strip())
    if shutil.which("iconv"):
        subprocess.run(command, shell=True, cwd=folder, check=True)
    else:
        words = shlex.split(command)
        assert words[1:4:2] + words[6:] == ["-f", "-t", ">", "utf8.txt"]
        text = path.read_bytes().decode(words[2]).encode(words[4])
        (folder / "utf8.txt").write_bytes(text)
    (folder / "utf8.txt").replace(path)
    succeed(folder, "-f", "d-a")


@advice("text in an unknown encoding; save it as UTF-8")
def test_text_in_an_unknown_encoding(folder: Path) -> None:
    text = ROWS + "q4,「カ」\n"
    (folder / "prediction/d-x.csv").write_bytes(text.encode("cp932"))
    assert "save it as UTF-8" in refuse(folder, "-f", "d-x")
    write(folder, {"prediction/d-x.csv": text})
    succeed(folder, "-f", "d-x")


@advice(
    "a spreadsheet; save it as CSV",
    "a compressed file or spreadsheet; unpack it, or save it as CSV",
)
@pytest.mark.parametrize("name", ["d-x.xlsx", "d-x.json"])
def test_a_spreadsheet(folder: Path, name: str) -> None:
    path = folder / "prediction" / name
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/workbook.xml", "")
    assert "save it as CSV" in refuse(folder, "-f", name)
    path.unlink()
    write(folder, {"prediction/d-x.csv": ROWS})
    assert "\n3 questions, dataset d.json\n" in succeed(folder, "-f", "d-x")


@advice("a compressed file; unpack it first")
def test_a_packed_file(folder: Path) -> None:
    import bz2

    packed = folder / "prediction/d-x.json.bz2"
    packed.write_bytes(bz2.compress((folder / "prediction/d-a.json").read_bytes()))
    assert "unpack it first" in refuse(folder, "-f", packed.name)
    packed.with_suffix("").write_bytes(bz2.decompress(packed.read_bytes()))
    succeed(folder, "-f", "d-x")


@advice("needs {}: pip install {}{}", "unpack it first")
def test_a_package_that_unpacks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = folder / "prediction/d-x.json.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    said = refuse(folder, "-f", "d-x")
    assert "pip install zstandard, or unpack it first" in said
    packed.unlink()
    write(folder, {"prediction/d-x.json": ANSWERS})
    succeed(folder, "-f", "d-x")


@advice("expected {} bytes at most when unpacked; split it")
def test_a_packed_file_that_is_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    from forecasteval.common import text

    packed = folder / "prediction/d-x.csv.gz"
    packed.write_bytes(gzip.compress(ROWS.encode()))
    monkeypatch.setattr(text, "MAX_BYTES", 24)
    assert "split it" in refuse(folder, "-f", "d-x")
    head, *rows = ROWS.splitlines()
    packed.write_bytes(gzip.compress("\n".join([head, rows[0]]).encode()))
    succeed(folder, "-f", "d-x")


@advice(
    "a Parquet file; make a prediction of it first (convert)",
    "a log of inspect_ai; make a prediction of it first (convert)",
)
@pytest.mark.extra("pyarrow", "inspect_ai")
@pytest.mark.parametrize("name", ["d-x.parquet", "d-x.eval"])
def test_files_of_other_programs(folder: Path, name: str) -> None:
    import pandas

    path = folder / "prediction" / name
    if name.endswith(".eval"):
        shutil.copy(ROOT / "tests/samples/log.eval", path)
    else:
        pandas.DataFrame({"id": ["q1"], "prediction": ["A"]}).to_parquet(path)
    command = find(r"\((convert)\)", refuse(folder, "-f", "d-x"))
    (folder / name).write_bytes(path.read_bytes())
    path.unlink()
    succeed(folder, command, name, "-o", "prediction/d-x.json")


# --- The command line ---


@advice("no such command; there is {}; a file to score is named with -f")
def test_a_misspelled_command(folder: Path) -> None:
    said = refuse(folder, "nigthly")
    succeed(folder, find("there is (.*?);", said))
    said = refuse(folder, "d-a")
    succeed(folder, find(r"(-f)$", said.strip()), "d-a")


@advice("run it as {} {}, the command first")
@pytest.mark.parametrize("words", ["--json compare d-a d-b", "--json --html nightly"])
def test_a_command_behind_options(folder: Path, words: str) -> None:
    said = refuse(folder, *words.split())
    done = call_line(folder, find("run it as (.*), the command first", said))
    assert done.code == 0
    assert done.out.startswith("{")
    assert "the command first" not in refuse(folder, "-f", "d-a", "nightly")  # which has no -f


@advice(" (did you mean {}?)")
def test_a_misspelled_option_of_a_file(folder: Path) -> None:
    words = ("-f", "d-a", "--item")
    succeed(folder, *words[:-1], find(r"\(did you mean (.*?)\?\)", refuse(folder, *words)))


@advice("{}\nusage: {} --help\n")
@pytest.mark.parametrize("command", ["", "nightly", "compare", "convert", "rxnopt import"])
def test_a_misspelled_option(folder: Path, command: str) -> None:
    said = refuse(folder, *command.split(), "--nonsense")
    assert call_line(folder, find("usage: (.*)", said)).out.startswith(
        f"usage: eval.py {command}".strip()
    )


@advice("--owner: expected the files that LOGIN changes")
def test_an_owner_without_files(folder: Path) -> None:
    write(folder, {"prediction/systems.json": {"a": {"owner": "ann"}}})
    option = find("(--owner): expected the files", refuse(folder, "check", "--owner", "ann"))
    succeed(folder, "check", option, "ann", "prediction/d-a.json")


@advice("metadata about systems; name another file")
def test_the_file_about_systems(folder: Path) -> None:
    write(folder, {"prediction/systems.json": {}})
    assert "name another file" in refuse(folder, "-f", "systems.json")
    succeed(folder, "-f", "d-a")


@advice("needs --llm MODEL")
@pytest.mark.parametrize(
    "words", [("--llm-names",), ("--llm-policy", "always"), ("--no-cache",), ("--workers", "2")]
)
def test_options_of_a_model(folder: Path, words: tuple[str, ...]) -> None:
    option = find("needs (--llm) MODEL", refuse(folder, "-f", "d-a", *words))
    with LlmServer(honest) as server:
        done = call(
            folder, "-f", "d-a", *words, option, "m", OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url
        )
    assert (done.code, done.err) == (0, "")


# --- FutureX ---


@advice("(a file in dataset/ whose name begins like this one's, or --dataset)")
def test_answers_without_questions(folder: Path) -> None:
    write(folder, {"prediction/e-x.json": [{"id": "q1", "answer": "A"}]})
    option = find("or (--dataset)", refuse(folder, "-f", "e-x"))
    succeed(folder, "-f", "e-x", option, "d")
    shutil.copy(folder / "dataset/d.json", folder / "dataset/e.json")
    succeed(folder, "-f", "e-x")


@advice("{}; make predictions of it: {}")
@pytest.mark.parametrize(
    "row",
    [
        {"id": "Q", "response": box("A")},
        {"task_id": "Q", "answer": box("A")},
        {"doc_id": 7, "doc": {"id": "Q"}, "resps": [["A"]], "filtered_resps": [box("A")]},
        {"custom_id": "Q", "response": {"body": {"choices": [{"message": {"content": "A"}}]}}},
    ],
)
def test_another_form_at_night(folder: Path, row: dict[str, Any]) -> None:
    text = "".join(json.dumps(row).replace('"Q"', f'"{name}"') + "\n" for name in ANSWERS)
    write(folder, {"prediction/d-x y.jsonl": text})
    said = call(folder, "nightly").err
    succeed(folder, *shlex.split(find("make predictions of it: (convert .*)", said)))
    assert "3 questions" in succeed(folder, "-f", "d-x y-answers")


@advice("{}; make predictions of it: {}")
def test_several_systems_in_one_file(folder: Path) -> None:
    rows = [
        {"id": name, "model": model, "run": run, "answer": "A"}
        for name in ANSWERS
        for model in ("a", "b")
        for run in (1, 2)
    ]
    write(folder, {"prediction/d-x.json": rows})
    said = refuse(folder, "-f", "d-x")
    succeed(folder, *shlex.split(find("make predictions of it: (convert .*)", said)))
    assert "3 questions" in succeed(folder, "-f", "d-x-answers-a@2")


@advice("{}; name one: {}")
@pytest.mark.parametrize(
    "row", [{"id": "Q", "output": "A", "reply": "B"}, {"id": "Q", "level": 1, "answer": "A"}]
)
def test_several_parts_that_may_be_the_answer(folder: Path, row: dict[str, Any]) -> None:
    rows = [{**row, "id": name, "note": name} for name in ANSWERS]
    write(folder, {"x.json": {"rows": rows, "version": 2}})
    said = refuse(folder, "-f", "./x.json", "--dataset", "d")
    succeed(folder, *shlex.split(find("name one: (convert .*)", said)))
    assert "3 questions" in succeed(folder, "-f", "./x-answers.json", "--dataset", "d")


@advice("pass them as the second argument")
def test_records_without_questions(folder: Path) -> None:
    answers = [{"id": "q1", "answer": box("A")}]
    with pytest.raises(InputError, match="pass them as the second argument"):
        FutureXEvaluator().evaluate_all(answers)
    questions = json.loads((folder / "dataset/d.json").read_text())
    assert len(FutureXEvaluator().evaluate_all(answers, questions)["items"]) == 3


@advice("name their dataset with --dataset")
def test_a_check_of_predictions_elsewhere(folder: Path) -> None:
    write(folder, {"x.json": [{"id": "q1", "answer": "A"}]})
    option = find("with (--dataset)", refuse(folder, "check", "./x.json"))
    assert "1 read, 2 missing" in call(folder, "check", "./x.json", option, "d").out


@advice(
    "fill in each answer, add the answers that were read (else they count as missing)",
    ", then run {} {}",
)
def test_answers_that_were_not_read(folder: Path) -> None:
    write(folder, {"prediction/d-x.json": {"q1": "A", "q2": "It depends on many things."}})
    done = call(folder, "-f", "d-x", "--unread", "to do.jsonl")
    rows = [json.loads(line) for line in (folder / "to do.jsonl").read_text().splitlines()]
    filled = [{**row, "answer": "A"} for row in rows]
    missing = {}
    for name, read in (("with", [{"id": "q1", "answer": "A"}]), ("without", [])):
        write(folder, {"to do.jsonl": [*filled, *read]})
        again = call_line(folder, find("then run (.*)", done.err) + " --json")
        assert again.code == 0
        missing[name] = again.json["missing_count"]
    assert missing == {"with": 1, "without": 2}


@advice(" (--relative-sigma 0.05 gives them one)")
def test_numbers_without_a_sigma(folder: Path) -> None:
    write(folder, {"dataset/n.json": [number("q1", answer=...)], "prediction/n-x.json": {"q1": 99}})
    out = succeed(folder, "-f", "n-x")
    words = find(r"\((--relative-sigma [\d.]+) gives", out).split()
    assert "Numbers without a sigma: 0." in succeed(folder, "-f", "n-x", *words)


@advice(
    "The scorer as of September 2026 is --rules official-2026-09.",
    "lists in any order, or packed in one element, see --rules official-2026-09",
)
def test_the_newer_rule_set(folder: Path) -> None:
    row = {"id": "q1", "level": 3, "prompt": "Which teams, in any order?", "ground_truth": "A, Bo"}
    write(folder, {"dataset/o.json": [row], "prediction/o-x.json": {"q1": "\\boxed{Bo, A}"}})
    older = succeed(folder, "-f", "o-x", "--rules", "official-2026")
    words = find(r"is (--rules \S+)\.", older).split()
    assert succeed(folder, "-f", "o-x", *words, "--json") != older
    noted = call(folder, "check", "o").out
    assert find(r"see (--rules \S+):", noted).split() == words


@advice("give ids as text")
def test_ids_of_a_spreadsheet(folder: Path) -> None:
    rows = [question("6.87E+21"), question("q2")]
    write(folder, {"dataset/e.json": rows})
    done = call(folder, "check", "e")
    assert (done.code, "give ids as text" in done.out) == (4, True)
    write(folder, {"dataset/e.json": [question("6873e6a7b3ade716ed3b2a82"), question("q2")]})
    assert call(folder, "check", "e").code == 0


@advice("{} of {} {}, {} first. All of them are in the JSON that --save writes.")
def test_a_page_of_many_questions(folder: Path) -> None:
    many = [question(f"q{number}") for number in range(3001)]
    write(folder, {"dataset/m.json": many, "prediction/m-x.json": {"q1": "A"}})
    succeed(folder, "-f", "m-x", "--html")
    page = (folder / "evaluation/m-x.html").read_text(encoding="utf-8")
    option = find("in the JSON that (--save) writes", page)
    succeed(folder, "-f", "m-x", option)
    assert len(read_json(folder / "evaluation/m-x.json")["items"]) == len(many)


@advice(
    "{} questions may hang together, their texts differ in numbers, dates or one name only: "
    "give those of a group one '{}': {}{}"
)
def test_questions_that_may_hang_together(folder: Path) -> None:
    prompt = "Bitcoin, how will its price move beyond {} on January {}?\nA.  up\nB.  down"
    rows = [question(f"p{at}", prompt=prompt.format(at, at)) for at in range(1, 4)]
    write(folder, {"dataset/p.json": rows})
    out = succeed(folder, "check", "p")
    key = find(r"give those of a group one '(\w+)'", out)
    names = find(r"\((p1, .*?)\)", out).split(", ")
    for row in rows:
        if row["id"] in names:
            row[key] = "Bitcoin"
    write(folder, {"dataset/p.json": rows})
    assert "hang together" not in succeed(folder, "check", "p")


# --- Nights and boards ---


@advice("To enter, add prediction/DATASET-SYSTEM.json with your answers.")
def test_a_first_day(folder: Path) -> None:
    closes = {"closes": "2099-01-01", "ground_truth": ...}
    names = [f"n{at}" for at in range(3)]
    write(folder, {"dataset/new.json": [question(name, **closes) for name in names]})
    succeed(folder, "nightly")
    page = (folder / "evaluation/leaderboard.html").read_text(encoding="utf-8")
    path = find("To enter, add (.*?) with your answers", page)
    name = path.replace("DATASET", "new").replace("SYSTEM", "mine")
    write(folder, {name: dict.fromkeys(names, "A")})
    succeed(folder, "check", name)
    assert "new.json: no truth yet, 1 file waits" in succeed(folder, "nightly")


@advice("What moves the other {} pairs: --json")
def test_more_pairs_than_a_report_shows(folder: Path) -> None:
    names = [f"d-s{number}" for number in range(6)]
    for at, name in enumerate(names):
        write(folder, {f"prediction/{name}.json": {"q1": "A", "q2": "AB"[at % 2]}})
    out = succeed(folder, "compare", *names)
    more = int(find(r"moves the other (\d+) pairs", out))
    pairs = call(folder, "compare", *names, find("pairs: (--json)", out)).json["pairs"]
    assert len(pairs) == 10 + more
    assert all("questions" in pair for pair in pairs)


@advice("provisional: in fewer than {} datasets, and therefore without rank (--min-datasets).")
def test_systems_of_few_datasets(folder: Path) -> None:
    for name in "efgh":
        shutil.copy(folder / "dataset/d.json", folder / f"dataset/{name}.json")
        shutil.copy(folder / "prediction/d-b.json", folder / f"prediction/{name}-b.json")
    out = succeed(folder, "nightly")
    option = find(r"without rank \((--[\w-]+)\)", out)
    assert "provisional" not in succeed(folder, "nightly", option, "1")


@advice(
    "provisional, in too few events for a rank (--min-events)",
    "{} See --min-events and --full.",
    "{} See --min-events.",
)
def test_forecasters_of_few_events(folder: Path) -> None:
    for place in ("dataset", "prediction"):
        shutil.copy(ROOT / place / "prophet-sample.json", folder / place)
    night = succeed(folder, "nightly", "--min-events", "150")
    option = find(r"for a rank \((--[\w-]+)\)", night)
    assert "too few events" not in succeed(folder, "nightly", option, "1")
    out = succeed(folder, "-f", "prophet-sample", "--min-events", "150")
    option, full = re.findall(r"--[\w-]+", find("See (--min-events and --full)", out))
    assert "Without a rank" not in succeed(folder, "-f", "prophet-sample", option, "1")
    names = [row["username"] for row in read_json(ROOT / "prediction/prophet-sample.json")]
    everybody = succeed(folder, "-f", "prophet-sample", option, "150", full)
    assert find(r"See (--[\w-]+)\.", everybody) == option
    assert {name for name in names if f"\n      {name} " in everybody} == {
        "desk-analyst",
        "weekend-club",
    }


@advice("… the first {} of {}: --full")
def test_more_forecasters_than_a_table_shows(folder: Path) -> None:
    rows = read_json(ROOT / "prediction/prophet-sample.json")
    rows = [{**row, "username": f"{row['username']} {copy}"} for copy in range(4) for row in rows]
    shutil.copy(ROOT / "dataset/prophet-sample.json", folder / "dataset/p.json")
    write(folder, {"prediction/p-x.json": rows})
    out = succeed(folder, "-f", "p-x")
    total = int(find(r"the first \d+ of (\d+): --full", out))
    everybody = succeed(folder, "-f", "p-x", find(": (--full)", out))
    assert len({*re.findall(r"(?m)^ +\d+  (\S+ \d)", everybody)}) == total


@advice("expected systems with a score per question; `-f` ranks forecasters in one table")
def test_forecasters_compared(folder: Path) -> None:
    rows = read_json(ROOT / "prediction/prophet-sample.json")
    shutil.copy(ROOT / "dataset/prophet-sample.json", folder / "dataset/p.json")
    users = dict.fromkeys(row["username"] for row in rows)
    for name, mine in (("a", [*users][:3]), ("b", [*users][3:])):
        own = [row for row in rows if row["username"] in mine]
        write(folder, {f"prediction/p-{name}.json": own})
    option = find("`(-f)` ranks", refuse(folder, "compare", "p-a", "p-b"))
    assert "12 forecasters" in succeed(folder, option, "p-a", option, "p-b")


@advice(
    "invented samples: {}; delete their files, or keep yours in a folder of their own (--root DIR)"
)
def test_samples_beside_other_files(folder: Path) -> None:
    for place, name in (("dataset", "250915.json"), ("prediction", "250915-random.json")):
        shutil.copy(ROOT / place / name, folder / place)
    out = succeed(folder, "nightly")
    sample = find(r"invented samples: 1 \((.*?)\)", out)
    own = folder / "own"
    for place in ("dataset", "prediction"):
        shutil.copytree(folder / place, own / place)
    for path in folder.glob(f"*/{Path(sample).stem}*"):
        path.unlink()
    option = find(r"\((--root) DIR\)", out)
    for path in own.glob("*/250915*"):
        path.unlink()
    for root in (folder, own):
        assert "invented samples" not in succeed(folder, "nightly", option, str(root))


@advice("expected its dataset, {}, as before (or --force)")
def test_a_dataset_that_has_gone(folder: Path) -> None:
    succeed(folder, "nightly")
    write(folder, {"prediction/e-x.json": [q("q1"), q("q2")]})
    write(folder, {"dataset/e.json": [question("q1"), question("q2")]})
    succeed(folder, "nightly")
    (folder / "dataset/e.json").rename(folder / "e.json")
    done = call(folder, "nightly")
    assert done.code == 3
    option = find(r"\(or (--force)\)", done.err)
    succeed(folder, "nightly", option)
    (folder / "e.json").rename(folder / "dataset" / find("expected its dataset, (.*?),", done.err))
    succeed(folder, "nightly")


@advice("changed while the leaderboard was made; run again")
def test_a_result_that_changes_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from forecasteval.nightly import store

    succeed(folder, "nightly")
    write(folder, {"prediction/d-c.json": ANSWERS})
    with monkeypatch.context() as patch:
        patch.setattr(store, "read_result_of", lambda *_, **__: None)
        said = refuse(folder, "nightly")
    assert find("; (run again)$", said.strip())
    succeed(folder, "nightly")


@advice("cannot be locked or written: {}; --output DIR names another folder")
def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import filelock

    acquire = filelock.FileLock.acquire

    def deny(self: Any, *words: Any, **more: Any) -> Any:
        if Path(self.lock_file).parent == folder / "evaluation":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self.lock_file)
        return acquire(self, *words, **more)

    monkeypatch.setattr(filelock.FileLock, "acquire", deny)
    option = find("; (--output) DIR", refuse(folder, "nightly"))
    succeed(folder, "nightly", option, str(folder / "elsewhere"))
    assert (folder / "elsewhere/leaderboard.json").exists()


@advice("{}, or --dataset")
def test_an_own_benchmark_without_a_dataset(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = crps_wing.BENCHMARK._replace(
        claims_file=lambda prediction, _: "samples" in prediction.name
    )
    monkeypatch.setattr(cli, "BENCHMARKS", (own, *cli.BENCHMARKS))
    rows = [{"id": f"q{at}", "value": at, "scale": 20} for at in range(3)]
    answers = [{"id": row["id"], "answer": [1.0, 2.0]} for row in rows]
    write(folder, {"dataset/c.json": rows, "prediction/e-samples.json": answers})
    said = refuse(folder, "-f", "e-samples")
    succeed(folder, "-f", "e-samples", find("or (--dataset)", said), "c")


@advice(
    "restore it from a backup, or run once with --begin-record",
    "{} can be read: leave the option out",
)
@pytest.mark.parametrize("content", ["{", None])
def test_a_damaged_record_of_nights(folder: Path, content: str | None) -> None:
    rows = [{**row, "closes": "2020-01-01"} for row in DATASET]
    write(folder, {"dataset/d.json": rows})
    words = ("nightly", "--late-files", "drop")
    call(folder, *words)
    record = folder / "evaluation/seen.jsonl"
    whole = record.read_bytes()
    record.unlink()
    if content is not None:
        record.write_text(content)
    said = refuse(folder, *words)
    assert record.name in said
    option = find("run once with (--[a-z-]+)", said)
    assert call(folder, *words, option).code == 0
    assert "leave the option out" in refuse(folder, *words, option)
    record.write_bytes(whole)
    assert call(folder, *words).code == 0


# --- Prophet Arena ---


def forms(*words: str) -> Iterator[Form]:
    """Tables that are refused with these words, and whose right form is known."""
    known = (form for form in prophet_forms.FORMS if form.advice)
    return (form for form in known if all(word in form.words for word in words))


def follow(form: Form, said: str) -> Cells:
    """Do what a refusal of a table says: write other cells."""
    header, *rows = form.table()
    rewrite: Callable[[str], str] = str
    if found := re.search(r"write (\S+) for ([^\s:]+)", said):
        share = "%" in found[2]

        def rewrite(cell: str) -> str:
            return f"{float(cell.strip('%').replace(',', '.')) / (100 if share else 1):g}"

        assert rewrite(found[2]) == found[1]
    elif found := re.search(r"divide by (\d+)", said):

        def rewrite(cell: str) -> str:
            return f"{float(cell) / int(found[1]):g}"

    elif re.search("write 1 (and|where)", said):

        def rewrite(cell: str) -> str:
            return "01"[float(cell) > 0]

    cell = re.search(r"(?:as|got) '?([^'\s]+)", said)
    column = next(
        (at for row in rows for at, each in enumerate(row) if cell and each == cell[1]), -1
    )
    return [
        header,
        *([rewrite(each) if at == column else each for at, each in enumerate(row)] for row in rows),
    ]


@advice("--column {}", "{} (name it with {})", "expected one column for the {} (choose it with {})")
@pytest.mark.parametrize(
    "form", [form for form in prophet_forms.FORMS if form.roles], ids=lambda form: form.name
)
def test_the_columns_of_a_table(folder: Path, form: Form) -> None:
    write_cells(folder / "prediction/t.csv", form.table())
    option = next(
        f"--column {word}"
        for word in re.findall(r"--column ('[^']*'|[^\s):]+)", refuse(folder, "-f", "t"))
        if form.roles in word
    )
    words = ("--min-events", "1", "--json", *shlex.split(option))
    shown = call(folder, "-f", "t", *words).json["forecasters"]
    assert {name: shown[name]["brier"] for name in form.scores} == pytest.approx(form.scores)


@advice(
    "{}, or 1 and 0: write 1 and 0",
    ": write 1 where the option came true and 0 elsewhere",
    ": write {} for {}",
    ": {} is above 1: percent? divide by 100",
)
@pytest.mark.parametrize("form", [*forms("write "), *forms("divide")], ids=lambda form: form.name)
def test_a_table_of_forecasts(folder: Path, form: Form) -> None:
    path = folder / "prediction/t.csv"
    write_cells(path, form.table())
    said = refuse(folder, "-f", "t")
    write_cells(path, follow(form, said))
    shown = call(folder, "-f", "t", "--min-events", "1", "--json").json["forecasters"]
    assert {name: shown[name]["brier"] for name in form.scores} == pytest.approx(form.scores)


@advice(": some are below 0, some above 1; of log odds x write 1 / (1 + exp(-x))")
def test_log_odds(folder: Path) -> None:
    """No percentages, since some are below 0."""
    path = folder / "prediction/t.csv"
    header = ["question", "model", "p", "resolution"]
    odds = [1.8, -0.1, 2.2, -1.5]
    write_cells(path, [header, *([f"Q{at}", "ada", str(x), "Yes"] for at, x in enumerate(odds))])
    said = refuse(folder, "-f", "t")
    assert "percent" not in said
    formula = find(r"of log odds x write (.*exp\(-x\)\))", said)
    p = [eval(formula, {"exp": math.exp, "x": x}) for x in odds]
    write_cells(path, [header, *([f"Q{at}", "ada", str(x), "Yes"] for at, x in enumerate(p))])
    shown = call(folder, "-f", "t", "--min-events", "1", "--json").json["forecasters"]["ada"]
    assert shown["brier"] == pytest.approx(sum((1 - value) ** 2 for value in p) / 4)


@advice(": write it as 2025-01-31T18:00:00Z", ": it has two readings, write {}-{}-{} or {}-{}-{}")
@pytest.mark.parametrize("time", ["at noon", "01/05/2025"])
def test_times_that_cannot_be_read(folder: Path, time: str) -> None:
    path = folder / "prediction/t.csv"
    header = ["question", "model", "p", "resolution", "time"]
    rows = [[f"R{at}", "ada", "0.7", "Yes", time] for at in range(4)]
    write_cells(path, [header, *rows])
    written = find(r"write (?:it as )?(\S+?)(?: or |: )", refuse(folder, "-f", "t"))
    write_cells(path, [header, *([*row[:-1], written] for row in rows)])
    shown = call(folder, "-f", "t", "--min-events", "1", "--json").json
    assert shown["forecasters"]["ada"]["n_events"] == 4


@advice("its rows differ in outcome; if each is about an option, call that 'option'")
def test_outcomes_of_rows_that_differ(folder: Path) -> None:
    header = ["question", "kind", "model", "p", "resolution"]
    rows = [
        [f"R{at}", option, "ada", p, won]
        for at in range(4)
        for option, p, won in (("Red", "0.7", "1"), ("Blue", "0.3", "0"))
    ]
    write_cells(folder / "prediction/t.csv", [header, *rows])
    done = call(folder, "-f", "t", "--min-events", "1")
    name = find("about an option, call that '(.*?)'", done.out + done.err)
    write_cells(folder / "prediction/t.csv", [[header[0], name, *header[2:]], *rows])
    shown = call(folder, "-f", "t", "--min-events", "1", "--json").json
    assert shown["forecasters"]["ada"]["brier"] == pytest.approx(0.09)


@advice("outcome called {}, not read: call it 'correct_answer'")
def test_outcomes_of_problems_under_another_name(folder: Path) -> None:
    (folder / "dataset").mkdir(exist_ok=True)
    rows = [{"problem_id": 1, "options": ["Red", "Blue"], "winner": "Blue"}]
    said = [{"problem_id": 1, "username": "ada", "prediction": [0.25, 0.75]}]
    for name, value in (("dataset/t.json", rows), ("prediction/t.json", said)):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    done = call(folder, "-f", "t", "--min-events", "1")
    old = find("outcome called '(.*?)', not read", done.err)
    new = find("not read: call it '(.*?)'", done.err)
    (folder / "dataset/t.json").write_text(json.dumps(rows).replace(old, new), encoding="utf-8")
    shown = call(folder, "-f", "t", "--min-events", "1", "--json").json
    assert shown["forecasters"]["ada"]["brier"] == 0.0625


@advice("its outcome may be the name of an option, or 1 or 0 of each: call that 'won'")
def test_outcomes_that_may_be_names(folder: Path) -> None:
    header = ["question", "option", "model", "p", "resolution"]
    places = [(f"R{at}", option, "ada", "0.5", "1") for at in range(3) for option in "12"]
    more = [("Q", "Red", "ada", "0.7", "1"), ("Q", "Blue", "ada", "0.3", "0")]
    table = [header, *map(list, [*more, *places])]
    write_cells(folder / "prediction/t.csv", table)
    done = call(folder, "-f", "t", "--min-events", "1")
    name = find("of each: call that '(.*?)'", done.out + done.err)
    write_cells(folder / "prediction/t.csv", [[*header[:-1], name], *table[1:]])
    results = call(folder, "-f", "t", "--min-events", "1", "--json").json
    assert (results["n_events"], results["excluded"]) == (4, [])


@advice("odds are all above 1, not used: write cents / 100, or 1 / decimal odds")
def test_prices_in_cents(folder: Path) -> None:
    rows = read_json(ROOT / "prediction/prophet-sample.json")
    problems = read_json(ROOT / "dataset/prophet-sample.json")
    cents = [
        {**row, "odds": [100 * price for price in row["odds"]]} for row in rows if row.get("odds")
    ]
    write(folder, {"dataset/p.json": problems, "prediction/p-x.json": cents})
    out = succeed(folder, "-f", "p-x")
    factor = int(find(r"odds are all above 1, not used: write cents / (\d+)", out))
    whole = [{**row, "odds": [price / factor for price in row["odds"]]} for row in cents]
    write(folder, {"prediction/p-x.json": whole})
    assert "above 1" not in succeed(folder, "-f", "p-x")


@advice("that of the event (--prices each: at its own)")
def test_prices_that_differ(folder: Path) -> None:
    rows = [("q", "p", 0.8, "Yes", 0.5), ("q", "r", 0.8, "Yes", 0.9)]
    table = [("question", "model", "probability", "resolution", "price"), *rows]
    write_cells(folder / "prediction/t.csv", table)
    options = ("-f", "t", "--min-events", "1")
    advised = find(
        r"paid at that of the event \((--\w+ \w+): at its own\)", succeed(folder, *options)
    )
    shown = call(folder, *options, *advised.split(), "--json").json["forecasters"]
    assert [shown[name]["return_1"] for name in "pr"] == pytest.approx([0.8 / 0.5, 0.8 / 0.9])


@advice("a file in dataset/ whose name begins like this one's, or --dataset")
def test_forecasts_without_problems(folder: Path) -> None:
    shutil.copy(ROOT / "prediction/prophet-sample.json", folder / "prediction/w-x.json")
    shutil.copy(ROOT / "dataset/prophet-sample.json", folder / "dataset/p.json")
    option = find("or (--dataset)", refuse(folder, "-f", "w-x"))
    succeed(folder, "-f", "w-x", option, "p")
    (folder / "dataset/p.json").rename(folder / "dataset/w.json")
    succeed(folder, "-f", "w-x")


def write_cells(path: Path, table: Cells) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)


# --- Other programs ---


@advice("  {} check {} looks for mistakes")
def test_a_dataset_of_another_program(folder: Path) -> None:
    shutil.copy(ROOT / "tests/samples/futurex-past.jsonl", folder / "past of it.jsonl")
    out = succeed(folder, "convert", "--dataset", "past of it.jsonl", "-o", "dataset/p s.json")
    done = call_line(folder, find("(python .*) looks for mistakes", out))
    assert (done.code, done.out.startswith("Dataset check  p s.json\n")) == (4, True)


@advice("the file exists already; --force replaces it")
def test_a_file_that_exists(folder: Path) -> None:
    write(folder, {"x.csv": ROWS})
    words = ("convert", "x.csv", "--answer", "answer", "-o", "prediction/d-a.json")
    succeed(folder, *words, find("; (--force)", refuse(folder, *words)))


@advice(
    "expected --answer COLUMN, the model's answers, and --id COLUMN if it is not id "
    "({id: answer} is a prediction already; of {id: {…}} name a key)",
)
def test_columns_that_are_not_named(folder: Path) -> None:
    write(folder, {"x.csv": "qid,truth,reply\nq1,A,A\nq2,A,B\nq3,A,C\n"})
    words = ("convert", "x.csv", "-o", "x.json")
    said = refuse(folder, *words)
    answer, name = re.findall(r"(--\w+) COLUMN", said)
    succeed(folder, *words, answer, "reply", name, "qid")
    assert "3 questions" in succeed(folder, "-f", "./x.json", "--dataset", "d")
    assert "{id: answer} is a prediction already; of {id: {…}} name a key" in said
    objects = {name: {"reply": box("A"), "cost": 1} for name in ANSWERS}
    write(folder, {"y.json": objects, "prediction/d-z.json": ANSWERS})
    succeed(folder, "convert", "y.json", answer, "reply", "-o", "prediction/d-y.json")
    for system in ("d-y", "d-z"):
        assert "3 questions" in succeed(folder, "-f", system)


@advice("expected one source, and neither --id nor --answer")
def test_a_dataset_needs_no_columns(folder: Path) -> None:
    shutil.copy(ROOT / "tests/samples/futurex-past.jsonl", folder / "past.jsonl")
    words = ["convert", "--dataset", "past.jsonl", "-o", "p.json"]
    refuse(folder, *words, "--id", "id")
    succeed(folder, *words)


@advice("expected {} bytes at most; split it")
def test_a_file_that_is_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from forecasteval.source import tables

    write(folder, {"x.csv": ROWS})
    monkeypatch.setattr(tables, "MAX_BYTES", 24)
    words = ("--answer", "answer", "-o", "prediction/d-x.json")
    assert "; split it" in refuse(folder, "convert", "x.csv", *words)
    head, *rows = ROWS.splitlines(keepends=True)
    write(folder, {"x1.csv": head + "".join(rows[:2]), "x2.csv": head + rows[2]})
    succeed(folder, "convert", "x1.csv", "x2.csv", *words)


@advice("a spreadsheet; save it as CSV", "save the sheet as CSV")
@pytest.mark.parametrize(
    "command", ["convert", pytest.param("rxnopt import", marks=pytest.mark.extra("openpyxl"))]
)
def test_a_workbook(folder: Path, command: str) -> None:
    with zipfile.ZipFile(folder / "x.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "")
    words = {
        "convert": ("--answer", "answer", "-o", "x.json"),
        "rxnopt import": ("-o", "t", "--yield", "y", "--conditions", "base"),
    }[command]
    write(folder, {"x.csv": ROWS if command == "convert" else SHEET})
    run_it = (*command.split(), "x.xlsx", *words)
    said = (
        missing("openpyxl", "openpyxl", folder, *run_it)
        if "rxnopt" in command
        else refuse(folder, *run_it)
    )
    assert re.search("save (it|the sheet) as CSV", said)
    succeed(folder, *command.split(), "x.csv", *words)


@advice("needs {}: pip install {}{}", "write it as CSV")
@pytest.mark.extra("pyarrow")
def test_parquet(folder: Path) -> None:
    import pandas

    frame = pandas.DataFrame({"id": ["q1", "q2"], "answer": ["A", "B"]})
    frame.to_parquet(folder / "x.parquet")
    words = ("--answer", "answer", "-o", "prediction/d-x.json")
    said = missing("pyarrow", "pyarrow", folder, "convert", "x.parquet", *words)
    assert "write it as CSV" in said
    frame.to_csv(folder / "x.csv", index=False)
    succeed(folder, "convert", "x.csv", *words)
    succeed(folder, "convert", "x.parquet", *words, "--force")


@advice("expected {} rows at most; split it")
@pytest.mark.extra("pyarrow")
def test_parquet_that_is_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas

    from forecasteval.source import tables

    frame = pandas.DataFrame({"id": ["q1", "q2", "q3"], "answer": ["A", "B", "C"]})
    frame.to_parquet(folder / "x.parquet")
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    words = ("--answer", "answer", "-o", "prediction/d-x.json")
    assert "; split it" in refuse(folder, "convert", "x.parquet", *words)
    frame[:2].to_parquet(folder / "x1.parquet")
    frame[2:].to_parquet(folder / "x2.parquet")
    succeed(folder, "convert", "x1.parquet", "x2.parquet", *words)


@advice(
    "write it as JSON (inspect log convert --to json)",
    "forecasteval.inspect_tasks needs inspect-ai: pip install inspect-ai",
)
@pytest.mark.extra("inspect_ai")
def test_a_log_of_inspect(folder: Path) -> None:
    shutil.copy(ROOT / "tests/samples/log.eval", folder)
    words = ("convert", "log.eval", "-o", "prediction/d-x.json")
    said = missing("inspect_ai", "inspect-ai", folder, *words)
    command = shlex.split(find(r"\((inspect log convert .*)\)", said))
    where = ["log.eval", "--output-dir", "out"]
    inspect = [str(Path(sys.executable).parent / command[0]), *command[1:], *where]
    subprocess.run(inspect, cwd=folder, check=True, capture_output=True)
    succeed(folder, "convert", "out/log.json", *words[2:])
    code = "import sys; sys.modules['inspect_ai'] = None; import forecasteval.inspect_tasks"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "pip install inspect-ai" in done.stderr


@advice("needs the package distributed: pip install distributed")
@pytest.mark.extra("distributed")
def test_a_cluster_without_its_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from forecasteval.nightly import workers

    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    said = refuse(folder, "nightly", "--cluster", "tcp://127.0.0.1:8786")
    assert packages_distributions()["distributed"] == [find(r"pip install (\w+)", said)]


# --- RxnOptBench ---


def sheet(folder: Path, *lines: str, name: str = "s.csv") -> None:
    write(folder, {name: "\n".join(lines) + "\n"})


def bring_in(folder: Path, *words: str) -> Done:
    """Import the sheet s.csv into a new folder."""
    shutil.rmtree(folder / "t", ignore_errors=True)
    given = words or ("--yield", "y", "--conditions", "base")
    return call(folder, "rxnopt", "import", "s.csv", "-o", "t", *given)


def refuse_sheet(folder: Path, *words: str) -> str:
    done = bring_in(folder, *words)
    assert done.code == 2, done
    return done.err


def accept_sheet(folder: Path, *words: str) -> str:
    """Import the sheet, of which all rows are used."""
    done = bring_in(folder, *words)
    assert (done.code, done.err) == (0, ""), done
    assert "left out 0" in done.out
    return done.out


@advice("--yield COL and --conditions COL …, names of the columns above")
def test_a_sheet_without_names(folder: Path) -> None:
    sheet(folder, "base,y", "KOH,10", "NaOH,90")
    done = call(folder, "rxnopt", "import", "s.csv", "-o", "t")
    options = re.findall(r"(--\w+) COL", done.err)
    conditions, result = re.findall("(?m)^(.*?): ", done.out)
    accept_sheet(folder, options[0], result, options[1], conditions)


@advice(
    "expected one quantity in a column: split it into two columns",
    "{}, or rename it if it holds one",
)
def test_two_quantities_in_a_column(folder: Path) -> None:
    sheet(folder, "base,y", "KOH,10 (71:29)", "NaOH,90 (96:4)")
    assert "split it into two columns" in refuse_sheet(folder)
    sheet(folder, "base,y,er", "KOH,10,71:29", "NaOH,90,96:4")
    accept_sheet(folder, "--yield", "y", "--er", "er", "--conditions", "base")
    sheet(folder, "base,Yield (ee)", "KOH,10", "NaOH,90")
    said = refuse_sheet(folder, "--yield", "Yield (ee)", "--conditions", "base")
    assert "split it into two columns, or rename it if it holds one" in said
    sheet(folder, "base,Yield", "KOH,10", "NaOH,90")
    accept_sheet(folder, "--yield", "Yield", "--conditions", "base")


@advice("expected one row of names, the first: join two, or make a file of each table")
def test_two_headers(folder: Path) -> None:
    sheet(folder, "base,y", "KOH,10", "NaOH,90", "base,y", "KF,20", "NaF,30")
    assert "join two, or make a file of each table" in refuse_sheet(folder)
    for rows in (("KOH,10", "NaOH,90"), ("KF,20", "NaF,30")):
        sheet(folder, "base,y", *rows)
        accept_sheet(folder)
    sheet(folder, "base,y", "KOH,10", "NaOH,90", "KF,20", "NaF,30")
    accept_sheet(folder)


@advice("expected the value itself in place of a ditto mark: write it into every row")
def test_ditto_marks(folder: Path) -> None:
    sheet(folder, "base,y", "KOH,10", "//,50", "NaOH,90")
    assert "write it into every row" in refuse_sheet(folder)
    sheet(folder, "base,y", "KOH,10", "KOH,50", "NaOH,90")
    accept_sheet(folder)


@advice("Excel made a date or a time of what was typed (1:2): format the column as text")
@pytest.mark.extra("openpyxl")
def test_dates_of_excel(folder: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    words = ("rxnopt", "import", "s.xlsx", "--yield", "y", "--conditions", "ratio", "-o", "t")
    for row in (("ratio", "y"), (datetime.time(1, 2), 10), ("2:1", 90)):
        book.active.append(row)
    book.save(folder / "s.xlsx")
    said = refuse(folder, *words)
    assert "row 2, ratio: 1:02" in said
    book.active["A2"] = find(r"typed \((.*?)\): format the column as text", said)
    book.save(folder / "s.xlsx")
    assert "left out 0" in succeed(folder, *words)


@advice("expected the value of a formula: calculate and save the workbook again")
@pytest.mark.extra("openpyxl")
def test_a_formula_without_its_value(folder: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()  # which calculates nothing
    words = ("rxnopt", "import", "s.xlsx", "--yield", "y", "--conditions", "base", "-o", "t")
    for row in (("base", "y"), ("KOH", "=5+5"), ("NaOH", 90)):
        book.active.append(row)
    book.save(folder / "made.xlsx")
    with zipfile.ZipFile(folder / "made.xlsx") as made:
        parts = {name: made.read(name) for name in made.namelist()}
    shutil.copy(folder / "made.xlsx", folder / "s.xlsx")
    assert "cell B2: expected the value of a formula: calculate" in refuse(folder, *words)
    with zipfile.ZipFile(folder / "s.xlsx", "w") as saved:  # as Excel saves what it calculated
        for name, part in parts.items():
            saved.writestr(name, re.sub(b"(</f>)<v ?/>|(</f>)<v></v>", b"</f><v>10</v>", part))
    assert "left out 0" in succeed(folder, *words)


@advice("expected a name of its own for each column: rename one")
def test_two_columns_of_one_name(folder: Path) -> None:
    sheet(folder, "base,base,y", "KOH,THF,10", "NaOH,DMF,90")
    assert "rename one" in refuse_sheet(folder)
    sheet(folder, "base,solvent,y", "KOH,THF,10", "NaOH,DMF,90")
    accept_sheet(folder)


@advice(
    "{}: say --no-fraction if they are percent, else {}", "say --fraction", "write them in percent"
)
def test_numbers_that_may_be_shares(folder: Path) -> None:
    sheet(folder, "base,y", "KOH,0.1", "NaOH,0.9")
    percent, share = re.findall(r"say (--[\w-]+)", refuse_sheet(folder))
    for option, best in ((share, "0.9"), (percent, "0.9")):
        accept_sheet(folder, "--yield", "y", "--conditions", "base", option)
        (table,) = map(read_json, (folder / "t").iterdir())
        assert (table["yield_scale"], best) == ("fraction" if option == share else "percent", "0.9")
    sheet(folder, "base,y,ee", "KOH,10,0.1", "NaOH,90,0.9")
    columns = ("--yield", "y", "--ee", "ee", "--conditions", "base")
    said = refuse_sheet(folder, *columns)
    accept_sheet(folder, *columns, find(r"say (--[\w-]+) if they are percent", said))
    assert "else write them in percent" in said
    sheet(folder, "base,y,ee", "KOH,10,10", "NaOH,90,90")
    accept_sheet(folder, *columns)


@advice("a decimal comma (1,5: write 1.5)")
def test_a_decimal_comma(folder: Path) -> None:
    sheet(folder, "base;y", "KOH;10", "NaOH;90", "KF;1,5")
    done = bring_in(folder)
    old, new = find(r"\((.*): write", done.out), find(r": write (.*?)\)", done.out)
    sheet(folder, "base;y", "KOH;10", "NaOH;90", f"KF;{'1,5'.replace(old, new)}")
    accept_sheet(folder)


@advice("a de of 90: write 95:5; a share of 97: write 97:3", "97: write 97:3")
@pytest.mark.parametrize("field", ["dr", "er"])
def test_a_ratio_of_one_number(folder: Path, field: str) -> None:
    columns = ("--yield", "y", f"--{field}", "r", "--conditions", "base")
    sheet(folder, "base,y,r", "KOH,10,97", "NaOH,90,97")
    done = bring_in(folder, *columns)
    ratio = find(r"97: write ([\d:]+)", done.err + done.out)
    sheet(folder, "base,y,r", f"KOH,10,{ratio}", f"NaOH,90,{ratio}")
    accept_sheet(folder, *columns)
    (table,) = map(read_json, (folder / "t").iterdir())
    assert {entry["results"][field] for entry in table["entries"]} == {ratio}
    if field == "dr":  # 90 % de are 95 and 5, whose difference is 90
        major, minor = map(int, find(r"a de of 90: write ([\d:]+)", done.err + done.out).split(":"))
        assert (major + minor, major - minor) == (100, 90)


@advice("says which option is the standard, mostly the best one: write there what was used instead")
def test_a_row_of_the_standard(folder: Path) -> None:
    head = "deviation from standard conditions,y"
    sheet(folder, head, "None,90", "KOH,10", "NaOH,20", "NaOH,25")
    columns = ("--yield", "y", "--conditions", "deviation from standard conditions")
    assert "write there what was used instead" in accept_sheet(folder, *columns)
    sheet(folder, head, "K2CO3,90", "KOH,10", "NaOH,20", "NaOH,25")
    assert "write there" not in accept_sheet(folder, *columns)


@advice("the sheet {} is read (--sheet: {})")
@pytest.mark.extra("openpyxl")
def test_a_workbook_of_several_sheets(folder: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for title, rows in (("one", [("KOH", 10), ("KF", 90)]), ("two", [("NaOH", 20), ("NaF", 80)])):
        page = book.create_sheet(title)
        for row in [("base", "y"), *rows]:
            page.append(row)
    book.remove(book["Sheet"])
    book.save(folder / "s.xlsx")
    words = ("rxnopt", "import", "s.xlsx", "--yield", "y", "--conditions", "base")
    out = succeed(folder, *words, "-o", "t")
    option, names = find(r"is read \((--sheet): ", out), find(r"--sheet: (.*)\)", out).split(", ")
    assert "is read" not in succeed(folder, *words, "-o", "u", option, names[1])
    assert "NaOH" in "".join(path.read_text() for path in (folder / "u").iterdir())


@advice(" (see --reactant-product-require)")
def test_tables_without_smiles(folder: Path) -> None:
    sheet(folder, "aryl,ester,base,y", "PhBr,PhR,KOH,10", "PhBr,PhR,NaOH,90")
    sides = ("--reactants", "aryl", "--products", "ester")
    accept_sheet(folder, "--yield", "y", "--conditions", "base", *sides)
    said = refuse(folder, "rxnopt", "build", "t", "-o", "q")
    option = find(r"\(see (--[\w-]+)\)", said)
    succeed(folder, "rxnopt", "build", "t", "-o", "q", option, "content")


@advice("must not be below --min-reference-options")
def test_fewer_references_than_the_fewest(folder: Path) -> None:
    words = ("rxnopt", "build", str(ROOT / "dataset/rxnopt-tables"), "-o", "q")
    said = refuse(folder, *words, "--min-reference-options", "4", "--max-reference-options", "3")
    option = find(r"below (--[\w-]+)", said)
    assert call(folder, *words, option, "3", "--max-reference-options", "3").code == 0


@advice("{}: leave out --language, or remove the file")
def test_prompts_of_the_folder(folder: Path) -> None:
    (folder / "tables").mkdir()
    shutil.copy(ROOT / "dataset/rxnopt-tables/suzuki_anisole.json", folder / "tables")
    succeed(folder, "rxnopt", "build", "tables", "-o", "q")
    words = ["rxnopt", "render", "q/multiple_choice_all_varying.json", "--language", "zh"]
    said = refuse(folder, *words)
    words_without = [
        word for word in words if word not in (find("leave out (--[a-z]+)", said), "zh")
    ]
    succeed(folder, *words_without)
    Path(folder, find(r"eval\.py: (.*?): the folder's own prompt", said)).unlink()
    assert "选项" in "".join(
        json.loads(line)["prompt"] for line in succeed(folder, *words).splitlines()
    )


@advice("or --dataset, or a name that begins with its dataset's")
def test_choices_of_another_dataset(folder: Path) -> None:
    name = "multiple_choice_single_varying"
    shutil.copy(ROOT / f"prediction/{name}-random.json", folder / "prediction/d-x.json")
    for which in (name, "multiple_choice_all_varying"):
        shutil.copy(ROOT / f"dataset/{which}.json", folder / "dataset")
    said = refuse(folder, "-f", "d-x", "--dataset", "multiple_choice_all_varying")
    succeed(folder, "-f", "d-x", find("or (--dataset),", said), name)
    (folder / "prediction/d-x.json").rename(folder / f"prediction/{name}-x.json")
    succeed(folder, "-f", f"{name}-x")


@advice("replies are scored as they are: run {} {}")
def test_replies_of_a_model(folder: Path) -> None:
    name = "multiple_choice_all_varying"
    shutil.copy(ROOT / f"dataset/{name}.json", folder / "dataset")
    ids = [question["id"] for question in read_json(folder / f"dataset/{name}.json")]
    texts = ["It depends.", *["Answer: 1"] * (len(ids) - 1)]
    rows = [{"id": row, "reply": text} for row, text in zip(ids, texts, strict=True)]
    write(folder, {"all replies.jsonl": rows})
    said = refuse(folder, "rxnopt", "parse", "all replies.jsonl", "-o", "x.json")
    line = find("run (.*)", said).replace("DATASET", name)
    done = call_line(folder, f"{line} --unread 'to do.jsonl'")
    todo = [json.loads(row) for row in (folder / "to do.jsonl").read_text().splitlines()]
    assert [row["id"] for row in todo] == ids[:1]
    read = [{"id": row["id"], "answer": row["reply"]} for row in rows[1:]]
    write(folder, {"to do.jsonl": [{**row, "answer": 0} for row in todo] + read})
    assert "  12        0        0" in call_line(folder, find("then run (.*)", done.err)).out


@advice("blank (write – for none, else fill the value above down)")
def test_blank_conditions(folder: Path) -> None:
    columns = ("--yield", "y", "--conditions", "base", "ligand")
    sheet(folder, "base,ligand,y", "KOH,L1,10", ",L2,20", "NaOH,L1,90")
    mark = find(r"blank \(write (.) for none", bring_in(folder, *columns).out)
    for cell in (mark, "KOH"):
        sheet(folder, "base,ligand,y", "KOH,L1,10", f"{cell},L2,20", "NaOH,L1,90")
        accept_sheet(folder, *columns)


@advice("write – for none, or what was used")
def test_unknown_conditions(folder: Path) -> None:
    columns = ("--yield", "y", "--conditions", "base", "ligand=name+eq")
    for name, amount in (("NA", "1"), ("L2", "")):
        sheet(folder, "base,name,eq,y", "KOH,L1,1,10", f"KOH,{name},{amount},20")
        mark = find(r"\(write (.) for none, or what was used\)", bring_in(folder, *columns).out)
        for cells in (f"{mark},", "L2,2"):
            sheet(folder, "base,name,eq,y", "KOH,L1,1,10", f"KOH,{cells},20")
            accept_sheet(folder, *columns)


@advice("the first row is an experiment: write names above it")
def test_a_sheet_without_a_header(folder: Path) -> None:
    sheet(folder, "75.0,10", "80.0,90")
    assert "write names above it" in refuse_sheet(folder)
    sheet(folder, "base,y", "75.0,10", "80.0,90")
    accept_sheet(folder)


@advice("{} can be read in two ways: rename a column")
def test_a_condition_that_can_be_read_in_two_ways(folder: Path) -> None:
    words = ("--yield", "y", "--conditions", "base=a+b")
    sheet(folder, "a,b,a+b,y", "KOH,1 M,x,10", "NaOH,1 M,z,90")
    assert "rename a column" in refuse_sheet(folder, *words)
    sheet(folder, "a,b,both,y", "KOH,1 M,x,10", "NaOH,1 M,z,90")
    accept_sheet(folder, *words)


def test_amounts_without_a_unit(folder: Path) -> None:
    words = ("--yield", "y", "--conditions", "base=name+{}")
    sheet(folder, "name,dose,y", "KOH,1,10", "NaOH,2,90")
    said = refuse_sheet(folder, *words[:-1], words[-1].format("dose"))
    names = re.findall(r"dose \(\S+\)", said)
    assert names == ["dose (equiv)", "dose (mol%)"]
    for name in names:
        sheet(folder, f"name,{name},y", "KOH,1,10", "NaOH,2,90")
        accept_sheet(folder, *words[:-1], words[-1].format(name))


@advice("{}, and no shares: leave out --fraction")
def test_percents_that_are_said_to_be_shares(folder: Path) -> None:
    words = ("--yield", "y", "--conditions", "base")
    sheet(folder, "base,y", "KOH,10", "NaOH,90")
    assert "leave out --fraction" in refuse_sheet(folder, *words, "--fraction")
    accept_sheet(folder, *words)


@advice("a footnote says what was changed: write it")
def test_rows_that_differ_in_a_mark(folder: Path) -> None:
    columns = ("--yield", "y", "--conditions", "base", "time")
    build = ("rxnopt", "build", "t", "-o", "q", "--reactant-product-require", "none")
    sheet(folder, "base,time,y", "KOH,1 h,10", "NaOH,1 h,50", "NaOH[b],1 h,90")
    accept_sheet(folder, *columns)
    assert "a footnote says what was changed: write it" in call(folder, *build).err
    shutil.rmtree(folder / "q")
    sheet(folder, "base,time,y", "KOH,1 h,10", "NaOH,1 h,50", "NaOH,2 h,90")
    accept_sheet(folder, *columns)
    succeed(folder, *build)


@advice("expected a value in every cell: unmerge the cells and fill them")
@pytest.mark.extra("openpyxl")
def test_merged_cells(folder: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [("base", "y"), ("KOH", 10), (None, 20), ("NaF", 90)]:
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(folder / "s.xlsx")
    words = ("rxnopt", "import", "s.xlsx", "-o", "t", "--yield", "y", "--conditions", "base")
    assert "unmerge the cells and fill them" in refuse(folder, *words)
    book.active.unmerge_cells("A2:A3")
    book.active["A3"] = "KOH"
    book.save(folder / "s.xlsx")
    succeed(folder, *words)


@advice("warning: {} more, see report.md")
def test_more_warnings_than_a_build_prints(folder: Path) -> None:
    for at in range(60):
        write(folder, {f"tables/t{at}.json": {"name": at}})
    shutil.copy(ROOT / "dataset/rxnopt-tables/suzuki_anisole.json", folder / "tables")
    done = call(folder, "rxnopt", "build", "tables", "-o", "q")
    more = int(find(r"warning: (\d+) more, see report.md", done.err))
    report = (folder / "q" / find("see (.*)", done.err)).read_text(encoding="utf-8")
    named = len(done.err.splitlines()) - 1 + more
    assert len({*re.findall(r"t\d+\.json", report)}) == named == 60


# --- Asking ---

ASK: Final = ("ask", "d", "--model", "m")


@pytest.fixture
def model(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> LlmServer:
    """A server whose model answers everything, without the retries of the SDK."""
    server.script = lambda request: completion("A")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setattr("forecasteval.asking.commands._RETRIES", 0)
    return server


@advice(
    "{} goes on; with --finish it takes the replies as they are",
    "{} goes on, {} --finish takes the file as it is",
)
@pytest.mark.parametrize("door", ["ask", "-f"])
@pytest.mark.parametrize("option", ["", "--finish"])
def test_questions_without_a_reply(folder: Path, model: LlmServer, door: str, option: str) -> None:
    write(folder, {"dataset/d.json": [{**row, "prompt": f"{row['id']}?"} for row in DATASET]})
    model.script = lambda request: completion("A") if request.prompt == "q1?" else error(500)
    done = call(folder, *ASK, "--param", "x=a b", "--limit", "2")
    assert done.code == 3
    said = done.err if door == "ask" else refuse(folder, "-f", "d-m")
    line = find(r"(python eval\.py ask .*?) goes on", said.splitlines()[-1])
    if option:
        assert f"{line} {option} takes" in said or f"with {option} it takes" in said
    model.script = lambda request: completion("A")
    model.requests.clear()
    assert call_line(folder, f"{line} {option}".strip()).code == 0
    assert sorted(request.prompt for request in model.requests) == (
        [] if option else ["q2?", "q3?"]
    )
    succeed(folder, "-f", "d-m")


@advice("failed before, {}: {}; they count as missing, --again asks again")
def test_questions_that_failed_for_good(folder: Path, model: LlmServer) -> None:
    write(folder, {"dataset/d.json": [{**row, "prompt": f"{row['id']}?"} for row in DATASET]})
    filtered = error(400, "content_filter")
    model.script = lambda request: completion("A") if request.prompt == "q1?" else filtered
    call(folder, *ASK)
    model.script = lambda request: completion("A")
    done = call(folder, *ASK)
    call(folder, *ASK, find(r"missing, (--\w+) asks again", done.err))
    assert sorted({request.prompt for request in model.requests[-2:]}) == ["q2?", "q3?"]


@advice("expected another name (-o FILE)", "expected another name (-o FILE): this is one of {}")
@pytest.mark.parametrize("other", ["prediction/d-m.json", "dataset/d-m.json"])
def test_a_name_that_is_taken(folder: Path, model: LlmServer, other: str) -> None:
    write(folder, {other: DATASET if "dataset" in other else ANSWERS})
    option = find(r"\((-o) FILE\)", refuse(folder, *ASK))
    assert call(folder, *ASK, option, "prediction/other.jsonl").code == 0


@advice("{} (-o FILE names another file)")
def test_replies_of_another_temperature(folder: Path, model: LlmServer) -> None:
    assert call(folder, *ASK).code == 0
    warm = (*ASK, "--param", "temperature=1")
    option = find(r"\((-o) FILE names another file\)", refuse(folder, *warm))
    assert call(folder, *warm, option, "prediction/d-warm.jsonl").code == 0


@advice(
    "writes one run: name a file for each (-o FILE --batch INPUT)",
    "when it is done, --replies OUTPUT reads it",
)
def test_a_batch_of_several_runs(folder: Path) -> None:
    options = find(
        r"\((-o FILE --batch INPUT)\)", refuse(folder, *ASK, "--runs", "2", "--batch", "b")
    )
    words = [*ASK, *options.replace("FILE", "prediction/d-m@2.jsonl").split()]
    done = call(folder, *words)
    assert done.code == 0
    batch = (folder / "INPUT").read_text(encoding="utf-8").splitlines()
    body = json.loads(completion("A").body)
    lines = [
        {"custom_id": json.loads(line)["custom_id"], "response": {"body": body}} for line in batch
    ]
    write(folder, {"OUTPUT.jsonl": lines})
    option = find(r"done, (--\w+) OUTPUT", done.err)
    assert call(folder, *words[:-2], option, "OUTPUT.jsonl").code == 0
    succeed(folder, "-f", "d-m@2")


@advice(" (-f FILE --late keep scores them)")
def test_events_that_have_closed(folder: Path, model: LlmServer) -> None:
    event = {"problem_id": "e", "title": "Who?", "options": ["A", "B"], "correct_answer": "A",
             "end_date": "2020-01-01"}  # fmt: skip
    write(folder, {"dataset/d.json": [event]})
    model.script = lambda request: completion('{"A": 0.9, "B": 0.1}')
    done = call(folder, *ASK)
    assert done.code == 3
    words = find(r"\((-f FILE --late keep) scores", done.err).replace("FILE", "d-m")
    assert "d-m" in succeed(folder, *words.split())


@advice("needs the items of a result: add --items (Python: items=True)")
def test_forecasters_by_a_column(tmp_path: Path) -> None:
    """The time of each forecast is no column of the dataset, but one of the items."""
    for folder in ("dataset", "prediction"):
        (tmp_path / folder).mkdir()
        shutil.copy(ROOT / folder / "prophet-sample.json", tmp_path / folder)
    words = ("-f", "prophet-sample", "--by", "time")
    done = call(tmp_path, *words)
    assert done.code == 2
    option = find(r"needs the items of a result: add (--\w+)", done.err)
    assert "2025-07" in succeed(tmp_path, *words, option)


@advice("{} with {}: --by target_key has all.")
def test_rare_conditions() -> None:
    words = ("-f", "multiple_choice_single_varying-random")
    report = succeed(ROOT, *words)
    count = int(find(r"(\d+) more values with \d+ questions?: --by", report))
    option, column = find(r"(--by target_key) has all", report).split()
    shown = report.split("Condition asked about")[1].split(" more values")[0]
    parts = json.loads(succeed(ROOT, *words, option, column, "--json"))["by"][column]
    missing = [value for value in parts if f"\n{value} " not in shown]
    assert len(missing) == count


HINTS: Final[dict[str, tuple[Reply, str]]] = {  # what fails once, and what mends it
    "no text before the limit of tokens: --param max_tokens=N allows more": (
        completion("", "length"), "--param max_tokens=9000",
    ),
    "--param max_tokens=N allows more, --again asks them again": (
        completion("B", "length"), "--again --param max_tokens=9000",
    ),
    "--workers N makes fewer calls at a time": (error(429), "--workers 1"),
    "--timeout S waits longer": (Reply(wait=2.5), "--timeout 20"),
    "--deadline S waits longer": (Reply(wait=2.5), "--deadline 20"),
}  # fmt: skip


@advice(*HINTS)
@pytest.mark.parametrize("hint", HINTS)
def test_hints_of_failures(folder: Path, model: LlmServer, hint: str) -> None:
    reply, words = HINTS[hint]
    limits = {"--timeout": ("--timeout", "1"), "--deadline": ("--deadline", "1")}
    failing = limits.get(words.split()[0], ())
    model.script = lambda request: completion("A") if words in asked else reply
    asked: list[str] = []
    done = call(folder, *ASK, *failing)
    assert hint in done.err, done.err
    assert all(option in hint for option in re.findall(r"--[a-z]+", words))
    asked.append(words)
    assert call(folder, *ASK, *words.split()).code == 0
    rows = (folder / "prediction/d-m.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["answer"] for row in rows] == ["A", "A", "A"]


@advice("--model M is the name that the server has, OPENAI_BASE_URL ends in /v1")
def test_a_model_that_is_not_there(folder: Path, model: LlmServer) -> None:
    model.script = lambda request: (
        completion("A")
        if request.path == "/v1/chat/completions" and request.body["model"] == "right"
        else error(404)
    )
    for url, name in ((model.url, "m"), (model.url.removesuffix("/v1"), "right")):
        done = call(folder, *ASK[:3], name, OPENAI_BASE_URL=url)
        assert done.code == 3
        assert "--model M is the name that the server has, OPENAI_BASE_URL ends in /v1" in done.err
    assert call(folder, *ASK[:3], "right", OPENAI_BASE_URL=model.url).code == 0
