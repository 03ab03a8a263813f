"""Brier scores adjusted for the difficulty of the events that each forecaster answered; who can be compared at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, observations


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
    do; times √(n_i/(n_i - 1)) for n_i events of the forecaster's own, nan for one. Parts are what events connect:
    scores of different parts do not compare.

    forecaster, event: N integers from 0, every number used; y: N values in [0, 1]. Raises InputError as `fit_irt`.
    Source: the difficulty-adjusted Brier score of ForecastBench (Karger et al., ICLR 2025).
    """
    from scipy.linalg import cho_factor, cho_solve

    i, j, (values,) = observations("fit_effects", forecaster, event, {"y": y})
    forecasters, events = int(i.max()) + 1, int(j.max()) + 1
    part, part_of_event = connected_parts(i, j)
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


def connected_parts(forecaster: Ints, event: Ints) -> tuple[Ints, Ints]:
    """The number of the part of every forecaster and of every event: forecasters are connected by shared events."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    forecasters, events = int(forecaster.max()) + 1, int(event.max()) + 1
    size = forecasters + events
    graph = coo_matrix((np.ones(len(event)), (forecaster, forecasters + event)), (size, size))
    label = connected_components(graph, directed=False)[1].astype(np.int64)
    return label[:forecasters], label[forecasters:]
