"""What an event costs: the price that every forecast of it is paid at."""

from __future__ import annotations

import numpy as np

from .arrays import ROUNDING, Floats, Ints
from .events import Events
from .fields import DataNotes
from .forecasts import Forecasts


def settle_prices(
    events: Events, data: Forecasts, each: bool, notes: DataNotes
) -> tuple[Events, Forecasts]:
    """Price the events, and their forecasts; nan where there are no prices.

    The price of an event is the problem's. Without one it is the median of the odds that its
    forecasters give: odds in files of forecasts are trusted. A bid is the median of the bids, at
    most the ask. Forecasts are paid at the event's price; with `each` at their own, if they have
    one.
    """
    slot, unpriced = events.slots(data.event), np.isnan(events.q)
    prices = []
    for given, of_problem in ((data.q, events.q), (data.bid, events.bid)):
        known = unpriced[slot] & ~np.isnan(given)
        medians = find_medians(slot[known], given[known], len(unpriced))
        prices.append(np.where(unpriced, medians, of_problem))
    q, bid = prices[0], np.minimum(*prices)
    events = events._replace(q=q, bid=bid)
    _note_differences(events, data, each, notes)
    if not each:
        return events, data._replace(q=q[slot], bid=bid[slot])
    has_own = ~np.isnan(data.q)
    own_q, own_bid = np.where(has_own, data.q, q[slot]), np.where(has_own, data.bid, bid[slot])
    return events, data._replace(q=own_q, bid=own_bid)


def _note_differences(events: Events, data: Forecasts, each: bool, notes: DataNotes) -> None:
    """Note how many events have forecasts with other prices than that of the event."""
    differs = np.abs(data.q - events.q[events.slots(data.event)]) > ROUNDING
    count = len(np.unique(np.repeat(data.event, data.sizes)[differs]))
    if count:
        paid = "its own price" if each else "that of the event (--prices each: at its own)"
        within = f"{count} event{'s' if count > 1 else ''}"
        notes.lines.append(f"prices differ within {within}: a forecast is paid at {paid}")


def find_medians(group: Ints, values: Floats, groups: int) -> Floats:
    """Find the median of each group; nan for one without values."""
    order = np.lexsort((values, group))
    group, values = group[order], np.append(values[order], np.nan)
    first, end = (np.searchsorted(group, range(groups), side) for side in ("left", "right"))
    middle = (values[(first + end - 1) // 2] + values[(first + end) // 2]) / 2
    return np.where(first < end, middle, np.nan)
