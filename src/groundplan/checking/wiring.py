"""The data flow between steps: needs, router branches, and the inputs they fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from groundplan.checking.params import referred_steps
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.tool import Tool


@dataclass(frozen=True)
class Wiring:
    plan: Plan

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The plan's steps; of two with the same id, only the first."""
        firsts: dict[str, Step] = {}
        for step in self.plan.steps:
            firsts.setdefault(step.id, step)
        return tuple(firsts.values())

    @cached_property
    def by_id(self) -> Mapping[str, Step]:
        return {step.id: step for step in self.steps}

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {step.id: index for index, step in enumerate(self.steps)}

    def data_needs(self, step: Step) -> tuple[str, ...]:
        """The earlier steps that pass data to this one; routers only decide whether it runs."""
        return tuple(
            need
            for need in dict.fromkeys(step.needs)
            if need in self.by_id and self.position[need] < self.position[step.id] and self.by_id[need].kind != "router"
        )

    def inputs(self, step: Step, tool: Tool) -> dict[str, str | tuple[str, ...]]:
        """Each input port with what fills it: the name of a source's table, or alternative steps.

        A param with the port's name gives a source's table. Needs fill the other ports in order; needs that exclude
        each other (branches of one router) fill one port together.
        """
        filled: dict[str, str | tuple[str, ...]] = {}
        referred = referred_steps(step)
        groups = self._alternatives(tuple(need for need in self.data_needs(step) if need not in referred))
        for port in tool.inputs:
            named = step.params.get(port.name)
            if isinstance(named, str):
                filled[port.name] = named
            elif groups:
                filled[port.name] = groups.pop(0)
        return filled

    def surplus(self, step: Step, tool: Tool) -> tuple[str, ...]:
        """Needs that fill no input. Tools that return facts have none, as their needs may only set the order."""
        if tool.output.kind == "facts" and not tool.inputs:
            return ()
        used = referred_steps(step) | {
            need for origin in self.inputs(step, tool).values() if not isinstance(origin, str) for need in origin
        }
        return tuple(need for need in self.data_needs(step) if need not in used)

    def _alternatives(self, needs: tuple[str, ...]) -> list[tuple[str, ...]]:
        groups: list[tuple[str, ...]] = []
        for need in needs:
            for index, group in enumerate(groups):
                if all(self.exclude_each_other(need, other) for other in group):
                    groups[index] = (*group, need)
                    break
            else:
                groups.append((need,))
        return groups

    def exclude_each_other(self, one: str, other: str) -> bool:
        """Whether a router runs at most one of the two steps."""
        mine, theirs = self._branches[one], self._branches[other]
        return any(router in theirs and theirs[router] != branch for router, branch in mine.items())

    @cached_property
    def _branches(self) -> Mapping[str, Mapping[str, str]]:
        """For each step, the routers it depends on and its branch of each."""
        found: dict[str, dict[str, str]] = {}
        for step in self.steps:
            choices: dict[str, set[str]] = {}
            for need in step.needs:
                if need not in found:
                    continue
                for router, branch in found[need].items():
                    choices.setdefault(router, set()).add(branch)
                if self.by_id[need].kind == "router":
                    choices.setdefault(need, set()).add(step.id)
            # a step that joins several branches of a router is on none of them
            found[step.id] = {router: branches.pop() for router, branches in choices.items() if len(branches) == 1}
        return found

    @cached_property
    def consumers(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {step.id: [] for step in self.steps}
        for step in self.steps:
            for need in self.data_needs(step):
                found[need].append(step.id)
        return {step: tuple(users) for step, users in found.items()}

    @cached_property
    def ends(self) -> tuple[Step, ...]:
        """The steps whose output no other step uses: the answer shows them."""
        return tuple(s for s in self.steps if s.kind != "router" and not self.consumers[s.id])

    def feeds(self, step: str) -> frozenset[str]:
        """Every later step that this step's data reaches."""
        reached: set[str] = set()
        waiting = [step]
        while waiting:
            for user in self.consumers[waiting.pop()]:
                if user not in reached:
                    reached.add(user)
                    waiting.append(user)
        return frozenset(reached)
