"""What the command line does with benchmarks: which knows a file, which options reach whom, what a
result says.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from forecasteval.benchmark import ITEMS, Benchmark, Evaluator, Files, Option, add_options
from forecasteval.common.errors import InputError
from forecasteval.scoring import Scorer


class Recorder(Evaluator):
    """Evaluators of one benchmark: with which options they were made, and what they read."""

    def __init__(self, name: str, suffix: str, *options: Option) -> None:
        self.benchmark = name
        self.made: list[dict[str, Any]] = []
        self.files: list[Files] = []
        self.wing = Benchmark(name, lambda path, _: path.suffix == suffix, self.make, options)

    def make(self, output: Path, **options: Any) -> Recorder:
        if options.get("gammas") == [2.0]:
            raise InputError("gamma", "must be a number in [0, 1]", "2.0")
        self.made.append({"output": output, **options})
        return self

    def settings(self) -> dict[str, Any]:
        return {"evaluator": self.benchmark}

    def read(self, files: Files) -> Recorder:
        self.files.append(files)
        return self

    def score(self, data: Recorder) -> list[float]:
        return [0.5]

    def summarise(self, scores: list[float], data: Recorder) -> dict[str, Any]:
        return {
            "score": scores[0],
            "warnings": ["of the scores"],
            "signature": {"data_sha256": "d"},
        }

    def report(self, results: Mapping[str, Any], **options: Any) -> list[Any]:
        return [f"{results['score']} {options}"]

    def messages(self) -> list[str]:
        return ["of the files"]

    def checksums(self) -> dict[str, str]:
        return {"prediction_sha256": "p"}


GAMMA = Option("--gamma", "", float, repeatable=True, keyword="gammas")
LLM_POLICY = Option("--llm-policy", "", ("unsure", "always"))


def three() -> tuple[Recorder, Recorder, Recorder]:
    return (
        Recorder("Csv", ".csv", GAMMA, Option("--sort", "", scope="report")),
        Recorder(
            "Json", ".json", Option("--llm", ""), LLM_POLICY, Option("--cache", "", bool), ITEMS
        ),
        Recorder("Whatever", ".json", LLM_POLICY, ITEMS),
    )


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that are named below, in the current folder: who opens them looks first what they
    are.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json", "c.csv", "d", "e"):
        Path(name).touch()


def scorer(recorders: Sequence[Recorder], **options: Any) -> Scorer:
    return Scorer([recorder.wing for recorder in recorders], options, Path("evaluation"))


def test_the_first_that_knows_a_file_scores_it_against_the_datasets_that_are_there() -> None:
    csv, json, whatever = recorders = three()
    scoring = scorer(recorders)
    assert scoring.score(Files((Path("a.json"),), (Path("d"), Path("e"))))["benchmark"] == "Json"
    assert scoring.score(Files((Path("b.json"),)))["benchmark"] == "Json"
    assert scoring.recognise(Path("c.csv"), None) is csv.wing
    assert json.files == [
        Files((Path("a.json"),), (Path("d"), Path("e"))),
        Files((Path("b.json"),)),
    ]
    assert (csv.files, whatever.files, csv.made) == ([], [], [])


def test_a_result_says_what_it_was_made_of() -> None:
    results = scorer(three()).score(Files((Path("a.json"), Path("b.json")), (Path("d"),)))
    assert len(results["signature"].pop("code_sha256")) == 64
    assert results == {
        "name": "d",
        "prediction": "a.json, b.json",
        "dataset": "d",
        "benchmark": "Json",
        "score": 0.5,
        "warnings": ["of the files", "of the scores"],
        "signature": {"evaluator": "Json", "data_sha256": "d", "prediction_sha256": "p"},
    }
    assert results.report(items=True) == ["0.5 {'items': True}"]


def test_other_bounds_and_another_direction_stand_in_the_result() -> None:
    recorder = three()[0]
    recorder.bounds, recorder.higher_is_better = (0.0, float("inf")), False
    results = recorder.evaluate_file("c.csv")
    assert (results["score_bounds"], results["higher_is_better"]) == ((0.0, float("inf")), False)


def test_an_evaluator_gets_its_options_that_were_given_and_is_made_once() -> None:
    csv, json, _ = recorders = three()
    scoring = scorer(recorders, llm="m", llm_policy=None, cache=False, gammas=[1.0], root=Path())
    for _ in range(2):
        scoring.score(Files((Path("a.json"),)))
        assert scoring.settings("Json")["evaluator"] == "Json"
    made = {"output": Path("evaluation"), "llm": "m", "cache": False}
    assert (json.made, csv.made) == ([made], [])
    assert scoring.settings("Csv")["evaluator"] == "Csv"
    assert csv.made == [{"output": Path("evaluation"), "gammas": [1.0]}]


def test_options_are_tried_for_those_that_have_a_use_for_them() -> None:
    csv, json, whatever = recorders = three()
    scorer(recorders, gammas=[1.0], sort="x", items=True, llm=None).require_usable_options()
    assert ([len(recorder.made) for recorder in (csv, json, whatever)]) == [1, 0, 0]
    with pytest.raises(InputError, match="gamma: must be a number"):
        scorer(recorders, gammas=[2.0]).require_usable_options()


def test_report_options_are_those_that_were_given() -> None:
    assert scorer(three(), items=True, sort=None, llm="m", root=Path()).report_options("Json") == {
        "items": True
    }
    assert scorer(three(), sort="brier").report_options("Csv") == {"sort": "brier"}
    assert scorer(three()).report_options("Csv") == {}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Csv", {"items": True}, "--items: needs a file of Json or Whatever, got Csv"),
        (
            "Json",
            {"gammas": [1.0]},
            "--gamma: needs a file of Csv, got Json",
        ),  # given once per value
        ("Whatever", {"cache": True}, "--cache: needs a file of Json, got Whatever"),
        (
            "Csv",
            {"llm_policy": "always"},
            "--llm-policy: needs a file of Json or Whatever, got Csv",
        ),
        ("Json", {"sort": "ece"}, "--sort: needs a file of Csv, got Json"),
    ],
)
def test_an_option_of_other_benchmarks_is_refused_by_its_flag(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        scorer(three(), **options).report_options(name)
    assert str(caught.value) == message


def test_options_are_declared_to_argparse_by_scope() -> None:
    wings = [recorder.wing for recorder in three()[:2]]
    alone, ranked = argparse.ArgumentParser(), argparse.ArgumentParser()
    add_options(alone, wings, ranked=False)
    add_options(ranked, wings, ranked=True)
    words = ["--gamma", "0.5", "--gamma", "1", "--llm-policy", "always", "--no-cache"]
    assert vars(ranked.parse_args(words)) == {
        "gammas": [0.5, 1.0],
        "llm": None,
        "llm_policy": "always",
        "cache": False,
    }
    assert alone.parse_args(["--sort", "x"]).sort == "x"
    with pytest.raises(SystemExit):
        ranked.parse_args(["--sort", "x"])
