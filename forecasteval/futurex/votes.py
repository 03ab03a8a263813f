"""The majority answer of several runs, scored as one answer is: `python eval.py -f 250915-mymodel --vote`.

Every run's answer is read as if it were alone. What is missing or unparsed has no vote; where no run has one, the
majority's answer is missing, or unparsed if some run gave one that could not be read.

    single choice    the set of picks that most runs gave; of several, that of the earliest run (by its number)
    multiple choice  the options that more than half of the votes hold; if none is, as for a single choice
    number           the median of the readings, in the truth's unit
    ranking          Borda: with L the longest list, an item at place i of a list gets L - i + 1 points, one that is not
                     in it none; the most points first, of equal ones what the earliest run named first; as many items
                     as the median list has (the lower of two)

Plurality and per-option majority are self-consistency (Wang et al. 2023); Borda's count is de Borda's (1781). Names are
the same here if they are spelt alike, case and accents aside (`Name.key`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median, median_low
from typing import Any, Final, TypeVar

from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import join_checksums
from forecasteval.common.records import RecordFile
from forecasteval.common.report import Report, show_number
from forecasteval.common.statistics import mean, variance
from forecasteval.common.wing import Files

from .answers import Answer
from .choices import ChoiceTruth, Picks
from .items import Answered, Scoring
from .questions import SHOWN, Truth
from .rankings import RankingTruth
from .report import report_blocks
from .rows import Rows
from .rules import MISSING, Rules, Scored, summarise, unparsed
from .units import NumberTruth, Reading

_NO_VOTE: Final = "no run's answer could be read"
K = TypeVar("K", bound=Hashable)


# --- One question ---


def vote_picks(votes: Sequence[frozenset[K]], several: bool) -> frozenset[K]:
    """The set that most votes are; with `several`, the picks of more than half of them, if there are any.

    >>> sorted(vote_picks([frozenset("AB"), frozenset("A"), frozenset("BC")], True))
    ['A', 'B']
    >>> sorted(vote_picks([frozenset("C"), frozenset("A"), frozenset("A")], False))
    ['A']
    """
    counts = Counter(pick for vote in votes for pick in vote)
    majority = frozenset(pick for pick, count in counts.items() if 2 * count > len(votes))
    if several and majority:
        return majority
    return Counter(votes).most_common(1)[0][0]  # of equal counts the first that came


def vote_order(votes: Sequence[Sequence[K]]) -> list[K]:
    """Borda's count over lists; see the module.

    >>> vote_order(["abc", "acb", "bad"])
    ['a', 'b', 'c']
    """
    longest = max(map(len, votes))
    points: Counter[K] = Counter()  # keeps the order in which items came
    for vote in votes:
        for place, item in enumerate(dict.fromkeys(vote)):
            points[item] += longest - place
    order = sorted(points, key=lambda item: -points[item])
    return order[: median_low(map(len, votes))]


def vote_answers(truth: Truth, level: int, answers: Sequence[Answer]) -> Scored:
    """What the majority answer scores; all `answers` can be read."""
    if isinstance(truth, NumberTruth):
        values = [read.value for read in map(truth.read, answers) if not isinstance(read, str)]
        return truth.compare(Reading(median(values)))
    if isinstance(truth, ChoiceTruth):
        picks = [read for read in map(truth.read, answers) if not isinstance(read, str)]
        return truth.compare(_vote_picks(picks, level > 1))
    lists = [names for names in map(truth.read, answers) if not isinstance(names, str)]
    by_key = {name.key: name for names in reversed(lists) for name in reversed(names)}  # the earliest spelling
    keys = [[name.key for name in names] for names in lists]
    if isinstance(truth, RankingTruth):
        return truth.compare([by_key[key] for key in vote_order(keys)])
    chosen = vote_picks([frozenset(vote) for vote in keys], level > 1)
    return truth.compare([name for key, name in reversed(by_key.items()) if key in chosen])


def _vote_picks(votes: Sequence[Picks], several: bool) -> Picks:
    """The majority of labels and of unknown tokens together: both are picks."""
    tagged = [
        frozenset([*((0, pick) for pick in labels), *((1, pick) for pick in unknown)]) for labels, unknown in votes
    ]
    chosen = vote_picks(tagged, several)
    return Picks(*(frozenset([pick for tag, pick in chosen if tag == wanted]) for wanted in (0, 1)))


# --- All questions ---


def vote_files(rules: Rules, settings: Mapping[str, Any], files: Files) -> dict[str, Any]:
    """The values of the result of the majority answers of several runs, with the scores of the runs as `vote`.

    Its name is `NAME@vote`. Raises InputError for runs on other questions.
    """
    datasets = files.datasets
    if len(datasets) > 1:
        raise InputError("--dataset", "several need RxnOptBench questions", "FutureX")
    paths = sorted(files.predictions, key=_by_run)
    questions = RecordFile(datasets[0]) if datasets else None
    asked = list(questions) if questions else []
    runs: list[Scoring] = []
    warnings: list[str] = []
    checksums: list[str] = []
    for path in paths:
        predictions = RecordFile(path)
        rows = Rows(predictions, str(path), asked if questions else None)
        run = Scoring(rules, str(datasets[0] if datasets else path), review=True)
        run.add_all(rows)
        warnings += [f"{path.name}: {note}" for note in rows.messages() + run.notes.lines()]
        checksums.append(predictions.sha256)
        runs.append(run)
    _require_alike(runs, paths)
    items = [*_vote_items(runs, rules)]
    scores = [summarise(run.items, rules.renormalised)["overall_score"] for run in runs]
    signature = {
        **settings, "vote": len(runs),
        "data_sha256": join_checksums([run.checksums()["data_sha256"] for run in runs]),
        "questions_sha256": runs[0].checksums()["questions_sha256"],
        "prediction_sha256": join_checksums(checksums),
    }  # fmt: skip
    if questions:
        signature["dataset_sha256"] = questions.sha256
        warnings = questions.warnings + warnings
    return {
        "name": f"{_shared_name([path.stem for path in paths])}@vote",
        "prediction": ", ".join(path.name for path in paths),
        "dataset": datasets[0].name if datasets else None,
        "benchmark": "FutureX",
        **summarise(items, rules.renormalised),
        "vote": [{"prediction": path.name, "overall_score": score} for path, score in zip(paths, scores, strict=True)],
        "unboxed_count": 0,
        "no_sigma_count": runs[0].no_sigma_count,
        "warnings": warnings,
        "llm": None,
        "llm_names": None,
        "signature": signature,
        "items": items,
    }


def _by_run(path: Path) -> tuple[str, int, str]:
    """Runs in the order of their numbers: `@2` before `@10`."""
    name, _, run = path.stem.rpartition("@")
    return (name, int(run), "") if run.isdecimal() else (path.stem, 0, "")


def _shared_name(stems: Sequence[str]) -> str:
    """What runs are runs of: NAME of NAME@1 and NAME@2, or of NAME and NAME@2."""
    first = stems[0]
    return first if all(stem.startswith(f"{first}@") for stem in stems[1:]) else first.rpartition("@")[0] or first


def _require_alike(runs: Sequence[Scoring], paths: Sequence[Path]) -> None:
    for run, path in zip(runs, paths, strict=True):
        if run.checksums()["questions_sha256"] != runs[0].checksums()["questions_sha256"]:
            told = f"other ones than {printable(paths[0].name)}"
            raise InputError(str(path), "expected runs on the same questions and truths", told)


def _vote_items(runs: Sequence[Scoring], rules: Rules) -> Iterable[dict[str, Any]]:
    """An item per question, in the order of the first run."""
    asked = [[item["question"] for item in run.items] for run in runs]
    orders = [sorted(range(len(questions)), key=questions.__getitem__) for questions in asked]
    places = dict(zip(orders[0], zip(*orders, strict=True), strict=True))
    answered = [{one.place: one for one in run.answered} for run in runs]
    for first in range(len(orders[0])):
        same = [run.items[place] for run, place in zip(runs, places[first], strict=True)]
        known = [found.get(place) for found, place in zip(answered, places[first], strict=True)]
        scored = _vote_item(same, known)
        skipped = rules.missing == "skip" and scored.outcome == "missing"
        yield {
            **same[0],
            "score": None if skipped else scored.score,
            "outcome": scored.outcome,
            "answer": " | ".join(item["read"] or f"({item['outcome']})" for item in same)[:SHOWN],
            "read": scored.read[:SHOWN],
            "note": "; ".join(filter(None, (scored.note, _turnout(same)))),
            "sigmas": scored.sigmas,
            "padded": scored.padded,
            "decided_by": "vote",
        }


def _vote_item(same: Sequence[Mapping[str, Any]], known: Sequence[Answered | None]) -> Scored:
    voters = [one for one, item in zip(known, same, strict=True) if one and item["outcome"] == "scored"]
    if not voters:
        return MISSING if all(item["outcome"] == "missing" for item in same) else unparsed(_NO_VOTE)
    return vote_answers(voters[0].truth, same[0]["level"], [voter.answer for voter in voters])


def _turnout(same: Sequence[Mapping[str, Any]]) -> str:
    count = sum(item["outcome"] == "scored" for item in same)
    return "" if count == len(same) else f"{count} of {len(same)} runs"


def vote_report(results: Mapping[str, Any], items: bool = False) -> Report:
    """The report of the majority answers, with the runs' mean above it."""
    scores = [run["overall_score"] for run in results["vote"]]
    spread = f"mean {show_number(mean(scores))}, SD {show_number(math.sqrt(variance(scores)))}"
    told = f"Majority answers of {len(scores)} runs; the runs themselves, {spread}:"
    runs = [f"  {printable(run['prediction'])}: {show_number(run['overall_score'])}" for run in results["vote"]]
    report = report_blocks(results, items)
    return [*report[:2], told, *runs, *report[2:]]
