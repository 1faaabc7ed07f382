"""The gate: runs every rule, and creates a `CheckedPlan` only if none finds an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from groundplan.catalog.catalog import Catalog
from groundplan.checking.draft import Draft
from groundplan.checking.named_metrics import write_out
from groundplan.checking.parsing import parse
from groundplan.checking.repair import repair
from groundplan.checking.rules import (
    access,
    conditions,
    coverage,
    each,
    expressions,
    filters,
    flow,
    goals,
    limits,
    meaning,
    names,
    references,
    shape,
    types,
)
from groundplan.contracts.asks import all_requirements, cited_as, part_of, place_of
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Binding, CheckedPlan, Coverage, Plan, Step
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Passed, Refused, Verdict

Rule = Callable[[Draft], Iterator[Issue]]

RULES: tuple[Rule, ...] = (
    *shape.RULES,
    *names.RULES,
    *types.RULES,
    *expressions.RULES,
    *conditions.RULES,
    *references.RULES,
    *coverage.RULES,
    *filters.RULES,
    *meaning.RULES,
    *goals.RULES,
    *each.RULES,
    *flow.RULES,
    *access.RULES,
    *limits.RULES,
)

FAMILIES = {  # rule families whose name differs from the module's
    "conditions": "types",
    "expressions": "types",
    "filters": "coverage",
    "goals": "coverage",
    "references": "types",
}


def _code(rule: Rule) -> str:
    module = rule.__module__.rsplit(".", 1)[1]
    return f"{FAMILIES.get(module, module)}/{rule.__name__.replace('_', '-')}"


CODES: dict[str, Rule] = {_code(rule): rule for rule in RULES}
"""All rules by code; the code is the rule's family and name."""

MOST_ISSUES = 100
UNMET = ("coverage/", "meaning/")  # the families that say which requirement a plan does not meet


def check(
    plan: Plan,
    reading: Reading,
    catalog: Catalog,
    schemas: Mapping[str, SourceSchema] | None = None,
    bounds: Bounds = NO_BOUNDS,
) -> Verdict:
    """Make safe repairs, run every rule, and pass or refuse the plan. `bounds` is what the caller allows."""
    known = schemas or {}
    if reading.also:
        return _check_each_ask(plan, reading, catalog, known, bounds)
    plan, reading = write_out(plan, reading, known)
    repaired, repairs = repair(plan, catalog, known)
    draft = Draft(repaired, reading, catalog, known, bounds)
    issues = tuple(_first(MOST_ISSUES, (issue for rule in RULES for issue in rule(draft))))
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        return _refused(issues)
    return Passed(plan=_checked(draft, repairs), issues=issues)


def _check_each_ask(
    plan: Plan, reading: Reading, catalog: Catalog, schemas: Mapping[str, SourceSchema], bounds: Bounds
) -> Verdict:
    """The plan passes if it is made of plans that share no step, and each passes for its ask."""
    passed: list[Passed] = []
    issues: list[Issue] = []
    for place, ask in enumerate(reading.asks):
        part = part_of(plan, place)
        verdict = check(part, ask, catalog, schemas, bounds) if part else _unplanned(ask)
        issues += verdict.issues
        if isinstance(verdict, Passed):
            passed.append(verdict)
    issues += [_for_no_ask(step) for step in plan.steps if place_of(step.id) >= len(reading.asks)]
    if any(issue.severity == "error" for issue in issues):
        return _refused(tuple(issues[:MOST_ISSUES]))
    steps = tuple(
        step.model_copy(update={"satisfies": tuple(cited_as(id_, place) for id_ in step.satisfies)})
        for place, one in enumerate(passed)
        for step in one.plan.steps
    )
    whole = reading.model_copy(update={"requirements": all_requirements(reading), "also": ()})
    draft = Draft(plan.model_copy(update={"steps": steps}), whole, catalog, schemas, bounds)
    repairs = tuple(repair for one in passed for repair in one.plan.repairs)
    return Passed(plan=_checked(draft, repairs), issues=tuple(issues))


def _unplanned(ask: Reading) -> Refused:
    """No step is for what is asked for."""
    why = "no step of the plan is for it"
    return _refused(tuple(coverage.unmet(requirement, "coverage/missing", why) for requirement in ask.requirements))


def _for_no_ask(step: Step) -> Issue:
    problem = f"step {step.id!r} is for something that the question does not ask for"
    return Issue(code="coverage/unjustified", step=step.id, problem=problem, hint="remove the step")


def check_text(text: str | bytes, catalog: Catalog, schemas: Mapping[str, SourceSchema] | None = None) -> Verdict:
    """Parse and check a proposal in JSON."""
    proposal = parse(text)
    if isinstance(proposal, Refused):
        return proposal
    return check(proposal.plan, proposal.reading, catalog, schemas)


def _first(most: int, issues: Iterator[Issue]) -> Iterator[Issue]:
    return (issue for issue, _ in zip(issues, range(most), strict=False))


def _refused(issues: tuple[Issue, ...]) -> Refused:
    return Refused(
        issues=issues,
        missing=tuple(dict.fromkeys(i.requirement for i in issues if i.requirement and i.code.startswith(UNMET))),
        remove=tuple(
            dict.fromkeys(
                i.step
                for i in issues
                if i.step
                and i.code
                in ("coverage/unjustified", "coverage/unasked", "access/unasked-write", "access/forbidden-tool")
            )
        ),
    )


def _checked(draft: Draft, repairs: tuple[Repair, ...]) -> CheckedPlan:
    coverage_found = tuple(
        Coverage(
            requirement=requirement.id,
            steps=tuple(step.id for step, _ in draft.citing(requirement.id)),
            ok=True,
        )
        for requirement in draft.reading.requirements
    )
    return CheckedPlan.model_validate(
        {
            **{name: getattr(draft.plan, name) for name in Plan.model_fields},
            "requirements": draft.reading.requirements,
            "coverage": coverage_found,
            "repairs": repairs,
            "tools": {tool.name: draft.catalog.tools[tool.name] for _, _, tool in draft.tool_steps()},
            "inputs": {step.id: dict(_bindings(draft, step, tool)) for _, step, tool in draft.tool_steps()},
            "ends": tuple(step.id for step in draft.wiring.ends),
            "writes": tuple(step.id for _, step, tool in draft.tool_steps() if tool.effect == "write"),
            "catalog_version": draft.catalog.version,
            "schema_hash": "-".join(draft.schemas[name].hash for name in sorted(draft.schemas)) or None,
        },
        context={"made_by": CheckedPlan.MADE_BY},
    )


def _bindings(draft: Draft, step: Step, tool: Tool) -> Iterator[tuple[str, Binding]]:
    for port, origin in draft.wiring.inputs(step, tool).items():
        yield port, Binding(table=origin) if isinstance(origin, str) else Binding(steps=origin)
