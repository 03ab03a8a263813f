"""What an event costs at a time: the price that every forecast of it is paid at."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Ints
from .events import Events
from .forecasts import Forecasts


def settle_prices(events: Events, data: Forecasts) -> Forecasts:
    """Price the forecasts as their events are, nan where there are no prices.

    The price is the problem's. Without one it is the median of the odds that forecasters of the
    event give in the same hour of the clock (UTC), else of all odds for the event: odds in files of
    forecasts are trusted. A bid is the median of the bids that go with these odds, at most the ask.
    """
    slot = events.slots(data.event)
    q, bid = events.q[slot], events.bid[slot]
    unpriced = np.isnan(q)
    for group in (_by_hour(slot, np.repeat(data.time, data.sizes)), slot):
        if not unpriced.any():
            break
        median = median_by_group(group, data.q)
        found = unpriced & ~np.isnan(median)
        q[found], bid[found] = median[found], median_by_group(group, data.bid)[found]
        unpriced &= ~found
    return data._replace(q=q, bid=np.minimum(q, bid))


def _by_hour(slot: Ints, time: Floats) -> Ints:
    """Number each option at each hour; -1 where the time is unknown."""
    timed = ~np.isnan(time)
    hour = (time[timed] // 3600).astype(np.int64)
    hour -= hour.min(initial=0)
    group = np.full(len(slot), -1)
    group[timed] = np.unique(slot[timed] * (hour.max(initial=0) + 1) + hour, return_inverse=True)[1]
    return group


def median_by_group(group: Ints, values: Floats) -> Floats:
    """Find by value the median of its group without nan; nan if all are, and in the group -1."""
    if np.isnan(values).all():
        return values
    order, has = np.lexsort((values, group)), ~np.isnan(values)  # nan is last
    size, known = np.bincount(group + 1), np.bincount((group + 1)[has], minlength=group.max() + 2)
    first, count = (np.cumsum(size) - size)[group + 1], known[group + 1]
    middle = [values[order[first + at]] for at in (np.maximum(count - 1, 0) // 2, count // 2)]
    return np.where(group < 0, np.nan, (middle[0] + middle[1]) / 2)
