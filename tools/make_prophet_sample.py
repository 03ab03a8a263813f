"""Write the Prophet Arena sample: 200 made-up events and the forecasts of 12
made-up forecasters.

    python tools/make_prophet_sample.py

Writes `dataset/prophet-sample.json` and `prediction/prophet-sample.json`. Every event
has true probabilities, from which its outcome is drawn; a forecaster sees their
logarithms through noise, the less the more skilled (`SKILLS`), and the market through a
little noise, with a spread. So the ranking to be found is known. The same seed gives
the same bytes in every run: each event has its own generator, seeded by its id, and no
set is ever iterated.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
DATASET: Final = ROOT / "dataset" / "prophet-sample.json"
PREDICTION: Final = ROOT / "prediction" / "prophet-sample.json"
SEED: Final = 20250726
EVENTS: Final = 200

# Standard deviation of the noise on log-probabilities, best first, and the share of
# events each takes part in.
SKILLS: Final = {
    "harbor-9b": (0.15, 1.0),
    "ensemble-of-six": (0.25, 0.98),
    "meridian-large": (0.4, 1.0),
    "meridian-small": (0.55, 0.95),
    "墨子-72b": (0.7, 0.9),
    "quillon-2": (0.85, 0.85),
    "desk-analyst": (1.05, 0.55),
    "harbor-1b": (1.3, 1.0),
    "weekend-club": (1.6, 0.6),
    "quillon-1": (1.9, 0.9),
    "first-impression": (2.3, 0.8),
    "coin-and-dice": (3.0, 1.0),
}
MARKET_NOISE: Final = 0.3

GIVEN: Final = (
    "Ada",
    "Bruno",
    "Chidi",
    "Dagny",
    "Emre",
    "Femi",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kaito",
    "Lena",
)
FAMILY: Final = (
    "Albrecht",
    "Okafor",
    "Lindqvist",
    "Moreau",
    "Tanaka",
    "Silva",
    "Novak",
    "Hale",
    "Duarte",
    "Weiss",
)
TOWNS: Final = (
    *(
        "Altenmark",
        "Brightwater",
        "Calloway",
        "Dunmere",
        "Eastfold",
        "Fairhaven",
        "Glenrock",
        "Holmstad",
        "Ironbridge",
    ),
    *(
        "Jasper Falls",
        "Kingsport",
        "Lakeside",
        "Millbrook",
        "Northgate",
        "Oakridge",
        "Port Lorne",
        "Queensferry",
    ),
    *(
        "Riverton",
        "Stonehaven",
        "Tidewell",
        "Upland",
        "Valmont",
        "Westbury",
        "Yarrow",
        "Zellwood",
    ),
)
PARTIES: Final = (
    "Civic Union",
    "Green Alliance",
    "Labour Front",
    "National Accord",
    "Liberal List",
    "Reform 25",
)
FILMS: Final = (
    "盐雪",
    "槐镇来信",
    "第七个渡口",
    "风筝匠",
    "潮汐邮局",
    "慢车开往鹤汀",
    "白鹭与灯塔",
    "豆沙电台",
)
ALBUMS: Final = (
    "Paper Lanterns",
    "Low Tide",
    "Copper Year",
    "Night Ferry",
    "Salt & Wire",
    "Second Harvest",
    "Orchard",
)
MODELS: Final = ("harbor", "meridian", "quillon", "墨子", "lantern", "tessera", "brook")


class Draft(NamedTuple):
    """An event before its outcome is known; `spread` is how unequal its options are."""

    category: str
    title: str
    options: list[str]
    spread: float
    exclusive: bool = True


def person(rng: random.Random) -> str:
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"


def day(rng: random.Random) -> str:
    return f"2025-{rng.randint(7, 9):02d}-{rng.randint(1, 28):02d}"


def match(rng: random.Random) -> Draft:
    home, guest = rng.sample(TOWNS, 2)
    return Draft(
        "Sports",
        f"{home} v. {guest} on {day(rng)}: who wins?",
        [home, guest, "Draw"],
        0.6,
    )


def tennis(rng: random.Random) -> Draft:
    one, other = rng.sample(FAMILY, 2)
    return Draft(
        "Sports",
        f"{rng.choice(TOWNS)} Open, round {rng.randint(1, 4)}: {one} or {other}?",
        [one, other],
        1.0,
    )


def golf(rng: random.Random) -> Draft:
    names = rng.sample(
        [f"{given} {family}" for given in GIVEN for family in FAMILY],
        rng.randint(20, 29),
    )
    return Draft(
        "Sports",
        f"Who wins the {rng.choice(TOWNS)} Golf Championship?",
        [*names, "Any other player"],
        1.2,
    )


def election(rng: random.Random) -> Draft:
    parties = rng.sample(PARTIES, rng.randint(3, 6))
    return Draft(
        "Politics",
        f"Which party wins most seats in the {rng.choice(TOWNS)} council?",
        parties,
        1.2,
    )


def resignation(rng: random.Random) -> Draft:
    title = (
        f"Does {person(rng)} leave the office of mayor of {rng.choice(TOWNS)} before "
        f"{day(rng)}?"
    )
    return Draft("Politics", title, ["Yes", "No"], 1.3)


def prices(rng: random.Random) -> Draft:
    low, size = rng.randint(5, 35), rng.randint(4, 12)
    steps = [f"{(low + step) / 10:.1f} %" for step in range(size - 2)]
    title = (
        f"Consumer prices in {rng.choice(('July', 'August', 'September'))} 2025,"
        f" {rng.choice(TOWNS)}: annual rise"
    )
    return Draft(
        "Economics", title, [f"Below {steps[0]}", *steps, f"Above {steps[-1]}"], 1.0
    )


def rates(rng: random.Random) -> Draft:
    title = (
        f"{rng.choice(TOWNS)} central bank, meeting of {day(rng)}: change of the "
        "policy rate"
    )
    return Draft(
        "Economics",
        title,
        ["Cut by 50 bp or more", "Cut by 25 bp", "No change", "Rise"],
        1.5,
    )


def heat(rng: random.Random) -> Draft:
    low = rng.randint(18, 30)
    steps = [
        f"{low + 2 * step}–{low + 2 * step + 1} °C" for step in range(rng.randint(3, 7))
    ]
    title = f"Highest temperature in {rng.choice(TOWNS)} on {day(rng)}"
    return Draft("Climate", title, [f"Below {low} °C", *steps, "Higher"], 1.0)


def award(rng: random.Random) -> Draft:
    title = f"第{rng.randint(12, 39)}届鹤汀电影节：谁获得最佳影片？"
    return Draft(
        "Entertainment", title, rng.sample(FILMS, rng.randint(5, len(FILMS))), 1.0
    )


def leaderboard(rng: random.Random) -> Draft:
    names = rng.sample(MODELS, rng.randint(4, 7))
    return Draft(
        "Technology",
        f"{day(rng)}：哪家的模型在对话排行榜上排名第一？",
        [*names, "其他"],
        1.4,
    )


def charts(rng: random.Random) -> Draft:
    title = (
        f"Which of these albums are in the top ten in week {rng.randint(28, 39)} "
        "of 2025?"
    )
    return Draft(
        "Entertainment",
        title,
        rng.sample(ALBUMS, rng.randint(3, 7)),
        1.5,
        exclusive=False,
    )


EXCLUSIVE: Final[tuple[Callable[[random.Random], Draft], ...]] = (
    *(
        match,
        match,
        tennis,
        tennis,
        golf,
        election,
        resignation,
        prices,
        prices,
        rates,
        heat,
        award,
        leaderboard,
    ),
)


def softmax(logits: list[float]) -> list[float]:
    parts = [math.exp(value - max(logits)) for value in logits]
    return [part / sum(parts) for part in parts]


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def rounded(p: list[float], digits: int) -> list[float]:
    """Rounded so that the sum stays 1: the largest takes the difference."""
    shown = [round(value, digits) for value in p]
    top = shown.index(max(shown))
    shown[top] = round(shown[top] + 1 - sum(shown), digits)
    return shown


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def make_event(number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A problem and its forecasts."""
    name = f"pa-{number:04d}"
    # A text seed is hashed with SHA-512, not with hash()
    rng = random.Random(f"{SEED} {name}")
    draft = (
        charts(rng) if number % 25 == 24 else EXCLUSIVE[number % len(EXCLUSIVE)](rng)
    )
    logits = [rng.gauss(0, draft.spread * 1.5) for _ in draft.options]
    if draft.exclusive:
        truth = softmax(logits)
        winners = rng.choices(draft.options, truth)
    else:
        winners = [
            option
            for option, logit in zip(draft.options, logits, strict=True)
            if rng.random() < sigmoid(logit)
        ]
    closing = datetime(2025, 7, 1, 12, tzinfo=UTC) + timedelta(
        hours=rng.randrange(90 * 24)
    )
    problem: dict[str, Any] = {
        "problem_id": name,
        "title": draft.title,
        "category": draft.category,
        "options": draft.options,
        "correct_answer": winners[0] if draft.exclusive else winners,
        "end_date": stamp(closing),
    }
    if not draft.exclusive:
        problem["exclusive"] = False

    def believe(noise: float, digits: int) -> list[float]:
        seen = [logit + rng.gauss(0, noise) for logit in logits]
        if draft.exclusive:
            return rounded(softmax(seen), digits)
        return [round(sigmoid(logit), digits) for logit in seen]

    middle = believe(MARKET_NOISE, 4)
    odds = [
        round(min(0.99, max(0.01, p + rng.choice((0.01, 0.01, 0.02)))), 2)
        for p in middle
    ]
    bids = [round(max(0.0, p - rng.choice((0.01, 0.01, 0.02))), 2) for p in middle]
    forecasts = []
    for who, (noise, share) in SKILLS.items():
        takes_part, hours = rng.random() < share, rng.uniform(1, 60)
        p = believe(noise, 2 if who == "desk-analyst" else 3)
        # Adds up percentages without looking
        if who == "weekend-club" and number % 7 == 0:
            p = [round(value * 1.04, 3) if value < 0.9 else value for value in p]
        if not takes_part:
            continue
        sent = closing - timedelta(hours=hours)
        if who == "first-impression" and number % 40 == 3:
            sent = closing + timedelta(minutes=20)  # too late
        row = {
            "problem_id": name,
            "username": who,
            "timestamp": stamp(sent),
            "prediction": p,
        }
        forecasts.append({**row, "odds": odds, "bids": bids})
        if (
            who == "desk-analyst" and number % 10 == 0
        ):  # a second look half an hour later, which counts
            row = {
                **row,
                "timestamp": stamp(sent + timedelta(minutes=30)),
                "prediction": believe(0.8, 2),
            }
            forecasts.append({**row, "odds": odds, "bids": bids})
    return problem, forecasts


def sample() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All problems and all forecasts."""
    drawn = [make_event(number) for number in range(EVENTS)]
    return [problem for problem, _ in drawn], [row for _, rows in drawn for row in rows]


def render(rows: list[dict[str, Any]]) -> str:
    """The exact text of a file: a record per line, since thousands of short lists on
    lines of their own help nobody.
    """
    return (
        "[\n"
        + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        + "\n]\n"
    )


def main() -> None:
    problems, forecasts = sample()
    DATASET.write_text(render(problems), encoding="utf-8", newline="\n")
    PREDICTION.write_text(render(forecasts), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
