"""The command line: what it prints, options, commands, exit codes, and what only a process has."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from cli import (
    EVIL,
    RAW_CONTROL,
    ROOT,
    Record,
    assert_refused,
    number,
    q,
    question,
    run,
    run_process,
    strict,
    write,
)
from forecasteval import __version__
from forecasteval.display.tables import display_width

# --- The screen ---


def test_escape_sequences_never_reach_the_screen_raw(tmp_path: Path) -> None:
    evil = [
        q(EVIL), q(EVIL), q("a" + EVIL, answer=EVIL), q("b", answer=rf"\boxed{{{EVIL}}}"),
        q("c", answer=[EVIL]),
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
    "record",
    [
        q(EVIL, level=9),
        q(level=EVIL),
        q(ground_truth={EVIL: 1}),
        number(Std=EVIL),
        q("q", level=[EVIL]),
    ],
)
def test_escape_sequences_in_errors(tmp_path: Path, record: Record) -> None:
    assert_refused(run(write(tmp_path, {"prediction/p.json": [record]}), "-f", "p"), "record 1")


def test_escape_sequences_in_names(tmp_path: Path) -> None:
    name = "p\x1b[31m\x9b"
    write(
        tmp_path,
        {f"prediction/{name}.json": [q()], f"dataset/{name}.json": [question()], "evaluation": ""},
    )
    assert_refused(run(tmp_path, "-f", "p\x1b"), "no such file", "\\x1b[31m")
    assert_refused(run(tmp_path, "-f", name, "--save"), "evaluation")
    assert_refused(run(tmp_path, "-f", name, "--dataset", "\x1b[2J"), "no such file")
    assert not RAW_CONTROL.search(run(tmp_path, "-f", name).out)


def test_items_line_per_question(tmp_path: Path) -> None:
    records = [
        q("q1"),
        q("q2", answer="I wonder"),
        number("q3", answer=r"\boxed{99}", Std=2),
        q("q4", answer=""),
    ]
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
    rows = {
        line.split("  ")[0]: line.split()
        for line in out.splitlines()
        if line.startswith(("Level", "Overall"))
    }
    assert rows["Level 1"][2:4] == ["0.1", "0.6667"]
    assert rows["Level 1"][-3:] == ["3", "0", "0"]
    assert rows["Level 2"][-5:] == ["–", "–", "0", "0", "0"]
    assert rows["Level 4"][-3:] == ["1", "1", "0"]
    assert rows["Overall"][1] == "0.1333"  # (0.1 * 2/3 + 0.4 * 0) / 0.5
    assert rows["Overall"][-3:] == ["4", "1", "0"]
    signature = f"signature: FutureX {__version__} rules:readme missing:zero"
    assert out.splitlines()[-1] == signature


@pytest.mark.parametrize("encoding", ["ascii", "gbk"])
def test_terminal_without_utf8(tmp_path: Path, encoding: str) -> None:
    root = write(tmp_path, {"prediction/p.json": [q("né甲😀", answer=r"\boxed{é甲😀}")]})
    command = [sys.executable, str(ROOT / "eval.py"), "-f", "p", "--root", str(root)]
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    for option in ("--items", "--json"):
        done = subprocess.run([*command, option], capture_output=True, env=env, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    assert strict(done.stdout.decode(encoding))["items"][0]["id"] == "né甲😀"


@pytest.mark.parametrize(
    ("option", "unbuffered"), [("--items", ""), ("--items", "1"), ("--help", "")]
)
def test_closed_pipe_leaves_no_traceback(tmp_path: Path, option: str, unbuffered: str) -> None:
    write(tmp_path, {"prediction/p.json": [q(str(i)) for i in range(300)]})
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, str(ROOT / "eval.py"), "-f", "p", "--root", str(tmp_path), option]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command, stdout=writer, stderr=subprocess.PIPE, env=env, timeout=60, check=False
        )
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
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=env, timeout=60, check=False
        )
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


# --- Options ---


@pytest.mark.parametrize(
    ("names", "code", "reports"),
    [("aa", 0, 3), ("ab", 0, 2), ("axb", 3, 2), ("xa", 3, 1), ("xy", 2, 0), ("x", 2, 0)],
)
def test_several_files(tmp_path: Path, names: str, code: int, reports: int) -> None:
    write(
        tmp_path,
        {"prediction/a.json": [q("a")], "prediction/b.jsonl": [q("b")], "prediction/y.json": "{"},
    )
    options = [part for name in names for part in ("-f", name)]
    done = run(tmp_path, *options)
    assert (done.code, done.out.count("signature: ")) == (code, reports)
    assert done.err.count("eval.py: ") == len(names) - reports + (names == "aa")
    assert "Traceback" not in done.err
    lines = run(tmp_path, *options, "--json").out.splitlines(keepends=True)
    assert [strict(line)["name"] for line in lines] == [name for name in names if name in "ab"]


def test_json_is_strict_and_alone_on_stdout(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q("甲"), q("甲"), number(answer="x\u2028y")]})
    done = run(tmp_path, "-f", "p", "--json", "--items")
    assert done.err == ""
    assert done.json["level_scores"] == {"1": 1.0, "2": None, "3": None, "4": 0.0}
    assert done.json["level_intervals"]["2"] is None
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


def test_save_under_the_longest_name(tmp_path: Path) -> None:
    stem = (
        "x" * 250
    )  # with ".json" the longest name a file system allows; a temporary name must be no longer
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


def test_policies_reach_the_score(tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [q("q1"), q("q2", answer=""), number(answer="102")]})
    plain = run(tmp_path, "-f", "p", "--json").json
    assert (plain["overall_score"], plain["missing_count"]) == (pytest.approx(0.1), 1)
    words = ("--missing", "skip", "--relative-sigma", "0.04")
    results = run(tmp_path, "-f", "p", "--json", *words).json
    assert results["overall_score"] == pytest.approx((0.1 * 1 + 0.4 * 0.75) / 0.5)
    assert (results["level_counts"]["1"], results["missing_count"]) == (1, 1)
    signature = results["signature"]
    assert (signature["missing"], signature["relative_sigma"]) == ("skip", 0.04)
    assert "left out" in run(tmp_path, "-f", "p", *words).out


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
        (["--llm", ""], "--llm"),
        (["--workers", "many"], "many"),
        (["--llm-policy", "never"], "never"),
        (["--rules", "strict"], "strict"),
        (["--gamma", "much"], "much"),
        (["nightly", "--min-questions", "-1"], "--min-questions: expected a number >= 0, got -1"),
        (["nightly", "--min-questions", "many"], "many"),
        (["compare", "250915-random", "nobody"], "no such file"),
        (["check", ""], "file"),
    ],
)
def test_bad_options(tmp_path: Path, options: list[str], word: str) -> None:
    assert_refused(run(write(tmp_path, {"prediction/250915-random.json": [q()]}), *options), word)


# --- Commands ---

COMMANDS: Final = ("", "ask", "nightly", "compare", "check")
_FUTUREX: Final = (
    "--rules", "--relative-sigma", "--llm", "--llm-policy", "--llm-names", "--no-llm-names",
    "--padding", "--loose", "--no-loose", "--workers", "--llm-deadline", "--llm-url",
    "--llm-max-tokens", "--cache", "--no-cache",
)  # fmt: skip
_PROPHET: Final = (
    "--contracts", "--prices", "--gamma", "--min-events", "--late", "--horizon", "--max-spread",
    "--column",
)  # fmt: skip
POLICIES: Final = (*_FUTUREX, *_PROPHET)
OPTIONS: Final = {
    "": (
        "--file", "--prediction", "--dataset", "--items", "--no-items", "--by", "--save", "--html",
        "--unread", "--fail-under", "--missing", "--sort", "--full", "--no-full", "--llm-dry-run",
        "--no-llm-dry-run",
        *POLICIES,
    ),
    "ask": (
        "--model", "--file", "--runs", "--limit", "--workers", "--param", "--timeout", "--deadline",
        "--finish", "--again", "--market", "--dry-run", "--batch", "--replies",
    ),
    "nightly": (
        "--force", "--html", "--begin-record", "--jobs", "--cluster", "--min-questions",
        "--min-datasets", "--late-files", "--by", *POLICIES,
    ),
    "compare": ("--dataset", "--all-weeks", "--by", "--html", "--fail-if-worse", *_FUTUREX),
    "check": ("--dataset", "--owner", "--base", "--column"),
}  # besides --json, --root and --version, which all have  # fmt: skip
EXIT_CODES: Final = {
    "": [0, 1, 2, 3, 6, 130], "ask": [0, 1, 2, 3, 5, 130],
    "nightly": [0, 1, 2, 3, 5, 130], "compare": [0, 1, 2, 3, 6, 130],
    "check": [0, 1, 2, 4, 130],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_its_own_options_and_gives_examples(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, *command.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: eval.py {command}".rstrip())
    told, _, examples = done.out.partition("\nexamples:\n")
    assert len(re.findall(rf"^ +python eval\.py {command}", examples, re.M)) >= 2
    assert not re.search(r"^ *eval\.py", examples, re.M)  # which no shell finds
    exits = " ".join(examples.partition("exit codes: ")[2].split())
    assert [int(code) for code in re.findall(r"(?:^|, )([0-9]+) [a-z]", exits)] == EXIT_CODES[
        command
    ]
    everybody = {
        "--help",
        "--json",
        "--root",
        "--version",
        *(["--output", "--format", "--columns"] if command != "check" else []),
    }
    assert {*re.findall(r"--[a-z-]+", told)} == everybody | {*OPTIONS[command]}


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["250915-random"], {"FutureX"}),
        (["prophet-sample"], {"Prophet Arena"}),
        (["250915-random", "prophet-sample"], {"FutureX", "Prophet Arena"}),
        (["multiple_choice_all_varying-random"], set()),
        (["no-such-file"], {"FutureX", "Prophet Arena"}),
    ],
)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_shows_the_options_of_the_benchmark_at_hand(
    option: str, names: list[str], groups: set[str]
) -> None:
    words = [word for name in names for word in ("-f", name)]
    for argv in ([option, *words], [*words, option]):
        done = run(ROOT, *argv)
        assert (done.code, done.err) == (0, "")
        assert {*re.findall(r"(?m)^(FutureX|Prophet Arena):$", done.out)} == groups


@pytest.mark.parametrize(
    ("command", "groups"),
    [
        ("-f 250915-random", {"FutureX"}),
        ("-f prophet-sample", {"Prophet Arena"}),
        ("-f multiple_choice_all_varying-random", set()),
        ("compare 250915-random 250915-careful", {"FutureX"}),
        ("compare multiple_choice_all_varying-random no-such-file", set()),
        ("compare prophet-sample --json", set()),
    ],
)
def test_a_help_shows_no_option_that_is_refused(
    tmp_path: Path, command: str, groups: set[str]
) -> None:
    told = run(ROOT, *command.split(), "--help").out.partition("\nexamples:\n")[0]
    assert {*re.findall(r"(?m)^(FutureX|Prophet Arena):$", told)} == groups
    values = {"X": "0.1", "N": "1", "SECONDS": "1", "G": "0", "METRIC": "brier", "SCORE": "0.1"}
    values |= {"FILE": str(tmp_path / "new.jsonl")}
    for option, value, choice in re.findall(
        r"(?m)^  (--[a-z-]+)(?:, --[a-z-]+)?(?: ([A-Z]+(?:,B)?)| \{([^ ,}]+))?", told
    ):
        if option == "--version" or (value and value not in values):  # a folder, file or model
            continue
        words = [option, *filter(None, [choice or values.get(value)])]
        done = run(ROOT, *command.split(), *words, "--output", str(tmp_path))
        assert "needs a file of" not in done.err, option


@pytest.mark.parametrize("command", [*COMMANDS, "convert", "rxnopt import"])
def test_help_fits_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A command that goes on behind a backslash is one that a shell takes as it was."""

    def show(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        return run(tmp_path, *command.split(), "--help").out

    narrow, wide = show(80), show(1000)
    assert max(map(len, narrow.splitlines())) <= 80
    shown = {line.strip() for line in re.sub(r" \\\n +", " ", narrow).splitlines()}
    for line in re.findall(r"^ +(python eval.py.*?)(?: {3}.*)?$", wide, re.M):
        assert line in {text.partition("   ")[0] for text in shown}


@pytest.mark.parametrize("command", COMMANDS)
def test_version(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, *command.split(), "--version")
    assert (done.code, done.out, done.err) == (0, f"eval.py {__version__}\n", "")


@pytest.mark.parametrize("option", ["--fil", "--js", "--min", "--relative"])
def test_options_are_written_out(tmp_path: Path, option: str) -> None:
    """Else a new option could change what an old command line means."""
    assert run(example(tmp_path), option, "a").code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--item"], "did you mean --items?"),
        (["nightly", "--jsn"], "did you mean --json?"),
        (["nightly", "--all"], "unrecognized arguments: --all"),
        (["compare", "a", "b", "--check"], "unrecognized arguments: --check"),
        (["-f", "--all"], "argument -f/--file: expected one argument"),
        (["--file=--all"], "--all: no such file"),
    ],
)
def test_other_places_of_these_words_are_no_flags(
    tmp_path: Path, words: list[str], told: str
) -> None:
    done = run(example(tmp_path), *words)
    assert_refused(done, told)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("nigtly", "nightly;"), ("Compare", "compare;"), ("chek", "check;"), ("rxn", "rxnopt;"),
        ("250915-random", "ask, nightly, compare, check, init, rxnopt, convert;"),
        ("", "ask, nightly, compare, check, init, rxnopt, convert;"), (EVIL * 100, "ask"),
    ],
)  # fmt: skip
def test_a_typo_of_a_command_names_the_nearest(tmp_path: Path, word: str, near: str) -> None:
    done = run(example(tmp_path), word, "--force")
    assert_refused(done, f"no such command; there is {near}", "named with -f")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "error", "command"),
    [
        ("nightly stray", "unrecognized arguments: stray", " nightly"),
        ("compare", "the following arguments are required: NAME", " compare"),
        ("check --owner ann", "--owner: expected the files that LOGIN changes", " check"),
        ("--json stray", "unrecognized arguments: stray", ""),
        ("convert x", "the following arguments are required: -o/--output", " convert"),
        ("--x\x1b[2J", r"unrecognized arguments: --x\x1b[2J", ""),
    ],
)
def test_wrong_usage_is_one_line_and_one_that_names_the_help(
    tmp_path: Path, line: str, error: str, command: str
) -> None:
    done = run(example(tmp_path), *line.split())
    assert_refused(done, error)
    first, second = done.err.splitlines()
    assert first.startswith(f"eval.py{command}: {error}")
    assert second == f"usage: python eval.py{command} --help"
    assert files_below(tmp_path) == EXAMPLE


@pytest.mark.parametrize("columns", [80, 120])
def test_a_report_in_a_pipe_is_as_wide_as_columns_says(columns: int) -> None:
    done = run(ROOT, "-f", "prophet-sample", COLUMNS=str(columns))
    lines = done.out.splitlines()
    assert columns - 20 < max(map(display_width, lines)) <= columns
    assert any(line.startswith("Columns hidden on this terminal: ") for line in lines)


@pytest.mark.parametrize(
    "words", [["--gamma", "1"], ["--gamma", "0", "--gamma", "1"], ["--sort", "brier"]]
)
def test_option_of_another_benchmark_is_one_line(tmp_path: Path, words: list[str]) -> None:
    for more in ([], ["--json"], ["--save"]):
        done = run(example(tmp_path), "-f", "a", *words, *more)
        assert_refused(done, words[0], "needs a file of Prophet Arena", "got FutureX")
        assert done.err.count("\n") == 1
        assert files_below(tmp_path) == EXAMPLE


def test_option_of_another_benchmark_is_refused_by_compare(tmp_path: Path) -> None:
    assert_refused(
        run(example(tmp_path), "compare", "a", "b", "--gamma", "1"), "--gamma", "got FutureX"
    )


EXAMPLE: Final = ["dataset/d.json", "prediction/a.json", "prediction/b.json"]


def example(root: Path) -> Path:
    """Two systems and a dataset."""
    return write(
        root,
        {
            "prediction/a.json": [q()],
            "prediction/b.json": [q(answer="B")],
            "dataset/d.json": [question()],
        },
    )


def files_below(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_every_command_does_its_job(tmp_path: Path) -> None:
    root = example(tmp_path)
    assert run(root, "-f", "a").out.startswith("FutureX  a\n1 question, without a dataset\n")
    assert run(root, "check", "d").out.startswith("Dataset check  d.json\n1 record, 0 findings\n")
    pair = run(root, "compare", "a", "b", "--json").json["pairs"][0]
    assert (pair["a"], pair["b"]) == ("a", "b")
    assert files_below(root) == EXAMPLE
    assert run(root, "nightly", "--json").json["evaluated"] == 2
    assert "evaluation/leaderboard.md" in files_below(root)


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("forecasteval.scoring.score_unchanged", interrupt)
    done = run(example(tmp_path), "-f", "a")
    assert (done.code, done.out, done.err) == (130, "", "eval.py: interrupted\n")


def test_interrupted_while_it_starts(tmp_path: Path) -> None:
    """Before `main` can catch it: Python ends itself by the signal, which shells show as 130."""
    write(tmp_path, {"html.py": "raise KeyboardInterrupt"})  # which the imports of eval.py need
    done = run_process(tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.code, done.out, done.err) == (-signal.SIGINT, "", "")


# --- Installed, or in a folder of its own ---


def copy_program(folder: Path, checkout: bool) -> None:
    """The program and its package, with or without what tells a checkout."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "eval.py", folder)
    shutil.copytree(
        ROOT / "forecasteval", folder / "forecasteval", ignore=shutil.ignore_patterns("__pycache__")
    )
    if checkout:
        shutil.copy(ROOT / "pyproject.toml", folder)


SCRIPT: Final = "import sys\nfrom forecasteval.cli import main\nsys.exit(main())\n"


@pytest.mark.parametrize(
    ("program", "checkout"),
    [("eval.py", True), ("eval.py", False), ("forecasteval", True), ("-m", True)],
)
def test_data_lies_beside_eval_py_in_a_checkout_else_in_the_current_folder(
    tmp_path: Path, program: str, checkout: bool
) -> None:
    """`forecasteval` and `-m` as `pip install -e .` leaves them: the package is in a checkout."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    copy_program(home, checkout)
    write(tmp_path, {"bin/forecasteval": SCRIPT})
    words = {
        "eval.py": [str(home / "eval.py")],
        "forecasteval": [str(tmp_path / "bin" / "forecasteval")],
        "-m": ["-m", "forecasteval"],
    }
    is_beside = program == "eval.py" and checkout
    place, other = (home, elsewhere) if is_beside else (elsewhere, home)
    write(
        place, {"prediction/250915-random.json": {"q7": "A"}, "dataset/250915.json": [question()]}
    )
    before = files_below(other)
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", *words[program], "--json", "--save"],
        capture_output=True,
        encoding="utf-8",
        cwd=elsewhere,
        check=False,
        env={**os.environ, "PYTHONPATH": str(home)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (strict(done.stdout)["name"], strict(done.stdout)["dataset"]) == (
        "250915-random",
        "250915.json",
    )
    assert (place / "evaluation" / "250915-random.json").is_file()
    assert files_below(other) == before


HEAVY: Final = (
    *("numpy", "openai", "tqdm", "pandas", "scipy", "jinja2", "matplotlib"),
    *("openpyxl", "sqlite3", "difflib", "unittest", "asyncio"),
)


def test_import_has_no_side_effect(tmp_path: Path) -> None:
    copy_program(tmp_path, checkout=True)
    before = sorted(tmp_path.rglob("*"))
    code = f"import sys, eval; print(sorted({{*{HEAVY!r}}} & set(sys.modules)))"
    command = [sys.executable, "-B", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", [["--help"], ["nightly", "--help"], ["convert", "--help"]])
def test_help_imports_no_evaluator(command: list[str]) -> None:
    """Each evaluator compiles its patterns when it is imported, half of the time of a start."""
    code = f"""
import atexit, sys, eval
package = "forecasteval.futurex"
unused = (f"{{package}}.evaluator", f"{{package}}.reading.grammar", "scipy")
atexit.register(lambda: print({{*unused}} & set(sys.modules)))
eval.main({command!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "set()", "")


def test_eval_exports_the_evaluator() -> None:
    import eval as script  # not at the top: it must work after `forecasteval` was imported, too
    import forecasteval
    from forecasteval.futurex.evaluator import FutureXEvaluator

    assert script.FutureXEvaluator is forecasteval.FutureXEvaluator is FutureXEvaluator
    for module in (script, forecasteval):
        with pytest.raises(AttributeError, match="Unknown"):
            module.Unknown  # noqa: B018


def test_a_score_needs_nothing_heavy(tmp_path: Path) -> None:
    """What is slow to import is imported by the function that needs it."""
    code = f"""
import sys, eval
assert eval.main(["-f", "a", "--root", {str(example(tmp_path))!r}]) == 0
print(sorted({{*{HEAVY!r}}} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "[]", "")


# --- Columns ---


def two_systems(root: Path) -> Path:
    systems = {"a": {"name": "The A"}, "b": {"name": "The A", "aliases": ["c"]}}
    return write(
        root,
        {
            "dataset/d.json": [question(), question("q8")],
            "prediction/d-a.json": {"q7": "A", "q8": "A"},
            "prediction/d-c.json": {"q7": "A", "q8": "B"},
            "prediction/systems.json": systems,
        },
    )


@pytest.mark.parametrize(
    ("command", "columns", "header"),
    [
        ("-f d-a -f d-c --format csv", "name,score", "System,Overall"),
        ("-f d-a -f d-c --format csv", "Overall,System", "System,Overall"),
        ("-f d-a -f d-c", "name,interval", "System 95% interval"),
        ("-f d-a", "Score,n", "Score n"),
        ("nightly", "rank,name,level_1", "Rank System Level 1"),
        ("nightly --format csv", "rank,System,n", "rank,name,n"),
        ("nightly --format latex", "rank,score", r"Rank & Overall \\"),
        ("compare d-a d-c", "A,B,p", "A B p"),
    ],
)
def test_chosen_columns(tmp_path: Path, command: str, columns: str, header: str) -> None:
    done = run(two_systems(tmp_path), *command.split(), "--columns", columns)
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert (done.code, header in lines) == (0, True), done


def test_columns_of_the_nightly_csv_are_those_of_the_whole(tmp_path: Path) -> None:
    """Of all rankings, with all digits, by the names in the CSV or in tables."""
    for name in ("dataset/prophet-sample.json", "prediction/prophet-sample.json"):
        write(tmp_path, {name: (ROOT / name).read_bytes()})
    command = ("nightly", "--format", "csv")
    whole = csv.DictReader(io.StringIO(run(two_systems(tmp_path), *command).out))
    keys = ["rank", "name", "score", "low", "high", "signature"]
    expected = [{key: row[key] for key in keys} for row in whole]
    assert len(expected) == 14
    for names in (",".join(keys), "Rank,System,Overall,95% interval,signature"):
        rows = csv.DictReader(io.StringIO(run(tmp_path, *command, "--columns", names).out))
        assert (rows.fieldnames, [*rows]) == (keys, expected)


@pytest.mark.parametrize("command", ["-f d-a", "nightly", "nightly --format csv", "compare a b"])
def test_unknown_columns(tmp_path: Path, command: str) -> None:
    done = run(two_systems(tmp_path), *command.split(), "--columns", "n,\x1b[2J")
    assert_refused(done, "--columns: expected columns of the tables: ", "got '", "[2J'")
    assert "tables: ," not in done.err  # the first column of many tables has no title


def test_several_files_have_display_names(tmp_path: Path) -> None:
    done = run(two_systems(tmp_path), "-f", "d-a", "-f", "d-c", "--columns", "System,Overall")
    table = done.out.split("Leaderboard")[1].splitlines()
    assert table[3:5] == ["The A (d-a)   1.0000", "The A (d-c)   0.5000"]
