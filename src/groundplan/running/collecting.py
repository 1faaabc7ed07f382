"""The outcomes of all steps, made into one Facts."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.contracts.agent import AgentContract, Capabilities, agent
from groundplan.contracts.facts import Complete, Facts, Failure, State, StepFacts
from groundplan.contracts.plan import CheckedPlan
from groundplan.running.outcome import Outcome
from groundplan.running.readiness import covered


@agent(
    AgentContract(
        id="context_synthesis",
        version="1.0.0",
        needs=("outcomes",),
        gives=("facts.groups", "facts.tables", "facts.coverage", "facts.sources"),
        after=("retrieval_planner",),
        capabilities=Capabilities(parallel=False, retry=True, needs_model=False, deterministic=True, expected_ms=1),
    )
)
def collect(run: str, plan: CheckedPlan, outcomes: Mapping[str, Outcome]) -> Facts:
    """Facts in plan order; steps that gave none are listed with the reason."""
    finished = [o.facts for s in plan.steps if (o := outcomes[s.id]).facts is not None]
    seen = [facts for facts in finished if facts.step in plan.ends or facts.shown or facts.chart]
    return Facts(
        run=run,
        found=any(facts.found for facts in seen),
        items=tuple(item for facts in finished for item in facts.items),
        groups=tuple(group for facts in seen for group in facts.groups),
        tables={facts.step: facts.table for facts in seen if facts.table and not (facts.chart or facts.groups)},
        charts={facts.step: facts.chart for facts in seen if facts.chart},
        files=tuple(file for facts in finished for file in facts.files),
        coverage=covered(plan, outcomes),
        sources=tuple({cited.id: cited for facts in seen for cited in facts.sources}.values()),
        state=_state(finished),
        repairs=plan.repairs,
        failures=tuple(
            Failure(step=step.id, status=outcome.status, issue=outcome.issue)
            for step in plan.steps
            if (outcome := outcomes[step.id]).status != "finished"
        ),
    )


def _state(finished: list[StepFacts]) -> State:
    """The whole is only as complete as its least complete part."""
    return next((facts.state for facts in finished if facts.state.kind != "complete"), Complete())
