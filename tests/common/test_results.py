"""Checksums by which results are compared."""

from __future__ import annotations

from forecasteval.common.results import RecordDigest, hash_question, hash_questions


def test_checksums_of_questions() -> None:
    hashes = [hash_question(text) for text in ("a", "b", "\ud800")]
    assert len({*hashes}) == 3
    assert hash_questions(hashes) == hash_questions(hashes[::-1]) != hash_questions(hashes[:2])


def test_digest_does_not_depend_on_its_batches() -> None:
    one, many = RecordDigest(), RecordDigest()
    fields = [str(n) for n in range(30_000)]
    one.add(*fields)
    for field in fields:
        many.add(field)
    assert one.hex() == many.hex()
    assert RecordDigest().hex() != one.hex()
