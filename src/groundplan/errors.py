"""The exception tree.

Expected failures are data (`Issue`, `Refusal`, `Clarification`). Exceptions are for everything else.

    GroundplanError
    ├── UsageError             the call itself is wrong: a missing file, an unknown name    exit 2
    ├── CatalogError           a tool, capability or template file is wrong: file and line  exit 2
    ├── AgentBroke             an agent broke its contract: telemetry/audit.py              exit 4
    ├── Crashed                a fault in groundplan itself                                 exit 5
    └── WorldError             something outside failed                                     exit 4
        ├── SourceError        a source cannot be opened, described or reached
        │   ├── Unavailable    a server cannot be reached or is busy, after retries
        │   ├── TooMuch        an input costs more than its budget: budget.py
        │   ├── Declined       a server's own refusal, by its code: sources/tableau/refusals.py
        │   └── QueriesUsedUp  the hourly query limit is reached: sources/tableau/rate_limit.py
        ├── ToolError          a tool failed on its input
        │   ├── OutcomeUnknown a server may have made a change but did not reply
        │   ├── ToolFailed     a server's tool reports that it failed: sources/mcp
        │   └── QueryRefused   the compiled query did not pass the second gate
        ├── TransientError     a retry may help: a dropped connection, a busy server
        │   └── StoreUnavailable  the service's own database cannot be reached
        ├── DeadlineExceeded   a step or a run exceeded its time limit
        ├── Cancelled          the caller stopped waiting: sources/tables/engine/cancel_scope.py
        └── StateInvalid       stored state is unreadable or does not match
"""

from __future__ import annotations


class GroundplanError(Exception):
    """The root of the tree. Catch it only in the interfaces."""

    exit_code = 4


class UsageError(GroundplanError):
    """The call is wrong; the message says how to correct it."""

    exit_code = 2


class Crashed(GroundplanError):
    """A fault in groundplan or a plug-in. The message says where, and quotes no data."""

    exit_code = 5

    @classmethod
    def by(cls, error: BaseException) -> Crashed:
        place = crash_place(error)
        return cls(f"this is a fault in groundplan: {place}; please report this line, and the question if you may")


def crash_place(error: BaseException) -> str:
    """`ValueError in groundplan/charts/time.py:81`: the type and the innermost line of ours, never the message."""
    place, trace = "", error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/groundplan/" in path:
            place = f" in groundplan/{path.rpartition('/groundplan/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"


class CatalogError(GroundplanError):
    """A catalog file is wrong; the message begins with `file:line:`."""

    exit_code = 2


class WorldError(GroundplanError):
    """Something outside this process failed."""


class SourceError(WorldError):
    """A source cannot be opened, described or reached."""


class Unavailable(SourceError):
    """A server cannot be reached or is busy, and retries did not help."""


class TooMuch(SourceError):
    """A question, a file or a reply needs more steps, bytes, … than its budget allows. The pipeline refuses with it."""

    def __init__(self, kind: str, what: str, most: float, hint: str) -> None:
        self.code, self.problem, self.hint = f"budget/{kind}", f"{what} takes more than {most:,.0f} {kind}", hint
        super().__init__(f"{self.problem}; {hint}")


class ToolError(WorldError):
    """A tool failed on its input."""


class OutcomeUnknown(ToolError):
    """A write was sent and its outcome is unknown; it is never sent again."""


class QueryRefused(ToolError):
    """A compiled query is not one plain SELECT over the source's own tables."""


class TransientError(WorldError):
    """The same call may succeed a moment later."""

    retry_after: float | None = None


class StoreUnavailable(TransientError):
    """The database that holds runs, plans and effects cannot be reached."""


class DeadlineExceeded(WorldError):
    """A step or a run exceeded its time limit."""


class StateInvalid(WorldError):
    """Stored state cannot be read, or does not belong to the run being resumed."""
