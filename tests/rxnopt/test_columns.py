"""Columns: names and cells that hold two quantities, and which conditions tell the result."""

from __future__ import annotations

import pytest

from forecasteval.rxnopt.build.columns import find_header, find_second_quantity


@pytest.mark.parametrize(
    ("name", "other"),
    [("yield (ee)", "ee"), ("Yield [ee] (%)", "ee"), ("Yield [%] (ee [%])", "ee"),
     ("yield/ee", "ee"), ("yield, er", "er"),
     ("conv. (recovered)", "recovered"), ("产率/ee", "ee"), ("收率（转化率）", "转化率"),
     ("Yield of 3a (4a) (%)", "4a"), ("Yield (%) (recovered SM)", "recovered"),
     ("Yield (3a:4a)", "4a"), ("Yield of 3a and 4a (%)", "4a"), ("yield_3a_(dr)b", "dr"),
     ("Isolated yield (NMR yield) (%)", "nmr"), ("Yield (mg)", "mg"), ("Yield / g", "g"),
     ("Yield ee (%)", "ee"), ("ee and yield", "yield"), ("yield, recovered 1a", "recovered")],
)  # fmt: skip
def test_names_of_two_quantities(name: str, other: str) -> None:
    assert find_second_quantity(name) == other


@pytest.mark.parametrize(
    "name",
    [
        "yield (%)", "Yield_b_%", "Yield (%)[b]", "Yield^[b] (%)", "yieldᵇ", "Isolated yield (%)",
        "yield (1H NMR, %)", "GC yield (%) (isolated yield)", "Yield (isol.)", "Yield (24 h)",
        "3a yield (%)", "Yield (3a) (%)", "Area% (3a)", "产率（%）", "Yield/%", "y", "DBU",
    ],
)  # fmt: skip
def test_units_methods_and_footnotes_name_nothing_else(name: str) -> None:
    assert find_second_quantity(name) == ""


@pytest.mark.parametrize(
    ("cells", "told"),
    [(["solvent", "yield (%)"], True), (["Base", "Yield"], True), (["x", "Isolated yield"], True),
     (["", "(%)"], True), (["base", "90"], False), (["yield", "90"], False), (["K", "n.d."], False),
     (["K", "no yield"], False), (["K", "90% ee"], False)],
)  # fmt: skip
def test_second_headers(cells: list[str], told: bool) -> None:
    row = dict(zip(("base", "yield"), cells, strict=True))
    assert bool(find_header(row, ["yield"])) == told
