"""The two models over all forecasters, fitted to scored forecasts; what cannot be compared is said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from forecasteval.common.errors import printable

from .arrays import Floats, Ints
from .bradley_terry import connected_parts, fit_bradley_terry
from .events import Events
from .forecasts import Forecasts
from .irt import IrtFit, fit_irt
from .notes import Notes
from .score_table import Scores


class Models(NamedTuple):
    """The fits: IRT (None with one forecaster only), strengths (nan where unknown), what results tell of both."""

    irt: IrtFit | None
    strength: Floats
    fits: dict[str, Any]


def fit_models(events: Events, data: Forecasts, scores: Scores, response: str, prior: float, notes: Notes) -> Models:
    """IRT of `response`, Bradley–Terry with `prior`, as far as there are forecasters enough."""
    strength = np.full(len(data.names), math.nan)
    fits: dict[str, Any] = {"irt": None, "bradley_terry": None}
    if len(data.names) < 2:
        notes.lines.append("one forecaster only: no IRT, no Bradley–Terry, no rank agreement")
        return Models(None, strength, fits)
    parts = _find_parts(data.names, data.forecaster, data.event, "IRT", notes)
    brier = scores.values["brier"]
    irt = fit_irt(
        data.forecaster, data.event, np.clip(1 - brier, 0, 1) if response == "brier" else _correct(events, data)
    )
    fits["irt"] = {
        "iterations": irt.iterations, "gradient_norm": irt.gradient_norm, "log_likelihood": irt.log_likelihood,
        "log_posterior": irt.log_posterior, "converged": irt.converged, "parts": parts,
    }  # fmt: skip
    fits["bradley_terry"] = _fit_strengths(events, data, scores, prior, strength, notes)
    for name, fit in fits.items():
        if fit and not fit["converged"]:
            notes.lines.append(f"the fit of {name} has not converged: {fit['iterations']} iterations")
    return Models(irt, strength, fits)


def _fit_strengths(
    events: Events, data: Forecasts, scores: Scores, prior: float, strength: Floats, notes: Notes
) -> dict[str, Any] | None:
    """Fill in `strength`; what is to be told of the fit."""
    has = ~np.isnan(scores.p_winner)
    who, i = np.unique(data.forecaster[has], return_inverse=True)
    which, j = np.unique(data.event[has], return_inverse=True)
    if len(who) < 2:
        notes.lines.append("fewer than two forecasters of exclusive events: no Bradley–Terry")
        return None
    fit = fit_bradley_terry(i, j, scores.p_winner[has], prior)
    used = fit.used[j]
    strength[who] = fit.strength
    parts = _find_parts([data.names[at] for at in who], i[used], j[used], "Bradley–Terry", notes)
    unused = (events.ids[at] for at in which[~fit.used])
    notes.exclude("event", "from Bradley–Terry: nobody gave its winner any probability", *unused)
    return {
        "iterations": fit.iterations, "gradient_norm": fit.gradient_norm, "log_likelihood": fit.log_likelihood,
        "converged": fit.converged, "events": int(fit.used.sum()), "prior": prior, "parts": parts,
    }  # fmt: skip


def _correct(events: Events, data: Forecasts) -> Floats:
    """Whether each forecast was right: see `response` of `ProphetArenaEvaluator`."""
    starts, sizes = data.offsets[:-1], np.diff(data.offsets)
    o = events.outcome[events.slots(data.event, data.offsets)]
    top = (data.p == np.repeat(np.maximum.reduceat(data.p, starts), sizes)).astype(float)
    first = np.add.reduceat(top * o, starts) / np.add.reduceat(top, starts)
    right = 0.5 + 0.5 * np.sign(data.p - 0.5) * np.sign(o - 0.5)
    return np.where(events.exclusive[data.event], first, np.add.reduceat(right, starts) / sizes)


def _find_parts(names: Sequence[str], forecaster: Ints, event: Ints, model: str, notes: Notes) -> list[list[str]]:
    """The parts of the comparison graph of `names`, largest first; a warning if there are several, else none."""
    label = connected_parts(forecaster, event, len(names))
    parts = [[names[at] for at in np.flatnonzero(label == part).tolist()] for part in np.unique(label)]
    parts.sort(key=lambda part: (-len(part), part))
    if len(parts) < 2:
        return []
    shown = [
        ", ".join(printable(name, 40) for name in part[:5]) + " and others" * (len(part) > 5) for part in parts[:5]
    ]
    notes.lines.append(
        f"{model}: the comparison graph is disconnected, {len(parts)} groups of forecasters share no event "
        f"({' | '.join(shown)}{' | …' if len(parts) > 5 else ''}); only the prior compares one group with another"
    )
    return parts
