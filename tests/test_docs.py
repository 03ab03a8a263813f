"""README.md, README.zh-CN.md and docs/ are run: commands, code, JSON, tables and names must be what
the program does.

`python tools/pages.py` writes the outputs that they show anew.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import forecasteval.prophet
import pages
from eval import FutureXEvaluator
from forecasteval import __version__
from forecasteval import cli as program
from forecasteval.boards import compare
from forecasteval.common.llm import MAX_FAILURES
from forecasteval.common.markup import MAX_SPAN
from forecasteval.futurex.llm import MAX_LENGTH, MAX_WORDS
from forecasteval.futurex.options import MAX_OPTIONS
from forecasteval.futurex.questions import SHOWN
from forecasteval.futurex.rules import EQUAL, PARTIAL_RANKING, RULE_SETS, WEIGHTS, ZERO_SIGMA
from forecasteval.nightly.tasks import POOL_BYTES
from forecasteval.prophet.evaluator import ProphetArenaEvaluator
from forecasteval.prophet.scores import BINS, LOG_FLOOR
from forecasteval.ranking.significance import FLIPS
from forecasteval.rxnopt.replies import parse_reply
from llm_server import LlmServer, honest
from pages import (
    DOCS,
    PAGES,
    READMES,
    ROOT,
    code_spans,
    read,
    read_blocks,
    read_commands,
    read_table,
    read_tables,
)

OPTIONS_PROMPT: Final = (
    "Who?\nA.  Harbour Town win\nB.  Draw\nC.  Lakeside win"  # as scoring.md says
)
STD: Final = 3.0
CHECKS: Final = 4  # exit code of a check that found something
USERS_OWN: Final = {  # what a reader or a run makes
    "prediction/250915-mymodel.jsonl",
    "prediction/your_file.json",
    "prediction/multiple_choice_single_varying-mymodel.json",
    "prediction/250915-miroflow.json",
    "prediction/250915-inspect.json",
    "prediction/250915-batch.json",
    "prediction/250915-x.json",
    "dataset/past.json",
    "prediction/250915-quill7.json",
    "prediction/250915-table.json",
    "forecasteval/futurex",
    "questions/multiple_choice_single_varying.json",
    ".venv/bin/activate",
}
OUTPUTS: Final[dict[str, list[str]]] = {  # what is shown of which command, page by page
    "README.md": ["python eval.py -f 250915-random"],
    "README.zh-CN.md": ["python eval.py -f 250915-random"],
    "docs/ci.md": [],
    "docs/convert.md": [
        "python eval.py convert tests/samples/benchmark_results.jsonl -o prediction/250915-miroflow.json",
        "python eval.py convert --dataset tests/samples/futurex-past.jsonl -o dataset/past.json",
    ],
    "docs/formats.md": ["python eval.py check 250915"],
    "docs/nightly.md": [
        "python eval.py nightly",
        "python eval.py compare 250915-careful 250915-random",
        "python eval.py compare careful random",
    ],
    "docs/pages.md": [],
    "docs/prophet.md": ["python eval.py -f prophet-sample"],
    "docs/python.md": [],
    "docs/rxnopt.md": [
        "python eval.py -f multiple_choice_single_varying-random",
        'python eval.py rxnopt import docs/experiments.xlsx -o tables --yield "yield (%)" --ee "ee (%)" '
        '--reactants-smiles CC1CCCCC1=O Brc1ccccc1 --products-smiles "CC1(c2ccccc2)CCCCC1=O"',
        "python eval.py rxnopt build tables -o questions",
        "python eval.py rxnopt render questions/multiple_choice_single_varying.json --id experiments_q2",
        "python eval.py rxnopt parse replies.jsonl -o prediction/multiple_choice_single_varying-mymodel.json",
        "python eval.py -f multiple_choice_single_varying-mymodel "
        "--dataset questions/multiple_choice_single_varying.json",
    ],
    "docs/scoring.md": [
        "python eval.py -f example --items",
        "python eval.py -f example-rows --missing skip",
    ],
}


@pytest.fixture
def copies(tmp_path: Path) -> Any:
    """A function that copies the data, with the files that a page tells its reader to write."""
    return lambda page: pages.copy_repository(tmp_path / Path(page).stem, page)


def score(folder: Path, *arguments: str) -> dict[str, Any]:
    code, out, err = pages.run(folder, "--json", *arguments)
    assert (code, err) == (0, "")
    results: dict[str, Any] = json.loads(out)
    return results


def help_of(*command: str) -> str:
    code, out, _ = pages.run(ROOT, *command, "--help")
    assert code == 0
    return out


# --- Commands and code ---


NEEDS: Final = {"docs/rxnopt.md": "openpyxl"}  # an extra that the commands of a page need


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.extra(NEEDS[page])] if page in NEEDS else [])
        for page in PAGES
    ],
)
def test_commands_run_and_print_what_is_shown(page: str, copies: Any) -> None:
    """In the order of the page: what one makes is what the next one reads."""
    folder = copies(page)
    server = LlmServer(honest)
    with server:
        for command in read_commands(read(page)):
            variables = {**dict.fromkeys(command.variables, "key"), "OPENAI_BASE_URL": server.url}
            code, printed, err = pages.run(folder, *command.arguments, **variables)
            assert (command.line, code, err) == (
                command.line,
                CHECKS if "check" in command.arguments else 0,
                "",
            )
            if command.output is not None:
                assert command.output == printed or pages.is_shown(command.output, printed), (
                    command.line
                )
            assert ("--llm" in command.arguments) == bool(server.requests), command.line
            server.requests.clear()


def test_outputs_are_shown() -> None:
    """A blank line more on a page would unhook an output block from its command, and nothing would
    compare it.
    """
    assert OUTPUTS.keys() == set(PAGES)
    for page, expected in OUTPUTS.items():
        text = read(page)
        assert [
            command.line.rpartition("&& ")[2] for command in read_commands(text) if command.output
        ] == expected
        shown = [block.text for block in read_blocks(text) if block.language == "text"]
        # A crontab, a command of another program, and a table of a season that does not ship.
        of_no_command = ("MAILTO", "pip ", "Leaderboard  FutureX, all")
        assert len([block for block in shown if not block.startswith(of_no_command)]) == len(
            expected
        )


def test_every_block_is_run_or_read() -> None:
    """No language that nothing here knows, and in a `bash` block nothing but commands that run."""
    for page in PAGES:
        for block in read_blocks(read(page)):
            assert block.language in ("bash", "text", "json", "csv", "python"), page
            assert bool(block.file) == (block.language in ("json", "csv")), (
                f"{page}: {block.text[:60]}"
            )
            if block.language == "bash":
                assert all(
                    re.search("python (eval.py|-m pytest)", line)
                    for line in block.text.splitlines()
                ), page


CODE: Final = [
    (page, block.text)
    for page in PAGES
    for block in read_blocks(read(page))
    if block.language == "python"
]
EXAMPLES: Final = [
    pytest.param(
        page, code, id=f"{page}-{at}", marks=[pytest.mark.extra("matplotlib")] * ("plot(" in code)
    )
    for at, (page, code) in enumerate(CODE)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES)
def test_code_runs_in_the_repository(
    page: str, code: str, copies: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copies(page))
    exec(compile(code, page, "exec"), {"__name__": "__main__"})


def test_first_readme_code_prints_the_scores_of_the_report(
    copies: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ((page, code),) = [(page, code) for page, code in CODE if "your_file.json" in code]
    monkeypatch.chdir(copies(page))
    exec(compile(code, page, "exec"), {"__name__": "__main__"})
    results = score(ROOT)
    printed = [
        float(number) for number in re.findall(r": ([01]\.[0-9]{4})", capsys.readouterr().out)
    ]
    scores = [results["overall_score"], *(results["level_scores"][level] for level in "1234")]
    assert printed == [round(score, 4) for score in scores]


def test_ci_runs_exactly_the_test_command() -> None:
    script = read(".ci/run").splitlines()
    for page in READMES:
        lines = [line for block in read_blocks(read(page)) for line in block.text.splitlines()]
        (command,) = [line for line in lines if "python -m pytest" in line]
        assert script.count(command) == 1


def test_contributing_names_the_tools_of_ci() -> None:
    text, script = read("CONTRIBUTING.md"), read(".ci/run")
    pinned = re.findall(r"[\w-]+==[\d.]+", text)
    assert len(pinned) == 3
    assert pinned == re.findall(r"[\w-]+==[\d.]+", script)
    for tool in ("ruff check", "ruff format", "mypy", "lint-imports"):
        assert tool in script
        assert re.search(rf"^{tool}", text, re.M)


# --- README ---


def test_readme_can_be_read_in_one_go() -> None:
    for page in READMES:
        assert len(read(page).splitlines()) <= 200


def sections(page: str) -> list[str]:
    """A README by its headings; the line that leads to the other language is left out."""
    text = read(page)
    assert text.count("](README") == 1
    return re.split(r"^## .*\n", re.sub(r"^\[.*\]\(README.*\)\n", "", text, flags=re.M), flags=re.M)


SECTIONS: Final = list(zip(*map(sections, READMES), strict=True))


@pytest.mark.parametrize(("english", "chinese"), SECTIONS)
def test_both_readmes_are_alike(english: str, chinese: str) -> None:
    """Code, outputs, tables, names, links and figures, section by section."""
    blocks = [[block._replace(text=pages.chinese_left_out(block.text)) for block in read_blocks(text)]
              for text in (english, chinese)]  # fmt: skip
    assert blocks[0] == blocks[1]
    tables = [[[[code_spans(cell) for cell in row] for row in table] for table in read_tables(text)]
              for text in (english, chinese)]  # fmt: skip
    assert tables[0] == tables[1]
    prose = [pages.without_blocks(text) for text in (english, chinese)]
    for found in (code_spans, pages.links, lambda text: re.findall(r"\d+(?:\.\d+)*", text)):
        assert Counter(found(prose[0])) == Counter(found(prose[1]))
    assert prose[0].count("\n- ") == prose[1].count("\n- ")


def test_readmes_link_to_each_other_and_to_every_page() -> None:
    for page, other in (READMES, READMES[::-1]):
        assert set(pages.links(read(page))) >= {
            other,
            *DOCS,
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "LICENSE",
        }


def test_python_version_is_the_one_required() -> None:
    (version,) = re.findall(r'^requires-python = ">=([\d.]+)"$', read("pyproject.toml"), re.M)
    for page in READMES:
        assert f"Python {version} " in read(page)


# --- Formats and numbers ---


def test_json_examples_parse() -> None:
    files = [block for page in PAGES for block in read_blocks(read(page)) if block.file]
    assert len(files) == 10
    for block in files:
        if block.language == "csv":
            continue
        for part in block.text.splitlines() if block.file.endswith(".jsonl") else [block.text]:
            assert json.loads(part)


def test_json_rows_of_readme_answer_questions_of_the_dataset(copies: Any) -> None:
    results = score(copies("README.md"), "-f", "250915-mymodel")
    given = [item for item in results["items"] if item["outcome"] != "missing"]
    assert [(item["level"], item["outcome"]) for item in given] == [
        (1, "scored"),
        (2, "scored"),
        (4, "scored"),
    ]
    assert all(item["score"] > 0 for item in given)
    assert results["warnings"] == []


@pytest.mark.parametrize(
    ("arguments", "expected", "shown"),
    [
        (["-f", "example"], 0.72, "0.1 + 0.16 + 0.16 + 0.3 = 0.72"),
        (["-f", "example-map"], 0.72, "`example-map` and `example-table` have the same scores"),
        (["-f", "example-table"], 0.72, "`example-map` and `example-table` have the same scores"),
        (["-f", "example-rows"], 0.56, "0.1 + 0.16 + 0 + 0.3 = 0.56"),
        (["-f", "example-rows", "--missing", "skip"], 0.8, "0.56 / 0.7 = 0.8"),
    ],
)
def test_json_examples_score_as_computed_by_hand(
    copies: Any, arguments: list[str], expected: float, shown: str
) -> None:
    assert shown in read("docs/scoring.md")
    assert score(copies("docs/formats.md"), *arguments)["overall_score"] == pytest.approx(
        expected, abs=1e-12
    )


class Example(NamedTuple):
    """A row of the table of answers."""

    level: int
    truth: str
    answer: str
    read: str
    score: float


def read_examples() -> list[Example]:
    rows = read_table("docs/scoring.md", "Level")
    plain = [[cell[1:-1] if cell.startswith("`") else cell for cell in row] for row in rows]
    return [
        Example(int(level), truth, answer, read, float(score))
        for level, truth, answer, read, score in plain
    ]


EXAMPLES: Final = read_examples()


@pytest.mark.parametrize("example", EXAMPLES)
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
    (item,) = FutureXEvaluator().evaluate_all([question])["items"]
    outcome = example.read if example.read in ("missing", "unparsed") else "scored"
    assert (item["outcome"], item["read"] or outcome) == (outcome, example.read)
    assert item["score"] == pytest.approx(example.score, abs=1e-9)


def test_answer_table_is_not_empty() -> None:
    assert len(EXAMPLES) > 15
    assert {row.level for row in EXAMPLES} == {1, 2, 3, 4}


def test_constants_are_the_ones_stated() -> None:
    names = ("scoring", "python", "prophet", "nightly")
    scoring, python, prophet, nightly = (
        " ".join(read(f"docs/{name}.md").split()) for name in names
    )
    assert f"more than {MAX_SPAN:,} characters is unparsed" in scoring
    assert f"first {MAX_OPTIONS} options of a prompt are read" in scoring
    assert f"at most {MAX_LENGTH} characters and {MAX_WORDS} words" in scoring
    assert f"w = {', '.join(map(str, WEIGHTS.values()))} for levels 1–4" in scoring
    assert f"else {PARTIAL_RANKING} · matched / k" in scoring
    assert f"(relative difference {EQUAL:.0e}".replace("e-0", "e-") in scoring
    assert f"After {MAX_FAILURES} failures in a row" in scoring
    assert f"cut at {SHOWN} characters" in python
    assert f"flipped {FLIPS:,} times" in nightly
    assert f"From {POOL_BYTES / 1e6:g} MB of files on" in nightly
    settings = ProphetArenaEvaluator()
    assert f"{settings.bootstrap:,} resamples of the events" in prophet
    assert f"{BINS} bins over all option probabilities" in prophet
    assert f"max(p of the winner, {LOG_FLOOR})" in prophet


@pytest.mark.parametrize(
    ("truth", "answer", "shown"),
    [
        ("30 million yuan", r"\boxed{31.5 million dollars}", "`31.5 million dollars` and yuan"),
        ("30 kg", r"\boxed{31.5 tons}", "tons and kilograms"),
    ],
)
def test_measures_are_not_converted(truth: str, answer: str, shown: str) -> None:
    question = {"id": "x", "level": 4, "prompt": "", "ground_truth": truth, "Std": STD}
    assert shown in " ".join(read("docs/scoring.md").split())
    assert FutureXEvaluator().evaluate_prediction(answer, question) == 0.75


def test_rule_sets_are_the_ones_of_the_table() -> None:
    (header,) = [
        table[0] for table in read_tables(read("docs/scoring.md")) if table[0][0] == "What"
    ]
    assert [code_spans(cell)[0] for cell in header[1:]] == list(RULE_SETS)
    rows = {row[0]: row[1:] for row in read_table("docs/scoring.md", "What")}
    official = RULE_SETS["official-2026"]
    (sigma,) = [cells[1] for what, cells in rows.items() if what.startswith("σ")]
    assert f"{official.relative_sigma:.0%}".replace("%", " %") in sigma
    assert f"{ZERO_SIGMA} if the truth is 0" in sigma
    missing = {"zero": "score 0", "skip": "are left out"}
    assert rows["missing answers"] == [missing[rules.missing] for rules in RULE_SETS.values()]
    shares = {True: "the others share their weight", False: "keep their weight and add 0"}
    assert rows["levels without questions"] == [
        shares[rules.renormalised] for rules in RULE_SETS.values()
    ]


# --- What is told of odd input ---

QUESTION: Final = {"id": "q", "level": 1, "prompt": "", "ground_truth": "Yes"}


def write_rows(folder: Path, dataset: str, prediction: str) -> Path:
    for name, text in (("dataset/d.jsonl", dataset), ("prediction/d-x.jsonl", prediction)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("rows", "expected"), read_table("docs/formats.md", "Rows of the prediction")
)
def test_odd_predictions_warn_as_stated(tmp_path: Path, rows: str, expected: str) -> None:
    lines = re.sub(r"\} (?=[{\"])", "}\n", rows.strip("`"))
    results = score(write_rows(tmp_path, json.dumps(QUESTION), lines), "-f", "d-x")
    assert [warning.rpartition(": ")[0] for warning in results["warnings"]] == [expected]


@pytest.mark.parametrize(("row", "expected"), read_table("docs/formats.md", "Row of a dataset"))
def test_unusable_questions_are_refused_as_stated(tmp_path: Path, row: str, expected: str) -> None:
    folder = write_rows(tmp_path, row.strip("`"), '{"id": "q", "answer": "Yes"}')
    code, out, err = pages.run(folder, "-f", "d-x")
    assert (code, out) == (2, "")
    assert f"d.jsonl: record 1 (id q): {expected.strip('`')}\n" in err


@pytest.mark.parametrize(("reply", "expected"), read_table("docs/rxnopt.md", "Reply"))
def test_replies_are_read_as_stated(reply: str, expected: str) -> None:
    index, note = parse_reply(reply.strip("`"))
    assert (str(index) if index is not None else note) == expected


# --- Tables of the program's own names ---

RXNOPT: Final = [("docs/rxnopt.md", f"Option of `rxnopt {command}`", ("rxnopt", command))
                 for command in ("import", "build", "render", "parse")]  # fmt: skip
OPTION_TABLES: Final = [
    ("docs/scoring.md", "Option", ()),
    ("docs/formats.md", "Option of `check`", ("check",)),
    ("docs/nightly.md", "Option of `nightly`", ("nightly",)),
    ("docs/nightly.md", "Option of `compare`", ("compare",)),
    ("docs/convert.md", "Option of `convert`", ("convert",)),
    *RXNOPT,
]


def shared_options(page: str, header: str) -> set[str]:
    """The options that the paragraph below a table says are as in scoring.md."""
    below = read(page).partition(f"| {header} |")[2].partition("\n\n")[2].partition("\n\n")[0]
    return {"--help", *code_spans(below)} if "work as in" in below else set()


@pytest.mark.parametrize(("page", "header", "command"), OPTION_TABLES)
def test_option_table_agrees_with_help(page: str, header: str, command: tuple[str, ...]) -> None:
    options = "\n" + help_of(*command).partition("\nexamples:\n")[0].partition("\n\n")[2]
    spans = [span for row in read_table(page, header) for span in code_spans(row[0])]
    assert len(spans) == len(set(spans))
    shared = shared_options(page, header)
    flags = {span.split()[0] for span in spans if span.startswith("-")}
    assert not flags & shared
    own = r"(?:^  |(?<=, ))(--?[a-z][a-z-]*)"
    assert flags | shared == set(re.findall(own, options, re.M))
    names = {span for span in spans if not span.startswith("-")}
    assert names == set(re.findall(r"^  ([A-Z_]+)(?=\s)", options, re.M))
    for span in spans:
        flag, _, value = span.partition(" ")
        if flag.startswith("--"):
            value = "{" + value.replace("|", ",") + "}" if "|" in value else value
            assert re.search(
                rf"{re.escape(f'{flag} {value}'.rstrip())}(?:,|\s|$)", options, re.M
            ), span
    scoring = {
        span.split()[0]
        for row in read_table("docs/scoring.md", "Option")
        for span in code_spans(row[0])
    }
    assert shared <= scoring


def test_options_that_are_said_to_be_missing_are() -> None:
    assert "There is no `--missing`" in read("docs/nightly.md")
    assert "--missing" not in help_of("nightly") + help_of("compare")


def exit_codes(text: str) -> dict[int, str]:
    listed = " ".join(text.lower().partition("exit codes: ")[2].split()).rstrip(".")
    return {int(code): meaning for code, meaning in re.findall(r"(\d+) ([^,]+)", listed)}


def test_exit_code_table_agrees_with_help_and_docstring() -> None:
    table = {int(code): meaning for code, meaning, _ in read_table("docs/scoring.md", "Exit code")}
    assert exit_codes(program.__doc__ or "") == table
    helps = {name: exit_codes(help_of(*name.split())) for name in ("", *program.COMMANDS)}
    for codes in helps.values():
        assert codes.pop(0)  # each has a word of its own for success
        assert codes.items() <= table.items()
    assert set().union(*helps.values()) == table.keys() - {0}
    assert {int(code) for code, _ in read_table("docs/nightly.md", "Exit code of `nightly`")} == {
        0,
        *helps["nightly"],
    }


def test_commands_are_those_of_the_program() -> None:
    for page, header in zip(READMES, ("Command", "命令"), strict=True):
        named = [code_spans(row[0])[0].split()[2:] for row in read_table(page, header)]
        assert named == [[], *([name] for name in program.COMMANDS)]


def keys_of(header: str) -> set[str]:
    return {span for row in read_table("docs/python.md", header) for span in code_spans(row[0])}


def test_key_table_agrees_with_results() -> None:
    keys = keys_of("Key of `results`")
    question = {"id": "x", "level": 1, "prompt": "", "ground_truth": "Yes", "answer": "Yes"}
    results = FutureXEvaluator().evaluate_all([question])
    assert keys == results.keys()
    assert set(score(ROOT)) - keys == {"name", "prediction", "dataset"}
    (items,) = [
        row[1] for row in read_table("docs/python.md", "Key of `results`") if row[0] == "`items`"
    ]
    assert items.partition(": ")[2].split(", ") == list(results["items"][0])


@pytest.mark.parametrize(("benchmark", "name"), [
    ("Prophet Arena", "prophet-sample"), ("RxnOptBench", "multiple_choice_all_varying-random"),
])  # fmt: skip
def test_key_tables_of_the_other_benchmarks(benchmark: str, name: str) -> None:
    files = {"name", "prediction", "dataset"}
    assert keys_of(f"Key of {benchmark} `results`") == score(ROOT, "-f", name).keys() - files


def test_key_table_of_pairs() -> None:
    results = [score(ROOT, "-f", name) for name in ("250915-careful", "250915-random")]
    (pair,) = compare(results)["pairs"]
    assert keys_of("Key of `pairs`") == pair.keys()


@pytest.mark.parametrize("evaluator", [FutureXEvaluator, ProphetArenaEvaluator])
def test_argument_table_agrees_with_signature(evaluator: type) -> None:
    assert (
        keys_of(f"Argument of `{evaluator.__name__}`")
        == inspect.signature(evaluator).parameters.keys()
    )


def test_metrics_and_functions_of_prophet_arena() -> None:
    metrics = [
        span for row in read_table("docs/prophet.md", "Metric") for span in code_spans(row[0])
    ]
    assert tuple(metrics) == tuple(metric.name for metric in ProphetArenaEvaluator().metrics)
    listed = (
        read("docs/prophet.md").partition("Every metric is also a function")[2].partition("\n\n")[0]
    )
    functions = set(code_spans(listed)) - {"forecasteval.prophet"}
    assert len(functions) == 11
    assert all(callable(getattr(forecasteval.prophet, name)) for name in functions)


def test_counts_of_the_samples() -> None:
    questions = json.loads(read("dataset/250915.json"))
    assert f"`dataset/250915.json`: {len(questions)} questions of all levels" in read("README.md")
    results = score(ROOT, "-f", "prophet-sample")
    shown = f"{results['n_events']} invented events and {len(results['forecasters'])} invented forecasters"
    assert shown in read("docs/prophet.md")
    tables = list((ROOT / "dataset" / "rxnopt-tables").rglob("*.json"))
    assert f"holds {len(tables)} invented tables" in read("docs/rxnopt.md")


# --- Names of files, links ---


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    for link in pages.links(read(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        assert target.is_file(), link
        assert not anchor or anchor in pages.anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_files_named_on_a_page_exist(page: str) -> None:
    text = read(page)
    made = {block.file for name in PAGES for block in read_blocks(read(name))}
    commands = [
        word
        for block in read_blocks(text)
        if block.language == "bash"
        for word in block.text.split()
    ]
    words = {
        word for span in code_spans(pages.without_blocks(text)) for word in span.split()
    }.union(commands)
    paths = {
        word
        for word in words
        if re.fullmatch(r"[\w.-]+(?:/[\w.-]*)*", word) and ("/" in word or ".py" in word)
    }
    named = {name for name in paths - USERS_OWN - made if not name.startswith("evaluation/")}
    assert (
        page not in READMES or {"eval.py", "tests/requirements.txt", "dataset/250915.json"} <= named
    )
    rooms = ROOT / "forecasteval"
    assert [
        name for name in sorted(named) if not (ROOT / name).exists() and not (rooms / name).exists()
    ] == []


def test_changelog_begins_with_the_version_of_the_program() -> None:
    versions = [
        name
        for name in re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.M)
        if name != "Unreleased"
    ]
    assert versions[0] == __version__
