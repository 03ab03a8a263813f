"""Questions: the seed's worked example, and the order of options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from each import each
from forecasteval.rxnopt.questions import ask
from forecasteval.rxnopt.settings import Settings
from forecasteval.rxnopt.tables import read_table
from make_rxnopt_samples import make_tables
from rxnopt_tables import Record, build, by_id, check_questions, simple, worked_example


def test_the_worked_example_of_the_seed() -> None:
    made = by_id(build(worked_example()))
    question = made["10_1002_anie_202416132_si_4_table_1_q4_ref"]
    assert question["question_type"] == "all_varying_reference"
    assert question["target_key"] is None
    assert question["varying_keys"] == ["Electrolyte", "reagents", "solvents"]
    assert [reference["yield"] for reference in question["input"]["reference_conditions"]] == [27, 32, 42]
    assert sorted(question["meta"]["option_relative_scores"]) == [0.474576, 0.677966, 0.762712, 0.79661, 1.0]
    relative = dict(zip(question["meta"]["yields"], question["meta"]["option_relative_scores"], strict=True))
    assert relative == {47: 0.79661, 28: 0.474576, 59: 1.0, 40: 0.677966, 45: 0.762712}
    assert question["meta"]["best_entry_indices"] == question["meta"]["global_best_entry_indices"] == [5]
    control = made["10_1002_anie_202416132_si_4_table_1_q4_ref_control"]
    assert "reference_conditions" not in control["input"]
    assert sorted(control["meta"]["yields"]) == [28, 40, 45, 47, 59]
    assert control["options"] == question["options"]  # in the same order
    assert control["answer"] == question["answer"]
    assert control["input"]["constant_conditions"] == question["input"]["constant_conditions"]


def test_the_seed_decides_the_order_of_options_and_nothing_else() -> None:
    one, other = (build(*make_tables(), seed=seed) for seed in (1, 2))
    assert [q["id"] for q in one.questions] == [q["id"] for q in other.questions]
    assert [q["input"] for q in one.questions] == [q["input"] for q in other.questions]
    assert [q["answer"] for q in one.questions] != [q["answer"] for q in other.questions]


def test_positions_of_the_best_option_are_even() -> None:
    tables = [simple(f"t{n}", [9, 1, 2, 3]) for n in range(400)]
    places = Counter(q["answer"][0] for q in build(*tables).questions if q["question_type"] == "single_varying")
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 70  # 100 each, five standard deviations below


@each(
    ("break_it", "message"),
    [
        (lambda q: q["meta"]["option_source_entries"].reverse(), "an option is no row of the table"),
        (lambda q: q["meta"]["reference_source_entries"].clear(), "references"),
        (lambda q: q["input"]["reference_conditions"].clear(), "references in the input"),
        (
            lambda q: q["meta"]["reference_source_entries"].__setitem__(0, q["meta"]["option_source_entries"][0]),
            "a reference is an option",
        ),
        (lambda q: q.update(id="x_ref"), "the control has other options"),
    ],
)
def test_the_rules_that_every_test_checks_do_catch_faults(break_it: Callable[[Record], object], message: str) -> None:
    read = read_table(worked_example(), "t.json", Settings(), [])
    questions = ask(read, Settings(), 0).questions
    check_questions(read, questions, Settings())
    break_it(next(q for q in questions if q["id"].endswith("_q4_ref")))
    with pytest.raises(AssertionError, match=message):
        check_questions(read, questions, Settings())
