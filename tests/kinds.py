"""A question of every kind, without an answer."""

from __future__ import annotations

from typing import Final

from cli import asked


def listing(*options: str) -> str:
    lines = "".join(f"\n{chr(65 + number)}.  {text}" for number, text in enumerate(options))
    return f'The event to be predicted: "Which of these? {lines}"\n'


RATES: Final = listing("the outcome be Lower", "the outcome be Same", "the outcome be Higher")
BANDS: Final = listing("Less than 2.00%", "At least 2.00%, but less than 2.25%", "2.25% or more")
MANY: Final = listing(*(f"the outcome be Player {number}" for number in range(1, 35)))
KINDS: Final = {
    "yes or no": asked(1, "Yes"),
    "one option": asked(1, "B", prompt=RATES),
    "a name": asked(1, "['Islanders']"),
    "some options": asked(2, "A, B", prompt=BANDS),
    "34 options": asked(2, "['A', '`', 'b', '\\\\']", prompt=MANY),
    "labels only": asked(2, "A, C"),
    "some names": asked(2, "['Red Foxes', 'Blue Owls']"),
    "ranking": asked(3, "Petra Vandermoss, Quill Motors Falcon and Sunrise (The Games, #0.5)."),
    "Chinese ranking": asked(4, "第6名：甲组，第7名：乙组-林小渚，第8名：《熊猫计划2》(Panda 2)"),
    "number": asked(4, "46,396.47", std=144.51),
    "exact number": asked(3, "838.34"),
    "zero Std": asked(3, "49", std=0.0),
    "percent": asked(4, "30.98%", std=2.0),
    "scaled number": asked(
        4, "89.86 billion yuan", std=0.5, prompt="in hundreds of millions of yuan?"
    ),
    "Std but names": asked(3, "Red, Blue", std=2.0),
}
