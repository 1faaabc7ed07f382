"""The result of verifying a query that somebody else wrote: what it asks, and what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.reading import Reading


class Finding(Contract):
    """One fault of a query. `where` is the piece of the query, `hint` what to do next.

    A `warning` is right in some questions and wrong in others; only an `error` fails the verification.
    """

    code: Annotated[str, Field(pattern=r"^[a-z]+/[a-z-]+$")]
    problem: str
    where: str = ""
    hint: str = ""
    severity: Literal["error", "warning"] = "error"


class Verification(Contract):
    """`sound`: nothing was found. `faulty`: an error was found. `unverified`: none was, but not all could be read."""

    kind: Literal["verification"] = "verification"
    result: Literal["sound", "faulty", "unverified"]
    read_as: str = ""  # what the query asks, in words; empty if it could not be read
    findings: tuple[Finding, ...] = ()
    unverified: tuple[str, ...] = ()  # what could not be read, by the name of the construct
    notes: tuple[str, ...] = ()  # what a person should know of the way it was read
    reading: Reading | None = None
