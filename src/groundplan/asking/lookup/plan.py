"""The strategy `lookup`: looks up intents and entities in the graph, with a document search as fallback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.plan import Fallback, Limits, Plan, Provenance, Step
from groundplan.contracts.reading import IntentAsked, Reading, RenderStyle

GRAPH, DOCUMENTS = "graph_query", "document_search"
PASSAGES = 3  # of documents; they are long
MANY = 50  # items of a path that has no limit
MOST_GROUPS = 100  # groups are part of the list that was asked for


def propose(reading: Reading, knowledge: KnowledgeSchema) -> Plan:
    """One look-up for each intent, under headings if there are several.

    Documents are searched if there is no path, or as a fallback; never to go on with a list.
    """
    asked = {r.id: r.value for r in reading.requirements if isinstance(r.value, IntentAsked)}
    look_ups = [
        LookUp(id_, value, knowledge) for id_, value in asked.items() if value.path or knowledge.intent(value.intent)
    ]
    steps = [one.step(number, _heading(look_ups, reading)) for number, one in enumerate(look_ups, 1)]
    passages = next((value.paragraphs for value in asked.values() if value.paragraphs), PASSAGES)
    search = Step(
        id="documents",
        tool=DOCUMENTS,
        params={"query": reading.question, "top_k": passages},
        satisfies=tuple(asked),
    )
    when = tuple(dict.fromkeys(reason for value in asked.values() for reason in value.fallback))
    groups = min((value.groups for value in asked.values() if value.groups), default=MOST_GROUPS)
    goes_on = any(value.offset for value in asked.values())
    searches = () if goes_on or (steps and not when) else (search,)
    return Plan(
        strategy="lookup",
        steps=(*steps, *searches),
        fallback=Fallback(when=when, steps=(search.id,)) if steps and searches else None,
        limits=Limits(items=max((one.limit for one in look_ups), default=MANY), groups=groups),
        render=_render(look_ups, [value.style for value in asked.values()]),
        confidence=min((intent.confidence for intent in reading.intents), default=1.0),
        provenance=Provenance(template="graph first" if steps else "documents", attempts=1),
    )


@dataclass(frozen=True)
class LookUp:
    """A requirement for which the graph has a path."""

    id: str
    asked: IntentAsked
    knowledge: KnowledgeSchema

    @property
    def limit(self) -> int:
        named = self.knowledge.intent(self.asked.intent)
        return self.asked.limit or (named.limit if named else MANY)

    @property
    def render(self) -> RenderStyle:
        named = self.knowledge.intent(self.asked.intent)
        return named.render if named else "BULLETS"

    def step(self, number: int, heading: Mapping[str, Any]) -> Step:
        """With a heading, the step has its own limit, as other lists have others."""
        named = self.knowledge.intent(self.asked.intent)
        params: dict[str, Any] = {"intent": self.asked.intent} if named else {"path": list(self.asked.path)}
        params |= {"entity": self.asked.entity} if self.asked.entity else {}
        params |= {**heading, "limit": self.limit} if heading else {}
        params |= {"offset": self.asked.offset} if self.asked.offset else {}
        params |= {"paragraphs": self.asked.paragraphs} if self.asked.paragraphs else {}
        if self.asked.style in ("BULLETS", "GROUPED_BULLETS"):
            params["grouped"] = self.asked.style == "GROUPED_BULLETS"
        return Step(id=f"found{number}", tool=GRAPH, params=params, satisfies=(self.id,))


def _heading(look_ups: list[LookUp], reading: Reading) -> Mapping[str, Any]:
    """The params for a heading over each of several look-ups."""
    if len(look_ups) < 2:
        return {}
    several = len({one.asked.entity for one in look_ups}) > 1
    return {"heading": "ru" if reading.language == "ru" else "en", **({"named": True} if several else {})}


def _render(look_ups: list[LookUp], said: list[RenderStyle | None]) -> RenderStyle:
    """The style that the question says, or that of the intents if they have the same."""
    asked = next((style for style in said if style), None)
    styles: set[RenderStyle] = {one.render for one in look_ups} or {"SHORT"}
    return asked or (styles.pop() if len(styles) == 1 else "BULLETS")
