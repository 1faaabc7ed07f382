"""The hourly query limit: Tableau counts queries by user and hour."""

from __future__ import annotations

import math
import time
from collections import deque

from groundplan.errors import SourceError

SECONDS = 3_600.0


class QueriesUsedUp(SourceError):
    """The hourly limit is reached; no query was sent."""


class HourlyLimit:
    """Counts the queries of the last sixty minutes."""

    def __init__(self, queries: int) -> None:
        self._queries = queries
        self._sent: deque[float] = deque()

    def spend(self) -> None:
        now = time.monotonic()
        while self._sent and self._sent[0] <= now - SECONDS:
            self._sent.popleft()
        if len(self._sent) >= self._queries:
            minutes = math.ceil((self._sent[0] + SECONDS - now) / 60)
            raise QueriesUsedUp(
                f"all {self._queries} queries of this hour are used up; ask again in {minutes} minutes, or raise "
                "`queries_per_hour` if Tableau allows more"
            )
        self._sent.append(now)
