"""The mistakes that a check found in a dataset, and their report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .errors import printable
from .report import Report, plain_table
from .results import Results


class Finding(NamedTuple):
    """A mistake in a record of a dataset."""

    kind: str
    id: str
    record: int
    detail: str


def check_results(
    path: Path, sha256: str, records: int, findings: Sequence[Finding], notes: Sequence[str] = ()
) -> Results:
    """The findings of a dataset of `records` records; `notes` are messages besides."""
    values = {
        "dataset": path.name,
        "dataset_sha256": sha256,
        "count": records,
        "findings": [finding._asdict() for finding in findings],
        "notes": list(notes),
    }
    return Results(values, _blocks)


def _blocks(results: Results) -> Report:
    """The findings by kind, each with id and record."""
    report: Report = [f"Dataset check  {printable(results['dataset'])}"]
    report += [f"{results['count']} records, {len(results['findings'])} findings", *results["notes"]]
    kinds: dict[str, list[dict[str, Any]]] = {}
    for finding in results["findings"]:
        kinds.setdefault(finding["kind"], []).append(finding)
    for kind, same in kinds.items():
        rows = [[f"  {printable(f['id'], 40)}", f"record {f['record']}", printable(f["detail"])] for f in same]
        report += ["", f"{kind}: {len(same)}", plain_table(["  Id", "Record", "Detail"], rows, "<<<")]
    return report
