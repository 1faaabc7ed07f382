"""Chooses the tool and the params for one part of a task, by rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groundplan.asking.tasks.fill import Filling, Made, fill, required_of
from groundplan.asking.tasks.task_words import first_of, glossed, load_compose_words, tool_words
from groundplan.contracts.tool import Tool
from groundplan.text.names import name_words
from groundplan.text.stems import stem

TRIED = 3  # tools to try in turn


@dataclass(frozen=True)
class PartRequest:
    """One part of a task, with the tools and earlier steps that may serve it."""

    part: str
    offered: tuple[Tool, ...]
    earlier: tuple[Made, ...]
    attempt: int = 1
    suppliable: Callable[[Chosen], bool] = lambda _: False  # whether other tools can supply all missing params

    @property
    def cannot_be_done(self) -> bool:
        """Whether the part asks for a change, and no tool with an effect or a matching name was found."""
        verb = first_of(name_words(self.part))
        named = any(
            stem(word) in map(stem, name_words(tool.name)) for tool in self.offered for word in glossed(verb).split()
        )
        return verb in load_compose_words().changing and not named

    @property
    def fitting(self) -> tuple[Tool, ...]:
        """The tools that may be used: an action tool named by the part's first word, or tools that can replace the
        best match."""
        verb = stem(first_of(name_words(self.part)))
        acting = [tool for tool in self.offered if tool.effect == "write" and verb in map(stem, name_words(tool.name))]
        best = [*acting, *self.offered][:1]
        return tuple(tool for tool in (acting or self.offered) if can_replace(tool, best[0], self.part))


@dataclass(frozen=True)
class Chosen:
    tool: Tool
    filling: Filling


def by_words(request: PartRequest) -> Chosen | None:
    """The first matching tool whose missing params, if any, other tools can supply.

    Another tool stands in for the best match only if it is named for the same things, or needs values of its own.
    """
    chosen = [Chosen(tool, fill(tool, request.part, request.earlier)) for tool in request.fitting]
    able = [one for one in chosen[:TRIED] if may_stand_in(one.tool, chosen[0].tool, request.part)]
    ready = [one for one in able if not one.filling.missing or request.suppliable(one)]
    return next(iter(ready or chosen), None)


def may_stand_in(tool: Tool, best: Tool, part: str) -> bool:
    """False for a tool that would do something else without any value of the words."""
    return bool(required_of(tool)) or stands_in(tool, best, part)


def stands_in(tool: Tool, best: Tool, part: str) -> bool:
    """False if the part names the best match whole, but for its verb, and the other tool is not named so.

    `list the free slots` means `list_free_slots`, and `list_customers` never stands in for it.
    """
    said = {*map(stem, name_words(part))}
    wanted, named = ({stem(word) for word in tool_words(one.name)} for one in (best, tool))
    things = wanted - {stem(first_of(tool_words(best.name)))}
    return not things or not things <= said or things <= named


def can_replace(tool: Tool, best: Tool, part: str) -> bool:
    """Whether a tool may replace the best match: a tool that reads cannot replace one that acts."""
    said = stem(first_of(name_words(part)))
    verbs = [stem(first_of(tool_words(one.name))) for one in (tool, best)]
    if best.effect == "write":
        return tool.effect == "write" and verbs[0] == verbs[1]
    return tool.effect == "read" and (verbs[1] != said or verbs[0] == said)
