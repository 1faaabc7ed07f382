"""The tools of a knowledge base: from checked params to facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundplan.contracts.facts import Cited, Complete, Group, Item, StepFacts, Truncated
from groundplan.contracts.knowledge import KnowledgeSchema, LookupIntent
from groundplan.errors import ToolError
from groundplan.sources.knowledge.graph import BACKWARDS, Graph, Node
from groundplan.sources.knowledge.search import Search

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """The part of a list that a step gives."""

    limit: int
    offset: int = 0

    def rest(self, nodes: Sequence[Any]) -> Sequence[Any]:
        """What was not shown before."""
        return nodes[self.offset :]

    def of(self, nodes: Sequence[Any]) -> Sequence[Any]:
        return self.rest(nodes)[: self.limit]


def graph_query(step: str, params: Params, graph: Graph, schema: KnowledgeSchema) -> StepFacts:
    """The nodes at the end of a path; without a path, the node itself. With a heading, all of it is in groups."""
    intent = _intent(params.get("intent"), schema)
    path, page = _path(params, intent), Page(int(params["limit"]), int(params["offset"]))
    entity = _node(graph, params["entity"]) if params.get("entity") else None
    heading = heading_of(intent, path, schema, params["heading"]) if params.get("heading") else None
    heading = f"{heading}, {entity.name}" if heading and entity and params.get("named") else heading
    starts = [entity.id] if entity else graph.of_type(_start(path, intent, schema))
    if entity and not path:
        return _about(step, entity, page, heading, params.get("paragraphs"))
    found = graph.walk(starts, path, without=entity.id if entity else None)
    grouped = params.get("grouped", intent is not None and intent.render == "GROUPED_BULLETS")
    if grouped and len(path) > 1:
        holders = graph.walk(starts, path[:-1], params.get("entity"))
        return _grouped(step, graph, holders, path[-1], set(found), page, heading)
    return _listed(step, [graph.nodes[id_] for id_ in found], page, heading)


def heading_of(intent: LookupIntent | None, path: Sequence[str], schema: KnowledgeSchema, language: str) -> str:
    """The intent's title or first word, or that of the type that a path leads to; never text of a node."""
    ends = schema.ends(path[-1]) if path else None
    kind = next((kind for kind in schema.types if ends and kind.name == ends[1]), None)
    words = intent.words if intent else kind.words if kind else {}
    told = words.get(language) or next(filter(None, words.values()), ())
    plain = (intent.name if intent else kind.name if kind else "").replace("_", " ")
    title = (intent.title.get(language) if intent else None) or next(iter(told), plain)
    return title[:1].upper() + title[1:]


def graph_neighbors(step: str, params: Params, graph: Graph) -> StepFacts:
    node, limit = _node(graph, params["entity"]), int(params["limit"])
    near = [(_relation_title(hop), [graph.nodes[id_] for id_ in found]) for hop, found in graph.neighbours(node.id)]
    return _of_groups(step, near, Page(limit), len({other.id for _, nodes in near for other in nodes}))


def document_search(step: str, params: Params, search: Search, until: float) -> StepFacts:
    """The passages that fit; if none fits, nothing is found, even if some are close."""
    hits = search.find(params["query"], int(params["top_k"]), tuple(params["types"]), until)
    fitting = [hit for hit in hits if hit.fits]
    return StepFacts(
        step=step,
        found=bool(fitting),
        rows=len(fitting),
        items=tuple(
            Item(kind=hit.document.type, title=hit.document.title, text=hit.text, source=hit.document.id)
            for hit in fitting
        ),
        sources=tuple(Cited(id=hit.document.id, label=hit.document.title) for hit in fitting),
    )


def _intent(name: str | None, schema: KnowledgeSchema) -> LookupIntent | None:
    if name is None:
        return None
    found = next((intent for intent in schema.intents if intent.name == name), None)
    if found is None:
        raise ToolError(f"graph_query: knowledge.yaml has no intent {name!r}; name one that it has, or give a path")
    return found


def _path(params: Params, intent: LookupIntent | None) -> tuple[str, ...]:
    given = tuple(params.get("path") or ())
    if bool(given) == bool(intent):
        raise ToolError("graph_query: give either an intent or a path, and not both")
    return intent.path if intent else given


def _start(path: Sequence[str], intent: LookupIntent | None, schema: KnowledgeSchema) -> str:
    """The type that a look-up without an entity starts from."""
    ends = schema.ends(path[0]) if path else None
    start = intent.about if intent and intent.about else ends[0] if ends else None
    if start is None:
        raise ToolError("graph_query: there is no start; give an entity, or an intent with a type or a path")
    return start


def _node(graph: Graph, id_: str) -> Node:
    node = graph.nodes.get(id_)
    if node is None:
        raise ToolError(f"the graph has no entity {id_!r}; it may have changed, so ask again")
    return node


def _about(step: str, node: Node, page: Page, heading: str | None, paragraphs: int | None) -> StepFacts:
    text = "\n\n".join(node.text.split("\n\n")[:paragraphs])
    itself = Item(kind=node.type, title=node.name, text=text, source=node.id)
    details = (
        Item(kind="attribute", title=name, value=value, source=node.id) for name, value in node.attributes.items()
    )
    items = (itself, *details)
    shown = {"groups": _group(heading, items, page)} if heading else {"items": tuple(page.rest(items))}
    return StepFacts(step=step, rows=1, sources=(_cited(node),), **shown)


def _listed(step: str, nodes: Sequence[Node], page: Page, heading: str | None) -> StepFacts:
    """What is left of the list. It was found even if nothing is left."""
    items, shown = tuple(map(_item, nodes)), page.of(nodes)
    facts = StepFacts(step=step, found=bool(nodes or page.offset), rows=len(nodes), sources=tuple(map(_cited, shown)))
    if heading:
        return facts.model_copy(update={"groups": _group(heading, items, page)})
    state = _state(len(shown), len(page.rest(nodes)))
    return facts.model_copy(update={"items": tuple(page.of(items)), "state": state})


def _grouped(
    step: str, graph: Graph, holders: Iterable[str], hop: str, wanted: set[str], page: Page, heading: str | None
) -> StepFacts:
    """The same nodes as without groups, grouped by the node before the last hop."""
    groups = [
        (graph.nodes[holder].name, [graph.nodes[id_] for id_ in graph.follow([holder], hop) if id_ in wanted])
        for holder in holders
    ]
    if heading and not any(nodes for _, nodes in groups):
        return _listed(step, (), page, heading)
    headed = [(f"{heading}, {name}" if heading else name, nodes) for name, nodes in groups if nodes]
    return _of_groups(step, headed, page, len(wanted))


def _of_groups(step: str, groups: Sequence[tuple[str, Sequence[Node]]], page: Page, total: int) -> StepFacts:
    """The page applies to each group; `total` counts all nodes, shown or not."""
    cited = {node.id: _cited(node) for _, nodes in groups for node in page.of(nodes)}
    shown = (group for title, nodes in groups for group in _group(title, tuple(map(_item, nodes)), page))
    return StepFacts(
        step=step,
        found=bool(groups or page.offset),
        rows=total,
        groups=tuple(shown),
        sources=tuple(cited.values()),
    )


def _group(title: str, items: Sequence[Item], page: Page) -> tuple[Group, ...]:
    """The group, with its number of items if not all of them are in it; none if all were shown before."""
    rest, shown = page.rest(items), page.of(items)
    if page.offset and not rest:
        return ()
    return (Group(title=title, items=tuple(shown), count=None if 0 < len(rest) == len(shown) else len(rest)),)


def _item(node: Node) -> Item:
    """One line of a list: the name, and the first paragraph of the text."""
    return Item(kind=node.type, title=node.name, text=node.text.partition("\n\n")[0], source=node.id)


def _cited(node: Node) -> Cited:
    return Cited(id=node.id, label=node.name)


def _state(shown: int, total: int) -> Complete | Truncated:
    return Complete() if shown == total else Truncated(reason=f"{shown} of {total} are shown")


def _relation_title(hop: str) -> str:
    """The relation for people; an arrow marks the backward direction."""
    words = hop.removeprefix(BACKWARDS).replace("_", " ")
    return f"← {words}" if hop.startswith(BACKWARDS) else words
