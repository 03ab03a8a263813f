"""README.md is run: its commands, code, JSON, tables and file names must be what the program does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import eval as evaluation

ROOT: Final = Path(__file__).resolve().parent.parent
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
OPTIONS_PROMPT: Final = "Who?\nA.  Harbour Town win\nB.  Draw\nC.  Lakeside win"  # as README says above its examples
STD: Final = 3.0
USERS_OWN: Final = {  # what a reader or a run makes
    "prediction/250915-mymodel.json",
    "prediction/your_file.json",
    "evaluation/",
    "evaluation/NAME.json",
    "prediction/multiple_choice_single_varying-mymodel.json",
    "questions/multiple_choice_single_varying.json",
}


class Block(NamedTuple):
    """A fenced block: its language, its text, and the file name on a line of its own above it ("" if none)."""

    language: str
    text: str
    file: str


class Example(NamedTuple):
    """A row of the table of answers."""

    level: int
    truth: str
    answer: str
    read: str
    score: float


def read_blocks() -> list[Block]:
    """Every fenced block of README, in order."""
    found = re.finditer(r"(?:^`([^`\n]+)`\n\n)?^```(\w+)\n(.*?)^```$", README, re.M | re.S)
    return [Block(match[2], match[3], match[1] or "") for match in found]


def read_table(header: str) -> list[list[str]]:
    """The cells of the one table whose first header cell is `header`; `\\|` inside a cell is a bar."""
    tables = re.findall(rf"^\| {re.escape(header)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", README, re.M)
    assert len(tables) == 1, f"tables that begin with {header!r}: {len(tables)}"
    rows = [re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in tables[0].splitlines()]
    return [[cell.strip().replace(r"\|", "|") for cell in row] for row in rows]


def code_spans(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


BLOCKS: Final = read_blocks()
EXAMPLE_FILES: Final = {block.file: block.text for block in BLOCKS if block.language in ("json", "csv")}


def read_commands() -> Iterator[tuple[str, str | None]]:
    """(command, output shown directly below it or None) of every `python …` line, pip's part cut off."""
    for match in re.finditer(r"^```bash\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", README, re.M | re.S):
        lines = [line.rpartition("&& ")[2] for line in match[1].splitlines()]
        assert match[2] is None or len(lines) == 1, "an output block belongs to one command"
        yield from ((line, match[2]) for line in lines if line.startswith(("python eval.py", "python rxnopt.py")))


def read_examples() -> list[Example]:
    plain = [[cell[1:-1] if cell.startswith("`") else cell for cell in row] for row in read_table("Level")]
    return [Example(int(level), truth, answer, read, float(score)) for level, truth, answer, read, score in plain]


COMMANDS: Final = list(read_commands())
EXAMPLES: Final = read_examples()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of modules and data, with the files that README tells the reader to write."""
    copy = tmp_path_factory.mktemp("readme") / "repository"
    copy.mkdir()
    for module in ROOT.glob("*.py"):
        shutil.copy(module, copy)
    for folder in ("dataset", "prediction"):
        shutil.copytree(ROOT / folder, copy / folder)
    for name, text in EXAMPLE_FILES.items():
        (copy / name).write_text(text, encoding="utf-8")
    shutil.copy(copy / "prediction" / "250915-random.json", copy / "prediction" / "your_file.json")
    return copy


def run_python(repository: Path, *arguments: str) -> str:
    """What a run prints on stdout; it must exit with 0 (4 for a check) and leave stderr empty."""
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", *arguments],
        cwd=repository,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200", "PYTHONPATH": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (4 if "--check" in arguments else 0, "")
    return done.stdout


def run_json(repository: Path, *arguments: str) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(run_python(repository, "eval.py", "--json", *arguments))
    return results


# --- Commands and code ---


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_command_runs_and_prints_what_is_shown(repository: Path, command: str, output: str | None) -> None:
    printed = run_python(repository, *command.split()[1:])
    if output is not None:
        assert printed == output


def test_both_reports_are_shown() -> None:
    """A blank line more in README would unhook an output block from its command, and nothing would compare it."""
    assert [command for command, output in COMMANDS if output] == [
        "python eval.py -f 250915-random",
        "python eval.py -f example",
        "python eval.py --compare 250915-careful 250915-random",
        "python eval.py -f multiple_choice_single_varying-random",
    ]
    assert sum(block.language == "text" for block in BLOCKS) == 5  # the fifth is a crontab


PYTHON_BLOCKS: Final = [block.text for block in BLOCKS if block.language == "python"]


@pytest.mark.parametrize("code", PYTHON_BLOCKS, ids=range(len(PYTHON_BLOCKS)))
def test_code_runs_in_the_repository(repository: Path, code: str) -> None:
    run_python(repository, "-c", code)


def test_first_readme_code_prints_the_scores_of_the_report(repository: Path) -> None:
    (code,) = [code for code in PYTHON_BLOCKS if "your_file.json" in code]
    results = run_json(repository)
    printed = [float(number) for number in re.findall(r": ([01]\.[0-9]{4})", run_python(repository, "-c", code))]
    scores = [results["overall_score"], *(results["level_scores"][level] for level in "1234")]
    assert printed == [round(score, 4) for score in scores]


def test_ci_runs_exactly_the_test_command() -> None:
    (command,) = [line for block in BLOCKS for line in block.text.splitlines() if "python -m pytest" in line]
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines().count(command) == 1


# --- Formats and numbers ---


def test_json_examples_parse() -> None:
    assert len(EXAMPLE_FILES) == 6
    for name, text in EXAMPLE_FILES.items():
        if name.endswith(".csv"):
            continue
        for part in text.splitlines() if name.endswith(".jsonl") else [text]:
            assert json.loads(part)


@pytest.mark.parametrize(
    ("arguments", "score", "shown"),
    [
        (["-f", "example"], 0.72, "0.1 + 0.16 + 0.16 + 0.3 = 0.72"),
        (["-f", "example-map"], 0.72, "`example-map` scores the same"),
        (["-f", "example-rows"], 0.56, "0.1 + 0.16 + 0 + 0.3 = 0.56"),
        (["-f", "example-rows", "--missing", "skip"], 0.8, "0.56 / 0.7 = 0.8"),
    ],
)
def test_json_examples_score_as_computed_by_hand(
    repository: Path, arguments: list[str], score: float, shown: str
) -> None:
    assert shown in README
    assert run_json(repository, *arguments)["overall_score"] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{index}-{row.read}" for index, row in enumerate(EXAMPLES)])
def test_answer_is_read_as_the_table_says(example: Example) -> None:
    has_options = example.level <= 2 and example.truth != "Yes"
    has_std = example.level == 4
    question = {
        "id": "x",
        "level": example.level,
        "prompt": OPTIONS_PROMPT if has_options else "",
        "ground_truth": example.truth,
        "Std": STD if has_std else None,
        "answer": example.answer,
    }
    (item,) = evaluation.FutureXEvaluator().evaluate_all([question])["items"]
    outcome = example.read if example.read in ("missing", "unparsed") else "scored"
    assert (item["outcome"], item["read"] or outcome) == (outcome, example.read)
    assert item["score"] == pytest.approx(example.score, abs=1e-9)


def test_answer_table_is_not_empty() -> None:
    assert len(EXAMPLES) > 15
    assert {row.level for row in EXAMPLES} == {1, 2, 3, 4}


def test_constants_are_the_ones_stated() -> None:
    assert f"more than {evaluation.MAX_SPAN:,} characters is unparsed" in README
    assert f"first {evaluation.MAX_OPTIONS} are read" in README
    assert f"cut at {evaluation.SHOWN}\ncharacters" in README
    assert f"w = {', '.join(map(str, evaluation.WEIGHTS.values()))} for levels 1–4" in README
    assert f"else {evaluation.PARTIAL_RANKING} · matched / k" in README
    assert f"(relative difference {evaluation.EQUAL:.0e}".replace("e-0", "e-") in README


@pytest.mark.parametrize(
    ("truth", "answer", "shown"),
    [
        ("30 million yuan", r"\boxed{31.5 million dollars}", "`31.5 million dollars` against yuan"),
        ("30 kg", r"\boxed{31.5 tons}", "tons against\n  kilograms"),
    ],
)
def test_measures_are_not_converted(truth: str, answer: str, shown: str) -> None:
    question = {"id": "x", "level": 4, "prompt": "", "ground_truth": truth, "Std": STD}
    assert shown in README
    assert evaluation.FutureXEvaluator().evaluate_prediction(answer, question) == 0.75


# --- Tables of the program's own names ---


def test_option_table_agrees_with_help(repository: Path) -> None:
    options = run_python(repository, "eval.py", "--help").partition("options:\n")[2].partition("\n\n")[0]
    spans = [span for row in read_table("Option") for span in code_spans(row[0])]
    flags = [span.split()[0] for span in spans]
    assert sorted(flags) == sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", options)))
    for span in spans:
        flag, _, value = span.partition(" ")
        if flag.startswith("--"):
            value = "{" + value.replace("|", ",") + "}" if "|" in value else value
            assert re.search(rf"{re.escape(f'{flag} {value}'.rstrip())}(?:,|\s|$)", options, re.M), span


def test_exit_code_table_agrees_with_help_and_docstring(repository: Path) -> None:
    table = [(int(code), meaning) for code, meaning, _ in read_table("Exit code")]
    for text in (run_python(repository, "eval.py", "--help"), evaluation.__doc__ or ""):
        listed = " ".join(text.lower().partition("exit codes: ")[2].split()).rstrip(".")
        assert [(int(code), meaning) for code, meaning in re.findall(r"(\d+) ([^,]+)", listed)] == table


def test_key_table_agrees_with_results(repository: Path) -> None:
    rows = read_table("Key of `results`")
    keys = {span for row in rows for span in code_spans(row[0])}
    question = {"id": "x", "level": 1, "prompt": "", "ground_truth": "Yes", "answer": "Yes"}
    results = evaluation.FutureXEvaluator().evaluate_all([question])
    assert keys == results.keys()
    assert set(run_json(repository)) - keys == {"name", "prediction", "dataset"}
    (items,) = [row[1] for row in rows if row[0] == "`items`"]
    assert items.partition(": ")[2].split(", ") == list(results["items"][0])


@pytest.mark.parametrize(("benchmark", "name"), [
    ("Prophet Arena", "prophet-sample"), ("RxnOptBench", "multiple_choice_all_varying-random"),
])  # fmt: skip
def test_key_tables_of_the_other_benchmarks(repository: Path, benchmark: str, name: str) -> None:
    keys = {span for row in read_table(f"Key of {benchmark} `results`") for span in code_spans(row[0])}
    assert keys == run_json(repository, "-f", name).keys() - {"name", "prediction", "dataset"}


def test_item_and_question_counts_of_the_sample() -> None:
    questions = json.loads((ROOT / "dataset" / "250915.json").read_text(encoding="utf-8"))
    assert f"`dataset/250915.json`: {len(questions)} questions of all levels" in README


# --- File names ---


def test_files_named_in_readme_exist() -> None:
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S)
    commands = [word for command, _ in COMMANDS for word in command.split()]
    words = {word for span in code_spans(prose) for word in span.split()}.union(commands)
    headings = {re.sub(r"[^\w -]", "", line.lower()).strip().replace(" ", "-") for line in
                re.findall(r"^#+ (.+)$", prose, re.M)}  # fmt: skip
    links = {link for link in re.findall(r"\]\(([^)]+)\)", prose) if "://" not in link}
    anchors = {link for link in links if link[0] == "#"}
    assert {anchor[1:] for anchor in anchors} <= headings
    links -= anchors
    paths = {word for word in words if re.fullmatch(r"[\w.-]+(?:/[\w.-]*)*", word) and ("/" in word or ".py" in word)}
    named = (paths | links) - USERS_OWN - EXAMPLE_FILES.keys()
    assert {"eval.py", "tests/make_samples.py", "dataset/250915.json", "LICENSE"} <= named
    assert [name for name in sorted(named) if not name.startswith("evaluation/") and not (ROOT / name).exists()] == []


def test_changelog_begins_with_the_version_of_the_program() -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert versions[0] == evaluation.__version__
