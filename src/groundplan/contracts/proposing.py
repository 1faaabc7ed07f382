"""What a model proposed and what was wrong with it: the log of a question that a model worked on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from groundplan.contracts.contract import Contract, Text
from groundplan.contracts.roles import RoleName

LONGEST_PROPOSAL = 6_000  # characters that are kept and sent back


class Attempts(list["ModelAttempt"]):
    """A log that tells of each attempt as it is made."""

    def __init__(self, on_attempt: Callable[[ModelAttempt], None]) -> None:
        super().__init__()
        self._on_attempt = on_attempt

    def append(self, attempt: ModelAttempt) -> None:
        super().append(attempt)
        self._on_attempt(attempt)


class ModelAttempt(Contract):
    """One reply of a model. Without faults it was accepted; a call that got no reply has no proposal."""

    role: RoleName
    model: str
    number: Annotated[int, Field(ge=1)]  # counted for each model anew
    proposal: Annotated[str, Field(max_length=LONGEST_PROPOSAL)] = ""
    faults: tuple[Text, ...] = ()
    tokens: int = 0
    seconds: float = 0.0
