"""What the owner of a board has withdrawn: datasets and runs of systems, and events of
forecasters, by the key `withdrawn` of `systems.json`. They are no entries, whether
their files are there or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from forecasteval.common.files import belongs_to
from forecasteval.nightly.entry_book import EntryBook
from forecasteval.ranking.board import WithdrawnEntry
from forecasteval.ranking.names import Systems, split_name

_MAX_NAMED_MISTAKES: Final = 5


class Withdrawals:
    """The names under `withdrawn` of each system, beside the datasets
    that are there.
    """

    def __init__(self, systems: Systems, datasets: Iterable[str]) -> None:
        self._systems = systems
        self._names = [
            (system, name)
            for system, names in systems.withdrawn.items()
            for name in names
        ]
        self._datasets = {*datasets}

    def includes_file(self, stem: str, dataset: str) -> bool:
        """Return whether the dataset or the run of a file is withdrawn."""
        system = self._systems.system_of(stem, dataset)
        run = split_name(stem, dataset).run
        if (system, dataset) in self._names:
            return True
        return run != "" and (system, f"{dataset}@{run}") in self._names

    def list_forecasts(self, dataset: str) -> frozenset[tuple[str, str]]:
        """List the forecasters and events that are withdrawn; the event is ""
        for all of them.
        """
        forecasts = set()
        for forecaster, name in self._names:
            named_dataset, _, event = name.partition("/")
            if named_dataset == dataset:
                forecasts.add((forecaster, event))
        return frozenset(forecasts)

    def find_new(self, dataset: str, book: EntryBook) -> dict[str, list[str]]:
        """Find the names about a dataset that the book does not have yet, by system."""
        new: dict[str, list[str]] = {}
        for system, name in self._names:
            is_known = (system, name) in book.withdrawn
            if self._find_dataset(name) == dataset and not is_known:
                new.setdefault(system, []).append(name)
        return new

    def describe(self, book: EntryBook, night: int) -> list[WithdrawnEntry]:
        """Say what is withdrawn, and whether a truth of its dataset was
        known by then.
        """
        entries = []
        for system, name in self._names:
            dataset = self._find_dataset(name)
            if not dataset:
                continue
            first_night = book.withdrawn.get((system, name), night)
            truth_nights = book.truths.get(dataset, {}).values()
            is_after_truth = any(
                truth_night <= first_night for truth_night in truth_nights
            )
            entry = WithdrawnEntry(
                system=system, name=name, is_after_truth=is_after_truth
            )
            entries.append(entry)
        return entries

    def find_mistakes(self, stems: Iterable[str]) -> str:
        """Say which names are those of no dataset, run or event; "" if
        all are known.
        """
        if not self._names:
            return ""
        runs = set()
        for dataset in self._datasets:
            for stem in stems:
                if belongs_to(stem, dataset):
                    run = split_name(stem, dataset).run
                    runs.add(
                        (self._systems.system_of(stem, dataset), f"{dataset}@{run}")
                    )
        mistakes = []
        for system, name in self._names:
            dataset = name.partition("/")[0]
            if dataset not in self._datasets and (system, name) not in runs:
                expected = "'withdrawn' must name datasets or runs"
                mistakes.append(f"system {system}: {expected}, got {name!r}")
        return "; ".join(mistakes[:_MAX_NAMED_MISTAKES])

    def _find_dataset(self, name: str) -> str:
        """Find the dataset that a name is about; "" if there is none."""
        candidates = (name, name.rpartition("@")[0], name.partition("/")[0])
        return next((label for label in candidates if label in self._datasets), "")
