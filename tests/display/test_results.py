"""Checksums by which results are compared."""

from __future__ import annotations

from forecasteval.common.records import encode_fields, hash_question, hash_questions


def test_checksums_of_questions() -> None:
    hashes = [hash_question(text) for text in ("a", "b", "\ud800")]
    assert len({*hashes}) == 3
    assert hash_questions(hashes) == hash_questions(hashes[::-1]) != hash_questions(hashes[:2])


def test_the_ends_of_fields_count() -> None:
    assert (
        len(
            {
                encode_fields(*fields)
                for fields in (["ab", "c"], ["a", "bc"], ["abc"], ["ab", "c", ""])
            }
        )
        == 4
    )
    assert encode_fields("a", "\ud800") + encode_fields("b") == encode_fields("a", "\ud800", "b")
