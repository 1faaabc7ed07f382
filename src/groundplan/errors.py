"""What can go wrong with the world, as one tree.

An expected failure is data (`Issue`, `Refusal`, `Clarification`); what is here is a broken world.

    GroundplanError
    ├── UsageError             the call itself is wrong: a missing file, an unknown name    exit 2
    ├── CatalogError           a tool, capability or template file is wrong: file and line  exit 2
    ├── AgentBroke             an agent did not keep its contract: contracts/agent.py       exit 4
    └── WorldError             something outside failed                                     exit 4
        ├── SourceError        a source cannot be opened, described or reached
        │   ├── Declined       a server's own refusal, by its code: sources/tableau/refusals.py
        │   └── QueriesUsedUp  the queries of an hour are spent: sources/tableau/hour.py
        ├── ToolError          a tool failed on its input
        │   ├── OutcomeUnknown a server may have made a change and did not say: sources/mcp
        │   ├── ToolFailed     a server's tool says that it failed: sources/mcp
        │   └── QueryRefused   the compiled query did not pass the second gate
        ├── TransientError     worth another try: a dropped connection, a busy server
        ├── DeadlineExceeded   a step or a run took longer than it may
        ├── Cancelled          the caller stopped waiting: sources/tables/engine/cancel_scope.py
        └── StateInvalid       what was stored cannot be trusted or read
"""

from __future__ import annotations


class GroundplanError(Exception):
    """The root: catch it at a door."""

    exit_code = 4


class UsageError(GroundplanError):
    """The call is wrong; the message says how to say it right."""

    exit_code = 2


class CatalogError(GroundplanError):
    """A catalog file is wrong; the message begins with `file:line:`."""

    exit_code = 2


class WorldError(GroundplanError):
    """Something outside this process failed."""


class SourceError(WorldError):
    """A source cannot be opened, described or reached."""


class ToolError(WorldError):
    """A tool could not do its work on the input it was given."""


class QueryRefused(ToolError):
    """A compiled query is not one plain SELECT over the source's own tables."""


class TransientError(WorldError):
    """The same call may succeed a moment later."""

    retry_after: float | None = None


class DeadlineExceeded(WorldError):
    """A step or a run used up its time."""


class StateInvalid(WorldError):
    """A stored run does not match what is asked to be resumed."""
