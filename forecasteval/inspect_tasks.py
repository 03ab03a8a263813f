r"""Datasets as tasks of inspect_ai: any model or agent that inspect_ai can run
can answer them.

    inspect eval forecasteval/inspect_tasks.py@futurex -T dataset=250915 --model
    openai/gpt-4o-mini inspect eval forecasteval/inspect_tasks.py@rxnopt -T
    dataset=multiple_choice_single_varying \
        --model …

A sample contains a prompt and no truth: the scorer looks it up. The metrics are those
that `python eval.py` gives for the converted log. They cover the whole dataset:
questions that failed or were left out count as missing. With several epochs
they are means.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

try:
    from click import ClickException
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import (
        Metric,
        SampleScore,
        Score,
        Scorer,
        Target,
        Value,
        metric,
        scorer,
    )
    from inspect_ai.solver import TaskState
except ImportError as error:
    raise ImportError(
        "forecasteval.inspect_tasks needs inspect-ai: pip install inspect-ai"
    ) from error

HERE: Final = Path(__file__).resolve().parent.parent
# inspect_ai loads this file by its path, and its package may not be installed.
if "forecasteval" not in sys.modules:
    sys.path.insert(0, str(HERE))

from forecasteval.common.errors import (  # noqa: E402
    EvaluationError,
    InputError,
    PendingError,
    printable,
)
from forecasteval.common.files import find_file, hash_file  # noqa: E402
from forecasteval.common.records import JsonObject, load_records  # noqa: E402
from forecasteval.common.statistics import mean  # noqa: E402
from forecasteval.common.version import __version__  # noqa: E402
from forecasteval.futurex.report import explain  # noqa: E402
from forecasteval.futurex.results import AnswerItem, Scoring  # noqa: E402
from forecasteval.futurex.rules import RULE_SETS, summarise  # noqa: E402
from forecasteval.questions.join import is_void  # noqa: E402
from forecasteval.questions.truths import load_questions  # noqa: E402
from forecasteval.rxnopt.build.prompts import find_templates, render_prompts  # noqa: E402
from forecasteval.rxnopt.datasets import METRICS  # noqa: E402
from forecasteval.rxnopt.replies import parse_reply  # noqa: E402
from forecasteval.rxnopt.scoring import RxnOptEvaluator  # noqa: E402
from forecasteval.source.formats import PREDICTION, QUESTION_ID  # noqa: E402

# As eval.py has it
ROOT: Final = HERE if (HERE / "pyproject.toml").is_file() else Path.cwd()
# In a score's metadata, since metrics do not get the epoch
_EPOCH: Final = "forecasteval_epoch"


# --- Tasks ---


@task
def futurex(dataset: str) -> Task:
    """Ask the questions of a FutureX dataset: a name in dataset/, or a path."""
    return _make_task("futurex", dataset)


@task
def rxnopt(dataset: str) -> Task:
    """Ask the questions of an RxnOptBench dataset, with the prompts of
    `rxnopt render`.
    """
    return _make_task("rxnopt", dataset)


def _make_task(benchmark: str, dataset: object) -> Task:
    name = str(dataset)
    questions = _open(benchmark, name)
    metadata = {
        "evaluator": f"{benchmark} {__version__}",
        "dataset_sha256": hash_file(_find(name)),
    }
    return Task(
        dataset=MemoryDataset(list(questions.samples()), name=name),
        scorer=forecasteval_score(benchmark, name),
        metrics=[forecasteval_scores(benchmark, name)],
        metadata=metadata,
    )


@scorer(metrics=[])
def forecasteval_score(benchmark: str, dataset: str) -> Scorer:
    """Score one question, in [0, 1]."""
    questions = _open(benchmark, dataset)

    async def score(state: TaskState, target: Target) -> Score:
        scored = questions.score(str(state.sample_id), state.output.completion)
        metadata = {**(scored.metadata or {}), _EPOCH: state.epoch}
        return scored.model_copy(update={"metadata": metadata})

    return score


@metric(scores="unreduced")
def forecasteval_scores(benchmark: str, dataset: str) -> Metric:
    """Score the whole dataset, by means over the epochs that have any; what has no
    score there is missing.
    """
    questions = _open(benchmark, dataset)

    def compute(scores: list[SampleScore]) -> Value:
        epochs = defaultdict[int, dict[str, Score]](dict)
        for sample in scores:
            epoch = (sample.score.metadata or {})[_EPOCH]
            epochs[epoch][str(sample.sample_id)] = sample.score
        by_epoch = [*epochs.values()] or [{}]
        summaries = [*map(questions.summarise, by_epoch)]
        columns = {key: [summary[key] for summary in summaries] for key in summaries[0]}
        means = {key: mean(column) for key, column in columns.items()}
        # An empty level has none.
        return {key: value for key, value in means.items() if not math.isnan(value)}

    return compute


# --- Benchmarks ---


class FutureX:
    """The questions of a FutureX dataset; where an id repeats, samples are
    called ID, ID#2, …
    """

    def __init__(self, path: Path) -> None:
        self._where = str(path)
        records = [
            record for record in load_questions(path).records if not is_void(record)
        ]
        # Reads every question.
        self._missing = self._score_rows(map(_without_answer, records))
        self._prompts: dict[str, list[str]] = {}  # of an id
        self._questions: dict[str, JsonObject] = {}
        for number, record in enumerate(records, 1):
            given_id, prompt = record.get("id"), record.get("prompt")
            place = f"{path}: record {number}"
            if given_id is None or not isinstance(prompt, str) or not prompt.strip():
                raise InputError(place, "expected a question with 'id' and 'prompt'")
            name = str(given_id)
            prompts = self._prompts.setdefault(name, [])
            if prompt in prompts:
                twice = "a record with this id and prompt already exists"
                raise InputError(place, twice, printable(given_id, 60))
            prompts.append(prompt)
            if len(prompts) > 1:
                name = f"{name}#{len(prompts)}"
            self._questions[name] = record

    def _score_rows(self, rows: Iterable[Any]) -> list[AnswerItem]:
        scoring = Scoring(RULE_SETS["readme"], self._where)
        # A model answers before there are truths
        with contextlib.suppress(PendingError):
            scoring.add_all(rows)
        return scoring.items

    def samples(self) -> Iterator[Sample]:
        """Make a sample of each question, without its truth."""
        for name, question in self._questions.items():
            given_id = str(question["id"])
            metadata = {"level": question["level"]}
            if len(self._prompts[given_id]) > 1:
                metadata[QUESTION_ID] = given_id
            yield Sample(input=question["prompt"], id=name, metadata=metadata)

    def score(self, name: str, reply: str) -> Score:
        """Score a reply to the sample of this name."""
        row = {**self._questions[name], "answer": reply, "prediction": None}
        (item,) = self._score_rows([row])
        metadata = {key: item[key] for key in ("outcome", "kind", "truth", "note")}
        score = item["score"]
        if score is None:
            score = math.nan
        why = explain(item)
        return Score(
            value=score, answer=item["read"], explanation=why, metadata=metadata
        )

    def summarise(self, scores: Mapping[str, Score]) -> dict[str, float]:
        """Score the dataset, of which samples without a score are missing."""
        items = self._missing.copy()
        for index, name in enumerate(self._questions):
            if name not in scores:
                continue
            outcome = (scores[name].metadata or {})["outcome"]
            score = None
            if outcome != "pending":
                score = scores[name].as_float()
            items[index] = {**items[index], "score": score, "outcome": outcome}
        summary = summarise(items)
        levels = {
            f"level_{level}": value for level, value in summary["level_scores"].items()
        }
        keys = ("pending", "missing_count", "unparsed_count")
        counts = {key: float(summary[key]) for key in keys}
        return {"overall_score": summary["overall_score"], **levels, **counts}


class RxnOpt:
    """The questions of a dataset of RxnOptBench."""

    def __init__(self, path: Path) -> None:
        self._evaluator = RxnOptEvaluator(path)  # checks every question
        records = {str(record["id"]): record for record in load_records(path)}
        self._questions = {name: records[name] for name in self._evaluator.ids}
        self._folder = path.parent

    def samples(self) -> Iterator[Sample]:
        """Make a sample of each question, with the prompt of `rxnopt render`."""
        questions = list(self._questions.values())
        for row in render_prompts(questions, find_templates(questions, self._folder)):
            yield Sample(input=row["prompt"], id=row["id"])

    def score(self, name: str, reply: str) -> Score:
        """Score a reply to the sample of this name."""
        index, note = parse_reply(reply)
        evaluator = RxnOptEvaluator([self._questions[name]])
        (item,) = evaluator.evaluate_all({name: index})["items"]
        metadata = {"outcome": item["outcome"], PREDICTION: index}
        why = note or item["note"] or None
        return Score(
            value=item["score"],
            answer=item["answer"],
            explanation=why,
            metadata=metadata,
        )

    def summarise(self, scores: Mapping[str, Score]) -> dict[str, float]:
        """Score the dataset, of which samples without a score are missing."""
        selected = {
            name: (score.metadata or {})[PREDICTION] for name, score in scores.items()
        }
        summary = self._evaluator.evaluate_all(selected)
        return {key: float(summary[key]) for key in (*METRICS, "missing", "illegal")}


_BENCHMARKS: Final[Mapping[str, type[FutureX] | type[RxnOpt]]] = {
    "futurex": FutureX,
    "rxnopt": RxnOpt,
}


def _without_answer(record: object) -> object:
    if isinstance(record, Mapping):
        return {**record, "answer": None}
    return record


def _open(benchmark: str, dataset: object) -> FutureX | RxnOpt:
    try:
        # -T dataset=250915 is a number, and so is that of -S
        path = _find(str(dataset))
        return _BENCHMARKS[benchmark](path)
    except EvaluationError as error:
        # The command line of inspect_ai is click's, which prints the line and
        # no traceback.
        raise ClickException(str(error)) from None


def _find(dataset: str) -> Path:
    """Find the file that a name or path means; inspect_ai makes the folder of this file
    the current one.
    """
    if "/" in dataset:
        dataset = str(ROOT / dataset)
    return find_file(dataset, ROOT / "dataset")
