"""Items: when two values of a condition are the same."""

from __future__ import annotations

import pytest

from forecasteval.rxnopt.build.chemicals import compare_key, read_items


def test_comparison_of_conditions() -> None:
    def same(one: object, other: object) -> bool:
        return compare_key(read_items(one), True) == compare_key(read_items(other), True)

    assert same("80 °C", "80°C")
    assert same("ＤＭＦ", "dmf ")
    assert same(["MeCN", "H2O"], [{"content": "H2O", "SMILES": "O"}, "MeCN"])
    assert not same("DMF", "DMSO")
    # Case is chemistry in a SMILES: phenyl against cyclohexyl
    assert not same("c1ccccc1P(c1ccccc1)c1ccccc1", "C1CCCCC1P(C1CCCCC1)C1CCCCC1")
    assert not same("P(c1ccccc1)", "P(C1CCCCC1)")
    assert same("PPh3", "pph3")
    assert not same({"content": "", "SMILES": "CCO"}, {"content": "", "SMILES": "CO"})


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "1 [m]"), ("−10 °C", "-10 °C"), ("–10 °C", "-10°C"), ("80 ºC", "80 °C"), ("L1ᵃ", "L1"),
                       ("toluene*", "toluene"), ("THF^b", "THF"), ("1 [a,b]", "1")],
)  # fmt: skip
def test_footnotes_and_signs_are_no_other_value(one: str, other: str) -> None:
    assert compare_key(read_items(one), True) == compare_key(read_items(other), True)
    assert compare_key(read_items(one), False) != compare_key(read_items(other), False)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Cu²⁺", "Cu"), ("1a", "1"), ("[O]", ""), ("C1CCCCC1[n]", "C1CCCCC1"), ("10", "-10")],
)
def test_what_is_no_footnote_stays(one: str, other: str) -> None:
    assert compare_key(read_items(one), True) != compare_key(read_items(other), True)


@pytest.mark.parametrize(
    ("one", "other"), [("[bmim][PF6]", "[Bmim][PF6]"), ("O2/N2", "o2/n2"), ("11", "１１")]
)
def test_case_counts_in_molecules_only(one: str, other: str) -> None:
    assert compare_key(read_items(one), True) == compare_key(read_items(other), True)
