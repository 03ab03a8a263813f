"""Systems that answered different weeks on one scale: a logistic model, and what its errors say of
scores and ranks.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from scipy import special

from .significance import holm
from .systems import DRAWS

Array = np.ndarray[Any, np.dtype[Any]]

_NOISE: Final = 1e-12  # what is rounding
_TINY: Final = 1e-300
_WIDE: Final = 3.0  # prior standard deviation of systems, weeks and levels, in log-odds
_NARROW: Final = (
    1.5  # that of a cell's departure from its week and level, divided by the root of its questions
)
_COMMON: Final = (
    5.0  # weeks that the common variance of shocks counts for beside the weeks of a system
)
_STEPS: Final = 50


class Fit(NamedTuple):
    """Scores of S systems, and what their errors are made of."""

    scores: Array  # S
    parts: list[
        Array
    ]  # of each level, S × its questions or clusters: what each adds to the error of a score
    counts: Array  # L × S: questions or clusters that a system answered
    # whether every level has two questions or clusters: one alone says nothing of its error
    measured: bool
    varies: Array  # S: whether a system's scores vary within a level, so that they measure an error
    shocks: Array  # S × S: covariance of the scores by weeks that are good or bad for a system
    shock_freedom: float
    shock_deviation: (
        float  # of the shocks of all systems, in log-odds; nan if nothing measures them
    )

    def scale(self, factor: float) -> Fit:
        """The fit of scores `factor` times as large."""
        parts = [factor * part for part in self.parts]
        return self._replace(
            scores=factor * self.scores, parts=parts, shocks=factor**2 * self.shocks
        )


class _Design(NamedTuple):
    """Q questions in C cells, a cell being the questions of one week and level; F effects."""

    weights: Array  # Q: of a question in a score; they add up to 1
    cells: Array  # Q: the cell of each question
    members: Array  # Q × C: 1 where a question is in a cell
    effects: Array  # C × F: 1 for a cell's week, its level and itself
    precision: Array  # F: of the effects' priors
    weeks: Array  # C × W: 1 where a cell is in a week


class _Model(NamedTuple):
    """The model where it fits best."""

    chances: Array  # S × C: the expected score p of a system in a cell
    slopes: Array  # S × C: p(1 − p)
    information: Array  # S: of the systems' effects
    cross: Array  # S × F: that they share with the other effects
    rest: Array  # F × F: that of the other effects once the systems' are eliminated


# --- The fit ---


def fit_scores(
    scores: Array, levels: Array, weeks: Array, weights: Array, clusters: Array | None = None
) -> Fit:
    r"""The score that every system would have on all questions, from those that it answered.

    `scores` is S × Q in [0, 1] with nan where a system did not take part, `levels` and `weeks` are
    the numbers of each question's level and week, `weights` the weight of each level. A question of
    level l weighs v = w_l / n_l / Σw, n_l counted over all questions, and a cell c is the questions
    of one week and level. The model is p_sc = expit(θ_s + u_week + l_level + e_c), fitted by
    maximising the quasi-likelihood

        Σ Qv·[y log p + (1 − y) log(1 − p)] − (Σθ² + Σu² + Σl²) / (2·3²) − Σ n_c·e_c² / (2·1.5²)

    with Newton's method (the objective is concave). The score is Σ v·(y where the system took part,
    p elsewhere), in [0, 1]: exactly the plain Σ w_l·mean_l / Σw where it always did. A system
    without any point is left out of the fit: it does not show which weeks are easy. Its score is 0,
    and it has no influence on other scores.

    Errors: a question's influence ψ on a score (sandwich; Liang & Zeger 1986), centred by level and
    times √(n/(n − 1)) with the n questions that the system answered there, so that they are those
    of `stratified_error` where a system took part every week. With `clusters` (a number from 0 per
    question) the ψ of a cluster are summed, and n counts clusters. To these comes the variance of
    weeks in which a system does better or worse than its rivals on all questions at once,
    `_measure_shocks`.
    """
    clusters = np.arange(len(levels)) if clusters is None else clusters
    places = [levels == level for level in range(len(weights))]
    members = [np.unique(clusters[in_level], return_inverse=True)[1] for in_level in places]
    fit = _blank_fit(scores, places, members)
    live = np.flatnonzero(np.nansum(scores, axis=1) > 0)
    if not len(live):
        return fit
    design = _make_design(levels, weeks, weights)
    answered = ~np.isnan(scores[live])
    values = np.where(answered, scores[live], 0.0)
    model = _maximise(answered, values, design)
    chances = model.chances[:, design.cells]
    expected = np.where(answered, values, chances)
    fit.scores[live] = expected @ design.weights
    residuals = answered * (values - chances) * design.weights
    # How far the effects of systems, weeks and levels move a score: through the questions that were
    # not answered.
    missing = (~answered * design.weights) @ design.members * model.slopes
    gain = missing.sum(axis=1) / model.information
    pull = np.linalg.solve(model.rest, (missing @ design.effects - gain[:, None] * model.cross).T).T
    shared = design.effects[design.cells].T * residuals.sum(axis=0)
    shared -= (model.cross / model.information[:, None]).T @ residuals
    influence = expected * design.weights + len(levels) * (
        gain[:, None] * residuals + pull @ shared
    )
    for in_level, numbers, part, counts in zip(places, members, fit.parts, fit.counts, strict=True):
        if part.size:  # rows about their means
            few = np.maximum(counts[live], 2)[:, None]
            centred = influence[:, in_level] - influence[:, in_level].mean(axis=1, keepdims=True)
            part[live] = _sum_clusters(centred, numbers) * np.sqrt(few / (few - 1))
    variances, freedom, deviation = _measure_shocks(answered, residuals, design, model, clusters)
    fit.shocks[np.ix_(live, live)] = _carry_shocks(answered, variances, design, model, gain, pull)
    return fit._replace(shock_freedom=freedom, shock_deviation=deviation)


def _blank_fit(scores: Array, places: list[Array], members: list[Array]) -> Fit:
    """The fit of systems without a point: scores of 0 without errors."""
    answered = ~np.isnan(scores)
    counts = [
        _sum_clusters(answered[:, at], numbers) > 0
        for at, numbers in zip(places, members, strict=True)
    ]
    highest = [scores[:, at].max(axis=1, initial=-np.inf, where=answered[:, at]) for at in places]
    lowest = [scores[:, at].min(axis=1, initial=np.inf, where=answered[:, at]) for at in places]
    return Fit(
        scores=np.zeros(len(scores)),
        parts=[np.zeros(part.shape) for part in counts],
        counts=np.stack([part.sum(axis=1) for part in counts]),
        measured=all(part.shape[1] > 1 for part in counts),
        varies=(np.array(highest) - np.array(lowest) > _NOISE).any(axis=0),
        shocks=np.zeros((len(scores), len(scores))),
        shock_freedom=1.0,
        shock_deviation=np.nan,
    )


def _sum_clusters(values: Array, numbers: Array) -> Array:
    """Rows with the sum of every cluster's columns; `numbers` has the cluster of each column."""
    sums = np.zeros((numbers.max(initial=-1) + 1, len(values)))
    np.add.at(sums, numbers, values.T)
    return sums.T


def _make_design(levels: Array, weeks: Array, weights: Array) -> _Design:
    sizes = np.bincount(levels, minlength=len(weights))
    v = (weights / weights[sizes > 0].sum() / np.maximum(sizes, 1))[levels]
    _, first, cells = np.unique(
        weeks * len(weights) + levels, return_index=True, return_inverse=True
    )
    of_week = np.unique(weeks, return_inverse=True)[1][first][:, None] == np.arange(
        len(np.unique(weeks))
    )
    of_level = levels[first][:, None] == np.arange(len(weights))
    alone = np.eye(len(first))
    members = alone[cells]
    wide = np.full(of_week.shape[1] + len(weights), _WIDE**-2)
    effects = np.hstack([of_week, of_level, alone])
    precision = np.concatenate([wide, members.sum(axis=0) / _NARROW**2])
    return _Design(v, cells, members, effects, precision, of_week.astype(float))


def _maximise(answered: Array, values: Array, design: _Design) -> _Model:
    """Newton's method from 0; the systems' effects, whose information is diagonal, are eliminated
    at every step.
    """
    weights = len(design.weights) * design.weights
    count, scored = (answered * weights) @ design.members, (values * weights) @ design.members
    theta, phi = np.zeros(len(answered)), np.zeros(len(design.precision))

    def loss(theta: Array, phi: Array) -> float:
        eta = theta[:, None] + design.effects @ phi
        prior = (theta**2).sum() / _WIDE**2 + (design.precision * phi**2).sum()
        return float((count * np.logaddexp(0, eta) - scored * eta).sum() + prior / 2)

    def model(theta: Array, phi: Array) -> _Model:
        p = special.expit(theta[:, None] + design.effects @ phi)
        slopes = p * (1 - p)
        information = (count * slopes).sum(axis=1) + _WIDE**-2
        cross = (count * slopes) @ design.effects
        rest = (design.effects.T * (count * slopes).sum(axis=0)) @ design.effects + np.diag(
            design.precision
        )
        return _Model(
            p, slopes, information, cross, rest - cross.T @ (cross / information[:, None])
        )

    for _ in range(_STEPS):
        now, before = model(theta, phi), loss(theta, phi)
        residuals = scored - count * now.chances
        of_systems = residuals.sum(axis=1) - theta / _WIDE**2
        of_effects = residuals.sum(axis=0) @ design.effects - design.precision * phi
        step = np.linalg.solve(now.rest, of_effects - now.cross.T @ (of_systems / now.information))
        shift = (of_systems - now.cross @ step) / now.information
        length = 1.0
        while (
            loss(theta + length * shift, phi + length * step) > before + 1e-9 * abs(before)
            and length > 1e-4
        ):
            length /= 2
        theta, phi = theta + length * shift, phi + length * step
        if max(np.abs(shift).max(), np.abs(step).max()) < 1e-9:
            break
    return model(theta, phi)


# --- Good and bad weeks ---


def _measure_shocks(
    answered: Array, residuals: Array, design: _Design, model: _Model, clusters: Array
) -> tuple[Array, float, float]:
    """Variance of each system's week-to-week shocks in log-odds, degrees of freedom, and the common
    deviation.

    By moments. R_sw, the sum of a system's weighted residuals in a week, less what all systems
    share on a question, has the variance (1 − H_sw/H_s)·(noise_sw + (1 − Σ_t H_tw²/(Σ_t
    H_tw)²)·H_sw²·ω_s²): H_sw = Σ v·p(1 − p) is what a shock moves in R_sw, noise_sw is that of
    single questions, from their residuals about the mean of their cell, and the factors are what
    the fit takes for the system and for the week. ω² solves it for all systems together, o_s² for a
    single system, whose variance is max(0, (f·o_s² + 5ω²)/(f + 5)) with f = its weeks − 1, as few
    weeks say little.
    """
    slopes = answered * model.slopes[:, design.cells] * design.weights
    residuals = residuals - slopes * (residuals.sum(axis=0) / np.maximum(slopes.sum(axis=0), _TINY))
    sizes = design.members.sum(axis=0)
    by_cell = residuals @ design.members
    about = residuals - answered * (by_cell / sizes)[:, design.cells]
    _, first, units = np.unique(
        clusters * len(sizes) + design.cells, return_index=True, return_inverse=True
    )
    unit_cells = design.cells[first]
    count = np.bincount(unit_cells, minlength=len(sizes))
    noise = (
        _sum_clusters(about, units) ** 2
        * (count / np.maximum(count - 1, 1))[unit_cells]
        @ design.weeks[unit_cells]
    )
    sums, moved = by_cell @ design.weeks, slopes @ design.members @ design.weeks
    left = 1 - moved / np.maximum(moved.sum(axis=1, keepdims=True), _TINY)
    free = 1 - (moved**2).sum(axis=0) / np.maximum(moved.sum(axis=0), _TINY) ** 2
    seen, chance = (sums**2).sum(axis=1), (left * noise).sum(axis=1)
    scale = (left * np.maximum(free, 0) * moved**2).sum(axis=1)
    least = 1e-9 * (moved**2).sum(axis=1)  # below, nothing measures a shock
    if not scale.sum() > least.sum():
        return np.zeros(len(answered)), 1.0, np.nan
    common = max(0.0, float((seen.sum() - chance.sum()) / scale.sum()))
    measured = scale > least
    freedom = np.where(measured, (moved > 0).sum(axis=1) - 1, 0)
    single = np.where(measured, (seen - chance) / np.where(measured, scale, 1), common)
    variances = np.maximum(0, (freedom * single + _COMMON * common) / (freedom + _COMMON))
    share = common * scale.sum() / max(seen.sum(), _TINY)  # of what is seen; the rest is noise
    total = freedom.sum() * (1 - 1 / len(answered)) * share**2
    return variances, max(1.0, float(total)), float(np.sqrt(common))


def _carry_shocks(
    answered: Array, variances: Array, design: _Design, model: _Model, gain: Array, pull: Array
) -> Array:
    """The covariance of the scores that shocks of these variances make, S × S.

    A shock of system t in week w moves its own score by D_tw, and every score s by pull_s·K_tw
    through the effects of weeks and levels: K_tw = Q·(Σ_c h_tc·z_c − H_tw·b_t), where h_tc is what
    it moves in a cell, H_tw in all cells of the week, z_c the effects of the cell, and b_t what the
    system's own effect takes up.
    """
    count = len(design.weights)
    by_cell = (answered * design.weights) @ design.members * model.slopes
    moved = by_cell @ design.weeks
    direct = moved * (1 + count * gain[:, None])
    taken = model.cross / model.information[:, None]
    same_week = design.weeks @ design.weeks.T
    squares = design.effects.T @ ((by_cell.T * variances) @ by_cell * same_week) @ design.effects
    products = design.effects.T @ ((by_cell * (moved @ design.weeks.T)).T * variances) @ taken
    total = count**2 * (
        squares - products - products.T + (taken.T * (variances * (moved**2).sum(axis=1))) @ taken
    )
    mixed = (by_cell * (direct @ design.weeks.T)) @ design.effects - taken * (direct * moved).sum(
        axis=1
    )[:, None]
    crossed = count * (variances[:, None] * mixed) @ pull.T
    covariance: Array = (
        np.diag(variances * (direct**2).sum(axis=1)) + crossed + crossed.T + pull @ total @ pull.T
    )
    return covariance


# --- Inference ---


class Spread(NamedTuple):
    """Estimates, their variances (0: questions all say the same; nan: nothing measures them),
    degrees of freedom.
    """

    value: Array
    variance: Array
    freedom: Array


def score_spread(fit: Fit) -> Spread:
    """The scores' errors, with Satterthwaite's degrees of freedom from the questions that each
    system answered.
    """
    parts = np.array([(part**2).sum(axis=1) for part in fit.parts])
    return _spread(fit, fit.scores, parts, fit.counts, np.diag(fit.shocks))


def difference_spread(fit: Fit) -> Spread:
    """S × S: those of every system's score less every other's; a level counts the fewer questions
    of the two.
    """
    fewer = np.minimum(fit.counts[:, :, None], fit.counts[:, None, :])
    parts = np.array([_of_differences(part @ part.T) for part in fit.parts])
    return _spread(fit, fit.scores[:, None] - fit.scores, parts, fewer, _of_differences(fit.shocks))


def _of_differences(covariance: Array) -> Array:
    """The variances of all differences, without what is rounding."""
    total = np.add.outer(np.diag(covariance), np.diag(covariance))
    rest = total - 2 * covariance
    return np.where(rest > _NOISE * total, rest, 0.0)


def _spread(fit: Fit, value: Array, parts: Array, counts: Array, shocks: Array) -> Spread:
    total = parts.sum(axis=0) + shocks
    shares = (parts**2 / (np.maximum(counts, 2) - 1)).sum(axis=0) + shocks**2 / fit.shock_freedom
    total = np.where(total > 1e-30, total, 0.0) if fit.measured else np.full_like(total, np.nan)
    return Spread(value, total, np.where(total > 0, total**2 / np.maximum(shares, _TINY), 1.0))


def half_widths(spread: Spread) -> Array:
    """Half of the 95 % intervals by Student's t; nan where nothing measures the error."""
    half = special.stdtrit(spread.freedom, 0.975) * np.sqrt(spread.variance)
    return np.where(spread.variance > 0, half, np.nan)


def compare_pairs(fit: Fit, differences: Spread) -> Array:
    """S × S two-sided p-values by Student's t, not adjusted; 1 where nothing measures the error.

    None is below 2 / 2^n, the least that the signs of the n questions of the system with fewer can
    give.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences.value) / np.sqrt(differences.variance)
    p = 2 * special.stdtr(differences.freedom, -t)
    fewer = np.minimum(fit.counts[:, :, None], fit.counts[:, None, :]).sum(axis=0)
    least = np.maximum(p, 2.0 ** (1 - np.minimum(fewer, 1000)))
    none = np.isnan(differences.variance) | (np.abs(differences.value) < _NOISE)
    return np.where(none, 1.0, np.minimum(1.0, least))


def adjust_pairs(p: Array) -> Array:
    """S × S p-values with Holm's adjustment over all pairs; 1 on the diagonal."""
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper].tolist())
    return np.minimum(adjusted, adjusted.T)


def rank_bounds(differences: Array, p: Array, alpha: float) -> list[tuple[int, int]]:
    """The best and the worst rank of every system that no test contradicts.

    1 + the systems significantly better, and S − those significantly worse. With Holm's p-values
    over all pairs, all ranks lie in theirs in 95 % of cases (Mogstad, Romano, Shaikh & Wilhelm,
    Inference for ranks, 2024).
    """
    better = ((differences < 0) & (p < alpha)).sum(axis=1)
    worse = ((differences > 0) & (p < alpha)).sum(axis=1)
    return [(1 + int(up), len(p) - int(down)) for up, down in zip(better, worse, strict=True)]


def chances_of_best(fit: Fit, seed: int, places: Array) -> Array:
    """Share of `DRAWS` draws from the normal distribution of the errors of some systems in which
    each is the highest.

    Systems without a point are never it, unless nobody has one; ties share. Normal and not
    Student's: with few questions it is surer than the intervals. nan where nothing measures the
    errors.
    """
    if not fit.measured:
        return np.full(len(places), np.nan)
    live = fit.scores[places] > 0 if (fit.scores[places] > 0).any() else np.full(len(places), True)
    drawn_from = places[live]
    covariance = sum(part[drawn_from] @ part[drawn_from].T for part in fit.parts)
    values, vectors = np.linalg.eigh(covariance + fit.shocks[np.ix_(drawn_from, drawn_from)])
    values = np.where(
        values > _NOISE * values.max(), values, 0.0
    )  # the root of rounding would part equal systems
    root = (
        vectors * np.sqrt(values)
    ) @ vectors.T  # the symmetric one: no sign is up to the library
    drawn = (
        fit.scores[drawn_from]
        + np.random.default_rng(seed).standard_normal((DRAWS, len(root))) @ root
    )
    best = drawn >= drawn.max(axis=1, keepdims=True) - 1e-9
    chances = np.zeros(len(places))
    chances[live] = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return chances
