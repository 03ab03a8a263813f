"""Tables and questions that tests of RxnOptBench give it, and what every build must satisfy."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from forecasteval.rxnopt.build.builder import Build, build_questions
from forecasteval.rxnopt.build.chemicals import compare_key, read_items
from forecasteval.rxnopt.build.questions import make_questions
from forecasteval.rxnopt.build.settings import Settings
from forecasteval.rxnopt.build.tables import (
    ReactionTable,
    Unused,
    UsableRow,
    read_results,
    read_table,
    score_rows,
)
from forecasteval.rxnopt.datasets import BASE_TYPES
from forecasteval.rxnopt.scoring import RxnOptEvaluator

ROOT: Final = Path(__file__).resolve().parent.parent
CASES: Final = ROOT / "tests" / "cases"
RAW_CONTROL: Final = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
Record = dict[str, Any]
Row = tuple[dict[str, str], dict[str, object]]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# --- Tables ---


def table(name: str, rows: list[Row], **more: Any) -> Record:
    """A table of rows (conditions as text, results)."""
    return {
        "root_img_name": name,
        "source_file": f"{name}.json",
        "reactants": [{"content": "benzene", "SMILES": "c1ccccc1"}],
        "products": [{"content": "phenol", "SMILES": "Oc1ccccc1"}],
        "entries": [
            {"entry_idx": str(n), "rxn_id": "0", "results": out,
             "conditions": {k: read_items(v) for k, v in given.items()}}
            for n, (given, out) in enumerate(rows, 1)
        ],
        **more,
    }  # fmt: skip


def simple(name: str, yields: list[object], **more: Any) -> Record:
    """A table in which one condition, `base`, varies."""
    return table(
        name, [({"base": f"base {n}"}, {"yield_ratio": y}) for n, y in enumerate(yields)], **more
    )


ELECTROLYTES: Final = {
    "n-Bu4NClO4": (
        "CCCC[N+](CCCC)(CCCC)CCCC.[O-][Cl+3]([O-])([O-])[O-]",
        "3 wt % aq. PS-750-M",
        27,
    ),
    "NaI": ("[I-].[Na+]", "PS-750-M", 32),
    "n-Bu4NBr": ("CCCC[N+](CCCC)(CCCC)CCCC.[Br-]", "3 wt % aq. PS-750-M", 42),
    "NaBF4": ("F[B-](F)(F)F.[Na+]", "PS-750-M", 47),
    "n-Bu4NPF6": ("CCCC[N+](CCCC)(CCCC)CCCC.F[P-](F)(F)(F)(F)F", "PS-750-M", 28),
    "n-Bu4NI": ("CCCC[N+](CCCC)(CCCC)CCCC.[I-]", "3 wt % aq. PS-750-M", 59),
    "NaBr": ("[Br-].[Na+]", "aq. PS-750-M", 40),
    "NaClO4": ("[Na+].[O-][Cl+3]([O-])([O-])[O-]", "PS-750-M", 45),
}


def worked_example() -> Record:
    constant = {
        "Anode(+)": "Zn", "Cathode(-)": "C", "Constant_Current": "30 mA", "Main_Mode": "Constant",
        "Reaction_Type": "Integrated Cell Reaction", "reaction_temperature": "rt",
        "reaction_time": "4 h",
        "speed": "800 rpm",
    }  # fmt: skip
    rows: list[Row] = [
        (
            {**constant, "Electrolyte": f"{name} (0.1 M)", "solvents": solvent},
            {"yield_ratio": str(percent)},
        )
        for name, (_, solvent, percent) in ELECTROLYTES.items()
    ]
    made = table("10_1002_anie_202416132_si_4_table_1", rows)
    made["reactants"] = [
        {"content": "2,2-difluoro-3-phenyl-2H-indole", "SMILES": "FC1(F)C(c2ccccc2)=Nc2ccccc21"}
    ]
    made["products"] = [
        {"content": "2-fluoro-3-phenyl-1H-indole", "SMILES": "Fc1c(-c2ccccc2)[nH]c2ccccc12"}
    ]
    for entry, (name, (smiles, _, _)) in zip(made["entries"], ELECTROLYTES.items(), strict=True):
        entry["conditions"]["reagents"] = [{"content": name, "SMILES": smiles}]
    return made


def score_row(
    results: Record, settings: Settings | None = None, fraction: bool = False
) -> tuple[Record | None, float]:
    """The scores of a row and its effective score; None and 0 without a yield."""
    settings = settings or Settings()
    try:
        measured, factors = read_results(results, settings, fraction, [])
    except Unused:
        return None, 0.0
    row = UsableRow(0, {}, {}, {}, measured, factors)
    (scored,) = score_rows([row], "t", settings.yield_field_priority, [])
    return scored.scores, scored.effective


# --- Questions ---


def question(
    name: str, effective: list[float], kind: str = "single_varying", **meta: Any
) -> Record:
    best = max(effective)
    relative = [round(value / best, 6) if best else 0.0 for value in effective]
    return {
        "id": name, "question_type": kind, "input": {}, "options": [{} for _ in effective],
        "answer": [i for i, value in enumerate(effective) if value == best],
        "meta": {
            "yields": effective, "effective_scores": effective,
            "option_relative_scores": relative, **meta,
        },
    }  # fmt: skip


def by_id(made: Build) -> dict[str, Record]:
    return {question["id"]: question for question in made.questions}


DATA: Final = [
    question("a", [97.0, 57.0]),
    question("b", [47.0, 28.0, 59.0, 40.0, 45.0], "all_varying"),
]


# --- Anything that JSON can hold ---

LEAVES: Final = st.sampled_from(
    [None, True, 0, -1, 1e308, float("nan"), 10**30, "", "—", "x", "y", "\ud800", "80(77)",
     "50%", "\x1b[2J"]
)  # fmt: skip
NAMES: Final = st.sampled_from(
    ["content", "SMILES", "current_conditions", "yield_ratio", "ee", "base", "x", ""]
)
VALUES: Final = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def named(tables: Iterable[Mapping[str, Any]]) -> dict[str, object]:
    """Tables by the names of their files, of equal ones with a number."""
    found: dict[str, object] = {}
    for number, raw in enumerate(tables):
        fields = raw if isinstance(raw, Mapping) else {}
        name = str(fields.get("source_file") or fields.get("root_img_name") or "table")
        found[f"{name} {number}" if name in found else name] = raw
    return found


# --- Builds, and what must hold in every one of them ---


def build(*tables: Mapping[str, Any], seed: int = 0, **chosen: Any) -> Build:
    """The questions of tables; everything that a test builds is checked."""
    made = build_questions(named(tables), seed, **chosen)
    check_build(made, tables)
    return made


def check_build(made: Build, tables: Iterable[Mapping[str, Any]]) -> None:
    """The counts add up, the questions follow the rules of their tables, and the evaluator takes
    them.
    """
    counts, reasons = made.kinds, made.counts
    assert sum(counts.values()) == len(made.questions) == len(by_id(made))
    assert made.used + reasons["unused"].total() == made.tables
    assert reasons["unused"].total() == len(made.unused_tables)
    for base in BASE_TYPES:
        assert counts[f"{base}_reference"] == counts[f"{base}_reference_control"]
    RxnOptEvaluator(made.questions)
    found = by_id(made)
    used: set[str] = set()
    for name, raw in sorted(named(tables).items()):
        try:
            table_ = read_table(raw, name, made.settings, [])
        except Unused:
            continue
        questions = make_questions(table_, made.settings, made.seed, defaultdict(Counter))
        if questions and table_.id not in used:  # of two tables with one id the first counts
            used.add(table_.id)
            assert all(found.pop(question["id"]) == question for question in questions)
            check_questions(table_, questions, made.settings)
    assert not found, "questions of no table"
    assert len(used) == made.used


def check_questions(table: ReactionTable, questions: Sequence[Record], settings: Settings) -> None:
    """Options and references are rows of the table, apart from each other, and a control has its
    twin's options.
    """
    rows = {row.number: row for row in table.rows}
    rows_of = {
        q["id"]: {entry["row_index"] for entry in q["meta"]["option_source_entries"]}
        for q in questions
    }
    for question in questions:
        meta, given, name = question["meta"], question["input"], question["id"]
        used = [rows[entry["row_index"]] for entry in meta["option_source_entries"]]
        shown = [rows[entry["row_index"]] for entry in meta.get("reference_source_entries", [])]
        context = {**given["constant_conditions"], **given.get("fixed_conditions", {})}
        for row, option in zip(used, question["options"], strict=True):
            full = {**context, **option}
            values = {
                k: compare_key(v, settings.normalize_conditions) for k, v in full.items() if v
            }
            assert values == row.values, f"{name}: an option is no row of the table"
        assert len(rows_of[name]) == len(used) > 1, f"{name}: fewer than two distinct options"
        assert rows_of[name].isdisjoint(row.number for row in shown), (
            f"{name}: a reference is an option"
        )
        assert all(row.effective < table.best for row in shown), (
            f"{name}: a reference is the table's best row"
        )
        local = max(row.effective for row in used)
        if question["target_key"] is not None:
            assert all(row.effective <= local for row in shown), (
                f"{name}: a reference is above the options"
            )
        if not question["question_type"].endswith("_reference"):
            assert not shown, f"{name}: a question without references has some"
            assert "reference_conditions" not in given, f"{name}: references in the input"
            continue
        assert settings.min_reference_options <= len(shown) <= settings.max_reference_options, (
            f"{name}: references"
        )
        assert len(given["reference_conditions"]) == len(shown), f"{name}: references in the input"
        assert rows_of.get(name + "_control") == rows_of[name], (
            f"{name}: the control has other options"
        )
