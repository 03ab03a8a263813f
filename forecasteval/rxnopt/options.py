"""Which rows of a table a question offers as options, and which it shows as references."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from .rows import Row
from .settings import Settings
from .tables import Table

NOT_ASKED_REASONS: Final = ("fewer_than_two_options", "all_options_tie")
SKIP_REASONS: Final = (
    "not_enough_effective_options", "not_enough_reference_candidates", "no_reference_candidate",
    "no_non_top_score_group", "all_options_tie",
)  # fmt: skip


def largest_group(table: Table, key: str) -> list[Row]:
    """The rows that differ in `key` only: most values of it, then the group that begins first."""
    others = [name for name in table.varying if name != key]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in table.rows:  # rows have different conditions, so a group never has a value of `key` twice
        groups.setdefault(tuple(row.values.get(name) for name in others), []).append(row)
    return max(groups.values(), key=len)


def cap(rows: Sequence[Row], most: int) -> list[Row]:
    """At most `most` rows: from the lowest effective score to the best in even steps, so that the best always stays.

    A prompt with every experiment of a large screening sheet has hundreds of thousands of characters.
    """
    if len(rows) <= most:
        return list(rows)
    return _spread(sorted(rows, key=lambda row: (row.effective, row.number)), most)


def _spread(rows: Sequence[Row], size: int) -> list[Row]:
    step = (len(rows) - 1) / max(1, size - 1)
    return [rows[round(i * step)] for i in range(size)]


def balance(rows: list[Row], varying: Sequence[str], settings: Settings) -> list[Row]:
    """Rows for an all_varying question after BALANCE_ALL_VARYING_OPTIONS.

    While a key's most and least frequent values stand above the ratio and more than BALANCE_MIN_OPTIONS rows remain,
    the lowest (then last) row among those with a most frequent value of the most uneven key goes; the best never do.
    """
    if not settings.balance_all_varying_options:
        return rows
    best = max(row.effective for row in rows)
    kept = list(rows)
    counts = {key: Counter(row.values.get(key) for row in kept) for key in varying}
    while len(kept) > settings.balance_min_options:
        uneven = []
        for key, found in counts.items():
            most, least = max(found.values()), min(found.values())
            if most > settings.balance_max_imbalance_ratio * least:
                uneven.append((-most / least, key, most))
        droppable: list[Row] = []
        for _, key, most in sorted(uneven):
            droppable = [r for r in kept if r.effective < best and counts[key][r.values.get(key)] == most]
            if droppable:
                break
        if not droppable:
            break
        drop = min(droppable, key=lambda row: (row.effective, -row.number))
        kept.remove(drop)
        for key, found in counts.items():
            found[drop.values.get(key)] -= 1
            if not found[drop.values.get(key)]:
                del found[drop.values.get(key)]
    return kept


def choose_references(
    table: Table, options: Sequence[Row], all_varying: bool, settings: Settings
) -> tuple[list[Row], str]:
    """(references from low to high, "") or ([], reason).

    From the lowest REFERENCE_LOW_MID_FRACTION of the candidates (all options; or, for a single_varying question, the
    rows outside its options that are no better than its best), without the table's best, evenly spaced.
    """
    spare = settings.min_reference_remaining_effective_options
    if all_varying:
        if len(options) < spare + settings.min_reference_options:
            return [], "not_enough_effective_options"
        candidates = list(options)
    else:
        inside = {row.number for row in options}
        local = max(row.effective for row in options)
        candidates = [row for row in table.rows if row.number not in inside and row.effective <= local]
        if not candidates:
            return [], "no_reference_candidate"
    candidates.sort(key=lambda row: (row.effective, row.number))
    low = candidates[: math.floor(settings.reference_low_mid_fraction * len(candidates) + 1e-9)]
    below = [row for row in low if row.effective < table.best]
    if low and not below:
        return [], "no_non_top_score_group"
    size = min(settings.max_reference_options, len(below))
    if all_varying:
        size = min(size, len(options) - spare)
    if size < settings.min_reference_options:
        return [], "not_enough_reference_candidates"
    return _spread(below, size), ""


def all_tie(rows: Sequence[Row]) -> bool:
    """Whether no row is better than another: then there is nothing to ask."""
    return len({row.effective for row in rows}) < 2
