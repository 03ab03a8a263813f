"""A benchmark of another package: the one of docs/own.md, installed in a folder of its own."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cli import ROOT, Done, assert_refused, box, q, read_json, run, warning, write
from forecasteval import custom
from forecasteval.benchmark import list_benchmarks
from html_page import check_page
from llm_server import LlmServer, completion
from pages import read, read_blocks

BLOCKS: Final = read_blocks(read("docs/own.md"))
CODE: Final = next(block.text for block in BLOCKS if block.language == "python")
PROJECT: Final = tomllib.loads(
    next(block.text for block in BLOCKS if block.text.startswith("[project]"))
)
FILES: Final = {block.file: block.text for block in BLOCKS if block.file}
QUESTIONS: Final = [
    {"id": "rain", "value": 12.5, "scale": 20},
    {"id": "wind", "value": 31, "scale": 20},
    {"value": 5, "scale": 20},
]


def make_wheel(folder: Path) -> Path:
    """A wheel of the package on the page, by its pyproject.toml."""
    name, version = PROJECT["project"]["name"], PROJECT["project"]["version"]
    (module,) = PROJECT["tool"]["setuptools"]["py-modules"]
    ((group, points),) = PROJECT["project"]["entry-points"].items()
    entries = [f"{key} = {value}\n" for key, value in points.items()]
    info = f"{name}-{version}.dist-info"
    files = {
        f"{module}.py": CODE,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[{group}]\n{''.join(entries)}",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)
    return path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the package, without a network."""
    folder = tmp_path_factory.mktemp("own")
    words = ["install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--target", folder / "site", make_wheel(folder)],
        check=True,
    )
    return folder / "site"


def declare(folder: Path, text: str, points: dict[str, str]) -> Path:
    """A package as pip leaves it, with a module `other` of this text."""
    lines = [f"{key} = {value}\n" for key, value in points.items()]
    entry = f"[forecasteval.benchmarks]\n{''.join(lines)}"
    info = "other-1.dist-info"
    metadata = "Metadata-Version: 2.1\nName: other\nVersion: 1\n"
    files = {"other.py": text, f"{info}/METADATA": metadata, f"{info}/entry_points.txt": entry}
    return write(folder / "other-site", files)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes this process see the packages of a folder, until the end of the test."""
    list_benchmarks.cache_clear()
    yield lambda folder: monkeypatch.syspath_prepend(str(folder))
    list_benchmarks.cache_clear()
    for name in ("crps", "other"):
        sys.modules.pop(name, None)


def run_installed(site: Path, root: Path, *words: str, **env: str) -> Done:
    """`python -m forecasteval`, in a folder that is no checkout."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "forecasteval", *words],
        cwd=root,
        env={**os.environ, **env, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_every_command_takes_it(site: Path, tmp_path: Path) -> None:
    vague = {"prediction/w1-vague.json": {"rain": [0, 60], "wind": [5]}}
    root = write(tmp_path, {**FILES, **vague})
    done = run_installed(site, root, "-f", "w1-sharp", "--items", "--html")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == ["CRPS  w1-sharp", "2 questions, dataset w1.json"]
    assert [line.split()[0] for line in lines if "mean" in line] == ["rain", "wind"]
    check_page((root / "evaluation/w1-sharp.html").read_text("utf-8"))
    done = run_installed(site, root, "nightly", "--html", "--jobs", "2")
    assert (done.code, done.err) == (0, "")
    assert "Leaderboard  CRPS, w1.json, 2 questions" in done.out
    assert (root / "evaluation/w1-vague.html").is_file()
    again = run_installed(site, root, "nightly")
    assert again.out.splitlines()[-1] == "0 files scored, 2 unchanged, 0 failed"
    done = run_installed(site, root, "compare", "w1-sharp", "w1-vague")
    assert (done.code, done.err) == (0, "")
    assert "Questions that A wins/ties/loses." in done.out
    assert "level" not in done.out.lower()
    assert run_installed(site, root, "-f", "w1-vague", "--fail-under", "-0.01").code == 6


def test_a_model_is_asked_its_questions(site: Path, tmp_path: Path, server: LlmServer) -> None:
    server.script = lambda request: completion("Between [0, 99], so [11, 13, 12.5].")
    root = write(tmp_path, FILES)
    environment = {"OPENAI_BASE_URL": server.url}
    done = run_installed(site, root, "ask", "w1", "--model", "m", **environment)
    assert (done.code, done.out.split("\n")[0]) == (0, "CRPS  w1-m"), done.err
    assert "value" not in str([request.body for request in server.requests])
    assert run_installed(site, root, "-f", "w1-m").out == done.out
    items = run_installed(site, root, "-f", "w1-m", "--items").out
    assert "mean 12.1667 against 12.5" in items


def test_prompts_of_its_own(
    here: Any, tmp_path: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `Prompt.read` makes of a reply is a field of its row."""
    more = """
from forecasteval.custom import Prompt
def list_prompts(dataset, system, market):
    for question in json.loads(dataset.read_text()):
        name = question["id"]
        yield Prompt(f"{name}?", {"id": name}, read=lambda reply: ({"n": 1}, ""))
ASKING = BENCHMARK._replace(list_prompts=list_prompts)
"""
    here(declare(tmp_path, CODE + more, {"a": "other:ASKING"}))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.script = lambda request: completion("[11]")
    root = write(tmp_path, {"dataset/w1.json": QUESTIONS[:2]})
    assert run(root, "ask", "w1", "--model", "m").code == 0
    assert {request.prompt for request in server.requests} == {"rain?", "wind?"}
    rows = (root / "prediction/w1-m.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["n"] for row in rows] == [1, 1]


def test_the_page_shows_code_whose_types_are_checked() -> None:
    """mypy checks the file of the tests, strictly."""
    assert (ROOT / "tests" / "crps_wing.py").read_text("utf-8") == CODE
    settings = tomllib.loads(read("pyproject.toml"))["tool"]["mypy"]
    assert "tests/crps_wing.py" in settings["files"]
    assert settings["strict"]


def test_rows_that_do_not_fit_are_named(site: Path, here: Any, tmp_path: Path) -> None:
    here(site)
    answers = [
        {"id": "rain", "answer": "about 12"},
        {"id": "wind", "answer": [1.0]},
        {"id": "wind", "prediction": [2.0]},
        {"id": "snow", "answer": [1]},
        {"answer": [5]},
    ]
    root = write(tmp_path, {"dataset/w1.json": QUESTIONS, "prediction/w1-odd.json": answers})
    results = run(root, "-f", "w1-odd", "--json").json
    assert [item["outcome"] for item in results["items"]] == ["unparsed", "missing", "missing"]
    assert results["overall_score"] == -1
    warning(results, "record without id", "record 3")
    warning(results, "prediction without id", "record 5")
    warning(results, "ambiguous prediction, counted as missing", "wind")
    warning(results, "prediction without a question", "snow")
    assert len(results["warnings"]) == 4
    assert run(root, "nightly").code == 0
    stored = read_json(root / "evaluation/w1-odd.json")
    assert stored["items"] == results["items"]


@pytest.mark.parametrize(
    ("dataset", "prediction", "words"),
    [
        ([{**QUESTIONS[0], "value": "wet"}], {"rain": [1]}, ["question rain", "'value'"]),
        (QUESTIONS, {"snow": [1]}, ["w1-a.json", "expected predictions for this dataset", "snow"]),
        ([*QUESTIONS, 5], {"rain": [1]}, ["w1.json: record 4", "expected an object, got int"]),
    ],
)
def test_files_that_cannot_be_scored(
    site: Path, here: Any, tmp_path: Path, dataset: Any, prediction: Any, words: list[str]
) -> None:
    here(site)
    root = write(tmp_path, {"dataset/w1.json": dataset, "prediction/w1-a.json": prediction})
    assert_refused(run(root, "-f", "w1-a"), *words)


# --- Files in other forms, truths beside, and questions without a truth ---


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        ([{"id": "rain", "response": [11, 13]}, {"id": "wind", "response": [30]}], ["response"]),
        ({}, ["no id of the questions"]),
        ([[11], [30]], ["no id of the questions"]),
        ([{"run": 1, "answer": [11]}, {"run": 2, "answer": [30]}], ["no id of the questions"]),
        (
            [{"id": q, "model": m, "answer": [n]} for q in ("rain", "wind")
             for n, m in enumerate("ab")],
            ["expected one answer to a question", "systems: model (a, b)", "--system model"],
        ),
    ],
)  # fmt: skip
def test_files_that_hold_no_answers_by_id(
    site: Path, here: Any, tmp_path: Path, prediction: Any, words: list[str]
) -> None:
    here(site)
    root = write(tmp_path, {**FILES, "prediction/w1-a.json": prediction})
    assert_refused(run(root, "-f", "w1-a"), "w1-a.json", *words)
    assert run(root, "nightly").code == 3


def test_an_id_with_two_answers_in_one_object(site: Path, here: Any, tmp_path: Path) -> None:
    here(site)
    text = '{"rain": [0, 60], "rain": [12, 13], "wind": [30, 31]}'
    results = run(write(tmp_path, {**FILES, "prediction/w1-a.json": text}), "-f", "w1-a", "--json")
    assert [item["outcome"] for item in results.json["items"]] == ["missing", "scored"]
    warning(results.json, "ambiguous prediction, counted as missing", "rain")


TRUTHS: Final = f"""{CODE.replace("bounds = (", 'truth = "value"; bounds = (', 1)}
from forecasteval.custom import check_answers, check_dataset
CHECKED = BENCHMARK._replace(check=check_dataset, check_answers=check_answers)
"""


def test_truths_beside_a_dataset(here: Any, tmp_path: Path) -> None:
    """Without a truth a question is pending; a void one is in nothing."""
    here(declare(tmp_path, TRUTHS, {"a": "other:CHECKED"}))
    questions = [{**row, "value": None} for row in QUESTIONS[:2]]
    questions.append({"id": "snow", "value": 1, "scale": 2, "void": True})
    answers = {"rain": [12.5], "wind": [31], "snow": [9]}
    root = write(tmp_path, {"dataset/w1.json": questions, "prediction/w1-a.json": answers})
    assert_refused(run(root, "-f", "w1-a"), "w1.json: no truth yet: 2 questions, all pending")
    write(root, {"dataset/w1.truths.csv": "id,ground_truth\nrain,12.5\n"})
    done = run(root, "-f", "w1-a", "--items", "--html")
    assert "3 questions" not in done.out
    assert "2 questions, 1 resolved, 1 pending, 1 void besides" in done.out
    results = run(root, "-f", "w1-a", "--json").json
    assert (results["overall_score"], results["pending"], results["void"]) == (0, 1, 1)
    before = {item["id"]: item["question"] for item in results["items"]}
    assert run(root, "nightly", "--html").code == 0
    write(root, {"dataset/w1.truths.csv": "id,ground_truth\nrain,12.5\nwind,41\n"})
    results = run(root, "-f", "w1-a", "--json").json
    assert {item["id"]: item["question"] for item in results["items"]} == before
    assert (results["overall_score"], results.get("pending")) == (-0.25, None)
    assert "other questions" not in run(root, "nightly").out


def test_a_check_of_ones_own(here: Any, tmp_path: Path) -> None:
    here(declare(tmp_path, TRUTHS, {"a": "other:CHECKED"}))
    odd = [*QUESTIONS, QUESTIONS[0], {"id": "fog", "value": 1, "scale": 2, "closes": "soon"}]
    answers = [{"id": "rain", "answer": [1]}, {"id": "hail", "answer": [1]}]
    root = write(tmp_path, {"dataset/w1.json": odd, "prediction/w1-a.json": answers})
    done = run(root, "check", "w1")
    assert done.code == 4
    for told in ("record without id: 1", "id used more than once: 1", "'closes' must be a time"):
        assert told in done.out
    done = run(root, "check", "w1-a")
    assert "1 read, 2 missing, 1 unknown" in done.out


OTHER: Final = CODE + "\nTEXT = 'no benchmark'\nCLASH = BENCHMARK._replace(name='FutureX')\n"


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ({"gone": "nowhere:BENCHMARK"}, ["gone", "nowhere:BENCHMARK", "ModuleNotFoundError"]),
        ({"gone": "other:MISSING"}, ["gone", "AttributeError"]),
        ({"text": "other:TEXT"}, ["text", "expected a forecasteval.benchmark.Benchmark"]),
        ({"clash": "other:CLASH"}, ["FutureX", "another name"]),
        ({"a": "other:BENCHMARK", "b": "other:SECOND"}, ["entry point b", "another name", "CRPS"]),
        ({"a": "broken:BENCHMARK"}, ["entry point a", "ZeroDivisionError"]),
    ],
)
def test_a_package_that_is_wrong_costs_a_line(
    here: Any, tmp_path: Path, points: dict[str, str], words: list[str]
) -> None:
    more = "SECOND = BENCHMARK._replace(options=())\n"
    folder = declare(tmp_path, OTHER + more, points)
    write(folder, {"broken.py": "1 / 0\n"})
    here(folder)
    write(tmp_path, {"prediction/250915-random.json": [q(answer=box("A"))]})
    done = run(tmp_path)
    (line,) = done.err.splitlines()
    assert done.code == 0
    assert all(word in line for word in words), line


def test_an_option_that_another_has_is_refused(here: Any, tmp_path: Path) -> None:
    more = "from forecasteval.custom import Option\n"
    more += "TAKEN = BENCHMARK._replace(options=(Option('--json', 'x'),))\n"
    here(declare(tmp_path, OTHER + more, {"option": "other:TAKEN"}))
    assert_refused(run(tmp_path), "benchmark CRPS", "--json")


SECOND: Final = CODE.replace("CRPS", "Second").replace('"scale"', '"width"')


def test_two_packages_and_one_that_fails(site: Path, here: Any, tmp_path: Path) -> None:
    """What a package does wrong while it scores costs its file, in one line, and no other."""
    broken = SECOND.replace("mean = f", "samples[len(samples)]\n        mean = f")
    here(site)
    here(declare(tmp_path, broken, {"other": "other:BENCHMARK"}))
    second = [{"id": "rain", "value": 3, "width": 2}]
    files = {"dataset/m1.json": second, "prediction/m1-a.json": {"rain": [3, 4]}}
    root = write(tmp_path, {**FILES, **files})
    done = run(root, "-f", "w1-sharp", "-f", "m1-a")
    assert (done.code, done.out.splitlines()[0]) == (3, "CRPS  w1-sharp")
    (line,) = done.err.splitlines()
    for word in ("Second, question rain", "score_answer failed", "other.py, line", "IndexError"):
        assert word in line
    done = run(root, "nightly")
    assert done.code == 3
    assert "CRPS, w1.json, 2 questions" in done.out or "CRPS, one system" in done.out
    assert "IndexError" in done.err + done.out


@pytest.mark.parametrize(
    "value", ["Score(1.5)", "0.5", "None", 'Score("1")', "Score(math.nan)", "Score(-math.inf)"]
)
def test_what_is_no_score_costs_a_line(here: Any, tmp_path: Path, value: str) -> None:
    """Nor is a score that is not between the bounds."""
    broken = OTHER.replace("return Score(score, read=mean,", f"return {value}  # ")
    assert broken != OTHER
    here(declare(tmp_path, broken, {"other": "other:BENCHMARK"}))
    done = run(write(tmp_path, FILES), "-f", "w1-sharp")
    (line,) = done.err.splitlines()
    assert done.code == 2
    assert "question rain: score_answer: expected Unread, or a Score from -1 to 0, got " in line


def test_two_packages_have_their_own_boards(site: Path, here: Any, tmp_path: Path) -> None:
    here(site)
    here(declare(tmp_path, SECOND, {"other": "other:BENCHMARK"}))
    second = [{"id": "rain", "value": 3, "width": 2}]
    files = {"dataset/m1.json": second, "prediction/m1-a.json": {"rain": [3, 4]}}
    done = run(write(tmp_path, {**FILES, **files}), "nightly", "--html")
    assert (done.code, done.err) == (0, "")
    assert "Leaderboard  CRPS, one system" in done.out
    assert "Leaderboard  Second, one system" in done.out


def test_check_says_that_the_benchmark_has_none(site: Path, here: Any, tmp_path: Path) -> None:
    here(site)
    root = write(tmp_path, FILES)
    expected = "expected a file of a benchmark that has a check, got CRPS"
    assert_refused(run(root, "check", "w1"), "w1.json", expected)
    assert_refused(run(root, "check", "w1-sharp"), "w1-sharp.json", expected)


def test_a_question_without_an_id_is_shown(site: Path, here: Any, tmp_path: Path) -> None:
    here(site)
    root = write(tmp_path, {**FILES, "dataset/w1.json": QUESTIONS})
    done = run(root, "-f", "w1-sharp", "--items", "--html")
    assert "(no id)  -1.0000  missing" in done.out
    page = (root / "evaluation/w1-sharp.html").read_text("utf-8")
    check_page(page)
    assert "(no id)" in page
    assert "None" not in page


def test_rows_of_a_benchmark_that_is_gone_stay(
    site: Path, monkeypatch: pytest.MonkeyPatch, here: Any, tmp_path: Path
) -> None:
    root = write(tmp_path, FILES)
    with monkeypatch.context() as installed:
        installed.syspath_prepend(str(site))
        assert run(root, "nightly").code == 0
    list_benchmarks.cache_clear()
    done = run(root, "nightly")
    assert (done.code, "Leaderboard  CRPS, one system" in done.out) == (0, True)


def test_the_old_name_of_the_module_still_works_and_warns() -> None:
    sys.modules.pop("forecasteval.plain", None)
    with pytest.warns(DeprecationWarning, match=r"forecasteval\.custom .*QuestionEvaluator"):
        plain = importlib.import_module("forecasteval.plain")
    assert plain.PlainEvaluator is custom.QuestionEvaluator
    old_names = {*plain.__all__} - {"PlainEvaluator"}
    assert old_names <= {*custom.__all__}
    assert all(getattr(plain, name) is getattr(custom, name) for name in old_names)
