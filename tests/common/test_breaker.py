"""The breaker by a clock of its own."""

from __future__ import annotations

import pytest

from forecasteval.common.breaker import MAX_FAILURES, PAUSE, Breaker


class Clock:
    """Seconds that pass when a test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fail(breaker: Breaker, times: int, pause: bool = True) -> None:
    for _ in range(times):
        assert breaker.admits()
        breaker.fail(pause)


def test_ten_in_a_row_open_it(clock: Clock) -> None:
    breaker = Breaker(900, clock)
    fail(breaker, MAX_FAILURES - 1)
    breaker.succeed()
    fail(breaker, MAX_FAILURES - 1)
    assert breaker.admits()
    fail(breaker, 1)
    assert not breaker.admits()


def test_after_a_pause_one_call_decides(clock: Clock) -> None:
    breaker = Breaker(9000, clock)
    fail(breaker, MAX_FAILURES)
    clock.now += PAUSE - 1
    assert not breaker.admits()
    clock.now += 1
    assert breaker.admits()
    assert breaker.state == "half-open"
    breaker.fail()
    assert not breaker.admits()
    clock.now += 2 * PAUSE - 1  # twice as long
    assert not breaker.admits()
    clock.now += 1
    assert breaker.admits()
    breaker.succeed()
    assert breaker.state == "closed"
    fail(breaker, MAX_FAILURES)  # and the whole row, and the first pause, are needed again
    clock.now += PAUSE
    assert breaker.admits()


def test_a_row_that_needs_no_pause(clock: Clock) -> None:
    breaker = Breaker(900, clock)
    fail(breaker, MAX_FAILURES, pause=False)
    assert breaker.state == "open"
    assert breaker.admits()
    assert breaker.state == "half-open"


def test_given_up_it_stays_open_until_the_next_run(clock: Clock) -> None:
    breaker = Breaker(900, clock)
    breaker.give_up()
    clock.now += 1e9
    assert not breaker.admits()
    breaker.begin()
    assert breaker.admits()


def test_the_deadline_counts_from_the_first_call(clock: Clock) -> None:
    breaker = Breaker(900, clock)
    clock.now += 5000
    assert breaker.left() == 900
    clock.now += 899
    assert breaker.left() == 1
    clock.now += 2
    assert breaker.left() == 0
    breaker.begin()
    assert breaker.left() == 900
