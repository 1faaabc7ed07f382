"""The tools of a knowledge base: from checked params to facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from groundplan.contracts.facts import Cited, Complete, Group, Item, StepFacts, Truncated
from groundplan.contracts.knowledge import KnowledgeSchema, LookupIntent
from groundplan.errors import ToolError
from groundplan.sources.knowledge.graph import BACKWARDS, Graph, Node
from groundplan.sources.knowledge.search import Search

Params = Mapping[str, Any]


def graph_query(step: str, params: Params, graph: Graph, schema: KnowledgeSchema) -> StepFacts:
    """The nodes at the end of a path; without a path, the node itself."""
    intent = _intent(params.get("intent"), schema)
    path, limit = _path(params, intent), int(params["limit"])
    entity = _node(graph, params["entity"]) if params.get("entity") else None
    starts = [entity.id] if entity else graph.of_type(_start(path, intent, schema))
    if entity and not path:
        return _about(step, entity)
    found = graph.walk(starts, path, without=entity.id if entity else None)
    if intent and intent.render == "GROUPED_BULLETS" and len(path) > 1:
        return _grouped(step, graph, graph.walk(starts, path[:-1], params.get("entity")), path[-1], set(found), limit)
    return _listed(step, [graph.nodes[id_] for id_ in found], limit)


def graph_neighbors(step: str, params: Params, graph: Graph) -> StepFacts:
    node, limit = _node(graph, params["entity"]), int(params["limit"])
    near = [(_relation_title(hop), [graph.nodes[id_] for id_ in found]) for hop, found in graph.neighbours(node.id)]
    return _of_groups(step, near, limit, len({other.id for _, nodes in near for other in nodes}))


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


def _about(step: str, node: Node) -> StepFacts:
    itself = Item(kind=node.type, title=node.name, text=node.text, source=node.id)
    details = (
        Item(kind="attribute", title=name, value=value, source=node.id) for name, value in node.attributes.items()
    )
    return StepFacts(step=step, rows=1, items=(itself, *details), sources=(_cited(node),))


def _listed(step: str, nodes: Sequence[Node], limit: int) -> StepFacts:
    shown = nodes[:limit]
    return StepFacts(
        step=step,
        found=bool(nodes),
        rows=len(nodes),
        items=tuple(map(_item, shown)),
        sources=tuple(map(_cited, shown)),
        state=_state(len(shown), len(nodes)),
    )


def _grouped(step: str, graph: Graph, holders: Iterable[str], hop: str, wanted: set[str], limit: int) -> StepFacts:
    """The same nodes as without groups, grouped by the node before the last hop."""
    groups = [
        (graph.nodes[holder].name, [graph.nodes[id_] for id_ in graph.follow([holder], hop) if id_ in wanted])
        for holder in holders
    ]
    return _of_groups(step, [group for group in groups if group[1]], limit, len(wanted))


def _of_groups(step: str, groups: Sequence[tuple[str, Sequence[Node]]], limit: int, total: int) -> StepFacts:
    """`limit` applies to each group; `total` counts all nodes, shown or not."""
    shown = [(title, nodes[:limit]) for title, nodes in groups]
    cited = {node.id: _cited(node) for _, nodes in shown for node in nodes}
    return StepFacts(
        step=step,
        found=bool(groups),
        rows=total,
        groups=tuple(Group(title=title, items=tuple(map(_item, nodes))) for title, nodes in shown),
        sources=tuple(cited.values()),
        state=_state(len(cited), total),
    )


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
