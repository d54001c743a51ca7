"""Compares the closings of anonymous versions with who took part before, and with the results. Pure."""

from collections import Counter
from collections.abc import Mapping

# A survey's id and a version.
VersionId = tuple[int, int]
NO_RESULTS = "survey_results does not hold the results that this closing sums up: one was changed, added or taken out"
LOST_BALLOTS = "it opened {opened} ballots, but {answered} people had answered that version before it"
ANSWERED_LATER = "it answers a version that an earlier row had closed"
NEVER_CLOSED = "survey_results holds results of version {version} of survey {survey}, which no row of the ledger closes"


class ClosingWalk:
    """What was seen so far: how many answered each version, and which versions are closed. `results` are the hashes of
    survey_results, None when they were not read."""

    def __init__(self, results: Mapping[VersionId, str] | None) -> None:
        self._results = results
        self._answered: Counter[VersionId] = Counter()
        self._closed: set[VersionId] = set()

    def answer(self, version: VersionId) -> str | None:
        """What is wrong with an answer to it, None when nothing is."""
        self._answered[version] += 1
        return ANSWERED_LATER if version in self._closed else None

    def close(self, version: VersionId, ballots: int | None, results: str | None, nothing: str) -> str | None:
        """The same for its closing; `nothing` is the hash of no results."""
        self._closed.add(version)
        if self._results is None:
            return None
        if self._results.get(version, nothing) != results:
            return NO_RESULTS
        if self._answered[version] != ballots:
            return LOST_BALLOTS.format(opened=ballots, answered=self._answered[version])
        return None

    def end(self, surveys: Mapping[int, str]) -> str | None:
        for survey, version in sorted(set(self._results or ()) - self._closed):
            return NEVER_CLOSED.format(version=version, survey=surveys.get(survey, survey))
        return None
