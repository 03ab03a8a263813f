"""What is read before anything else is looked at, and is read the same by all rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forecasteval.futurex.reading import rankings
from forecasteval.futurex.reading.answers import hold_text
from forecasteval.futurex.reading.language import LANGUAGES, words
from forecasteval.futurex.reading.lists import parse_plain_items
from forecasteval.futurex.reading.names import parse_name
from forecasteval.futurex.reading.rankings import RankingTruth

# Every word that the rules know, as it stands in a title, and names that hold some.
WORDS: Final = sorted(map(str.title, words(*{kind for table in LANGUAGES for kind in table})))
NAMES: Final = ("Red", "Teal Fox", "Owls Inc", "Ltd", "Confidence High", "Red And Blue", "灯塔")
INVERTED: Final = ("Marsh", "Evelyn", "MARSH Evelyn")  # whose surname stands in front
MORE_NAMES: Final = (
    "雾岛合唱团",
    "和平",
    "第三极",
    "无",
    "未知",
    "潮汐公司",
    "SEREMES Ann",
    "Lin HARU",
)
STYLES: Final = ("{name}", "{rank}. {name}", "第{rank}名：{name}", "第{rank}名:{name}")
ONE_NAME: Final = st.sampled_from((*NAMES, *MORE_NAMES, *INVERTED, *WORDS))
ITEMS: Final = st.one_of(ONE_NAME, st.builds("{} {}".format, ONE_NAME, ONE_NAME))


@st.composite
def plain_lists(draw: st.DrawFn) -> str:
    """Draw a list in one style, now and then with a rank or a style that does not fit."""
    first, style = draw(st.integers(0, 12)), draw(st.sampled_from(STYLES))
    items = []
    for number, name in enumerate(draw(st.lists(ITEMS, min_size=1, max_size=4))):
        rank = draw(st.sampled_from([first + number] * 9 + [first]))
        form = draw(st.sampled_from([style] * 9 + [STYLES[0]]))
        items.append(form.format(rank=rank, name=name))
    return draw(st.sampled_from([", ", "，", "、"])).join(items) + draw(st.sampled_from(["", "."]))


@example(text="Marsh, Evelyn", truth=["MARSH Evelyn"])
@given(
    text=plain_lists(),
    truth=st.lists(st.sampled_from((*NAMES, *INVERTED)), min_size=1, max_size=4),
)
def test_a_plain_list_is_read_as_by_all_rules(text: str, truth: Sequence[str]) -> None:
    ranking = RankingTruth(tuple(map(parse_name, truth)))
    read = ranking.read(hold_text(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rankings, "parse_plain_items", lambda text: ())
        assert ranking.read(hold_text(text)) == read


@pytest.mark.parametrize("text", ["Red, Teal Fox", "6. Red, 7. Teal Fox", "第6名：灯塔，第7名：和"])
def test_most_lists_are_plain(text: str) -> None:
    assert bool(parse_plain_items(text)) == ("和" not in text)
