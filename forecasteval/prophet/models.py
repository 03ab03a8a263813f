"""The models over all forecasters, fitted to scored forecasts; what cannot be compared is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from forecasteval.common.errors import grouped_names, printable

from .arrays import Floats, Ints
from .bradley_terry import BradleyTerryFit, fit_bradley_terry
from .effects import EffectsFit, connected_parts, fit_effects
from .events import Events
from .fields import Notes
from .forecasts import Forecasts
from .irt import IrtFit, fit_irt
from .score_table import Scores

PRIOR: Final = 1.0  # of Bradley–Terry where it has no maximum without one


class Models(NamedTuple):
    """The fits (None where there are too few forecasters), and what results tell of them.

    `able` and `rated` are the forecasters, `answered` and `decided` the events, of the fits of IRT and Bradley–Terry.
    """

    effects: EffectsFit
    irt: IrtFit | None
    able: Ints
    answered: Ints
    strengths: BradleyTerryFit | None
    rated: Ints
    decided: Ints
    fits: dict[str, Any]


def fit_models(
    events: Events, data: Forecasts, scores: Scores, prior: float | None, response: str, notes: Notes
) -> Models:
    """Adjusted Brier, IRT, Bradley–Terry, as far as there are forecasters enough.

    response: IRT explains 1 - Brier ("brier"), or whether the winner had the largest probability ("correct"). prior:
    of Bradley–Terry; None: without one if that fit converges and no forecaster's strength runs away, else 1.
    """
    brier = np.clip(scores.values["brier"], 0, 1)
    effects = fit_effects(data.forecaster, data.event, brier)
    nobody = np.zeros(0, dtype=np.int64)
    fits: dict[str, Any] = {"irt": None, "bradley_terry": None}
    models = Models(effects, None, nobody, nobody, None, nobody, nobody, fits)
    if len(data.names) < 2:
        notes.lines.append("one forecaster only: no IRT, no Bradley–Terry, no rank agreement")
        return models
    parts = _name_parts(data.names, effects.part)
    _note_parts(parts, "adjusted Brier, IRT", "nothing but a prior compares one group with another", notes)
    models = _fit_irt(models, data, 1 - brier if response == "brier" else scores.correct, response, parts, notes)
    models = _fit_strengths(models, events, data, scores.p_winner, prior, notes)
    for name, fit in fits.items():
        if fit and not fit["converged"]:
            notes.lines.append(f"the fit of {name} has not converged: {fit['iterations']} iterations")
    return models


def _numbered(data: Forecasts, values: Floats) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """The forecasters and events that have a value, both numbered anew for each of the values, and the values."""
    has = ~np.isnan(values)
    who, i = np.unique(data.forecaster[has], return_inverse=True)
    which, j = np.unique(data.event[has], return_inverse=True)
    return who, which, i, j, values[has]


def _fit_irt(models: Models, data: Forecasts, y: Floats, response: str, parts: list[list[str]], notes: Notes) -> Models:
    able, answered, i, j, y = _numbered(data, y)
    if len(able) < 2:
        notes.lines.append("fewer than two forecasters of exclusive events: no IRT of correct answers")
        return models
    irt = fit_irt(i, j, y)
    models.fits["irt"] = {
        "iterations": irt.iterations, "gradient_norm": irt.gradient_norm, "log_likelihood": irt.log_likelihood,
        "log_posterior": irt.log_posterior, "converged": irt.converged, "response": response, "parts": parts,
    }  # fmt: skip
    return models._replace(irt=irt, able=able, answered=answered)


def _fit_strengths(
    models: Models, events: Events, data: Forecasts, p_winner: Floats, prior: float | None, notes: Notes
) -> Models:
    rated, which, i, j, p = _numbered(data, p_winner)
    if len(rated) < 2:
        notes.lines.append("fewer than two forecasters of exclusive events: no Bradley–Terry")
        return models
    fit = fit_bradley_terry(i, j, p, prior or 0.0)
    if prior is None and (not fit.converged or fit.diverging.any()):
        why = "does not converge"
        if fit.diverging.any():
            names = sorted(data.names[at] for at in rated[fit.diverging].tolist())
            why = f"has no maximum, strengths run away: {grouped_names(names)}"
        notes.lines.append(f"Bradley–Terry with a prior of {PRIOR:g}: without one it {why}")
        prior = PRIOR
        fit = fit_bradley_terry(i, j, p, prior)
    used = fit.used[j]
    unused = [events.ids[at] for at in which[~fit.used]]
    notes.exclude("event", "from Bradley–Terry: nobody gave its winner any probability", unused)
    models.fits["bradley_terry"] = {
        "iterations": fit.iterations, "gradient_norm": fit.gradient_norm, "log_likelihood": fit.log_likelihood,
        "converged": fit.converged, "events": int(fit.used.sum()), "prior": prior or 0.0, "parts": [],
    }  # fmt: skip
    if used.any():
        everybody, lone = np.arange(len(rated)), j.max() + 1  # who is in unused events only is a part by itself
        connected = np.append(i[used], everybody), np.append(j[used], lone + everybody)
        parts = _name_parts([data.names[at] for at in rated], connected_parts(*connected)[0])
        models.fits["bradley_terry"]["parts"] = parts
        _note_parts(parts, "Bradley–Terry", "only the prior compares one group with another", notes)
    return models._replace(strengths=fit, rated=rated, decided=which[fit.used])


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
