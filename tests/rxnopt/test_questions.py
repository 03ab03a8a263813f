"""Questions: the seed's worked example, and the order of options."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from forecasteval.rxnopt.build.questions import make_questions
from forecasteval.rxnopt.build.settings import Settings
from forecasteval.rxnopt.build.tables import read_table
from make_rxnopt_samples import make_tables
from rxnopt_tables import Record, Row, build, by_id, check_questions, simple, table, worked_example


def test_the_worked_example_of_the_seed() -> None:
    made = by_id(build(worked_example()))
    question = made["10_1002_anie_202416132_si_4_table_1_q4_ref"]
    assert question["question_type"] == "all_varying_reference"
    assert question["target_key"] is None
    assert question["varying_keys"] == ["Electrolyte", "reagents", "solvents"]
    assert [reference["yield"] for reference in question["input"]["reference_conditions"]] == [
        27,
        32,
        42,
    ]
    assert sorted(question["meta"]["option_relative_scores"]) == [
        0.474576,
        0.677966,
        0.762712,
        0.79661,
        1.0,
    ]
    relative = dict(
        zip(question["meta"]["yields"], question["meta"]["option_relative_scores"], strict=True)
    )
    assert relative == {47: 0.79661, 28: 0.474576, 59: 1.0, 40: 0.677966, 45: 0.762712}
    assert (
        question["meta"]["best_entry_indices"]
        == question["meta"]["global_best_entry_indices"]
        == [5]
    )
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
    places = Counter(
        q["answer"][0] for q in build(*tables).questions if q["question_type"] == "single_varying"
    )
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 70  # 100 each, five standard deviations below


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (
            lambda q: q["meta"]["option_source_entries"].reverse(),
            "an option is no row of the table",
        ),
        (lambda q: q["meta"]["reference_source_entries"].clear(), "references"),
        (lambda q: q["input"]["reference_conditions"].clear(), "references in the input"),
        (
            lambda q: q["meta"]["reference_source_entries"].__setitem__(
                0, q["meta"]["option_source_entries"][0]
            ),
            "a reference is an option",
        ),
        (lambda q: q.update(id="x_ref"), "the control has other options"),
    ],
)
def test_the_rules_that_every_test_checks_do_catch_faults(
    break_it: Callable[[Record], object], message: str
) -> None:
    read = read_table(worked_example(), "t.json", Settings(), [])
    questions = make_questions(read, Settings(), 0, defaultdict(Counter))
    check_questions(read, questions, Settings())
    break_it(next(q for q in questions if q["id"].endswith("_q4_ref")))
    with pytest.raises(AssertionError, match=message):
        check_questions(read, questions, Settings())


# --- Which rows are options, which are references ---


def test_a_single_question_uses_the_fullest_real_group() -> None:
    cells = [
        ("K", "DMF", 10),
        ("K", "THF", 20),
        ("Na", "THF", 30),
        ("Cs", "THF", 40),
        ("Li", "DMF", 50),
        ("Cs", "EtOH", 5),
    ]
    rows: list[Row] = [({"base": b, "solvents": s}, {"yield_ratio": y}) for b, s, y in cells]
    question = by_id(build(table("t", rows)))["t_q1"]
    assert question["target_key"] == "base"
    assert question["input"]["fixed_conditions"] == {"solvents": [{"content": "THF", "SMILES": ""}]}
    assert sorted(option["base"][0]["content"] for option in question["options"]) == [
        "Cs",
        "K",
        "Na",
    ]
    assert (question["meta"]["best_yield"], question["meta"]["global_best_yield"]) == (40, 50)
    assert question["meta"]["global_best_entry_indices"] == [4]


def test_of_equal_groups_the_lowest_row_counts() -> None:
    rows: list[Row] = [
        ({"base": b, "solvents": s}, {"yield_ratio": y})
        for b, s, y in [
            ("Cs", "EtOH", 1),
            ("K", "DMF", 10),
            ("K", "THF", 20),
            ("Na", "THF", 30),
            ("Na", "DMF", 40),
        ]
    ]
    assert (
        by_id(build(table("t", rows)))["t_q1"]["input"]["fixed_conditions"]["solvents"][0][
            "content"
        ]
        == "DMF"
    )


def test_balancing() -> None:
    yields = {"K": [1, 2, 3, 4, 90], "Na": [50, 60]}
    rows: list[Row] = [
        ({"base": b, "run": str(y)}, {"yield_ratio": y})
        for b, values in yields.items()
        for y in values
    ]
    plain = by_id(build(table("t", rows)))["t_q3"]
    assert len(plain["options"]) == 7
    even = by_id(build(table("t", rows), balance_all_varying_options="true"))["t_q3"]
    assert sorted(even["meta"]["yields"]) == [
        3,
        4,
        50,
        60,
        90,
    ]  # 3 of one to 2 of the other is 1.5: left alone
    tight = by_id(
        build(table("t", rows), balance_all_varying_options="true", balance_max_imbalance_ratio="1")
    )["t_q3"]
    assert sorted(tight["meta"]["yields"]) == [4, 50, 60, 90]
    rows = [
        ({"base": b, "run": str(n)}, {"yield_ratio": y})
        for n, (b, y) in enumerate(zip("KKKKNN", [1, 1, 1, 9, 5, 5], strict=True))
    ]
    last = by_id(build(table("t", rows), balance_all_varying_options="true"))[
        "t_q3"
    ]  # of equal rows the last goes
    assert sorted(entry["row_index"] for entry in last["meta"]["option_source_entries"]) == [
        0,
        1,
        3,
        4,
        5,
    ]


def test_large_screens_are_capped_with_the_best_and_an_even_spread() -> None:
    made = build(simple("t", [(37 * n) % 101 for n in range(101)]))  # 0 to 100 in some order
    plain, reference, control = (by_id(made)[f"t_q2{end}"] for end in ("", "_ref", "_ref_control"))
    assert sorted(plain["meta"]["yields"]) == [round(n * 100 / 19) for n in range(20)]
    assert sorted(reference["meta"]["yields"])[-1] == 100
    assert len(reference["options"]) == 20
    assert reference["options"] == control["options"]
    assert len(by_id(made)["t_q1"]["options"]) == 20
    assert made.counts["capped"] == {"questions": 4, "options": 2 * 81 + 2 * (96 - 20)}
    assert len(by_id(build(simple("t", [1, 2, 3, 4]), max_options=2))["t_q2"]["options"]) == 2
    assert build(simple("t", [1, 2, 3, 4])).counts["capped"] == {}


def test_single_references_are_rows_outside_that_are_no_better() -> None:
    rows: list[Row] = [
        ({"base": f"b{n}", "solvents": "THF"}, {"yield_ratio": 40 + n}) for n in range(4)
    ]
    rows += [
        ({"base": "x", "solvents": f"s{n}"}, {"yield_ratio": y})
        for n, y in enumerate([5, 43, 90, 10, 42, 20, 7])
    ]
    question = by_id(build(table("t", rows)))["t_q1_ref"]
    # 90 is above the best option; of 5, 7, 10, 20, 42, 43 the lowest floor(2/3 * 6) stay
    assert [reference["yield"] for reference in question["input"]["reference_conditions"]] == [
        5,
        7,
        10,
        20,
    ]


def test_skip_reasons_of_references() -> None:
    def reasons(*tables: Record, **chosen: Any) -> dict[str, int]:
        made = build(*tables, **chosen)
        generated = sum(question["id"].endswith("_ref") for question in made.questions)
        assert generated == made.references
        return made.counts["skipped"]

    assert reasons(simple("t", [1, 2, 3, 4, 5, 6])) == {
        "no_reference_candidate": 1,
        "not_enough_effective_options": 1,
    }
    assert reasons(simple("t", [1, 2, 3, 4, 5, 6, 7])) == {"no_reference_candidate": 1}
    # nothing but the top score in the lower two thirds
    assert reasons(simple("t", [0, 9, 9, 9, 9, 9, 9, 9]), reference_low_mid_fraction=0.1) == {
        "no_reference_candidate": 1, "not_enough_reference_candidates": 1,
    }  # fmt: skip
    top: list[Row] = [
        ({"base": b, "solvents": "THF"}, {"yield_ratio": y}) for b, y in [("K", 9), ("Na", 1)]
    ]
    top += [({"base": "Cs", "solvents": f"s{n}"}, {"yield_ratio": 9}) for n in range(4)]
    assert reasons(table("t", top))["no_non_top_score_group"] == 1
    # the two lowest go as references, and what is left ties
    assert reasons(simple("t", [1, 2, 9, 9, 9, 9, 9]))["all_options_tie"] == 1


def test_references_of_all_varying_are_evenly_spaced_and_leave_five() -> None:
    def chosen(count: int, **settings_: Any) -> list[float]:
        question = by_id(
            build(simple("t", list(range(count)), **{}), max_options=100, **settings_)
        )["t_q2_ref"]
        assert len(question["options"]) == count - len(question["input"]["reference_conditions"])
        return [reference["yield"] for reference in question["input"]["reference_conditions"]]

    assert chosen(7) == [0, 3]  # of 0 to 3
    assert chosen(8) == [0, 2, 4]
    assert chosen(9) == [0, 2, 3, 5]  # of 0 to 5, steps of 5/3
    assert chosen(12) == [0, 2, 4, 5, 7]  # of 0 to 7, steps of 7/4
    assert chosen(30) == [0, 5, 10, 14, 19]
    assert chosen(30, max_reference_options=2) == [0, 19]
    assert chosen(12, min_reference_remaining_effective_options=10) == [0, 7]
    assert chosen(12, reference_low_mid_fraction=0.25) == [0, 1, 2]
    # 0.29 * 100 is 28.999999999999996
    assert chosen(100, reference_low_mid_fraction=0.29, max_reference_options=50) == list(range(29))
