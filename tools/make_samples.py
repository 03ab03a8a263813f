r"""Write the random baseline for the sample dataset.

    python tools/make_samples.py

Reads ``dataset/250915.json`` and writes ``prediction/250915-random.json``: every row of
the dataset with a random ``answer`` in a ``\boxed{...}``. Some names and numbers are
drawn near the truth, so that every level shows partial scores; this is sample data, not
a measure of blind guessing. The same dataset and seed give the same bytes in every run:
each row has its own generator, seeded from the seed and the row's id, and no set is
ever iterated.
"""

from __future__ import annotations

import ast
import json
import random
import re
import statistics
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
DATASET: Final = ROOT / "dataset" / "250915.json"
OUTPUT: Final = ROOT / "prediction" / "250915-random.json"
SEED: Final = 250915

MADE_UP_NAMES: Final = (
    "A Kettle for Orla",
    "Brackwater Nights",
    "Jonas Thimblewick",
    "Petra Vandermoss",
    "Quiet Engines",
    "lanternbox mini-router",
    "七月的纸船",
    "会打伞的河马",
    "慢车开往鹤汀",
    "豆沙与电台",
)

OPTION: Final = re.compile(r"^(\S)\.  ", re.MULTILINE)
PAST_VALUE: Final = re.compile(
    r"""
    ^(?: Sep\ \d{1,2} | \d{1,2}/\d{1,2}/\d{2} | 9月\d{1,2}日 )  # Sep 12 · 9/12/25 · 9月12日
    [:：]\s*
    (-?\d[\d,]*(?:\.\d+)?)
    """,
    re.MULTILINE | re.VERBOSE,
)
# The last number of a truth and what stands behind it: "… will be 184.62 dollar." gives
# 184.62 and "dollar".
NUMBER_AND_UNIT: Final = re.compile(r"(-?\d[\d,]*(?:\.(\d+))?)\s*([^\d.]*)\.?$")
RANK_LABEL: Final = re.compile(r"(?:^|\s|,|，)(?:第\d+名：|\d+th：|\d+\. )")
# Not inside brackets; "and" only before a capital, or "The Clockmaker and the
# Tidewater" would be two books.
NAME_SEPARATOR: Final = re.compile(r"[,，、](?![^()]*\))| and (?=[A-Z])")


def random_predictions(
    dataset: list[dict[str, object]], seed: int = SEED
) -> list[dict[str, object]]:
    """Return every row of ``dataset`` with a random ``answer`` added; the rows given
    are left alone.
    """
    names = [
        name
        for row in dataset
        if is_ranking(row)
        for name in truth_names(truth_text(row))
    ]
    # Unlike a set, a dict keeps its order
    pool = list(dict.fromkeys([*MADE_UP_NAMES, *names]))
    predictions = []
    for row in dataset:
        rng = random.Random(
            f"{seed} {row['id']}"
        )  # a text seed is hashed with SHA-512, not with hash()
        predictions.append(
            {**row, "answer": rf"\boxed{{{draw_answer(rng, row, pool)}}}"}
        )
    return predictions


def render(rows: list[dict[str, object]]) -> str:
    """Return the exact text of a dataset or prediction file."""
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


# --- Reading a row ---


def is_choice(row: dict[str, object]) -> bool:
    return row["level"] in (1, 2)


def is_ranking(row: dict[str, object]) -> bool:
    is_number = (
        row["Std"] is not None or NUMBER_AND_UNIT.match(truth_text(row)) is not None
    )
    return not is_choice(row) and not is_number


def truth_text(row: dict[str, object]) -> str:
    return str(row["ground_truth"]).removeprefix(r"\boxed{").removesuffix("}")


def truth_names(truth: str) -> list[str]:
    """Return the names of a ranking's truth, without rank labels."""
    if truth.startswith("["):
        return [str(name) for name in ast.literal_eval(truth)]
    parts = NAME_SEPARATOR.split(RANK_LABEL.sub(",", truth.rstrip(".")))
    return [part.strip() for part in parts if part.strip()]


# --- Drawing an answer ---


def draw_answer(rng: random.Random, row: dict[str, object], pool: list[str]) -> str:
    if is_choice(row):
        return draw_choice(rng, row)
    if is_ranking(row):
        return draw_ranking(rng, truth_names(truth_text(row)), pool)
    return draw_number(rng, row)


def draw_choice(rng: random.Random, row: dict[str, object]) -> str:
    """Draw Yes or No, or some options: at level 1 mostly one, at level 2 up to five."""
    prompt = str(row["prompt"])
    labels = OPTION.findall(prompt)
    if not labels:
        return rng.choice(["是", "否"] if r"\boxed{是}" in prompt else ["Yes", "No"])
    if row["level"] == 1:
        size = 1 if rng.random() < 0.75 else rng.randint(2, len(labels))
    else:
        size = rng.randint(1, min(5, len(labels)))
    return ", ".join(rng.sample(labels, size))


def draw_ranking(rng: random.Random, truth: list[str], pool: list[str]) -> str:
    """Draw as many names as the truth has; one answer in three has some of the right
    ones, never all.
    """
    names = rng.sample(pool, len(truth))
    if rng.random() < 1 / 3:
        right = rng.sample(truth, rng.randrange(len(truth)))
        wrong = rng.sample(
            [name for name in pool if name not in truth], len(truth) - len(right)
        )
        names = rng.sample(right + wrong, len(truth))
    if rng.random() < 0.5:
        return ", ".join(names)
    return ", ".join(f"{rank}. {name}" for rank, name in enumerate(names, start=1))


def draw_number(rng: random.Random, row: dict[str, object]) -> str:
    """Draw a value around the past ones, within a sigma of the truth, or way off;
    mostly with the truth's unit.
    """
    found = NUMBER_AND_UNIT.search(truth_text(row).strip("[] "))
    if found is None:
        raise ValueError(
            f"id {row['id']}: no number in the truth {row['ground_truth']!r}"
        )
    number, decimals, unit = found.groups()
    truth = float(number.replace(",", ""))
    sigma = float(str(row["Std"])) if row["Std"] is not None else abs(truth) / 20
    past = [
        float(text.replace(",", ""))
        for text in PAST_VALUE.findall(str(row["additional values"]))
    ]

    kind = rng.random()
    if past and kind < 0.5:
        value = rng.gauss(statistics.fmean(past), 2 * statistics.pstdev(past))
    elif kind < 0.65:
        value = rng.uniform(truth - sigma, truth + sigma)
    else:
        value = truth * rng.uniform(0.2, 5)
    text = f"{value:.{len(decimals or '')}f}"
    if not unit or rng.random() < 0.2:
        return text
    return text + unit if unit == "%" else f"{text} {unit}"


def main() -> None:
    dataset: list[dict[str, object]] = json.loads(DATASET.read_text(encoding="utf-8"))
    OUTPUT.write_text(
        render(random_predictions(dataset)), encoding="utf-8", newline="\n"
    )


if __name__ == "__main__":
    main()
