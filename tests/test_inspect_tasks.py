"""The tasks of inspect_ai: their metrics are our scores of the converted log, and no model sees a
truth.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli import ROOT, import_extra, read_json, run, write
from conversions import convert
from forecasteval.common.statistics import mean
from forecasteval.rxnopt.build.prompts import find_templates, render_prompts

inspect_tasks = import_extra("forecasteval.inspect_tasks")
pytestmark = pytest.mark.extra("inspect_ai")
QUESTIONS = [
    {"id": "q1", "level": 3, "prompt": "Who wins?", "ground_truth": "Zanzibar", "Std": None},
    {
        "id": "q2",
        "level": 4,
        "prompt": "Which two?",
        "ground_truth": "['Quillon', 'Vexmoor']",
        "Std": None,
    },
    {"id": "q3", "level": 4, "prompt": "How many?", "ground_truth": "8127.25", "Std": 2},
    {"id": "q3", "level": 1, "prompt": "Will it?", "ground_truth": "Yes", "Std": None},
]


def ask(root: Path, *runs: dict[str, Any]) -> list[dict[str, Any]]:
    """What `ask_inspect.py` tells of runs."""
    command = [sys.executable, ROOT / "tests" / "ask_inspect.py", root, json.dumps(runs)]
    environment = {**os.environ, "XDG_DATA_HOME": str(root)}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def results_of(told: dict[str, Any], root: Path, name: str) -> list[dict[str, Any]]:
    """What eval.py makes of a log: the results of its runs."""
    folder = Path(told["log"]).with_suffix("")
    done = convert(told["log"], "-o", folder / f"{name}-x.json")
    assert done.code == 0, done.err
    return [run(root, "-f", str(path), "--json").json for path in sorted(folder.iterdir())]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dataset of its own, in which the tasks find theirs."""
    monkeypatch.setattr(inspect_tasks, "ROOT", tmp_path)
    return write(tmp_path, {"dataset/d.json": QUESTIONS})


def test_a_dataset_whose_name_is_a_number(root: Path) -> None:
    """What inspect_ai makes of `-T dataset=250915`, and of `-S`."""
    write(root, {"dataset/250915.json": QUESTIONS})
    number: Any = 250915
    assert inspect_tasks.futurex(number).dataset.name == "250915"
    assert callable(inspect_tasks.forecasteval_score("futurex", number))


def test_the_scores_of_a_log_are_those_of_eval(root: Path) -> None:
    """Of epochs the means, of failures and of what was not asked 0. All in one process, whose start
    costs most.
    """
    kinds, reactions = "250915", "multiple_choice_single_varying"
    for name, step in ((kinds, 2), (reactions, 1)):
        write(root, {f"dataset/{name}.json": read_json(ROOT / "dataset" / f"{name}.json")[::step]})
    futurex = {"task": "futurex", "dataset": kinds, "reply": "draw"}
    rxnopt = {"task": "rxnopt", "dataset": reactions, "reply": "draw"}
    own = {"task": "futurex", "dataset": "d"}
    once, thrice, picked, twice, limited, second, repeated, failed = ask(
        root,
        futurex,
        {**futurex, "epochs": 3, "log_format": "json"},
        rxnopt,
        {**rxnopt, "epochs": 2},
        {**own, "reply": "fail_the_second_time", "limit": 2},
        {**own, "reply": "fail_the_second_time", "epochs": 2},
        {**own, "reply": "know_numbers"},
        {**own, "reply": "fail"},
    )
    check_futurex(once, results_of(once, root, kinds), 1)
    check_futurex(thrice, results_of(thrice, root, kinds), 3)
    check_rxnopt(picked, results_of(picked, root, reactions), 1)
    check_rxnopt(twice, results_of(twice, root, reactions), 2)

    (results,) = results_of(limited, root, "d")
    assert len(limited["sent"]) == 2
    assert (
        limited["metrics"]["overall_score"] == results["overall_score"] == pytest.approx(0.3 / 0.8)
    )
    assert limited["metrics"]["missing_count"] == results["missing_count"] == 2

    assert (
        second["metrics"]["level_3"] == 0.5
    )  # inspect_ai's own mean would be 1, of the epoch that is left
    assert second["metrics"]["missing_count"] == 0.5

    (results,) = results_of(repeated, root, "d")
    assert [item["score"] for item in results["items"]] == [0, 0, 1, 0]  # two questions have one id
    assert repeated["metrics"]["overall_score"] == results["overall_score"]

    assert failed["metrics"] is None
    for told in (failed, repeated):
        check_that_no_truth_was_seen(told)


def check_futurex(told: dict[str, Any], results: list[dict[str, Any]], epochs: int) -> None:
    metrics = told["metrics"]
    assert len(results) == epochs
    assert metrics["overall_score"] == mean([one["overall_score"] for one in results]) > 0
    for level in "1234":
        assert metrics[f"level_{level}"] == mean([one["level_scores"][level] for one in results])
    for count in ("missing_count", "unparsed_count"):
        assert metrics[count] == mean([one[count] for one in results]) > 0
    assert any(sample.get("error") for sample in told["samples"])
    if epochs == 1:
        assert len(told["scores"]) > 9
        assert (
            told["scores"].items()
            <= {item["id"]: item["score"] for item in results[0]["items"]}.items()
        )


def check_rxnopt(told: dict[str, Any], results: list[dict[str, Any]], epochs: int) -> None:
    assert len(results) == epochs
    for key in (
        "avg_relative_score",
        "exact_match_accuracy",
        "avg_yield_ratio",
        "missing",
        "illegal",
    ):
        assert told["metrics"][key] == mean([one[key] for one in results]) > 0
    if epochs == 1:
        assert (
            told["scores"].items()
            <= {item["id"]: item["score"] for item in results[0]["items"]}.items()
        )


def check_that_no_truth_was_seen(told: dict[str, Any]) -> None:
    """The model was sent the prompt and nothing else, and a sample holds no truth besides its
    scores.
    """
    assert sorted(told["sent"]) == sorted([str(question["prompt"])] for question in QUESTIONS)
    known = (
        ("Zanzibar", "Quillon") if told["metrics"] else ("Zanzibar", "Quillon", "8127")
    )  # the model says 8127.25
    assert not any(truth in json.dumps(told["samples"]) for truth in known)
    assert {sample["target"] for sample in told["samples"]} == {""}


def test_rxnopt_is_asked_as_render_asks(tmp_path: Path) -> None:
    questions = read_json(ROOT / "dataset" / "multiple_choice_all_varying_reference.json")
    prompts = [
        row["prompt"] for row in render_prompts(questions, find_templates(questions, tmp_path))
    ]
    dataset = inspect_tasks.rxnopt("multiple_choice_all_varying_reference").dataset
    assert [sample.input for sample in dataset] == prompts
    assert all((sample.target, sample.metadata) == ("", None) for sample in dataset)


# --- Refusals ---


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ([{**QUESTIONS[0], "prompt": ""}], "record 1: expected a question with 'id' and 'prompt'"),
        ([{**QUESTIONS[0], "id": None}], "record 1: expected a question with 'id' and 'prompt'"),
        (
            [QUESTIONS[0], QUESTIONS[0]],
            "record 2: a record with this id and prompt already exists, got q1",
        ),
        ([{**QUESTIONS[0], "level": 9}], "'level' must be 1–4"),
        (["x"], "record 1: expected an object"),
    ],
)
def test_a_dataset_that_cannot_be_asked(questions: list[Any], words: str, root: Path) -> None:
    write(root, {"dataset/bad.json": questions})
    with pytest.raises(inspect_tasks.ClickException) as error:
        inspect_tasks.futurex("bad")
    assert words in str(error.value.message)


def test_a_dataset_is_a_name_or_a_path(root: Path) -> None:
    assert (
        len(inspect_tasks.futurex("dataset/d.json").dataset)
        == len(inspect_tasks.futurex("d").dataset)
        == 4
    )
    write(root, {"dataset/250915.json": QUESTIONS})
    assert len(inspect_tasks.futurex(250915).dataset) == 4  # what -T dataset=250915 gives
    with pytest.raises(inspect_tasks.ClickException) as error:
        inspect_tasks.rxnopt("no[/]thing")
    assert "no[/]thing: no such file" in str(error.value.message)


def test_without_inspect_ai() -> None:
    code = "import sys; sys.modules['inspect_ai'] = None; import forecasteval.inspect_tasks"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert (
        last == "ImportError: forecasteval.inspect_tasks needs inspect-ai: pip install inspect-ai"
    )


# --- The command line of inspect_ai ---

SOLVER = """
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver

@solver
def guess():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("guess", r"Perhaps \\boxed{Yes}")
        return state
    return solve
"""


def inspect_eval(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`inspect eval forecasteval/inspect_tasks.py@futurex` from the checkout, as the docs have
    it.
    """
    task = [
        "forecasteval/inspect_tasks.py@futurex",
        *options,
        "--model",
        "mockllm/model",
        "--display",
        "plain",
    ]
    command = [sys.executable, "-c", "from inspect_ai._cli.main import main; main()", "eval", *task]
    environment = {
        **os.environ,
        "INSPECT_LOG_DIR": str(folder / "logs"),
        "XDG_DATA_HOME": str(folder),
    }
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_inspect_eval_finds_the_task_in_a_checkout(tmp_path: Path) -> None:
    write(tmp_path, {"guess.py": SOLVER})
    done = inspect_eval(
        tmp_path,
        "-T",
        "dataset=250915",
        "--limit",
        "5",
        "--solver",
        str(tmp_path / "guess.py@guess"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (tmp_path / "logs").iterdir()
    assert convert(log, "-o", tmp_path / "x.json").code == 0
    results = run(ROOT, "-f", str(tmp_path / "x.json"), "--dataset", "250915", "--json").json
    assert results["missing_count"] == 47
    assert f"overall_score       {results['overall_score']:.3f}" in done.stdout


def test_a_model_answers_before_there_are_truths(root: Path) -> None:
    pending = [{**QUESTIONS[0], "ground_truth": None}, {**QUESTIONS[1], "void": True}]
    write(root, {"dataset/p.json": pending, "dataset/half.json": [*pending, QUESTIONS[3]]})
    questions = inspect_tasks.FutureX(root / "dataset/p.json")
    assert [sample.id for sample in questions.samples()] == ["q1"]
    score = questions.score("q1", r"\boxed{Zanzibar}")
    assert score.value != score.value  # nan: inspect_ai counts it as unscored
    assert score.metadata["outcome"] == "pending"
    half = inspect_tasks.FutureX(root / "dataset/half.json")
    made = half.summarise({"q1": score, "q3": half.score("q3", "Yes")})
    assert (made["overall_score"], made["pending"], made["missing_count"]) == (1.0, 1.0, 0.0)
