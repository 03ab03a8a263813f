"""Play the games of tests/prophet_games.py on many boards: `python
research/games.py [seeds]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from prophet_games import GAMES, METRICS, PLAYER, play, risen  # noqa: E402


def main(seeds: int) -> None:
    for name, game in GAMES.items():
        for seed in range(seeds):
            before, after = play(game, seed)
            old = before["forecasters"][PLAYER]
            new = after["forecasters"].get(PLAYER, {}) if after else {}
            by = after["ranked_by"]["metric"] if after else "nothing: refused"
            moves = ", ".join(
                f"{m} {old[f'{m}_rank']}→{new.get(f'{m}_rank') or '–'}" for m in METRICS
            )
            gained = risen(before, after) or "nothing gained"
            print(f"{name}, seed {seed}, by {by}: {gained} ({moves})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
