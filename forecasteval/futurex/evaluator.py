"""`FutureXEvaluator`: questions with answers in, results out."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.benchmark import Evaluator, Files
from forecasteval.common.errors import InputError, RecordNotes
from forecasteval.common.records import is_null, number_text
from forecasteval.common.version import __version__
from forecasteval.display.results import Results
from forecasteval.questions.join import (
    AnsweredQuestions,
    join_answers,
    load_answered,
    require_questions,
)

from .questions import FIELDS
from .report import explain, report_blocks
from .results import Scoring
from .rules import (
    LLM_POLICIES,
    MISSING_POLICIES,
    PADDING_POLICIES,
    RULE_SETS,
    WEIGHTS,
    summarise,
)

if TYPE_CHECKING:
    from forecasteval.display.html import Page

    from .llm import ModelReader

DEFAULT_MODEL: Final = "gpt-4o-mini"
# The part of a signature that a language model has.
MODEL_SETTINGS: Final = (
    "llm_model",
    "llm_server",
    "llm_policy",
    "llm_prompt",
    "llm_names",
)


class FutureXEvaluator(Evaluator[AnsweredQuestions, Scoring]):
    """Scores FutureX predictions; one evaluator serves any number of files.

    rules: a rule set, "readme" (default), "official-2026", "official-2026-09" or
        "paper"; the next
    two go with readme. missing: "zero" scores a missing answer 0, "skip" leaves it out
    of the means. relative_sigma: sigma as a share of |truth| for numbers without Std;
    None asks for equality there. padding: "cut" counts only as many names of a list as
    are asked for. loose: numbers are also read of prose that states nothing.

    With an `api_key`, a language model (`model` at `base_url`, or OPENAI_BASE_URL, or
    OpenAI) reads numbers: with llm_policy "unsure" those that the grammar cannot
    settle, with "always" all of them. With `llm_names` it also matches names that the
    rules leave; this sends it true names. At most `workers` calls run at a time. The
    SQLite file `cache` keeps replies (none by default). The calls of a run end after
    `deadline` seconds; a run is a call of evaluate_all, or with `one_run` all that the
    evaluator does.
    """

    benchmark = "FutureX"
    report = staticmethod(report_blocks)
    explain = staticmethod(explain)
    one_run = False

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        missing: str | None = None,
        relative_sigma: float | None = None,
        rules: str = "readme",
        model: str = DEFAULT_MODEL,
        llm_policy: str = "unsure",
        llm_names: bool = False,
        workers: int = 8,
        cache: str | Path | None = None,
        deadline: float = 900.0,
        max_tokens: int | None = None,
        dry_run: bool = False,
        padding: str = "keep",
        loose: bool = False,
    ) -> None:
        _require_known("rules", rules, RULE_SETS)
        _require_known("missing", missing, (None, *MISSING_POLICIES))
        _require_known("llm_policy", llm_policy, LLM_POLICIES)
        _require_known("padding", padding, PADDING_POLICIES)
        if relative_sigma is not None and not (
            number_text(relative_sigma) and relative_sigma > 0
        ):
            raise InputError(
                "relative_sigma", "must be a positive number", repr(relative_sigma)
            )
        if llm_names and not api_key:
            raise InputError(
                "llm_names", "needs a language model: expected an api_key", "none"
            )
        given: dict[str, Any] = {}
        if missing is not None:
            given["missing"] = missing
        if relative_sigma is not None:
            given["relative_sigma"] = relative_sigma
        if given and rules != "readme":
            problem = f"settled by the rule set {rules}: can only be given with readme"
            raise InputError(", ".join(given), problem)
        self.rule_set = rules
        self.rules = RULE_SETS[rules]._replace(**given, padding=padding, loose=loose)
        self._reader: ModelReader | None = None
        if api_key:
            from forecasteval.common.llm import MAX_TOKENS, ModelClient
            from forecasteval.common.server import DEFAULT_SERVER

            from .llm import ModelReader

            server = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_SERVER
            limit = max_tokens or MAX_TOKENS
            client = ModelClient(
                api_key, server, model, workers, cache, deadline, limit, dry_run
            )
            self._reader = ModelReader(client, llm_policy, llm_names)

    def evaluate_prediction(
        self, answer: object, question: Mapping[str, object]
    ) -> float:
        """Return the score of one answer to one question of the dataset, in [0, 1];
        missing and unparsed score 0.

        Raises InputError if the question has no usable level, truth or Std.
        """
        record = {**question, "answer": answer, "prediction": None}
        (item,) = self.score(
            AnsweredQuestions("question", _records([record]), FIELDS)
        ).items
        return float(item["score"] or 0)

    def evaluate_all(
        self,
        data: Iterable[Mapping[str, object]],
        questions: Iterable[Mapping[str, object]] | None = None,
    ) -> Results:
        """Score questions that carry "answer" (or "prediction"), or answers to
        `questions`, joined by id; docs/python.md explains the keys of the
        result, a dict.

        overall_score = Σ w·mean over the levels that have questions, w renormalised; a
        level without questions is nan. Intervals:
        `common.statistics.stratified_interval`. Both may be a pandas DataFrame. Raises
        InputError if a record cannot be scored at all.
        """
        records, notes = _records(data), RecordNotes()
        if questions is not None:
            records, notes = join_answers(
                list(_records(questions)), records, "data", FIELDS
            )
        elif isinstance(records, list):
            hint = "pass them as the second argument"
            require_questions(records, "data", hint, FIELDS)
        return self.evaluate(AnsweredQuestions("data", records, FIELDS, notes=notes))

    def read(self, files: Files) -> AnsweredQuestions:
        """Read the questions of a dataset with the answers of a prediction file, or a
        file that has both.
        """
        if len(files.datasets) > 1:
            raise InputError(
                "--dataset", "several need RxnOptBench questions", self.benchmark
            )
        answered = load_answered(files.path, files.dataset, FIELDS, files.any_form)
        return replace(answered, late=files.late)

    def score(self, data: AnsweredQuestions) -> Scoring:
        """Compute an item per question, reviewed by the language model
        if there is one.
        """
        scoring = Scoring(self.rules, data.where, bool(self._reader), data.late)
        scoring.add_all(data.take_records())
        if self._reader:
            if not self.one_run:
                self._reader.client.begin()
            scoring.model = self._reader.decide(scoring.answered, scoring.items)
        return scoring

    def summarise(self, scores: Scoring, data: AnsweredQuestions) -> dict[str, object]:
        """Compute the scores by level and over all levels; docs/python.md
        explains the keys.
        """
        more: dict[str, object] = {}
        if data.damaged:
            more["damaged_lines"] = data.damaged
        if data.truths:
            more["truths"] = data.truths
        if self._reader and self._reader.client.dry_run:
            more["planned"] = self._reader.describe_planned()
        return {
            **summarise(scores.items, self.rules.renormalised),
            "no_sigma_count": scores.no_sigma_count,
            "void": len(scores.void),
            "void_ids": scores.void,
            "llm": scores.model[0],
            "llm_names": scores.model[1],
            **more,
            "warnings": scores.notes.lines() + scores.model[2],
            "signature": scores.checksums(),
            "items": scores.items,
        }

    def page(self, results: Results, data: AnsweredQuestions) -> Page:
        """Make the page of a result."""
        from .page import make_page  # here: few commands ask for it

        return make_page(results, data.read_again, self.rules)

    def settings(self) -> dict[str, object]:
        """Return the part of a signature that does not depend on the data."""
        settings: dict[str, object] = dict.fromkeys(MODEL_SETTINGS)
        if self._reader:
            settings = self._reader.settings()
        rules = self.rules
        return {
            "evaluator": f"FutureX {__version__}",
            "weights": dict(WEIGHTS),
            "rules": self.rule_set,
            "fixed_weights": None if rules.renormalised else True,
            "missing": rules.missing,
            "relative_sigma": rules.relative_sigma,
            "padding": None if rules.padding == "keep" else rules.padding,
            "loose": rules.loose or None,
            **settings,
        }


def _require_known(name: str, value: str | None, known: Collection[str | None]) -> None:
    if value not in known:
        expected = ", ".join(filter(None, known))
        raise InputError(name, f"must be one of {expected}", repr(value))


def _records(data: Any) -> Iterable[Mapping[str, object]]:
    """Return the rows of a pandas DataFrame as records, None for what is null there. So
    are records that were made of one.
    """
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        data = data.to_dict("records")
    elif isinstance(data, (str, Mapping)) or not isinstance(data, Iterable):
        expected = "expected a list of records, or a DataFrame"
        raise InputError("data", expected, type(data).__name__)
    elif not isinstance(data, list) or not any(map(_has_null_std, data)):
        return data
    return [_replace_nulls(row) if type(row) is dict else row for row in data]


def _has_null_std(row: object) -> bool:
    """Return whether a record was made of a data frame: what it lacks is nan there."""
    std = row.get("Std") if isinstance(row, dict) else None
    return std is not None and is_null(std)


def _replace_nulls(row: Mapping[str, object]) -> dict[str, object]:
    """Replace what is null in a data frame by None."""
    return {key: None if is_null(value) else value for key, value in row.items()}


def evaluator_of_options(
    output: Path,
    llm: str | None = None,
    cache: bool | None = None,
    base_url: str | None = None,
    **options: Any,
) -> FutureXEvaluator:
    """Return an evaluator of the command line's options; `output` is the folder of the
    cache of replies.

    Raises InputError for options that do not go together.
    """
    if llm is None:
        given = {
            "--llm-names": options.get("llm_names"),
            "--llm-policy": options.get("llm_policy"),
            "--no-cache": cache is False,
            "--workers": options.get("workers"),
            "--llm-deadline": options.get("deadline") is not None,
            "--llm-url": base_url,
            "--llm-max-tokens": options.get("max_tokens"),
            "--llm-dry-run": options.get("dry_run"),
        }
        for name, value in given.items():
            if value:
                raise InputError(name, "needs --llm MODEL")
        return FutureXEvaluator(**options)
    if options.get("workers", 1) < 1:
        raise InputError("--workers", "expected 1 or more", str(options["workers"]))
    if not 0 < options.get("deadline", 1) < math.inf:
        raise InputError(
            "--llm-deadline", "expected seconds > 0", str(options["deadline"])
        )
    if not llm:
        raise InputError("--llm", "expected the name of a model")
    from forecasteval.common.server import find_server

    key, address = find_server("--llm", base_url, needs_key=not options.get("dry_run"))
    replies = None if cache is False else output / "llm-cache.sqlite3"
    evaluator = FutureXEvaluator(key, address, model=llm, cache=replies, **options)
    evaluator.one_run = True
    return evaluator
