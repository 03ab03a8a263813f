"""What an event costs: the price that every forecast of it is paid at."""

from __future__ import annotations

import numpy as np

from forecasteval.common.errors import show_count

from .arrays import ROUNDING, Bools, Floats, Ints
from .events import Events
from .fields import DataNotes
from .forecasts import Forecasts, average_runs


def settle_prices(
    events: Events, data: Forecasts, each: bool, notes: DataNotes
) -> tuple[Events, Forecasts]:
    """Price the events, and their forecasts; nan where there are no prices.

    The price of an event is the problem's. Without one it is the median of the odds
    that its forecasters give: odds in files of forecasts are trusted. A bid is the
    median of the bids, at most the ask. Forecasts are paid at the event's price; with
    `each` at their own, if they have one.
    """
    slot, unpriced = events.slots(data.event), np.isnan(events.q)
    one_each = average_runs(data)  # nobody's prices weigh more by more runs
    slot_of_one = events.slots(one_each.event)
    q, bid = events.q.copy(), events.bid.copy()
    for prices, given in ((q, one_each.q), (bid, one_each.bid)):
        known = unpriced[slot_of_one] & ~np.isnan(given)
        medians = find_medians(slot_of_one[known], given[known], len(unpriced))
        prices[unpriced] = medians[unpriced]
    bid = np.minimum(q, bid)
    events = events._replace(q=q, bid=bid)
    _note_differences(events, data, each, notes)
    if not each:
        return events, data._replace(q=q[slot], bid=bid[slot])
    lacks_price = np.isnan(data.q)
    q_paid = np.where(lacks_price, q[slot], data.q)
    bid_paid = np.where(lacks_price, bid[slot], data.bid)
    return events, data._replace(q=q_paid, bid=bid_paid)


def _note_differences(
    events: Events, data: Forecasts, each: bool, notes: DataNotes
) -> None:
    """Note how many events have forecasts with other prices than that of the event."""
    price_of_event = events.q[events.slots(data.event)]
    differs = np.abs(data.q - price_of_event) > ROUNDING
    count = len(np.unique(np.repeat(data.event, data.sizes)[differs]))
    if not count:
        return
    paid = "that of the event (--prices each: at its own)"
    if each:
        paid = "its own price"
    within = show_count(count, "event")
    notes.lines.append(f"prices differ within {within}: a forecast is paid at {paid}")


def limit_spread(
    events: Events, data: Forecasts, most: float, notes: DataNotes
) -> tuple[Events, Forecasts]:
    """Leave out the events with an option whose ask is further above its bid, or
    that lacks one.

    Where nobody offers to trade, a price says little of what a market believes.
    """
    starts = events.offsets[:-1]
    spread = np.maximum.reduceat(events.q - events.bid, starts)
    is_unknown = np.isnan(spread)
    is_wide = spread > most + ROUNDING
    text = "without an ask and a bid of each option, which --max-spread needs"
    notes.exclude("event", text, events.ids[is_unknown])
    notes.exclude("event", f"with a spread above {most:g}", events.ids[is_wide])
    return keep_events(events, data, ~is_unknown & ~is_wide)


def keep_events(
    events: Events, data: Forecasts, mask: Bools
) -> tuple[Events, Forecasts]:
    """Keep the events where the mask is true, and their forecasts."""
    data = data.keep(mask[data.event])
    numbers = np.cumsum(mask) - 1
    return events.select(np.flatnonzero(mask)), data._replace(event=numbers[data.event])


def find_medians(group: Ints, values: Floats, groups: int) -> Floats:
    """Find the median of each group; nan for one without values."""
    order = np.lexsort((values, group))
    sizes = np.bincount(group, minlength=groups)
    first = np.cumsum(sizes) - sizes
    ordered = np.append(values[order], np.nan)  # where a group without values would be
    lower, upper = ordered[first + (sizes - 1) // 2], ordered[first + sizes // 2]
    return np.where(sizes > 0, (lower + upper) / 2, np.nan)
