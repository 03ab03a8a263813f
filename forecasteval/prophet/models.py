"""The models over all forecasters: Brier scores adjusted for difficulty, Bradley–Terry;
the models of a board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from forecasteval.common.errors import InputError, grouped_names, printable
from forecasteval.common.records import group_by, number_text

from .arrays import Bools, Floats, Ints, answer_table
from .fields import DataNotes
from .irt import IrtFit, fit_irt
from .score_table import ForecastScores

# The largest derivative, per event, of a fit of Bradley–Terry that converged
FLAT: Final = 1e-6
PRIOR: Final = 1.0  # of Bradley–Terry
_TINY: Final = 1e-300
_LISTED: Final = 5  # parts of the comparison graph that a note names
Fit = TypeVar("Fit")


# --- Scores adjusted for the difficulty of the events ---


class EffectsFit(NamedTuple):
    """Scores that are adjusted for the difficulty of events.

    score: what each forecaster would have on all events of its part.
    difficulty: the events' effects.
    influence: events × forecasters, what one more copy of the event adds to the score.
    part: numbers the connected part of every forecaster.
    """

    score: Floats
    difficulty: Floats
    influence: Floats
    part: Ints


def fit_effects(
    forecaster: ArrayLike, event: ArrayLike, y: ArrayLike, weight: ArrayLike = 1.0
) -> EffectsFit:
    """Fit two-way fixed effects by least squares:

        y_ij = μ + α_i + δ_j + e, with Σα = Σwδ = 0 in every connected part

    The score of a forecaster is μ + α_i: with full participation its mean, else the
    mean that it would have had with the events of the others. Parts are what events
    connect: scores of different parts do not compare. Errors follow from the influence
    of the events, as those of a mean do (`estimates.clustered_errors`).

    forecaster, event: N integers from 0, every number used; y: N values in [0, 1];
        weight: of every
    event, positive. Raises InputError as `fit_irt`. Source: the difficulty-adjusted
    Brier score of ForecastBench (Karger et al., ICLR 2025).
    """
    from scipy.linalg import cho_factor, cho_solve

    table, present = answer_table("fit_effects", forecaster, event, "y", y)
    part, part_of_event = connected_parts(present)
    weights = np.broadcast_to(np.asarray(weight, float), len(table))
    answers = present.sum(axis=1)
    mean = table.sum(axis=1) / answers
    shares = present / answers[:, None]
    counted = present * weights[:, None]
    laplacian = np.diag(counted.sum(axis=0)) - counted.T @ shares
    # The level of each part is free.
    laplacian += (part[:, None] == part) / np.bincount(part)[part]
    factor = cho_factor(laplacian)
    alpha = cho_solve(factor, (counted * (table - mean[:, None])).sum(axis=0))
    difficulty = mean - shares @ alpha
    residuals = counted * (table - difficulty[:, None] - alpha)
    influence_on_alpha = cho_solve(factor, residuals.T).T

    # The score is α and the level of its part, the mean difficulty.
    size = np.bincount(part_of_event, weights)
    level = np.bincount(part_of_event, weights * difficulty) / size
    difficulty = difficulty - level[part_of_event]
    through_alpha = influence_on_alpha @ (weights @ shares / size[part])
    influence_on_level = weights * difficulty / size[part_of_event] - through_alpha
    is_same_part = part_of_event[:, None] == part
    influence = influence_on_alpha + is_same_part * influence_on_level[:, None]
    return EffectsFit(alpha + level[part], difficulty, influence, part)


def connected_parts(present: Floats) -> tuple[Ints, Ints]:
    """Number the part of every forecaster and event; shared events
    connect forecasters.
    """
    from scipy.sparse import bmat, csr_matrix
    from scipy.sparse.csgraph import connected_components

    links = csr_matrix(present)
    label = connected_components(
        bmat([[None, links.T], [links, None]]), directed=False
    )[1]
    part, part_of_event = np.split(label, [links.shape[1]])
    return part, part_of_event


# --- Generalised Bradley–Terry: strengths of those who pool their probabilities ---


class BradleyTerryFit(NamedTuple):
    """Strengths of mean 1. `used`: events that counted."""

    strength: Floats
    log_likelihood: float
    gradient_norm: float
    iterations: int
    converged: bool
    used: Bools


def check_prior(prior: float) -> float:
    if not number_text(prior) or prior < 0:
        raise InputError("prior", "must be a number >= 0", printable(repr(prior), 60))
    return float(prior)


def fit_bradley_terry(
    forecaster: ArrayLike, event: ArrayLike, p_winner: ArrayLike, prior: float = PRIOR
) -> BradleyTerryFit:
    """Fit generalised Bradley–Terry: in every event the winning team, Σ_j θ_j p_jc,
    plays against all who are present, Σ_j θ_j.

    The strengths maximise

        Σ_i ln(Σ_j θ_j p_jc / Σ_j θ_j) + prior · Σ_j ln(θ_j / Σθ)

    over t = ln θ by L-BFGS. The prior is a gamma distribution of each strength, which
    makes the shares of strength Dirichlet: as if for each forecaster there were `prior`
    more events with everyone present whose winner only that one saw. Without it many
    strengths are 0 or have no maximum, and `converged` is False as long as a strength
    that is nearly 0 could still move the objective.

    forecaster, event: N integers from 0 without gaps; p_winner: the
        probability each gave the
    event's winner, in [0, 1]. Events whose winner no forecaster expected are left out
    (`used`). `log_likelihood` is without the prior, and `gradient_norm` the largest
    derivative by a ln θ, with it. Raises InputError: no observation, lengths that
    differ, values outside [0, 1], a negative prior. Source: Huang, Weng and Lin (2006);
    prior: Caron and Doucet, J. Comp. Graph. Stat. 21 (2012) 174–196.
    """
    from scipy.optimize import minimize

    given, present = answer_table(
        "fit_bradley_terry", forecaster, event, "p_winner", p_winner
    )
    prior = check_prior(prior)
    used = given.sum(axis=1) > 0
    given, present = given[used], present[used]
    count = max(len(given), 1)
    size = given.shape[1]

    def share(t: Floats) -> tuple[Floats, Floats, Floats]:
        theta = np.exp(t - t.max())
        winning = np.maximum(given @ theta, _TINY)
        total = np.maximum(present @ theta, _TINY)
        return theta, winning, total

    def objective(t: Floats) -> tuple[float, Floats]:
        theta, winning, total = share(t)
        mass = theta / theta.sum()
        log_prior = prior * np.log(np.maximum(mass, _TINY)).sum()
        value = np.log(winning / total).sum() + log_prior
        pull = given.T @ (1 / winning) - present.T @ (1 / total)
        gradient = theta * pull + prior * (1 - size * mass)
        return -float(value) / count, -gradient / count

    options = {
        "maxiter": 10_000,
        "maxfun": 20_000,
        "ftol": 1e-15,
        "gtol": 1e-9,
        "maxcor": 20,
    }
    optimum = minimize(
        objective, np.zeros(size), jac=True, method="L-BFGS-B", options=options
    )
    theta, winning, total = share(optimum.x)
    slopes = np.abs(optimum.jac)
    strength = theta / theta.mean()
    # By ln θ everything is flat where θ is nearly 0: without a prior the slope by θ
    # itself decides.
    limit = FLAT * (1 if prior else np.minimum(strength, 1))
    is_flat = (slopes <= limit).all()
    log_likelihood = float(np.log(winning / total).sum())
    return BradleyTerryFit(
        strength=strength,
        log_likelihood=log_likelihood,
        gradient_norm=float(slopes.max()) * count,
        iterations=int(optimum.nit),
        converged=bool(is_flat and strength.min() > 0),
        used=used,
    )


# --- All models of a board ---

Model = TypeVar("Model", IrtFit, BradleyTerryFit)


class Fitted(NamedTuple, Generic[Fit]):
    """A fit, and which forecasters and events its numbers are."""

    fit: Fit
    forecasters: Ints
    events: Ints


class Models(NamedTuple):
    """The fits (None where there are too few forecasters), and what
    results say of them.
    """

    effects: Fitted[EffectsFit]
    irt: Fitted[IrtFit] | None
    strengths: Fitted[BradleyTerryFit] | None
    fits: dict[str, dict[str, object] | None]


def fit_models(
    scored: ForecastScores, prior: float, response: str, notes: DataNotes
) -> Models:
    """Fit adjusted Brier, IRT and Bradley–Terry, as far as there are
    forecasters enough.

    response: IRT explains 1 - Brier ("brier"), or whether the winner had the
        largest probability
    ("correct"). prior: of Bradley–Terry.
    """
    names = scored.forecasts.names
    forecaster = scored.forecasts.forecaster
    weight = scored.events.weight
    brier = np.clip(scored.values["brier"], 0, 1)
    fit = fit_effects(forecaster, scored.forecasts.event, brier, weight)
    effects = Fitted(fit, np.arange(len(names)), np.arange(len(weight)))
    fits: dict[str, dict[str, object] | None] = {"irt": None, "bradley_terry": None}
    if len(names) < 2:
        notes.lines.append(
            "one forecaster only: no IRT, no Bradley–Terry, no rank agreement"
        )
        return Models(effects, None, None, fits)
    parts = _note_parts(names, effects.fit.part, notes)
    right = scored.correct
    if response == "brier":
        right = 1 - np.clip(scored.brier, 0, 1)
    if irt := _fit("IRT", fit_irt, scored, right, notes):
        more = {
            "log_posterior": irt.fit.log_posterior,
            "response": response,
            "parts": parts,
        }
        fits["irt"] = _describe(irt.fit) | more
    strengths = partial(fit_bradley_terry, prior=prior)
    if pool := _fit("Bradley–Terry", strengths, scored, scored.p_winner, notes):
        text = "from Bradley–Terry: no forecaster gave its winner any probability"
        notes.exclude("event", text, scored.events.ids[pool.events[~pool.fit.used]])
        more = {"events": int(pool.fit.used.sum()), "prior": prior}
        fits["bradley_terry"] = _describe(pool.fit) | more
    return Models(effects, irt, pool, fits)


def _fit(
    name: str,
    fit_model: Callable[..., Model],
    scored: ForecastScores,
    values: Floats,
    notes: DataNotes,
) -> Fitted[Model] | None:
    """Fit the forecasters and events that have a value, numbered again; None for
    one forecaster.
    """
    has = ~np.isnan(values)
    forecasters, i = np.unique(scored.forecasts.forecaster[has], return_inverse=True)
    events, j = np.unique(scored.forecasts.event[has], return_inverse=True)
    if len(forecasters) < 2:
        notes.lines.append(f"fewer than two forecasters of exclusive events: no {name}")
        return None
    fit = fit_model(i, j, values[has])
    if not fit.converged:
        notes.lines.append(
            f"the fit of {name} has not converged: {fit.iterations} iterations"
        )
    return Fitted(fit, forecasters, events)


def _describe(fit: IrtFit | BradleyTerryFit) -> dict[str, object]:
    return {
        "iterations": fit.iterations,
        "gradient_norm": fit.gradient_norm,
        "log_likelihood": fit.log_likelihood,
        "converged": fit.converged,
    }


def _note_parts(names: Sequence[str], label: Ints, notes: DataNotes) -> list[list[str]]:
    """List the parts of the comparison graph of `names`, largest first, with a note;
    none if all meet.
    """
    groups = group_by(zip(label.tolist(), names, strict=True), itemgetter(0)).values()
    parts = [[name for _, name in group] for group in groups]
    if len(parts) < 2:
        return []
    parts.sort(key=lambda part: (-len(part), part))
    shown = " | ".join(map(grouped_names, parts[:_LISTED]))
    if len(parts) > _LISTED:
        shown += " | …"
    notes.lines.append(
        "adjusted Brier, IRT: the comparison graph is disconnected, "
        f"{len(parts)} groups of forecasters share no event ({shown}); "
        "nothing but a prior compares one group with another"
    )
    return parts
