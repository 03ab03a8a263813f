"""Rows of a table into questions: options, references, and what the records of a dataset hold."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from .cells import ROUND
from .options import all_tie, balance, cap, choose_references, largest_group
from .rows import Row, shown_scores
from .settings import Settings
from .tables import Table

_ID_SUFFIXES: Final = {"": "", "_reference": "_ref", "_reference_control": "_ref_control"}


class Asked(NamedTuple):
    """What a table gives: its questions, and how often something was not asked, by reason."""

    questions: list[dict[str, Any]]
    not_asked: Counter[str]  # single_varying and all_varying questions that the table does not give
    attempts: int  # questions for which references were looked for
    skipped: Counter[str]  # attempts that gave no `_ref` question
    capped: Counter[str]  # questions that do not offer all their options, and options that are left out


class Draft(NamedTuple):
    """A question before it is written down."""

    number: int  # in its table, from 1
    key: str | None  # the condition asked about; None: all that vary
    form: str  # "", "_reference" or "_reference_control"
    options: Sequence[Row]
    references: Sequence[Row] = ()


def ask(table: Table, settings: Settings, seed: int) -> Asked:
    """The questions of a table: one for each condition that varies, then one for all of them."""
    asked = Asked([], Counter(), 0, Counter(), Counter())
    attempts = 0
    for number, key in enumerate([*table.varying, None], 1):
        options = balance(table.rows, table.varying, settings) if key is None else largest_group(table, key)
        reason = "fewer_than_two_options" if len(options) < 2 else "all_options_tie" if all_tie(options) else ""
        if reason:
            asked.not_asked[reason] += 1
            continue
        drafts: list[tuple[str, Sequence[Row], Sequence[Row]]] = [("", options, ())]
        attempts += 1
        references, reason = choose_references(table, options, key is None, settings)
        left = [row for row in options if row not in references] if key is None else options
        if not reason and all_tie(left):
            reason = "all_options_tie"
        if reason:
            asked.skipped[reason] += 1
        else:
            drafts += [("_reference", left, references), ("_reference_control", left, ())]
        for form, rows, shown in drafts:
            offered = cap(rows, settings.max_options)
            asked.capped.update(questions=len(offered) < len(rows), options=len(rows) - len(offered))
            asked.questions.append(write_question(table, Draft(number, key, form, offered, shown), settings, seed))
    return asked._replace(attempts=attempts)


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
