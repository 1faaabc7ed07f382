"""The graph, held against the plainest one there is: a set of triples."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.knowledge.small import edge_count

from groundplan.sources.knowledge.graph import Graph, Node

NAMES = "abcdef"
triples = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from("rs"), st.sampled_from(NAMES)), max_size=30)
paths = st.lists(st.sampled_from(["r", "s", "^r", "^s"]), min_size=1, max_size=3)


def built(edges: Sequence[tuple[str, str, str]]) -> Graph:
    graph = Graph()
    for name in NAMES:
        graph.add_node(Node(name, "thing", name.upper()))
    for edge in edges:
        graph.add_edge(*edge)
    return graph


@pytest.mark.requirement("R47")
@given(triples, paths, st.sampled_from(NAMES))
def test_a_walk_reaches_what_the_triples_say_and_never_where_it_began(
    edges: list[tuple[str, str, str]], path: list[str], start: str
) -> None:
    places = {start}
    for hop in path:
        along = [(c, a) if hop[0] == "^" else (a, c) for a, name, c in edges if name == hop[-1]]
        places = {end for begin, end in along if begin in places} - {start}
    found = built(edges).walk([start], path, without=start)
    assert set(found) == places
    assert len(found) == len(places)


@given(triples)
def test_every_edge_is_there_both_ways_and_counted_once(edges: list[tuple[str, str, str]]) -> None:
    graph = built(edges)
    assert edge_count(graph) == len(set(edges))
    for origin, relation, target in edges:
        assert target in graph.follow([origin], relation)
        assert origin in graph.follow([target], f"^{relation}")


@given(triples, st.sampled_from(NAMES))
def test_neighbours_are_all_that_one_hop_reaches(edges: list[tuple[str, str, str]], start: str) -> None:
    graph = built(edges)
    near = dict(graph.neighbours(start))
    assert near == {hop: found for hop in ("r", "s", "^r", "^s") if (found := graph.follow([start], hop))}


def test_places_stand_in_the_order_of_the_edges() -> None:
    graph = built([("a", "r", "c"), ("a", "r", "b"), ("a", "r", "c"), ("d", "r", "e")])
    assert graph.follow(["d", "a"], "r") == ["e", "c", "b"]
