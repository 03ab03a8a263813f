"""What an event costs: the price that every forecast of it is paid at."""

from __future__ import annotations

import numpy as np

from .arrays import ROUNDING, Bools, Floats, Ints
from .events import Events
from .fields import DataNotes
from .forecasts import Forecasts, average_runs


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
    one_each = average_runs(data)  # nobody's prices weigh more by more runs
    slot_of_one = events.slots(one_each.event)
    prices = []
    for given, of_problem in ((one_each.q, events.q), (one_each.bid, events.bid)):
        known = unpriced[slot_of_one] & ~np.isnan(given)
        medians = find_medians(slot_of_one[known], given[known], len(unpriced))
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


def limit_spread(
    events: Events, data: Forecasts, most: float, notes: DataNotes
) -> tuple[Events, Forecasts]:
    """Leave out the events with an option whose ask is further above its bid, or that lacks one.

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


def keep_events(events: Events, data: Forecasts, mask: Bools) -> tuple[Events, Forecasts]:
    """Keep the events where the mask is true, and their forecasts."""
    data = data.keep(mask[data.event])
    numbers = np.cumsum(mask) - 1
    return events.select(np.flatnonzero(mask)), data._replace(event=numbers[data.event])


def find_medians(group: Ints, values: Floats, groups: int) -> Floats:
    """Find the median of each group; nan for one without values."""
    order = np.lexsort((values, group))
    group, values = group[order], np.append(values[order], np.nan)
    first, end = (np.searchsorted(group, range(groups), side) for side in ("left", "right"))
    middle = (values[(first + end - 1) // 2] + values[(first + end) // 2]) / 2
    return np.where(first < end, middle, np.nan)
