"""Plans: a planner proposes one, the gate checks it, the runner runs it."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationInfo, model_validator

from groundplan.contracts.analysis import TaskAnalysis
from groundplan.contracts.contract import Contract, JsonObject, Name, StepId, Text
from groundplan.contracts.issue import Repair
from groundplan.contracts.reading import Reading, RenderStyle, Requirement
from groundplan.contracts.tool import Tool

Strategy = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
"""The planner that made a plan, by name."""

BY_HAND = "hand"  # the strategy of a plan that a person wrote

ROWS_WITHOUT_APPROVAL = 1_000_000_000  # that a plan may read, unless the settings say otherwise
MOST_CHARACTERS = 2_000  # in a text field
INPUT = "input"  # `{"$from": "input.email"}` takes a value that is given when the plan runs; no step has this id


class Route(Contract):
    """The target of a router if the condition holds; conditions are CEL over the facts of earlier steps."""

    when: Annotated[str, Field(min_length=1, max_length=500)]
    to: StepId


class Step(Contract):
    id: StepId
    kind: Literal["tool", "llm", "agent", "router"] = "tool"
    tool: Name | None = None
    params: JsonObject = {}
    needs: Annotated[tuple[StepId, ...], Field(max_length=32)] = ()  # earlier steps, in argument order
    satisfies: Annotated[tuple[str, ...], Field(max_length=64)] = ()  # requirement ids: why this step is here
    rationale: Text = ""
    routes: Annotated[tuple[Route, ...], Field(max_length=32)] = ()  # routers only: the first that holds wins
    default: StepId | None = None  # routers only: where to go when no route holds
    for_each: StepId | None = None  # run once for each item of this step's list; references to it take the item


class Fallback(Contract):
    """Steps that run only if the others found too little."""

    when: Annotated[tuple[Literal["NO_RESULTS", "LOW_COVERAGE", "FAILED"], ...], Field(min_length=1)]
    steps: Annotated[tuple[StepId, ...], Field(min_length=1)]


class Limits(Contract):
    rows: Annotated[int, Field(ge=1, le=100_000)] = 30_000  # shown or drawn by one step
    items: Annotated[int, Field(ge=1, le=1_000)] = 50
    groups: Annotated[int, Field(ge=1, le=100)] = 12
    each: Annotated[int, Field(ge=1, le=500)] = 20  # items of one `for_each`; if there are more, it runs for none
    step_seconds: Annotated[float, Field(gt=0, le=600)] = 60
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 120


class Provenance(Contract):
    """How the plan came to be."""

    template: str | None = None
    model: str | None = None
    attempts: int = 0
    tokens: int = 0
    duration_ms: float = 0
    reasoning: Text = ""
    log: tuple[str, ...] = ()
    analysis: TaskAnalysis | None = None  # of a task, before it was planned


class WorkflowInput(Contract):
    """A value that a plan takes anew each time it runs."""

    name: StepId
    type: Literal["string", "number", "integer", "boolean"] = "string"
    means: Text = ""


class Plan(Contract):
    strategy: Strategy
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=100)]
    fallback: Fallback | None = None
    limits: Limits = Limits()
    render: RenderStyle = "TABLE"
    answer: Text = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    provenance: Provenance = Provenance()
    takes: Annotated[tuple[WorkflowInput, ...], Field(max_length=20)] = ()  # none are left when it runs

    @property
    def is_by_hand(self) -> bool:
        """True if a person wrote the plan: what a person wrote needs no words of a task."""
        return self.strategy == BY_HAND

    @property
    def reasons(self) -> str:
        """The rationale of each step."""
        return "; ".join(f"{step.id}: {step.rationale}" for step in self.steps if step.rationale)[:MOST_CHARACTERS]

    def most_items(self, step: Step) -> int:
        """How many items of a step's list the answer shows at most."""
        limit = step.params.get("limit")
        return min(limit, self.limits.items) if isinstance(limit, int) else self.limits.items

    @property
    def fingerprint(self) -> str:
        """A hash that is equal for two plans exactly when they do the same.

        Fields that came later count only if they are set, so that runs of earlier versions can be resumed.
        """
        unset: dict[str, Any] = {
            "steps": {place: {"for_each"} for place, step in enumerate(self.steps) if step.for_each is None},
            "limits": {"each"} if self.limits.each == Limits().each else set(),
        }
        work = self.model_dump_json(include={"steps", "fallback", "limits"}, exclude=unset)
        return hashlib.sha256(work.encode()).hexdigest()[:16]


class Proposal(Contract):
    """A plan with the reading it answers: the input of `groundplan check`."""

    reading: Reading
    plan: Plan


class Coverage(Contract):
    requirement: str
    steps: tuple[str, ...]
    ok: bool


class Binding(Contract):
    """What fills an input: a table of the source, or the output of whichever of these steps ran."""

    table: Name | None = None
    steps: tuple[StepId, ...] = ()


class CheckedPlan(Plan):
    """A plan that passed the gate. Only `checking.gate` can create one, and it cannot be changed or copied.

    It contains everything the runner needs, so what runs is exactly what was checked. It is never loaded from storage:
    a stored plan passes the gate again.
    """

    MADE_BY: ClassVar[str] = "groundplan.checking.gate"

    requirements: tuple[Requirement, ...]
    coverage: tuple[Coverage, ...]
    repairs: tuple[Repair, ...] = ()
    tools: dict[str, Tool]  # the tools that the steps call, by name
    inputs: dict[StepId, dict[str, Binding]]  # by step and port
    ends: tuple[StepId, ...]  # steps whose output no other step uses: the answer shows them
    writes: tuple[StepId, ...] = ()  # steps with an effect, which need approval
    catalog_version: str
    schema_hash: str | None

    @property
    def unchecked(self) -> Plan:
        """The plan alone: to run it again, it must pass the gate again."""
        return Plan.model_validate({name: getattr(self, name) for name in Plan.model_fields})

    @property
    def changes_each(self) -> tuple[StepId, ...]:
        """The steps that change each item of a list: which items is known only once the list has been read."""
        return tuple(step.id for step in self.steps if step.for_each and step.id in self.writes)

    @model_validator(mode="wrap")
    @classmethod
    def _only_from_the_gate(cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if isinstance(data, cls):
            return data
        if (info.context or {}).get("made_by") != cls.MADE_BY:
            raise ValueError("only the gate makes a CheckedPlan: call checking.gate.check")
        return handler(data)

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:  # type: ignore[override]
        raise TypeError("only the gate makes a CheckedPlan: call checking.gate.check")

    def model_copy(self, **_: Any) -> Self:
        raise TypeError("a CheckedPlan cannot be changed: change the Plan and check it again")
