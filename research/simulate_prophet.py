"""How often intervals cover, and whether rankings find the truth:
`simulate_prophet.py [repeats]`.

Forecasters of known skill forecast drawn events; what the wing reports is compared with
what many draws show. 20 repeats take seconds and say little; the table in README.md is
from the output with 200 (about two minutes).
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, stats

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from forecasteval.common.records import Loaded
from forecasteval.prophet import estimates, irt, models, ranks, scores
from forecasteval.prophet.evaluator import Choice, ForecastData, ProphetArenaEvaluator
from forecasteval.prophet.metrics import make_metrics
from forecasteval.prophet.promises import Outcomes
from forecasteval.prophet.score_table import score_forecasts, with_baselines

F, OPTIONS = 8, 5
GAMMAS = (0.0, 0.5, 1.0)
Row = tuple[str, str, str]
Ends = tuple[Any, Any]


class Draw(NamedTuple):
    """Events of 2 to 5 options (`inside`) and the forecasts p of F forecasters and the
    market, at the prices q.
    """

    inside: Any
    outcome: Any
    q: Any
    p: Any
    hard: Any

    @property
    def offsets(self) -> Any:
        return np.append(0, np.cumsum(self.inside.sum(axis=1)))


def draw(rng: np.random.Generator, events: int) -> Draw:
    """Forecaster i sees the true log-odds with noise that grows with i; each event has
    a difficulty that all share.
    """
    sizes = rng.integers(2, OPTIONS + 1, events)
    inside = np.arange(OPTIONS) < sizes[:, None]
    hard = rng.random(events)

    def shares(odds: Any) -> Any:
        return odds * inside / (odds * inside).sum(axis=-1, keepdims=True)

    truth = shares(np.exp(rng.normal(0, 3, (events, OPTIONS)) * (1 - hard)[:, None]))
    blurred = np.clip(truth * np.exp(rng.normal(0, 0.3, truth.shape)), 0.01, None)
    q = np.clip(1.02 * shares(blurred), 0.01, 0.99)
    noise = (0.3 + 0.15 * np.arange(F))[:, None, None] * rng.normal(
        0, 1, (F, events, OPTIONS)
    )
    winner = np.minimum(
        (rng.random((events, 1)) > truth.cumsum(axis=1)).sum(axis=1), sizes - 1
    )
    p = np.concatenate([shares(truth * np.exp(noise)), shares(q)[None]])
    return Draw(inside, np.eye(OPTIONS)[winner], q, p, hard)


def score(data: Draw) -> dict[str, Any]:
    """Every score by forecaster (the market is the last) and event."""
    rows, count = len(data.p), len(data.q)
    offsets = np.append(0, np.cumsum(np.tile(data.inside.sum(axis=1), rows)))
    p, q, o = (
        np.broadcast_to(x, data.p.shape)[:, data.inside].ravel()
        for x in (data.p, data.q, data.outcome)
    )
    found = {
        "brier": scores.brier_score(p, o, offsets),
        "log": scores.log_score(p, o, offsets),
    }
    found |= {
        f"return_{gamma:g}": scores.average_return(p, q, o, gamma, offsets)
        for gamma in GAMMAS
    }
    return {name: values.reshape(rows, count) for name, values in found.items()}


@cache
def long_run() -> dict[str, Any]:
    """What many events give: the truth that intervals should cover."""
    rng = np.random.default_rng(10**6)
    parts = [score(draw(rng, 20_000)) for _ in range(15)]
    return {
        name: np.mean([part[name].mean(axis=1) for part in parts], axis=0)
        for name in parts[0]
    }


def share_inside(ends: Ends, truth: Any) -> str:
    return f"{np.mean((ends[0] <= truth) & (truth <= ends[1])):.3f}"


def t_ends(values: Any, cluster: Any = None) -> Ends:
    """The wing's t intervals of the means over the first axis, of its clusters."""
    own = np.arange(len(values)) if cluster is None else cluster
    means = values.mean(axis=0)
    residuals = ((values - means) / len(values)).reshape(len(values), -1)
    influence = np.zeros((own.max() + 1, residuals.shape[1]))
    np.add.at(influence, own, residuals)
    shares = np.repeat(
        np.bincount(own)[:, None] / len(values), residuals.shape[1], axis=1
    )
    errors = estimates.clustered_errors(influence, shares)
    low, high = estimates.t_intervals(means.ravel(), *errors)
    return low.reshape(means.shape), high.reshape(means.shape)


def irt_errors(repeats: int) -> list[Row]:
    """Point 2: reported errors of θ - mean θ, and those of the inverse Hessian, over
    the deviation of many draws.
    """
    rows = []
    theta, rng = np.linspace(-0.5, 0.5, 10), np.random.default_rng(0)
    for events in (50, 200, 800):
        found, told = [], []
        for _ in range(repeats):
            i, j = np.tile(np.arange(10), events), np.repeat(np.arange(events), 10)
            a, b = np.exp(rng.normal(0, 0.3, events)), rng.normal(-1, 1, events)
            pi = 1 / (1 + np.exp(-a[j] * (theta[i] - b[j])))
            fit = irt.fit_irt(i, j, rng.beta(6 * pi, 6 * (1 - pi)))
            found.append(fit.ability - fit.ability.mean())
            told.append(fit.ability_se)
        ratio = np.mean(told, axis=0) / np.std(found, axis=0, ddof=1)
        rows.append(
            (
                "IRT ability: error / sampling deviation",
                f"{events} events",
                f"{ratio.mean():.2f}",
            )
        )
    return rows


def adjustment(repeats: int) -> list[Row]:
    """Point 8: rank recovery (Spearman's rho with the order of the long run), and
    coverage of the adjusted score.
    """
    rng, rows, order = np.random.default_rng(5), [], np.arange(30)
    for events, share in ((50, 0.4), (200, 0.4), (50, 1.0)):
        plain, adjusted = [], []
        for _ in range(repeats):
            level, skill = rng.beta(1, 3, events), 0.002 * order
            present = rng.random((30, events)) < share
            i, j = np.nonzero(present[:, present.any(axis=0)])
            i = np.unique(i, return_inverse=True)[1]
            y = np.clip(level[j] + skill[i] + rng.normal(0, 0.08, len(i)), 0, 1)
            fit = models.fit_effects(i, j, y)
            plain.append(
                stats.spearmanr(skill, np.bincount(i, y) / np.bincount(i)).statistic
            )
            adjusted.append(stats.spearmanr(skill, fit.score).statistic)
        setting = f"{events} events, {share:.0%} present"
        figures = f"{np.mean(plain):.2f}, {np.mean(adjusted):.2f}"
        rows.append(("Rank recovery: plain, adjusted Brier", setting, figures))
    truth = long_run()["brier"][:F]
    for events in (50, 200):
        hits: dict[str, list[Any]] = {"plain": [], "adjusted": []}
        for _ in range(repeats):
            data = draw(rng, events)
            table = score(data)["brier"][:F]
            wish = np.where(
                np.arange(F)[:, None] % 2, data.hard, 1 - data.hard
            )  # every second one takes hard events
            present = rng.random(table.shape) < 0.8 * wish
            hits["adjusted"].append(adjusted_ends(table, present))
            hits["plain"].append(
                np.array(
                    [t_ends(row[has]) for row, has in zip(table, present, strict=True)]
                ).T
            )
        shares = [
            share_inside(np.array(ends).transpose(1, 0, 2), truth)
            for ends in hits.values()
        ]
        what = "Brier on all events: plain, adjusted interval covers"
        rows.append((what, f"{events} events, 40% by choice", ", ".join(shares)))
    return rows


def intervals(repeats: int) -> list[Row]:
    """Means, returns, differences to the market and ranks, as a board shows them."""
    rows, truth = [], long_run()
    order = np.arange(1, F + 1)
    for events in (30, 100):
        rng = np.random.default_rng(events)
        found: dict[str, list[Any]] = {}
        for _ in range(repeats):
            problems, forecasts = records(draw(rng, events))
            board = ProphetArenaEvaluator(min_events=1).evaluate_all(
                forecasts, problems
            )
            own = [board["forecasters"][f"f{i}"] for i in range(F)]
            for name, wanted in truth.items():
                ends = np.array([row[f"{name}_interval"] for row in own]).T
                found.setdefault(name, []).append((*ends, wanted[:F]))
                apart = [row["against"]["market"][name]["interval"] for row in own]
                less = (*np.array(apart).T, (wanted - wanted[F])[:F])
                found.setdefault(f"{name} less the market's", []).append(less)
            ends = np.array([row["brier_rank_interval"] for row in own]).T
            found.setdefault("rank by Brier", []).append((*ends, order))
        for name, hits in found.items():
            low, high, wanted = np.array(hits).transpose(1, 0, 2)
            what = f"{name}: 95 % interval covers"
            rows.append((what, f"{events} events", share_inside((low, high), wanted)))
    return rows


def close_ranks(repeats: int) -> list[Row]:
    """Forecasters of nearly equal skill: how often the true rank is in its interval,
    and how often the truly best could be first.
    """
    rows = []
    for count, events, spread in (
        (8, 30, 0.12),
        (8, 80, 0.12),
        (8, 300, 0.12),
        (20, 80, 0.05),
    ):
        inside, first = [], []
        for seed in range(repeats):
            (low, high), true = rank_board(events, seed, spread, count)
            inside.append((low <= true) & (true <= high))
            first.append(low[true == 1][0] == 1)
        setting = f"{count} forecasters, {events} events, spread {spread}"
        shares = f"{np.mean(inside):.3f}, {np.mean(first):.3f}"
        rows.append(
            (
                "rank of close forecasters: covers, the best could be first",
                setting,
                shares,
            )
        )
    return rows


def tell_apart(repeats: int) -> list[Row]:
    """How often a board tells two forecasters apart: equal ones, bold and shy, on
    favourites, long shots and several options; and unequal ones on balanced events.
    """
    rows = []
    for rate, bold, shy, options, all_events in (
        (0.85, 0.95, 0.75, 2, (5, 10, 30, 60)),
        (0.95, 0.98, 0.92, 2, (5, 10, 30, 60)),
        (0.05, 0.08, 0.02, 2, (5, 10, 30, 60)),
        (0.85, 0.95, 0.75, 4, (5, 10, 30, 60)),
    ):
        for events in all_events:
            rng = np.random.default_rng(events)
            boards = [
                favourites(rng, events, rate, bold, shy, options)
                for _ in range(repeats)
            ]
            setting = (
                f"rate {rate}, {options} options, {events} events, {bold} and {shy}"
            )
            shares, holds = claims(boards, true_rates(rate, options))
            rows.append(("bold and shy, equally good: told apart", setting, shares))
            rows.append(
                ("the same: Brier intervals of bold, of shy hold", setting, holds)
            )
    for events in (30, 60):
        rng = np.random.default_rng(events)
        boards = [balanced(rng, events) for _ in range(repeats)]
        shares, _ = claims(boards, np.full(2, 0.5))
        rows.append(
            ("unequal on balanced events: told apart", f"{events} events", shares)
        )
    return rows


def favourites(
    rng: np.random.Generator,
    events: int,
    rate: float,
    bold: float,
    shy: float,
    options: int,
) -> list[Any]:
    """Forecasts and winners of events whose first option has this rate."""
    first = np.clip(
        np.array([bold, shy])[:, None] + rng.uniform(-0.01, 0.01, (2, events)), 0, 1
    )
    others = (1 - first) / (options - 1)
    p = np.stack([first, *[others] * (options - 1)], axis=2)
    loser = rng.integers(1, options, events)
    return [p, np.where(rng.random(events) < rate, 0, loser)]


def balanced(rng: np.random.Generator, events: int) -> list[Any]:
    """Forecasts and winners of events of all rates; one forecaster sees less
    of the log odds.
    """
    odds = rng.normal(0, 1.2, events)
    blurred = odds + rng.normal(0, 1, (2, events)) * np.array([[0.3], [1.2]])
    yes = 1 / (1 + np.exp(-blurred))
    p = np.stack([yes, 1 - yes], axis=2)
    return [p, np.where(rng.random(events) < 1 / (1 + np.exp(-odds)), 0, 1)]


def true_rates(rate: float, options: int) -> Any:
    """The rate of each option: the others share what the first one leaves."""
    return np.array([rate, *[(1 - rate) / (options - 1)] * (options - 1)])


def claims(boards: list[Any], rates: Any) -> tuple[str, str]:
    """The shares of boards that give one rank each by Brier, log, spherical, baseline
    and peer score; of those whose Brier intervals hold what is expected at these rates
    of the options.
    """
    held = np.zeros(2)
    metrics = [metric for metric in make_metrics([]) if metric.is_mean]
    counts = np.zeros(len(metrics))
    for p, winners in boards:
        names = ["bold", "shy"]
        problems = [
            {
                "problem_id": event,
                "options": list("abcd")[: p.shape[2]],
                "correct_option_idx": won,
            }
            for event, won in enumerate(winners.tolist())
        ]
        forecasts = [
            {"problem_id": event, "username": name, "prediction": p[at, event].tolist()}
            for at, name in enumerate(names)
            for event in range(len(problems))
        ]
        data = ForecastData("", Loaded("", problems), [Loaded("", forecasts)])
        events, read = data.collect(Choice("drop"))
        scored = score_forecasts(events, with_baselines(events, read), metrics)
        board = estimates.Contestants(scored, events.clusters())
        outcomes = Outcomes(scored)
        for at, metric in enumerate(metrics):
            promise = outcomes.score(metric).promise()
            mean = board.estimate_means(
                scored.values[metric.name], scored.weight, promise
            )
            variance = mean.variation.pair_variances(np.arange(2))
            ends = ranks.rank_intervals(mean.values[:2], variance, mean.freedom[:2])
            counts[at] += ends != [(1, 2), (1, 2)]
            if metric.name == "brier":
                expected = (rates * (1 - p) ** 2 + (1 - rates) * p**2).mean(axis=(1, 2))
                held += (mean.low[:2] <= expected) & (expected <= mean.high[:2])
    shares = (
        ", ".join(f"{part / len(boards):.3f}" for part in of) for of in (counts, held)
    )
    return next(shares), next(shares)


def omissions(repeats: int) -> list[Row]:
    """Eight equal forecasters, one of whom omits the 5 % of events nearest ½: how often
    it is first by the adjusted and by the plain Brier score.
    """
    rows = []
    for events in (40, 100, 200):
        rng, firsts = np.random.default_rng(events), np.zeros(2)
        for _ in range(repeats):
            p = np.clip(
                rng.random((events, 1)) + rng.normal(0, 0.1, (events, F)), 0.01, 0.99
            )
            won = rng.random(events) < p.mean(axis=1)
            table, present = (p - won[:, None]) ** 2, np.ones((events, F), dtype=bool)
            present[np.argsort(np.abs(p[:, 0] - 0.5))[: events // 20], 0] = False
            j, i = np.nonzero(present)
            plain = np.where(present, table, 0).sum(axis=0) / present.sum(axis=0)
            adjusted = models.fit_effects(i, j, table[j, i]).score
            firsts += [scores.argmin() == 0 for scores in (adjusted, plain)]
        shares = ", ".join(f"{part / repeats:.3f}" for part in firsts)
        rows.append(
            (
                "first by adjusted, plain Brier: omits the 5 % nearest ½",
                f"{events}",
                shares,
            )
        )
    return rows


def rank_board(events: int, seed: int, spread: float, count: int) -> tuple[Ends, Any]:
    """Both ends of the rank intervals of forecasters of close skill, and
    their true ranks.
    """
    rng = np.random.default_rng(seed)
    x, skill = rng.normal(0, 1.2, events), rng.normal(0.5, spread, count).clip(0.1)
    won = rng.random(events) < 1 / (1 + np.exp(-x))
    seen = x[:, None] + rng.normal(0, 1, (events, count)) * skill
    values = -((1 / (1 + np.exp(-seen)) - won[:, None]) ** 2)
    influence = (values - values.mean(axis=0)) / events
    error, freedom = estimates.clustered_errors(
        influence, np.full((events, count), 1 / events)
    )
    scaled = estimates.scale_columns(influence, error)
    variance = estimates.difference_variances(scaled)
    ends = np.transpose(ranks.rank_intervals(values.mean(axis=0), variance, freedom))
    return ends, skill.argsort().argsort() + 1


def returns_in_series(repeats: int) -> list[Row]:
    """Returns of bets on options at a price, all events fair: independent, or in series
    of one winner.
    """
    rows, gammas = [], ("return_0", "return_0.5", "return_1")
    for price, events, length in (
        (0.5, 30, 1),
        (0.1, 30, 1),
        (0.05, 60, 1),
        (0.1, 100, 5),
        (0.5, 60, 5),
    ):
        rng, hits = np.random.default_rng(11), []
        for _ in range(repeats):
            luck = np.repeat(rng.random(-(-events // length)), length)[:events]
            own = rng.random(events)
            won = np.where(np.arange(events) % length < 2, luck, own) < price
            problems = [
                {
                    "problem_id": event,
                    "options": ["a", "b"],
                    "correct_option_idx": int(not won[event]),
                    "odds": [price, 1 - price],
                    "series": f"s{event // length}",
                }
                for event in range(events)
            ]
            more = rng.uniform(0.02, 0.3, events)
            forecasts = [
                {
                    "problem_id": event,
                    "username": "f0",
                    "prediction": [price + x, 1 - price - x],
                }
                for event, x in enumerate(more.tolist())
            ]
            board = ProphetArenaEvaluator(min_events=1).evaluate_all(
                forecasts, problems
            )
            row = board["forecasters"]["f0"]
            hits.append([_holds_one(row[f"{name}_interval"]) for name in gammas])
        shares = ", ".join(f"{part:.3f}" for part in np.mean(hits, axis=0))
        setting = f"{events} events at {price}, series of {length}"
        rows.append(("return at γ = 0, 0.5, 1 of fair bets: covers", setting, shares))
    return rows


def _holds_one(interval: Any) -> bool:
    low, high = interval
    return bool(low <= 1 <= high)


def few_events(repeats: int) -> list[Row]:
    """The adjusted Brier of a forecaster with few events of 100, all others answering
    all: coverage of its interval.
    """
    hits: dict[int, list[bool]] = {2: [], 3: [], 5: [], 10: []}
    rng, truth = np.random.default_rng(3), long_run()["brier"]
    for seed in range(repeats):
        table = score(draw(rng, 100))["brier"][:F]
        for count, found in hits.items():
            who = seed % F
            present = np.ones(table.shape, dtype=bool)
            present[who] = np.isin(
                np.arange(100), rng.choice(100, count, replace=False)
            )
            low, high = adjusted_ends(table, present)
            found.append(bool(low[who] <= truth[who] <= high[who]))
    shares = ", ".join(f"{np.mean(found):.3f}" for found in hits.values())
    return [
        (
            "adjusted Brier of few events: 95 % interval covers",
            "2, 3, 5, 10 of 100 events",
            shares,
        )
    ]


def adjusted_ends(table: Any, present: Any) -> Ends:
    """The intervals of the adjusted Brier scores of those who have any event."""
    i, j = np.nonzero(present)
    fit = models.fit_effects(i, np.unique(j, return_inverse=True)[1], table[i, j])
    seen = present[:, present.any(axis=0)].T
    errors = estimates.clustered_errors(fit.influence, seen / seen.sum(axis=0))
    return estimates.t_intervals(fit.score, *errors)


def records(data: Draw) -> tuple[list[Any], list[Any]]:
    """A draw as problems with prices, and forecasts."""
    problems = [
        {
            "problem_id": event,
            "options": list("abcde")[: inside.sum()],
            "correct_option_idx": int(won.argmax()),
            "odds": q[inside].tolist(),
        }
        for event, (inside, won, q) in enumerate(
            zip(data.inside, data.outcome, data.q, strict=True)
        )
    ]
    forecasts = [
        {
            "problem_id": event,
            "username": f"f{i}",
            "prediction": p[event][data.inside[event]].tolist(),
        }
        for i, p in enumerate(data.p[:F])
        for event in range(len(problems))
    ]
    return problems, forecasts


def series(repeats: int) -> list[Row]:
    """Events of series that share their luck: intervals of the mean by CR2, by t with
    one degree of freedom less than clusters, and by event.

    100 events, 50 of them in ten series of five; and series as unequal as those of the
    Kalshi events, one of 46 among 24.
    """
    rows = []
    alike = np.append(np.repeat(np.arange(10), 5), np.arange(10, 60))
    unequal = np.repeat(np.arange(24), [46, *[3] * 4, *[2] * 15, *[1] * 4])
    cases = [("100 events, 50 of them in 10 series", alike, 0.5, False)]
    for share in (0.0, 0.1, 0.3):
        for skewed in (False, True):
            what = f"series of 46, 3, 2, 1; correlation {share}{', skewed' * skewed}"
            cases.append((what, unequal, share, skewed))
    for what, group, share, skewed in cases:
        rng, hits = np.random.default_rng(0), []
        for _ in range(repeats):
            noise = [rng.normal(0, 1, size) for size in (group.max() + 1, len(group))]
            if skewed:
                noise = [rng.exponential(1, len(part)) - 1 for part in noise]
            values = np.sqrt(share) * noise[0][group] + np.sqrt(1 - share) * noise[1]
            sums = np.bincount(group, values - values.mean()) / len(group)
            count = len(sums)
            half = stats.t.ppf(0.975, count - 1) * np.sqrt(
                (sums**2).sum() * count / (count - 1)
            )
            mean = values.mean()
            ends = t_ends(values, group), (mean - half, mean + half), t_ends(values)
            hits.append([low <= 0 <= high for low, high in ends])
        shares = ", ".join(f"{part:.3f}" for part in np.mean(hits, axis=0))
        rows.append(
            ("Mean over events: interval by CR2, by t, by event covers", what, shares)
        )
    return rows


def one_optimum(starts: int) -> list[Row]:
    """Point 5: 200 forecasters, 2,000 events, all or a tenth present; the largest gap
    of two optima in ln θ.
    """
    rows = []
    minimise = optimize.minimize
    for share in (1.0, 0.1):
        rng = np.random.default_rng(2)
        skill, hard = rng.normal(0, 0.7, 200), rng.normal(0, 1, (2000, 1))
        p = 1 / (1 + np.exp(-(hard + skill + rng.normal(0, 1, (2000, 200)))))
        j, i = np.nonzero(rng.random(p.shape) < share)
        found = []
        for seed in range(starts):
            start = np.random.default_rng(seed).normal(0, 3, 200)
            optimize.minimize = lambda f, x, start=start, **rest: minimise(
                f, start, **rest
            )
            found.append(
                np.log(models.fit_bradley_terry(i, j, p[j, i], prior=1).strength)
            )
        optimize.minimize = minimise
        gap = np.ptp(found, axis=0).max()
        rows.append(
            (
                f"Bradley–Terry, 200 × 2,000: {starts} starts, largest gap in ln θ",
                f"{share:.0%} present",
                f"{gap:.0e}",
            )
        )
    return rows


def main(repeats: int) -> None:
    print("| What | Data | Found |\n|---|---|---|")
    some = max(8, repeats // 10)
    parts = (
        (irt_errors, some),
        (adjustment, some),
        (intervals, repeats),
        (few_events, 5 * repeats),
        (close_ranks, 5 * repeats),
        (tell_apart, 5 * repeats),
        (omissions, 20 * repeats),
        (returns_in_series, 2 * repeats),
        (series, 5 * repeats),
        (one_optimum, 2),
    )
    for part, size in parts:
        for row in part(size):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
