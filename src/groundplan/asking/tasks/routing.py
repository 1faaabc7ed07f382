"""Adds routers to the steps of a workflow, so that conditional steps run behind their condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from groundplan.asking.tasks.conditions import StepCondition
from groundplan.asking.tasks.fill import Made
from groundplan.contracts.plan import Route, Step
from groundplan.contracts.reading import Constraint, Goal, Reading

FIRST_THEN = ("then", "after", "once", "afterwards", "finally", "затем", "потом", "после")
NEAR = 4  # words before a part that may say that something comes first

ConstraintConditions = Mapping[str, Sequence[tuple[str | None, StepCondition]]]
"""The conditions of each constraint, with their subjects."""


def wired(
    reading: Reading, made: Sequence[Made], served: Mapping[str, str], looked: ConstraintConditions, told: Sequence[str]
) -> tuple[Step, ...]:
    """All steps, with each router before the first step it leads to.

    `served` has the requirement of each step; the goals in `told` only add details and are served by the first step.
    """
    return tuple(_Wiring(reading, made, served, looked, told).steps())


def goal_of(made: Made, reading: Reading, served: Mapping[str, str]) -> Goal | None:
    """The goal of a step; None if the step only serves a condition."""
    wanted = served.get(made.step.id)
    found = next((requirement.value for requirement in reading.requirements if requirement.id == wanted), None)
    return found if isinstance(found, Goal) else None


@dataclass(frozen=True)
class _Branch:
    """A condition with the steps behind it; `rest` is the branch for when no other condition holds."""

    when: str
    needs: tuple[str, ...]
    steps: tuple[Made, ...]
    rest: bool = False


@dataclass(frozen=True)
class _Wiring:
    reading: Reading
    made: Sequence[Made]
    served: Mapping[str, str]
    looked: ConstraintConditions
    told: Sequence[str]

    def steps(self) -> Iterator[Step]:
        routers, placed = [*self._routers()], set[str]()
        for made in self.made:
            leading = [router for router in routers if made.step.id in _targets(router)]
            yield from (router for router in leading if router.id not in placed)
            placed |= {router.id for router in leading}
            needs = (*made.step.needs, *(router.id for router in leading), *self._before(made))
            satisfies = (*made.step.satisfies, *self._also_served(made))
            update = {"needs": tuple(dict.fromkeys(needs)), "satisfies": tuple(dict.fromkeys(satisfies))}
            yield made.step.model_copy(update=update)

    def _also_served(self, made: Made) -> list[str]:
        """The constraints that use a step, and the requirements that depend on them."""
        own = [id_ for id_, found in self.looked.items() if any(_step(one) == made.step.id for _, one in found)]
        own += self.told if made is self.made[0] else ()
        return [*own, *(r.id for r in self.reading.requirements if getattr(r.value, "when", None) in own)]

    def _before(self, made: Made) -> Iterator[str]:
        """The effects that must come before this one: `and then`."""
        goal = goal_of(made, self.reading, self.served)
        if made.tool.effect != "write" or goal is None or goal.when or not self._comes_then(made):
            return
        for other in self.made[: self.made.index(made)]:
            before = goal_of(other, self.reading, self.served)
            another = self.served[other.step.id] != self.served[made.step.id]
            if other.tool.effect == "write" and another and before is not None and before.when is None:
                yield other.step.id

    def _comes_then(self, made: Made) -> bool:
        requirement = next(r for r in self.reading.requirements if r.id == self.served[made.step.id])
        before = self.reading.question[: requirement.start].lower().split()[-NEAR:]
        return any(word.strip(",.;:") in FIRST_THEN for word in before)

    def _routers(self) -> Iterator[Step]:
        """One router for each choice and subject, and for each further step of a branch."""
        number = 0
        for chain in self._chains():
            for subject, _ in self.looked[chain[0]]:
                branches = [*self._branches(chain, subject)]
                for place in range(max(len(branch.steps) for branch in branches)):
                    number += 1
                    yield _router(f"choice_{number}", chain, branches, place)

    def _chains(self) -> list[list[str]]:
        """The conditions in order, grouped: those that compare the same field of a step form one choice."""
        chains: list[list[str]] = []
        for id_, found in self.looked.items():
            before = self.looked[chains[-1][-1]] if chains else []
            same = [(_step(one), one.field) for _, one in found] == [(_step(one), one.field) for _, one in before]
            if chains and found and same and all(one.field for _, one in found):
                chains[-1].append(id_)
            else:
                chains.append([id_])
        return chains

    def _branches(self, chain: Sequence[str], subject: str | None) -> Iterator[_Branch]:
        """Each condition of the choice with its steps, then the steps for when none of them holds."""
        outer, needs = self._outer(chain, subject)
        own = [next(one for about, one in self.looked[id_] if about == subject) for id_ in chain]
        needs = tuple(dict.fromkeys((*needs, *(_step(looked) for looked in own))))
        for id_, looked in zip(chain, own, strict=True):
            yield _Branch(_all((*outer, looked.when)), needs, self._under(id_, True, subject))
        none = _all((*(f"!({looked.when})" for looked in own), *outer))
        last = tuple(made for id_ in chain for made in self._under(id_, False, subject))
        yield _Branch(none, needs, last, rest=not outer)

    def _outer(self, chain: Sequence[str], subject: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The conditions that the choice itself depends on; within one choice, the order of routes decides."""
        value = next(r.value for r in self.reading.requirements if r.id == chain[0])
        if not isinstance(value, Constraint) or value.when is None or not self.looked.get(value.when):
            return (), ()
        further, needs = self._outer([value.when], subject)
        about = [one for whom, one in self.looked[value.when] if whom == subject]
        looked = about[0] if about else self.looked[value.when][0][1]
        return (*further, f"{'' if value.holds else '!'}({looked.when})"), (*needs, _step(looked))

    def _under(self, constraint: str, holds: bool, subject: str | None) -> tuple[Made, ...]:
        """The steps behind a condition: those with an effect or asked for. Steps that only supply values always run."""
        others = {about for about, _ in self.looked[constraint]} - {subject}
        return tuple(
            made
            for made in self.made
            if (goal := goal_of(made, self.reading, self.served)) is not None
            and (goal.when, goal.holds) == (constraint, holds)
            and (made.subject is None or made.subject not in others)
            and (made.tool.effect == "write" or self._is_end(made))
        )

    def _is_end(self, made: Made) -> bool:
        return not any(made.step.id in other.step.needs for other in self.made)


def _router(id_: str, chain: Sequence[str], branches: Sequence[_Branch], place: int) -> Step:
    """A router to the step at this index of each branch; it has a default only if every other branch has a target."""
    leading = [(branch, branch.steps[place]) for branch in branches if len(branch.steps) > place]
    complete = len(leading) == len(branches)
    routes = [(branch.when, made.step.id) for branch, made in leading if not (branch.rest and complete)]
    default = next((made.step.id for branch, made in leading if branch.rest and complete), None)
    goals = (id_ for _, made in leading for id_ in made.step.satisfies)
    return Step(
        id=id_,
        kind="router",
        needs=branches[0].needs,
        routes=tuple(Route(when=when, to=to) for when, to in routes),
        default=default,
        satisfies=tuple(dict.fromkeys((*chain, *goals))),
    )


def _all(conditions: Sequence[str]) -> str:
    return " && ".join(conditions)


def _step(looked: StepCondition) -> str:
    assert isinstance(looked.at, Made)
    return looked.at.step.id


def _targets(router: Step) -> set[str]:
    return {route.to for route in router.routes} | ({router.default} if router.default else set())
