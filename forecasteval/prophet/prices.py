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
    prices = []
    for given, own in ((data.q, events.q), (data.bid, events.bid)):
        known = unpriced[slot] & ~np.isnan(given)
        medians = find_medians(slot[known], given[known], len(unpriced))
        prices.append(np.where(unpriced, medians, own))
    q, bid = prices[0], np.minimum(*prices)
    return events._replace(q=q, bid=bid), data._replace(q=q[slot], bid=bid[slot])


def find_medians(group: Ints, values: Floats, groups: int) -> Floats:
    """Find the median of each group; nan for one without values."""
    order = np.lexsort((values, group))
    group, values = group[order], np.append(values[order], np.nan)
    first, end = (np.searchsorted(group, range(groups), side) for side in ("left", "right"))
    middle = (values[(first + end - 1) // 2] + values[(first + end) // 2]) / 2
    return np.where(first < end, middle, np.nan)
