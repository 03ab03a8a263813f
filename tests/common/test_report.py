"""Tables as text, aligned by what a terminal shows."""

from __future__ import annotations

import pytest

from forecasteval.common.report import text_table


def test_table_is_aligned_with_chinese() -> None:
    rows = [["甲乙丙", "1", "x"], ["ab", "22.5", "长名"], ["ｗ", "", "e\u0301"]]
    assert text_table(["名称", "n", "备"], rows, "<>>").splitlines() == [
        "名称       n    备",
        "甲乙丙     1     x",
        "ab      22.5  长名",
        "ｗ               e\u0301",
    ]


def test_table_without_rows_and_without_spaces_at_the_end() -> None:
    assert text_table(["a", "bb"], [], "<>") == "a  bb"
    assert text_table(["a", "b"], [["xxx", "yyy"], ["x", "y"]], "<<") == "a    b\nxxx  yyy\nx    y"


def test_table_refuses_a_row_of_another_width() -> None:
    with pytest.raises(ValueError, match="zip"):
        text_table(["a", "b"], [["only one"]], "<<")
