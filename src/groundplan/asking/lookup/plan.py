"""The strategy `lookup`: looks up intents and entities in the graph, with a document search as fallback."""

from __future__ import annotations

from groundplan.contracts.knowledge import KnowledgeSchema, LookupIntent
from groundplan.contracts.plan import Fallback, Limits, Plan, Provenance, RenderStyle, Step
from groundplan.contracts.reading import IntentAsked, Reading, Requirement

GRAPH, DOCUMENTS = "graph_query", "document_search"
TOOLS = (GRAPH, DOCUMENTS)
PASSAGES = 3  # of documents; they are long
MANY, MOST = 50, 1_000  # items per path if it has no limit, and in total


def propose(reading: Reading, knowledge: KnowledgeSchema) -> Plan:
    """One look-up for each intent. Documents are searched if there is no path, or as a fallback."""
    asked = [(r, r.value) for r in reading.requirements if isinstance(r.value, IntentAsked)]
    paths = [(r, value) for r, value in asked if _is_path(value, knowledge)]
    steps = [_look_up(number, r, value, knowledge) for number, (r, value) in enumerate(paths, 1)]
    search = Step(
        id="documents",
        tool=DOCUMENTS,
        params={"query": reading.question, "top_k": PASSAGES},
        satisfies=tuple(r.id for r, _ in asked),
    )
    named = [intent for _, value in paths if (intent := _named(value, knowledge))]
    return Plan(
        strategy="lookup",
        steps=(*steps, search),
        fallback=Fallback(when=("NO_RESULTS", "LOW_COVERAGE"), steps=(search.id,)) if steps else None,
        limits=Limits(items=min(sum(intent.limit for intent in named) or MANY, MOST)),
        render=_render(named, len(steps)),
        confidence=min((intent.confidence for intent in reading.intents), default=1.0),
        provenance=Provenance(template="graph first" if steps else "documents", attempts=1),
    )


def _look_up(number: int, requirement: Requirement, asked: IntentAsked, knowledge: KnowledgeSchema) -> Step:
    what = {"intent": asked.intent} if _named(asked, knowledge) else {"path": list(asked.path)}
    about = {"entity": asked.entity} if asked.entity else {}
    return Step(id=f"found{number}", tool=GRAPH, params={**what, **about}, satisfies=(requirement.id,))


def _is_path(asked: IntentAsked, knowledge: KnowledgeSchema) -> bool:
    return bool(asked.path) or _named(asked, knowledge) is not None


def _named(asked: IntentAsked, knowledge: KnowledgeSchema) -> LookupIntent | None:
    return next((intent for intent in knowledge.intents if intent.name == asked.intent), None)


def _render(named: list[LookupIntent], steps: int) -> RenderStyle:
    styles = {intent.render for intent in named}
    if not steps:
        return "SHORT"
    return styles.pop() if len(styles) == 1 else "BULLETS"
