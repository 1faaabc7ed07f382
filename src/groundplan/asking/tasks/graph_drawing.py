"""Draws a graph that a model wrote as a plan. A step's claim to serve a part counts only if code can see that it may.

The conditions of routers are made by code from the words of the task, as they are when parts are planned one by one.
A claim that does not hold is dropped, so that the gate finds the part without a step and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from groundplan.asking.tasks.choose import PartRequest
from groundplan.asking.tasks.choose_with_model import as_reference, may_be_nothing
from groundplan.asking.tasks.conditions import ADDRESS, StepCondition, find_conditions
from groundplan.asking.tasks.fill import Made, personal, properties_of
from groundplan.asking.tasks.graph_parts import CHOOSE, WORK, WRITE, GraphOffer, GraphPart, fields_for
from groundplan.asking.tasks.routing import wired
from groundplan.asking.tasks.task_words import tool_words
from groundplan.asking.tasks.whole_graph import WrittenGraph, WrittenStep
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Constraint, Goal, Reading
from groundplan.contracts.references import FROM, read_reference, references
from groundplan.contracts.said import is_said
from groundplan.contracts.tool import Tool

PLACE = re.compile(r"\{\w+\}")
KINDS = {WRITE: "llm", CHOOSE: "llm", WORK: "agent"}


def draw(written: WrittenGraph, reading: Reading, offer: GraphOffer) -> Plan | None:
    """The plan, with routers for its conditions; None if the graph has no step."""
    drawing = _Drawing(offer)
    for place in range(1, offer.places + 1):
        call = written.steps.get(f"s{place}")
        if call is not None:
            drawing.add(f"s{place}", call)
    if not drawing.made:
        return None
    drawing.settle_claims()
    looked = drawing.conditions()
    unserved = drawing.drop_claims(looked)
    steps = wired(reading, drawing.made, drawing.served, looked, drawing.told)
    return Plan(strategy="compose", steps=tuple(_without(unserved, steps)), render="GROUPED_BULLETS")


def _without(unserved: set[str], steps: Sequence[Step]) -> Iterator[Step]:
    """The steps without the goals that none of them serves: a step for a condition cites those that wait for it."""
    for step in steps:
        satisfies = tuple(id_ for id_ in step.satisfies if id_ not in unserved)
        yield step.model_copy(update={"satisfies": satisfies})


@dataclass
class _Drawing:
    offer: GraphOffer
    made: list[Made] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)  # the step of each place
    served: dict[str, str] = field(default_factory=dict)  # the requirement that each step is for
    told: list[str] = field(default_factory=list)  # goals that ask for nothing more than the others

    def add(self, place: str, call: WrittenStep) -> None:
        """Add the call as a step, without values that the task does not say and references that do not fit."""
        tool, part = self.offer.find(call.tool), self.offer.part(call.part)
        if tool is None or part is None:
            return
        params = self._asked_of_model(tool, part, call) if tool.name in KINDS else self._params(tool, call)
        for_each = self._list_of(call, part, params)
        if any(
            (made.tool, made.step.for_each, thaw(made.step.params)) == (tool, for_each, params) for made in self.made
        ):
            return
        needs = [reference.step for _, reference in references(params)]
        step = Step.model_validate(
            {
                "id": self._id(tool),
                "kind": KINDS.get(tool.name, "tool"),
                "tool": tool.name,
                "params": params,
                "needs": [*dict.fromkeys([*needs, *([for_each] if for_each else [])])],
                "satisfies": [part.requirement.id],
                "rationale": part.requirement.words,
                "for_each": for_each,
            }
        )
        self.made.append(Made(step, tool))
        self.ids[place], self.served[step.id] = step.id, part.requirement.id

    def _params(self, tool: Tool, call: WrittenStep) -> dict[str, Any]:
        """The model's params, without values that the task does not say and references that do not fit."""
        asked, wanted = PartRequest(self.offer.question, (), tuple(self.made)), properties_of(tool)
        said: dict[str, Any] = {}
        for name, value in call.params.items():
            told = self._told(thaw(value), name, wanted.get(name), asked.earlier)
            if told not in (None, "", []) and is_said(told, asked.part):
                said[name] = personal(as_reference(told, wanted[name], asked), self.made)
        return said

    def _told(self, value: Any, name: str, wanted: Mapping[str, Any] | None, earlier: Sequence[Made]) -> Any:
        """The value with a reference to a step instead of a place; None if the param cannot take it."""
        reference = read_reference(value)
        if wanted is None or (reference is None and isinstance(value, dict)):
            return None
        if reference is None:
            return value
        taken = f"{self.ids.get(reference.step, '')}.{reference.field}"
        return {FROM: taken} if taken in fields_for(name, wanted, self.offer.question, earlier) else None

    def _asked_of_model(self, tool: Tool, part: GraphPart, call: WrittenStep) -> dict[str, Any]:
        """What a model is asked is said in the words of the task; the graph only names the facts that it may see."""
        named = thaw(call.params.get("facts", ()))
        found = [read_reference({FROM: one}) for one in named] if isinstance(named, list) else []
        known = [(self._made(self.ids.get(one.step, "")), one.field) for one in found if one]
        fields = [(made, given) for made, given in known if made and given in made.fields]
        facts = {f"{made.step.id} {given}": {FROM: f"{made.step.id}.{given}"} for made, given in fields}
        if tool.name == CHOOSE:
            return {"question": part.text, "facts": facts, "choices": ["yes", "no"]}
        if tool.name == WRITE:
            return {"instruction": f"Write only the text for this task: {part.text}", "facts": facts}
        listed = thaw(call.params.get("tools", ()))
        allowed = [one.name for one in self.offer.looking_up if isinstance(listed, list) and one.name in listed]
        return {"instruction": part.text, "facts": facts, "tools": allowed}

    def _list_of(self, call: WrittenStep, part: GraphPart, params: Mapping[str, Any]) -> str | None:
        """The step whose items the call runs for: the one that it names, or the only list if each is asked for."""
        named = self.ids.get(call.for_each or "")
        value = part.value
        if named or not isinstance(value, Goal) or not value.each:
            return named
        taken = {reference.step for _, reference in references(params)}
        lists = [made.step.id for made in self.made if made.step.id in taken and made.tool.returns.get("x-many")]
        return lists[0] if len(lists) == 1 else None

    def settle_claims(self) -> None:
        """Give a part without a step to the step before it, if that has all its values, or if it asks for nothing."""
        for before, part in zip((None, *self.offer.parts), self.offer.parts, strict=False):
            if not isinstance(part.value, Goal) or self._claiming(part):
                continue
            last = self._claiming(before)[-1:] if before else []
            if part.values and last and self._has_values(part, last):
                satisfies = (*last[0].step.satisfies, part.requirement.id)
                step = last[0].step.model_copy(update={"satisfies": satisfies})
                self.made[self.made.index(last[0])] = replace(last[0], step=step)
            elif not part.values and may_be_nothing(part.request):
                self.told.append(part.requirement.id)

    def conditions(self) -> dict[str, list[tuple[str | None, StepCondition]]]:
        """The condition of each constraint, made from its words for the steps that are for it; several if they are."""
        looked: dict[str, list[tuple[str | None, StepCondition]]] = {}
        before: list[Made] = []
        for part in self.offer.parts:
            if not isinstance(part.value, Constraint):
                continue
            found = self._conditions_of(part, before)
            if not found:
                continue
            before = [made for made, _ in found]
            if len(found) > 1:
                self._set_subjects([made.step.id for made in before])
            several = len(found) > 1
            looked[part.requirement.id] = [(made.step.id if several else None, one) for made, one in found]
        return looked

    def _conditions_of(self, part: GraphPart, before: Sequence[Made]) -> list[tuple[Made, StepCondition]]:
        """For the steps that are for this part; otherwise those of the condition before it, or the last that tells."""
        own = [made for made in self._claiming(part) if made.tool.effect == "read"]
        told = [(made, one) for made in own for one in _condition(part, made) if made.tool == own[-1].tool]
        told = told or [(made, one) for made in before for one in _condition(part, made)]
        reading = [made for made in reversed(self.made) if made.tool.effect == "read"]
        return told or [(made, one) for made in reading for one in _condition(part, made)][:1]

    def _set_subjects(self, subjects: Sequence[str]) -> None:
        """Which of the subjects of a condition each step is about: the one whose step it needs or names as well."""
        about: dict[str, str] = {subject: subject for subject in subjects}
        values = {subject: self._literals(subject) for subject in subjects}
        for place, made in enumerate(self.made):
            needed = [about[need] for need in made.step.needs if need in about]
            named = [subject for subject in subjects if values[subject] & self._literals(made.step.id)]
            subject = next(iter((*([made.step.id] if made.step.id in subjects else []), *needed, *named)), None)
            if subject:
                about[made.step.id] = subject
                self.made[place] = replace(made, subject=subject)

    def _literals(self, step: str) -> set[str]:
        made = self._made(step)
        return {value for value in made.step.params.values() if isinstance(value, str)} if made else set()

    def drop_claims(self, looked: Mapping[str, object]) -> set[str]:
        """Drop the claims that do not hold, and return the requirements that no step serves."""
        unserved: set[str] = set()
        for part in self.offer.parts:
            claiming, id_ = self._claiming(part), part.requirement.id
            wrong = [made for made in claiming if made.tool.effect == "write" and not part.may_be_done_by(made.tool)]
            served = id_ in looked if isinstance(part.value, Constraint) else self._is_served(part, claiming)
            if not served and id_ not in self.told:
                unserved.add(id_)
            for made in wrong if served else claiming:
                satisfies = tuple(one for one in made.step.satisfies if one != id_)
                step = made.step.model_copy(update={"satisfies": satisfies})
                self.made[self.made.index(made)] = replace(made, step=step)
        self.served = {made.step.id: made.step.satisfies[0] for made in self.made if made.step.satisfies} | {
            made.step.id: "" for made in self.made if not made.step.satisfies
        }
        return unserved

    def _is_served(self, part: GraphPart, claiming: Sequence[Made]) -> bool:
        """Whether the steps do what the part says: with its values, for each if it says so, and not more often."""
        doing = [made for made in claiming if part.may_be_done_by(made.tool)]
        acting = [made for made in doing if made.tool.effect == "write"]
        return (
            bool(doing)
            and len(acting) <= self.offer.most_times(part)
            and self._has_values(part, claiming)
            and self._leaves_none_out(part, doing)
        )

    def _leaves_none_out(self, part: GraphPart, doing: Sequence[Made]) -> bool:
        """Whether `each of them` is done for each: if it takes from one step, then from all that call the same tool."""
        if not isinstance(part.value, Goal) or not part.value.each:
            return True
        taken = {reference.step for made in doing for _, reference in references(made.step.params)}
        tools = {made.tool.name for made in self.made if made.step.id in taken}
        return all(made.step.id in taken for made in self.made if made.tool.name in tools)

    def _has_values(self, part: GraphPart, steps: Sequence[Made]) -> bool:
        """Whether these steps, or those that they need, have every address, code and quoted text of the part."""
        wanted, seen = [*steps], list[Made]()
        while wanted:
            made = wanted.pop()
            seen.append(made)
            wanted += [one for one in self.made if one.step.id in made.step.needs and one not in seen]
        told = [text for made in seen for text in _texts(thaw(made.step.params))]
        return all(_is_told(one.text, told) for one in part.values)

    def _claiming(self, part: GraphPart) -> list[Made]:
        return [made for made in self.made if part.requirement.id in made.step.satisfies]

    def _made(self, step: str) -> Made | None:
        return next((made for made in self.made if made.step.id == step), None)

    def _id(self, tool: Tool) -> str:
        plain = "_".join(tool_words(tool.name))[:50]
        plain = plain if plain.isascii() and plain[:1].isalpha() else "step"
        taken = {made.step.id for made in self.made}
        return next(name for n in range(1, 100) if (name := plain if n == 1 else f"{plain}_{n}") not in taken)


def _condition(part: GraphPart, made: Made) -> list[StepCondition]:
    """The condition that the words of the part put on the facts of this step, if they do."""
    if made.tool.name == CHOOSE:
        return [StepCondition(made, '{step}.first.choice == "yes"')]
    return [*find_conditions(ADDRESS.sub("", part.text), [made], ())][:1]


def _texts(value: object) -> Iterator[str]:
    """The texts inside a JSON value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    else:
        yield str(value)


def _is_told(wanted: str, told: Sequence[str]) -> bool:
    """Whether the texts have this value; places such as `{name}` in it may have become references."""
    return all(any(piece in text for text in told) for piece in PLACE.split(wanted) if piece.strip())
