"""The majority answer of several runs, scored as one answer is: `python eval.py -f 250915-mymodel
--vote`.

Every run's answer is read as if it were alone. What is missing or unparsed has no vote; where no
run has one, the majority's answer is missing, or unparsed if some run gave one that could not be
read.

    single choice    the set of picks that most runs gave; of several, that of the earliest run
    multiple choice  the options that more than half of the votes hold; if none is, as for a
                     single choice
    number           the median of the readings, in the truth's unit
    ranking          Borda: with L the longest list, an item at place i of a list gets L - i + 1
                     points, one that is not in it none; the most points first, of equal ones what
                     the earliest run named first; as many items as the median list has (the lower
                     of two)

Plurality and per-option majority are self-consistency (Wang et al. 2023); Borda's count is de
Borda's (1781). Names are the same here if they are spelt alike, case and accents aside
(`Name.key`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path
from statistics import median, median_low
from typing import Any, Final, TypeVar

from forecasteval.benchmark import Evaluator, Files
from forecasteval.common.errors import InputError, printable
from forecasteval.common.files import join_checksums
from forecasteval.common.statistics import mean, variance
from forecasteval.display.results import Results
from forecasteval.display.tables import Report, show_number

from .choices import ChoiceTruth, Picks
from .join import Rows
from .numbers import NumberTruth, Reading
from .questions import SHOWN, Truth
from .rankings import RankingTruth
from .report import report_blocks
from .results import Answered, Item, Scoring, decide
from .rules import MISSING, Rules, Scored, summarise, unparsed

_NO_VOTE: Final = "no run's answer could be read"
K = TypeVar("K", bound=Hashable)
Vote = tuple[Item, Answered | None]  # what a run has of a question


# --- One question ---


def vote_picks(votes: Sequence[frozenset[K]], several: bool) -> frozenset[K]:
    """The set that most votes are; with `several`, the picks of more than half of them, if there
    are any.

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


def _score_majority(truth: Truth, level: int, reads: Sequence[Any]) -> Scored:
    """The score of the majority of the answers as they were `read`."""
    if isinstance(truth, NumberTruth):
        return truth.compare(Reading(median([read.value for read in reads])))
    if isinstance(truth, ChoiceTruth):
        tagged = [
            frozenset([*picks.labels, *(f"?{token}" for token in picks.unknown)]) for picks in reads
        ]
        return truth.compare(Picks.of(vote_picks(tagged, level > 1)))
    # The earliest spelling.
    by_key = {name.key: name for names in reversed(reads) for name in reversed(names)}
    keys = [[name.key for name in names] for names in reads]
    if isinstance(truth, RankingTruth):
        return truth.compare([by_key[key] for key in vote_order(keys)])
    chosen = vote_picks(list(map(frozenset, keys)), level > 1)
    return truth.compare([name for key, name in reversed(by_key.items()) if key in chosen])


def _vote_item(votes: Sequence[Vote], missing: str) -> Item:
    """The item of the majority of all runs; `missing` is what becomes of missing answers."""
    items = [item for item, _ in votes]
    voters = [answered for item, answered in votes if answered and item["outcome"] == "scored"]
    if items[0]["outcome"] == "pending":
        scored = Scored(math.nan, "pending", "", f"{len(votes)} runs")
    elif voters:
        reads = [voter.truth.read(voter.answer) for voter in voters]
        scored = _score_majority(voters[0].truth, items[0]["level"], reads)
    else:
        scored = (
            MISSING if all(item["outcome"] == "missing" for item in items) else unparsed(_NO_VOTE)
        )
    turnout = f"{len(voters)} of {len(votes)} runs" if len(voters) < len(votes) else ""
    scored = scored._replace(note="; ".join(filter(None, (scored.note, turnout))))
    answers = " | ".join(item["read"] or f"({item['outcome']})" for item in items)
    return {**items[0], "answer": answers[:SHOWN], **decide(scored, "vote", missing)}


# --- All questions ---


def vote_files(evaluator: Evaluator[Rows, Scoring], rules: Rules, files: Files) -> dict[str, Any]:
    """The values of the result of the majority answers of several runs, with the scores of the runs
    as `vote`.

    Its name is `NAME@vote`. Raises InputError for runs on other questions.
    """
    paths = sorted(files.predictions, key=_by_run)
    rows = [evaluator.read(files._replace(predictions=[path])) for path in paths]
    runs = [Scoring(rules, data.where, review=True) for data in rows]
    warnings = []
    for run, data, path in zip(runs, rows, paths, strict=True):
        run.add_all(data)
        warnings += [f"{path.name}: {message}" for message in data.messages() + run.warnings()]
        if run.checksums()["questions_sha256"] != runs[0].checksums()["questions_sha256"]:
            other = f"other ones than {printable(paths[0].name)}"
            raise InputError(str(path), "expected runs on the same questions and truths", other)
    scores = [summarise(run.items, rules.renormalised)["overall_score"] for run in runs]
    checksums = [
        {**run.checksums(), **data.checksums()} for run, data in zip(runs, rows, strict=True)
    ]
    joined = ("data_sha256", "prediction_sha256")
    voted = {key: join_checksums([sums[key] for sums in checksums]) for key in joined}
    runs[0].items = [_vote_item(votes, rules.missing) for votes in _pair_runs(runs)]
    return {
        "name": f"{_shared_name([path.stem for path in paths])}@vote",
        "prediction": ", ".join(path.name for path in paths),
        "dataset": files.datasets[0].name if files.datasets else None,
        "benchmark": evaluator.benchmark,
        **evaluator.summarise(runs[0], rows[0]),
        "vote": [
            {"prediction": path.name, "overall_score": score}
            for path, score in zip(paths, scores, strict=True)
        ],
        "warnings": warnings,
        "signature": {**evaluator.settings(), "vote": len(runs), **checksums[0], **voted},
    }


def _by_run(path: Path) -> tuple[str, int, str]:
    """Runs in the order of their numbers: `@2` before `@10`."""
    name, _, run = path.stem.rpartition("@")
    return (name, int(run), "") if run.isdecimal() else (path.stem, 0, "")


def _shared_name(stems: Sequence[str]) -> str:
    """The system of several runs: NAME of NAME@1 and NAME@2, or of NAME and NAME@2."""
    first = stems[0]
    alone = all(stem.startswith(f"{first}@") for stem in stems[1:])
    return first if alone else first.rpartition("@")[0] or first


def _pair_runs(runs: Sequence[Scoring]) -> list[list[Vote]]:
    """The results of all runs for each question, in the order of the first run; a question may
    occur twice.
    """
    votes: defaultdict[tuple[str, int], list[Vote]] = defaultdict(list)
    for run in runs:
        answered = {answer.place: answer for answer in run.answered}
        times: Counter[str] = Counter()
        for place, item in enumerate(run.items):
            question = item["question"]
            votes[question, times[question]].append((item, answered.get(place)))
            times[question] += 1
    return list(votes.values())


def vote_report(results: Results, items: bool = False) -> Report:
    """The report of the majority answers, with the runs' mean above it."""
    scores = [run["overall_score"] for run in results["vote"]]
    spread = f"mean {show_number(mean(scores))}, SD {show_number(math.sqrt(variance(scores)))}"
    title = f"Majority answers of {len(scores)} runs; the runs themselves, {spread}:"
    runs = [
        f"  {printable(run['prediction'])}: {show_number(run['overall_score'])}"
        for run in results["vote"]
    ]
    report = report_blocks(results, items)
    return [*report[:2], title, *runs, *report[2:]]
