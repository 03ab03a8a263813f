"""`FutureXEvaluator`: questions with answers in, results out."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from forecasteval.common.errors import InputError, grouped_warning
from forecasteval.common.joins import Join
from forecasteval.common.records import Record, RecordFile, is_null, number_text, repeated_keys
from forecasteval.common.results import Results
from forecasteval.common.version import __version__

from . import make_page
from .items import Scoring
from .questions import FIELDS, require_questions
from .report import report_blocks
from .rules import LLM_POLICIES, MISSING_POLICIES, RULE_SETS, WEIGHTS
from .summary import summarise

if TYPE_CHECKING:
    from .llm import Counts, ModelReader, NameCounts

DEFAULT_MODEL: Final = "gpt-4o-mini"
DEFAULT_SERVER: Final = "https://api.openai.com/v1"


class FutureXEvaluator:
    """Scores FutureX predictions; one evaluator serves any number of files.

    rules: a rule set, "readme" (default), "official-2026" or "paper" (docs/scoring.md); the next two go with readme.
    missing: "zero" scores a missing answer 0, "skip" leaves it out of the means.
    relative_sigma: sigma as a share of |truth| for numbers without Std; None asks for equality there.

    With an `api_key`, a language model (`model` at `base_url`, or OPENAI_BASE_URL, or OpenAI) reads numbers:
    with llm_policy "unsure" those that the grammar cannot settle, with "always" all of them. With `llm_names` it also
    matches names that the rules leave; this sends it true names. At most `workers` calls run at a time. The SQLite file
    `cache` keeps replies (none by default). The calls of a run end after `deadline` seconds; a run is a call of
    evaluate_all, or with `one_run` all that the evaluator does.
    """

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
    ) -> None:
        if rules not in RULE_SETS:
            raise InputError("rules", f"must be one of {', '.join(RULE_SETS)}", repr(rules))
        if missing not in (None, *MISSING_POLICIES):
            raise InputError("missing", "must be zero or skip", repr(missing))
        if relative_sigma is not None and not (number_text(relative_sigma) and relative_sigma > 0):
            raise InputError("relative_sigma", "must be a positive number", repr(relative_sigma))
        if llm_policy not in LLM_POLICIES:
            raise InputError("llm_policy", "must be unsure or always", repr(llm_policy))
        if llm_names and not api_key:
            raise InputError("llm_names", "needs a language model: expected an api_key", "none")
        own = {"missing": missing, "relative_sigma": relative_sigma}
        given: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
        if given and rules != "readme":
            raise InputError(", ".join(given), f"settled by the rule set {rules}: can only be given with readme")
        self.rule_set, self.rules = rules, RULE_SETS[rules]._replace(**given)
        self._reader: ModelReader | None = None
        if api_key:
            from forecasteval.common.llm import ModelClient

            from .llm import ModelReader

            server = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_SERVER
            client = ModelClient(api_key, server, model, workers, Path(cache) if cache else None, deadline)
            self._reader = ModelReader(client, llm_policy, llm_names)

    def evaluate_prediction(self, answer: object, question: Mapping[str, Any]) -> float:
        """The score of one answer to one question of the dataset, in [0, 1]; missing and unparsed score 0.

        Raises InputError if the question has no usable level, truth or Std.
        """
        results = self.evaluate_all([{**question, "answer": answer, "prediction": None}], "question")
        return float(results["items"][0]["score"] or 0)

    def evaluate_all(self, data: Iterable[Mapping[str, Any]], where: str = "data") -> Results:
        """Score questions that carry "answer" (or "prediction"); docs/python.md has every key of the result, a dict.

        overall_score = Σ w·mean over the levels that have questions, w renormalised; a level without questions
        is nan. Intervals: `common.statistics.stratified_interval`. `where` names the data in errors. `data` may be
        a pandas DataFrame. Raises InputError if a record cannot be scored at all.
        """
        return self._score(_records(data), where)

    def _score(self, data: Iterable[Mapping[str, Any]], where: str) -> Results:
        collecting = gc.isenabled()
        gc.disable()  # nothing here makes cycles, and walking a million records again and again costs a third
        try:
            return self._evaluate(data, where)
        finally:
            if collecting:
                gc.enable()

    def _evaluate(self, data: Iterable[Mapping[str, Any]], where: str) -> Results:
        scoring = Scoring(self.rules, where, bool(self._reader))
        scoring.add_all(data)
        warnings = [grouped_warning(text, names) for text, names in scoring.notes.items()]
        model_numbers: Counts | None = None
        model_names: NameCounts | None = None
        if self._reader:
            if not self.one_run:
                self._reader.client.begin()
            model_numbers, model_names, lines = self._reader.decide(scoring.answered, scoring.items)
            warnings += lines
        values = {
            "benchmark": "FutureX",
            **summarise(scoring.items, self.rules.renormalised),
            "unboxed_count": scoring.unboxed_count,
            "no_sigma_count": scoring.no_sigma_count,
            "warnings": warnings,
            "llm": model_numbers,
            "llm_names": model_names,
            "signature": {**self.settings(), **scoring.checksums()},
            "items": scoring.items,
        }
        rows = partial(iter, data) if isinstance(data, (list, tuple)) else None
        return Results(values, report_blocks, partial(make_page, rows=rows, rules=self.rules))

    def evaluate_file(self, path: str | Path, datasets: str | Path | Sequence[str | Path] = ()) -> Results:
        """The results of one prediction file, against the questions of its dataset where there is one."""
        path, datasets = Path(path), [datasets] if isinstance(datasets, (str, Path)) else datasets
        if len(datasets) > 1:
            raise InputError("--dataset", "several need RxnOptBench questions", "FutureX")
        predictions, dataset = RecordFile(path), next(map(Path, datasets), None)
        if dataset:
            questions = RecordFile(dataset)
            rows = Join(questions, predictions, FIELDS, str(path))
            results = self._score(rows, str(dataset))
            results["warnings"] = questions.warnings + rows.messages() + results["warnings"]
            results["signature"]["dataset_sha256"] = questions.sha256
        else:
            results = self._score(require_questions(predictions, path), str(path))
        results["warnings"] = predictions.warnings + results["warnings"]
        results["signature"]["prediction_sha256"] = predictions.sha256
        if predictions.damaged:
            results["damaged_lines"] = predictions.damaged
        files = {"name": path.stem, "prediction": path.name, "dataset": dataset.name if dataset else None}
        rows_again = partial(read_rows, path, dataset)
        return Results({**files, **results}, report_blocks, partial(make_page, rows=rows_again, rules=self.rules))

    def settings(self) -> dict[str, Any]:
        """The part of a signature that does not depend on the data."""
        settings: dict[str, Any] = dict.fromkeys(("llm_model", "llm_server", "llm_policy", "llm_prompt", "llm_names"))
        if self._reader:
            settings.update(self._reader.settings())
        return {
            "evaluator": f"FutureX {__version__}",
            "weights": dict(WEIGHTS),
            "rules": self.rule_set,
            "fixed_weights": None if self.rules.renormalised else True,
            "missing": self.rules.missing,
            "relative_sigma": self.rules.relative_sigma,
            **settings,
        }


def _records(data: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of a pandas DataFrame as records, None for what is null there; so are records that were made of one."""
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        data = data.to_dict("records")
    elif not isinstance(data, list) or not any(map(_lacks_std, data)):
        return data  # type: ignore[no-any-return]
    return [_without_nulls(row) if isinstance(row, dict) else row for row in data]


def _lacks_std(row: object) -> bool:
    """Whether a record has what pandas makes of a missing number; None is none to begin with."""
    std = row.get("Std") if isinstance(row, dict) else None
    return std is not None and is_null(std)


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    repeated = repeated_keys(row)
    values = {key: None if is_null(value) else value for key, value in row.items()}
    return Record(values, repeated) if repeated else values


def read_rows(path: Path, dataset: Path | None) -> Iterable[Any]:
    """The questions of a prediction file with their answers, in the order of the items."""
    if dataset:
        return Join(RecordFile(dataset), RecordFile(path), FIELDS, str(path))
    return require_questions(RecordFile(path), path)


def make_evaluator(
    root: Path, llm: str | None = None, no_cache: bool = False, vote: bool = False, **options: Any
) -> FutureXEvaluator:
    """An evaluator of the command line's options; whether runs `vote` is up to who names the files."""
    if llm is None:
        return FutureXEvaluator(**options)
    if not llm:
        raise InputError("--llm", "expected the name of a model")
    # A server of one's own may need no key.
    key = os.environ.get("OPENAI_API_KEY") or ("none" if os.environ.get("OPENAI_BASE_URL") else None)
    if not key:
        raise InputError("--llm", "expected a key in the environment variable OPENAI_API_KEY", "none")
    cache = None if no_cache else root / "evaluation" / "llm-cache.sqlite3"
    evaluator = FutureXEvaluator(api_key=key, model=llm, cache=cache, **options)
    evaluator.one_run = True
    return evaluator
