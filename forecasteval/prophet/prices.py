"""Values of an event that do not depend on the forecaster: its weight, and its price at a time.

A forecaster's records decide nothing but its probabilities.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints, positions
from .events import Events
from .fields import Notes
from .forecasts import Forecasts

AGREEMENT: Final = 0.05  # the most by which a price may differ from the median and agree with it
HOUR: Final = 3600.0
CONFIRMED: Final = 3  # forecasters who must agree: two accounts of one person must not


def settle(events: Events, data: Forecasts, trusted: bool, notes: Notes) -> Forecasts:
    """The forecasts with the weights and at the prices of their events; count those that are given
    and not used.
    """
    weight = share_weights(events, data)
    q, mid = settle_prices(events, data, trusted)
    paid, starts = data._replace(weight=weight, q=q, mid=mid), data.starts
    with np.errstate(invalid="ignore"):
        apart = np.maximum.reduceat(np.abs(q - data.q), starts) > AGREEMENT + ROUNDING
    unused = {
        "weight that is not its event's, ignored": ~np.isnan(data.weight) & (data.weight != weight),
        "odds that differ by more than 0.05 from the price of their event, not used": apart
        & paid.priced
        & data.priced,
        "odds that no other forecaster confirms, not used: no price, no return": data.priced
        & ~paid.priced,
    }
    for text, where in unused.items():
        data.warn(notes, text, where, events.ids)
    return paid


def share_weights(events: Events, data: Forecasts) -> Floats:
    """The weight of each forecast's event: the problem's; else what most of its forecasters, a
    `quorum`, give; else 1.

    If all had to give the same, a forecaster could undo the weight of an event by leaving it out.
    """
    event, size = data.event, len(events.ids)
    filled = np.nan_to_num(data.weight, nan=-1.0)
    typical = upper_medians(event, filled, size)
    agreeing = np.bincount(event[filled == typical[event]], minlength=size)
    agreed = (
        (typical > 0)
        & (agreeing >= quorum(data))
        & (2 * agreeing > np.bincount(event, minlength=size))
    )
    return np.where(np.isnan(events.weight), np.where(agreed, typical, 1.0), events.weight)[event]


def settle_prices(events: Events, data: Forecasts, trusted: bool) -> tuple[Floats, Floats]:
    """The asking and middle prices at which forecasts are paid, option after option, nan where
    there is none.

    The price is the problem's. Without one it is the median of what the forecasters of the event
    give in the same hour of the clock (UTC), if more than half of them, a `quorum` at least, lie
    within 0.05 of it; else the median of all forecasters of the event, if they agree likewise or
    are so many that a quorum is a majority. Of two prices in the middle the higher is the median:
    no forecaster gains by naming a lower one. So the prices of a forecaster do not decide what it
    is paid, and leaving them out changes nothing. `trusted`: the arena wrote the file, not
    forecasters; each row is paid at its price. So is a single forecaster, whose prices no other can
    confirm.
    """
    slot, quoted = events.slots(data.event), data.priced
    paid, middle = events.q[slot], events.mid[slot]
    unpaid = np.isnan(paid[data.starts])

    def pay(chosen: Bools, q: Floats, mid: Floats) -> None:
        at = np.repeat(chosen, data.sizes)
        paid[at], middle[at] = q[at], mid[at]
        unpaid[chosen] = False

    if trusted or len(data.names) == 1:
        pay(unpaid & quoted, data.q, data.mid)
    timed = ~np.isnan(data.time)
    hours = np.where(timed, np.nan_to_num(data.time) // HOUR, 0).astype(np.int64)
    hours -= hours.min()
    hourly = np.unique(data.event * (hours.max() + 1) + hours, return_inverse=True)[1]
    many = 2.0 * quorum(data) - 1
    for group, able, enough in ((hourly, timed, np.inf), (data.event, np.ones_like(timed), many)):
        if unpaid.any() and (quoted & able).any():
            agreed, q, mid = _consensus(data, group, quoted & able, enough)
            pay(unpaid & able & agreed, q, mid)
    return paid, middle


def quorum(data: Forecasts) -> int:
    """How many forecasters decide together what belongs to an event: three, or the majority of a
    smaller board.
    """
    return min(CONFIRMED, len(data.names) // 2 + 1)


def _consensus(
    data: Forecasts, group: Ints, quoted: Bools, enough: float
) -> tuple[Bools, Floats, Floats]:
    """By forecast whether its group has a price; that price and the middle one, option after
    option.

    A group has one if more than half of its prices, a `quorum` at least, agree with their median,
    or if there are `enough`.
    """
    sizes, starts = data.sizes, data.starts
    size = np.zeros(int(group.max()) + 1, dtype=np.int64)
    size[group] = sizes
    number = np.cumsum(size) - size  # where the options of each group stand
    slot = positions(number[group], sizes)
    inside = np.repeat(quoted, sizes)
    typical, typical_mid = (
        upper_medians(slot[inside], column[inside], int(size.sum()))[slot]
        for column in (data.q, data.mid)
    )
    with np.errstate(invalid="ignore"):
        near = (
            np.logical_and.reduceat(np.abs(data.q - typical) <= AGREEMENT + ROUNDING, starts)
            & quoted
        )
    count = np.bincount(group[quoted], minlength=len(size))
    agreeing = np.bincount(group[near], minlength=len(size))
    good = ((agreeing >= quorum(data)) & (2 * agreeing > count)) | (count >= enough)
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
