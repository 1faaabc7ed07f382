"""Retrieval planned by rules: the examples of its specification field by field, and what holds for every plan.

The ten groups of that specification come in its order: initialisation, preconditions, plans of each intent, priority,
query strings, low confidence, several intents, isolation, audit trail, idempotency.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from groundplan.asking.lists.plan import load_rules, plan_retrieval, structure_reasoning
from groundplan.asking.lists.read import detect_intents, load_tracker_words
from groundplan.contracts.contract import Contract
from groundplan.contracts.retrieval import Hypothesis, Reasoning, Retrieval, TrackerIntent
from groundplan.errors import CatalogError
from groundplan.telemetry.audit import AgentBroke, AgentContract, Capabilities, Execution
from groundplan.text.entities import build_registry

ROOT = Path(__file__).parents[3]
RULES = load_rules()
KNOWN = ("query_commits", "query_issues", "query_analytics", "query_status", "unknown")


def reasoned(*intents: tuple[str, float], **entities: list[str]) -> Reasoning:
    """As intent detection and reasoning structure leave it."""
    detected = [{"type": name, "confidence": confidence} for name, confidence in intents]
    return structure_reasoning(Reasoning.model_validate({"intents": detected, "entities": entities}), RULES)


def planned(*intents: tuple[str, float], **entities: list[str]) -> Retrieval:
    return plan_retrieval(reasoned(*intents, **entities), RULES)


def brief(retrieval: Retrieval) -> list[tuple[str, tuple[str, ...], int]]:
    return [(plan.description, plan.sources, plan.priority) for plan in retrieval.plans]


COMMIT_DATA = ("Retrieve commit data from GitLab", ("gitlab",), 10)
ISSUE_DATA = ("Retrieve issue data from YouTrack", ("youtrack",), 10)
COMMIT_METRICS = ("Retrieve commit metrics from GitLab", ("gitlab",), 9)
ISSUE_METRICS = ("Retrieve issue metrics from YouTrack", ("youtrack",), 9)
RECENT_COMMITS = ("Retrieve recent commits for activity status", ("gitlab",), 8)
OPEN_ISSUES = ("Retrieve open issues for health status", ("youtrack",), 8)


@pytest.mark.requirement("R63")
def test_the_planner_declares_its_metadata_contract_and_capabilities() -> None:
    assert plan_retrieval.contract == AgentContract(
        id="retrieval_planner",
        version="1.0.0",
        needs=("reasoning.intents", "reasoning.hypotheses"),
        gives=("retrieval.plans", "retrieval.queries"),
        after=("intent_detection", "reasoning_structure"),
        capabilities=Capabilities(parallel=False, retry=True, needs_model=False, deterministic=True, expected_ms=80),
    )


@pytest.mark.requirement("R63")
def test_what_an_agent_needs_is_given_by_those_it_comes_after() -> None:
    chain = {found.contract.id: found.contract for found in (detect_intents, structure_reasoning, plan_retrieval)}
    for contract in chain.values():
        given = {place for name in contract.after for place in chain[name].gives}
        assert given >= {place for place in contract.needs if "." in place}


@pytest.mark.requirement("R63")
def test_missing_intents_are_named() -> None:
    alone = Reasoning(hypotheses=(Hypothesis(id="h0", description="Retrieve commit data"),))
    with pytest.raises(AgentBroke, match=r"no intents found in context.*run intent_detection and reasoning_structure"):
        plan_retrieval(alone, RULES)


@pytest.mark.requirement("R63")
def test_missing_hypotheses_are_named() -> None:
    alone = Reasoning(intents=(TrackerIntent(type="query_commits", confidence=0.9),))
    with pytest.raises(AgentBroke, match="no hypotheses found in context"):
        plan_retrieval(alone, RULES)


@pytest.mark.requirement("R23")
def test_example_of_query_commits() -> None:
    retrieval = planned(("query_commits", 0.9), projects=["project1", "project2"], dates=["last week"])
    example = """{"id": "plan0", "description": "Retrieve commit data from GitLab", "sources": ["gitlab"],
      "filters": {"projects": ["project1", "project2"], "dates": ["last week"]}, "priority": 10}"""
    assert printed(retrieval.plans[0]) == on_one_line(example)


@pytest.mark.requirement("R23")
def test_example_of_query_issues() -> None:
    entities = {"projects": ["proj-123"], "dates": ["this month"], "statuses": ["open", "in-progress"]}
    example = """{"id": "plan0", "description": "Retrieve issue data from YouTrack", "sources": ["youtrack"],
      "filters": {"projects": ["proj-123"], "dates": ["this month"], "statuses": ["open", "in-progress"]},
      "priority": 10}"""
    assert printed(planned(("query_issues", 0.9), **entities).plans[0]) == on_one_line(example)


@pytest.mark.requirement("R23")
def test_the_full_output_example_is_equal_key_by_key_and_in_its_order() -> None:
    retrieval = planned(("query_commits", 0.9), projects=["repo1"], dates=["last week"])
    example = """{
      "plans": [{"id": "plan0", "description": "Retrieve commit data from GitLab", "sources": ["gitlab"],
        "filters": {"projects": ["repo1"], "dates": ["last week"]}, "priority": 10}],
      "queries": [{"id": "plan0_query",
        "query_string": "Retrieve commit data from GitLab projects:repo1 dates:last week",
        "source": "gitlab", "filters": {"projects": ["repo1"], "dates": ["last week"]}}]}"""
    assert printed(retrieval) == on_one_line(example)


@pytest.mark.requirement("R23")
def test_usage_example_1_a_commit_query() -> None:
    reasoning = Reasoning.model_validate(
        {
            "intents": [{"type": "query_commits", "confidence": 0.9}],
            "hypotheses": [{"id": "h0", "description": "Retrieve commit data"}],
            "entities": {"projects": ["my-repo"], "dates": ["this week"]},
        }
    )
    retrieval = plan_retrieval(reasoning, RULES)
    assert brief(retrieval) == [COMMIT_DATA]
    [query] = retrieval.queries
    assert query.query_string == "Retrieve commit data from GitLab projects:my-repo dates:this week"


@pytest.mark.requirement("R23")
def test_usage_example_2_an_analytics_query() -> None:
    retrieval = planned(("query_analytics", 0.85))
    assert brief(retrieval) == [COMMIT_METRICS, ISSUE_METRICS]
    assert [(query.id, query.source) for query in retrieval.queries] == [
        ("plan0_query", "gitlab"),
        ("plan1_query", "youtrack"),
    ]


@pytest.mark.requirement("R23")
def test_usage_example_3_several_intents_of_one_priority_keep_their_order() -> None:
    assert brief(planned(("query_commits", 0.9), ("query_issues", 0.8))) == [COMMIT_DATA, ISSUE_DATA]
    assert brief(planned(("query_issues", 0.8), ("query_commits", 0.9))) == [ISSUE_DATA, COMMIT_DATA]


@pytest.mark.requirement("R23")
def test_a_status_without_entities_means_last_week_and_open_issues() -> None:
    retrieval = planned(("query_status", 0.9))
    assert brief(retrieval) == [RECENT_COMMITS, OPEN_ISSUES]
    assert [dict(plan.filters) for plan in retrieval.plans] == [
        {"dates": ("last week",)},
        {"statuses": ("open", "in-progress")},
    ]


@pytest.mark.requirement("R23")
def test_a_status_of_a_project_keeps_to_what_the_question_names() -> None:
    retrieval = planned(("query_status", 0.9), projects=["shop"], dates=["this month"], statuses=["closed"])
    assert [dict(plan.filters) for plan in retrieval.plans] == [
        {"projects": ("shop",), "dates": ("this month",)},
        {"projects": ("shop",), "statuses": ("closed",)},
    ]


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("intent", ["unknown", "query_weather"])
def test_an_unknown_intent_falls_back_to_the_generic_source(intent: str) -> None:
    [plan] = planned((intent, 0.5), providers=["openai"], projects=["shop"]).plans
    assert (plan.sources, plan.priority) == (("generic",), 5)
    assert list(plan.filters.items()) == [("projects", ("shop",)), ("providers", ("openai",))]


@pytest.mark.requirement("R23")
def test_plans_are_sorted_by_priority_and_numbered_in_that_order() -> None:
    mixed = [("unknown", 0.5), ("query_status", 0.9), ("query_analytics", 0.8), ("query_issues", 0.7)]
    retrieval = planned(*mixed, ("query_commits", 0.6))
    assert [plan.priority for plan in retrieval.plans] == [10, 10, 9, 9, 8, 8, 5]
    assert brief(retrieval)[:2] == [ISSUE_DATA, COMMIT_DATA]
    assert [plan.id for plan in retrieval.plans] == [f"plan{place}" for place in range(7)]
    assert [query.id for query in retrieval.queries] == [f"plan{place}_query" for place in range(7)]


def test_plans_out_of_order_cannot_be_made() -> None:
    retrieval = planned(("query_commits", 0.9), ("query_status", 0.9)).model_dump(mode="json")
    with pytest.raises(ValidationError, match="not sorted by priority"):
        Retrieval.model_validate({name: entries[::-1] for name, entries in retrieval.items()})


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    ("intent", "entities", "said"),
    [
        (
            "query_commits",
            {"projects": ["a", "b"], "dates": ["last week"]},
            "commit data from GitLab projects:a,b dates:last week",
        ),
        ("query_issues", {"statuses": ["open", "in-progress"]}, "issue data from YouTrack statuses:open,in-progress"),
        (
            "query_analytics",
            {"dates": ["2024-01-15"], "projects": ["repo1"]},
            "commit metrics from GitLab projects:repo1 dates:2024-01-15",
        ),
        ("query_commits", {"statuses": ["open"], "projects": []}, "commit data from GitLab"),
    ],
)
def test_query_strings_are_the_description_and_the_filters(
    intent: str, entities: dict[str, list[str]], said: str
) -> None:
    assert planned((intent, 0.9), **entities).queries[0].query_string == f"Retrieve {said}"


@pytest.mark.requirement("R23")
def test_a_value_that_looks_like_a_query_stays_one_value_of_its_filter() -> None:
    value = "} or project: SECRET {"
    [query] = planned(("query_issues", 0.9), projects=[value]).queries
    assert dict(query.filters) == {"projects": (value,)}


@pytest.mark.requirement("R23")
def test_intents_under_the_threshold_are_skipped() -> None:
    assert brief(planned(("query_commits", 0.29), ("query_issues", 0.3))) == [ISSUE_DATA]
    assert planned(("query_commits", 0.29)) == Retrieval()


@pytest.mark.requirement("R23")
def test_plans_of_several_intents_are_put_together_and_none_twice() -> None:
    retrieval = planned(("query_commits", 0.9), ("query_issues", 0.85), ("query_commits", 0.5))
    assert brief(retrieval) == [COMMIT_DATA, ISSUE_DATA]


@pytest.mark.requirement("R63")
def test_the_input_is_the_same_after_planning_and_cannot_be_changed() -> None:
    reasoning = reasoned(("query_status", 0.9), projects=["shop"])
    before = reasoning.model_dump_json()
    plan_retrieval(reasoning, RULES)
    assert reasoning.model_dump_json() == before
    with pytest.raises(TypeError):
        reasoning.entities["projects"] = ()  # type: ignore[index]


@pytest.mark.requirement("R63")
def test_each_execution_is_in_the_audit_trail() -> None:
    trail: list[Execution] = []
    projects, words = build_registry([("shop", "project", "Shop", ())]), load_tracker_words()
    reasoning = detect_intents.execute(trail, "status of Shop", projects, words, today=date(2026, 7, 23))
    reasoning = structure_reasoning.execute(trail, reasoning, RULES)
    plan_retrieval.execute(trail, reasoning, RULES)
    assert [(entry.agent, entry.version, entry.status) for entry in trail] == [
        ("intent_detection", "1.0.0", "finished"),
        ("reasoning_structure", "1.0.0", "finished"),
        ("retrieval_planner", "1.0.0", "finished"),
    ]
    assert all(entry.ms > 0 and entry.output for entry in trail)


@pytest.mark.requirement("R63")
def test_an_execution_without_what_it_needs_is_in_the_audit_trail_with_its_problem() -> None:
    trail: list[Execution] = []
    with pytest.raises(AgentBroke):
        plan_retrieval.execute(trail, Reasoning(), RULES)
    assert [(entry.agent, entry.status, entry.output) for entry in trail] == [("retrieval_planner", "failed", None)]
    assert "no intents found" in trail[0].problem


INTENTS = st.lists(st.tuples(st.sampled_from([*KNOWN, "other"]), st.floats(0, 1)), min_size=1, max_size=8)
ENTITIES = st.dictionaries(
    st.sampled_from(["projects", "dates", "statuses", "providers", "authors"]),
    st.lists(st.text(min_size=1, max_size=20), max_size=4),
)


@pytest.mark.requirement("R23")
@given(INTENTS, ENTITIES)
def test_the_same_input_gives_the_same_plans_whatever_the_order_of_its_entities(
    intents: list[tuple[str, float]], entities: dict[str, list[str]]
) -> None:
    turned = dict(reversed(entities.items()))
    first, second = planned(*intents, **entities), planned(*intents, **turned)
    assert first.model_dump_json() == second.model_dump_json()
    assert Retrieval.model_validate_json(first.model_dump_json()).model_dump_json() == first.model_dump_json()


@pytest.mark.requirement("R23")
@given(INTENTS, ENTITIES)
def test_every_sure_intent_is_planned_once_and_the_highest_priority_goes_first(
    intents: list[tuple[str, float]], entities: dict[str, list[str]]
) -> None:
    retrieval = planned(*intents, **entities)
    sure = {name if name in KNOWN else "unknown" for name, confidence in intents if confidence >= 0.3}
    expected = sorted(rule.description for name in sure for rule in RULES.intents[name].plans)
    assert sorted(plan.description for plan in retrieval.plans) == expected
    assert [plan.priority for plan in retrieval.plans] == sorted((p.priority for p in retrieval.plans), reverse=True)
    assert all(all(plan.filters.values()) for plan in retrieval.plans)


def tell() -> str:
    """Plans from text and from given intents, as one process prints them."""
    projects, words = build_registry([("shop", "project", "Shop", ("Магазин",))]), load_tracker_words()
    questions = [
        "What happened in project Shop last week?",
        "open issues and commits of Shop, closed or in progress",
        "метрики и статус Магазина за этот квартал",
        "tell me more",
    ]
    read = [detect_intents(question, projects, words, today=date(2026, 7, 23)) for question in questions]
    every = reasoned(*((name, 0.9) for name in KNOWN), statuses=["open"], dates=["today"], projects=["b", "a"])
    structured = [*(structure_reasoning(reasoning, RULES) for reasoning in read), every]
    return "\n".join(
        part.model_dump_json() for reasoning in structured for part in (reasoning, plan_retrieval(reasoning, RULES))
    )


@pytest.mark.requirement("R23")
def test_two_processes_with_different_hash_seeds_print_the_same_bytes() -> None:
    told = []
    for seed in ("1", "4242"):
        program = "import sys; from tests.asking.lists.test_plan import tell; sys.stdout.buffer.write(tell().encode())"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        finished = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True)
        assert finished.returncode == 0, finished.stderr
        told.append(finished.stdout)
    assert told[0].count(b"\n") == 9
    assert told[0] == told[1]


@pytest.mark.requirement("R63")
def test_hypotheses_follow_the_intents_and_a_conclusion_depends_on_its_own() -> None:
    found = reasoned(("query_commits", 0.9), ("query_status", 0.8)).hypotheses
    assert [(item.id, item.description, item.depends_on) for item in found] == [
        ("h0", "Retrieve commit data", ()),
        ("h1", "Retrieve recent commits", ()),
        ("h2", "Retrieve open issues", ()),
        ("h3", "Judge activity and health", ("h1", "h2")),
    ]


@pytest.mark.parametrize("depends_on", ["h0", "h9"])
def test_a_hypothesis_depends_only_on_earlier_ones(depends_on: str) -> None:
    with pytest.raises(ValidationError, match="does not come before it"):
        Reasoning(hypotheses=(Hypothesis(id="h0", description="Judge", depends_on=(depends_on,)),))


def edited(folder: Path, before: str, after: str) -> Path:
    shipped = (ROOT / "src/groundplan/asking/lists/retrieval.yaml").read_text(encoding="utf-8")
    assert before in shipped
    file = folder / "retrieval.yaml"
    file.write_text(shipped.replace(before, after, 1), encoding="utf-8")
    return file


def test_a_new_intent_over_two_new_trackers_is_data(tmp_path: Path) -> None:
    added = """intents:
  query_builds:
    plans:
      - {hypothesis: Retrieve builds, description: Retrieve builds, sources: [jenkins, actions],
         filters: [branches], priority: 7}
"""
    file = edited(tmp_path, "intents:\n", added)
    file.write_text(file.read_text().replace("sources:", "sources:\n  jenkins: structured\n  actions: structured", 1))
    rules = load_rules(file)
    detected = Reasoning.model_validate(
        {"intents": [{"type": "query_builds", "confidence": 0.9}], "entities": {"branches": ["main"]}}
    )
    retrieval = plan_retrieval(structure_reasoning(detected, rules), rules)
    assert [(query.id, query.source, query.query_string) for query in retrieval.queries] == [
        ("plan0_query_jenkins", "jenkins", "Retrieve builds branches:main"),
        ("plan0_query_actions", "actions", "Retrieve builds branches:main"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("sources: [gitlab]", "sources: [gitlba]", "asks the source 'gitlba', which is not among the sources"),
        ("  unknown:", "  other:", "the intent 'unknown' is missing"),
        ("otherwise: {dates:", "otherwise: {authors:", "fills 'authors', which is not among its filters"),
        ("threshold: 0.3", "threshold: 3", "less than or equal to 1"),
        ("threshold: 0.3", "threshold: [", "the retrieval rules are invalid"),
    ],
)
def test_a_fault_in_the_rules_is_named_with_its_file(before: str, after: str, problem: str, tmp_path: Path) -> None:
    file = edited(tmp_path, before, after)
    with pytest.raises(CatalogError) as raised:
        load_rules(file)
    assert str(raised.value).startswith(str(file))
    assert problem in str(raised.value)


def printed(contract: Contract) -> str:
    return json.dumps(contract.model_dump(mode="json"))


def on_one_line(text: str) -> str:
    """The same JSON, its keys in their order."""
    return json.dumps(json.loads(text))
