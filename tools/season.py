r"""A season of FutureX: weeks of questions, systems of known skill that miss some of
them, several runs each.

    python tools/season.py FOLDER                12 weeks x 50 questions x 20 systems x
    up to 3 runs python tools/season.py FOLDER --weeks 3 --questions 8
    --systems 4 --runs 2

Writes dataset/, prediction/ (with systems.json) and skills.json: the same bytes for the
same numbers and seed. A system answers a question right with probability logistic(skill
- difficulty + a little for the run); what it gets wrong is near the truth half of the
time. Questions of all levels and kinds, a third in Chinese; answers as models give
them, some without a box, some missing, some refused. Every other system misses two
weeks in five.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]

SHARES: Final = (
    0.22,
    0.42,
    0.60,
    1.0,
)  # of the questions up to a level, as in the benchmark's weeks
GAPS: Final = 0.4  # of the weeks, that every other system misses
MISSING, REFUSED = 0.03, 0.02
LETTERS: Final = "ABCDEF"
TEAMS: Final = (
    "Harbour Town",
    "Kestrel Rovers",
    "Lakeside",
    "Old Mill",
    "Farrowgate",
    "Palewater",
)
CITIES: Final = ("青渚市", "岚浦市", "鹤汀市", "临潮市", "塔恩市", "汐湾市")
TITLES: Final = (
    "Glass Meridian",
    "Emberlough",
    "The Orchard Ledger",
    "Quiet Engines",
    "Ferry to Ninefold",
    "Saltmere",
)
FILMS: Final = (
    "潮汐来信",
    "风筝匠与盐",
    "雪线以上的邮局",
    "慢车开往鹤汀",
    "七月的纸船",
    "灯塔守夜人",
)
NAMES: Final = (
    "harbor-9b",
    "墨子-72b",
    "quillon-2",
    "deep.agent",
    "weekend_club",
    "meridian",
)
REASONS: Final = (
    "The odds have hardly moved since Monday.", "Two of the three last reports point "
                                                "the same way.",
    "过去三周的数据没有明显变化。", "I looked for news and found none that would "
                      "change "
                      "this.",
)  # fmt: skip


# --- Questions ---


def make_question(rng: random.Random, name: str, level: int) -> Row:
    """A question with its truth; `wrong` and `difficulty` are for the answers
    and not written.
    """
    chinese = rng.random() < 1 / 3
    kinds: dict[int, list[Callable[[random.Random, bool], Row]]] = {
        1: [_yes_or_no, _single],
        2: [_several],
        3: [_ranking, _number],
        4: [_ranking, _number],
    }
    question = rng.choice(kinds[level])(rng, chinese)
    box = (
        "\n最后一行必须是\\boxed{你的答案}。"
        if chinese
        else "\nThe last line must be \\boxed{your answer}."
    )
    question["prompt"] += box
    return {
        "id": name,
        "level": level,
        "Std": None,
        "difficulty": rng.gauss(0, 0.8),
        **question,
    }


def _yes_or_no(rng: random.Random, chinese: bool) -> Row:
    words = ["是", "否"] if chinese else ["Yes", "No"]
    rng.shuffle(words)
    prompt = (
        f"{rng.choice(CITIES)}会通过该方案吗？"
        if chinese
        else f"Will {rng.choice(TEAMS)} win the cup?"
    )
    return {"prompt": prompt, "ground_truth": words[0], "wrong": lambda rng: words[1]}


def _single(rng: random.Random, chinese: bool) -> Row:
    truth = rng.choice(LETTERS[:4])
    return {
        "prompt": _options(rng, chinese, 4), "ground_truth": truth,
        "wrong": lambda rng: rng.choice(LETTERS[:4].replace(truth, "")),
    }  # fmt: skip


def _several(rng: random.Random, chinese: bool) -> Row:
    truth = sorted(rng.sample(LETTERS, rng.randint(1, 4)))

    def wrong(rng: random.Random) -> str:
        one = rng.choice(LETTERS)  # one too many, or one too few
        picks = (
            sorted({*truth} ^ {one})
            if rng.random() < 0.5
            else sorted(rng.sample(LETTERS, len(truth)))
        )
        return ", ".join(picks) or one

    return {
        "prompt": _options(rng, chinese, 6),
        "ground_truth": ", ".join(truth),
        "wrong": wrong,
    }


def _options(rng: random.Random, chinese: bool, count: int) -> str:
    names = rng.sample(CITIES if chinese else TEAMS, count)
    lines = [f"{letter}.  {name}" for letter, name in zip(LETTERS, names, strict=False)]
    return "\n".join(
        ["哪些城市会入选？" if chinese else "Who will be among the best?", *lines]
    )


def _ranking(rng: random.Random, chinese: bool) -> Row:
    names = FILMS if chinese else TITLES
    truth = rng.sample(names, 3)

    def wrong(rng: random.Random) -> str:
        return ", ".join(rng.sample(truth if rng.random() < 0.5 else names, 3))

    prompt = (
        "票房榜的前3名分别是哪些电影？"
        if chinese
        else "Which books will be ranked from 1 to 3?"
    )
    return {"prompt": prompt, "ground_truth": ", ".join(truth), "wrong": wrong}


def _number(rng: random.Random, chinese: bool) -> Row:
    truth, unit = round(rng.uniform(20, 9000), 2), "亿元" if chinese else "million yuan"
    sigma = round(truth * rng.uniform(0.01, 0.1), 3)

    def wrong(rng: random.Random) -> str:
        return f"{truth + rng.choice((-1, 1)) * sigma * rng.uniform(0.3, 3):.2f} {unit}"

    prompt = (
        f"成交总额是多少{unit}？"
        if chinese
        else "What will the turnover be, in million yuan?"
    )
    return {
        "prompt": prompt,
        "ground_truth": f"{truth} {unit}",
        "Std": sigma,
        "wrong": wrong,
    }


# --- Answers ---


def make_answer(rng: random.Random, question: Row, skill: float) -> str | None:
    """What a system of this skill answers; None if it does not."""
    kind = rng.random()
    right = rng.random() < 1 / (1 + math.exp(question["difficulty"] - skill))
    said = str(question["ground_truth"]) if right else question["wrong"](rng)
    boxed, latex, reason = (
        rf"\boxed{{{said}}}",
        rf"$\boxed{{\text{{{said}}}}}$",
        rng.choice(REASONS),
    )
    shown = rng.choice(
        (boxed, f"{reason}\n\n{boxed}", f"{reason}\n{latex}", f"{boxed}.")
    )
    if kind < MISSING:
        return rng.choice((None, ""))
    if kind < MISSING + REFUSED:
        return rng.choice(
            (f"{reason} I cannot know that.", r"\boxed{}", "抱歉，我无法预测。")
        )
    return said if kind > 0.97 else shown


# --- The season ---


def system_names(count: int) -> list[str]:
    return [NAMES[n] if n < len(NAMES) else f"agent-{n:02}" for n in range(count)]


def make_season(
    root: Path,
    weeks: int = 12,
    questions: int = 50,
    systems: int = 20,
    runs: int = 3,
    seed: int = 1,
) -> dict[str, float]:
    """Write a season below `root`; the skill of every system."""
    rng = random.Random(f"skills {seed}")
    names = system_names(systems)
    levels = [-1.2 + 2.4 * n / max(1, systems - 1) for n in range(systems)]
    rng.shuffle(levels)
    skills = dict(zip(names, levels, strict=True))
    for folder in ("dataset", "prediction"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for week in range(weeks):
        day = datetime.date(2025, 9, 1) + datetime.timedelta(weeks=week)
        _write_week(root, f"{day:%y%m%d}", week, questions, skills, runs, seed)
    about = {
        name: {
            "organisation": ("ACME", "Bravo", "Cirrus")[place % 3],
            "model": f"m{place}",
            "cost": place / 100,
        }
        for place, name in enumerate(names)
    }
    _write(root / "prediction" / "systems.json", about)
    _write(root / "skills.json", skills)
    return skills


def _write_week(
    root: Path,
    name: str,
    week: int,
    count: int,
    skills: dict[str, float],
    runs: int,
    seed: int,
) -> None:
    rng = random.Random(f"{seed} {name}")
    levels = [
        next(
            level for level, share in enumerate(SHARES, 1) if (n + 0.5) / count < share
        )
        for n in range(count)
    ]
    questions = [
        make_question(rng, f"{name}-{n:03}", level) for n, level in enumerate(levels)
    ]
    hidden = ("wrong", "difficulty")
    _write(
        root / "dataset" / f"{name}.json",
        [_without(question, hidden) for question in questions],
    )
    for place, (system, skill) in enumerate(skills.items()):
        rng = random.Random(f"{seed} {name} {system}")
        if place % 2 and week and rng.random() < GAPS:
            continue
        for run in range(1, 1 + rng.randint(1, runs)):
            luck = rng.gauss(0, 0.1)
            answers = [
                (question["id"], make_answer(rng, question, skill + luck))
                for question in questions
            ]
            lines = [
                json.dumps({"id": key, "answer": answer}, ensure_ascii=False)
                for key, answer in answers
            ]
            path = (
                root
                / "prediction"
                / f"{name}-{system}{f'@{run}' if run > 1 else ''}.jsonl"
            )
            path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def correct_truth(root: Path, name: str = "250901") -> None:
    """Turn the truth of the first question of a week, which is a single
    choice, into another.
    """
    path = root / "dataset" / f"{name}.json"
    questions = json.loads(path.read_text(encoding="utf-8"))
    others = {"Yes": "No", "No": "Yes", "是": "否", "否": "是", "A": "B"}
    questions[0]["ground_truth"] = others.get(questions[0]["ground_truth"], "A")
    _write(path, questions)


def _without(record: Row, keys: tuple[str, ...]) -> Row:
    return {key: value for key, value in record.items() if key not in keys}


def _write(path: Path, value: object) -> None:
    path.write_text(
        json.dumps(value, ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
        newline="\n",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    for name, default in (
        ("weeks", 12),
        ("questions", 50),
        ("systems", 20),
        ("runs", 3),
        ("seed", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = vars(parser.parse_args())
    make_season(args.pop("folder"), **args)


if __name__ == "__main__":
    main()
