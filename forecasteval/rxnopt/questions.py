"""Rows of a table into questions: options, references, and what the records of a dataset hold."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from .cells import ROUND
from .rows import Row, shown_scores
from .settings import Settings
from .tables import Table

NOT_ASKED_REASONS: Final = ("fewer_than_two_options", "all_options_tie")
SKIP_REASONS: Final = (
    "not_enough_effective_options", "not_enough_reference_candidates", "no_reference_candidate",
    "no_non_top_score_group", "all_options_tie",
)  # fmt: skip
_ID_SUFFIXES: Final = {"": "", "_reference": "_ref", "_reference_control": "_ref_control"}


class TableQuestions(NamedTuple):
    """What a table gives: its questions, and how many questions it does not give, by reason."""

    questions: list[dict[str, Any]]
    not_asked: Counter[str]  # single_varying and all_varying questions that the table does not give
    attempts: int  # questions for which references were looked for
    skipped: Counter[str]  # attempts that gave no `_ref` question
    capped: Counter[str]  # questions that do not offer all their options, and options that are left out


class Draft(NamedTuple):
    """A question before it is written down."""

    number: int  # in its table, from 1
    key: str | None  # the condition that it is about; None: all that vary
    form: str  # "", "_reference" or "_reference_control"
    options: Sequence[Row]
    references: Sequence[Row] = ()


def make_questions(table: Table, settings: Settings, seed: int) -> TableQuestions:
    """The questions of a table: one for each condition that varies, then one for all of them."""
    made = TableQuestions([], Counter(), 0, Counter(), Counter())
    attempts = 0
    for number, key in enumerate([*table.varying, None], 1):
        options = balance(table.rows, table.varying, settings) if key is None else largest_group(table, key)
        reason = "fewer_than_two_options" if len(options) < 2 else "all_options_tie" if all_tie(options) else ""
        if reason:
            made.not_asked[reason] += 1
            continue
        drafts: list[tuple[str, Sequence[Row], Sequence[Row]]] = [("", options, ())]
        attempts += 1
        references, reason = choose_references(table, options, key is None, settings)
        left = [row for row in options if row not in references] if key is None else options
        if not reason and all_tie(left):
            reason = "all_options_tie"
        if reason:
            made.skipped[reason] += 1
        else:
            drafts += [("_reference", left, references), ("_reference_control", left, ())]
        for form, rows, shown in drafts:
            offered = cap(rows, settings.max_options)
            made.capped.update(questions=len(offered) < len(rows), options=len(rows) - len(offered))
            made.questions.append(write_question(table, Draft(number, key, form, offered, shown), settings, seed))
    return made._replace(attempts=attempts)


def write_question(table: Table, draft: Draft, settings: Settings, seed: int) -> dict[str, Any]:
    """The record of a question; its options are shuffled by a generator seeded from the seed and the id.

    A control has the order of its twin: a model that always says 0 must not tell them apart.
    """
    name = f"{table.id}_q{draft.number}{_ID_SUFFIXES[draft.form]}"
    order = sorted(draft.options, key=lambda row: row.number)
    digest = hashlib.sha256(f"{seed}\0{name.removesuffix('_control')}".encode()).digest()
    random.Random(int.from_bytes(digest, "big")).shuffle(order)
    shown = table.varying if draft.key is None else [draft.key]
    best = max(row.effective for row in order)
    return {
        "id": name,
        "question_type": ("all_varying" if draft.key is None else "single_varying") + draft.form,
        "target_key": draft.key,
        "varying_keys": table.varying,
        "input": _given(table, draft, settings),
        "options": [{key: row.conditions.get(key, []) for key in shown} for row in order],
        "answer": [index for index, row in enumerate(order) if row.effective == best],
        "meta": _meta(table, order, draft.references),
    }


def _given(table: Table, draft: Draft, settings: Settings) -> dict[str, Any]:
    """What a question shows besides its options."""
    first = min(draft.options, key=lambda row: row.number)  # its spelling stands for all rows that agree
    given: dict[str, Any] = {
        "reactants": table.reactants,
        "products": table.products[:1] if settings.input_products_mode == "main_only" else table.products,
        "constant_conditions": {key: first.conditions.get(key, []) for key in table.constant},
    }
    if draft.key is not None:
        fixed = [key for key in table.varying if key != draft.key]
        given["fixed_conditions"] = {key: first.conditions.get(key, []) for key in fixed}
    if draft.references:
        every = sorted([*table.constant, *table.varying])
        given["reference_conditions"] = [
            {"conditions": {key: row.conditions.get(key, []) for key in every}, **shown_scores(row.scores)}
            for row in draft.references
        ]
    return given


def _meta(table: Table, order: Sequence[Row], references: Sequence[Row]) -> dict[str, Any]:
    """What scoring needs, and where a question comes from; never shown to who answers it."""
    effective = [row.effective for row in order]
    best = max(effective)
    meta = {
        "source_file": table.source_file,
        "doi": table.doi,
        "best_yield": max(row.scores["yield"] for row in order),
        "best_effective_score": best,
        "best_entry_indices": sorted(row.number for row in order if row.effective == best),
        "global_best_yield": max(row.scores["yield"] for row in table.rows),
        "global_best_effective_score": table.best,
        "global_best_entry_indices": [row.number for row in table.rows if row.effective == table.best],
        "total_entries_in_source_table": table.entries,
        "yields": [row.scores["yield"] for row in order],
        "effective_scores": effective,
        "scores": [row.scores for row in order],
        "option_relative_scores": [round(value / best, ROUND) for value in effective],
        "option_source_entries": [_source_entry(row) for row in order],
        "parent_table_id": table.id,
        "main_product_smiles": table.products[0]["SMILES"] if table.products else "",
    }
    if references:
        meta["reference_source_entries"] = [_source_entry(row) for row in references]
    return meta


def _source_entry(row: Row) -> dict[str, Any]:
    return {"row_index": row.number, "entry_idx": row.entry.get("entry_idx"), "rxn_id": row.entry.get("rxn_id")}


# --- Which rows are options, which are references ---


def largest_group(table: Table, key: str) -> list[Row]:
    """The rows that differ in `key` only: most values of it, then the group that begins first."""
    other_keys = [name for name in table.varying if name != key]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in table.rows:  # rows have different conditions, so a group never has a value of `key` twice
        groups.setdefault(tuple(row.values.get(name) for name in other_keys), []).append(row)
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
        for key, values in counts.items():
            most, least = max(values.values()), min(values.values())
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
        for key, values in counts.items():
            values[drop.values.get(key)] -= 1
            if not values[drop.values.get(key)]:
                del values[drop.values.get(key)]
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
