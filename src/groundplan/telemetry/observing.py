"""What is observed while a question is answered: stages, steps and model calls, each with its seconds.

Whoever runs a question sets an observer; without one, nothing is recorded. Attributes never hold rows, names of
columns, or text of the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal, Protocol

Kind = Literal["stage", "step", "model"]
Attributes = dict[str, str | int | float | bool]


class Observer(Protocol):
    def span(self, kind: Kind, attributes: Attributes) -> AbstractContextManager[None]:
        """Observe a block. The block may add attributes until it ends."""
        ...

    def count(self, what: str, labels: Mapping[str, str]) -> None:
        """Count something that takes no time, such as a retry."""
        ...


OBSERVER: ContextVar[Observer | None] = ContextVar("groundplan_observer", default=None)


@contextmanager
def observed(kind: Kind, **attributes: str | int | float | bool) -> Iterator[Attributes]:
    """Observe the block; what it adds to the attributes is recorded with it."""
    observer = OBSERVER.get()
    if observer is None:
        yield attributes
        return
    with observer.span(kind, attributes):
        yield attributes


def counted(what: str, **labels: str) -> None:
    if observer := OBSERVER.get():
        observer.count(what, labels)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Send what is observed in this block, and in tasks started in it, to the observer."""
    token = OBSERVER.set(observer)
    try:
        yield
    finally:
        OBSERVER.reset(token)
