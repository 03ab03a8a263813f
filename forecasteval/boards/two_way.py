"""Systems that answered different questions on one scale: two-way fixed effects of system and question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from forecasteval.common.statistics import holm

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

DRAWS: Final = 10_000  # of all scores together, for P(best)
_BLOCK: Final = 1_000  # draws held at a time
_NOISE: Final = 1e-12  # share of a variance that is rounding


class Fit(NamedTuple):
    """Scores of S systems, what each of Q questions adds to their errors, and questions answered by level."""

    scores: Array  # S
    parts: list[Array]  # of each level, S × its questions
    counts: Array  # L × S


class Spread(NamedTuple):
    """Estimates, their variances (0: questions all say the same; nan: nothing measures them), degrees of freedom."""

    value: Array
    variance: Array
    freedom: Array


def fit_scores(scores: Array, levels: Array, weights: Array, clusters: Array | None = None) -> Fit:
    """The score that every system would have on all questions, from those that it answered.

    `scores` is S × Q with nan where a system was not asked, `levels` the number of each question's level, `weights`
    that of each level. A question of level l weighs v = w_l / n_l / Σw, n_l counted over all questions. With the least
    Σ v (y − μ − γ)² over all answers, μ of systems, γ of questions, the score of s is μ_s + Σ vγ. Where everybody
    answered everything it is the plain Σ w_l·mean_l / Σw. Otherwise a system's lead over the others is taken to be the
    same on the questions that it was not asked. The γ are absorbed: with k systems on a question it is Lμ = b with
    L_st = Σ v(δ_st − 1/k) and b_s = Σ v(y − ȳ), S equations however many questions there are. All systems must be
    connected through questions.

    Errors are clustered by question (sandwich; Liang & Zeger 1986; Cameron & Miller, A practitioner's guide to
    cluster-robust inference, 2015): with the residuals e a question adds ψ_s = vγ + p_s − Σ_t a_t·p_t to the error of a
    score, where p = L⁺(v·e) and a_t = Σ v/k over the questions of t. As strata are, γ and p are centred by level and
    scaled by √(n/(n − 1)), for p with the n questions of the level that the system answered: where everybody answered
    everything, the errors are those of `stratified_error`. With `clusters` (a number from 0 per question) the ψ of a
    cluster's questions are one, and n counts clusters (`clustered_error`).
    """
    import numpy as np

    asked = ~np.isnan(scores)
    values, here = np.where(asked, scores, 0.0), asked.astype(float)
    sizes = np.bincount(levels, minlength=len(weights))
    v = (weights / weights[sizes > 0].sum() / np.maximum(sizes, 1))[levels]
    k = here.sum(axis=0)
    means = values.sum(axis=0) / k
    laplacian = np.diag((here * v).sum(axis=1)) - (here * (v / k)) @ here.T
    constant = np.full_like(laplacian, 1 / len(scores))
    inverse = np.linalg.inv(laplacian + constant) - constant
    effects = inverse @ ((values - means) * here * v).sum(axis=1)
    gamma = means - effects @ here / k
    residuals = (values - effects[:, None] - gamma) * here
    pull = inverse @ (v * residuals)
    shares = (here * (v / k)).sum(axis=1)
    parts, counts = [], []
    for level in range(len(weights)):
        here = levels == level
        members = None if clusters is None else np.unique(clusters[here], return_inverse=True)[1]
        count = (_sum_clusters(asked[:, here].astype(float), members) > 0).sum(axis=1)
        total = _sum_clusters((v * gamma)[None, here], members)
        own = _centre(pull[:, here], members, count)
        parts.append(_centre((v * gamma)[None, here], members, np.array([total.shape[1]])) + own - shares @ own)
        counts.append(count)
    return Fit(effects + v @ gamma, parts, np.stack(counts))


def _sum_clusters(values: Array, members: Array | None) -> Array:
    """Rows with the sum of every cluster's columns; `members` has the cluster of each column."""
    import numpy as np

    if members is None:
        return values
    sums = np.zeros((members.max(initial=-1) + 1, len(values)))
    np.add.at(sums, members, values.T)
    return sums.T


def _centre(parts: Array, members: Array | None, counts: Array) -> Array:
    """Rows about their means, summed by cluster, times √(n/(n − 1))."""
    import numpy as np

    if not parts.size:
        return parts
    few = np.maximum(counts, 2)[:, None]
    sums = _sum_clusters(parts - parts.mean(axis=1, keepdims=True), members)
    centred: Array = sums * np.sqrt(few / (few - 1))
    return centred


def score_spread(fit: Fit) -> Spread:
    """The scores' errors, with Satterthwaite's degrees of freedom from the questions that each system answered."""
    import numpy as np

    return _spread(fit, fit.scores, np.array([(part**2).sum(axis=1) for part in fit.parts]), fit.counts)


def difference_spread(fit: Fit) -> Spread:
    """S × S: those of every system's score less every other's; a level counts the fewer questions of the two."""
    import numpy as np

    variances = []
    for part in fit.parts:
        product = part @ part.T
        own = np.diag(product)
        total = own[:, None] + own
        found = total - 2 * product
        variances.append(np.where(found > _NOISE * total, found, 0.0))
    fewer = np.minimum(fit.counts[:, :, None], fit.counts[:, None, :])
    return _spread(fit, fit.scores[:, None] - fit.scores, np.array(variances), fewer)


def _is_measured(fit: Fit) -> bool:
    """Whether every level has two questions (or clusters): one alone says nothing of its error."""
    return all(part.shape[1] > 1 for part in fit.parts)


def _spread(fit: Fit, value: Array, variances: Array, counts: Array) -> Spread:
    import numpy as np

    total = variances.sum(axis=0)
    shares = (variances**2 / (np.maximum(counts, 2) - 1)).sum(axis=0)
    total = np.where(total > 1e-30, total, 0.0) if _is_measured(fit) else np.full_like(total, np.nan)
    return Spread(value, total, np.where(total > 0, total**2 / np.maximum(shares, 1e-300), 1.0))


def half_widths(spread: Spread) -> Array:
    """Half of the 95 % intervals by Student's t; nan where nothing measures the error."""
    import numpy as np
    from scipy import special

    half = special.stdtrit(spread.freedom, 0.975) * np.sqrt(spread.variance)
    return np.where(spread.variance > 0, half, np.nan)


def compare_pairs(fit: Fit, differences: Spread) -> Array:
    """S × S two-sided p-values by Student's t, with Holm's adjustment over all pairs; 1 on the diagonal.

    Where every question says the same, so that nothing measures the error, it is the least that signs can give,
    2 / 2^n.
    """
    import numpy as np
    from scipy import special

    t = np.abs(differences.value) / np.sqrt(np.where(differences.variance > 0, differences.variance, 1.0))
    p = 2 * special.stdtr(differences.freedom, -t)
    fewer = np.minimum(fit.counts[:, :, None], fit.counts[:, None, :]).sum(axis=0)
    same = np.where(np.abs(differences.value) < _NOISE, 1.0, 2.0 ** (1 - np.minimum(fewer, 1000)))
    p = np.where(differences.variance > 0, p, np.where(np.isnan(differences.variance), 1.0, same))
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = holm(p[upper].tolist())
    return np.minimum(adjusted, adjusted.T)


def rank_bounds(differences: Spread, p: Array, alpha: float) -> list[tuple[int, int]]:
    """The best and the worst rank of every system that no test contradicts.

    1 + the systems significantly better, and S − those significantly worse. With Holm's p-values over all pairs, all
    ranks lie in theirs in 95 % of cases (Mogstad, Romano, Shaikh & Wilhelm, Inference for ranks, 2024).
    """
    better = ((differences.value < 0) & (p < alpha)).sum(axis=1)
    worse = ((differences.value > 0) & (p < alpha)).sum(axis=1)
    return [(1 + int(up), len(p) - int(down)) for up, down in zip(better, worse, strict=True)]


def chances_of_best(fit: Fit, seed: int, draws: int = DRAWS) -> Array:
    """Share of draws from the normal distribution of all scores' errors in which each is the highest; ties share.

    Normal and not Student's: with few questions it is surer than the intervals. nan where nothing measures the errors.
    """
    import numpy as np

    if not _is_measured(fit):
        return np.full(len(fit.scores), np.nan)
    covariance = sum(part @ part.T for part in fit.parts)
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T  # the symmetric one: no sign is up to the library
    rng = np.random.default_rng(seed)
    wins = np.zeros(len(fit.scores))
    for start in range(0, draws, _BLOCK):
        drawn = fit.scores + rng.standard_normal((min(_BLOCK, draws - start), len(root))) @ root
        best = drawn >= drawn.max(axis=1, keepdims=True) - 1e-9
        wins += (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return wins / draws
