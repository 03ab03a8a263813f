"""What an event costs: the price that every forecast of it is paid at."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Ints
from .events import Events
from .forecasts import Forecasts


def settle_prices(events: Events, data: Forecasts) -> tuple[Events, Forecasts]:
    """Price the events, and their forecasts alike; nan where there are no prices.

    The price is the problem's. Without one it is the median of the odds that forecasters of the
    event give: odds in files of forecasts are trusted. A bid is the median of the bids, at most
    the ask.
    """
    slot, unpriced = events.slots(data.event), np.isnan(events.q)
    known = unpriced[slot] & ~np.isnan(data.q)
    q, bid = (
        np.where(unpriced, find_medians(slot[known], given[known], len(unpriced)), own)
        for given, own in ((data.q, events.q), (data.bid, events.bid))
    )
    bid = np.minimum(q, bid)
    return events._replace(q=q, bid=bid), data._replace(q=q[slot], bid=bid[slot])


def find_medians(group: Ints, values: Floats, groups: int) -> Floats:
    """Find the median of each group without nan; nan for a group without any."""
    known = ~np.isnan(values)
    group, values = group[known], values[known]
    values = values[np.lexsort((values, group))]
    count, medians = np.bincount(group, minlength=groups), np.full(groups, np.nan)
    has = count > 0
    first, size = (np.cumsum(count) - count)[has], count[has]
    medians[has] = (values[first + (size - 1) // 2] + values[first + size // 2]) / 2
    return medians
