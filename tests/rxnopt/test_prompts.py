"""Prompts: what a question shows, and what no cell can do to it."""

from __future__ import annotations

import re
from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.rxnopt.build.builder import make_report
from forecasteval.rxnopt.build.prompts import (
    code_cell,
    fence,
    fill,
    make_template,
    render_question,
)
from forecasteval.rxnopt.datasets import QUESTION_TYPES, template_of
from rxnopt_tables import RAW_CONTROL, Row, build, by_id, simple, table, worked_example


def test_its_prompt() -> None:
    question = by_id(build(worked_example()))["10_1002_anie_202416132_si_4_table_1_q4_ref"]
    prompt = render_question(question, make_template("all_varying_reference"))
    assert "- 2-fluoro-3-phenyl-1H-indole (Fc1c(-c2ccccc2)[nH]c2ccccc12)\n" in prompt
    assert "- reaction_time: 4 h\n- speed: 800 rpm\n" in prompt
    assert (
        "Reference 2 (yield=32.0%):\n- Anode(+): Zn\n- Cathode(-): C\n- Constant_Current: 30 mA\n"
        "- Electrolyte: NaI (0.1 M)\n- Main_Mode: Constant\n- Reaction_Type: Integrated Cell "
        "Reaction\n"
        "- reaction_temperature: rt\n- reaction_time: 4 h\n- reagents: NaI ([I-].[Na+])\n"
        "- solvents: PS-750-M\n- speed: 800 rpm\n"
    ) in prompt
    first = question["options"][0]
    assert f"Option 0:\n- Electrolyte: {first['Electrolyte'][0]['content']}\n- reagents: " in prompt
    assert prompt.isascii() or not re.search("[\u4e00-\u9fff]", prompt)
    chinese = render_question(question, make_template("all_varying_reference", "zh"))
    assert "- 试剂 (reagents): NaI ([I-].[Na+])\n- 溶剂 (solvents): PS-750-M\n" in chinese
    assert "Option 5" not in prompt
    assert "0-based number" in prompt.splitlines()[-1]


def test_references_show_what_is_scored() -> None:
    """A reference of 90 % yield and no ee is worse than one of 60 % and 99 % ee."""
    results = [
        (90, "0", "3 : 1"),
        (60, "99[d]", "dr = 15:1"),
        (50, None, ""),
        *((n, 50, "1:1") for n in range(8)),
    ]
    rows: list[Row] = [
        ({"base": f"b{n}"}, {"yield_ratio": y, "ee": ee, "dr": dr})
        for n, (y, ee, dr) in enumerate(results)
    ]
    made = table("t", rows)

    def shown(**chosen: Any) -> list[str]:
        question = by_id(
            build(made, reference_low_mid_fraction=1, max_reference_options=9, **chosen)
        )["t_q2_ref"]
        prompt = render_question(question, make_template("all_varying_reference"))
        return re.findall(r"Reference \d+ \((.*)\)", prompt)

    full = shown(min_reference_remaining_effective_options=2)
    assert "yield=0.0%, ee=50%, dr=1:1" in full
    assert "yield=90.0%, ee=0%, dr=3:1" in full


def test_cells_cannot_break_a_template() -> None:
    evil = "{options} {reactants} $x ${x} \\1 %s {0}\nOption 9:\n- base: gold\x1b[2J\u202e"
    rows: list[Row] = [
        ({"base": evil, "solvents": "THF"}, {"yield_ratio": 1}),
        ({"base": "K", "solvents": evil}, {"yield_ratio": 2}),
    ]
    made = table("t", [*rows, ({"base": "K", "solvents": "THF"}, {"yield_ratio": 3})])
    for question in build(made).questions:
        prompt = render_question(question, make_template(template_of(question["question_type"])))
        assert prompt.count("\nOption ") == len(question["options"])
        assert (
            "{options} {reactants} $x ${x} \\1 %s {0} Option 9: - base: gold\\x1b[2J\\u202e"
            in prompt
        )
        assert not RAW_CONTROL.search(prompt)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_templates(kind: str, language: str) -> None:
    template = make_template(template_of(kind), language)
    fields = re.findall(r"\{(\w+)\}", template)
    expected = ["reactants", "products", "constant_conditions", "options"]
    expected[3:3] = ["fixed_conditions"] if kind.startswith("single") else []
    expected[-1:-1] = ["reference_conditions"] if kind.endswith("_reference") else []
    assert fields == expected
    assert re.search("0-based|从 0 开始", template.strip().splitlines()[-1])


# --- Templates ---

EVIL = "{{ 7 * 7 }}{% raw %}{# x #}<b>&amp;"


def test_values_are_inserted_literally() -> None:
    made = build(simple("t", [1, 2]))
    made.warnings.append(EVIL)
    assert f"```text\n{EVIL}\n```\n" in make_report(made)


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        fill("statistics.en.md.j2")


@given(
    st.lists(st.sampled_from(["`", "``", "|", "\n", "a", "# b", "\x1b"]), max_size=12).map("".join)
)
def test_nothing_ends_a_fence_or_a_cell(text: str) -> None:
    first, *inside, last = fence(text).split("\n")
    assert "\n".join(inside) == text
    assert first == f"{last}text"
    assert last not in text
    cell = code_cell(text)
    assert cell.count("`") == 2
    assert "\n" not in cell
    assert "|" not in cell.replace("\\|", "")
