"""What the command line does with benchmarks: which knows a file, which options reach whom, how they are called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forecasteval.common.benchmark import Benchmark, Scorer
from forecasteval.common.errors import InputError
from forecasteval.common.results import Results


class Recorder:
    """Evaluators of one benchmark: with which options they were made, and what they were asked."""

    def __init__(self, name: str, suffix: str, options: set[str], views: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        self.made: list[dict[str, Any]] = []
        self.asked: list[tuple[Path, Sequence[Path]]] = []
        self.benchmark = Benchmark(
            name, lambda path, _: path.suffix == suffix, self.make, frozenset(options), frozenset(views)
        )

    def make(self, **options: Any) -> Recorder:
        if options.get("gammas") == [2.0]:
            raise InputError("gamma", "must be a number in [0, 1]", "2.0")
        self.made.append(options)
        return self

    def evaluate_file(self, path: Path, datasets: Sequence[Path] = ()) -> Results:
        self.asked.append((path, datasets))
        return Results({"benchmark": self.benchmark.name, "signature": self.settings()}, lambda results: [])

    def settings(self) -> dict[str, Any]:
        return {"evaluator": self.benchmark.name}


def three() -> tuple[Recorder, Recorder, Recorder]:
    return (
        Recorder("Csv", ".csv", {"gammas"}, {"sort"}),
        Recorder("Json", ".json", {"llm", "llm_policy", "no_cache"}, {"items"}),
        Recorder("Whatever", ".json", {"llm_policy"}, {"items"}),
    )


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that are named below, in the current folder: who opens them looks first what they are."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json", "c.csv", "d", "e"):
        Path(name).touch()


def scorer(recorders: Sequence[Recorder], **options: Any) -> Scorer:
    return Scorer([recorder.benchmark for recorder in recorders], options)


def test_the_first_that_knows_a_file_scores_it_against_the_datasets_that_are_there() -> None:
    csv, json, whatever = recorders = three()
    scoring = scorer(recorders)
    assert scoring.score(Path("a.json"), Path("d"), (), (None, Path("e")))["benchmark"] == "Json"
    assert scoring.score(Path("b.json"), None)["benchmark"] == "Json"
    assert scoring.recognise(Path("c.csv"), None) is csv.benchmark
    assert json.asked == [(Path("a.json"), [Path("d"), Path("e")]), (Path("b.json"), [])]
    assert (csv.asked, whatever.asked, csv.made) == ([], [], [])


def test_an_evaluator_gets_its_own_options_that_were_given_and_is_made_once() -> None:
    csv, json, _ = recorders = three()
    scoring = scorer(recorders, llm="m", llm_policy=None, no_cache=False, gammas=[1.0], root=Path())
    for _ in range(2):
        scoring.score(Path("a.json"), None)
        assert scoring.settings("Json")["evaluator"] == "Json"
    assert (json.made, csv.made) == ([{"llm": "m", "no_cache": False}], [])
    assert scoring.settings("Csv")["evaluator"] == "Csv"
    assert csv.made == [{"gammas": [1.0]}]


def test_options_are_tried_for_those_that_have_a_use_for_them() -> None:
    csv, json, whatever = recorders = three()
    scorer(recorders, gammas=[1.0], sort="x", items=True, llm=None).require_usable_options()
    assert (csv.made, json.made, whatever.made) == ([{"gammas": [1.0]}], [], [])
    with pytest.raises(InputError, match="gamma: must be a number"):
        scorer(recorders, gammas=[2.0]).require_usable_options()


def test_views_are_those_that_were_given() -> None:
    scoring = scorer(three(), items=True, sort=None, llm="m", root=Path(), json=True)
    assert scoring.views("Json") == {"items": True}
    assert scorer(three(), sort="brier").views("Csv") == {"sort": "brier"}
    assert scorer(three()).views("Csv") == {}


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("Csv", {"items": True}, "--items: needs a file of Json or Whatever, got Csv"),
        ("Json", {"gammas": [1.0]}, "--gamma: needs a file of Csv, got Json"),  # given once per value
        ("Whatever", {"no_cache": True}, "--no-cache: needs a file of Json, got Whatever"),
        ("Csv", {"llm_policy": "always"}, "--llm-policy: needs a file of Json or Whatever, got Csv"),
        ("Json", {"sort": "ece"}, "--sort: needs a file of Csv, got Json"),
    ],
)
def test_an_option_of_others_is_refused_by_its_flag(name: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        scorer(three(), **options).views(name)
    assert str(caught.value) == told
