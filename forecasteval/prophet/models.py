"""The models over all forecasters, fitted to scored forecasts; what cannot be compared is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from forecasteval.common.errors import printable

from .arrays import Floats, Ints
from .bradley_terry import BradleyTerryFit, fit_bradley_terry
from .effects import EffectsFit, connected_parts, fit_effects
from .events import Events
from .forecasts import Forecasts
from .irt import IrtFit, fit_irt
from .notes import Notes
from .score_table import Scores


class Models(NamedTuple):
    """The fits (None where there are too few forecasters), and what results tell of them.

    `strengths` goes with the forecasters `rated`, and its influence with the events `decided`.
    """

    effects: EffectsFit
    irt: IrtFit | None
    strengths: BradleyTerryFit | None
    rated: Ints
    decided: Ints
    fits: dict[str, Any]


def fit_models(events: Events, data: Forecasts, scores: Scores, prior: float, notes: Notes) -> Models:
    """Adjusted Brier, IRT of 1 - Brier, Bradley–Terry with `prior`, as far as there are forecasters enough."""
    brier = np.clip(scores.values["brier"], 0, 1)
    effects = fit_effects(data.forecaster, data.event, brier)
    nobody = np.zeros(0, dtype=np.int64)
    fits: dict[str, Any] = {"irt": None, "bradley_terry": None}
    if len(data.names) < 2:
        notes.lines.append("one forecaster only: no IRT, no Bradley–Terry, no rank agreement")
        return Models(effects, None, None, nobody, nobody, fits)
    parts = _name_parts(data.names, effects.part)
    _note_parts(parts, "adjusted Brier, IRT", "nothing but a prior compares one group with another", notes)
    irt = fit_irt(data.forecaster, data.event, 1 - brier)
    fits["irt"] = {
        "iterations": irt.iterations, "gradient_norm": irt.gradient_norm, "log_likelihood": irt.log_likelihood,
        "log_posterior": irt.log_posterior, "converged": irt.converged, "parts": parts,
    }  # fmt: skip
    has = ~np.isnan(scores.p_winner)
    rated, i = np.unique(data.forecaster[has], return_inverse=True)
    which, j = np.unique(data.event[has], return_inverse=True)
    strengths = None
    if len(rated) < 2:
        notes.lines.append("fewer than two forecasters of exclusive events: no Bradley–Terry")
    else:
        strengths = fit_bradley_terry(i, j, scores.p_winner[has], prior)
        used = strengths.used[j]
        unused = [events.ids[at] for at in which[~strengths.used]]
        notes.exclude("event", "from Bradley–Terry: nobody gave its winner any probability", unused)
        fits["bradley_terry"] = {
            "iterations": strengths.iterations, "gradient_norm": strengths.gradient_norm,
            "log_likelihood": strengths.log_likelihood, "converged": strengths.converged,
            "events": int(strengths.used.sum()), "prior": prior, "parts": [],
        }  # fmt: skip
        if used.any():
            everybody, lone = np.arange(len(rated)), j.max() + 1  # who is in unused events only is a part by itself
            connected = np.append(i[used], everybody), np.append(j[used], lone + everybody)
            own = _name_parts([data.names[at] for at in rated], connected_parts(*connected)[0])
            fits["bradley_terry"]["parts"] = own
            _note_parts(own, "Bradley–Terry", "only the prior compares one group with another", notes)
    for name, fit in fits.items():
        if fit and not fit["converged"]:
            notes.lines.append(f"the fit of {name} has not converged: {fit['iterations']} iterations")
    decided = which[strengths.used] if strengths else nobody
    return Models(effects, irt, strengths, rated, decided, fits)


def _name_parts(names: Sequence[str], label: Ints) -> list[list[str]]:
    """The parts of the comparison graph of `names`, largest first; none if there is one only."""
    parts = [[names[at] for at in np.flatnonzero(label == part).tolist()] for part in np.unique(label)]
    parts.sort(key=lambda part: (-len(part), part))
    return parts if len(parts) > 1 else []


def _note_parts(parts: Sequence[Sequence[str]], model: str, consequence: str, notes: Notes) -> None:
    if parts:
        shown = [
            ", ".join(printable(name, 40) for name in part[:5]) + " and others" * (len(part) > 5) for part in parts[:5]
        ]
        notes.lines.append(
            f"{model}: the comparison graph is disconnected, {len(parts)} groups of forecasters share no event "
            f"({' | '.join(shown)}{' | …' if len(parts) > 5 else ''}); {consequence}"
        )


def spread(values: Floats, forecasters: Ints, size: int) -> Floats:
    """The values of some forecasters, columns or a vector, among those of all `size`; nan for the others."""
    full = np.full((*values.shape[:-1], size), np.nan)
    full[..., forecasters] = values
    return full
