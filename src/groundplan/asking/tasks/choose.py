"""Which tool for one part of a task, and with which params: what is asked, what is chosen, and the choice by words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from groundplan.asking.tasks.fill import Filling, Made, fill
from groundplan.asking.tasks.words import first_of, glossed, load_compose_words, tool_words
from groundplan.contracts.tool import Tool
from groundplan.text.names import name_words
from groundplan.text.stems import stem

TRIED = 3  # tools that words try in turn


@dataclass(frozen=True)
class Asked:
    """One part of a task, with what may serve it."""

    part: str
    offered: tuple[Tool, ...]
    earlier: tuple[Made, ...]
    attempt: int = 1
    problem: str = ""  # what was wrong with the attempt before
    suppliable: Callable[[Chosen], bool] = lambda _: False  # whether other tools give all that it lacks

    @property
    def cannot_be_done(self) -> bool:
        """It is to change something, and nothing that changes or is named so was found for it."""
        verb = first_of(name_words(self.part))
        named = any(
            stem(word) in map(stem, name_words(tool.name)) for tool in self.offered for word in glossed(verb).split()
        )
        return verb in load_compose_words().changing and not named

    @property
    def fitting(self) -> tuple[Tool, ...]:
        """Those that may be taken: one that acts and is named by the part's first word, or what can stand in for the
        first that words find."""
        verb = stem(first_of(name_words(self.part)))
        acting = [tool for tool in self.offered if tool.effect == "write" and verb in map(stem, name_words(tool.name))]
        best = [*acting, *self.offered][:1]
        return tuple(tool for tool in (acting or self.offered) if can_replace(tool, best[0], self.part))


@dataclass(frozen=True)
class Chosen:
    tool: Tool
    filling: Filling


Choose = Callable[[Asked], Awaitable[Chosen | None]]


async def by_words(asked: Asked) -> Chosen | None:
    """The first tool that words find and that lacks nothing, or nothing that another tool does not give."""
    chosen = [Chosen(tool, fill(tool, asked.part, asked.earlier)) for tool in asked.fitting]
    ready = [one for one in chosen[:TRIED] if not one.filling.missing or asked.suppliable(one)]
    return next(iter(ready or chosen), None)


def can_replace(tool: Tool, best: Tool, part: str) -> bool:
    """Whether it may stand in for the tool that words find first: what is to be sent is not looked up instead."""
    said = stem(first_of(name_words(part)))
    verbs = [stem(first_of(tool_words(one.name))) for one in (tool, best)]
    if best.effect == "write":
        return tool.effect == "write" and verbs[0] == verbs[1]
    return tool.effect == "read" and (verbs[1] != said or verbs[0] == said)
