"""The folder of a build: whole, the same whatever the order, or not there at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from forecasteval.rxnopt.builder import build_files
from make_rxnopt_samples import SEED, make_tables
from rxnopt_tables import ROOT, build

IMPORTS: Final = (
    "from pathlib import Path; from forecasteval.rxnopt.builder import build_questions; "
    "from forecasteval.rxnopt.builder import write_build"
)


def test_bytes_do_not_depend_on_the_hash_seed_or_on_file_names_order(tmp_path: Path) -> None:
    tables = sorted((ROOT / "dataset" / "rxnopt-tables").iterdir())
    for name, order in (("one", tables), ("two", tables[::-1])):
        (tmp_path / name).mkdir()
        for path in order:
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    outputs = []
    for name, hash_seed in (("one", "1"), ("two", "2")):
        made = f"write_build(build_questions({str(tmp_path / name)!r}), Path({str(tmp_path / f'out-{name}')!r}))"
        code = f"{IMPORTS}; {made}"
        variables = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, env=variables, check=True)
        outputs.append({path.name: path.read_bytes() for path in (tmp_path / f"out-{name}").iterdir()})
    assert outputs[0] == outputs[1]


def test_the_report_counts_and_names_what_is_there() -> None:
    made = build(*make_tables(), seed=SEED)
    report = build_files(made)["report.md"]
    found, skipped = sum(q["id"].endswith("_ref") for q in made.questions), made.counts["skipped"].total()
    assert min(found, skipped) > 0
    assert f"\n- references looked for: {found + skipped}, found {found}, skipped {skipped}\n" in report
    for kind, template in (
        ("all_varying", "all_varying"),
        ("all_varying_reference", "all_varying_reference"),
        ("all_varying_reference_control", "all_varying"),
    ):
        name = f"multiple_choice_{kind}.json"
        row = f"| `{name}` | `{kind}` | {made.kinds[kind]} | `prompt_{template}.txt` | `example_prediction_{name}` |"
        assert f"\n{row}\n" in report
