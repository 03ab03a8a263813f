"""The price of an event at a time: from its problem, else from what several forecasters give; never one's own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints
from .fields import read_number
from .scores import PRICE_RANGE

AGREEMENT: Final = 0.05  # the most by which a price may differ from the median and agree with it
HOUR: Final = 3600.0
CONFIRMED: Final = 3  # forecasters who must agree: two accounts of one person must not
BAD_ODDS: Final = "odds are not a number in (0, 1] for every option, not used"
BAD_BIDS: Final = "bids are not a number in [0, odds] for every option: the mid price is the odds"


def settle_prices(
    known: tuple[Floats, Floats],
    quotes: tuple[Floats, Floats],
    event: Ints,
    who: Ints,
    time: Floats,
    sizes: Ints,
    trusted: bool,
) -> tuple[Floats, Floats]:
    """The asking and middle prices at which forecasts are paid, nan where there is none.

    event, who, time, sizes: by forecast, one per event and forecaster; known, quotes: the asking and middle prices of
    its problem and those that came with it, option after option, nan where there are none.

    The price is the problem's. Without one it is the median of what the forecasters of the event give in the same hour
    of the clock (UTC), if more than half of them, a `quorum` at least, lie within 0.05 of it; else the median of all
    forecasters of the event, if they agree likewise or are so many that a quorum is a majority. Of two prices in the
    middle the higher is the median: nobody gains by naming a lower one. So nobody's prices decide what that forecaster
    is paid, and leaving them out changes nothing. `trusted`: the file was written by the arena, not by forecasters;
    each row is paid at its price. A single forecaster is, too: there is nobody else to ask.
    """
    starts = np.cumsum(sizes) - sizes
    (paid, middle), (q, mid) = (known[0].copy(), known[1].copy()), quotes
    quoted = ~np.isnan(q[starts])
    open_ = np.isnan(paid[starts])
    if trusted or who.max(initial=0) == 0:
        _fill(paid, middle, open_ & quoted, sizes, q, mid)
        open_ &= ~quoted
    timed = ~np.isnan(time)
    hours = np.where(timed, np.nan_to_num(time) // HOUR, 0).astype(np.int64)
    hours -= hours.min()
    hourly = np.unique(event * (hours.max() + 1) + hours, return_inverse=True)[1]
    need = quorum(who)
    for group, able, enough in ((hourly, timed, np.inf), (event, np.ones_like(timed), 2 * need - 1)):
        if not open_.any() or not (quoted & able).any():
            continue
        agreed, *columns = _consensus(group, sizes, starts, quoted & able, q, mid, need, enough)
        here = open_ & able & agreed
        _fill(paid, middle, here, sizes, *columns)
        open_ &= ~here
    return paid, middle


def quorum(who: Ints) -> int:
    """How many forecasters decide together what belongs to an event: three, or the majority of a smaller board."""
    return min(CONFIRMED, (int(who.max(initial=0)) + 1) // 2 + 1)


def _fill(paid: Floats, middle: Floats, chosen: Bools, sizes: Ints, q: Floats, mid: Floats) -> None:
    at = np.repeat(chosen, sizes)
    paid[at], middle[at] = q[at], mid[at]


def _consensus(
    group: Ints, sizes: Ints, starts: Ints, quoted: Bools, q: Floats, mid: Floats, need: int, enough: float
) -> tuple[Bools, Floats, Floats]:
    """By forecast whether its group has a price; that price and the middle one, option after option.

    A group has one if more than half of its prices, `need` at least, agree with their median, or if there are `enough`.
    """
    number, size = np.zeros(int(group.max()) + 1, dtype=np.int64), np.zeros(int(group.max()) + 1, dtype=np.int64)
    size[group] = sizes
    number[1:] = np.cumsum(size)[:-1]  # where the options of each group stand
    slot = np.repeat(number[group] - starts, sizes) + np.arange(len(q))
    inside = np.repeat(quoted, sizes)
    typical, typical_mid = (upper_medians(slot[inside], column[inside], int(size.sum()))[slot] for column in (q, mid))
    with np.errstate(invalid="ignore"):
        near = np.logical_and.reduceat(np.abs(q - typical) <= AGREEMENT + ROUNDING, starts) & quoted
    count = np.bincount(group[quoted], minlength=len(size))
    agreeing = np.bincount(group[near], minlength=len(size))
    good = ((agreeing >= need) & (2 * agreeing > count)) | (count >= enough)
    return good[group], typical, typical_mid


def upper_medians(slot: Ints, values: Floats, slots: int) -> Floats:
    """The upper median by slot, nan where there is no value."""
    order = np.lexsort((values, slot))
    count = np.bincount(slot, minlength=slots)
    first = np.cumsum(count) - count
    medians = np.full(slots, np.nan)
    has = count > 0
    medians[has] = values[order][first[has] + count[has] // 2]
    return medians


# --- Reading ---


def read_prices(odds: Sequence[Any], bids: Sequence[Any], sizes: Ints) -> tuple[Floats, Floats, Bools, Bools]:
    """Asking and middle prices option after option, clipped, nan where there are none; which odds and bids are bad.

    odds, bids: by forecast a list with a price per option, or None. Odds lie in (0, 1], bids in [0, odds].
    """
    starts = np.cumsum(sizes) - sizes
    q, priced = _read_lists(odds, sizes, starts, float(np.nextafter(0, 1)))
    bid, bidden = _read_lists(bids, sizes, starts, 0.0)
    with np.errstate(invalid="ignore"):
        bidden &= np.logical_and.reduceat((bid <= q) | ~np.repeat(priced, sizes), starts)
        mid = np.where(np.repeat(bidden & priced, sizes), (q + bid) / 2, q)  # of prices that are not yet clipped
    bad_odds, bad_bids = (
        np.array([row is not None for row in rows]) & ~good for rows, good in ((odds, priced), (bids, bidden))
    )
    return np.clip(q, *PRICE_RANGE), np.clip(mid, *PRICE_RANGE), bad_odds, bad_bids


def read_numbers(lists: Sequence[Sequence[Any]], size: int) -> Floats:
    """All values of the lists in a row; nan for what is no number."""
    if set(map(type, chain.from_iterable(lists))) <= {float, int}:
        with contextlib.suppress(OverflowError):  # an integer of a thousand digits
            return np.fromiter(chain.from_iterable(lists), float, size)
    return np.fromiter(map(read_number, chain.from_iterable(lists)), float, size)


def _read_lists(lists: Sequence[Any], sizes: Ints, starts: Ints, lowest: float) -> tuple[Floats, Bools]:
    """Prices in a row, and which lists give one in [lowest, 1] for every option; the others are nan."""
    whole = [isinstance(row, (list, tuple)) and len(row) == n for row, n in zip(lists, sizes.tolist(), strict=True)]
    good = np.array(whole)
    values = np.full(int(sizes.sum()), math.nan)
    inside = np.repeat(good, sizes)
    used = [row for row, has in zip(lists, whole, strict=True) if has]
    values[inside] = read_numbers(used, int(inside.sum()))
    good &= np.logical_and.reduceat((values >= lowest) & (values <= 1), starts)
    values[~np.repeat(good, sizes)] = math.nan
    return values, good
