"""How often intervals cover, and whether rankings find the truth: `python tests/simulate_prophet.py [repeats]`.

Forecasters of known skill forecast drawn events; what the wing reports is compared with what many draws show. The
table in docs/prophet.md is its output with 60 repeats (series: 200) (some minutes).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, stats

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from forecasteval.prophet import ProphetArenaEvaluator, bradley_terry, effects, irt, uncertainty

F = 8
Row = tuple[str, str, str]
Read = Callable[[Any], Any]


def draw(rng: np.random.Generator, events: int, share: float = 1.0) -> tuple[list[Any], list[Any]]:
    """Events of 2–5 options; forecaster i sees the true log-odds with noise that grows with i, at market prices.

    Each event has a difficulty that all share; a forecaster prefers hard or easy ones, if it does not answer all.
    """
    problems, forecasts = [], []
    for event in range(events):
        options = int(rng.integers(2, 6))
        hard = rng.random()
        truth = np.exp(rng.normal(0, 3 * (1 - hard), options))
        truth /= truth.sum()
        price = np.clip(np.exp(np.log(truth) + rng.normal(0, 0.3, options)), 0.01, None)
        price = np.clip(1.02 * price / price.sum(), 0.01, 0.99)
        problems.append(
            {
                "problem_id": event, "options": [str(o) for o in range(options)],
                "correct_option_idx": int(rng.choice(options, p=truth)), "end_date": "2025-01-01T00:00:00Z",
            }
        )  # fmt: skip
        noise = rng.normal(0, 1, (F, options))
        for i in range(F):
            wish = 2 * share * (hard if i % 2 else 1 - hard)  # every second one takes the hard events
            p = np.exp(np.log(truth) + (0.3 + 0.15 * i) * noise[i])
            if share == 1 or rng.random() < wish:
                row = {"problem_id": event, "username": f"f{i}", "prediction": (p / p.sum()).tolist()}
                forecasts.append({**row, "odds": price.tolist()})
    return problems, forecasts


def evaluate(rng: np.random.Generator, events: int, share: float = 1.0, **options: Any) -> Any:
    problems, forecasts = draw(rng, events, share)
    return ProphetArenaEvaluator(**options).evaluate_all(forecasts, problems)


@cache
def long_run() -> Any:
    """What 20,000 events give: the truth that intervals should cover."""
    return evaluate(np.random.default_rng(10**6), 20_000, bootstrap=0)


def coverage(
    repeats: int, events: int, reads: dict[str, tuple[Read, Read]], share: float = 1.0, **options: Any
) -> dict[str, str]:
    """The share of 95 % intervals, over forecasters and draws, that hold the truth: (value, interval) of a record."""
    truth = {name: [value(long_run()["forecasters"][f"f{i}"]) for i in range(F)] for name, (value, _) in reads.items()}
    hits: dict[str, list[bool]] = {name: [] for name in reads}
    for seed in range(repeats):
        found = evaluate(np.random.default_rng(seed), events, share, bootstrap=500, **options)["forecasters"]
        for name, (_, interval) in reads.items():
            for i in range(F):
                ends = interval(found[f"f{i}"]) if f"f{i}" in found else None
                if ends:
                    hits[name].append(ends[0] <= truth[name][i] <= ends[1])
    return {name: f"{np.mean(found):.3f}" for name, found in hits.items()}


def metric(name: str) -> tuple[Read, Read]:
    return lambda row: row[name], lambda row: row[f"{name}_interval"]


def difference(name: str) -> tuple[Read, Read]:
    return lambda row: row["against"]["market"][name]["difference"], lambda row: row["against"]["market"][name][
        "interval"
    ]


def irt_errors(repeats: int) -> list[Row]:
    """Point 2: reported errors of θ - mean θ, and those of the inverse Hessian, over the deviation of many draws."""
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
        rows.append(("IRT ability: error / sampling deviation", f"{events} events", f"{ratio.mean():.2f}"))
    return rows


def intervals(repeats: int) -> list[Row]:
    """Points 4, 5 and 9."""
    rows = []
    returns = {f"Return {gamma}": metric(f"return_{gamma}") for gamma in ("0", "0.5", "1")}
    market = {f"{name} against the market": difference(name) for name in ("brier", "log", "return_0.5")}
    rank = {"Rank by Brier": (lambda row: row["brier_rank"], lambda row: row["brier_rank_interval"])}
    for events in (30, 100):
        found = coverage(repeats, events, {"Brier": metric("brier"), **returns, **market, **rank})
        rows += [(f"{name}: 95 % interval covers", f"{events} events", share) for name, share in found.items()]
    for events in (100, 400):
        held = strengths(repeats // 2, events)
        rows.append(("Bradley–Terry strength: 95 % interval holds the mean of all draws", f"{events} events", held))
    return rows


def few_events(repeats: int) -> list[Row]:
    """The adjusted Brier of a forecaster with few events of 100, all others answering all: coverage of its interval."""
    hits: dict[int, list[bool]] = {2: [], 3: [], 5: [], 10: []}
    truth = [row["brier"] for row in (long_run()["forecasters"][f"f{i}"] for i in range(F))]
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        problems, forecasts = draw(rng, 100)
        for own, found in hits.items():
            who = seed % F
            kept = set(rng.choice(100, own, replace=False).tolist())
            rows = [row for row in forecasts if row["username"] != f"f{who}" or row["problem_id"] in kept]
            record = ProphetArenaEvaluator(min_events=1, gammas=[]).evaluate_all(rows, problems)["forecasters"][
                f"f{who}"
            ]
            low, high = record["adjusted_brier_interval"]
            found.append(low <= truth[who] <= high)
    shares = ", ".join(f"{np.mean(found):.3f}" for found in hits.values())
    return [
        ("Adjusted Brier of a forecaster with few events: 95 % interval covers", "2, 3, 5, 10 of 100 events", shares)
    ]


def best(repeats: int) -> list[Row]:
    """How well P(best) tells who is best: -ln of what it gives the truly best, and that of shares of resamples."""
    rows = []
    for events, spread in ((50, 0.01), (50, 0.03), (200, 0.01)):
        rng, losses = np.random.default_rng(7), []
        for seed in range(repeats):
            skill = rng.normal(0, spread, 10)
            table = skill + rng.beta(1, 3, (events, 1)) + rng.normal(0, 0.15, (events, 10))
            means = table.mean(axis=0)
            influence = (table - means) / events
            shrunk = uncertainty.probability_best(means, influence, np.full(10, events), 2000, seed)
            samples = uncertainty.Draws(events, 2000, seed).shifted(means, influence)
            plain = np.bincount(samples.argmax(axis=1), minlength=10) / 2000
            losses.append([-np.log(max(share[skill.argmax()], 1 / 2000)) for share in (shrunk, plain)])
        now, before = np.mean(losses, axis=0)
        what = "P(best): log loss of shrunk draws, of resamples"
        rows.append((what, f"10 forecasters, {events} events, spread {spread}", f"{now:.2f}, {before:.2f}"))
    return rows


def series(repeats: int) -> list[Row]:
    """100 events, 50 of them in ten series that share their luck: clustered intervals, and those by event."""
    shares = []
    group = np.append(np.repeat(np.arange(10), 5), np.arange(10, 60))
    for clustered in (True, False):
        hits = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            values = 0.3 + rng.normal(0, 0.1, 60)[group] + rng.normal(0, 0.1, 100)
            own = group if clustered else np.arange(100)
            count = np.array([len(set(own.tolist()))])
            influence = uncertainty.clustered((values - values.mean())[:, None] / 100, own)
            low, high = uncertainty.t_intervals(
                np.array([values.mean()]), uncertainty.clustered_errors(influence, count), count
            )
            hits.append(low[0] <= 0.3 <= high[0])
        shares.append(f"{np.mean(hits):.3f}")
    return [
        (
            "Mean over events: interval by series, by event covers",
            "100 events, 50 of them in 10 series",
            ", ".join(shares),
        )
    ]


def strengths(repeats: int, events: int) -> str:
    """The prior pulls the strengths together, so that they have no truth but their own mean over draws."""
    draws = [evaluate(np.random.default_rng(seed), events, prior=1)["forecasters"] for seed in range(repeats)]
    value = np.array([[rows[f"f{i}"]["bradley_terry"] for i in range(F)] for rows in draws])
    ends = np.array([[rows[f"f{i}"]["bradley_terry_interval"] for i in range(F)] for rows in draws])
    mean = value.mean(axis=0)
    return f"{((ends[..., 0] <= mean) & (mean <= ends[..., 1])).mean():.3f}"


def one_optimum(starts: int) -> list[Row]:
    """Point 5: 200 forecasters, 2,000 events, all or a tenth present; the largest gap of two optima in ln θ."""
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
            optimize.minimize = lambda f, x, start=start, **rest: minimise(f, start, **rest)
            found.append(np.log(bradley_terry.fit_bradley_terry(i, j, p[j, i], prior=1).strength))
        optimize.minimize = minimise
        gap = np.ptp(found, axis=0).max()
        rows.append(
            (f"Bradley–Terry, 200 × 2,000: {starts} starts, largest gap in ln θ", f"{share:.0%} present", f"{gap:.0e}")
        )
    return rows


def adjustment(repeats: int) -> list[Row]:
    """Point 8: rank recovery (Spearman's rho with the order of the long run), and coverage of the adjusted score."""
    rng, rows, order = np.random.default_rng(5), [], np.arange(30)
    for events, share in ((50, 0.4), (200, 0.4), (50, 1.0)):
        plain, adjusted = [], []
        for _ in range(repeats):
            level, skill = rng.beta(1, 3, events), 0.002 * order
            present = rng.random((30, events)) < share
            i, j = np.nonzero(present[:, present.any(axis=0)])
            i = np.unique(i, return_inverse=True)[1]
            y = np.clip(level[j] + skill[i] + rng.normal(0, 0.08, len(i)), 0, 1)
            fit = effects.fit_effects(i, j, y)
            plain.append(stats.spearmanr(skill, np.bincount(i, y) / np.bincount(i)).statistic)
            adjusted.append(stats.spearmanr(skill, fit.score).statistic)
        rows.append(("Rank recovery: plain, adjusted Brier", f"{events} events, {share:.0%} present",
                     f"{np.mean(plain):.2f}, {np.mean(adjusted):.2f}"))  # fmt: skip
    reads = {"plain": metric("brier"), "adjusted": (lambda row: row["brier"], metric("adjusted_brier")[1])}
    for events in (50, 200):
        found = coverage(repeats // 2, events, reads, share=0.4)
        rows.append(("Brier on all events: plain, adjusted interval covers", f"{events} events, 40% by choice",
                     f"{found['plain']}, {found['adjusted']}"))  # fmt: skip
    return rows


def main(repeats: int) -> None:
    print("| What | Data | Found |\n|---|---|---|")
    for part in (irt_errors, adjustment, intervals, few_events, best, series):
        for row in part(repeats):
            print("| " + " | ".join(row) + " |", flush=True)
    for row in one_optimum(5):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
