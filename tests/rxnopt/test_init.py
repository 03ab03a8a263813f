"""The wing from outside: what it recognises, and what its import costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import forecasteval.rxnopt
from forecasteval.rxnopt import BENCHMARK, claims_file
from forecasteval.rxnopt.scoring import RxnOptEvaluator
from rxnopt_tables import ROOT, write


def test_datasets_are_told_apart() -> None:
    for name in sorted(path.name for path in (ROOT / "dataset").glob("*.json")):
        assert claims_file(Path("x.json"), ROOT / "dataset" / name) == name.startswith(
            "multiple_choice_"
        )
    assert not claims_file(Path("x.json"), None)
    assert not claims_file(
        Path("x.csv"), ROOT / "dataset" / "multiple_choice_all_varying.json"
    )  # Prophet Arena's


def test_a_question_is_told_by_its_keys(tmp_path: Path) -> None:
    for record, expected in [
        ({"id": "t_q1", "question_type": "all_varying", "options": [], "meta": {}}, True),
        ({"id": "1", "prompt": "?", "level": 1, "ground_truth": "A"}, False),
        (1, False),
    ]:
        dataset = write(tmp_path / "d.json", json.dumps([record]))
        assert claims_file(Path("x.json"), dataset) == expected


def test_what_the_command_line_knows_of_the_benchmark() -> None:
    assert (BENCHMARK.name, [option.flag for option in BENCHMARK.options]) == (
        "RxnOptBench",
        ["--items", "--unread"],
    )
    assert isinstance(BENCHMARK.evaluator(Path()), RxnOptEvaluator)
    assert forecasteval.rxnopt.RxnOptEvaluator is RxnOptEvaluator
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = forecasteval.rxnopt.nothing


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        (
            "forecasteval.rxnopt",
            [
                "numpy",
                "jinja2",
                "csv",
                "forecasteval.rxnopt.scoring",
                "forecasteval.rxnopt.build.cells",
            ],
        ),
        ("forecasteval.rxnopt.scoring", ["numpy", "jinja2", "forecasteval.rxnopt.build.cells"]),
        ("forecasteval.rxnopt.commands", ["numpy", "jinja2"]),
    ],
)
def test_an_import_brings_nothing_heavy(module: str, absent: list[str]) -> None:
    code = f"import sys, {module}; print([name for name in {absent} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
