"""Rows of a table into questions: options, references, and the records of a dataset."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
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
    # The condition that it is about, with its twins; empty: all that vary
    keys: Sequence[str]
    form: str  # "", "_reference" or "_reference_control"
    options: Sequence[UsableRow]
    references: Sequence[UsableRow] = ()


def make_questions(
    table: ReactionTable, settings: Settings, seed: int, counts: Counts
) -> list[ChoiceQuestion]:
    """Make the questions of a table, one for each condition that varies, then one
    for all of them.

    Adds to `counts` what it does not make: "not_asked" (single_varying and all_varying
    questions that the table does not give), "skipped" (questions without a `_ref` twin)
    and "capped" (questions that do not offer all their options, and options left out).
    """
    questions: list[ChoiceQuestion] = []
    for number, keys in _find_targets(table, counts):
        drafts: list[Draft] = []
        try:
            for draft in _make_drafts(table, number, keys, settings):
                drafts.append(draft)
        except Unused as left:
            counts["skipped" if drafts else "not_asked"][left.reason] += 1
        for draft in drafts:
            offered = cap(draft.options, settings.max_options)
            if more := len(draft.options) - len(offered):
                counts["capped"].update(questions=1, options=more)
            questions.append(
                write_question(table, draft._replace(options=offered), settings, seed)
            )
    return questions


def _make_drafts(
    table: ReactionTable, number: int, keys: Sequence[str], settings: Settings
) -> Iterator[Draft]:
    """Draft a question, then its form with references and the control of that; Unused
    for why one is not asked.
    """
    options = largest_group(table, keys) if keys else balance(table, settings)
    if len(options) < 2:
        raise Unused("fewer_than_two_options")
    _require_difference(options)
    yield Draft(number, keys, "", options)
    references = choose_references(table, options, not keys, settings)
    rest = options
    if not keys:
        rest = [row for row in options if row not in references]
    _require_difference(rest)
    yield Draft(number, keys, "_reference", rest, references)
    yield Draft(number, keys, "_reference_control", rest)


def _find_targets(table: ReactionTable, counts: Counts) -> list[tuple[int, list[str]]]:
    """Find what the questions of a table ask about, each with its number: a
    condition, all of them.

    Conditions that always change together, as a ligand's name and its SMILES, are one.
    Where the others were fixed there would be nothing to ask about either of them.
    """
    targets: list[tuple[int, list[str]]] = []
    for twins in table.twins:
        # The question of all that vary asks for them
        if len(twins) == len(table.varying) > 1:
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
    """Write the record of a question; a generator seeded from the seed and the id
    shuffles its options.

    A control has the order of its twin: a model that always says 0 must not
    tell them apart.
    """
    name = f"{table.id}_q{draft.number}{SIDES.get(draft.form, '')}"
    order = sorted(draft.options, key=lambda row: row.number)
    digest = hashlib.sha256(
        f"{seed}\0{name.removesuffix('_control')}".encode()
    ).digest()
    random.Random(int.from_bytes(digest, "big")).shuffle(order)
    base, target, shown = "all_varying", None, table.varying
    if draft.keys:
        base, target, shown = "single_varying", draft.keys[0], [*draft.keys]
    best = max(row.effective for row in order)
    answer = [index for index, row in enumerate(order) if row.effective == best]
    return {
        "id": name,
        "question_type": base + draft.form,
        "target_key": target,
        "varying_keys": table.varying,
        "input": _make_input(table, draft, settings),
        "options": [row.shown(shown) for row in order],
        "answer": answer,
        "meta": _make_meta(table, order, draft.references, settings),
    }


def _make_input(table: ReactionTable, draft: Draft, settings: Settings) -> Input:
    """Collect the input of a question, which prompts show besides its options."""
    # Its spelling stands for all rows that agree.
    first = min(draft.options, key=lambda row: row.number)
    products = table.products
    if settings.input_products_mode == "main_only":
        products = products[:1]
    given: Input = {
        "reactants": table.reactants,
        "products": products,
        "constant_conditions": first.shown(table.constant),
    }
    if draft.keys:
        fixed = [key for key in table.varying if key not in draft.keys]
        given["fixed_conditions"] = first.shown(fixed)
    if draft.references:
        every = sorted([*table.constant, *table.varying])
        given["reference_conditions"] = [
            {"conditions": row.shown(every), **shown_scores(row.scores)}
            for row in draft.references
        ]
    return given


def _make_meta(
    table: ReactionTable,
    order: Sequence[UsableRow],
    references: Sequence[UsableRow],
    settings: Settings,
) -> dict[str, object]:
    """Values for scoring, and the source of a question; never shown in a prompt."""
    yields = [row.scores["yield"] for row in order]
    effective = [row.effective for row in order]
    best = max(effective)
    relative = [round(value / best, ROUND) for value in effective]
    best_rows = sorted(row.number for row in order if row.effective == best)
    table_best_rows = [row.number for row in table.rows if row.effective == table.best]
    scores = [row.scores for row in order]
    if settings.numeric_scores:
        scores = list(map(number_scores, scores))
    main_products = [product["SMILES"] for product in table.products[:1]]
    meta = {
        "source_file": table.source_file,
        "doi": table.doi,
        "best_yield": max(yields),
        "best_effective_score": best,
        "best_entry_indices": best_rows,
        "global_best_yield": max(row.scores["yield"] for row in table.rows),
        "global_best_effective_score": table.best,
        "global_best_entry_indices": table_best_rows,
    }
    meta |= {
        "total_entries_in_source_table": table.entries,
        "yields": yields,
        "effective_scores": effective,
        "scores": scores,
        "option_relative_scores": relative,
        "option_source_entries": [_source_entry(row) for row in order],
        "parent_table_id": table.id,
        "main_product_smiles": "".join(main_products),
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
    """Find the rows that differ in a condition and its twins only: most values of it,
    of equal ones the first group.
    """
    other_keys = [name for name in table.varying if name not in keys]
    # Rows have different conditions, so a group never has a value of the
    # condition twice.
    groups = group_by(
        table.rows, lambda row: tuple(row.values.get(name) for name in other_keys)
    )
    return max(groups.values(), key=len)


def cap(rows: Sequence[UsableRow], size: int) -> list[UsableRow]:
    """Keep at most `size` rows, in even steps from the lowest effective
    score to the best.

    A prompt with every experiment of a large screening sheet has hundreds of thousands
    of characters.
    """
    if len(rows) <= size:
        return list(rows)
    return _space_evenly(sorted(rows, key=_from_low_to_high), size)


def _from_low_to_high(row: UsableRow) -> tuple[float, int]:
    return row.effective, row.number


def _space_evenly(rows: Sequence[UsableRow], size: int) -> list[UsableRow]:
    step = (len(rows) - 1) / max(1, size - 1)
    return [rows[round(i * step)] for i in range(size)]


def balance(table: ReactionTable, settings: Settings) -> list[UsableRow]:
    """Choose rows for an all_varying question after BALANCE_ALL_VARYING_OPTIONS.

    While a key's most and least frequent values stand above the ratio and more than
    BALANCE_MIN_OPTIONS rows remain, the lowest (then last) row among those with a most
    frequent value of the most uneven key goes; the best never do.
    """
    rows = list(table.rows)
    if not settings.balance_all_varying_options:
        return rows
    while len(rows) > settings.balance_min_options:
        surplus = _find_surplus(rows, table, settings.balance_max_imbalance_ratio)
        if not surplus:
            break
        rows.remove(min(surplus, key=lambda row: (row.effective, -row.number)))
    return rows


def _find_surplus(
    rows: Sequence[UsableRow], table: ReactionTable, max_ratio: float
) -> list[UsableRow]:
    """Find the rows below the best with a most frequent value of the
    most uneven key.
    """
    below = [row for row in rows if row.effective < table.best]
    uneven = [(0.0, "", list[UsableRow]())]
    for key in table.varying:
        counts = Counter(row.values.get(key) for row in rows)
        highest = max(counts.values())
        surplus = [row for row in below if counts[row.values.get(key)] == highest]
        ratio = highest / min(counts.values())
        if surplus and ratio > max_ratio:
            uneven.append((-ratio, key, surplus))
    _, _, surplus = min(uneven, key=itemgetter(0, 1))
    return surplus


def choose_references(
    table: ReactionTable,
    options: Sequence[UsableRow],
    all_varying: bool,
    settings: Settings,
) -> list[UsableRow]:
    """Choose references from low to high, or raise Unused.

    From the lowest REFERENCE_LOW_MID_FRACTION of the candidates (all options; or, for a
    single_varying question, the rows outside its options that are no better than its
    best), without the table's best, evenly spaced.
    """
    spare = settings.min_reference_remaining_effective_options
    if all_varying and len(options) < spare + settings.min_reference_options:
        raise Unused("not_enough_effective_options")
    candidates = options
    if not all_varying:
        numbers = {row.number for row in options}
        local_best = max(row.effective for row in options)
        outside = [row for row in table.rows if row.number not in numbers]
        candidates = [row for row in outside if row.effective <= local_best]
        if not candidates:
            raise Unused("no_reference_candidate")
    share = settings.reference_low_mid_fraction
    n_low = math.floor(share * len(candidates) + 1e-9)
    low = sorted(candidates, key=_from_low_to_high)[:n_low]
    below = [row for row in low if row.effective < table.best]
    if low and not below:
        raise Unused("no_non_top_score_group")
    size = min(settings.max_reference_options, len(below))
    if all_varying:
        size = min(size, len(options) - spare)
    if size < settings.min_reference_options:
        raise Unused("not_enough_reference_candidates")
    return _space_evenly(below, size)
