"""The front door of the wing: cheap to import, everything public is there, files are recognised."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import forecasteval.prophet as prophet
from forecasteval import __version__
from prophet_data import DATASET, PREDICTION, ROOT


def test_import_is_cheap() -> None:
    """The command line asks every wing what it knows of a file."""
    code = "import sys, forecasteval.prophet; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_scoring_does_not_import_scipy_stats() -> None:
    """It takes as long to import as the sample takes to be scored."""
    code = "import sys; from forecasteval import cli; cli.main(['-f', 'prophet-sample'])"
    code += "; sys.exit('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True)
    assert (done.returncode, b"harbor-9b" in done.stdout) == (0, True)


def test_everything_public_is_there() -> None:
    assert all(getattr(prophet, name) for name in prophet.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = prophet.nothing


@pytest.mark.parametrize(
    ("name", "record", "dataset", "expected"),
    [
        ("x.csv", {"a": 1}, None, True),
        ("x.json", {"problem_id": 1}, None, True),
        ("x.json", {"id": 1}, {"problem_id": 1}, True),
        ("x.json", {"id": 1}, None, False),
        ("x.json", {"id": 1}, {"id": 1}, False),
        ("x.json", {"id": 1, "problem_id": 1}, {"id": 1, "level": 1}, False),
    ],
)
def test_whose_file_it_is(
    tmp_path: Path, name: str, record: Any, dataset: Any, expected: bool
) -> None:
    path, questions = tmp_path / name, tmp_path / "dataset.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    questions.write_text(json.dumps([dataset]), encoding="utf-8")
    assert prophet.BENCHMARK.claims_file(path, questions if dataset else None) is expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("event_ticker,market_info", True),
        ("question,market,model,prob", False),
        ("question,model,prob", False),
        ("id,question,answer,model,prediction", False),
        ("id,question,answer,model,probability,resolution", False),
        ("id,question,model,probability,resolution", True),
    ],
)
def test_which_tables_need_no_dataset(tmp_path: Path, columns: str, expected: bool) -> None:
    """Answers to questions are no table of options, whatever columns they have besides."""
    path = tmp_path / "x.csv"
    path.write_text(f"{columns}\n1,2,3,4,5\n", encoding="utf-8")
    assert prophet.holds_events(path) is expected


def test_benchmark_makes_an_evaluator() -> None:
    evaluator = prophet.BENCHMARK.evaluator(Path())
    assert evaluator.settings()["gammas"] == [0, 0.5, 1]
    assert evaluator.settings()["evaluator"] == f"Prophet Arena {__version__}"
    assert prophet.BENCHMARK.evaluator(Path(), min_events=3).settings()["min_events"] == 3
    results = prophet.BENCHMARK.evaluator(Path(), gammas=(0.25,)).evaluate_file(
        PREDICTION, [DATASET]
    )
    assert results["benchmark"] == prophet.BENCHMARK.name
    assert results["signature"]["gammas"] == [0.25]
    assert any("Ranked by Log" in str(block) for block in results.report(sort="log"))
