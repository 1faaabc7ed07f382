"""The query plan that a model makes of a question to a knowledge base: the reply contract, and how it shows a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from groundplan.asking.lookup.manner import load_manner_words
from groundplan.asking.lookup.scan import LookupScan
from groundplan.contracts.contract import Contract, Language
from groundplan.contracts.reading import IntentAsked, RenderStyle

LANGUAGES: dict[str, Language] = {"NATURAL_EN": "en", "NATURAL_RU": "ru"}
Said = Annotated[str, Field(max_length=200)]
When = Literal["NO_RESULTS", "LOW_COVERAGE"]


class PlannedEntity(Contract):
    """A name of the knowledge base, which code looks for; without a type, of any."""

    type: Said | None = None
    name: Said


class CallArgs(Contract):
    """`graph_query` has an intent and, unless the intent needs none, an entity; `document_search` has neither."""

    intent: Said | None = None
    entity: Said | None = None


class ToolCall(Contract):
    tool: Literal["graph_query", "document_search"]
    args: CallArgs = CallArgs()


class PlannedFallback(Contract):
    enabled: bool = True
    tool: Literal["document_search"] = "document_search"
    when: Annotated[tuple[When, ...], Field(max_length=2)] = ("NO_RESULTS", "LOW_COVERAGE")


class PlannedLimits(Contract):
    """None: as the knowledge base describes it."""

    max_items: Annotated[int, Field(ge=1, le=1_000)] | None = None
    max_groups: Annotated[int, Field(ge=1, le=100)] | None = None
    max_paragraphs: Annotated[int, Field(ge=1, le=20)] | None = None


class QueryPlan(Contract):
    """The reply of a model that plans a look-up."""

    intents: Annotated[tuple[Said, ...], Field(min_length=1, max_length=5)]
    entities: Annotated[tuple[PlannedEntity, ...], Field(max_length=12)] = ()
    tool_calls: Annotated[tuple[ToolCall, ...], Field(min_length=1, max_length=20)]
    fallback: PlannedFallback = PlannedFallback()
    limits: PlannedLimits = PlannedLimits()
    render_style: RenderStyle = "BULLETS"
    answer_style: Literal["NATURAL_EN", "NATURAL_RU"]
    confidence: Annotated[float, Field(ge=0, le=1)]

    @property
    def when(self) -> tuple[When, ...]:
        """When the documents are searched after the graph."""
        return tuple(dict.fromkeys(self.fallback.when)) if self.fallback.enabled else ()


def shown_as_planned(asked: IntentAsked, plan: QueryPlan, scan: LookupScan) -> IntentAsked:
    """The look-up in the style and limits of the plan. What the question itself says of them stands."""
    limits = plan.limits
    changes = {
        "style": asked.style or plan.render_style,
        "limit": asked.limit or _limit(asked, limits.max_items, scan),
        "groups": limits.max_groups,
        "paragraphs": limits.max_paragraphs,
        "fallback": plan.when,
    }
    return asked.model_copy(update=changes)


def _limit(asked: IntentAsked, planned: int | None, scan: LookupScan) -> int | None:
    """The planned number of items. One that the question does not name never shortens a list."""
    named = scan.knowledge.intent(asked.intent)
    if planned is None or named is None:
        return None
    most = scan.knowledge.limits.items
    return min(planned, most) if planned in _numbers(scan) else min(max(planned, named.limit), most)


def _numbers(scan: LookupScan) -> Iterator[int]:
    """The numbers in the question, outside of names."""
    told = load_manner_words()
    return (n for place, w in enumerate(scan.words) if (n := told.number(w)) and place not in scan.named_places)
