"""Every forecaster's record: means and model values, intervals, ranks, and how surely each beats the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from .arrays import Floats, Ints, weighted_means
from .irt import IrtFit
from .models import Models
from .ranks import LOWER_IS_BETTER, shared_ranks
from .resampling import beats_share, bootstrap_means, percentile_intervals
from .score_table import Rows
from .scores import calibration_errors

NORMAL_95: Final = 1.959963984540054  # the 97.5 % quantile of the normal distribution


class Measures(NamedTuple):
    """By metric: the value of every row, for means also how many forecasts have it and the resampled values."""

    table: dict[str, Floats]
    counts: dict[str, Ints]
    samples: dict[str, Floats]


def measure(rows: Rows, models: Models, bootstrap: int, seed: int) -> Measures:
    """Every metric of every row, and of `bootstrap` resamples of the events where it is a mean."""
    size = rows.forecasters + 2
    no_baseline = [math.nan] * 2
    columns = {metric: (values, rows.weight) for metric, values in rows.values.items()}
    if models.irt:
        columns["weighted_brier"] = (rows.values["brier"], rows.weight * models.irt.discrimination[rows.event])
    means = {metric: weighted_means(*column, rows.row, size) for metric, column in columns.items()}
    blank = np.full(size, math.nan)
    table = {
        "irt_ability": np.append(models.irt.ability, no_baseline) if models.irt else blank,
        "weighted_brier": blank,
        "bradley_terry": np.append(models.strength, no_baseline),
        "ece": calibration_errors(rows.bins),
        **{metric: values for metric, (values, _) in means.items()},
    }
    samples: dict[str, Floats] = {}
    if bootstrap:
        drawn = bootstrap_means(list(columns.values()), rows.event, rows.row, size, bootstrap, seed)
        samples = dict(zip(columns, drawn, strict=True))
    return Measures(table, {metric: counts for metric, (_, counts) in means.items()}, samples)


def make_records(
    measures: Measures, metrics: Sequence[str], returns: Sequence[str], irt: IrtFit | None
) -> list[dict[str, Any]]:
    """A dict per row. An interval needs two events; that of the ability is normal, the others are percentiles."""
    counts = measures.counts
    priced = counts[returns[0]] if returns else np.zeros(len(counts["brier"]), dtype=np.int64)
    records: list[dict[str, Any]] = [
        {"n_events": int(n), "n_exclusive": int(exclusive), "n_priced": int(paid)}
        for n, exclusive, paid in zip(counts["brier"], counts["log"], priced, strict=True)
    ]
    for metric in metrics:
        for record, value in zip(records, measures.table[metric].tolist(), strict=True):
            record[metric] = None if math.isnan(value) else value
        if metric in measures.samples:
            ends = zip(*(end.tolist() for end in percentile_intervals(measures.samples[metric])), strict=True)
            for record, bounds, n in zip(records, ends, counts[metric], strict=True):
                record[f"{metric}_interval"] = list(bounds) if n > 1 and not math.isnan(bounds[0]) else None
    errors = irt.ability_se.tolist() if irt else []
    for record, error in zip(records, [*errors, *[None] * (len(records) - len(errors))], strict=True):
        ability = record["irt_ability"]
        record["irt_ability_se"] = error
        record["irt_ability_interval"] = (
            None if error is None else [ability - NORMAL_95 * error, ability + NORMAL_95 * error]
        )
    return records


def add_ranks(
    records: Sequence[dict[str, Any]], ranked: Sequence[int], measures: Measures, metrics: Iterable[str]
) -> None:
    """Give the ranked records a rank by every metric, and for means the probability of beating who is next by it."""
    for metric in metrics:
        sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
        values = measures.table[metric]
        has = [at for at in ranked if not math.isnan(values[at])]
        ranks = shared_ranks(sign * values[has]).tolist() if has else []
        for at in ranked:
            records[at][f"{metric}_rank"] = None
        for at, rank in zip(has, ranks, strict=True):
            records[at][f"{metric}_rank"] = rank
        if metric in measures.samples:
            samples = sign * measures.samples[metric]
            for at in ranked:
                records[at][f"{metric}_beats_next"] = None
            for at, following in pairwise(at for _, at in sorted(zip(ranks, has, strict=True))):
                records[at][f"{metric}_beats_next"] = beats_share(samples[:, at], samples[:, following])


def make_ranking(ranked: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a leaderboard of many files shows: the forecasters by Brier score."""
    rows = [
        {
            "rank": record["brier_rank"], "name": name, "score": record["brier"],
            "interval": record.get("brier_interval"), "n": record["n_events"],
        }
        for name, record in ranked.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row["rank"], row["name"]))
