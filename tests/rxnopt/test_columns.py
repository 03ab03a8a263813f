"""Columns: what their names say about their cells, and which conditions tell the result."""

from __future__ import annotations

import numpy as np
import pytest

from forecasteval.rxnopt.columns import (
    correlation,
    guess_use,
    interpret_header,
    is_entry,
    split_cell,
    warn_of_conditions,
)


@pytest.mark.parametrize(
    ("name", "roles"),
    [("yield (ee)", ("yield", "ee")), ("Yield [%] (ee [%])", ("yield", "ee")),
     ("yield/ee", ("yield", "ee")),
     ("conv. (yield)", ("conv", "yield")), ("% yield (% de)", ("yield", "dr")), ("ee", ("ee",)),
     ("yield of ee", ("yield",)), ("yield, er", ("yield", "er")), ("产率/ee", ("yield", "ee")),
     ("isolated yield (conv.)", ("yield", "conv")), ("收率（转化率）", ("yield", "conv")),
     ("yield (ee, dr)", ("yield", "ee", "dr"))],
)  # fmt: skip
def test_names_that_announce_two_scored_quantities(name: str, roles: tuple[str, ...]) -> None:
    assert interpret_header(name) == roles


@pytest.mark.parametrize(
    ("name", "other"),
    [("Yield of 3a (4a) (%)", ["4a"]), ("Yield (%) (recovered SM)", ["recovered SM"]),
     ("Yield (3a:4a)", ["3a", "4a"]), ("Yield of 2 (3)", ["3"]), ("Yield of 3a and 4a (%)", ["4a"]),
     ("Isolated yield (NMR yield) (%)", ["NMR yield"])],
)  # fmt: skip
def test_names_that_say_that_the_bracket_is_something_else(name: str, other: list[str]) -> None:
    assert interpret_header(name) == ("yield", *other)


@pytest.mark.parametrize(
    "name",
    [
        "yield (%)", "Yield_b_%", "Yield (%)[b]", "Yield^[b] (%)", "yieldᵇ", "Isolated yield (%)",
        "yield (1H NMR, %)",
        "GC yield (%) (isolated yield)", "Yield (isol.)", "Yield (24 h)", "3a yield (%)",
        "产率（%）", "Yield/%",
    ],
)  # fmt: skip
def test_units_methods_and_footnotes_name_nothing_else(name: str) -> None:
    assert interpret_header(name) == ("yield",)


@pytest.mark.parametrize(
    ("name", "use"),
    [("Yield_3a (%)", "yield"), ("Ausbeute", "yield"), ("conv. (yield)", "yield"),
     ("e.e. [%]", "ee"), ("d.r.", "dr"),
     ("Conv. (%)", "result"), ("TON", "result"), ("recovered SM", "result"), ("备注", "result"),
     ("s_no", "entry number"),
     ("#", "entry number"), ("MS", "condition"), ("Enzyme", "condition"), ("pH", "condition"),
     ("溶剂", "condition")],
)  # fmt: skip
def test_what_columns_look_like(name: str, use: str) -> None:
    assert guess_use(name) == use


def test_cells_of_two_numbers() -> None:
    for cell in ("88 (92)", "88% (92% ee)", "88 [92]c", "88（92）", "88/92", "88, 92"):
        parts = split_cell(cell, ("yield", "ee"))
        assert [part.split("%")[0] for part in parts.values()] == ["88", "92"], cell
    assert split_cell("88 (95:5)", ("yield", "er")) == {"yield": "88", "er": "95:5"}
    assert split_cell("(92)", ("yield", "ee")) == {"yield": "", "ee": "92"}


@pytest.mark.parametrize(
    "cell", ["85 (80)[c]", "85[c] (80)", "85 (80)^[c]", "85 (80)^c", "85 (80)*", "85 (80) [a,b]"]
)
def test_footnotes_go_before_a_cell_is_split(cell: str) -> None:
    """`85 (80)[c]` under yield (ee) was a yield of 80 without ee."""
    assert split_cell(cell, ("yield", "ee")) == {"yield": "85", "ee": "80"}


@pytest.mark.parametrize(
    ("cell", "front"),
    [("60 (35)", "60"), ("60 (1:9)", "60"), ("60", "60"), ("(35)", ""),
     ("85 (82 isol.)", "85 (82 isol.)")],
)  # fmt: skip
def test_a_bracket_of_something_else_is_dropped(cell: str, front: str) -> None:
    """`60 (35)` under `Yield of 3a (4a)` was 35, and `60 (1:9)` had a dr of 0.9."""
    assert split_cell(cell, ("yield", "4a")) == {"yield": front}


def test_entry_numbers_by_name() -> None:
    names = ["Entry", "s_no", "#", "Reaction ID", "exp. no.", "编号", "(unnamed)"]
    assert all(map(is_entry, names))
    assert not any(map(is_entry, ["order of addition", "equiv", "plate position"]))


def test_conditions_that_tell_the_result_are_warned_about() -> None:
    yields = [10.0, 31.0, 50.0, 69.0]
    columns = {
        "T": ["100", "80", "60", "40"], "vessel": ["V7", "V3", "V9", "V1"],
        "base": ["K", "Na", "K", "Na"],
    }  # fmt: skip
    assert list(warn_of_conditions(columns, yields)) == [
        "the condition T is in order with the yield",
        "the condition T is different in every row",
        "the condition vessel is different in every row",
    ]
    only = {"ligand": columns["vessel"], "base": ["K"] * 4}
    assert list(warn_of_conditions(only, yields)) == []  # a screen of ligands


def test_correlation_against_numpy() -> None:
    cells, yields = ["1", "2.5", "-3", "4e1", "", "7%"], [3.0, 9.0, 1.0, 80.0, 50.0, None]
    expected = abs(np.corrcoef([2, 3, 1, 4], [2, 3, 1, 4])[0, 1])
    assert correlation(cells, yields) == pytest.approx(expected)
    assert correlation(["4", "1", "3", "2"], [1.0, 2.0, 3.0, 4.0]) == pytest.approx(
        abs(np.corrcoef([4, 1, 3, 2], [1, 2, 3, 4])[0, 1])
    )
    assert correlation(["0,1", "0,2 %", "−0,3", "0,4"], [1.0, 2.0, -3.0, 4.0]) == pytest.approx(1)
    assert correlation(["1", "2", "3", "x"], [1.0, 2.0, 3.0, 4.0]) == 0
    assert correlation(["1", "2", "3", "3"], [1.0, 2.0, 3.0, 4.0]) == 0  # three values
    assert correlation(["1", "2", "3", "4"], [5.0, 5.0, 5.0, 5.0]) == 0
