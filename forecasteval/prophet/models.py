"""The models over all forecasters, fitted to scored forecasts; what cannot be compared is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from forecasteval.common.errors import grouped_names, printable

from .arrays import Floats, Ints, observations
from .bradley_terry import BradleyTerryFit, fit_bradley_terry
from .fields import Notes
from .irt import IrtFit, fit_irt
from .score_table import Scored

PRIOR: Final = 1.0  # of Bradley–Terry where it has no maximum without one
_REPORTED: Final = ("iterations", "gradient_norm", "log_likelihood", "converged")  # of a fit in the results
Fit = TypeVar("Fit")


# --- Scores adjusted for the difficulty of the events ---


class EffectsFit(NamedTuple):
    """`score`: what each forecaster would have on all events of its part; `difficulty`: the events' effects.

    `influence`: by event and forecaster, what one more copy of the event adds to the score; `part` numbers the
    connected part of every forecaster.
    """

    score: Floats
    score_se: Floats
    difficulty: Floats
    influence: Floats
    part: Ints


def fit_effects(forecaster: ArrayLike, event: ArrayLike, y: ArrayLike) -> EffectsFit:
    """Two-way fixed effects: y_ij = μ + α_i + δ_j + e by least squares, Σα = Σδ = 0 in every connected part.

    The score of a forecaster is μ + α_i: with full participation its mean, else the mean that it would have had with
    the events of the others. Standard errors are clustered by event and take the events as drawn, as those of a mean
    do; times √(n_i/(n_i - 1)) for the n_i events of a forecaster, nan for one. Parts are what events connect:
    scores of different parts do not compare.

    forecaster, event: N integers from 0, every number used; y: N values in [0, 1]. Raises InputError as `fit_irt`.
    Source: the difficulty-adjusted Brier score of ForecastBench (Karger et al., ICLR 2025).
    """
    from scipy.linalg import cho_factor, cho_solve

    i, j, values = observations("fit_effects", forecaster, event, "y", y)
    forecasters, events = int(i.max()) + 1, int(j.max()) + 1
    part, part_of_event = connected_parts(i, j, forecasters)
    present = np.zeros((events, forecasters))
    present[j, i] = 1
    answers, counts = present.sum(axis=1), present.sum(axis=0)
    table = np.zeros((events, forecasters))
    table[j, i] = values
    mean = table.sum(axis=1) / answers
    shares = present / answers[:, None]
    laplacian = np.diag(counts) - present.T @ shares
    laplacian += (part[:, None] == part) / np.bincount(part)[part]  # the level of each part is free
    factor = cho_factor(laplacian)
    alpha = cho_solve(factor, (table - present * mean[:, None]).sum(axis=0))
    difficulty = mean - shares @ alpha
    rest = table - present * (difficulty[:, None] + alpha)
    influence = cho_solve(factor, rest.T).T  # of α
    size = np.bincount(part_of_event)
    level = np.bincount(part_of_event, difficulty) / size
    moved = (difficulty - level[part_of_event]) / size[part_of_event] - influence @ (shares.sum(axis=0) / size[part])
    influence += (part_of_event[:, None] == part) * moved[:, None]
    errors = np.sqrt((influence**2).sum(axis=0) * counts / np.where(counts > 1, counts - 1, np.nan))
    return EffectsFit(alpha + level[part], errors, difficulty, influence, part)


def connected_parts(forecaster: Ints, event: Ints, forecasters: int) -> tuple[Ints, Ints]:
    """The number of the part of every forecaster and of every event: forecasters are connected by shared events."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = forecasters + int(event.max()) + 1
    graph = coo_matrix((np.ones(len(event)), (forecaster, forecasters + event)), (size, size))
    label = connected_components(graph, directed=False)[1].astype(np.int64)
    return label[:forecasters], label[forecasters:]


# --- All models of a board ---


class Fitted(NamedTuple, Generic[Fit]):
    """A fit, and which forecasters and events its numbers are."""

    fit: Fit
    forecasters: Ints
    events: Ints


class Models(NamedTuple):
    """The fits (None where there are too few forecasters), and what results say of them."""

    effects: Fitted[EffectsFit]
    irt: Fitted[IrtFit] | None
    strengths: Fitted[BradleyTerryFit] | None
    fits: dict[str, Any]


def fit_models(scored: Scored, prior: float | None, response: str, notes: Notes) -> Models:
    """Adjusted Brier, IRT, Bradley–Terry, as far as there are forecasters enough.

    response: IRT explains 1 - Brier ("brier"), or whether the winner had the largest probability ("correct"). prior:
    of Bradley–Terry; None: without one if that fit converges and no forecaster's strength runs away, else 1.
    """
    names, brier = scored.forecasts.names, np.clip(scored.values["brier"], 0, 1)
    who, which, i, j, values = _numbered(scored, brier)
    effects = Fitted(fit_effects(i, j, values), who, which)
    fits: dict[str, Any] = {"irt": None, "bradley_terry": None}
    if len(names) < 2:
        notes.lines.append("one forecaster only: no IRT, no Bradley–Terry, no rank agreement")
        return Models(effects, None, None, fits)
    consequence = "nothing but a prior compares one group with another"
    parts = _note_parts(names, effects.fit.part, "adjusted Brier, IRT", consequence, notes)
    irt = _fit_irt(scored, 1 - brier if response == "brier" else scored.correct, notes)
    if irt:
        posterior = {"log_posterior": irt.fit.log_posterior, "response": response, "parts": parts}
        fits["irt"] = _describe(irt.fit) | posterior
    strengths = _fit_strengths(scored, prior, fits, notes)
    for name, described in fits.items():
        if described and not described["converged"]:
            notes.lines.append(f"the fit of {name} has not converged: {described['iterations']} iterations")
    return Models(effects, irt, strengths, fits)


def _describe(fit: IrtFit | BradleyTerryFit) -> dict[str, Any]:
    return {name: getattr(fit, name) for name in _REPORTED}


def _numbered(scored: Scored, values: Floats) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """The forecasters and events that have a value, both numbered again for each of the values, and the values."""
    has = ~np.isnan(values)
    who, i = np.unique(scored.forecasts.forecaster[has], return_inverse=True)
    which, j = np.unique(scored.forecasts.event[has], return_inverse=True)
    return who, which, i, j, values[has]


def _fit_irt(scored: Scored, y: Floats, notes: Notes) -> Fitted[IrtFit] | None:
    who, which, i, j, y = _numbered(scored, y)
    if len(who) < 2:
        notes.lines.append("fewer than two forecasters of exclusive events: no IRT of correct answers")
        return None
    return Fitted(fit_irt(i, j, y), who, which)


def _fit_strengths(
    scored: Scored, prior: float | None, fits: dict[str, Any], notes: Notes
) -> Fitted[BradleyTerryFit] | None:
    who, which, i, j, p = _numbered(scored, scored.p_winner)
    names = [scored.forecasts.names[at] for at in who]
    if len(who) < 2:
        notes.lines.append("fewer than two forecasters of exclusive events: no Bradley–Terry")
        return None
    fit = fit_bradley_terry(i, j, p, prior or 0.0)
    if prior is None and (not fit.converged or fit.diverging.any()):
        why = "does not converge"
        if fit.diverging.any():
            diverging = [names[at] for at in np.flatnonzero(fit.diverging)]
            why = f"has no maximum, strengths run away: {grouped_names(diverging)}"
        notes.lines.append(f"Bradley–Terry with a prior of {PRIOR:g}: without one it {why}")
        prior = PRIOR
        fit = fit_bradley_terry(i, j, p, prior)
    notes.exclude(
        "event",
        "from Bradley–Terry: no forecaster gave its winner any probability",
        scored.events.ids[which[~fit.used]],
    )
    parts, used = list[list[str]](), fit.used[j]
    if used.any():
        label, _ = connected_parts(i[used], j[used], len(who))
        parts = _note_parts(names, label, "Bradley–Terry", "only the prior compares one group with another", notes)
    fits["bradley_terry"] = _describe(fit) | {"events": int(fit.used.sum()), "prior": prior or 0.0, "parts": parts}
    return Fitted(fit, who, which[fit.used])


def _note_parts(names: Sequence[str], label: Ints, model: str, consequence: str, notes: Notes) -> list[list[str]]:
    """The parts of the comparison graph of `names`, largest first, with a note; none if there is one only."""
    parts = [[names[at] for at in np.flatnonzero(label == part).tolist()] for part in np.unique(label)]
    if len(parts) < 2:
        return []
    parts.sort(key=lambda part: (-len(part), part))
    shown = [
        ", ".join(printable(name, 40) for name in part[:5]) + " and others" * (len(part) > 5) for part in parts[:5]
    ]
    notes.lines.append(
        f"{model}: the comparison graph is disconnected, {len(parts)} groups of forecasters share no event "
        f"({' | '.join(shown)}{' | …' if len(parts) > 5 else ''}); {consequence}"
    )
    return parts
