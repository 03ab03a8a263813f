"""Columns: which of them tell the result, which count rows."""

from __future__ import annotations

import numpy as np
import pytest

from forecasteval.rxnopt.columns import (
    correlation,
    header_roles,
    is_entry,
    is_result,
    is_row_number,
    split_cell,
)


@pytest.mark.parametrize(
    "name",
    [
        "ee", "EE (%)", "ee_%c", "% ee", "e.e.", "e.e. [%]", "ee^b", "eeᵇ", "enantiomeric excess", "enantioselectivity",
        "er", "e.r.", "dr", "d.r.", "dr_d", "rr_3a:3a_prime_c", "conversion", "Conv.", "conv_%", "conversion_a",
        "Selectivity_pct", "selectivity", "TON", "tof (h-1)", "purity", "HPLC purity", "LCAP", "area %", "Area_PCT",
        "UV area", "assay", "Assay Yield", "recovery", "recovered SM", "mass", "mass (mg)", "isolated mass",
        "yield_3a_prime", "aYield", "E/Z", "b/l", "Ausbeute", "转化率", "产率（%）", "Product_Yield_Mass_Ion_Count",
        "Comment", "comments", "Hit", "Hit?", "Outcome", "Result", "Observation", "Notes", "Product/IS", "P/IS",
        "SM remaining", "remaining SM (%)", "byproduct", "By-product (%)", "side product", "ΔΔG‡", "ddG", "Rank",
        "备注", "副产物", "success", "Worked?", "TLC", "LCMS", "grade", "Quality", "colour", "GC (%)", "颜色",
    ],
)  # fmt: skip
def test_results_are_known_by_name(name: str) -> None:
    assert is_result(name)


@pytest.mark.parametrize(
    "name",
    [
        "base", "temperature", "temp_C", "solvent", "time_d", "dry", "ligand", "additive", "catalyst mass", "L*", "X",
        "electrode area", "Concentration", "acylating_agent_X", "catalyst", "order of addition", "pressure", "degassed",
        "Reagent_1", "deviation_from_standard", "thiourea_catalyst", "Temp °C", "equiv", "stirring (rpm)", "溶剂",
        "water_content", "氛围", "scored septum", "ranked base", "solvent grade", "LED colour", "气氛", "GC column",
    ],
)  # fmt: skip
def test_conditions_are_no_results(name: str) -> None:
    assert not is_result(name)


@pytest.mark.parametrize(
    ("name", "roles"),
    [("yield (ee)", ("yield", "ee")), ("Yield [%] (ee [%])", ("yield", "ee")), ("yield/ee", ("yield", "ee")),
     ("conv. (yield)", ("conv", "yield")), ("% yield (% de)", ("yield", "dr")), ("ee", ()), ("yield of ee", ()),
     ("yield (%)", ()), ("yield, er", ("yield", "er")), ("isolated yield (conv.)", ("yield", "conv")),
     ("产率/ee", ("yield", "ee")), ("收率（转化率）", ("yield", "conv"))],
)  # fmt: skip
def test_names_that_announce_two_numbers(name: str, roles: tuple[str, ...]) -> None:
    assert header_roles(name) == roles


def test_cells_of_two_numbers() -> None:
    for cell in ("88 (92)", "88% (92% ee)", "88 [92]c", "88（92）", "88/92", "88, 92"):
        parts = split_cell(cell, ("yield", "ee"))
        assert [part.split("%")[0] for part in parts.values()] == ["88", "92"], cell
    assert split_cell("88 (95:5)", ("yield", "er")) == {"yield": "88", "er": "95:5"}
    assert split_cell("(92)", ("yield", "ee")) == {"yield": "", "ee": "92"}


def test_row_numbers() -> None:
    names = ["Entry", "s_no", "#", "Reaction ID", "exp. no.", "编号", "(unnamed)"]
    assert all(is_row_number(name, ["2", "1", "3"]) for name in names)
    assert all(map(is_entry, names))
    assert not is_row_number("equiv", ["1", "2", "3"])
    assert is_row_number("plate position", [str(n) for n in range(8)])
    assert not is_row_number("plate position", [str(n) for n in range(7)])
    assert not is_row_number("Temperature", [str(n) for n in range(20, 30)])
    assert not is_row_number("Entry", ["1", "1", "2"])
    assert not is_row_number("temperature", ["20", "30", "40", "50", "60", "70", "80", "90"])
    assert not is_row_number("reaction time", ["1", "2", "3"])


def test_correlation_against_numpy() -> None:
    cells, yields = ["1", "2.5", "-3", "4e1", "", "7%"], [3.0, 9.0, 1.0, 80.0, 50.0, None]
    expected = abs(np.corrcoef([1, 2.5, -3, 40], [3, 9, 1, 80])[0, 1])
    assert correlation(cells, yields) == pytest.approx(expected)
    assert correlation(["4", "3", "2", "1"], [1.0, 2.0, 3.0, 4.0]) == pytest.approx(
        1
    )  # what is left of the reactant
    assert correlation(["0,1", "0,2 %", "−0,3", "0,4"], [1.0, 2.0, -3.0, 4.0]) == pytest.approx(1)
    assert correlation(["1", "2", "3", "x"], [1.0, 2.0, 3.0, 4.0]) == 0
    assert correlation(["1", "2", "3", "3"], [1.0, 2.0, 3.0, 4.0]) == 0  # three values
    assert correlation(["1", "2", "3", "4"], [5.0, 5.0, 5.0, 5.0]) == 0
