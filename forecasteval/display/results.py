"""Results that show themselves, and as JSON; the mistakes that a check
finds in a dataset.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NotRequired, TypedDict

from forecasteval.common.errors import InputError, extra_package, printable, show_count
from forecasteval.common.files import write_atomic
from forecasteval.common.records import JsonObject, dump_json, dump_pieces, group_by

from .tables import (
    Column,
    Report,
    Table,
    choose_columns,
    format_signature,
    format_text,
    make_table,
    print_report,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .html import Page


# Keys of results that hold no number to follow over time: what was asked, and how
# it was read.
_NO_METRICS: Final = ("items", "problems", "signature")


class Item(TypedDict):
    """One question as a result scored it; `question` is a checksum of the question.

    A forecast of probabilities has neither a truth nor an answer in words, a table's
    question no level and no prompt.
    """

    id: object
    question: str
    outcome: str
    score: float
    level: NotRequired[int | None]
    cluster: NotRequired[str]
    forecaster: NotRequired[str]
    prompt: NotRequired[str]
    truth: NotRequired[str]
    read: NotRequired[object]
    answer: NotRequired[str]


class Results(dict[str, Any]):
    """Results as a plain dict that Jupyter shows as a report, with tables.

    `blocks` makes the report of it, `page` what a page shows of it, with the charts;
    `explain` gives the reason of an item's score in one sentence, `rows` the records of
    a table that has no items.
    """

    def __init__(
        self,
        values: Mapping[str, object],
        blocks: Callable[..., Report],
        page: Callable[[Any], Page] | None = None,
        explain: Callable[[object], str] | None = None,
        rows: Callable[[Any], Sequence[Mapping[str, object]]] | None = None,
    ) -> None:
        super().__init__(values)
        self._blocks = blocks
        self._page = page
        self._explain = explain
        self._rows = rows

    def report(self, **options: object) -> Report:
        """Make the lines and tables; `options` are those of the benchmark's
        `report_blocks`.
        """
        return self._blocks(self, **options)

    def __str__(self) -> str:
        return format_text(self.report()).rstrip()

    def page(self) -> Page:
        """Return the contents of the page; InputError for results without a page."""
        if self._page is None:
            raise InputError(
                str(self.get("benchmark", "results")),
                "expected results that have charts",
            )
        return self._page(self)

    def plot(self, name: str | None = None, ax: Axes | None = None) -> Any:
        """Draw the first chart of the page, or that of `name`, with matplotlib. Its
        Axes (an array if it has several).

        Raises InputError for an unknown name, with the known names.
        """
        from .charts import plot

        return plot(self.page().charts(), name, ax)

    def to_frame(self) -> Any:
        """Make a pandas DataFrame of the items, a row per question. Where there is one,
        each has the "explanation" of its score; a board has its rows, a comparison its
        pairs. All values are scalar: a list is its JSON.

        InputError without pandas, or for results without items.
        """
        with extra_package("pandas", "to_frame"):
            import pandas  # type: ignore[import-untyped]
        if "items" in self:
            return pandas.DataFrame(self.list_items())
        if self._rows is None:
            raise InputError(
                "to_frame", "expected results with items", str(self.get("benchmark"))
            )
        return pandas.DataFrame(map(_flatten_row, self._rows(self)))

    def list_items(self) -> list[dict[str, object]]:
        """List the items as rows of scalar values, each with the "explanation" of its
        score where there is one; a list is its JSON. InputError for results
        without items.
        """
        if "items" not in self:
            raise InputError(
                "items", "expected results with items", str(self.get("benchmark"))
            )
        rows = []
        for item in self["items"]:
            row = _flatten_row(item)
            if self._explain:
                row["explanation"] = self._explain(item)
            rows.append(row)
        return rows

    def by(self, column: str) -> Results:
        """Break the score down by the values of a column of the dataset,
        such as "topic".

        Returns {value: {"score", "interval", "n", "missing"}}, which shows itself as a
        table. Times become months. Prophet Arena has the metrics of each forecaster, of
        other columns than "category" if the result has items. Raises InputError for a
        column that no question has.
        """
        from . import breakdown

        if "ranking" not in self:
            parts = breakdown.break_down(self, column)
            return Results(
                parts, lambda parts: [breakdown.breakdown_table(column, parts)]
            )
        stored = self.get(f"by_{column}")
        if stored is None:
            stored = breakdown.break_down_forecasters(self, column)
        return Results(
            stored, lambda parts: [breakdown.forecasters_table(column, parts)]
        )

    def metrics(self) -> dict[str, float]:
        """Return all finite numbers of the result as one flat dict, for
        MLflow or wandb.

        A number within a dict is named by its path, such as "level_scores/1". Lists,
        items and the signature are left out.
        """
        return dict(_walk_numbers(self))

    def save(self, path: str | Path) -> None:
        """Write the result as JSON: what `--json` prints."""
        write_atomic(Path(path), "".join([*dump_pieces(self, ascii_only=True), "\n"]))

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the page of the result as HTML that needs no other file; also
        write it to `path`.

        Raises InputError for results without a page.
        """
        from .html import render

        text = render(self.page())
        if path is not None:
            write_atomic(Path(path), text)
        return text

    def _repr_html_(self) -> str:
        if not self._page:
            return f"<pre>{escape(format_text(self.report()))}</pre>"
        from .html import show_in_notebook

        return show_in_notebook(self.page())


def _flatten_row(row: Mapping[str, object]) -> dict[str, object]:
    """Copy a row; what is a list or a dict in it becomes its JSON."""
    flat = dict(row)
    for key, value in row.items():
        if isinstance(value, (list, tuple, dict)):
            flat[key] = dump_json(value)
    return flat


def _walk_numbers(
    values: Mapping[str, object], prefix: str = ""
) -> Iterator[tuple[str, float]]:
    """Walk the finite numbers of nested dicts, each with its path."""
    for key, value in values.items():
        if not prefix and key in _NO_METRICS:
            continue
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _walk_numbers(value, f"{name}/")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            continue  # True is an int in Python
        elif math.isfinite(value):
            yield name, float(value)


UNPARSED: Final = ("unparsed", "illegal")  # outcomes of answers that could not be read


def list_unread(results: Results) -> list[dict[str, object]]:
    """List the answers that were not read, as rows of a prediction file
    without answers.
    """
    return [
        {
            "id": item["id"],
            "level": item.get("level"),
            "reason": item.get("note"),
            "text": item.get("answer"),
            "answer": None,
        }
        for item in results["items"]
        if item["outcome"] in UNPARSED
    ]


def make_report(
    results: JsonObject, size: Sequence[str], blocks: Iterable[str | Table]
) -> Report:
    """Make a report: benchmark, name and dataset (behind the first line of its `size`),
    blocks and signature.
    """
    title = (
        f"{results['benchmark']}  {printable(results.get('name', ''), 120)}".rstrip()
    )
    dataset = results.get("dataset")
    first = size[0]
    if dataset:
        first += f", dataset {printable(dataset, 120)}"
    signature = format_signature(results["signature"], dataset)
    return [title, first, *size[1:], "", *blocks, "", signature]


def list_warnings(results: JsonObject) -> list[str]:
    """List the warnings of a result as lines of its report."""
    return [printable(f"warning: {warning}") for warning in results["warnings"]]


# --- Results as JSON ---


def print_result(
    values: Mapping[str, object],
    report: Report,
    as_json: bool,
    form: str = "text",
    columns: str = "",
) -> None:
    """Print a result as a line of strict JSON, or its report in one of `tables.FORMS`.
    Tables have these columns only.
    """
    if columns:
        report = choose_columns(report, columns.split(","))
    if as_json:
        sys.stdout.writelines(dump_pieces(values, ascii_only=True))
        print()
    elif form == "text":
        print_report(report)
    else:
        from .formats import format_report

        sys.stdout.write(format_report(report, form))


# --- The mistakes in a dataset ---


class Finding(NamedTuple):
    """A mistake in a record of a dataset."""

    kind: str
    id: str
    record: int
    detail: str


def check_results(
    path: Path,
    sha256: str,
    records: int,
    findings: Sequence[Finding],
    notes: Sequence[str] = (),
) -> Results:
    """Return the findings of a dataset of `records` records, InputError if it has none;
    `notes` are messages besides.
    """
    if not records:
        raise InputError(str(path), "expected records", "none")
    values = {
        "dataset": path.name,
        "dataset_sha256": sha256,
        "count": records,
        "findings": [finding._asdict() for finding in findings],
        "notes": list(notes),
    }
    return Results(values, _report_findings)


def _report_findings(results: Results) -> Report:
    """Make the findings by kind, each with id and record."""
    record = Column("Record", lambda finding: f"record {finding['record']}")
    return [
        f"Dataset check  {printable(results['dataset'])}",
        f"{show_count(results['count'], 'record')}, "
        f"{show_count(len(results['findings']), 'finding')}",
        *results["notes"],
        *list_findings(results["findings"], "kind", record),
    ]


def list_findings(findings: Iterable[JsonObject], key: str, column: Column) -> Report:
    """List findings by one of their keys, with ids, another column, and details."""
    report: Report = []
    name = Column("  Id", lambda finding: f"  {printable(finding['id'], 40)}")
    detail = Column("Detail", lambda finding: printable(finding["detail"]))
    for kind, group in group_by(findings, itemgetter(key)).items():
        report += [
            "",
            f"{kind}: {len(group)}",
            make_table([name, column, detail], group),
        ]
    return report
