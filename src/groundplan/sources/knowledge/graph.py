"""The graph in memory: typed nodes, and edges that can be followed in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from groundplan.contracts.contract import Scalar

BACKWARDS = "^"
Targets = dict[str, None]  # an ordered set: the same files always give the same lists


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    text: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)


class Graph:
    """Built by `loading`; it does not change afterwards."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._edges: dict[str, dict[str, Targets]] = {}  # by hop, including `^`, then by the origin node
        self._types: dict[str, list[str]] = {}

    def add_node(self, node: Node) -> None:
        self.nodes[node.id] = node
        self._types.setdefault(node.type, []).append(node.id)

    def add_edge(self, origin: str, relation: str, target: str) -> None:
        self._edges.setdefault(relation, {}).setdefault(origin, {})[target] = None
        self._edges.setdefault(BACKWARDS + relation, {}).setdefault(target, {})[origin] = None

    def of_type(self, type_: str) -> list[str]:
        return list(self._types.get(type_, ()))

    def follow(self, starts: Iterable[str], hop: str) -> list[str]:
        """The nodes that the hop leads to from any of the starts, without duplicates."""
        leaving = self._edges.get(hop, {})
        return list(dict.fromkeys(target for start in starts for target in leaving.get(start, ())))

    def walk(self, starts: Iterable[str], path: Iterable[str], without: str | None = None) -> list[str]:
        """The nodes at the end of a path. No hop may lead back to `without`, the entity that was asked about."""
        places = list(starts)
        for hop in path:
            places = [place for place in self.follow(places, hop) if place != without]
        return places

    def neighbours(self, node: str) -> Iterator[tuple[str, list[str]]]:
        """Each hop that leaves the node, with the nodes it leads to."""
        for hop in sorted(self._edges, key=lambda hop: (hop.startswith(BACKWARDS), hop)):
            found = self.follow([node], hop)
            if found:
                yield hop, found
