"""Rows of a table into questions: options, references, and the records of a dataset."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple, NotRequired, TypedDict

from forecasteval.common.records import group_by

from ..datasets import SIDES
from .cells import ROUND
from .chemicals import Conditions, Substance
from .settings import Settings
from .tables import ReactionTable, Unused, UsableRow, number_scores, shown_scores

# How many rows, tables and questions, by what happened and by reason.
Counts = defaultdict[str, Counter[str]]


class Input(TypedDict):
    """What a prompt shows of a question besides its options."""

    reactants: list[Substance]
    products: list[Substance]
    constant_conditions: Conditions
    fixed_conditions: NotRequired[Conditions]  # of a single_varying question
    reference_conditions: NotRequired[list[dict[str, object]]]


class ChoiceQuestion(TypedDict):
    """A question of a dataset."""

    id: str
    question_type: str
    target_key: str | None  # the condition that it asks about; None: all that vary
    varying_keys: list[str]
    input: Input
    options: list[Conditions]
    answer: list[int]  # the indices of the best options
    meta: dict[str, object]


class Draft(NamedTuple):
    """A question before it is written down."""

    number: int  # in its table, from 1
    keys: Sequence[str]  # the condition that it is about, with its twins; empty: all that vary
    form: str  # "", "_reference" or "_reference_control"
    options: Sequence[UsableRow]
    references: Sequence[UsableRow] = ()


def make_questions(
    table: ReactionTable, settings: Settings, seed: int, counts: Counts
) -> list[ChoiceQuestion]:
    """Make the questions of a table, one for each condition that varies, then one for all of them.

    Adds to `counts` what it does not make: "not_asked" (single_varying and all_varying questions
    that the table does not give), "skipped" (questions without a `_ref` twin) and "capped"
    (questions that do not offer all their options, and options left out).
    """
    questions: list[ChoiceQuestion] = []
    for number, keys in _find_targets(table, counts):
        options = largest_group(table, keys) if keys else balance(table, settings)
        drafts: list[Draft] = []
        try:
            if len(options) < 2:
                raise Unused("fewer_than_two_options")
            _require_difference(options)
            drafts.append(Draft(number, keys, "", options))
            references = choose_references(table, options, not keys, settings)
            rest = options if keys else [row for row in options if row not in references]
            _require_difference(rest)
            drafts.append(Draft(number, keys, "_reference", rest, references))
            drafts.append(Draft(number, keys, "_reference_control", rest))
        except Unused as left:
            counts["skipped" if drafts else "not_asked"][left.reason] += 1
        for draft in drafts:
            offered = cap(draft.options, settings.max_options)
            if more := len(draft.options) - len(offered):
                counts["capped"].update(questions=1, options=more)
            questions.append(write_question(table, draft._replace(options=offered), settings, seed))
    return questions


def _find_targets(table: ReactionTable, counts: Counts) -> list[tuple[int, list[str]]]:
    """Find what the questions of a table ask about, each with its number: a condition, all of them.

    Conditions that always change together, as a ligand's name and its SMILES, are one. Where the
    others were fixed there would be nothing to ask about either of them.
    """
    targets: list[tuple[int, list[str]]] = []
    for twins in table.twins:
        if len(twins) == len(table.varying) > 1:  # the question of all that vary asks for them
            counts["not_asked"]["all_change_together"] += len(twins)
            continue
        if len(twins) > 1:
            counts["not_asked"]["asked_with_another"] += len(twins) - 1
        targets.append((table.varying.index(twins[0]) + 1, twins))
    return [*sorted(targets), (len(table.varying) + 1, [])]


def _require_difference(rows: Sequence[UsableRow]) -> None:
    if len({row.effective for row in rows}) < 2:  # then there is nothing to ask
        raise Unused("all_options_tie")


def write_question(
    table: ReactionTable, draft: Draft, settings: Settings, seed: int
) -> ChoiceQuestion:
    """Write the record of a question; a generator seeded from the seed and the id shuffles its
    options.

    A control has the order of its twin: a model that always says 0 must not tell them apart.
    """
    name = f"{table.id}_q{draft.number}{SIDES.get(draft.form, '')}"
    order = sorted(draft.options, key=lambda row: row.number)
    digest = hashlib.sha256(f"{seed}\0{name.removesuffix('_control')}".encode()).digest()
    random.Random(int.from_bytes(digest, "big")).shuffle(order)
    shown = draft.keys or table.varying
    best = max(row.effective for row in order)
    return {
        "id": name,
        "question_type": ("single_varying" if draft.keys else "all_varying") + draft.form,
        "target_key": draft.keys[0] if draft.keys else None,
        "varying_keys": table.varying,
        "input": _given(table, draft, settings),
        "options": [row.shown(shown) for row in order],
        "answer": [index for index, row in enumerate(order) if row.effective == best],
        "meta": _meta(table, order, draft.references, settings),
    }


def _given(table: ReactionTable, draft: Draft, settings: Settings) -> Input:
    """Collect the input of a question, which prompts show besides its options."""
    # Its spelling stands for all rows that agree.
    first = min(draft.options, key=lambda row: row.number)
    given: Input = {
        "reactants": table.reactants,
        "products": table.products[:1]
        if settings.input_products_mode == "main_only"
        else table.products,
        "constant_conditions": first.shown(table.constant),
    }
    if draft.keys:
        fixed = [key for key in table.varying if key not in draft.keys]
        given["fixed_conditions"] = first.shown(fixed)
    if draft.references:
        every = sorted([*table.constant, *table.varying])
        given["reference_conditions"] = [
            {"conditions": row.shown(every), **shown_scores(row.scores)} for row in draft.references
        ]
    return given


def _meta(
    table: ReactionTable,
    order: Sequence[UsableRow],
    references: Sequence[UsableRow],
    settings: Settings,
) -> dict[str, object]:
    """Values for scoring, and the source of a question; never shown in a prompt."""
    effective = [row.effective for row in order]
    best = max(effective)
    scores = [row.scores for row in order]
    if settings.numeric_scores:
        scores = list(map(number_scores, scores))
    meta = {
        "source_file": table.source_file,
        "doi": table.doi,
        "best_yield": max(row.scores["yield"] for row in order),
        "best_effective_score": best,
        "best_entry_indices": sorted(row.number for row in order if row.effective == best),
        "global_best_yield": max(row.scores["yield"] for row in table.rows),
        "global_best_effective_score": table.best,
        "global_best_entry_indices": [
            row.number for row in table.rows if row.effective == table.best
        ],
        "total_entries_in_source_table": table.entries,
        "yields": [row.scores["yield"] for row in order],
        "effective_scores": effective,
        "scores": scores,
        "option_relative_scores": [round(value / best, ROUND) for value in effective],
        "option_source_entries": [_source_entry(row) for row in order],
        "parent_table_id": table.id,
        "main_product_smiles": table.products[0]["SMILES"] if table.products else "",
    }
    if references:
        meta["reference_source_entries"] = [_source_entry(row) for row in references]
    return meta


def _source_entry(row: UsableRow) -> dict[str, object]:
    return {
        "row_index": row.number,
        "entry_idx": row.entry.get("entry_idx"),
        "rxn_id": row.entry.get("rxn_id"),
    }


# --- Which rows are options, which are references ---


def largest_group(table: ReactionTable, keys: Sequence[str]) -> list[UsableRow]:
    """Find the rows that differ in a condition and its twins only: most values of it, of equal ones
    the first group.
    """
    other_keys = [name for name in table.varying if name not in keys]
    # Rows have different conditions, so a group never has a value of the condition twice.
    groups = group_by(table.rows, lambda row: tuple(row.values.get(name) for name in other_keys))
    return max(groups.values(), key=len)


def cap(rows: Sequence[UsableRow], most: int) -> list[UsableRow]:
    """Keep at most `most` rows, in even steps from the lowest effective score to the best.

    A prompt with every experiment of a large screening sheet has hundreds of thousands of
    characters.
    """
    if len(rows) <= most:
        return list(rows)
    return _spread(sorted(rows, key=lambda row: (row.effective, row.number)), most)


def _spread(rows: Sequence[UsableRow], size: int) -> list[UsableRow]:
    step = (len(rows) - 1) / max(1, size - 1)
    return [rows[round(i * step)] for i in range(size)]


def balance(table: ReactionTable, settings: Settings) -> list[UsableRow]:
    """Choose rows for an all_varying question after BALANCE_ALL_VARYING_OPTIONS.

    While a key's most and least frequent values stand above the ratio and more than
    BALANCE_MIN_OPTIONS rows remain, the lowest (then last) row among those with a most frequent
    value of the most uneven key goes; the best never do.
    """
    kept = list(table.rows)
    while settings.balance_all_varying_options and len(kept) > settings.balance_min_options:
        surplus = _find_surplus(kept, table, settings.balance_max_imbalance_ratio)
        if not surplus:
            break
        kept.remove(min(surplus, key=lambda row: (row.effective, -row.number)))
    return kept


def _find_surplus(
    rows: Sequence[UsableRow], table: ReactionTable, most_ratio: float
) -> list[UsableRow]:
    """Find the rows below the best with a most frequent value of the most uneven key."""
    uneven = []
    for key in table.varying:
        counts = Counter(row.values.get(key) for row in rows)
        most = max(counts.values())
        surplus = [
            row
            for row in rows
            if row.effective < table.best and counts[row.values.get(key)] == most
        ]
        ratio = most / min(counts.values())
        if surplus and ratio > most_ratio:
            uneven.append((-ratio, key, surplus))
    return min(uneven, key=itemgetter(0, 1))[2] if uneven else []


def choose_references(
    table: ReactionTable, options: Sequence[UsableRow], all_varying: bool, settings: Settings
) -> list[UsableRow]:
    """Choose references from low to high, or raise Unused.

    From the lowest REFERENCE_LOW_MID_FRACTION of the candidates (all options; or, for a
    single_varying question, the rows outside its options that are no better than its best), without
    the table's best, evenly spaced.
    """
    candidates, spare = list(options), settings.min_reference_remaining_effective_options
    if all_varying and len(options) < spare + settings.min_reference_options:
        raise Unused("not_enough_effective_options")
    if not all_varying:
        inside = {row.number for row in options}
        local = max(row.effective for row in options)
        candidates = [
            row for row in table.rows if row.number not in inside and row.effective <= local
        ]
        if not candidates:
            raise Unused("no_reference_candidate")
    candidates.sort(key=lambda row: (row.effective, row.number))
    low = candidates[: math.floor(settings.reference_low_mid_fraction * len(candidates) + 1e-9)]
    below = [row for row in low if row.effective < table.best]
    if low and not below:
        raise Unused("no_non_top_score_group")
    size = min(settings.max_reference_options, len(below))
    if all_varying:
        size = min(size, len(options) - spare)
    if size < settings.min_reference_options:
        raise Unused("not_enough_reference_candidates")
    return _spread(below, size)
