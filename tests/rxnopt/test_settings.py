"""Settings: the seed's defaults, and every bad value by name."""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from forecasteval.common.errors import InputError
from forecasteval.common.records import dump_json
from forecasteval.rxnopt.build.settings import SETTING_HELP, SETTINGS, Settings, make_settings

BAD_SETTINGS: Final = [
    ("year_filter", "soon"), ("condition_require", "name"), ("normalize_conditions", "yes"),
    ("balance_max_imbalance_ratio", "0.5"), ("min_reference_options", "2.5"),
    ("min_reference_options", "0"),
    ("reference_low_mid_fraction", "nan"), ("reference_low_mid_fraction", "1.5"),
    ("year_filter", "[2019, true]"),
    ("condition_keys", "[solvents"), ("max_options", "1"), ("duplicates", "mean"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_SETTINGS)
def test_bad_settings(name: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        make_settings({name: value})
    assert (
        str(caught.value)
        == f"--{name.replace('_', '-')}: expected {SETTING_HELP[name]}, got {value!r}"
    )


def test_settings_that_contradict_each_other_or_do_not_exist() -> None:
    for chosen, message in [
        (
            {"min_reference_options": 6},
            "--max-reference-options: must not be below --min-reference-options",
        ),
        ({"colour": "red"}, "settings: no setting colour"),
    ]:
        with pytest.raises(InputError) as caught:
            make_settings(chosen)
        assert str(caught.value) == message


def test_the_settings_are_the_seeds() -> None:
    assert make_settings({}) == Settings()
    assert dataclasses.astuple(Settings()) == (
        None, None, "content", ("solvents",), "smiles", "main_only",
        ("isolated_yield", "yield_ratio"), True,
        ("indeterminate_mol_idt", "description", "indeterminate_descriptions", "other_info",
         "selected_conditions",
         "scale"), True, False, 1.5, 4, 2, 5, 5, 0.6666666666666666,
        20, None, False,
    )  # fmt: skip
    assert set(SETTING_HELP) == set(SETTINGS)
    as_text = {
        name: dump_json(value) if isinstance(value, tuple) else str(value)
        for name, value in dataclasses.asdict(Settings()).items()
    }
    assert make_settings(as_text) == Settings()
