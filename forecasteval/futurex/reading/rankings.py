"""Rankings, levels 3 and 4: the names of an answer, best first, and their score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from forecasteval.common.patterns import lazy
from forecasteval.questions.states import AnswerScore, Unparsed

from ..rules import PARTIAL_RANKING, score_f1
from .answers import Answer, TruthOf
from .lists import (
    ITEM_SEPARATOR,
    NO_LIST,
    UNNAMED,
    are_plain_names,
    find_exclusion,
    find_labelled,
    is_name_of,
    looks_like_names,
    parse_items,
    parse_plain_items,
    show_names,
)
from .names import Name, Pairs, is_surname_printed, match_names, parse_name
from .wording import NO_WORDING, Wording

_INVERTED: Final = lazy(r"[A-Z][\w'’-]+, [A-Z][\w'’-]+\.?")  # MARSH, Evelyn


class RankingTruth(TruthOf[Sequence[Name]]):
    """Truth of a ranking: names, best first; `ordered` unless any order will do,
    `whole` if no part of it counts. With `cut` no names beyond as many count. The
    `wording` says what the names are of.
    """

    __slots__ = ("_compounds", "_keys", "_wording", "cut", "names", "ordered", "whole")

    def __init__(
        self,
        names: tuple[Name, ...],
        wording: Wording = NO_WORDING,
        ordered: bool = True,
        whole: bool = False,
        cut: bool = False,
    ) -> None:
        self.names, self.ordered, self.whole, self._wording = (
            names,
            ordered,
            whole,
            wording,
        )
        self.cut = cut
        self._keys = frozenset([name.key for name in names])
        several = [name.text for name in names if not name.letters]
        self._compounds = tuple(filter(ITEM_SEPARATOR.search, several))

    def read(self, answer: Answer) -> Sequence[Name] | Unparsed:
        """Read the predicted names, best first, or why there are none."""
        if (
            not answer.elements
            and (end := find_exclusion(answer.sentence, self.names)) >= 0
        ):
            answer = replace(answer, text=answer.sentence[:end], _cleaned=None)
        if len(self.names) == 1 and (lone := self._read_lone(answer.sentence)):
            return (lone,)
        if answer.boxed and not (answer.elements or self._compounds):
            names = parse_plain_items(answer.text)
            if names:
                return names
        if status := self.find_status(answer):
            return status
        if not answer.boxed and len(self.names) > 1:
            labelled = find_labelled(answer.cleaned)
            if labelled:
                return tuple(map(parse_name, labelled))
        if not answer.boxed and not looks_like_names(
            answer.sentence, not answer.stated
        ):
            return NO_LIST
        count = len(self.names) or None
        return (
            parse_items(answer, self._wording, count, self._keys, self._compounds)
            or UNNAMED
        )

    def _read_lone(self, text: str) -> Name | None:
        """Read the only true name, which may hold "and" or "/", or its
        surname in front.
        """
        (true,) = self.names
        name = parse_name(text)
        if name.key == true.key:
            return name
        if _INVERTED.fullmatch(text) and is_surname_printed(true.text):
            return parse_name(text.replace(",", ""))
        return None

    def accepts(self, answer: Answer) -> bool:
        return answer.corrects and are_plain_names(answer.sentence)

    def means(self, text: str, words: str) -> bool:
        return is_name_of(text, words, self.names)

    def compare(self, predicted: Sequence[Name], known: Pairs = ()) -> AnswerScore:
        """Score 1 if the lists agree item by item and in length, else 0.8·matched/k.

        There are k true items; all predicted ones count, in any order (seed README,
        评分机制). `known` pairs of names mean the same.
        """
        total, counted = len(self.names), predicted
        padded = len(predicted) > total
        if self.cut and total:
            counted = predicted[:total]
        places = match_names(self.names, counted, self._wording, known)
        matched, shown = len(places), show_names(predicted)
        in_order = not self.ordered or all(
            true == place for true, place in places.items()
        )
        if in_order and matched == total == len(predicted):
            return AnswerScore(1.0, "scored", shown, "", None, matched, total, padded)
        score = PARTIAL_RANKING * (matched / max(1, total))
        if self.whole:
            score = 0.0
        note = f"{matched} of {total} matched"
        if padded:
            note += f"; {len(predicted)} items for {total}"
        return AnswerScore(score, "scored", shown, note, None, matched, total, padded)


class NameTruth(RankingTruth):
    """Truth of a choice that has neither options nor labels: names, each picked once;
    `exact` ones score 1 or 0.
    """

    __slots__ = ("exact",)

    def __init__(
        self, names: Sequence[Name], exact: bool, wording: Wording = NO_WORDING
    ) -> None:
        super().__init__(tuple(names), wording, ordered=False)
        self.exact = exact

    def read(self, answer: Answer) -> Sequence[Name] | Unparsed:
        """Read the picked names, or why there are none."""
        read = super().read(answer)
        if isinstance(read, Unparsed):
            return read
        return tuple({name.key: name for name in read}.values())

    def compare(self, predicted: Sequence[Name], known: Pairs = ()) -> AnswerScore:
        """F1 of the names, or only a whole 1 of it; `known` pairs of names
        mean the same.
        """
        matched = len(match_names(self.names, predicted, self._wording, known))
        score = score_f1(matched, len(predicted), len(self.names))
        if self.exact:
            score = float(score == 1.0)
        return AnswerScore(score, "scored", show_names(predicted), "")
