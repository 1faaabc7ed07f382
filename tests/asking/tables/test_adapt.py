"""Plans edited by a model: whatever it says, a plan or the reason why not, and only the gate lets one run."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tables import plan as rules
from groundplan.asking.tables.adapt.changes import Adaptation, apply
from groundplan.asking.tables.adapt.plan import Unadapted, propose
from groundplan.asking.tables.route import read_plain
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Reading, Requirement
from groundplan.contracts.shortlist import Candidate, Shortlist
from groundplan.contracts.verdict import Passed, Refused
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from tests.asking.tables.described import Known
from tests.llm.scripted import PROBED, Behaviour, Scripted, hangs_up, says, scripted, sends

WALKTHROUGH = "get revenue totals by region and product type over time"
TOOLS = (
    *("parse_datetime", "filter_rows", "aggregate", "plot_line", "show_table", "save_table", "compare_periods"),
    *("segment_metric", "time_series_features", "share_of_total", "rank_rows", "detect_anomalies", "plot_bar"),
)
SHORTLIST = Shortlist(tools=tuple(Candidate(tool=name, why="retrieved") for name in TOOLS))
NOTHING = '{"changes": []}'
LINE = {
    "op": "add",
    "satisfies": ["output:chart", "analysis:trend"],
    "tool": "plot_line",
    "id": "added1",
    "needs": ["totals"],
    "params": {"x": "date", "y": "revenue", "color": "product_category", "facet": "region", "mark": None},
    "rationale": "a trend is seen in a line",
}


def reading_of(question: str, known: Known, *more: Requirement) -> Reading:
    found = read_plain(question, *known, today=date(2026, 1, 15)).answer
    assert isinstance(found, Reading), found.text
    return found.model_copy(update={"requirements": (*found.requirements, *more)})


def analysis(label: str) -> Requirement:
    value = {"kind": "analysis", "label": label}
    return Requirement.model_validate({"id": f"analysis:{label}", "value": value, "evidence": {"text": label}})


def without(plan: Plan, *ids: str) -> Plan:
    return plan.model_copy(update={"steps": tuple(step for step in plan.steps if step.id not in ids)})


def changes(*said: dict[str, Any]) -> str:
    return json.dumps({"changes": said})


class Session:
    """A model that answers as scripted, asked about one reading again and again."""

    def __init__(self, reading: Reading, known: Known, catalog: Catalog) -> None:
        self.reading, self.schema, self.catalog = reading, known[0], catalog
        self.base = rules.propose(reading, known[0])

    def check(self, plan: Plan) -> Passed | Refused:
        return check(plan, self.reading, self.catalog, {"tables": self.schema})

    def adapt(self, base: Plan, *script: Behaviour, attempt: int = 1, **told: Any) -> tuple[Plan | Unadapted, Scripted]:
        """What comes of the base plan, and what the server saw."""

        async def run() -> tuple[Plan | Unadapted, Scripted]:
            async with scripted(*script) as server, Model.open(server.endpoint()) as model:
                return await self.propose(base, model, attempt=attempt, **told), server

        return asyncio.run(run())

    def adapt_each(self, base: Plan, script: Sequence[Behaviour]) -> list[Plan | Unadapted]:
        """The same base plan again and again, with another answer each time."""

        async def run() -> list[Plan | Unadapted]:
            async with scripted(says(PROBED), *script) as server, Model.open(server.endpoint()) as model:
                return [await self.propose(base, model, attempt=1) for _ in script]

        return asyncio.run(run())

    async def propose(self, base: Plan, model: Model, **told: Any) -> Plan | Unadapted:
        verdict = self.check(base)
        refused = verdict if isinstance(verdict, Refused) else None
        calls = Calls(Cascade((model,)), seconds=20)
        shared = (base, self.reading, SHORTLIST, self.catalog, self.schema, calls)
        return await propose(*shared, refused=refused, **told)

    def adapted(self, base: Plan, *said: dict[str, Any], **told: Any) -> Plan:
        plan, _ = self.adapt(base, says(PROBED), says(changes(*said)), **told)
        assert isinstance(plan, Plan), plan.problem
        return plan


@pytest.fixture(scope="module")
def walkthrough(sales: Known, catalog: Catalog) -> Session:
    return Session(reading_of(WALKTHROUGH, sales), sales, catalog)


def prompt_of(server: Scripted) -> str:
    return str(server.requests[-1]["messages"][0]["content"])


def schema_of(server: Scripted) -> Any:
    return server.requests[-1]["response_format"]["json_schema"]["schema"]


@pytest.mark.requirement("R19", "R27")
def test_the_walkthrough_needs_no_changes_and_says_how_it_came_to_be(walkthrough: Session) -> None:
    plan, server = walkthrough.adapt(walkthrough.base, says(PROBED), says(NOTHING))
    assert isinstance(plan, Plan)
    assert (plan.strategy, plan.steps, plan.confidence) == ("adapt", walkthrough.base.steps, 0.9)
    assert isinstance(walkthrough.check(plan), Passed)
    made = plan.provenance
    assert (made.template, made.model, made.attempts, made.tokens) == ("time_series", "scripted", 1, 20)
    assert made.log == ("attempt 1: no changes",)
    assert made.duration_ms > 0
    assert len(prompt_of(server)) < 450 * 4


@pytest.mark.requirement("R19", "R32")
def test_a_missing_chart_is_added_behind_the_totals(walkthrough: Session) -> None:
    plan = walkthrough.adapted(without(walkthrough.base, "chart"), LINE)
    verdict = walkthrough.check(plan)
    assert isinstance(verdict, Passed)
    assert (plan.steps[-1].id, plan.steps[-1].needs) == ("added1", ("totals",))
    assert plan.provenance.reasoning == "a trend is seen in a line"
    served = {item.requirement for item in verdict.plan.coverage if "added1" in item.steps}
    assert served == {"output:chart", "analysis:trend"}


@pytest.mark.requirement("R19", "R33")
def test_a_step_that_nobody_asked_for_is_named_and_removed(walkthrough: Session) -> None:
    params = {"column": "revenue"}
    extra = Step(id="odd", tool="detect_anomalies", params=params, needs=("totals",), satisfies=("metric:revenue",))
    base = walkthrough.base.model_copy(update={"steps": (*walkthrough.base.steps, extra)})
    plan, server = walkthrough.adapt(base, says(PROBED), says(changes({"op": "remove", "step": "odd"})))
    assert "Remove unjustified steps: odd" in prompt_of(server)
    assert isinstance(plan, Plan)
    assert plan.steps == walkthrough.base.steps
    assert isinstance(walkthrough.check(plan), Passed)


@pytest.mark.requirement("R21", "R33")
def test_the_second_attempt_is_told_what_the_gate_said_of_the_first(walkthrough: Session) -> None:
    crowded = {**LINE, "params": {"x": "date", "y": "revenue", "color": None, "facet": None, "mark": None}}
    base = without(walkthrough.base, "chart")
    first, asked = walkthrough.adapt(base, says(PROBED), says(changes(crowded)))
    assert "Attempt 1. The check says:\nMissing coverage: output=[chart], analysis=[trend]" in prompt_of(asked)
    assert isinstance(first, Plan)
    better = {"op": "modify", "step": "added1", "satisfies": LINE["satisfies"], "params": LINE["params"]}
    second, asked = walkthrough.adapt(first, says(PROBED), says(changes(better)), attempt=2)
    assert "Attempt 2. The check says:\nsteps.3.params" in prompt_of(asked)
    assert "product_category, region" in prompt_of(asked).split("The check says:")[1]
    assert isinstance(second, Plan)
    assert isinstance(walkthrough.check(second), Passed)
    assert second.provenance.log == ("attempt 1: add added1 (plot_line)", "attempt 2: modify added1")
    assert (second.provenance.tokens, second.confidence) == (2 * first.provenance.tokens, 0.7)


@pytest.mark.requirement("R30")
def test_a_plan_that_was_marked_good_is_shown_as_an_example(walkthrough: Session, sales: Known) -> None:
    example = rules.propose(reading_of("top 3 regions by cost", sales), sales[0])
    _, server = walkthrough.adapt(walkthrough.base, says(PROBED), says(NOTHING), example=example)
    assert "ranked = rank_rows(totals, by=cost, direction=top, limit=3)" in prompt_of(server)


@pytest.mark.requirement("R14", "R19")
def test_only_tools_for_what_is_missing_are_offered_and_none_that_nobody_asked_for(
    walkthrough: Session, sales: Known, catalog: Catalog
) -> None:
    def tools(session: Session, base: Plan) -> set[str]:
        _, server = session.adapt(base, says(PROBED), says(NOTHING))
        said = [branch["properties"].get("tool", {"enum": []})["enum"] for branch in offered(schema_of(server))]
        return {name for names in said for name in names}

    assert tools(walkthrough, walkthrough.base) == set()
    assert tools(walkthrough, without(walkthrough.base, "chart")) == {"plot_line", "plot_bar", "time_series_features"}
    with_anomaly = Session(reading_of("monthly revenue over time", sales, analysis("anomaly")), sales, catalog)
    plain = Session(reading_of("monthly revenue over time", sales), sales, catalog)
    assert tools(with_anomaly, plain.base) == {"detect_anomalies"}


@pytest.mark.requirement("R26")
def test_code_names_new_columns_cuts_time_and_gives_the_table(sales: Known, catalog: Catalog) -> None:
    reading = reading_of("average revenue by month and region", sales)
    session = Session(reading, sales, catalog)
    totals = next(step for step in session.base.steps if step.tool == "aggregate")
    metrics = [{"column": "revenue", "function": "median"}, {"column": None, "function": "count"}]
    cites = ["metric:revenue", "group_by:region", "time:date"]
    again = {
        **{"op": "add", "satisfies": cites, "tool": "aggregate", "id": "added1", "needs": [], "rationale": ""},
        "params": {"group_by": ["date", "region"], "metrics": metrics},
    }
    same = {"op": "modify", "step": totals.id, "satisfies": cites}
    same["params"] = {"group_by": ["region"], "metrics": [{"column": "revenue", "function": "mean"}]}
    plan = session.adapted(without(session.base, "chart", "table"), same, again)
    found = {step.id: step.model_dump()["params"] for step in plan.steps}
    assert found[totals.id]["metrics"] == [{"column": "revenue", "function": "mean", "as": "average revenue"}]
    assert [metric["as"] for metric in found["added1"]["metrics"]] == ["median revenue", "count"]
    assert (found["added1"]["grain"], found["added1"]["table"]) == ("month", "sales")
    assert "column" not in found["added1"]["metrics"][1]


def test_a_modified_step_keeps_the_settings_that_were_not_on_offer(sales: Known, catalog: Catalog) -> None:
    session = Session(reading_of("total revenue by region", sales), sales, catalog)
    other = {"op": "modify", "step": "table", "satisfies": ["output:table"], "params": {"order_by": ["region"]}}
    plan = session.adapted(session.base, other)
    assert plan.steps[-1].model_dump()["params"] == {"order_by": ["region"], "descending": True}


def offered(schema: Any) -> list[Any]:
    return list(schema["properties"]["changes"]["items"]["anyOf"])


HOSTILE = {
    "a tool outside the enum": changes({**LINE, "tool": "run_shell"}),
    "a column outside the enum": changes({**LINE, "params": {**LINE["params"], "y": "secrets"}}),
    "a requirement outside the enum": changes({**LINE, "satisfies": ["analysis:anything"]}),
    "sql in params": changes({**LINE, "params": {**LINE["params"], "y": "revenue; DROP TABLE sales --"}}),
    "a param of its own": changes({**LINE, "params": {**LINE["params"], "sql": "select 1"}}),
    "the same id twice": changes(LINE, LINE),
    "a step that needs itself": changes({**LINE, "needs": ["added1"]}),
    "a circle": changes({**LINE, "needs": ["added2"]}, {**LINE, "id": "added2", "needs": ["added1"]}),
    "the id of another step": changes({**LINE, "id": "totals"}),
    "everything removed": changes(*({"op": "remove", "step": id_} for id_ in ("dates", "totals", "table"))),
    "the totals removed": changes({"op": "remove", "step": "totals"}),
    "too many changes": changes(*[{"op": "remove", "step": "table"}] * 9),
    "deep nesting": '{"changes": ' + "[" * 5_000 + "]" * 5_000 + "}",
    "five megabytes": '{"changes": [' + '"x", ' * 1_000_000 + '"x"]}',
    "a wide list": '{"changes": [' + "1, " * 2_000 + "1]}",
    "prose": "Sure! Here is the plan you asked for.",
    "nothing": "",
    "a list": "[]",
    "a key twice": '{"changes": [], "changes": [1]}',
}


@pytest.mark.requirement("R35")
@pytest.mark.parametrize("probed", [PROBED, "Hello there."], ids=["enforced", "not enforced"])
@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_model_gets_no_plan_past_the_gate(said: str, probed: str, walkthrough: Session) -> None:
    adapted, _ = walkthrough.adapt(without(walkthrough.base, "chart"), says(probed), says(said))
    if isinstance(adapted, Unadapted):
        assert adapted.problem
    else:
        assert isinstance(walkthrough.check(adapted), Refused)


@pytest.mark.parametrize("behaviour", [sends(500, "broken"), hangs_up], ids=["500", "hangs up"])
def test_a_server_that_is_gone_is_a_reason_and_no_exception(behaviour: Behaviour, walkthrough: Session) -> None:
    adapted, _ = walkthrough.adapt(walkthrough.base, behaviour)
    assert isinstance(adapted, Unadapted)
    assert "scripted" in adapted.problem


ids = st.sampled_from(["a", "b", "c", "added1", "x"])
listed = st.lists(ids, max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
params = st.dictionaries(st.text(max_size=5), values, max_size=3)
steps = st.builds(
    dict, id=ids, tool=st.sampled_from(["aggregate", "none"]), needs=listed, satisfies=listed, params=params
)
adaptations = st.lists(
    st.builds(
        dict,
        op=st.just("add"),
        id=ids,
        tool=st.text(min_size=1, max_size=5),
        needs=listed,
        satisfies=listed,
        params=params,
    )
    | st.builds(dict, op=st.just("modify"), step=ids, satisfies=listed, params=params)
    | st.builds(dict, op=st.just("remove"), step=ids),
    max_size=8,
).map(lambda said: Adaptation.model_validate({"changes": said}))
plans = st.lists(steps, min_size=1, max_size=4).map(lambda s: Plan.model_validate({"strategy": "hand", "steps": s}))


@given(base=plans, adaptation=adaptations)
def test_applying_never_raises_and_leaves_no_need_for_what_was_removed(base: Plan, adaptation: Adaptation) -> None:
    applied = apply(base, adaptation)
    if isinstance(applied, Unadapted):
        assert applied.problem
        return
    assert Plan.model_validate_json(applied.model_dump_json()) == applied
    removed = {change.step for change in adaptation.changes if change.op == "remove"}
    gone = removed - {step.id for step in applied.steps}
    before = {need for step in base.steps for need in step.needs}
    added = {need for change in adaptation.changes if change.op == "add" for need in change.needs}
    assert not (before - added) & gone & {need for step in applied.steps for need in step.needs}


@given(base=plans)
def test_no_changes_leave_the_plan_as_it_is(base: Plan) -> None:
    assert apply(base, Adaptation(changes=())) == base


@given(base=plans.filter(lambda plan: all("added1" not in (step.id, *step.needs) for step in plan.steps)))
def test_a_step_added_and_removed_again_leaves_no_trace(base: Plan) -> None:
    both = {"changes": [{**LINE, "needs": []}, {"op": "remove", "step": "added1"}]}
    assert apply(base, Adaptation.model_validate(both)) == base


def any_of(schema: Any, dice: random.Random) -> Any:
    """Something that fits the schema."""
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if "anyOf" in schema:
        return any_of(dice.choice(schema["anyOf"]), dice)
    if schema["type"] == "array":
        least = schema.get("minItems", 0)
        return [any_of(schema["items"], dice) for _ in range(dice.randint(least, min(schema["maxItems"], least + 2)))]
    if schema["type"] == "object":
        return {name: any_of(inner, dice) for name, inner in schema["properties"].items()}
    return {"boolean": dice.random() < 0.5, "null": None, "string": "because"}[schema["type"]]


def broken(value: Any, dice: random.Random) -> Any:
    """The same with something in it that no schema allows, or that names what does not exist."""
    junk = ["select 1", -1, None, [], {"op": "add"}, "dates", "added1", "metric:revenue", "plot_line", {}, "x" * 500]
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        return {**value, key: broken(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        place = dice.randrange(len(value))
        return [*value[:place], broken(value[place], dice), *value[place:][: dice.randint(0, 2)]]
    return dice.choice(junk)


def assert_justified(plan: Plan, session: Session) -> None:
    """By another route than the gate's: from the catalog's map and the steps' needs alone."""
    labels = {requirement.id: requirement.label for requirement in session.reading.requirements}

    def serves(step: Step, id_: str) -> bool:
        able = session.catalog.tools[str(step.tool)].capabilities
        return bool(session.catalog.serving(labels[id_]) & set(able))

    def reached(step: Step) -> list[Step]:
        return [step, *(later for user in plan.steps if step.id in user.needs for later in reached(user))]

    for id_ in labels:
        assert any(id_ in step.satisfies and serves(step, id_) for step in plan.steps)
    for step in plan.steps:
        assert any(id_ in user.satisfies and serves(user, id_) for user in reached(step) for id_ in step.satisfies)


@pytest.mark.requirement("R19", "R32", "R35")
def test_500_random_answers_never_raise_and_what_passes_the_gate_is_justified(walkthrough: Session) -> None:
    base, dice = without(walkthrough.base, "chart"), random.Random(20)
    _, server = walkthrough.adapt(base, says(PROBED), says(NOTHING))
    schema = schema_of(server)
    answers = []
    for number in range(500):
        answer = any_of(schema, dice)
        if number % 2:
            answer["changes"] = [LINE, *answer["changes"]][: dice.randint(1, 2)]
        answers.append(broken(answer, dice) if number % 5 == 0 else answer)
    ended: Counter[str] = Counter()
    for adapted in walkthrough.adapt_each(base, [says(json.dumps(answer)) for answer in answers]):
        verdict = walkthrough.check(adapted) if isinstance(adapted, Plan) else adapted
        ended[type(verdict).__name__] += 1
        if isinstance(verdict, Passed):
            assert_justified(verdict.plan, walkthrough)
    assert sum(ended.values()) == 500
    assert min(ended[name] for name in ("Passed", "Refused", "Unadapted")) >= 20, ended
