"""A prediction file's name says which system gave it, and in which run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecasteval.common.files import belongs_to
from forecasteval.ranking.names import FileName, format_distinct, split_name, without_run


@pytest.mark.parametrize(
    ("stem", "dataset", "expected"),
    [
        ("250915-deep", "250915.json", FileName("250915", "deep", "")),
        ("250915-deep@1", "250915.json", FileName("250915", "deep", "1")),
        ("250915-deep@night 3", "250915.jsonl", FileName("250915", "deep", "night 3")),
        ("250915_a-b.c@x.y", "250915.json", FileName("250915", "a-b.c", "x.y")),
        ("250915-a@b@c", "250915.json", FileName("250915", "a@b", "c")),  # the last @
        ("250915-a@", "250915.json", FileName("250915", "a@", "")),  # no run is named
        ("250915", "250915.json", FileName("250915", "250915", "")),
        ("250915@2", "250915.json", FileName("250915", "250915", "2")),
        ("250915-", "250915.json", FileName("250915", "250915-", "")),
        ("250915-@2", "250915.json", FileName("250915", "@2", "")),
        ("week@1-a", "week@1.json", FileName("week@1", "a", "")),  # an @ of the dataset's
        ("week@1-a@2", "week@1.json", FileName("week@1", "a", "2")),
        ("a@2", "250915.json", FileName("250915", "a", "2")),  # --dataset, or a path
        ("2509150-a", "250915.json", FileName("250915", "2509150-a", "")),
        ("deep@2", None, FileName("", "deep", "2")),
        ("@2", None, FileName("", "@2", "")),
        ("周-模型@二", "周.json", FileName("周", "模型", "二")),
    ],
)
def test_split_name(stem: str, dataset: str | None, expected: FileName) -> None:
    assert split_name(stem, dataset) == expected


NAMES = st.text(alphabet="ab1-_.@", min_size=1, max_size=8)


@given(NAMES, NAMES)
def test_every_name_has_a_system_and_loses_nothing(stem: str, dataset: str) -> None:
    name = split_name(stem, f"{dataset}.json")
    assert name.system
    ending = name.system + (f"@{name.run}" if name.run else "")
    assert stem.endswith(ending)
    assert ending == stem or (
        belongs_to(stem, dataset) and len(stem) == len(dataset) + 1 + len(ending)
    )


@given(NAMES, st.text(alphabet="ab1-_.", min_size=1, max_size=8))
def test_runs_of_a_system_share_the_rest_of_their_names(stem: str, run: str) -> None:
    assert without_run(f"{stem}@{run}") == stem
    assert split_name(f"{stem}@{run}") == FileName("", stem, run)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["a", "b"], ["a", "b"]),
        (["é", "b"], ["é", "b"]),
        (["é", "e\u0301"], ["\\xe9", "e\\u0301"]),
        (["a", "a\u200b", "a\u00ad", "a\ufe0f"], ["a", "a\\u200b", "a\\xad", "a\\ufe0f"]),
        (["a b", "a\u00a0b", "ab"], ["a b", "a\\xa0b", "ab"]),
        (["模型", "模型"], ["模型", "模型"]),
        (["\x1b[2J", "é"], ["\\x1b[2J", "é"]),
    ],
)
def test_format_distinct(names: list[str], shown: list[str]) -> None:
    assert format_distinct(names) == shown
