"""Rankings, levels 3 and 4: lists of names against lists."""

from __future__ import annotations

from collections.abc import Sequence

from .answers import Answer
from .lists import ITEM_SEPARATOR, looks_like_names, read_items, refuses, show_names
from .names import Name, Same, match_names, read_sides, same_name, unambiguous
from .rules import PARTIAL_RANKING, Scored, unparsed


class RankingTruth:
    """Truth of a ranking: names, best first; `ordered` unless any order will do, `whole` if no part of it counts."""

    __slots__ = ("_compounds", "_keys", "names", "ordered", "whole")

    def __init__(self, names: tuple[Name, ...], ordered: bool = True, whole: bool = False) -> None:
        self.names, self.ordered, self.whole = names, ordered, whole
        self._keys = frozenset([name.key for name in names])
        holds_separator = ITEM_SEPARATOR.search(" ".join([name.text for name in names]))
        self._compounds = [name.text for name in names if ITEM_SEPARATOR.search(name.text)] if holds_separator else []

    def read(self, answer: Answer) -> tuple[Name, ...] | str:
        """The predicted names, best first, or why there are none."""
        if len(answer.elements) < 2 and refuses(answer.cleaned, self.names):
            return "refusal"
        if not answer.boxed and not looks_like_names(answer.cleaned):
            return "no box, and no list of names"
        return read_items(answer, "", len(self.names), self._keys, self._compounds) or "no name"

    def compare(self, predicted: Sequence[Name], same: Same = same_name) -> Scored:
        """The score of `score_ranking` with its note."""
        score, matched = max(score_ranking(self.names, side, same) for side in read_sides(predicted))
        if not self.ordered and matched == len(self.names) == len(predicted):
            score = 1.0
        if self.whole and score < 1:
            score = 0.0
        note = f"{matched} of {len(self.names)} matched" if score < 1 else ""
        padded = len(predicted) > len(self.names)
        if padded:
            note += f"; {len(predicted)} items for {len(self.names)}"
        return Scored(score, "scored", show_names(predicted), note, padded=padded)

    def score(self, answer: Answer) -> Scored:
        """See `compare`; unparsed if there is no name, or if bare text reads as prose."""
        read = self.read(answer)
        return unparsed(read) if isinstance(read, str) else self.compare(read)


def _holds_another(true: str, key: str, true_keys: Sequence[str]) -> bool:
    """Whether a predicted name that ends with its true name begins with another: `Quill Falcon` names two."""
    front = key.removesuffix(true)
    return front != key and any(front.startswith(other) for other in true_keys if other != true)


def score_ranking(truth: Sequence[Name], predicted: Sequence[Name], same: Same = same_name) -> tuple[float, int]:
    """1 if the lists agree item by item and in length, else 0.8·matched/k, and the number matched.

    k = len(truth) true items; all predicted items count, whatever their order (seed README, 评分机制).
    """
    true_keys, keys = [name.key for name in truth], [name.key for name in predicted]
    if true_keys == keys:
        return 1.0, len(truth)
    if len(keys) == len(true_keys) and all(map(unambiguous(truth, same), truth, predicted)):
        # "Quill Falcon, Falcon" is no "Falcon, Quill Falcon": exact matches come first
        pairs = zip(true_keys, keys, strict=True)
        if all(
            t == k or (t not in keys and k not in true_keys and not _holds_another(t, k, true_keys)) for t, k in pairs
        ):
            return 1.0, len(truth)
    matched = len(truth) - len(match_names(truth, predicted, same)[0])
    return PARTIAL_RANKING * (matched / len(truth)), matched
