"""Graphs from files: every format gives the same graph, and every fault has its file and line."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pytest
from tests.sources.knowledge.small import DESCRIPTION, GRAPH, edge_count, write

from groundplan.contracts.knowledge import KnowledgeSchema, NodeType, Relation
from groundplan.errors import SourceError
from groundplan.sources.knowledge.description import load_description
from groundplan.sources.knowledge.graph import Graph
from groundplan.sources.knowledge.loading import GraphBuilder
from groundplan.sources.knowledge.source import Knowledge

BENCHMARKS = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or Path(__file__).parents[4] / "shared/benchmarks")
FILMS = BENCHMARKS / "metaqa" / "kb.tsv.gz"
SCHEMA = KnowledgeSchema(
    source="knowledge",
    types=(NodeType(name="film"), NodeType(name="person")),
    relations=(Relation(name="directed_by", origin="film", target="person"),),
)
TRIPLES = [("Alien: Covenant", "directed_by", "Ridley Scott"), ("Alien", "directed_by", "Ridley Scott")]


def load(path: Path, content: bytes | str) -> Graph:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    builder = GraphBuilder(SCHEMA)
    builder.add_file(path)
    return builder.finish()


@pytest.mark.requirement("R47")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "edges:\n" + "".join(f"  - {json.dumps(triple)}\n" for triple in TRIPLES)),
        ("a.json", json.dumps({"edges": TRIPLES}, indent="\t")),
        ("a.csv", "subject,relation,object\n" + "".join(f'"{a}",{b},{c}\n' for a, b, c in TRIPLES)),
        ("a.tsv", "".join("\t".join(triple) + "\n" for triple in TRIPLES)),
        ("a.tsv.gz", gzip.compress("".join("\t".join(triple) + "\n" for triple in TRIPLES).encode(), mtime=0)),
    ],
)
def test_bare_names_become_nodes_of_the_relations_types_in_every_format(
    name: str, content: bytes | str, tmp_path: Path
) -> None:
    graph = load(tmp_path / name, content)
    assert [(node.id, node.type, node.name) for node in graph.nodes.values()] == [
        ("film:Alien: Covenant", "film", "Alien: Covenant"),
        ("person:Ridley Scott", "person", "Ridley Scott"),
        ("film:Alien", "film", "Alien"),
    ]
    assert graph.follow(["person:Ridley Scott"], "^directed_by") == ["film:Alien: Covenant", "film:Alien"]


def test_a_quote_in_a_tsv_is_a_letter(tmp_path: Path) -> None:
    graph = load(
        tmp_path / "a.tsv", '"Crocodile" Dundee\tdirected_by\tPeter Faiman\nAlien\tdirected_by\tRidley Scott\n'
    )
    assert edge_count(graph) == 2
    assert 'film:"Crocodile" Dundee' in graph.nodes


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.tsv", "Alien\tdirected_by\n", "a.tsv:1: write subject, relation and object"),
        ("a.tsv", "A\tdirected_by\tB\nA\tsung_by\tB\n", "a.tsv:2: there is no relation 'sung_by'"),
        ("a.tsv", "A\tdirected_by\tfilm:b\n", "a.tsv:1: 'film:b' is not a node of type 'person'"),
        ("a.tsv.gz", b"no gzip", "a.tsv.gz:1: cannot be read"),
        ("a.tsv", b"\xff\xfe\t", "a.tsv:1: cannot be read"),
        ("a.yaml", "edges: [[a, directed_by]]\n", "a.yaml:1: edges.0.2 is missing; add it"),
        ("a.yaml", "nodes:\n  - {id: x, type: song, name: X}\n", "a.yaml:2: 'x' has the unknown type 'song'"),
        ("a.yaml", "nodes:\n" + "  - {id: x, type: film, name: X}\n" * 2, "a.yaml:3: the node 'x' already exists"),
        (
            "a.yaml",
            "nodes:\n  - {id: x, type: film, name: X, alias: Y}\n",
            "a.yaml:2: nodes.0.alias is not",
        ),
        ("a.json", '{"nodes": [],\n "nodes": []}', "a.json:1: the key 'nodes' appears twice"),
        ("a.json", '{"nodes":\n', "a.json:2: "),
        ("a.json", "[]", "a.json:1: the file is not a mapping"),
        ("a.json", '{"nodes": [NaN]}', "a.json:1: NaN is not a finite number; correct the JSON"),
        ("a.yaml", "nodes: &a []\nedges: *a\n", "a.yaml:2: *a is an alias; write the value out"),
        ("a.md", "---\nid: x\nid: y\n---\n", "a.md:3: the key 'id' appears twice, first on line 2; keep one"),
        ("a.md", "---\ntype: film\nname: Alien\n---\nText.\n", "a.md:2: id is missing; add it"),
        ("a.xml", "<a/>", "a.xml:1: is not a graph file"),
    ],
)
def test_a_fault_is_said_with_its_file_and_line(name: str, content: bytes | str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as refused:
        load(tmp_path / name, content)
    assert str(refused.value).replace(f"{tmp_path}/", "").startswith(says)


@pytest.mark.requirement("R47")
def test_a_page_is_a_node_and_a_document_and_may_be_named_before_it_is_read(tmp_path: Path) -> None:
    knowledge = Knowledge.open(write(tmp_path))
    echo = knowledge.graph.nodes["project:echo"]
    assert (echo.name, echo.aliases) == ("Echo", ("Эхо",))
    assert echo.text == "Echo plays a sound back to whoever made it.\n\nIt was built in a cave."
    assert knowledge.graph.follow(["project:echo"], "uses") == ["technology:python"]
    assert ("person:anna", "person", "Anna", ("Ann", "Анна", "Аня")) in list(knowledge.entities())


def test_dates_stay_as_they_are_written(tmp_path: Path) -> None:
    assert Knowledge.open(write(tmp_path)).graph.nodes["project:atlas"].attributes == {"start": "2024-05-01"}


def test_a_small_base_fits_into_one_file(tmp_path: Path) -> None:
    alone = DESCRIPTION.partition("graph:")[0] + GRAPH.replace("project:echo", "project:atlas")
    file = tmp_path / "all.yaml"
    file.write_text(alone)
    assert edge_count(Knowledge.open(file).graph) == 4


@pytest.mark.skipif(not FILMS.exists(), reason="the benchmark is not on this machine; see GROUNDPLAN_BENCHMARKS")
@pytest.mark.requirement("R47")
def test_a_hundred_thousand_edges_load_in_seconds() -> None:
    description = Path(__file__).parents[3] / "benchmarks/suites/metaqa.yaml"
    began = time.process_time()
    builder = GraphBuilder(load_description(description).schema)
    builder.add_file(FILMS)
    assert edge_count(builder.finish()) == 130_172
    assert time.process_time() - began < 10  # 0.8 s of a processor
