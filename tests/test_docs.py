"""README.md, README.zh-CN.md and docs/ are run: commands, code and tables of examples must give
what the pages show.

`python tools/pages.py` writes the outputs that they show anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import echo_server
import pages
from eval import FutureXEvaluator
from forecasteval import cli
from forecasteval.rxnopt.replies import parse_reply
from llm_server import LlmServer, Reply, Request, completion, honest
from pages import PAGES, READMES, ROOT, read, read_blocks, read_commands, read_table, read_tables

OPTIONS_PROMPT: Final = (
    "Who?\nA.  Harbour Town win\nB.  Draw\nC.  Lakeside win"  # as scoring.md says
)
STD: Final = 3.0
CHECKS: Final = 4  # exit code of a check that found something
NEEDS: Final = {"docs/rxnopt.md": "openpyxl"}  # an extra that the commands of a page need


@pytest.fixture
def copies(tmp_path: Path) -> Any:
    """A function that copies the data, with the files that a page tells its reader to write."""
    return lambda page: pages.copy_repository(tmp_path / Path(page).stem, page)


def score(folder: Path, *arguments: str) -> dict[str, Any]:
    code, out, err = pages.run(folder, "--json", *arguments)
    assert (code, err) == (0, "")
    results: dict[str, Any] = json.loads(out)
    return results


# --- Commands ---


def answer(request: Request) -> Reply:
    """Read data, or answer questions as the server for trying does."""
    if request.prompt.startswith("<data>"):
        return honest(request)
    return completion(echo_server.answer(request.prompt))


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
    server = LlmServer(answer)
    with server:
        for command in read_commands(read(page)):
            variables = {**dict.fromkeys(command.variables, "key"), "OPENAI_BASE_URL": server.url}
            code, printed, err = pages.run(folder, *command.arguments, **variables)
            asks = "import" in command.arguments and "--conditions" not in command.arguments
            # On stderr `ask` says how that went.
            is_asked = command.arguments[0] == "ask" and "--dry-run" not in command.arguments
            expected = CHECKS if "check" in command.arguments else 2 if asks else 0
            assert (command.line, code, bool(err)) == (command.line, expected, asks or is_asked)
            if command.output is not None:
                assert command.output == printed or pages.is_shown(command.output, printed), (
                    command.line
                )
            sends = "--llm" in command.arguments or (is_asked and bool(command.variables))
            assert sends == bool(server.requests), command.line
            server.requests.clear()


def test_every_block_is_run_or_read() -> None:
    """No output without its command, which nothing would compare; in a `bash` block nothing but
    commands that run; no language that nothing here knows.
    """
    for page in PAGES:
        text = read(page)
        outputs = [command.output for command in read_commands(text)]
        for block in read_blocks(text):
            assert block.language in ("bash", "text", "json", "csv", "python"), page
            assert bool(block.file) == (block.language in ("json", "csv")), page
            if block.language == "bash":
                lines = block.text.splitlines()
                assert all(
                    re.search("python (eval.py|-m pytest|tools/)", line) for line in lines
                ), page
            if block.language == "text":
                # A crontab, other programs, a badge, a table of a season that does not ship.
                of_no_command = (
                    "MAILTO",
                    "pip ",
                    "[project]",
                    "- run",
                    "jq ",
                    "# forecasteval.toml",
                    "![",
                    "Leaderboard  FutureX, all",
                )
                assert block.text in outputs or block.text.startswith(of_no_command), page


def test_ci_runs_exactly_the_test_command() -> None:
    script = read(".ci/run").splitlines()
    for page in READMES:
        lines = [line for block in read_blocks(read(page)) for line in block.text.splitlines()]
        (command,) = [line for line in lines if "python -m pytest" in line]
        assert script.count(command) == 1


def test_both_readmes_have_the_same_blocks() -> None:
    """Commands, code and outputs; texts in a translation's code are its own."""
    english, chinese = (
        [
            block._replace(text=pages.chinese_left_out(block.text))
            for block in read_blocks(read(page))
        ]
        for page in READMES
    )
    assert english == chinese


# --- Code ---


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


# --- Tables of examples ---


def read_answers() -> Iterator[Any]:
    for level, truth, right, wrong in read_table("docs/scoring.md", "Level"):
        for cell, points in ((right, 1), (wrong, 0)):
            for answer in re.findall("`([^`]+)`", cell):
                yield pytest.param(level, truth.strip("`"), answer, points, id=answer)


@pytest.mark.parametrize(("level", "truth", "answer", "points"), [*read_answers()])
def test_answer_is_read_as_the_table_says(level: str, truth: str, answer: str, points: int) -> None:
    question = {
        "id": "x",
        "level": int(level),
        "prompt": OPTIONS_PROMPT if level == "1" and truth != "Yes" else "",
        "ground_truth": truth,
        "Std": STD if level == "4" else None,
        "answer": answer,
    }
    assert FutureXEvaluator().evaluate_prediction(answer, question) == pytest.approx(points)


@pytest.mark.parametrize(("answer", "level", "means"), read_table("docs/scoring.md", "Unread"))
def test_known_losses_are_lost(answer: str, level: str, means: str) -> None:
    """A loss that is mended leaves the table; what it means would be right in a box."""
    truth = means.strip("`")
    question = {
        "level": int(level),
        "prompt": OPTIONS_PROMPT if level == "1" and truth != "Yes" else "",
        "ground_truth": truth,
        "Std": STD if level == "4" else None,
    }
    texts = [answer.strip("`"), rf"\boxed{{{truth}}}"]
    rows = [{**question, "id": text, "answer": text} for text in texts]
    items = FutureXEvaluator().evaluate_all(rows)["items"]
    assert [item["score"] for item in items] == [0.0, 1.0]
    assert items[0]["outcome"] == "unparsed"


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


# --- Names ---


def test_options_in_tables_are_options_of_a_command() -> None:
    commands = [[], *([name] for name in cli.COMMANDS if name != "rxnopt")]
    commands += [["rxnopt", name] for name in ("import", "build", "render")]
    helps = " ".join(pages.run(ROOT, *command, "--help")[1] for command in commands)
    known = set(re.findall(r"--[a-z][a-z-]+", helps))
    for page in PAGES:
        tables = [table for table in read_tables(read(page)) if table[0][0].startswith("Option")]
        first_cells = " ".join(row[0] for table in tables for row in table[1:])
        assert set(re.findall(r"--[a-z][a-z-]+", first_cells)) <= known, page


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    for link in pages.links(read(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        assert target.is_file(), link
        assert not anchor or anchor in pages.anchors(target.read_text(encoding="utf-8")), link


def test_contributing_names_modules_that_exist() -> None:
    """A name without a folder is a module of the folder that its cell named last."""
    for row in read_table("CONTRIBUTING.md", "A rule about"):
        folder = ""
        for name in re.findall(r"`([^`]+\.py)`", row[1]):
            places = {ROOT / "forecasteval" / name, ROOT / "forecasteval" / folder / name}
            assert any(place.is_file() for place in places), name
            folder = name.rpartition("/")[0] or folder


# --- Sentences ---

MAX_SENTENCE: Final = 30  # words
MAX_WORDS: Final = {
    "README.md": 900, "CHANGELOG.md": 1400, "docs/scoring.md": 2300, "docs/nightly.md": 1900,
    "docs/methods.md": 1900, "docs/formats.md": 1500, "docs/prophet.md": 1700,
    "docs/rxnopt.md": 1750, "docs/python.md": 1050, "docs/forecasts.md": 900,
    "docs/operations.md": 850, "docs/own.md": 800, "docs/ask.md": 800, "docs/ci.md": 750,
    "docs/glossary.md": 400,
}  # fmt: skip
MAX_OF_OTHER_PAGES: Final = 720
MAX_OF_ALL: Final = 20_500


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page's prose; code, a file's name and an address are a word each."""
    prose = re.sub(r"(?m)^(\||#|    ).*$", "", pages.without_blocks(text))
    for part in re.split(r"\n\s*\n|\n(?= *(?:-|\d+\.) )", prose):
        plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", " ".join(part.split())))
        yield from re.split(r"(?<=[.!?])\)?\*{0,2} +", plain)


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_no_sentence_is_long(page: str) -> None:
    counted = [(len(re.findall(r"\S*\w\S*", each)), each) for each in sentences(read(page))]
    assert [sentence for count, sentence in counted if count > MAX_SENTENCE] == []


def test_pages_are_short() -> None:
    """A rule stands on one page, to which the others link; options stand in `--help`."""
    words = {page: len(read(page).split()) for page in ("README.md", "CHANGELOG.md", *pages.DOCS)}
    limits = {page: MAX_WORDS.get(page, MAX_OF_OTHER_PAGES) for page in words}
    assert {page: n for page, n in words.items() if n > limits[page]} == {}
    assert sum(words.values()) <= MAX_OF_ALL


def test_pages_begin_with_what_they_are_for() -> None:
    for page in pages.DOCS:
        title, purpose = read(page).split("\n\n")[:2]
        assert title.startswith("# "), page
        assert purpose.startswith("This page "), page


def test_the_changelog_is_in_groups_and_says_nothing_twice() -> None:
    """Git merges it by union, which puts back what another change had rewritten."""
    newest = read("CHANGELOG.md").split("\n## ")[1]
    groups = newest.split("\n### ")
    assert "\n- " not in groups[0]
    names = [group.partition("\n")[0] for group in groups[1:]]
    assert len(names) == len(set(names))
    for name, group in zip(names, groups[1:], strict=True):
        kinds = set(re.findall(r"(?m)^- \*\*(Scores|Ranks) change\*\*", group))
        assert kinds <= {name.partition(" ")[0]}, name
    bullets = re.findall(r"(?m)^- .*$", newest)
    assert len(bullets) == len(set(bullets))
