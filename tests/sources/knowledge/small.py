"""A knowledge base small enough to know by heart."""

from __future__ import annotations

from pathlib import Path

from groundplan.sources.knowledge.graph import BACKWARDS, Graph

DESCRIPTION = """\
title: A workshop
types:
  person: {words: {en: [person], ru: [человек]}}
  project: {words: {en: [project], ru: [проект]}}
  technology:
relations:
  worked_on: {from: person, to: project}
  uses: {from: project, to: technology, words: {en: {forward: [uses], backward: [used in]}}}
intents:
  stack: {about: project, path: [uses], limit: 2}
  usage: {about: technology, path: [^uses]}
  details: {about: project}
  skills: {about: person, path: [worked_on, uses], render: GROUPED_BULLETS}
  everything: {path: [uses]}
graph: [graph.yaml, nodes/*.md]
documents: [documents/*.md]
"""

GRAPH = """\
nodes:
  - {id: person:anna, type: person, name: Anna, aliases: {en: [Ann], ru: [Анна, Аня]}}
  - {id: project:atlas, type: project, name: Atlas, text: "A map.\\n\\nOf everything.", attributes: {start: 2024-05-01}}
  - {id: technology:python, type: technology, name: Python}
  - {id: technology:rust, type: technology, name: Rust}
  - {id: technology:sql, type: technology, name: SQL}
edges:
  - [person:anna, worked_on, project:atlas]
  - [person:anna, worked_on, project:echo]
  - [project:atlas, uses, technology:python]
  - [project:atlas, uses, technology:rust]
  - [project:atlas, uses, technology:sql]
  - [project:echo, uses, technology:python]
"""

ECHO = """\
---
id: project:echo
type: project
name: Echo
aliases: {ru: [Эхо]}
---
Echo plays a sound back to whoever
made it.

It was built in a cave.
"""

BRIDGE = """\
# Как строили мост

Мост через реку строили два года.

## Почему он каменный

Дерево гниёт от сырости, поэтому опоры сделали из гранита.
"""

LIGHTHOUSE = """\
# The lighthouse keeper

The keeper lit the lamp every evening with whale oil and wrote the weather into a book.
"""


def write(folder: Path, description: str = DESCRIPTION, graph: str = GRAPH) -> Path:
    """The base as files; what it is made of can be replaced."""
    files = {
        "knowledge.yaml": description,
        "graph.yaml": graph,
        "nodes/echo.md": ECHO,
        "documents/bridge.md": BRIDGE,
        "documents/lighthouse.md": LIGHTHOUSE,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def edge_count(graph: Graph) -> int:
    hops = (targets for hop, targets in graph._edges.items() if not hop.startswith(BACKWARDS))
    return sum(len(found) for targets in hops for found in targets.values())
